"""Two points at a distance: a rod without mass, or a linear actuator of given length."""

from dataclasses import dataclass
from functools import partial

import casadi as ca

from nsopt.checks import positive
from nsopt.elements.vector import number_now
from nsopt.mechanics import Constraint, Pair, State, TimeFunction
from nsopt.parameter import Scalar


@dataclass(frozen=True, eq=False)
class Distance(Pair, Constraint):
    """Keeps the origins of two frames at a distance: 1 row.

    A rod with a ball at each end, of no mass, that may pull and push. A length that is a function
    of time is a linear actuator that obeys at any force.

    Parameters
    ----------
    a, b : Frame
        Their axes do not matter.
    length : float or Parameter [m], or a function of time
        ``lambda t: ...`` with NumPy functions of the symbol t [s]; above zero throughout the run.

    Raises
    ------
    ValueError
        If the length is no positive number; of a function of time, at t = 0, when it is assembled.

    Notes
    -----
    The residual is (d.d - l^2) / (2 l) [m], with the same value and gradient to first order as
    |d| - l where the joint is closed, and smooth also where both origins coincide. Its multiplier
    is the force in the rod, positive where it pushes.
    """

    length: Scalar | TimeFunction

    def __post_init__(self) -> None:
        super().__post_init__()
        if not callable(self.length):
            positive(self._what, self.length, "two points that coincide are a Spherical")

    @property
    def _what(self) -> str:
        return f"length of Distance {self.name!r}"

    def residual(self, s: State) -> ca.SX:
        d, length = s.motion(self.b).r - s.motion(self.a).r, self.length
        check = partial(positive, remedy="give a longer one")
        now = number_now(s, length, self._what, check) if callable(length) else s.value(length)
        return (ca.sumsqr(d) - now**2) / (2 * now)
