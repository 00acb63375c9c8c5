"""A condition, as CONTRIBUTING says: one class, an export, a row; a motion that it changes."""

from dataclasses import dataclass

import casadi as ca
import numpy as np
import pytest

from nsopt import Dynamics, Frame
from nsopt.checks import positive
from nsopt.trajectory import (
    Bound,
    Condition,
    Duration,
    EndAt,
    Horizon,
    NodeSample,
    Quintic,
    StartAt,
    optimize,
)
from nsopt.trajectory.checks import check_frame
from tests.catalog_trajectory import CONDITIONS, hand
from tests.recipes.generic import runs
from tests.trajectory import test_constraint_blocks
from tests.trajectory.mechanisms import cart


@dataclass(frozen=True)
class SpeedLimit(Condition):
    """Greatest speed of a point.

    Parameters
    ----------
    frame : Frame
        Its origin is the point.
    speed : float [m/s]
    """

    frame: Frame
    speed: float

    def __post_init__(self) -> None:
        positive("speed of SpeedLimit", self.speed)

    def check(self, dynamics: Dynamics) -> None:
        check_frame("frame of SpeedLimit", self.frame, dynamics)

    def along(self, m: NodeSample) -> list[Bound]:
        squared = ca.sumsqr(m.motion(self.frame).v)
        return [Bound("speed", squared, np.array([-np.inf]), np.array([self.speed**2]))]


@runs(test_constraint_blocks, "condition", CONDITIONS[0])
def test_is_a_condition_like_any_other(check):
    check(SpeedLimit(hand(), 2.0))


def test_the_shortest_time_is_that_at_the_limit():
    """1 m at 2 m/s from start to end."""
    d = cart()
    point = Frame(d.mechanism.bodies[0])
    result = optimize(
        d,
        Horizon((0.2, 2.0), 10),
        [Duration()],
        [StartAt([0]), EndAt([1]), SpeedLimit(point, 2.0)],
        Quintic([0], [1]),
    )
    assert result.completed, result.stop_reason
    assert result.objective == pytest.approx(0.5, abs=1e-6)
