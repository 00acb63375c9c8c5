"""Forces and torques from outside."""

from dataclasses import dataclass

from nsopt.mechanics.checks import finite
from nsopt.mechanics.element import Force, Load, State, Vector
from nsopt.mechanics.frame import Frame


@dataclass(frozen=True, eq=False)
class _Load(Force):
    """A vector on one frame.

    Parameters
    ----------
    name : str
    frame : Frame
        Where it acts.
    vector : (3,) [N] or [N m], or a function of time
        Constant numbers or Parameters, or ``lambda t: (..., ..., ...)`` written with NumPy
        functions of t [s].
    body_axes : bool
        Whether the components are along the axes of the frame, turning with it; world axes
        otherwise.

    Raises
    ------
    ValueError
        If a constant component is not finite, or the frame is on the ground.
    """

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


class AppliedForce(_Load):
    """A force at the origin of a frame [N]."""

    def loads(self, s: State) -> list[Load]:
        motion, f = s.motion(self.frame), s.value(self.vector)
        return [Load(motion.v, motion.A @ f if self.body_axes else f)]


class AppliedTorque(_Load):
    """A torque on the body of a frame [N m]."""

    def loads(self, s: State) -> list[Load]:
        motion, tau = s.motion(self.frame), s.value(self.vector)
        return [Load(motion.w, motion.A @ tau if self.body_axes else tau)]
