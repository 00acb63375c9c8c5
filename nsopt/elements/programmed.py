"""A frame that is told its motion, exactly or but for a tolerance [CoPCoD 2023, section 4]."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import casadi as ca

from nsopt.checks import positive
from nsopt.elements.clearance import gap_in_bore
from nsopt.elements.drives import find_driven_freedom
from nsopt.elements.paths import AnyPath, check_path, path_at, path_outline
from nsopt.elements.tangents import on_sphere
from nsopt.mechanics import (
    Axis,
    Constraint,
    ContactPair,
    DrivenFreedom,
    Gap,
    Outline,
    Pair,
    State,
    X,
    Y,
    Z,
)
from nsopt.parameter import Scalar

SLIDES, TURNS = ("x", "y", "z"), ("rx", "ry", "rz")


@dataclass(frozen=True, eq=False)
class Programmed(Pair, Constraint):
    """Frame b follows a path, as seen from frame a: a row for each axis that is programmed.

    Parameters
    ----------
    a, b : Frame
        The frame in which the path is given, on the ground or on a body; and the one that follows.
    path : PointPath, function of time or (3,) [m]
        Of the origin of b, along the axes of a: a `CornerPath`, `SplinePath` or `ArcPath`,
        ``lambda t: (..., ..., ...)`` with NumPy functions of the symbol t [s], or a point.
    axes : sequence of str
        What is programmed: any of "x", "y", "z" and "rx", "ry", "rz"; "xyz" is all of the position.
    turn : PointPath, function of time or (3,) [rad]
        Of the axes of b, if they are programmed: angles of turns about x, then the new y, then the
        new z, from the axes of a.
    drives : sequence of joints, Turn or Slide
        Joints whose drives make b follow the path (servo constraints), as many as ``axes``; or, in
        coordinates of joints, more. By default a guide pushes frame b itself.

    Raises
    ------
    ValueError
        If an axis is unknown or named twice, numbers of a path are out of range, or drives are too
        few.

    Notes
    -----
    Rows of turns are sin(theta) n, along the axes told, of the turn by theta about n from where b
    is told to be to where it is: with "rx", "ry" alone z of b points where it is told and b may
    turn about it.

    Guide: the reaction of this joint is what the guide takes. Drives: frame b feels nothing; their
    efforts are on record, ``<name>.torque[k]`` or ``force[k]``. As many drives as axes take what
    that needs; of more, each takes the part of the guide's forces that its joint would feel, so
    that with drives in all joints between a and b the motion without friction is that with a guide.
    """

    path: AnyPath = (0.0, 0.0, 0.0)
    axes: Sequence[str] = SLIDES
    turn: AnyPath = (0.0, 0.0, 0.0)
    drives: tuple[DrivenFreedom, ...] = ()

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "axes", tuple(self.axes))
        freedoms = (find_driven_freedom(f"drive of {self._what}", drive) for drive in self.drives)
        object.__setattr__(self, "drives", tuple(freedoms))
        for axis in self.axes:
            if axis not in SLIDES + TURNS or self.axes.count(axis) > 1:
                raise ValueError(
                    f"axes of {self._what} must be some of {', '.join(SLIDES + TURNS)}, each once, "
                    f"got {self.axes}"
                )
        if not self.axes:
            raise ValueError(f"axes of {self._what} are none: name what is programmed, as 'xyz'")
        check_path(f"path of {self._what}", self.path)
        check_path(f"turn of {self._what}", self.turn)

    @property
    def _what(self) -> str:
        return f"Programmed {self.name!r}"

    def residual(self, s: State) -> ca.SX:
        error = s.seen(self.a, self.b).r - path_at(f"path of {self._what}", self.path, s)
        if set(self.axes) & set(TURNS):
            error = ca.vertcat(error, _find_sine_vector(self._turn_error(s)))
        return ca.vertcat(*(error[(SLIDES + TURNS).index(axis)] for axis in self.axes))

    def alignment(self, s: State) -> ca.SX:
        told = [TURNS.index(axis) for axis in self.axes if axis in TURNS]
        if not told:
            return ca.SX(0, 1)
        diagonal = ca.diag(self._turn_error(s))
        trace = ca.sum1(diagonal)
        # 1 where the rows of the residual vanish as they should, less where by half a turn.
        if len(told) == 3:  # cos(theta), for a turn by theta about n
            return (trace - 1) / 2
        if len(told) == 2:  # the cosine between where the third axis is told to be and where it is
            return diagonal[3 - sum(told)]
        return trace - 2 * diagonal[told[0]]  # 1 - 2 (1 - cos(theta)) n_k^2, k the axis told

    def outline(self) -> list[Outline]:
        return path_outline(self.a, self.path)

    def _turn_error(self, s: State) -> ca.SX:
        """Return the rotation of b from where it is told to be, (3, 3)."""
        angles, told = path_at(f"turn of {self._what}", self.turn, s), ca.SX.eye(3)
        for k, axis in enumerate((X, Y, Z)):
            told = told @ Axis("angle", "rate", turn=axis).rotation(angles[k])
        return told.T @ s.seen(self.a, self.b).A


def _find_sine_vector(R: ca.SX) -> ca.SX:
    """Return sin(theta) n of the turn by theta about n, (3,)."""
    return ca.vertcat(R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1]) / 2


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
