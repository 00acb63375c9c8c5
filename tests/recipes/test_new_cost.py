"""A cost, as CONTRIBUTING says: one class, an export, a row; its size against a closed form."""

from dataclasses import dataclass

import casadi as ca
import pytest

from nsopt import Dynamics, Frame
from nsopt.trajectory import Cost, EndAt, Horizon, NodeSample, Quintic, StartAt, optimize
from nsopt.trajectory.checks import check_frame
from tests.catalog_trajectory import COSTS, STEPPED_COSTS, hand
from tests.recipes.generic import runs
from tests.trajectory import test_constraint_blocks, test_stepped_blocks
from tests.trajectory.mechanisms import cart


@dataclass(frozen=True, kw_only=True)
class PointSpeed(Cost):
    """Integral of the squared velocity of a point [m^2/s].

    Parameters
    ----------
    frame : Frame
        Its origin is the point.
    """

    frame: Frame

    def check(self, dynamics: Dynamics) -> None:
        check_frame("frame of PointSpeed", self.frame, dynamics)

    def rate(self, m: NodeSample) -> ca.SX:
        return ca.sumsqr(m.motion(self.frame).v)


@runs(test_constraint_blocks, "cost", COSTS[0])
def test_is_a_cost_like_any_other(check):
    check(PointSpeed(frame=hand()))


@runs(test_stepped_blocks, "cost", STEPPED_COSTS[0])
def test_is_a_cost_of_steps_like_any_other(check):
    check(PointSpeed(frame=Frame(test_stepped_blocks.D.mechanism.bodies[0])))


def test_the_least_is_that_of_constant_velocity():
    """1 m in 1 s: 1 m^2/s. Hermite-Simpson: velocities jump within the first and last step."""
    d = cart()
    point = Frame(d.mechanism.bodies[0])
    result = optimize(
        d,
        Horizon(1.0, 20),
        [PointSpeed(frame=point)],
        [StartAt([0], [1]), EndAt([1], [1])],
        Quintic([0], [1]),
    )
    assert result.completed, result.stop_reason
    assert result.objective == pytest.approx(1, abs=1e-6)


def test_a_frame_of_another_mechanism_is_refused():
    with pytest.raises(ValueError, match="frame of PointSpeed is on"):
        PointSpeed(frame=hand()).check(cart())
