"""Freedoms of joints that are driven: by a course that they follow, or under feedback."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from typing import Any

import casadi as ca

from nsopt.checks import finite
from nsopt.elements.vector import number_now
from nsopt.mechanics import (
    Axis,
    Constraint,
    DrivenFreedom,
    Force,
    Frame,
    Load,
    Output,
    State,
    TimeFunction,
)
from nsopt.parameter import Numbers, Scalar, parameters_in


class Turn(DrivenFreedom):
    """A turn about z of frame a: the angle of x of frame b from x of frame a.

    Full turns are counted where the turn is that of a joint of the tree of relative coordinates;
    otherwise the angle is in (-pi, pi], and jumps by a full turn beyond.

    The torque acts about z of a. The rate is that of the relative angular velocity about z of a;
    where a clearance lets the axes tilt by an angle it differs from that of the measured angle in
    second order of the tilt.
    """

    names = ("angle", "rate", "torque")
    units = ("rad", "rad/s", "N m")

    def coordinate(self, s: State) -> ca.SX:
        return s.angle(self.a, self.b)

    def rate(self, s: State) -> ca.SX:
        return s.seen(self.a, self.b).w[2]

    def misfit(self, s: State, value: ca.SX) -> ca.SX:
        # The sine has no jump after a turn, unlike the angle itself.
        sine, cosine = self._find_direction(s)
        return sine * ca.cos(value) - cosine * ca.sin(value)

    def alignment(self, s: State, value: ca.SX) -> ca.SX:
        sine, cosine = self._find_direction(s)
        return cosine * ca.cos(value) + sine * ca.sin(value)

    def _find_direction(self, s: State) -> tuple[ca.SX, ca.SX]:
        """Return sine and cosine of the angle: y and x, in frame a, of the x axis of frame b."""
        R = s.seen(self.a, self.b).A
        return R[1, 0], R[0, 0]


class Slide(DrivenFreedom):
    """A slide along z of frame a: the distance of the origin of frame b from that of frame a."""

    names = ("distance", "speed", "force")
    units = ("m", "m/s", "N")

    def coordinate(self, s: State) -> ca.SX:
        return s.seen(self.a, self.b).r[2]

    def rate(self, s: State) -> ca.SX:
        return s.seen(self.a, self.b).v[2]

    def misfit(self, s: State, value: ca.SX) -> ca.SX:
        return self.coordinate(s) - value


def find_driven_freedom(what: str, joint: object) -> DrivenFreedom:
    """Return the only freedom of a joint as a Turn or Slide, or the Turn or Slide that is given.

    TypeError named ``what`` if the joint does not say which of its freedoms it is, ValueError if
    both frames of a Turn or Slide are on one body, or one is on a particle.
    """
    if isinstance(joint, DrivenFreedom):
        _check_joint(what, joint)
        return joint
    freedom = joint.freedom() if isinstance(joint, Constraint) else None
    if not isinstance(joint, Constraint) or freedom is None or len(freedom) != 1:
        raise TypeError(
            f"{what} must have one freedom, as Revolute, Prismatic and Screw do, got {joint!r}: "
            "say which is driven by Turn(a, b) or Slide(a, b)"
        )
    turns = isinstance(freedom[0], Axis) and any(freedom[0].turn)
    return (Turn if turns else Slide)(*joint.frames)


class HeldFunction:
    """A function. Not callable itself, as a callable would count as a function of time."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self.function = function


@dataclass(frozen=True, eq=False)
class JointDrives(Force):
    """Motors of several joints, under one control law on their measured coordinates.

    Parameters
    ----------
    name : str
    joints : sequence of Turn or Slide
        The n driven freedoms; their joints are in the tree or cut, ideal or with clearance.
    law : callable
        ``law(t, q, v) -> (n,)``, torques [N m] and forces [N] on the bodies of the frames b,
        the reverse on those of a. t [s] is a symbol, q and v (n,) are vectors of symbols: the
        measured coordinates [rad, m] and their rates. Write it with NumPy or CasADi functions;
        functions such as `nsopt.robots.inverse_dynamics` returns may be called in it.
    gains : sequence of float or Parameter
        If not empty, handed to the law as a vector of symbols, its fourth argument: numbers that
        a run may replace.

    Raises
    ------
    TypeError
        If ``joints`` are something else, or the law does not take these arguments.
    ValueError
        If both frames of a joint are on one body or one is on a particle, a gain is not finite, or
        the law returns another number of torques, or one that is not finite at t = 0 in the
        stated poses of the bodies.

    Notes
    -----
    The law is part of the equations of motion: it acts without delay, and schemes use its
    derivatives. Its work counts as external. Outputs are, for a `Turn`, ``angle[k]`` [rad],
    ``rate[k]`` [rad/s] and ``torque[k]`` [N m], for a `Slide` ``distance[k]`` [m], ``speed[k]``
    [m/s] and ``force[k]`` [N], with k the index in ``joints``.
    """

    name: str
    joints: Iterable[DrivenFreedom]
    law: Any
    gains: Numbers = ()

    external = True
    feedback = True

    def __post_init__(self) -> None:
        of_element = f"of JointDrives {self.name!r}"
        joints, law = tuple(self.joints), self.law
        object.__setattr__(self, "joints", joints)
        object.__setattr__(self, "law", law if isinstance(law, HeldFunction) else HeldFunction(law))
        if not joints:
            raise ValueError(
                f"joints {of_element} are none: give at least one Turn(a, b) or Slide(a, b)"
            )
        for k, joint in enumerate(joints):
            _check_joint(f"joint {k} {of_element}", joint)
        finite(f"gains {of_element}", self.gains, (len(self.gains),))
        arguments = ("t", "q", "v", "gains")[: 4 if len(self.gains) else 3]
        try:
            inspect.signature(self.law.function).bind(*arguments)
        except TypeError:
            raise TypeError(
                f"law {of_element} must take ({', '.join(arguments)}), got {self.law.function!r}"
            ) from None
        self._check_start(of_element)

    def _check_start(self, of_element: str) -> None:
        """Refuse a law that is not finite at t = 0 in the stated poses."""
        used = parameters_in((self.frames, self.gains)).values()
        known = State(ca.SX(0), {}, {x.name: ca.SX(x.value) for x in used})
        torques = self._evaluate_law(known.stated(self.frames))
        if not ca.symvar(torques) and not ca.evalf(torques).is_regular():
            raise ValueError(
                f"law {of_element} must be finite, but is {ca.evalf(torques).full().ravel()} "
                "at t = 0 in the poses that the bodies state: correct it there"
            )

    @property
    def frames(self) -> tuple[Frame, ...]:
        """Frames a and b of each joint in turn."""
        return tuple(frame for joint in self.joints for frame in (joint.a, joint.b))

    def _evaluate_law(self, s: State) -> ca.SX:
        """Return torques and forces, (n,)."""
        q = ca.vertcat(*(joint.coordinate(s) for joint in self.joints))
        v = ca.vertcat(*(joint.rate(s) for joint in self.joints))
        more = (s.value(self.gains),) if len(self.gains) else ()
        torques = s.value(lambda t: self.law.function(t, q, v, *more))
        n = q.numel()
        if torques.shape not in ((n, 1), (1, n)):
            raise ValueError(
                f"law of JointDrives {self.name!r} must return {n} torques, one for each joint, "
                f"got shape {torques.shape}"
            )
        return ca.vec(torques)

    def loads(self, s: State) -> list[Load]:
        torques = self._evaluate_law(s)
        return [Load(joint.rate(s), torques[k]) for k, joint in enumerate(self.joints)]

    def outputs(self, s: State) -> list[Output]:
        torques, outputs = self._evaluate_law(s), []
        for k, joint in enumerate(self.joints):
            values = (joint.coordinate(s), joint.rate(s), torques[k])
            for name, value, unit in zip(joint.names, values, joint.units, strict=True):
                outputs.append(Output(f"{name}[{k}]", value, unit))
        return outputs


def _check_joint(what: str, joint: object) -> None:
    if not isinstance(joint, DrivenFreedom):
        raise TypeError(f"{what} must be a Turn(a, b) or a Slide(a, b), got {joint!r}")
    for frame in (joint.a, joint.b):
        if not isinstance(frame, Frame):
            raise TypeError(
                f"{what} is between two frames, got {type(frame).__name__}: use "
                "Frame(body, origin) or Frame.at(body, point)"
            )
    if joint.a.body is joint.b.body:
        raise ValueError(
            f"{what} has both frames on {joint.a.label}: it must connect two different bodies, or "
            "a body and the ground"
        )
    with_axes = (joint.a, joint.b) if isinstance(joint, Turn) else (joint.a,)
    for frame in with_axes:
        if frame.body is not None and frame.body.point_mass:
            raise ValueError(
                f"{what} has a frame on the point mass {frame.body.name!r}, which has no axes: put "
                "it on a body with inertia"
            )


@dataclass(frozen=True, eq=False)
class Driven(Constraint):
    """A drive that makes a joint follow a course at whatever effort it takes: 1 row.

    A rheonomic driver: the crank of an engine, a cam, a shaker. Its torque or force is on record,
    its work counts as external.

    Parameters
    ----------
    name : str
    joint : Constraint, Turn or Slide
        A joint of one freedom, such as `Revolute`, `Prismatic` or `Screw`; of others, and of joints
        with clearance, ``Turn(a, b)`` or ``Slide(a, b)`` says what is driven.
    course : float or Parameter [rad/s or m/s], or a function of time [rad or m]
        A constant speed; or ``lambda t: ...``, the coordinate of the joint, with NumPy functions of
        the symbol t [s], in which Parameters may take part: ``lambda t: amplitude * np.sin(t)``.
    begin : float or Parameter [rad or m], optional
        Of a constant speed, the coordinate at t = 0; that of the stated poses by default.

    Raises
    ------
    TypeError
        If the joint does not say which of its freedoms is driven.
    ValueError
        If a number is not finite; of a function of time, at t = 0, when it is assembled.

    Notes
    -----
    The multiplier is the effort: the torque about z of frame a on the body of frame b, and the
    reverse on that of a; or the force along it. On record it is ``torque`` [N m] or ``force`` [N],
    its mean over each step.
    """

    name: str
    joint: Constraint | DrivenFreedom
    course: Scalar | TimeFunction
    begin: Scalar | None = None

    def __post_init__(self) -> None:
        freedom = find_driven_freedom(f"joint of Driven {self.name!r}", self.joint)
        object.__setattr__(self, "drives", (freedom,))
        for what in ("course", "begin"):
            value = getattr(self, what)
            if value is not None and not callable(value):
                finite(f"{what} of Driven {self.name!r}", value, ())
        if callable(self.course) and self.begin is not None:
            raise ValueError(
                f"begin of Driven {self.name!r} is for a constant speed: a function of time states "
                "it itself, leave begin out"
            )

    @property
    def frames(self) -> tuple[Frame, ...]:
        """Frames a and b of the joint."""
        return self.drives[0].a, self.drives[0].b

    def residual(self, s: State) -> ca.SX:
        return self.drives[0].misfit(s, self._evaluate_course(s))

    def alignment(self, s: State) -> ca.SX:
        return self.drives[0].alignment(s, self._evaluate_course(s))

    def _evaluate_course(self, s: State) -> ca.SX:
        """Return the coordinate of the joint at this time [rad or m]."""
        if callable(self.course):
            course = f"course of Driven {self.name!r}"
            return number_now(s, self.course, course, partial(finite, shape=()))
        begin = self.begin
        first = self.drives[0].coordinate(s.stated(self.frames)) if begin is None else begin
        return s.value(first) + s.value(self.course) * s.t
