"""By how much optima on coarse grids are off, where they are known in closed form."""

import numpy as np
import pytest

from nsopt import GROUND, Check, Frame, PlaneContact, Result, SpringDamper, assemble
from nsopt.trajectory import (
    Effort,
    EndAt,
    Horizon,
    Optimization,
    Quintic,
    StartAt,
    Straight,
    Within,
)
from tests.trajectory.lift import G, lift_dynamics
from tests.trajectory.test_optima import cart

FASTEST = 1.3  # m/s
RISES = 3 * (FASTEST - 1) / (2 * FASTEST)  # s, until it is that fast
LIKE = 3.0


def limited_speed(steps):
    """1 m in 1 s from rest to rest, no faster than 1.3 m/s: 8 V^2 / 3 a of the integral of u^2."""
    conditions = [StartAt([0], [0]), EndAt([1], [0]), Within("rail.speed", upper=FASTEST)]
    return Optimization(
        cart(), Horizon(1.0, steps), [Effort()], conditions, Straight([0], [1])
    ), 8 * FASTEST**2 / (3 * RISES)


def limited_place(steps):
    """Half the integral of u^2 with x <= l = 1/9: 4 / (9 l) = 4 [Bryson, Denham 1963]."""
    conditions = [StartAt([0], [1]), EndAt([0], [-1]), Within("rail.distance", upper=1 / 9)]
    return Optimization(
        cart(), Horizon(1.0, steps), [Effort(weight=0.5)], conditions, Straight([0], [0])
    ), 4.0


@pytest.mark.parametrize("state", [limited_speed, limited_place])
@pytest.mark.parametrize("steps", [10, 16, 20, 50])
def test_an_objective_is_off_by_what_it_tells(state, steps):
    """Within a factor of three, whether or not limits become active at nodes."""
    optimization, exact = state(steps)
    result = optimization.solve(check=Check(seconds=np.inf))
    off = abs(result.objective - exact)
    told = result.data.attrs["objective_error"]
    assert off / LIKE < told < off * LIKE


def test_an_exact_optimum_is_off_by_no_more_than_solvers_leave():
    """Of polynomials: u = 6 - 12 t."""
    conditions = [StartAt([0], [0]), EndAt([1], [0])]
    stated = Optimization(cart(), Horizon(1.0, 10), [Effort()], conditions, Straight([0], [1]))
    result = stated.solve(check=Check(seconds=np.inf))
    assert result.data.attrs["objective_error"] == pytest.approx(12e-7)
    for name in ("q", "v", "drive"):
        assert result[f"error_{name}"].dims == result[name].dims
        assert np.abs(result[f"error_{name}"].values).max() < 1e-8
    assert "no more than solvers leave" in result.summary()


def test_a_motion_is_off_by_what_it_tells():
    """Its speed rises as V t (2 - t / a) / a, then is V."""
    optimization, _ = limited_speed(16)
    result = optimization.solve(check=Check(seconds=np.inf))
    t = result["time"].values
    t = np.minimum(np.minimum(t, 1 - t), RISES)
    true = FASTEST * t / RISES * (2 - t / RISES)
    off = np.abs(result["v"].values[:, 0] - true).max()
    assert off / LIKE < float(result["error_v"].max()) < LIKE * off


def test_it_is_told_and_saved(tmp_path):
    optimization, _ = limited_speed(10)
    result = optimization.solve(check=Check(seconds=np.inf))
    attrs = result.data.attrs
    told = f"off by {attrs['objective_error']:.2g} (by half and twice the steps: order"
    assert told in result.summary()
    again = Result.open(result.save(tmp_path / "optimum.nc"))
    assert again.summary() == result.summary()
    assert np.array_equal(again["error_q"].values, result["error_q"].values)


def test_where_no_other_grid_is_possible_the_reason_is_told(tmp_path):
    conditions = [StartAt([0], [0]), EndAt([1], [0])]
    stated = Optimization(cart(), Horizon(1.0, 2), [Effort()], conditions, Straight([0], [1]))
    result = stated.solve(check=Check(seconds=np.inf))
    assert result.completed
    assert "objective_error" not in result.data.attrs
    assert "error unknown: steps of Horizon must be 2 or more, got 1" in result.summary()
    assert Result.open(result.save(tmp_path / "two.nc")).summary() == result.summary()


def lift_on_a_spring(steps):
    """A mass is lifted from its floor by 1 m, a spring of 40 N/m draws it back."""
    lifted, base = lift_dynamics().mechanism, Frame(GROUND)
    mass = lifted.bodies[0]
    floor = PlaneContact("floor", base, Frame(mass))
    spring = SpringDamper("spring", base, Frame(mass), 40.0)
    d = assemble(lifted, [floor, spring], gravity=(0, 0, -G))
    ends = [StartAt([0.0], [0.0]), EndAt([1.0], [np.nan])]
    return Optimization(d, Horizon(2.0, steps), [Effort()], ends, Quintic([0.0], [1.0]))


def test_an_exact_optimum_through_contact_is_off_by_what_it_tells(tmp_path):
    """On the floor for a time that is free, then by trigonometric functions."""
    result, true = (
        lift_on_a_spring(10).solve(check=Check(seconds=np.inf)),
        lift_on_a_spring(80).solve(),
    )
    attrs = result.data.attrs
    assert attrs["contact_sequence"] == true.data.attrs["contact_sequence"]
    off = abs(result.objective - true.objective)
    assert off / LIKE < attrs["objective_error"] < LIKE * off
    assert attrs["objective_order"] == pytest.approx(4, abs=1)
    moved = abs(attrs["borders"][1] - true.data.attrs["borders"][1])
    assert moved / LIKE < attrs["border_errors"][1] < LIKE * moved
    assert f"off by {attrs['objective_error']:.2g} (by half and twice the steps" in result.summary()
    again = Result.open(result.save(tmp_path / "lift.nc"))
    assert again.summary() == result.summary()
