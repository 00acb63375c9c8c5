"""The plain call makes optima exact that have no contacts, but loops, wheels or free bodies."""

from functools import partial

import numpy as np
import pytest

from nsopt import (
    AppliedForce,
    AppliedTorque,
    Body,
    Check,
    Frame,
    Mechanism,
    Parameter,
    Variational,
    assemble,
)
from nsopt.trajectory import (
    IN_STEPS,
    PLAN,
    ContactPhase,
    EndAt,
    ExactContacts,
    Horizon,
    InputEffort,
    Quintic,
    StartAt,
    optimize,
)
from tests.trajectory.test_phase_loops import EFFORT, find_least_effort, linkage, state
from tests.trajectory.test_phase_wheels import park

TURN, T, INERTIA = 1.2, 2.0, (0.3, 0.5, 0.7)  # rad, s, kg m^2


def turn_body(scheme=None, plan=PLAN):
    """Turn a free body about its y axis, from rest to rest, its torques inputs."""
    body = Body("body", 2.0, INERTIA)
    torques = [Parameter(name, 0.0) for name in ("x", "y", "z")]
    motor = AppliedTorque("motor", Frame(body), torques)
    push = AppliedForce("push", Frame(body), [Parameter(f"f{x}", 0.0) for x in "xyz"])
    d = assemble(Mechanism([body]), [motor, push])
    inputs = ["x", "y", "z", "fx", "fy", "fz"]
    begin, end = np.zeros(7), np.zeros(7)
    begin[3], end[3], end[5] = 1.0, np.cos(TURN / 2), np.sin(TURN / 2)
    ends = [StartAt(begin, np.zeros(6)), EndAt(end, np.zeros(6))]
    costs = [InputEffort(input=name) for name in inputs]
    guess = Quintic(begin, end)
    return optimize(d, Horizon(T, 10), costs, ends, guess, inputs=inputs, scheme=scheme, plan=plan)


def test_a_free_body_turns_by_a_cubic():
    best = turn_body()
    assert best.completed, best.stop_reason
    assert best.objective == pytest.approx(12 * (INERTIA[1] * TURN) ** 2 / T**3, rel=1e-6)
    assert "in steps the objective is" in best.summary()


def test_in_two_phases_it_turns_by_the_same_cubic():
    halves = ExactContacts([ContactPhase({}, 1.0), ContactPhase({}, 0.5)])
    best = turn_body(plan=IN_STEPS.then(halves))
    assert best.completed, best.stop_reason
    assert "objective_in_steps" in best.data.attrs
    assert best.objective == pytest.approx(12 * (INERTIA[1] * TURN) ** 2 / T**3, rel=1e-6)


def test_steps_that_are_asked_for_stay():
    best = turn_body(Variational())
    assert best.data.attrs["scheme_name"] == "Variational"
    assert "objective_in_steps" not in best.data.attrs


@pytest.mark.slow
def test_wheels_tell_an_error_of_fourth_order():
    coarse, fine = (park(n, partial(optimize, check=Check(60.0))) for n in (40, 80))
    assert coarse.data.attrs["objective_order"] == pytest.approx(4, abs=0.7)
    off = fine.objective - coarse.objective
    assert coarse.data.attrs["objective_error"] == pytest.approx(off, rel=0.5)


@pytest.mark.slow
def test_a_linkage_moves_as_its_one_freedom_does():
    d = linkage(0.0)
    conditions, guess = state(d, 0.0, 1.2, "relative")
    best = optimize(d, Horizon(0.5, 10), [EFFORT], conditions, guess, inputs=["torque"])
    assert best.completed
    assert best.objective == pytest.approx(find_least_effort(0.0, 1.2, 0.5, 0.5), rel=2e-4)
