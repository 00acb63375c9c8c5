"""Limits that hold at all times, not at nodes alone."""

import re
from dataclasses import replace
from importlib import metadata

import numpy as np
import pinocchio as pin
import pytest

from nsopt import GROUND, Actuator, Body, Frame, Mechanism, Revolute, assemble
from nsopt.mpcc import StructuredProgram
from nsopt.robots import load_urdf
from nsopt.trajectory import (
    PLAN,
    ActuatorLimits,
    Duration,
    Earlier,
    EndAt,
    Horizon,
    Quintic,
    StartAt,
    optimize,
)
from nsopt.trajectory.search import KeepLimits, RoughFirst
from nsopt.trajectory.search.tightening import _extrapolate

G, EFFORT, SPEED = 9.81, 6.0, 1.5
KEPT = 1 + 1e-6


def swing(steps, plan=PLAN):
    """A rod of 1 kg and 1 m lifted in least time, with torque and speed at their limits."""
    rod = Body("rod", 1.0, (0.01, 0.09, 0.09), position=(0.5, 0, 0))
    hinge = Revolute("hinge", Frame(GROUND), Frame.at(rod, (0, 0, 0)))
    drive = Actuator("hinge", effort=EFFORT, velocity=SPEED)
    return optimize(
        assemble(Mechanism([rod], [hinge], "relative", [drive]), gravity=(0, -G, 0)),
        Horizon((0.5, 6.0), steps),
        [Duration()],
        [StartAt([-1.5], [0.0]), EndAt([1.0], [0.0]), ActuatorLimits()],
        Quintic([-1.5], [1.0]),
        plan=plan,
    )


@pytest.mark.slow
def test_a_swing_in_least_time_keeps_torque_and_speed_at_all_times():
    """By its equation of motion; and the time falls to its limit as steps get shorter."""
    durations = []
    for steps in (20, 40, 80):
        result = swing(steps)
        assert result.completed, result.stop_reason
        assert result.data.attrs["limits_tightened"] > 0
        assert result.data.attrs["limits_exceeded"] <= 1e-6
        motion = result.sample(1e-4)
        q, v, a = (motion[x].values[:, 0] for x in "qva")
        torque = (0.09 + 0.25) * a + 0.5 * G * np.cos(q)
        assert np.abs(torque).max() <= KEPT * EFFORT
        assert np.abs(v).max() <= KEPT * SPEED
        durations.append(result.objective)
    assert durations[0] > durations[1] > durations[2] > durations[1] - 0.01


def test_a_motion_that_breaks_a_limit_between_nodes_is_no_solution():
    result = swing(20, PLAN.with_others(KeepLimits(rounds=0)))
    assert not result.completed
    says = r"ActuatorLimits: force of hinge is -?6\.\d+ at t = .* s, between nodes, .* its limit"
    assert result.stop_reason.endswith("give it more steps")
    assert re.search(says, result.stop_reason)
    assert "limits exceeded by" in result.summary()
    assert result.status == "refused after the solve"


def test_an_interrupt_while_limits_are_tightened_is_told(monkeypatch):
    """The last motion is no solution, and is kept."""
    solve, calls = StructuredProgram.solve, []

    def ended_in_its_fourth_call(self, *given):
        found = solve(self, *given)
        calls.append(found)
        if len(calls) < 4:  # roughly, to its end, with a smaller tie-breaker
            return found
        stages = (replace(found.stages[-1], interrupted=True),)
        return replace(found, stages=stages, status=replace(found.status, ok=False))

    monkeypatch.setattr(StructuredProgram, "solve", ended_in_its_fourth_call)
    result = swing(20)
    assert len(calls) == 4
    assert result.interrupted
    assert not result.completed
    assert "ActuatorLimits: force of hinge is" in result.stop_reason


def test_what_is_first_solved_roughly_ends_at_the_optimum_of_one_solve():
    roughly, at_once = swing(20), swing(20, PLAN.without(RoughFirst))
    assert roughly.objective == pytest.approx(at_once.objective, rel=1e-6)
    q = roughly["q"].values, at_once["q"].values
    np.testing.assert_allclose(*q, atol=1e-4)


@pytest.mark.filterwarnings("ignore:ur5_robot.urdf")
@pytest.mark.parametrize("steps", [30, pytest.param(60, marks=pytest.mark.slow)])
def test_ur5_in_least_time_keeps_its_limits_by_pinocchio(steps):
    path = next(x for x in metadata.files("example-robot-data") if x.name == "ur5_robot.urdf")
    robot = load_urdf(path.locate())
    begin, end = np.array([0.0, -1.2, 1.0, -0.8, 0.4, 0]), np.array([1.8, -0.2, 0.5, 0.9, 0.9, 1.5])
    result = optimize(
        assemble(robot, gravity=(0, 0, -G)),
        Horizon((0.2, 4.0), steps),
        [Duration()],
        [StartAt(begin, np.zeros(6)), EndAt(end, np.zeros(6)), ActuatorLimits()],
        Quintic(begin, end),
    )
    assert result.completed, result.stop_reason
    model = pin.buildModelFromUrdf(str(path.locate()))
    data, motion = model.createData(), result.sample(1e-3)
    states = zip(*(motion[x].values for x in "qva"), strict=True)
    torque = np.array([pin.rnea(model, data, *x) for x in states])
    assert np.all(np.abs(torque) <= KEPT * model.effortLimit)
    assert np.all(np.abs(motion["v"].values) <= KEPT * model.velocityLimit)
    assert np.abs(torque / model.effortLimit).max() > 0.99


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:panda.urdf")
def test_panda_in_least_time_takes_no_longer_than_on_a_straight_path_of_its_joints():
    """0.77268 s there by toppra (benchmarks/least_time.py), on each grid after the one before."""
    path = next(x for x in metadata.files("example-robot-data") if x.name == "panda.urdf")
    dynamics, rest = assemble(load_urdf(path.locate()), gravity=(0, 0, -G)), np.zeros(8)
    begin = np.array([-0.8, -0.6, 0.5, -2.0, -0.4, 1.2, 0.3, 0.01])
    end = np.array([0.8, 0.4, -0.3, -1.2, 0.6, 2.2, -0.6, 0.03])
    ends, guess, durations = [StartAt(begin, rest), EndAt(end, rest)], Quintic(begin, end), []
    for steps in (30, 60, 120, 240):
        stated = dynamics, Horizon((0.2, 5.0), steps), [Duration()], [*ends, ActuatorLimits()]
        result = optimize(*stated, guess, check=None)
        assert result.completed, result.stop_reason
        durations.append(result.objective)
        guess = Earlier(result)
    assert max(durations) < 0.77268
    assert durations == sorted(durations, reverse=True)


@pytest.mark.parametrize("gain", [1.0, 0.5, 0.11])
def test_an_excess_that_falls_slowly_is_taken_away_in_few_rounds(gain):
    """Of a limit of 1 that is exceeded by 5e-3 less ``gain`` times what it is tightened by."""
    scale, shift = np.ones(1), np.zeros((2, 1, 1))
    before, added, rounds = shift, shift, 0
    while (beyond := np.maximum(5e-3 - gain * shift, 0)).max() > KEPT - 1:
        added = _extrapolate(beyond, before, added, scale)
        before, shift, rounds = beyond, shift + added, rounds + 1
    assert rounds <= 6
    assert shift.max() < 2 * 5e-3 / gain  # and hardly tighter than needed


def test_a_limit_that_does_not_hold_a_motion_at_nodes_is_moved_until_it_does():
    """It is exceeded by 1e-3 in between, and at nodes it is 0.5 away from the motion."""
    scale, shift = np.ones(1), np.zeros((2, 1, 1))
    before, added, rounds = shift, shift, 0
    while (beyond := np.maximum(1e-3 - np.maximum(shift - 0.5, 0), 0)).max() > KEPT - 1:
        added = _extrapolate(beyond, before, added, scale)
        before, shift, rounds = beyond, shift + added, rounds + 1
    assert rounds < 12
