"""The 7-DOF arm with least resistance: pose pairs against the quintic, limits, a motion afresh."""

import json
from dataclasses import replace

import numpy as np
import pytest

from nsopt import Frame, assemble
from nsopt.problem import load_optimization
from nsopt.robots import forward_kinematics, inverse_dynamics
from nsopt.trajectory import (
    ActuatorLimits,
    ClearOf,
    EndAt,
    Horizon,
    JointResistance,
    Quintic,
    Reach,
    Smoothness,
    StartAt,
    optimize,
)

STILL = np.zeros(7)


@pytest.fixture(scope="module")
def arm():
    return load_optimization("arm_least_resistance")


def poses(seed):
    """Two poses well inside the ranges."""
    limits = np.radians([170, 120, 170, 120, 170, 120, 175]) * 0.6
    return np.random.default_rng(seed).uniform(-limits, limits, (2, 7))


def moved(arm, seed, conditions=(), steps=60):
    start, end = poses(seed)
    return optimize(
        arm.dynamics,
        Horizon(2.5, steps),
        arm.costs,
        [StartAt(start, STILL), EndAt(end, STILL), ActuatorLimits(), *conditions],
        Quintic(start, end),
    )


def check_limits(result, arm):
    for k, drive in enumerate(arm.dynamics.mechanism.actuators):
        for name, low, high in (
            ("q", drive.lower, drive.upper),
            ("v", -drive.velocity, drive.velocity),
            ("drive", -drive.effort, drive.effort),
        ):
            values = result[name].values[:, k]
            assert values.min() > low - 1e-6
            assert values.max() < high + 1e-6


@pytest.mark.parametrize(
    "seed", [0, *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(1, 10))]
)
def test_resistance_is_a_fifth_less_than_that_of_the_quintic(arm, seed):
    result = moved(arm, seed)
    assert result.completed, result.data.attrs["stop_reason"]
    shares, guess = (json.loads(result.data.attrs[x]) for x in ("detailed_cost", "guess_cost"))
    assert shares["JointResistance"] < 0.8 * guess["JointResistance"]
    assert result.data.attrs["deviation"] < 5e-4
    check_limits(result, arm)


def test_drives_are_those_of_the_recursion(arm):
    """Inverse dynamics of the robot alone, and what its brakes and pads add."""
    result, d = moved(arm, 0), arm.dynamics
    recursion = inverse_dynamics(d.mechanism)
    for k in (0, 20, 60):
        q, v, a = (result[name].values[k] for name in ("q", "v", "acceleration"))
        alone = np.asarray(recursion(q, v, a)).ravel()
        bare = assemble(d.mechanism, gravity=(0, 0, -9.81))
        added = np.asarray(bare.applied(0, q, v, []) - d.applied(0, q, v, [])).ravel()
        assert result["drive"].values[k] == pytest.approx(alone + added, abs=1e-9)


@pytest.mark.slow
def test_a_hand_reaches_and_keeps_clear(arm):
    """A point in space at the end, and a sphere on the way."""
    mechanism = arm.dynamics.mechanism
    hand = Frame(mechanism.bodies[-1])
    start, end = poses(0)
    path = forward_kinematics(mechanism, [hand])
    target = np.asarray(path(end, STILL, STILL)[0]).ravel()
    free = moved(arm, 0)
    middle = np.asarray(path(free["q"].values[30], STILL, STILL)[0]).ravel()
    result = optimize(
        arm.dynamics,
        Horizon(2.5, 40),
        [JointResistance(), Smoothness(weight=0.02)],
        [
            StartAt(start, STILL),
            EndAt(v=STILL),
            Reach(hand, target),
            ClearOf(hand, middle, 0.08),
            ActuatorLimits(),
        ],
        Quintic(start, end),
    )
    assert result.completed, result.data.attrs["stop_reason"]
    way = np.array([np.asarray(path(q, STILL, STILL)[0]).ravel() for q in result["q"].values])
    assert way[-1] == pytest.approx(target, abs=1e-6)
    assert np.linalg.norm(way - middle, axis=1).min() > 0.08 - 1e-6


def test_a_target_out_of_reach_is_told(arm):
    hand = Frame(arm.dynamics.mechanism.bodies[-1])
    start, end = poses(0)
    result = optimize(
        arm.dynamics,
        Horizon(2.5, 8),
        arm.costs,
        [StartAt(start, STILL), Reach(hand, (3.0, 0, 0)), ActuatorLimits()],
        Quintic(start, end),
    )
    assert not result.completed
    assert "reach is off by" in result.data.attrs["stop_reason"]


def test_a_torque_limit_below_gravity_is_no_solution(arm):
    """The arm held stretched out by motors of 1 N m."""
    robot = arm.dynamics.mechanism
    weak = replace(robot, actuators=[replace(x, effort=1.0) for x in robot.actuators])
    out = np.array([0, np.pi / 2, 0, 0, 0, 0, 0])
    result = optimize(
        assemble(weak, gravity=(0, 0, -9.81)),
        Horizon(1.0, 10),
        [Smoothness()],
        [StartAt(out, STILL), EndAt(out, STILL), ActuatorLimits()],
        Quintic(out, out),
    )
    assert not result.completed
    assert "is off by" in result.data.attrs["stop_reason"]
