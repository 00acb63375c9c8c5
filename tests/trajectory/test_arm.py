"""The 7-DOF arm with least resistance: pose pairs against the quintic, limits, a motion afresh."""

import importlib
import sys

import numpy as np
import pytest

from nsopt import Frame, assemble
from nsopt.problem import load_optimization, problem_folder
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
    Straight,
    optimize,
)
from tests.trajectory.mechanisms import ball_at

STILL = np.zeros(7)
POSES = (0.3, 0.6, -0.2, -1.4, 0.1, 0.9, 0.0), (-0.6, 1.1, 0.4, -0.8, 0.6, -0.2, 0.5)
"""Two poses well inside ranges and cones."""


@pytest.fixture(scope="module")
def arm():
    return load_optimization("arm_least_resistance")


@pytest.fixture(scope="module")
def urdf():
    """The module of the arm from its URDF file, and its dynamics."""
    sys.path.insert(0, str(problem_folder() / "arm_7dof"))
    try:
        module = importlib.import_module("_urdf_arm")
    finally:
        sys.path.pop(0)
    return module, module.urdf_dynamics()


@pytest.fixture(scope="module")
def moved(arm):
    """The arm from pose to pose, in 20 steps."""
    start, end = POSES
    return optimize(
        arm.dynamics,
        Horizon(2.5, 20),
        arm.costs,
        [StartAt(start, STILL), EndAt(end, STILL), ActuatorLimits()],
        Quintic(start, end),
    )


def check_limits(result, dynamics):
    for k, drive in enumerate(dynamics.mechanism.actuators):
        for name, low, high in (
            ("q", drive.lower, drive.upper),
            ("v", -drive.velocity, drive.velocity),
            ("drive", -drive.effort, drive.effort),
        ):
            values = result[name].values[:, k]
            assert values.min() > low - 1e-6
            assert values.max() < high + 1e-6


@pytest.mark.slow
def test_the_urdf_is_the_arm_of_the_table(arm, urdf):
    """The same inverse dynamics, damping, pads and cones, by another description."""
    of_file, of_table = urdf[1], arm.dynamics
    random = np.random.default_rng(0)
    for _ in range(5):
        q, v, a = random.uniform(-2, 2, (3, 7))
        forces = [
            np.asarray(d.mass(q, []) @ a + d.bias(q, v, []) - d.applied(0, q, v, [])).ravel()
            for d in (of_file, of_table)
        ]
        assert forces[0] == pytest.approx(forces[1], abs=1e-9)
    for one, other in zip(of_file.mechanism.actuators, of_table.mechanism.actuators, strict=True):
        assert (one.lower, one.velocity, one.effort, one.damping) == pytest.approx(
            (other.lower, other.velocity, other.effort, other.damping)
        )


def within(d, q):
    """How far inside its two cones a posture is [rad], by the vectors along arm and hand."""
    names = [d.output_names.index(f"{cone}.excess") for cone in ("shoulder", "wrist")]
    return -np.array([np.asarray(d.outputs(0, x, STILL, []))[names, 0] for x in q])


@pytest.mark.slow
def test_resistance_is_a_fifth_less_than_that_of_the_quintic(urdf):
    module, d = urdf
    stated = module.least_resistance(d, 5)
    assert stated.horizon.steps == 100
    share = np.linspace(0, 1, 301)
    guess = stated.guess.trajectory(share, stated.horizon.bounds, ())
    assert within(d, guess.q).min() > 0
    assert module.LargestUse(d)(guess.q, guess.v, guess.a) < 1
    result = stated.solve()
    assert result.completed, result.stop_reason
    assert np.nansum(result["iterations"]) < 100
    shares, quintic = result.detailed_cost, result.guess_cost
    # Viscous inside the cones: of all motions the straight way in even time has 7/10 of it.
    damping = np.array([x.damping for x in d.mechanism.actuators])
    way = np.subtract(stated.guess.end, stated.guess.start)
    even = np.sum((damping * way) ** 2) / module.DURATION
    assert quintic["JointResistance"] == pytest.approx(10 / 7 * even, rel=1e-6)
    assert even < shares["JointResistance"] < 0.8 * quintic["JointResistance"]
    assert result.data.attrs["defect"] < 5e-4
    check_limits(result, d)
    assert within(d, result["q"].values).min() > 0


@pytest.mark.slow
def test_a_cone_in_the_way_is_gone_round(arm):
    """Resistance is less than by the quintic, and than by the straight way in even time."""
    result = arm.solve(steps=25)
    assert result.completed, result.stop_reason
    shares, quintic = result.detailed_cost, result.guess_cost
    even = Straight(arm.guess.start, arm.guess.end)
    trajectory = even.trajectory(np.linspace(0, 1, 301), arm.horizon.bounds, ())
    d = arm.dynamics
    assert -within(d, trajectory.q).min() > np.radians(5)
    assert within(d, result["q"].values).min() > -np.radians(2)
    k = d.output_names.index("shoulder.moment")
    moment = np.array([float(d.outputs(0, q, STILL, [])[k]) for q in trajectory.q])
    viscous = sum(
        (x.damping * rate) ** 2
        for x, rate in zip(d.mechanism.actuators, trajectory.v[0], strict=True)
    )
    straight = arm.horizon.bounds[0] * (viscous + np.mean(moment**2))
    assert shares["JointResistance"] < 0.6 * min(straight, quintic["JointResistance"])
    check_limits(result, d)


@pytest.mark.slow
def test_drives_are_those_of_the_recursion(arm, moved):
    """Inverse dynamics of the robot alone, and what its brakes and pads add."""
    result, d = moved, arm.dynamics
    recursion = inverse_dynamics(d.mechanism)
    for k in (0, 10, 20):
        q, v, a = (result[name].values[k] for name in ("q", "v", "acceleration"))
        alone = np.asarray(recursion(q, v, a)).ravel()
        bare = assemble(d.mechanism, gravity=(0, 0, -9.81))
        added = np.asarray(bare.applied(0, q, v, []) - d.applied(0, q, v, [])).ravel()
        assert result["drive"].values[k] == pytest.approx(alone + added, abs=1e-9)


@pytest.mark.slow
def test_a_hand_reaches_and_keeps_clear(arm, moved):
    """A point in space at the end, and a sphere on the way."""
    mechanism = arm.dynamics.mechanism
    hand = Frame(mechanism.bodies[-1])
    start, end = POSES
    path = forward_kinematics(mechanism, [hand])
    target = np.asarray(path(end, STILL, STILL)[0]).ravel()
    middle = np.asarray(path(moved["q"].values[10], STILL, STILL)[0]).ravel()
    result = optimize(
        arm.dynamics,
        Horizon(2.5, 20),
        [JointResistance(), Smoothness(weight=0.02)],
        [
            StartAt(start, STILL),
            EndAt(v=STILL),
            Reach(hand, target),
            ClearOf(hand, ball_at(middle, 0.08)),
            ActuatorLimits(),
        ],
        Quintic(start, end),
    )
    assert result.completed, result.stop_reason
    way = np.array([np.asarray(path(q, STILL, STILL)[0]).ravel() for q in result["q"].values])
    assert way[-1] == pytest.approx(target, abs=1e-6)
    assert np.linalg.norm(way - middle, axis=1).min() > 0.08 - 1e-6


def test_a_target_out_of_reach_is_told(arm):
    hand = Frame(arm.dynamics.mechanism.bodies[-1])
    start, end = POSES
    with pytest.raises(ValueError, match="the target of Reach for body 'link7' is out of reach"):
        optimize(
            arm.dynamics,
            Horizon(2.5, 8),
            arm.costs,
            [StartAt(start, STILL), Reach(hand, (3.0, 0, 0)), ActuatorLimits()],
            Quintic(start, end),
        )
