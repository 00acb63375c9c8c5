"""Joints so light that costs at three points of a step are no bound on how they move between."""

import numpy as np
import pytest

from nsopt import GROUND, Actuator, Body, Frame, Mechanism, Revolute, assemble
from nsopt.trajectory import (
    ActuatorLimits,
    Effort,
    EndAt,
    Horizon,
    JointLoad,
    MotionPhase,
    Optimization,
    Quintic,
    StartAt,
    optimize_phases,
)

BEGIN, END, REST = [-0.5, 0.3], [1.0, 0.3], [0.0, 0.0]


def arm(inertia):
    """An upper arm and a hand whose motor is far too strong for it, in the plane."""
    upper = Body("upper", 0.2, (2e-3,) * 3, position=(0.15, 0.0, 0.0))
    hand = Body("hand", 0.02, (inertia,) * 3, position=(0.32, 0.0, 0.0))
    joints = [
        Revolute("shoulder", Frame(GROUND), Frame.at(upper, (0.0, 0.0, 0.0))),
        Revolute("wrist", Frame.at(upper, (0.3, 0.0, 0.0)), Frame.at(hand, (0.3, 0.0, 0.0))),
    ]
    motors = [Actuator(x.name, velocity=10.0, effort=10.0) for x in joints]
    return assemble(Mechanism([upper, hand], joints, "relative", motors), gravity=(0.0, -9.81, 0.0))


def least(cost, steps, inertia=2e-6):
    ends = [StartAt(BEGIN, REST, accelerations=REST), EndAt(END, REST, accelerations=REST)]
    conditions, guess = [*ends, ActuatorLimits()], Quintic(BEGIN, END)
    return Optimization(arm(inertia), Horizon(1.0, steps), [cost], conditions, guess)


@pytest.mark.parametrize(("cost", "steps"), [(JointLoad(), 20), (Effort(), 40)])
def test_steps_of_light_joints_end_at_their_nodes(cost, steps):
    result = least(cost, steps).solve()
    assert result.completed, result.stop_reason
    assert result.data.attrs["step_bend"] > 0
    motion = result.sample(1e-4)
    assert np.abs(motion["v"].values).max() <= 10.0 * (1 + 1e-6)
    if isinstance(cost, Effort):  # by the quadrature of the program, and at 10^4 times
        squares = (motion["tau"].values ** 2).sum(axis=1)
        assert result.objective == pytest.approx(np.trapezoid(squares, dx=1e-4), rel=0.03)


def test_joints_that_are_not_light_have_no_such_cost():
    result = least(Effort(), 20, inertia=2e-3).solve()
    assert result.completed, result.stop_reason
    assert "step_bend" not in result.data.attrs


@pytest.mark.slow
def test_phases_of_light_joints_are_resolved_as_one_motion_is():
    """One motion in two halves: its effort at 10^4 times, and that of one motion."""
    within, motors = Horizon(0.5, 20), ActuatorLimits()
    ends = [StartAt(BEGIN, REST, accelerations=REST), EndAt(END, REST, accelerations=REST)]
    middle = np.add(BEGIN, END) / 2
    phases = [
        MotionPhase(arm(2e-6), within, [Effort()], [ends[0], motors], Quintic(BEGIN, middle)),
        MotionPhase(arm(2e-6), within, [Effort()], [ends[1], motors], Quintic(middle, END)),
    ]
    result = optimize_phases(phases)
    assert result.completed, result.stop_reason
    assert max(x.data.attrs["defect"] for x in result.phases) < 1e-3
    squares = (result.sample(1e-4)["tau"].values ** 2).sum(axis=1)
    assert result.objective == pytest.approx(np.trapezoid(squares, dx=1e-4), rel=0.03)
    assert result.objective == pytest.approx(least(Effort(), 40).solve().objective, rel=2e-3)
