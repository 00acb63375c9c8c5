"""External forces and torques."""

from dataclasses import dataclass

import casadi as ca

from nsopt.checks import finite
from nsopt.elements.vector import vector_now
from nsopt.mechanics import Force, Frame, Load, State, Vector


@dataclass(frozen=True, eq=False)
class _Load(Force):
    """A vector on one frame, at its origin: parameters as for `AppliedTorque`."""

    name: str
    frame: Frame
    vector: Vector
    body_axes: bool = False

    external = True

    def __post_init__(self) -> None:
        if not callable(self.vector):
            finite(f"vector of {type(self).__name__} {self.name!r}", self.vector, (3,))
        if self.frame.body is None:
            raise ValueError(
                f"{type(self).__name__} {self.name!r} acts on the ground: put its frame on a body"
            )

    @property
    def frames(self) -> tuple[Frame, ...]:
        """The frame it acts on."""
        return (self.frame,)

    def _turn_to_world(self, s: State) -> ca.SX:
        """Return the vector at this time in world axes, shape (3,)."""
        vector = vector_now(s, self.vector, f"vector of {type(self).__name__} {self.name!r}")
        return s.motion(self.frame).A @ vector if self.body_axes else vector


class AppliedForce(_Load):
    """A force at the origin of a frame [N].

    Parameters and errors as for `AppliedTorque`: ``name``, ``frame``, ``vector`` (3,) [N], constant
    or ``lambda t: (..., ..., ...)`` with NumPy functions of t, ``body_axes``.
    """

    def loads(self, s: State) -> list[Load]:
        return [Load(s.motion(self.frame).v, self._turn_to_world(s))]


class AppliedTorque(_Load):
    """A torque on the body of a frame [N m].

    Parameters
    ----------
    name : str
    frame : Frame
        On a body.
    vector : (3,) [N m], or a function of time
        Constant numbers or Parameters, or ``lambda t: (..., ..., ...)`` with NumPy functions of the
        symbol t [s].
    body_axes : bool
        Components along the axes of the frame, turning with it; world axes by default.

    Raises
    ------
    ValueError
        If the vector is not three finite numbers, or the frame is on the ground.
    """

    def loads(self, s: State) -> list[Load]:
        return [Load(s.motion(self.frame).w, self._turn_to_world(s))]
