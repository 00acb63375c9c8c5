"""Rigid bodies."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import casadi as ca
import numpy as np
from numpy.typing import ArrayLike, NDArray

from nsopt.algebra import from_rotation, rotation_matrix
from nsopt.checks import finite, not_negative, numbers, plain
from nsopt.parameter import Numbers, Scalar, number, parameters_in


@dataclass(frozen=True, eq=False)
class Body:
    """A rigid body, its frame at the centre of mass, with the pose and velocity it starts from.

    Parameters
    ----------
    name : str
        Unique in the mechanism.
    mass : float or Parameter [kg]
    inertia : (3,) or (3, 3) [kg m^2]
        About the centre of mass in body axes; three numbers are the principal moments.
    position : (3,) [m]
        Centre of mass at the start, world axes.
    orientation : (4,) or (3, 3)
        Euler parameters (e0, e) or rotation matrix (plain numbers) at the start, body to world.
    velocity : (3,) [m/s]
        Of the centre of mass at the start, world axes.
    angular_velocity : (3,) [rad/s]
        At the start, body axes.
    point_mass : bool
        A particle: three coordinates, no orientation, no inertia.
    physical : bool
        False accepts an inertia that no body can have, as files of robots often state.
    outline : sequence of (n, 3) [m]
        Polylines in body axes, for pictures alone, such as `link_outline` and `box_outline` return.
        By default pictures show lines from the centre of mass to the joints.

    Raises
    ------
    ValueError
        If a number is not finite, the mass is negative, or the inertia is not that of a body
        (positive semidefinite, each principal moment at most the sum of the other two), or an
        outline is no polyline.

    Notes
    -----
    Zero mass or inertia is legal where joints leave the body no free motion of its own; `assemble`
    refuses it elsewhere.
    """

    name: str
    mass: Scalar
    inertia: Numbers = (0.0, 0.0, 0.0)
    position: Numbers = (0.0, 0.0, 0.0)
    orientation: Numbers = (1.0, 0.0, 0.0, 0.0)
    velocity: Numbers = (0.0, 0.0, 0.0)
    angular_velocity: Numbers = (0.0, 0.0, 0.0)
    point_mass: bool = False
    physical: bool = True
    outline: Sequence[ArrayLike] = ()

    def __post_init__(self) -> None:
        if not self.name:
            raise ValueError("a body needs a name")
        of_body = f"of body {self.name!r}"
        not_negative(f"mass {of_body}", self.mass)
        for name in ("position", "velocity", "angular_velocity"):
            finite(f"{name} {of_body}", getattr(self, name), (3,))
        object.__setattr__(self, "orientation", self._read_orientation(of_body))
        object.__setattr__(self, "outline", self._read_outline(of_body))
        self._check_inertia(of_body)
        if self.point_mass:
            self._check_point_mass(of_body)

    def _read_orientation(self, of_body: str) -> Numbers:
        what = f"orientation {of_body}"
        if np.shape(numbers(what, self.orientation)) == (3, 3):
            plain(what, self.orientation)
            A = finite(what, self.orientation, (3, 3))
            try:
                return tuple(from_rotation(A))
            except ValueError as error:
                raise ValueError(f"{what} is {error}") from None
        p = finite(what, self.orientation, (4,))
        norm = np.linalg.norm(p)
        if abs(norm - 1) > 1e-6:
            raise ValueError(
                f"{what} must be a rotation matrix or four Euler parameters of norm 1, got norm "
                f"{norm:.6g}: divide them by their norm"
            )
        return self.orientation if parameters_in(self.orientation) else tuple(p / norm)

    def _read_outline(self, of_body: str) -> tuple[tuple[tuple[float, ...], ...], ...]:
        lines = []
        for k, line in enumerate(self.outline):
            what = f"outline[{k}] {of_body}"
            shape = np.shape(line)
            if len(shape) != 2 or shape[0] < 2 or shape[1] != 3:
                raise ValueError(
                    f"{what} must be a polyline (n, 3) of two points or more, got shape {shape}: "
                    "outline is a sequence of such lines"
                )
            plain(what, line, "pictures keep their form only as numbers")
            lines.append(tuple(map(tuple, finite(what, line, shape).tolist())))
        return tuple(lines)

    def _check_inertia(self, of_body: str) -> None:
        what = f"inertia {of_body}"
        matrix = np.ndim(numbers(what, self.inertia)) == 2
        given = finite(what, self.inertia, (3, 3) if matrix else (3,))
        J = given if matrix else np.diag(given)
        if not np.allclose(J, J.T, rtol=1e-9, atol=0):
            raise ValueError(f"{what} must be symmetric, got {J.tolist()}")
        if not self.physical:
            return
        moments = np.linalg.eigvalsh(J)
        slack = 1e-9 * max(moments[-1], 0.0)
        if moments[0] < -slack:
            raise ValueError(f"{what} must be positive semidefinite, has moments {moments}")
        if moments[2] > moments[0] + moments[1] + slack:
            raise ValueError(
                f"{what} is that of no body: the largest principal moment {moments[2]:g} "
                f"exceeds the sum of the others, {moments[0]:g} + {moments[1]:g} [kg m^2]"
            )

    def _check_point_mass(self, of_body: str) -> None:
        defaults = {"inertia": 0.0, "angular_velocity": 0.0, "orientation": (1.0, 0.0, 0.0, 0.0)}
        for name, value in defaults.items():
            if np.any(number(getattr(self, name)) != np.asarray(value)):
                raise ValueError(f"{name} {of_body} must be left out: a point mass does not turn")

    @cached_property
    def rotation(self) -> NDArray[np.float64]:
        """Rotation matrix at the start, body to world, shape (3, 3)."""
        return np.asarray(ca.evalf(rotation_matrix(ca.SX(ca.DM(number(self.orientation))))))
