"""Ends of the range of one freedom: a turn about an axis, a slide along it."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import NamedTuple

import casadi as ca
import numpy as np

from nsopt.checks import finite, not_negative
from nsopt.elements.range_of_motion import Law
from nsopt.mechanics import Load, Output, ResistingPair, State
from nsopt.parameter import Scalar, number


class _Freedom(NamedTuple):
    """The coordinate that is limited, and its rate."""

    value: ca.SX  # [rad or m]
    rate: ca.SX  # [rad/s or m/s]
    unit: str


@dataclass(frozen=True, eq=False)
class _Range(ResistingPair):
    """A one-sided law beyond each end of the range of a coordinate, and a damper.

    Parameters
    ----------
    lower, upper : float or Parameter
        Ends of the range.
    law : Law, or pair of Law
        Size of the moment or force that pushes back, as a function of the excess beyond an end; of
        a pair the first is for the lower end, the second for the upper.
    damping : float or Parameter
        Of the rate, inside the range too.

    Raises
    ------
    ValueError
        Unless lower < upper, and numbers of the law are in range.
    TypeError
        If the law is none, nor a pair of them.
    """

    lower: Scalar
    upper: Scalar
    law: Law | tuple[Law, Law]
    damping: Scalar = 0.0

    def __post_init__(self) -> None:
        super().__post_init__()
        of_element = f"of {type(self).__name__} {self.name!r}"
        lower, upper = (
            float(finite(f"{n} {of_element}", getattr(self, n), ())) for n in ("lower", "upper")
        )
        if not lower < upper:
            raise ValueError(f"lower {of_element} must be below upper, got {lower:g} and {upper:g}")
        if len(self._laws) != 2 or not all(isinstance(law, Law) for law in self._laws):
            raise TypeError(
                f"law {of_element} must be a Law, or a pair of them, got {self.law!r}: use "
                "CubicLaw(...)"
            )
        for law in self._laws:
            law.check(of_element)
            law.check_potential(of_element)
        not_negative(f"damping {of_element}", self.damping)

    @abstractmethod
    def _find_freedom(self, s: State) -> _Freedom:
        """Return the limited coordinate."""

    @property
    def _laws(self) -> tuple[Law, ...]:
        """The law beyond the lower end, and that beyond the upper one."""
        return self.law if isinstance(self.law, tuple) else (self.law, self.law)

    def _find_excesses(self, s: State) -> tuple[ca.SX, ca.SX]:
        """Return how far it is below the lower end and above the upper one, less than 0 inside."""
        x = self._find_freedom(s).value
        return s.value(self.lower) - x, x - s.value(self.upper)

    def energy(self, s: State) -> ca.SX:
        energy = ca.SX(0)
        for law, excess in zip(self._laws, self._find_excesses(s), strict=True):
            energy += law.potential(s, excess if law.inside else ca.fmax(excess, 0))
        return energy

    def loads(self, s: State) -> list[Load]:
        if self.damping == 0:
            return []
        rate = self._find_freedom(s).rate
        return [Load(rate, -s.value(self.damping) * rate)]

    def outputs(self, s: State) -> list[Output]:
        freedom, push, (below, above) = (
            self._find_freedom(s),
            ca.SX(0),
            self._find_excesses(s),
        )
        for sign, law, excess in zip((1, -1), self._laws, (below, above), strict=True):
            acts = ca.fmax(excess > 0, int(law.inside))
            push += sign * acts * law.moment(s, excess if law.inside else ca.fmax(excess, 0))
        narrower = ca.fmin(*(law.width(s) for law in self._laws))
        return [
            Output("position", freedom.value, freedom.unit),
            Output("excess", ca.fmax(below, above), freedom.unit, most=narrower),
            Output("resistance", push, "N m" if freedom.unit == "rad" else "N"),
        ]


class TurnRange(_Range):
    """Ends of the turn about z: of a hinge, or the internal rotation of a joint that tilts.

    The angle [rad] is that of the turn about z of b once z of a has been brought onto z of b the
    short way; for a hinge about z simply its angle. It lies within half a turn of the middle of the
    range. Where the axes tilt by an angle, the torque that goes with it acts about the middle
    between both, and is larger by 1 / cos(tilt / 2); where they are opposite its direction is
    undefined. Damping [N m s/rad] acts on the rate of the angle.

    The limit of internal rotation that [RoM 2023] leaves out.

    Raises
    ------
    ValueError
        If the range is a full turn or more.
    """

    def __post_init__(self) -> None:
        super().__post_init__()
        span = float(number(self.upper)) - float(number(self.lower))
        if span >= 2 * np.pi:
            raise ValueError(
                f"the range of TurnRange {self.name!r} must be less than a full turn, got {span:g} "
                "rad: angles are in radians"
            )

    def _find_freedom(self, s: State) -> _Freedom:
        a, b = s.motion(self.a), s.motion(self.b)
        R, middle = a.A.T @ b.A, (s.value(self.lower) + s.value(self.upper)) / 2
        # Of the angle once the tilt is undone, each times 1 + cos(tilt).
        sine, cosine = R[1, 0] - R[0, 1], R[0, 0] + R[1, 1]
        angle = middle + ca.atan2(
            sine * ca.cos(middle) - cosine * ca.sin(middle),
            cosine * ca.cos(middle) + sine * ca.sin(middle),
        )
        z_a, z_b = a.A[:, 2], b.A[:, 2]
        rate = ca.dot(z_a + z_b, b.w - a.w) / (1 + ca.dot(z_a, z_b))
        return _Freedom(angle, rate, "rad")


class SlideRange(_Range):
    """Ends of the slide of the origin of b along z of a [m]; damping in N s/m."""

    def _find_freedom(self, s: State) -> _Freedom:
        a, b = s.motion(self.a), s.motion(self.b)
        rate = ca.dot(a.A[:, 2], b.v - a.velocity_at(b.r))
        return _Freedom(ca.dot(a.A[:, 2], b.r - a.r), rate, "m")
