"""Costs of joint resistance, joint reactions and ranges of motion."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, TypeAlias

import casadi as ca
import numpy as np

from nsopt.checks import NOT_IN_MECHANISM, check_names, numbers, positive
from nsopt.elements import RangeOfMotion, SlideRange, TurnRange
from nsopt.mechanics import STILL, Contact, Dynamics, Force, Frame, Motion, State, resisted_joint
from nsopt.trajectory.checks import check_joints
from nsopt.trajectory.costs.base import Cost
from nsopt.trajectory.node_sample import NodeSample

Range: TypeAlias = RangeOfMotion | TurnRange | SlideRange


@dataclass(frozen=True, kw_only=True)
class JointResistance(Cost):
    """Integral of squared joint resistances, optionally with joint reactions.

    Resistance is the moment beyond the range of motion, damping and friction [RoM 2023, eq. 2]. A
    range between bodies that no joint connects directly, such as the cone of a shoulder made of
    three hinges, counts as a joint of its own, under its own name.

    Parameters
    ----------
    joints : sequence of str
        By default all of them.
    torque, force : float [N m], [N]
        Resistance that costs one per second; a part with an infinite one does not count.
    reaction_torque, reaction_force : float [N m], [N]
        Reaction that costs one per second, likewise; not counted by default.

    Raises
    ------
    ValueError
        If one of them is not above zero.
    """

    without_effect: ClassVar[str] = (
        "no joint resists, for the mechanism has no damping, friction or range of motion there; "
        "give them, as resistances(robot) and Actuator(damping=..., friction=...), or take "
        "JointLoad, Effort or BaseReaction"
    )

    joints: Sequence[str] | None = None
    torque: float = 1.0
    force: float = np.inf
    reaction_torque: float = np.inf
    reaction_force: float = np.inf

    def __post_init__(self) -> None:
        super().__post_init__()
        _check_sizes(self, "torque", "force", "reaction_torque", "reaction_force")

    def check(self, dynamics: Dynamics) -> None:
        known = [*dynamics.joint_names, *(x.name for x in _find_spanning(dynamics))]
        check_joints("JointResistance", self.joints or (), known)

    def rate(self, m: NodeSample) -> ca.SX:
        total = ca.SX(0)
        # A range across several joints counts as a joint; that of one is in the joint's resistance.
        for element in _find_spanning(m.dynamics):
            if self.joints is None or element.name in self.joints:
                total += _sum_squares(wrench_of(element, m), self.force, self.torque)
        for joint in m.dynamics.joint_names:
            if self.joints is None or joint in self.joints:
                total += self._square_joint(m, joint)
        return total

    def _square_joint(self, m: NodeSample, joint: str) -> ca.SX:
        total = _sum_squares(m.resistance(joint), self.force, self.torque)
        if np.isfinite([self.reaction_force, self.reaction_torque]).any():
            total += _sum_squares(m.reaction(joint), self.reaction_force, self.reaction_torque)
        return total


@dataclass(frozen=True, kw_only=True)
class BaseReaction(Cost):
    """Integral of squared reactions of one joint, such as that to the ground.

    Parameters
    ----------
    joint : str
    torque, force : float [N m], [N]
        Reaction that costs one per second; a part with an infinite one does not count.

    Raises
    ------
    ValueError
        If one of them is not above zero.
    """

    joint: str
    torque: float = 1.0
    force: float = 1.0

    def __post_init__(self) -> None:
        super().__post_init__()
        _check_sizes(self, "torque", "force")

    def check(self, dynamics: Dynamics) -> None:
        check_joints("BaseReaction", [self.joint], dynamics.joint_names)

    def rate(self, m: NodeSample) -> ca.SX:
        return _sum_squares(m.reaction(self.joint), self.force, self.torque)


@dataclass(frozen=True, kw_only=True)
class _Restricting(Cost):
    """A cost of range-of-motion elements: `RangeOfMotion`, `TurnRange`, `SlideRange`."""

    elements: Sequence[str] | None = None  # their names, by default all of them

    def check(self, dynamics: Dynamics) -> None:
        what, known = type(self).__name__, [x.name for x in _find_ranges(dynamics)]
        if not known:
            raise ValueError(f"{what}: the mechanism has no range of motion; add a RangeOfMotion")
        check_names(f"{what} names the range", self.elements or (), known, NOT_IN_MECHANISM)

    def _choose(self, m: NodeSample) -> list[Range]:
        ranges = _find_ranges(m.dynamics)
        return [x for x in ranges if self.elements is None or x.name in self.elements]


@dataclass(frozen=True, kw_only=True)
class RestrictingEnergy(_Restricting):
    """Integral of the potential energy of range-of-motion elements.

    Parameters
    ----------
    size : float [J]
        Potential that costs one per second.
    """

    size: float = 1.0

    def __post_init__(self) -> None:
        super().__post_init__()
        positive("size of RestrictingEnergy", self.size)

    def rate(self, m: NodeSample) -> ca.SX:
        return sum((energy_of(x, m) for x in self._choose(m)), ca.SX(0)) / self.size


@dataclass(frozen=True, kw_only=True)
class RestrictingMoment(_Restricting):
    """Integral of squared moments, or forces, of range-of-motion elements, damping included.

    Parameters
    ----------
    torque, force : float [N m], [N]
        Moment or force that costs one per second; a part with an infinite one does not count.

    Raises
    ------
    ValueError
        If one of them is not above zero.
    """

    torque: float = 1.0
    force: float = np.inf

    def __post_init__(self) -> None:
        super().__post_init__()
        _check_sizes(self, "torque", "force")

    def rate(self, m: NodeSample) -> ca.SX:
        wrenches = (wrench_of(x, m) for x in self._choose(m))
        return sum((_sum_squares(x, self.force, self.torque) for x in wrenches), ca.SX(0))


def _check_sizes(cost: Cost, *names: str) -> None:
    """Refuse named scales of a cost that are not above zero; they may be infinite."""
    for name in names:
        what, size = f"{name} of {type(cost).__name__}", getattr(cost, name)
        if not np.all(np.isposinf(numbers(what, size))):
            positive(what, size, "give what costs one, inf to leave it out")


def _find_ranges(d: Dynamics) -> list[Range]:
    return [x for x in d.elements if isinstance(x, RangeOfMotion | TurnRange | SlideRange)]


def _find_spanning(d: Dynamics) -> list[Range]:
    """Return the ranges of motion that span several joints, and so resist in no single one."""
    contacts = [x for x in d.elements if isinstance(x, Contact)]
    joints = [*d.mechanism.joints, *contacts]
    return [x for x in _find_ranges(d) if resisted_joint(x, joints) is None]


def _sum_squares(wrench: ca.SX, force: float, torque: float) -> ca.SX:
    """Return the sum of squares of a wrench (6,), its parts over the scales ``force``, ``torque``.

    A part whose scale is infinite is left out.
    """
    total = ca.SX(0)
    for part, size in ((wrench[:3], force), (wrench[3:], torque)):
        if np.isfinite(size):
            total += ca.sumsqr(part) / size**2
    return total


def energy_of(force: Force, m: NodeSample) -> ca.SX:
    """Return the potential energy of a force element [J]."""
    s = _state(m, _list_motions(force, m))
    return _release(s, force.energy(s))


def wrench_of(force: Force, m: NodeSample) -> ca.SX:
    """Return force [N] and torque [N m] on the body of its last frame, about its origin, (6,).

    World axes. By virtual work: the derivative of its potential when that body alone is displaced
    and rotated, and the power of its loads by that body's velocities.
    """
    frame = force.frames[-1]
    owner = frame.body.name if frame.body else None
    motions = _list_motions(force, m)
    here = motions[owner]  # of that body, displaced below by ``move`` at the velocities ``twist``
    move, twist = ca.SX.sym("move", 6), ca.SX.sym("twist", 6)
    turn = ca.SX.eye(3) + ca.skew(move[3:])  # to first order
    moved = Motion(here.r + move[:3], turn @ here.A, twist[:3], twist[3:])
    s = _state(m, {**motions, owner: moved})
    wrench = -ca.gradient(force.energy(s), move)
    for load in force.loads(s):
        wrench += ca.jtimes(load.velocity, twist, load.force, True)
    wrench = _release(s, wrench)
    as_it_moves = ca.vertcat(ca.SX.zeros(6), here.v, here.w)
    wrench = ca.substitute(wrench, ca.vertcat(move, twist), as_it_moves)
    arm = here.A @ m.state.value(frame.origin)  # from the centre of mass to the frame
    return ca.vertcat(wrench[:3], wrench[3:] - ca.cross(arm, wrench[:3]))


def _state(m: NodeSample, motions: dict[str | None, Motion]) -> State:
    return State(m.t, motions, {x.name: m.p[i] for i, x in enumerate(m.dynamics.parameters)})


def _list_motions(force: Force, m: NodeSample) -> dict[str | None, Motion]:
    """Return the motions of the centres of mass of its bodies, by name; None for the ground."""
    bodies = {frame.body.name: frame.body for frame in force.frames if frame.body}
    return {
        None: STILL,
        **{name: m.motion(Frame(body, axes=np.eye(3))) for name, body in bodies.items()},
    }


def _release(s: State, x: ca.SX) -> ca.SX:
    """Return an expression with the symbols of `State.frozen` replaced by their values.

    Derivatives of the expression, in which they count as constants, are taken before.
    """
    for symbols, value in reversed(s.frozen_values):
        x = ca.substitute(x, symbols, value)
    return x
