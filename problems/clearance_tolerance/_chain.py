"""Chains of links in a vertical plane with clearance in every joint, driven by torques.

Angles of links are from the horizontal, one against the other; links are stretched out along x
where all are zero. A joint named ``elbow`` has the Parameters ``c_elbow`` (its clearance) and
``torque_elbow``; its contact is called ``elbow``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nsopt import (
    GROUND,
    Body,
    Dynamics,
    Frame,
    JointDrives,
    Mechanism,
    Parameter,
    Planar,
    PlanarRevoluteClearance,
    Revolute,
    Tracker,
    Turn,
    assemble,
)
from nsopt.trajectory import Bound, Condition, Guess, InputEffort, NodeSample, Quintic, Trajectory

Array = NDArray[np.float64]

GRAVITY = (0.0, -9.81, 0.0)


@dataclass(frozen=True)
class Link:
    """A bar from its joint along x.

    Parameters
    ----------
    length : float [m]
    mass : float [kg]
    centre : float [m]
        Of mass, from its joint.
    inertia : float [kg m^2]
        About the centre of mass, about z.
    """

    length: float
    mass: float
    centre: float
    inertia: float


PENDULUM = (Link(1.0, 1.0, 0.5, 0.09),)
ARM = (Link(0.40, 2.5, 0.22, 0.04), Link(0.35, 2.0, 0.26, 0.026))


@dataclass(frozen=True, eq=False)
class Chain:
    """A chain, assembled, with the frames that conditions look at.

    Attributes
    ----------
    dynamics : Dynamics
    names : tuple of str
        Of the joints.
    pins, bushings : tuple of Frame
        Of each joint, on the link before and on the link that it carries.
    tip : Frame
    clearances : (n,) [m]
        As stated; zeros where joints are ideal.
    """

    dynamics: Dynamics
    names: tuple[str, ...]
    pins: tuple[Frame, ...]
    bushings: tuple[Frame, ...]
    tip: Frame
    clearances: Array

    @property
    def inputs(self) -> list[str]:
        """The torques of the motors."""
        return [f"torque_{name}" for name in self.names]

    def effort(self, weight: float = 1.0) -> list[InputEffort]:
        """Return the integral of all squared torques [N^2 m^2 s]."""
        return [InputEffort(input=name, weight=weight) for name in self.inputs]


def chain(
    links: Sequence[Link],
    clearances: Sequence[float] | Array | None = None,
    coordinates: str = "relative",
    names: Sequence[str] = ("shoulder", "elbow", "wrist"),
    law: Callable[..., Any] | None = None,
) -> Chain:
    """Return a chain.

    Parameters
    ----------
    links : sequence of Link
    clearances : (n,), optional [m]
        None for ideal joints.
    coordinates
    names : sequence of str
        Of the joints, at least one for each link.
    law : callable, optional
        Of the torques, as for `JointDrives`; by default they are Parameters.
    """
    names = tuple(names[: len(links)])
    bodies, pins, bushings, end = list[Body](), list[Frame](), list[Frame](), 0.0
    for k, link in enumerate(links, 1):
        J = link.inertia
        body = Body(f"link {k}", link.mass, (J, J, J), (end + link.centre, 0.0, 0.0))
        before = bodies[-1] if bodies else GROUND
        pins.append(Frame.at(before, (end, 0.0, 0.0)) if before else Frame(GROUND))
        bushings.append(Frame.at(body, (end, 0.0, 0.0)))
        bodies.append(body)
        end += link.length
    tip = Frame.at(bodies[-1], (end, 0.0, 0.0))
    turns = [Turn(a, b) for a, b in zip(pins, bushings, strict=True)]
    torques = [Parameter(f"torque_{name}", 0.0) for name in names]
    told: tuple[Any, ...] = (lambda *known: known[-1], torques) if law is None else (law,)
    motors = JointDrives("motors", turns, *told)
    more = [motors, Tracker("tip", tip)]
    placed = list(zip(names, pins, bushings, strict=True))
    joints: list[Revolute] | list[Planar]
    if clearances is None:
        joints = [Revolute(name, a, b) for name, a, b in placed]
        loose = []
    else:
        joints = [Planar(f"plane of {name}", a, b) for name, a, b in placed]
        loose = [
            PlanarRevoluteClearance(name, a, b, clearance=Parameter(f"c_{name}", c))
            for (name, a, b), c in zip(placed, clearances, strict=True)
        ]
    d = assemble(Mechanism(bodies, joints, coordinates), [*loose, *more], GRAVITY)
    c = np.zeros(len(links)) if clearances is None else np.asarray(clearances, dtype=float)
    return Chain(d, names, tuple(pins), tuple(bushings), tip, c)


@dataclass(frozen=True, eq=False)
class _Posed(Condition):
    chain: Chain
    angles: Sequence[float] | Array

    def _turned(self, m: NodeSample) -> list[Bound]:
        """Return that links are turned by the angles."""
        bounds = []
        still = np.zeros(1)
        for k, frame in enumerate(self.chain.bushings, 1):
            angle, x = sum(self.angles[:k]), m.motion(frame).A[:, 0]
            off = np.cos(angle) * x[1] - np.sin(angle) * x[0]
            bounds.append(Bound(f"angle of link {k}", off, still, still))
        return bounds


class HungAt(_Posed):
    """At the start the chain rests at given angles, every bushing hung on its pin."""

    def start(self, m: NodeSample) -> list[Bound]:
        bounds, none = self._turned(m), np.zeros(2)
        ideal = not self.chain.clearances.any()
        x = self.chain
        for name, a, b in zip(x.names, x.pins, x.bushings, strict=True):
            if not ideal:
                D = (m.motion(b).r - m.motion(a).r)[:2]
                D[1] += m.input(f"c_{name}")
                bounds.append(Bound(f"hung at {name}", D, none, none))
        return [*bounds, _rest(m)]


class TurnedTo(_Posed):
    """At the end the links are turned by given angles and all is at rest, bushings too.

    Were only the angles asked to rest, torques of the last half step would stop the links about
    their centres of mass while their bushings fly off: the end is too near for them to arrive.
    """

    def end(self, m: NodeSample) -> list[Bound]:
        return [*self._turned(m), _rest(m)]


def _rest(m: NodeSample) -> Bound:
    n = m.v.numel()
    return Bound("rest", m.v, np.zeros(n), np.zeros(n))


@dataclass(frozen=True, eq=False)
class Hanging(Guess):
    """A quintic of the angles, every bushing hung on its pin; in relative coordinates.

    Parameters
    ----------
    chain : Chain
    start, end : (n,) [rad]
    """

    chain: Chain
    start: Sequence[float] | Array
    end: Sequence[float] | Array

    def trajectory(
        self, share: Array, bounds: tuple[float, float], inputs: Sequence[str]
    ) -> Trajectory:
        turned = Quintic(self.start, self.end).trajectory(share, bounds, inputs)
        c = self.chain.clearances
        if not c.any():
            return turned
        resampled = []
        for order, x in enumerate(turned[:3]):
            columns = []
            for k, clearance in enumerate(c):
                before = turned.q[:, :k].sum(axis=1)  # the pin's axes turn, down does not
                down = -clearance * np.column_stack([np.sin(before), np.cos(before)])
                columns += [down * (order == 0), x[:, k : k + 1]]
            resampled.append(np.hstack(columns))
        return turned._replace(q=resampled[0], v=resampled[1], a=resampled[2])
