"""A joint that turns or slides as it is told."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import casadi as ca

from nsopt.checks import finite
from nsopt.elements.drives import find_driven_freedom
from nsopt.elements.vector import number_now
from nsopt.mechanics import Constraint, DrivenFreedom, Frame, State, TimeFunction
from nsopt.parameter import Scalar


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
        return self.drives[0].misfit(s, self._coordinate(s))

    def alignment(self, s: State) -> ca.SX:
        return self.drives[0].alignment(s, self._coordinate(s))

    def _coordinate(self, s: State) -> ca.SX:
        """Return the coordinate of the joint at this time [rad or m]."""
        if callable(self.course):
            course = f"course of Driven {self.name!r}"
            return number_now(s, self.course, course, partial(finite, shape=()))
        begin = self.begin
        first = self.drives[0].coordinate(s.stated(self.frames)) if begin is None else begin
        return s.value(first) + s.value(self.course) * s.t
