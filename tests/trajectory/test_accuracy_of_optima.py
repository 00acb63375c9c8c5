"""Optima as accurate as asked for, whose least costs are known in closed form."""

import math
from dataclasses import replace

import numpy as np
import pytest

from nsopt import Actuator, Body, Check, Frame, Mechanism, Prismatic, Result, SpringDamper, assemble
from nsopt.interrupt import forget
from nsopt.problem import load_optimization
from nsopt.trajectory import (
    AccelerationLimits,
    ActuatorLimits,
    Duration,
    Effort,
    EndAt,
    Horizon,
    JerkLimits,
    Optimization,
    Quintic,
    StartAt,
    Straight,
    Within,
    optimize,
    other_grids,
)
from nsopt.trajectory import accuracy as module
from tests.trajectory.lift import lift_dynamics
from tests.trajectory.test_grid_error import FASTEST, RISES, limited_place, limited_speed
from tests.trajectory.test_optima import cart

LEAST_TIME = 1 / 1.2 + 1.2 / 4 + 4 / 16  # s: distance over speed, speed over acceleration, ...
FALL = 0.8243386694391838  # s, of the brachistochrone


def jerk_limits(steps):
    """1 m from rest to rest in least time, to 1.2 m/s, 4 m/s^2 and 16 m/s^3."""
    conditions = [
        *(StartAt([0.0], [0.0], [0.0]), EndAt([1.0], [0.0], [0.0])),
        *(Within("rail.speed", upper=1.2), AccelerationLimits(4.0), JerkLimits(16.0)),
    ]
    horizon = Horizon((0.5, 3.0), steps)
    return Optimization(cart(), horizon, [Duration()], conditions, Quintic([0.0], [1.0], 1.5))


def bang_bang(steps):
    """1 m from rest to rest in least time, 1 kg by at most 1 N: 2 s, switched after one."""
    body = Body("cart", 1.0, (1.0, 1.0, 1.0))
    rail = Prismatic("rail", Frame(None), Frame(body))
    drive = Actuator("rail", effort=1.0)
    dynamics = assemble(Mechanism([body], [rail], "relative", [drive]))
    conditions = [StartAt([0.0], [0.0]), EndAt([1.0], [0.0]), ActuatorLimits()]
    horizon = Horizon((0.5, 5.0), steps)
    return Optimization(dynamics, horizon, [Duration()], conditions, Quintic([0.0], [1.0], 3.0))


def smooth(steps):
    """1 m in 1 s from rest to rest: u = 6 - 12 t costs 12."""
    ends = [StartAt([0], [0]), EndAt([1], [0])]
    return Optimization(cart(), Horizon(1.0, steps), [Effort()], ends, Straight([0], [1]))


CASES = {
    "smooth": (smooth, 12.0, 10),
    "limited speed": (lambda n: limited_speed(n)[0], 8 * FASTEST**2 / (3 * RISES), 6),
    "Bryson-Denham": (lambda n: limited_place(n)[0], 4.0, 6),
    "jerk": (jerk_limits, LEAST_TIME, 11),
    "bang-bang": (bang_bang, 2.0, 7),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("asked", [1e-2, 1e-3])
def test_an_optimum_is_as_accurate_as_asked(name, asked):
    state, exact, steps = CASES[name]
    result = state(steps).solve(accuracy=asked)
    assert result.completed, result.stop_reason
    assert not result.data.attrs["accuracy_missed"]
    assert abs(result.objective - exact) <= asked * exact
    assert abs(result.objective - exact) <= 3 * result.data.attrs["objective_error"]
    found = result.data.attrs["steps"]
    assert f"accuracy              {asked:g} of " in result.summary()
    assert f"met by {found} steps" in result.summary()
    again = state(found).solve()
    assert abs(again.objective - exact) <= asked * exact


@pytest.mark.slow
def test_the_brachistochrone_is_as_fast_as_asked():
    stated = load_optimization("brachistochrone")
    stated = replace(stated, horizon=replace(stated.horizon, steps=10))
    result = stated.solve(accuracy=1e-3)
    assert result.detailed_cost["Duration"] == pytest.approx(FALL, rel=1e-3)


@pytest.mark.slow
def test_the_motion_is_as_accurate_as_asked(tmp_path):
    """Its speed rises as V t (2 - t / a) / a, then is V; in 1 m its place is off by so much."""
    result = limited_speed(6)[0].solve(accuracy=1e-3)
    t = result["time"].values
    near = np.minimum(t, 1 - t)
    rise = np.minimum(near, RISES)
    way = FASTEST * (rise**2 / RISES - rise**3 / (3 * RISES**2) + np.maximum(near - RISES, 0))
    true = np.where(t < 0.5, way, 1 - way)
    assert np.abs(result["q"].values[:, 0] - true).max() <= 1e-3
    motion = result.error["motion"]
    assert motion.attrs["size"] == pytest.approx(1)
    assert float(motion.max()) <= 1e-3
    again = Result.open(result.save(tmp_path / "optimum.nc"))
    assert again.summary() == result.summary()
    assert again.data.attrs["accuracy"] == 1e-3


def test_an_accuracy_that_takes_too_many_steps_is_told(monkeypatch):
    monkeypatch.setattr(module, "MOST", 20)
    result = bang_bang(7).solve(accuracy=1e-4)
    assert result.completed
    assert result.data.attrs["steps"] == 14
    (warning,) = result.warnings
    assert warning.startswith("the accuracy of 0.0001 is not met: the objective is off by ")
    assert warning.endswith("and it takes more than 20 steps")
    assert abs(result.objective - 2) > 2e-4


def test_least_effort_is_as_accurate_as_asked():
    result = smooth(10).solve(accuracy=1e-3)
    assert result.objective == pytest.approx(12)
    assert (
        "accuracy              0.001 of objective and motion, met by 20 steps" in result.summary()
    )


def test_a_motion_that_does_not_exist_is_returned_as_none():
    """1 m in 1 s with a speed that begins and stays too low to get there."""
    stated = smooth(5)
    slow = [*stated.conditions, Within("rail.speed", upper=1.0)]
    result = replace(stated, conditions=slow).solve(accuracy=1e-2)
    assert not result.completed
    assert result.data.attrs["steps"] == 5


@pytest.mark.parametrize("asked", [0.0, 1.0, -1e-3, math.nan, "1e-3", [1e-3]])
def test_an_accuracy_is_a_part(asked):
    with pytest.raises(ValueError, match="accuracy must be a part between 0 and 1"):
        smooth(5).solve(accuracy=asked)


@pytest.mark.parametrize("steps", [7, 25])
def test_an_optimum_that_switches_within_a_step_is_limited_by_its_grid(steps):
    """In an odd number of steps the middle one cannot be at both limits."""
    result = bang_bang(steps).solve(check=Check())
    off = result.objective - 2
    assert off > 1e-4
    assert off / 3 < result.data.attrs["objective_error"] < 3 * off
    assert "grid-limited: " in result.summary()


def test_that_is_told_without_other_grids_where_limits_between_nodes_cost():
    stated, exact = limited_place(20)
    result = stated.solve(check=None)
    off = result.objective - exact
    assert off / 3 < result.data.attrs["limits_cost"] < 3 * off
    assert "error unknown: not asked for, grid-limited: " in result.summary()


def test_a_smooth_optimum_is_not():
    """On a spring least effort is no polynomial: its error is of the order of its steps."""
    stated = smooth(10)
    mechanism = stated.dynamics.mechanism
    spring = SpringDamper("spring", Frame(None), Frame(mechanism.bodies[0]), 40.0)
    stated = replace(stated, dynamics=assemble(mechanism, [spring]))
    result = stated.solve(check=Check())
    assert result.data.attrs["objective_order"] == pytest.approx(4, abs=0.5)
    assert "grid-limited" not in result.summary()


@pytest.mark.slow
def test_an_optimum_is_checked_where_that_is_quick():
    quick, never, none = (smooth(10).solve(check=x) for x in (Check(), Check(seconds=0), None))
    assert "objective_error" in quick.data.attrs
    assert "half and twice the steps may take " in never.summary()
    assert "error unknown: not asked for" in none.summary()
    for other in (never, none):
        assert np.array_equal(other["q"].values, quick["q"].values)
        with pytest.raises(AttributeError, match="is unknown: "):
            _ = other.error


def test_what_is_solved_often_is_checked_where_asked():
    prepared = smooth(10).prepared()
    assert "error unknown: not asked for" in prepared.solve().summary()
    assert "objective_error" in prepared.solve(check=Check()).data.attrs
    with pytest.raises(TypeError, match=r"check must be Check\(\) or None, got True"):
        prepared.solve(check=True)


@pytest.fixture
def stop():
    """What is called when Ctrl-C comes, after which the next test goes on."""

    def interrupt(*_):
        raise KeyboardInterrupt

    yield interrupt
    forget()


def test_an_interrupt_on_the_next_grid_keeps_the_one_before(monkeypatch, stop):
    monkeypatch.setattr(module, "Earlier", stop)
    result = smooth(10).solve(accuracy=1e-3)
    assert result.stop_reason == "interrupted on the next grid; this motion is a solution"
    assert not result.completed
    assert result.objective == pytest.approx(12)


def test_an_interrupt_on_another_grid_keeps_the_optimum(monkeypatch, stop):
    monkeypatch.setattr(other_grids, "measure_grid_error", stop)
    result = smooth(10).solve(check=Check())
    assert result.completed
    assert "error unknown: interrupted on another grid" in result.summary()


@pytest.mark.slow
def test_an_exact_optimum_is_repeated_by_the_steps_that_are_told():
    """A fall onto a floor: its two phases have more steps together than were stated."""
    ends = [StartAt([1.0], [0.0]), EndAt([0.0], [0.0])]
    stated = lift_dynamics(), Horizon(2.0, 7), [Effort()], ends, Quintic([1.0], [0.0])
    result = optimize(*stated, accuracy=1e-3)
    steps = result.data.attrs["accuracy_steps"]
    assert f"met by {steps} steps" in result.summary()
    again = optimize(stated[0], Horizon(2.0, steps), *stated[2:], check=None)
    assert again["time"].values == pytest.approx(result["time"].values, abs=1e-7)
    assert again["time"].size > steps + 1


@pytest.mark.parametrize("accuracy", [None, 1e-2])
def test_what_is_no_check_is_refused(accuracy):
    with pytest.raises(TypeError, match=r"check must be Check\(\) or None, got True"):
        smooth(6).solve(check=True, accuracy=accuracy)
