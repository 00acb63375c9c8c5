"""A point of a body whose motion is recorded."""

from dataclasses import dataclass

import numpy as np

from nsopt.mechanics import Force, Frame, Outline, Output, State

ARM = 0.02  # m, half the size of the cross in pictures


@dataclass(frozen=True, eq=False)
class Tracker(Force):
    """A named point on a body; its position is recorded, and it exerts no force.

    Parameters
    ----------
    name : str
    frame : Frame
        On a body; its origin is the point.

    Raises
    ------
    TypeError
        If the frame is none.
    ValueError
        If the frame is on the ground.

    Notes
    -----
    Readings are ``x``, ``y``, ``z`` [m], world axes. Pictures show a small cross.
    """

    name: str
    frame: Frame

    def __post_init__(self) -> None:
        if not isinstance(self.frame, Frame):
            raise TypeError(
                f"Tracker {self.name!r} follows a frame, got {type(self.frame).__name__}: use "
                "Frame(body, origin) or Frame.at(body, point)"
            )
        if self.frame.body is None:
            raise ValueError(
                f"Tracker {self.name!r} follows a point on the ground, which does not move: put "
                "its frame on a body"
            )

    @property
    def frames(self) -> tuple[Frame, ...]:
        """The frame it follows."""
        return (self.frame,)

    def outputs(self, s: State) -> list[Output]:
        point = s.motion(self.frame).r
        return [Output(name, point[k], "m") for k, name in enumerate("xyz")]

    def outline(self) -> list[Outline]:
        return [Outline(self.frame, np.array([-arm, arm])) for arm in ARM * np.eye(3)]
