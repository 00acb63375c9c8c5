"""Accelerations given at the ends, and jerk within limits: motions known in closed form."""

import pytest

from nsopt import Variational
from nsopt.trajectory import (
    AccelerationLimits,
    Duration,
    EndAt,
    Horizon,
    Jerk,
    JerkLimits,
    Quintic,
    Smoothness,
    StartAt,
    optimize,
)
from tests.trajectory.mechanisms import cart

SMOOTH = [StartAt([0.0], [0.0], accelerations=[0.0]), EndAt([1.0], [0.0], accelerations=[0.0])]


def test_least_jerk_with_accelerations_given_is_the_quintic():
    best = optimize(cart(), Horizon(1.0, steps=20), [Jerk()], SMOOTH, Quintic([0.0], [1.0]))
    assert best.completed, best.stop_reason
    t = best.data["time"].values
    assert best["q"].values[:, 0] == pytest.approx(10 * t**3 - 15 * t**4 + 6 * t**5, abs=1e-5)
    assert best.objective == pytest.approx(720, rel=1e-3)


def test_accelerations_given_hold_in_steps_of_a_scheme_too():
    best = optimize(
        cart(),
        Horizon(1.0, steps=10),
        [Smoothness()],
        SMOOTH,
        Quintic([0.0], [1.0]),
        scheme=Variational(),
    )
    assert best.completed, best.stop_reason
    assert best["acceleration"].values[[0, -1], 0] == pytest.approx(0, abs=1e-8)


def test_least_time_at_limited_jerk():
    """Full jerk, reversed at a quarter and at three quarters of T = (32 / jerk)^(1/3)."""
    best = optimize(
        cart(),
        Horizon((0.5, 3.0), steps=8),
        [Duration()],
        [*SMOOTH, JerkLimits(32.0)],
        Quintic([0.0], [1.0]),
    )
    assert best.completed, best.stop_reason
    assert best.objective == pytest.approx(1.0, abs=1e-6)
    assert best["acceleration"].values[[2, 4, 6], 0] == pytest.approx([8, 0, -8], abs=1e-4)


@pytest.mark.parametrize("scheme", [None, Variational()])
def test_least_time_at_limited_acceleration(scheme):
    """Full acceleration, then full braking: T = 2 sqrt(s / a), between steps of the grid."""
    best = optimize(
        cart(),
        Horizon((0.5, 3.0), steps=40),
        [Duration()],
        [StartAt([0.0], [0.0]), EndAt([1.0], [0.0]), AccelerationLimits(4.0)],
        Quintic([0.0], [1.0]),
        scheme=scheme,
    )
    assert best.completed, best.stop_reason
    assert best.objective == pytest.approx(1.0, rel=1 / 40)
    assert abs(best["acceleration"].values).max() == pytest.approx(4.0, rel=1e-6)


def test_least_time_at_limited_acceleration_and_jerk():
    """Jerk for an eighth of the time, full acceleration for a quarter, and so on: T = 1 s."""
    best = optimize(
        cart(),
        Horizon((0.5, 3.0), steps=8),
        [Duration()],
        [*SMOOTH, JerkLimits(128 / 3), AccelerationLimits(16 / 3)],
        Quintic([0.0], [1.0]),
    )
    assert best.completed, best.stop_reason
    assert best.objective == pytest.approx(1.0, abs=1e-6)


def test_refusals():
    with pytest.raises(ValueError, match="acceleration of AccelerationLimits must be positive"):
        AccelerationLimits(-1.0)
    with pytest.raises(ValueError, match="AccelerationLimits names the joint 'knee'"):
        AccelerationLimits(1.0, joints=["knee"]).check(cart())
    with pytest.raises(ValueError, match="accelerations of StartAt must have shape"):
        StartAt([0.0], [0.0], accelerations=[0.0, 0.0]).check(cart())
    with pytest.raises(ValueError, match="jerk of JerkLimits must be positive, got 0"):
        JerkLimits(0.0)
    with pytest.raises(ValueError, match="JerkLimits names the joint 'knee'"):
        JerkLimits(1.0, joints=["knee"]).check(cart())
    with pytest.raises(ValueError, match="JerkLimits needs accelerations that are functions of"):
        optimize(
            cart(),
            Horizon(1.0, steps=4),
            [Smoothness()],
            [*SMOOTH, JerkLimits(32.0)],
            Quintic([0.0], [1.0]),
            scheme=Variational(),
        )
