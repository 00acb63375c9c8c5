"""Springs with dampers: between two points, about an axis, in all directions."""

from __future__ import annotations

from dataclasses import dataclass, field

import casadi as ca
import numpy as np

from nsopt.algebra import rotation_vector
from nsopt.checks import finite, not_negative
from nsopt.mechanics import Force, Load, Output, Pair, ResistingPair, State
from nsopt.parameter import Numbers, Scalar, parameters_in


class TwoPointForce(Pair, Force):
    """A force along the line between the origins of two frames, with a damper."""

    damping: Scalar

    def _find_span(self, s: State) -> ca.SX:
        """Return the vector from the origin of a to that of b, (3,) [m]."""
        return s.motion(self.b).r - s.motion(self.a).r

    @staticmethod
    def _find_length(d: ca.SX) -> ca.SX:
        """Return |d| [m]; at zero span, where there is no direction, its gradient is 0, not NaN."""
        return ca.sqrt(ca.sumsqr(d) + 1e-24)

    def loads(self, s: State) -> list[Load]:
        if self.damping == 0:
            return []
        d, u = self._find_span(s), s.motion(self.b).v - s.motion(self.a).v
        rate = ca.dot(d, u) / self._find_length(d)
        return [Load(rate, -s.value(self.damping) * rate)]


@dataclass(frozen=True, eq=False)
class SpringDamper(TwoPointForce):
    """A spring and a damper between the origins of two frames.

    Parameters
    ----------
    a, b : Frame
        On two bodies, or a body and the ground.
    stiffness : float or Parameter [N/m]
    free_length : float or Parameter [m]
        Zero is a spring that pulls its ends together.
    damping : float or Parameter [N s/m]

    Raises
    ------
    ValueError
        If a number is negative.
    """

    stiffness: Scalar
    free_length: Scalar = field(default=0.0, kw_only=True)
    damping: Scalar = field(default=0.0, kw_only=True)

    def __post_init__(self) -> None:
        super().__post_init__()
        for what in ("stiffness", "free_length", "damping"):
            not_negative(f"{what} of SpringDamper {self.name!r}", getattr(self, what))

    def energy(self, s: State) -> ca.SX:
        # k (L - free)^2 / 2, expanded: without free length nothing but k |d|^2 / 2 is left.
        k, free, d = s.value(self.stiffness), s.value(self.free_length), self._find_span(s)
        return k * (ca.sumsqr(d) - 2 * free * self._find_length(d) + free**2) / 2


@dataclass(frozen=True, eq=False)
class TorsionSpringDamper(ResistingPair):
    """A spring and a damper about z of frame a, for joints that turn about it.

    Parameters
    ----------
    a, b : Frame
        Their z axes stay parallel; the angle is that of x of b from x of a, about z.
    stiffness : float or Parameter [N m/rad]
    free_angle : float or Parameter [rad]
    damping : float or Parameter [N m s/rad]

    Raises
    ------
    ValueError
        If the stiffness or the damping is negative.

    Notes
    -----
    Full turns are counted where the turn is that of a joint of the tree of relative coordinates.
    Otherwise the angle lies within half a turn of the free angle: a spring that is wound further
    jumps to the other side, which a run tells. Outputs are ``angle`` [rad] and ``torque`` [N m] of
    the stiffness on the body of b about z.
    """

    stiffness: Scalar
    free_angle: Scalar = field(default=0.0, kw_only=True)
    damping: Scalar = field(default=0.0, kw_only=True)

    def __post_init__(self) -> None:
        super().__post_init__()
        of_element = f"of TorsionSpringDamper {self.name!r}"
        not_negative(f"stiffness {of_element}", self.stiffness)
        not_negative(f"damping {of_element}", self.damping)
        finite(f"free_angle {of_element}", self.free_angle, ())

    def _winding(self, s: State) -> ca.SX:
        """Return the angle from the free one [rad]."""
        free, counted = s.value(self.free_angle), s.counted_angle(self.a, self.b)
        if counted is not None:
            return counted - free
        R = s.seen(self.a, self.b).A
        sine, cosine = R[1, 0] - R[0, 1], R[0, 0] + R[1, 1]  # each twice, of a turn about z
        return ca.atan2(
            sine * ca.cos(free) - cosine * ca.sin(free), cosine * ca.cos(free) + sine * ca.sin(free)
        )

    def energy(self, s: State) -> ca.SX:
        return s.value(self.stiffness) * self._winding(s) ** 2 / 2

    def outputs(self, s: State) -> list[Output]:
        wound = self._winding(s)
        return [
            Output("angle", wound + s.value(self.free_angle), "rad"),
            Output("torque", -s.value(self.stiffness) * wound, "N m"),
        ]

    def loads(self, s: State) -> list[Load]:
        if self.damping == 0:
            return []
        rate = s.seen(self.a, self.b).w[2]
        return [Load(rate, -s.value(self.damping) * rate)]


@dataclass(frozen=True, eq=False)
class ExtensionSpring(TwoPointForce):
    """A spring between the origins of two frames that pulls with its pretension already when short.

    Its tension is F = k (L - L_0) + F_0 [CHARMIE 2023, eq. 35; the sign in print is wrong].

    Parameters
    ----------
    a, b : Frame
        On two bodies, or a body and the ground.
    stiffness : float or Parameter [N/m]
        k.
    free_length : float or Parameter [m]
        L_0, with the coils closed; may be zero.
    pretension : float or Parameter [N]
        F_0, that of winding, at L = L_0. With F_0 = k L_0 it pulls as one of no free length.
    damping : float or Parameter [N s/m]

    Raises
    ------
    ValueError
        If a number is negative.

    Notes
    -----
    Readings are ``length`` [m] and ``tension`` [N], without damping. The law goes on below L_0,
    where the coils of a real one touch: see that ``length`` stays above. Where both ends meet there
    is no direction and no force.
    """

    stiffness: Scalar
    free_length: Scalar = field(default=0.0, kw_only=True)
    pretension: Scalar = field(default=0.0, kw_only=True)
    damping: Scalar = field(default=0.0, kw_only=True)

    def __post_init__(self) -> None:
        super().__post_init__()
        for what in ("stiffness", "free_length", "pretension", "damping"):
            not_negative(f"{what} of ExtensionSpring {self.name!r}", getattr(self, what))

    def energy(self, s: State) -> ca.SX:
        # Expanded, so that nothing but k |d|^2 / 2 is left of a spring with F_0 = k L_0.
        k, free, pull = (s.value(x) for x in (self.stiffness, self.free_length, self.pretension))
        d = self._find_span(s)
        return k * (ca.sumsqr(d) - free**2) / 2 + (pull - k * free) * (self._find_length(d) - free)

    def outputs(self, s: State) -> list[Output]:
        length = self._find_length(self._find_span(s))
        tension = s.value(self.stiffness) * (length - s.value(self.free_length))
        return [
            Output("length", length, "m"),
            Output("tension", tension + s.value(self.pretension), "N"),
        ]


NONE = (0.0, 0.0, 0.0)


@dataclass(frozen=True, eq=False)
class Bushing(ResistingPair):
    """Springs and dampers between two frames, along and about the axes of frame a.

    Unstrained where the frames coincide: a rubber mount, a foundation [CoPCoD 2023, eq. 15], or,
    with rotations alone, what makes a `Bend` elastic (eq. 17).

    Parameters
    ----------
    stiffness, damping : (3,) floats or Parameters [N/m], [N s/m]
        Along x, y, z of frame a, of the offset of the origin of b.
    turning_stiffness, turning_damping : (3,) [N m/rad], [N m s/rad]
        About them, of the turn vector theta n of b, and of its angular velocity.

    Raises
    ------
    ValueError
        If there are not three numbers, one is negative, or all are zero.

    Notes
    -----
    The turn vector is exact for turns below half a turn, and the same from either frame; the paper
    takes Euler angles, which differ from it by the product of two of them.
    """

    stiffness: Numbers = NONE
    damping: Numbers = NONE
    turning_stiffness: Numbers = NONE
    turning_damping: Numbers = NONE

    def __post_init__(self) -> None:
        super().__post_init__()
        sizes = []
        for name in ("stiffness", "damping", "turning_stiffness", "turning_damping"):
            what = f"{name} of Bushing {self.name!r}"
            given = finite(what, getattr(self, name), (3,))
            if np.any(given < 0):
                raise ValueError(
                    f"{what} must not be negative, got {given.tolist()}: give zero or more"
                )
            sizes.append(given)
        if not np.any(sizes) and not parameters_in(self):
            raise ValueError(f"Bushing {self.name!r} has no stiffness and no damping: give some")

    def energy(self, s: State) -> ca.SX:
        x = s.seen(self.a, self.b)
        energy = ca.dot(s.value(self.stiffness), x.r**2)
        if _has_some(self.turning_stiffness):
            energy += ca.dot(s.value(self.turning_stiffness), rotation_vector(x.A) ** 2)
        return energy / 2

    def loads(self, s: State) -> list[Load]:
        x = s.seen(self.a, self.b)
        pairs = ((x.v, self.damping), (x.w, self.turning_damping))
        return [Load(rate, -s.value(d) * rate) for rate, d in pairs if _has_some(d)]


def _has_some(numbers: Numbers) -> bool:
    """Return whether any of the numbers is not zero, or may become so."""
    return bool(parameters_in(numbers)) or bool(np.any(np.asarray(numbers, dtype=float)))
