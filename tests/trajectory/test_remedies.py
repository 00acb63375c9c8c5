"""A failed solve states the cause first, then the remedies to try."""

from dataclasses import dataclass, replace

import casadi as ca
import numpy as np
import pytest

from nsopt import Actuator, Body, Frame, Ipopt, Mechanism, Revolute, Solver, Variational, assemble
from nsopt.mpcc import Tolerances
from nsopt.plots import overview
from nsopt.problem import load_optimization
from nsopt.trajectory import (
    IN_STEPS,
    ActuatorLimits,
    Cost,
    Duration,
    Effort,
    EndAt,
    Horizon,
    Quintic,
    Smoothness,
    StartAt,
    Straight,
    optimize,
)
from nsopt.trajectory.diagnosis import Ending, Statement, explain
from nsopt.trajectory.programs import transcribe
from nsopt.trajectory.task import Task
from tests.trajectory.lifted import PENDULUM, chains
from tests.trajectory.mechanisms import cart

UPPER = Body("upper", 2.0, (0.01, 0.05, 0.05), position=(0.2, 0, 0))
LOWER = Body("lower", 1.0, (0.005, 0.02, 0.02), position=(0.55, 0, 0))


def held_out(shoulder, elbow, accelerations=None):
    """Links of 0.4 m and 0.3 m held out along x in the vertical plane, by drives that may be weak.

    That takes 9.81 (2 * 0.2 + 1 * 0.55) = 9.32 N m at the shoulder, 1.4715 at the elbow.
    """
    joints = [
        Revolute("shoulder", Frame(None), Frame.at(UPPER, (0, 0, 0))),
        Revolute("elbow", Frame.at(UPPER, (0.4, 0, 0)), Frame.at(LOWER, (0.4, 0, 0))),
    ]
    drives = [Actuator("shoulder", effort=shoulder), Actuator("elbow", effort=elbow)]
    d = assemble(Mechanism([UPPER, LOWER], joints, "relative", drives), gravity=(0, -9.81, 0))
    out = np.zeros(2)
    return optimize(
        d,
        Horizon(1.0, 8),
        [Smoothness()],
        [StartAt(out, out), EndAt(out, out, accelerations), ActuatorLimits()],
        Quintic(out, out),
        solver=Solver(backend=Ipopt(max_iter=60)),
    )


@pytest.mark.parametrize(("shoulder", "elbow", "first"), [(3, 0.1, "elbow"), (2, 1.4, "shoulder")])
def test_a_drive_too_weak_to_hold_comes_first(shoulder, elbow, first):
    """That which lacks most of its limit before the other, both before what is violated."""
    result = held_out(shoulder, elbow)
    assert not result.completed
    lines = result.stop_reason.splitlines()
    torque, limit = {"shoulder": (9.32, shoulder), "elbow": (1.472, elbow)}[first]
    assert lines[0].startswith("holding the posture at t = ")
    assert f"takes {torque:g} N m in {first}, its limit is {limit:g} N m: give it" in lines[0]
    assert lines[1].startswith("- holding the posture")
    assert lines[2].startswith("- conditions are violated after")
    assert "is off by" in lines[3]
    assert f"NO SOLUTION: {lines[0]}" in result.summary()


def test_an_end_at_rest_that_a_drive_cannot_hold_is_refused_before_the_solve():
    with pytest.raises(ValueError, match="posture given at the end violates ActuatorLimits") as why:
        held_out(20.0, 0.1, accelerations=[0, 0])
    assert "1.47" in str(why.value)
    assert held_out(20.0, 2.0, accelerations=[0, 0]).completed


def test_a_duration_at_its_end_comes_before_rows():
    """1 m, rest to rest, with 1 N on 1 kg takes 2 s."""
    result = optimize(
        cart(effort=1.0),
        Horizon((0.5, 1.9), 20),
        [Duration()],
        [StartAt([0], [0]), EndAt([1], [0]), ActuatorLimits()],
        Straight([0], [1]),
    )
    first, second, *_ = result.stop_reason.splitlines()
    assert all(word in first for word in ("duration", "1.9 s", "allow more"))
    assert second.startswith("- conditions are violated")


THROUGH_CONTACTS = (
    "half as many steps first",
    "Through",
    "Earlier",
    "multi_start",
    "max_iter of the backend",
)


def test_remedies_for_contacts_that_are_not_met():
    stated = load_optimization("bounce")
    failed = optimize(
        stated.dynamics,
        Horizon(2.0, 10),
        stated.costs,
        stated.conditions,
        stated.guess,
        parameters={"restitution": 1.0},
        scheme=stated.scheme,
        solver=Solver(backend=Ipopt(max_iter=2)),
    )
    *rows, last = failed.stop_reason.splitlines()
    assert rows[0].startswith("conditions are violated after")
    assert all(word in last for word in THROUGH_CONTACTS)
    assert "FROM_AFAR_SLOWLY" in last  # for feet: no contact is in a bore
    assert "better guess" not in failed.stop_reason


def test_remedies_for_contacts_where_the_cost_may_not_be_least():
    stated = replace(load_optimization("bounce"), plan=IN_STEPS)
    result = stated.solve({"restitution": 1.0}, 20)
    d, horizon = stated.dynamics, Horizon(2.0, 20, stated.horizon.h, stated.horizon.breaks)
    p = d.values({"restitution": 1.0})
    task = Task(d, horizon, stated.costs, stated.conditions, stated.guess, scheme=stated.scheme)
    program = transcribe(task, p)
    nlp, x = program.nlp(), result["unknown"].values
    g = np.asarray(nlp.rows(x, program.parameters(p))).ravel()
    statement, status = Statement(d, stated.conditions, (), p), "Maximum_Iterations_Exceeded"
    t = result["time"].values
    trajectory = stated.guess.trajectory(np.linspace(0, 1, 21), horizon.bounds, ())
    cut = Ending(statement, horizon, t, trajectory, status, 7)
    text = explain(nlp, g, cut, 1e-6, None)
    assert text.startswith(
        f"all conditions are met, but the cost may not be least: {status} after 7"
    )
    assert all(remedy in text for remedy in THROUGH_CONTACTS)
    assert "scale the costs" not in text


def test_a_solver_is_not_quoted_as_successful_where_rows_are_not_met():
    """Rows are evaluated again: to less than round-off they are not met, whatever IPOPT says."""
    least = Tolerances(equality=1e-30, inequality=1e-30, bounds=1e-30)
    ends = [StartAt([0.1], [0.0]), EndAt([1.0], [0.0])]
    horizon, guess = Horizon(1.1, 7), Straight([0.1], [1.0])
    result = optimize(cart(), horizon, [Effort()], ends, guess, solver=Solver(tolerances=least))
    assert not result.completed
    assert result.status == "refused after the solve"


def test_remedies_where_nothing_touches():
    """Cut short: no word of contacts."""
    result = optimize(
        cart(),
        Horizon(1.0, 8),
        [Smoothness()],
        [StartAt([0], [0]), EndAt([1], [0])],
        Straight([0], [1]),
        solver=Solver(backend=Ipopt(max_iter=0)),
    )
    assert not result.completed
    assert "allow more time or iterations, max_iter of the backend" in result.stop_reason
    assert "multi_start" not in result.stop_reason


@pytest.mark.slow
def test_contacts_in_bores_may_be_told_not_to_rattle():
    """Where that is so already, or contacts are in no bore, it is no remedy."""
    links, start, end, T = PENDULUM
    chain = chains.chain(links, [1e-3])

    def statement(normal_implicitness):
        failed = optimize(
            chain.dynamics,
            Horizon(T, 10),
            chain.effort(),
            [chains.HungAt(chain, start), chains.TurnedTo(chain, end)],
            chains.Hanging(chain, start, end),
            inputs=chain.inputs,
            scheme=Variational(normal_implicitness=normal_implicitness),
            solver=Solver(backend=Ipopt(max_iter=2)),
        )
        assert not failed.completed
        return failed.stop_reason

    assert "Variational(normal_implicitness=0.5)" in statement(0.0)
    assert "normal_implicitness" not in statement(0.5)
    bounce = load_optimization("bounce")
    failed = replace(bounce, solver=Solver(backend=Ipopt(max_iter=2))).solve(steps=20)
    assert "normal_implicitness" not in failed.stop_reason


@dataclass(frozen=True, kw_only=True)
class Rooted(Cost):
    """A root that is no number up to 5."""

    def rate(self, m):
        return ca.sqrt(m.q[0] - 5)


@pytest.mark.parametrize("scheme", [None, Variational()])
def test_a_cost_that_is_no_number_is_told(scheme):
    result = optimize(
        cart(),
        Horizon(1.0, 5),
        [Effort(), Rooted()],
        [StartAt([0], [0]), EndAt([1], [0])],
        Straight([0], [1]),
        scheme=scheme,
    )
    assert not result.completed
    assert result.stop_reason.startswith("the cost Rooted is nan at the last motion")
    assert np.isnan(result.objective)
    assert overview(result).axes
