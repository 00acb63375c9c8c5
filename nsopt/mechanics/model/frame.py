"""Frames on bodies, and their motions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import casadi as ca
import numpy as np
from numpy.typing import NDArray

from nsopt.algebra import axes_from_z
from nsopt.checks import finite, numbers, plain
from nsopt.parameter import Numbers, parameters_in

if TYPE_CHECKING:
    from nsopt.mechanics.model.bodies import Body

GROUND = None
"""The body of a frame that does not move."""


class Motion(NamedTuple):
    """Position, axes and velocities of a frame in world axes."""

    r: ca.SX  # (3,) [m] origin
    A: ca.SX  # (3, 3) columns are the frame's axes
    v: ca.SX  # (3,) [m/s] velocity of the origin
    w: ca.SX  # (3,) [rad/s] angular velocity

    def velocity_at(self, point: ca.SX) -> ca.SX:
        """Return the velocity of the body's material at a point of the world, (3,) [m/s]."""
        return self.v + ca.cross(self.w, point - self.r)


STILL = Motion(ca.SX.zeros(3), ca.SX.eye(3), ca.SX.zeros(3), ca.SX.zeros(3))
"""The motion of the ground."""


@dataclass(frozen=True, eq=False)
class Frame:
    """A point and three axes fixed to a body or to the ground.

    Parameters
    ----------
    body : Body or None
        None (`GROUND`) is the ground.
    origin : (3,) [m]
        In body axes from the centre of mass; in world axes on the ground.
    axes : (3, 3) or (3,)
        Columns are the frame's x, y, z in body axes. Three numbers are the direction of z alone;
        x is then the body axis least aligned with it, made perpendicular. Plain numbers.

    Raises
    ------
    ValueError
        If a number is not finite or the axes are no rotation.
    """

    body: Body | None
    origin: Numbers = (0.0, 0.0, 0.0)
    axes: Numbers = (0.0, 0.0, 1.0)

    def __post_init__(self) -> None:
        if self.body is not None and not hasattr(self.body, "point_mass"):
            got = f"{type(self.body).__name__} {self.body!r}"
            raise TypeError(f"a frame sits on a Body or on the ground (None), got {got}")
        where = f"of a frame on {self.label}"
        finite(f"origin {where}", self.origin, (3,))
        plain(f"axes {where}", self.axes)
        object.__setattr__(self, "axes", axes_matrix(f"axes {where}", self.axes))

    @classmethod
    def at(cls, body: Body | None, point: Numbers, axes: Numbers = (0.0, 0.0, 1.0)) -> Frame:
        """Return the frame on ``body`` that is at a point of the world when the motion starts.

        Parameters
        ----------
        body : Body or None
            Its stated start pose is used.
        point : (3,) [m]
            In world axes.
        axes : (3, 3) or (3,)
            As for `Frame`, in world axes.

        Raises
        ------
        ValueError
            If the pose of the body is given by Parameters: state the frame in body axes then.
        """
        if body is None:
            return cls(None, point, axes)
        if parameters_in((body.position, body.orientation, point)):
            raise ValueError(
                f"the pose of body {body.name!r} or the point is a Parameter: give the frame in "
                "body axes, Frame(body, origin, axes)"
            )
        where = f"of a frame on body {body.name!r}"
        plain(f"axes {where}", axes)
        arm = finite(f"point {where}", point, (3,)) - np.asarray(body.position)
        A = body.rotation
        return cls(body, A.T @ arm, A.T @ axes_matrix(f"axes {where}", axes))

    @property
    def label(self) -> str:
        """The body or ground the frame is fixed to, in words, for messages."""
        return "the ground" if self.body is None else f"body {self.body.name!r}"


def axes_matrix(what: str, axes: Numbers) -> NDArray[np.float64]:
    """Return axes, or a direction of z, as a rotation matrix, as `Frame` takes them.

    Raises
    ------
    ValueError
        Named ``what``, if they are none.
    """
    given = numbers(what, axes)
    if given.shape == (3,):
        if not np.all(np.isfinite(given)) or not np.any(given):
            raise ValueError(f"{what} must be a direction, finite and not zero, got {axes}")
        return axes_from_z(given)
    A = finite(what, axes, (3, 3))
    if not np.allclose(A.T @ A, np.eye(3), atol=1e-9) or np.linalg.det(A) < 0:
        raise ValueError(f"{what} must be a rotation matrix, got {A.tolist()}")
    return A
