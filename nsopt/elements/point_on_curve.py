"""A point guided by a curve: a cam with a groove, or one whose follower never leaves it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import casadi as ca

from nsopt.elements.drives import HeldFunction
from nsopt.mechanics import Constraint, Pair, State
from nsopt.parameter import at_time, constant


@dataclass(frozen=True, eq=False)
class PointOnCurve(Pair, Constraint):
    """Keeps the origin of b on a curve in the xy plane of a, as a cam does its follower: 2 rows.

    Parameters
    ----------
    a, b : Frame
        On the cam, and on what carries the centre of the roller; axes of b do not matter.
    curve : callable
        ``curve(x, y)`` [m] is zero on the curve, and nowhere near it else, with a gradient of about
        one; NumPy functions of the symbols x and y. The pitch curve of a cam with the radius
        ``r(angle)`` is ``lambda x, y: np.sqrt(x**2 + y**2) - r(np.arctan2(y, x))``.

    Raises
    ------
    TypeError
        If the curve is no function.
    ValueError
        If it does not return one number, or one that is the same everywhere.
    """

    curve: Any

    def __post_init__(self) -> None:
        super().__post_init__()
        if isinstance(self.curve, HeldFunction):
            return
        if not callable(self.curve):
            raise TypeError(
                f"{self._what} must be a function of x and y that is zero on it, got "
                f"{self.curve!r}: lambda x, y: ..."
            )
        object.__setattr__(self, "curve", HeldFunction(self.curve))
        x, y = ca.SX.sym("x"), ca.SX.sym("y")
        if not ca.depends_on(self._evaluate_curve(x, y), ca.vertcat(x, y)):
            raise ValueError(f"{self._what} must depend on x and y: it is the same everywhere")

    @property
    def _what(self) -> str:
        return f"curve of PointOnCurve {self.name!r}"

    def residual(self, s: State) -> ca.SX:
        x, y, z = ca.vertsplit(s.seen(self.a, self.b).r)
        return ca.vertcat(s.value(lambda _: self.curve.function(x, y)), z)

    def _evaluate_curve(self, x: ca.SX, y: ca.SX) -> ca.SX:
        found = at_time(lambda _: self.curve.function(x, y), x, constant)
        if not isinstance(found, ca.SX | float | int) or not ca.SX(found).is_scalar():
            raise ValueError(f"{self._what} must return one number, got {found!r}")
        return ca.SX(found)
