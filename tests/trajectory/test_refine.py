"""Grids ever finer: known optima are approached, at an order that is observed."""

import json
from dataclasses import replace

import numpy as np
import pytest

from nsopt import Variational
from nsopt.problem import load_optimization
from nsopt.trajectory import ObjectiveChange, StartAt, StepDefect, Within, refine
from nsopt.trajectory.refine import GridSolve


def problem(name, steps, *conditions):
    stated = load_optimization(name)
    return replace(
        stated,
        horizon=replace(stated.horizon, steps=steps),
        conditions=[*stated.conditions, *conditions],
    )


def grids(result):
    return json.loads(result.data.attrs["grids"])


def limited():
    """The double integrator with a speed of at most 1.3: least effort by hand.

    Speed is a parabola that meets the limit V level, for a time s at both ends: with distance
    V (1 - 2 s / 3) = 1 it costs 2 integral_0^s (2 V (s - t) / s^2)^2 dt = 8 V^2 / (3 s).
    """
    V = 1.3
    s = 1.5 * (1 - 1 / V)
    return 8 * V**2 / (3 * s)


def test_a_speed_limit_on_the_double_integrator():
    """The limit begins to act between nodes: second order on the average."""
    stated = problem("double_integrator", 10, Within("rail.speed", upper=1.3))
    result = refine(stated, 5e-4, by=ObjectiveChange(), most=320)
    assert result.completed, result.stop_reason
    table = grids(result)
    assert result.objective == pytest.approx(limited(), abs=5e-4)
    errors = [abs(grid["objective"] - limited()) for grid in table]
    assert [grid["steps"] for grid in table] == [10 * 2**k for k in range(len(table))]
    order = np.log2(errors[0] / errors[-1]) / (len(errors) - 1)
    assert order > 1.5
    assert result["q"].sizes["time"] == table[-1]["steps"] + 1
    assert table[0]["estimate"] is None


@pytest.mark.slow
def test_bryson_denham():
    result = refine(problem("bryson_denham", 10), 1e-6, by=ObjectiveChange(), most=640)
    assert result.completed
    table = grids(result)
    assert result.objective == pytest.approx(4, abs=1e-6)
    for grid in table[1:]:  # the estimate is no less than the error
        assert grid["estimate"] > 0.9 * abs(grid["objective"] - 4)
    assert all(grid["iterations"] > 0 and grid["seconds"] > 0 for grid in table)


@pytest.mark.slow
def test_brachistochrone():
    """Coarse grids are faster than any wire: their steps are no motions, and fine ones say so."""
    result = refine(problem("brachistochrone", 10), 1e-6, most=160)
    assert result.completed
    table = grids(result)
    defects = [grid["defect"] for grid in table]
    assert defects[0] > 1e-4
    assert defects[-1] <= 1e-6
    assert table[-1]["estimate"] == defects[-1]
    order = np.log2(defects[0] / defects[-1]) / (len(defects) - 1)
    assert order > 3
    time = result.detailed_cost["Duration"]
    assert time == pytest.approx(0.8243386694391838, abs=2e-5)


def test_a_tolerance_that_is_not_met_is_told():
    result = refine(problem("bryson_denham", 10), 1e-9, by=ObjectiveChange(), most=39)
    assert not result.completed
    assert "with 20 steps, above the tolerance 1e-09: allow more steps" in (result.stop_reason)
    assert [grid["steps"] for grid in grids(result)] == [10, 20]


def test_conditions_that_cannot_be_met_end_the_series():
    """1 m in 1 s with a speed that begins and stays too low to get there."""
    slow = Within("rail.speed", upper=1.0)
    result = refine(problem("double_integrator", 5, slow, StartAt(v=(0,))), 1e-6)
    assert not result.completed
    assert [grid["steps"] for grid in grids(result)] == [5]


@pytest.mark.parametrize("order", [1, 2, 3, 4])
def test_richardson(order):
    """Objectives with an error of one order, known exactly."""
    h = [0.1 / 2**k for k in range(4)]
    rows = [GridSolve(k, 4 + 3 * x**order, 0.0, 1, 1.0) for k, x in enumerate(h)]
    by = ObjectiveChange()
    assert by.estimate(rows) == pytest.approx(3 * h[-1] ** order, rel=1e-6)
    assert by.estimate(rows[:3]) == pytest.approx(rows[1].objective - rows[2].objective)
    assert by.estimate(rows[:1]) == np.inf
    assert StepDefect().estimate(rows) == 0.0


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"tolerance": 0.0}, "tolerance of refine must be positive, got 0"),
        ({"most": 5}, "refine starts with 10 steps, more than 5: allow more"),
    ],
)
def test_what_makes_no_sense_is_refused(change, message):
    options = {"tolerance": 1e-3} | change
    with pytest.raises(ValueError, match=message):
        refine(problem("double_integrator", 10), **options)


@pytest.mark.parametrize(
    ("name", "scheme", "why"),
    [
        ("bounce", None, "contact 'wall' has no acceleration"),
        ("double_integrator", Variational(), "it is stated in steps of Variational"),
    ],
)
def test_motions_in_steps_of_a_scheme_are_told_by_their_objective(name, scheme, why):
    """Their steps are not reintegrated, so that no grid would ever do."""
    stated = replace(problem(name, 10), scheme=scheme)
    with pytest.raises(ValueError, match=rf"StepDefect .* {why}: give by=ObjectiveChange"):
        refine(stated, 1e-3)


def test_steps_of_a_scheme_are_refined_by_their_objective():
    """Least effort over 1 m in 1 s is 12; blocks of constant force are of second order."""
    stated = replace(problem("double_integrator", 10), scheme=Variational())
    result = refine(stated, 2e-2, by=ObjectiveChange(), most=80)
    assert result.completed, result.stop_reason
    assert result.objective == pytest.approx(12, abs=2e-2)


def test_an_order_below_one_is_refused():
    with pytest.raises(ValueError, match="order of ObjectiveChange must lie between 1 and 10"):
        ObjectiveChange(0.5)
