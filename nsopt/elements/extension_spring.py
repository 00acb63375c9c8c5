"""Extension springs, wound with pretension."""

from dataclasses import dataclass, field

import casadi as ca

from nsopt.checks import not_negative
from nsopt.elements.springs import TwoPointForce
from nsopt.mechanics import Output, State
from nsopt.parameter import Scalar


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
        d = self._span(s)
        return k * (ca.sumsqr(d) - free**2) / 2 + (pull - k * free) * (self._length(d) - free)

    def outputs(self, s: State) -> list[Output]:
        length = self._length(self._span(s))
        tension = s.value(self.stiffness) * (length - s.value(self.free_length))
        return [
            Output("length", length, "m"),
            Output("tension", tension + s.value(self.pretension), "N"),
        ]
