"""A corridor: a frame that may leave its path by a tolerance [CoPCoD 2023, section 4]."""

from __future__ import annotations

from dataclasses import dataclass

import casadi as ca

from nsopt.checks import positive
from nsopt.elements.clearance import gap_in_bore
from nsopt.elements.paths import AnyPath, check_path, path_at, path_outline
from nsopt.elements.tangents import on_sphere
from nsopt.mechanics import ContactPair, Gap, Outline, State
from nsopt.parameter import Scalar


@dataclass(frozen=True, eq=False)
class Corridor(ContactPair):
    """The origin of frame b stays within a ball that moves along a path: 1 gap.

    A `Programmed` point with play, a contact with gap (tol^2 - |d|^2) / (2 tol): the guide pushes
    only where the tolerance is used up. Its work counts as external. Friction resists sliding
    against the ball.

    Parameters
    ----------
    a, b : Frame
        The frame in which the path is given, and the one that follows.
    path : PointPath, function of time or (3,) [m]
        Along the axes of a, as for `Programmed`.
    tolerance : float or Parameter [m]

    Raises
    ------
    ValueError
        If the tolerance is not positive, or the path is not finite.
    """

    path: AnyPath
    tolerance: Scalar

    def __post_init__(self) -> None:
        super().__post_init__()
        check_path(f"path of {self._what}", self.path)
        remedy = "without tolerance it is Programmed"
        positive(f"tolerance of {self._what}", self.tolerance, remedy)

    @property
    def _what(self) -> str:
        return f"Corridor {self.name!r}"

    def gaps(self, s: State) -> list[Gap]:
        a, b, c = s.motion(self.a), s.motion(self.b), s.value(self.tolerance)
        told = path_at(f"path of {self._what}", self.path, s)
        offset = b.r - a.r - a.A @ told
        gap = gap_in_bore(offset, c, b.r, ca.SX(0), a.A)
        (gap,) = self.with_law(s, [gap._replace(tangents=on_sphere(gap.normal, a.A))])
        moving = gap.tangents.T @ a.A @ ca.jacobian(told, s.t)
        return [gap._replace(slip=gap.slip - moving if gap.slip.numel() else gap.slip)]

    def outline(self) -> list[Outline]:
        return path_outline(self.a, self.path)
