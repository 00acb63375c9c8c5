"""Waypoints, orientations and paths for a part of a motion, against motions known otherwise."""

import numpy as np
import pytest

from nsopt import Frame
from nsopt.trajectory import (
    ClearOf,
    DriveWithin,
    Duration,
    During,
    Effort,
    EndAt,
    Horizon,
    OnPath,
    Orient,
    Quintic,
    Reach,
    Smoothness,
    StartAt,
    Through,
    Within,
    optimize,
)
from tests.trajectory.mechanisms import ball_at, cart, gantry, wheel

KEPT = 1 + 1e-6


def best(d, duration, steps, costs, conditions, guess):
    result = optimize(d, Horizon(duration, steps), costs, conditions, guess)
    assert result.completed, result.stop_reason
    return result


@pytest.mark.parametrize("by_posture", [False, True])
def test_a_waypoint_is_passed_by_the_spline_of_least_effort(by_posture):
    """1 kg from 0 through 1 m at 0.5 s of 2 s back to 0, at rest at both ends: cubic splines.

    Their accelerations are linear over each part, continuous, and zero in velocity at the ends:
    those of a part of length T between x, v and y, w integrate, squared, to
    4 (v^2 + v w + w^2)/T - 12 (v + w) (y - x)/T^2 + 12 (y - x)^2/T^3.
    """
    d = cart()
    hand = Frame(d.mechanism.bodies[0])  # along z of its rail
    passed = EndAt([1.0]) if by_posture else Reach(hand, (0, 0, 1))
    ends = [StartAt([0], [0]), EndAt([0], [0])]
    conditions = [*ends, During(passed, 0.25)]
    result = best(d, 2.0, 8, [Effort()], conditions, Through([[0], [1], [0]]))
    first, second = 0.5, 1.5
    v = 3 * (1 / first**2 - 1 / second**2) / (2 * (1 / first + 1 / second))
    parts = [4 * v**2 / T - 12 * s * v / T**2 + 12 / T**3 for T, s in ((first, 1), (second, -1))]
    assert result["q"].values[2, 0] == pytest.approx(1, abs=1e-8)
    assert result["v"].values[2, 0] == pytest.approx(v, abs=1e-6)
    assert result.objective == pytest.approx(sum(parts), rel=1e-8)


def test_a_limit_for_a_part_holds_within_its_steps_alone():
    """Fastest over 2 m with at most 1 N, and half the speed in the middle of the steps."""
    d, most = cart(), 0.6
    slow = During(Within("rail.speed", upper=most), 0.3, 0.7)
    conditions = [StartAt([0], [0]), EndAt([2], [0]), DriveWithin("rail", -1, 1), slow]
    result = best(d, (1.0, 9.0), 10, [Duration()], conditions, Quintic([0], [2]))
    t = result["time"].values
    fine = result.sample(times=np.linspace(t[3], t[7], 2001))
    assert fine["v"].values.max() <= most * KEPT
    assert result.sample(1e-3)["v"].values.max() > 1.1 * most
    assert result.data.attrs["limits_exceeded"] <= 1e-6
    # Speed falls before the part, and rises within it where accelerations are free.
    assert fine["v"].values.max() > 0.99 * most


@pytest.mark.parametrize("about_z", [False, True])
def test_an_orientation_within_an_angle_is_a_range_of_the_joint(about_z):
    """A tool across the axis of a wheel, within 0.2 rad of 0.5 rad in the middle of a turn."""
    d = wheel()
    tool = Frame(d.mechanism.bodies[0], axes=(1, 0, 0))
    c, s = np.cos(0.5), np.sin(0.5)
    wanted = np.array([[c, -s, 0], [s, c, 0], [0, 0, 1]]) @ tool.axes
    stated = Orient(tool, wanted, about_z, within=0.2), Within("hinge.angle", 0.3, 0.7)
    conditions = [StartAt([0], [0]), EndAt([1.5], [0])]
    by_angle, by_range = (
        best(d, 1.0, 20, [Effort()], [*conditions, During(x, 0.3, 0.8)], Quintic([0], [1.5]))
        for x in stated
    )
    assert by_angle.objective == pytest.approx(by_range.objective, rel=1e-5)
    held = by_angle.sample(times=np.linspace(0.3, 0.8, 2001))["q"].values
    assert np.abs(held - 0.5).max() == pytest.approx(0.2, abs=1e-6)


def test_a_path_is_followed_by_the_forces_that_it_takes():
    """1 kg on a circle of 0.3 m, once round in 2 s: centripetal force alone; h^4 off it between."""
    d, hand = gantry()
    w, R = np.pi, 0.3

    def circle(t):
        return R * np.cos(w * t), R * np.sin(w * t), 0.0

    guess = Through([[R, 0], [0, R], [-R, 0], [0, -R], [R, 0]])
    conditions = [OnPath(hand, circle), StartAt(v=[0, R * w]), EndAt(v=[0, R * w])]
    off = []
    for steps in (10, 20):
        result = best(d, 2.0, steps, [Smoothness()], conditions, guess)
        t = result["time"].values
        xy = np.column_stack(circle(t)[:2])
        assert result["q"].values == pytest.approx(xy, abs=1e-7)
        fine = result.sample(1e-3)
        way = np.column_stack(circle(fine["time"].values)[:2])
        off.append(np.abs(fine["q"].values - way).max())
    assert result["drive"].values == pytest.approx(-(w**2) * xy, abs=0.01)
    assert off[1] < off[0] / 16
    assert off[1] < 1e-6


def test_what_is_held_for_a_part_rests_within_it():
    """Where coordinates and velocities are told at nodes and midpoints nothing moves between."""
    d = cart()
    held = During(EndAt([0.4], [0.0]), 0.4, 0.6)
    conditions = [StartAt([0], [0]), EndAt([1], [0]), held]
    result = best(d, 1.0, 10, [Effort()], conditions, Quintic([0], [1]))
    motion = result.sample(times=np.linspace(0.4, 0.6, 401))
    assert motion["q"].values == pytest.approx(0.4, abs=1e-7)
    assert motion["v"].values == pytest.approx(0.0, abs=1e-6)


def test_waypoints_out_of_reach_are_refused():
    d = wheel()
    hand = Frame(d.mechanism.bodies[0], (0.5, 0, 0))
    far = During(Reach(hand, (2.0, 0, 0)), 0.5)
    with pytest.raises(ValueError, match=r"the target of Reach for body 'wheel' is out of reach"):
        optimize(d, Horizon(1.0, 4), [Effort()], [far], Quintic([0], [1]))


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda f: Orient(f, np.eye(3), within=-0.1), "within of Orient must not be negative"),
        (lambda f: Orient(f, np.eye(3), within=4.0), "within of Orient must be an angle of at mo"),
        (
            lambda f: During(ClearOf(f, ball_at((0, 0, 0), 1.0)), 0.5, 0.2),
            "first and last of During are",
        ),
        (
            lambda f: During(ClearOf(f, ball_at((0, 0, 0), 1.0)), 1.2),
            "first and last of During are shares",
        ),
    ],
)
def test_what_cannot_be_is_refused(make, message):
    with pytest.raises(ValueError, match=message):
        make(gantry()[1])
