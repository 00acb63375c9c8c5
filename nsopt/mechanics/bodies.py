"""Rigid bodies."""

from __future__ import annotations

from dataclasses import dataclass

import casadi as ca
import numpy as np
from numpy.typing import NDArray

from nsopt.algebra import from_rotation, rotation_matrix
from nsopt.mechanics.checks import finite, not_negative
from nsopt.mechanics.parameter import Numbers, Scalar, number


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
        Euler parameters (e0, e) or rotation matrix at the start, body to world.
    velocity : (3,) [m/s]
        Of the centre of mass at the start, world axes.
    angular_velocity : (3,) [rad/s]
        At the start, body axes.
    point_mass : bool
        A particle: three coordinates, no orientation, no inertia.

    Raises
    ------
    ValueError
        If a number is not finite, the mass is negative, or the inertia is not that of a body
        (positive semidefinite, each principal moment at most the sum of the other two).

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

    def __post_init__(self) -> None:
        if not self.name:
            raise ValueError("a body needs a name")
        of = f"of body {self.name!r}"
        not_negative(f"mass {of}", self.mass)
        finite(f"position {of}", self.position, (3,))
        finite(f"velocity {of}", self.velocity, (3,))
        finite(f"angular_velocity {of}", self.angular_velocity, (3,))
        object.__setattr__(self, "orientation", self._euler_parameters(of))
        self._check_inertia(of)

    def _euler_parameters(self, of: str) -> Numbers:
        if len(self.orientation) == 3:
            return tuple(from_rotation(finite(f"orientation {of}", self.orientation, (3, 3))))
        p = finite(f"orientation {of}", self.orientation, (4,))
        if abs(np.linalg.norm(p) - 1) > 1e-6:
            raise ValueError(
                f"orientation {of} must be a rotation matrix or four Euler parameters of norm 1, "
                f"got norm {np.linalg.norm(p):.6g}: divide them by their norm"
            )
        return tuple(p / np.linalg.norm(p))

    def _check_inertia(self, of: str) -> None:
        J = number(self.inertia)
        J = np.diag(J) if np.shape(J) == (3,) else finite(f"inertia {of}", self.inertia, (3, 3))
        if not np.all(np.isfinite(J)):
            raise ValueError(f"inertia {of} must be finite, got {self.inertia!r}")
        if self.point_mass and np.any(J != 0):
            raise ValueError(f"inertia {of} must be left out: a point mass has none")
        if not np.allclose(J, J.T, rtol=1e-9, atol=0):
            raise ValueError(f"inertia {of} must be symmetric, got {J.tolist()}")
        moments = np.linalg.eigvalsh(J)
        slack = 1e-9 * max(moments[-1], 0.0)
        if moments[0] < -slack:
            raise ValueError(f"inertia {of} must be positive semidefinite, has moments {moments}")
        if moments[2] > moments[0] + moments[1] + slack:
            raise ValueError(
                f"inertia {of} is that of no body: the largest principal moment {moments[2]:g} "
                f"exceeds the sum of the others, {moments[0]:g} + {moments[1]:g} [kg m^2]"
            )

    @property
    def rotation(self) -> NDArray[np.float64]:
        """Rotation matrix at the start, body to world, shape (3, 3)."""
        return np.asarray(ca.evalf(rotation_matrix(ca.SX(ca.DM(number(self.orientation))))))
