"""What a run tells of the time beyond that until which it is predictable."""

import numpy as np
import pytest

from nsopt import (
    MoreauJean,
    Result,
    Start,
    StepBounds,
    load_problem,
    simulate,
)
from nsopt.problem import Problem
from tests.schemes.models import G, ball
from tests.simulation.test_check import COARSER, FINER, LENGTH, pendulum, run

STATISTICS = ("beyond_mean_force", "beyond_median_force", "beyond_peak_force")


@pytest.fixture(scope="module")
def parting():
    """Return a double pendulum that is predictable for a quarter of its time."""
    problem = load_problem("double_pendulum")
    assert isinstance(problem, Problem)
    return run(problem.dynamics, 4e-3, FINER, duration=20.0)


@pytest.mark.parametrize("h", [2e-2, 5e-3])
def test_impacts_a_second_are_off_by_no_more_than_they_tell(h):
    """A ball bounces without loss; long steps come late to each impact, and run behind."""
    height = 0.5
    result = run(ball(1.0, height), h, FINER, duration=30.0, scheme=MoreauJean())
    true = 1 / (2 * np.sqrt(2 * height / G))
    told = float(result.error["beyond_impact_rate"].sel(joint="floor"))
    assert 0 < told < 0.1 * true
    assert abs(float(result["beyond_impact_rate"][0]) - true) < told
    assert float(result["beyond_loss_rate"][0]) == 0
    assert result.error["beyond_impact_rate"].attrs["alike"].all()


def test_errors_grow_as_those_of_what_stands_on_its_head_do():
    """By exp(sqrt(g / l) t), until it falls."""
    start = Start(np.array([np.pi - 1e-6]), np.zeros(1))
    steps = StepBounds(0.1, 0.1)
    result = simulate(pendulum(), start, 4.5, steps=steps, check=FINER, progress=False)
    rate = result.error["motion"].attrs["growth_rate"]
    assert rate == pytest.approx(np.sqrt(G / LENGTH), rel=0.1)
    assert f"errors grow by e in {1 / rate:.2g} s" in result.summary()


def test_a_motion_that_is_predictable_has_neither():
    result = run(pendulum(), 5e-3, FINER)
    assert "growth_rate" not in result.error["motion"].attrs
    assert not [name for name in result.error if str(name).startswith("beyond")]
    assert "beyond" not in result.summary()


def test_statistics_of_a_chaotic_motion_hold_in_shorter_steps(parting):
    problem = load_problem("double_pendulum")
    assert isinstance(problem, Problem)
    fine = run(problem.dynamics, 4e-3 / 4, COARSER, duration=20.0)
    for name in STATISTICS:
        told = np.hypot(*(x.error[name].values for x in (parting, fine)))
        assert np.all(np.abs(parting[name].values - fine[name].values) < 1.5 * told)
        assert np.all(told < parting[name].values)


def test_losses_a_second_are_what_the_energy_falls_by():
    """Of a ball that bounces: its contact alone takes energy."""
    result = run(ball(0.95, 0.5), 2e-2, FINER, duration=8.0, scheme=MoreauJean())
    error, t = result.error["motion"], result["time"].values
    k = int(np.argmax(error.values > 0.05 * error.attrs["size"])) - 1
    energy = result["total_energy"].values
    lost = float(result["beyond_loss_rate"].sel(joint="floor")) * (t[-1] - t[k])
    assert lost > 0.5 * np.ptp(energy)
    assert lost == pytest.approx(energy[k] - energy[-1], rel=1e-6)


def test_a_summary_has_one_line_of_it_and_a_whole_one_all_joints(parting):
    lines = parting.summary().splitlines()
    (told,) = [x for x in lines if x.startswith("beyond")]
    assert len(lines) <= 14
    mean, error = (
        float(x.sel(joint="shoulder"))
        for x in (parting["beyond_mean_force"], parting.error["beyond_mean_force"])
    )
    assert f"shoulder {mean:.3g} +- {error:.2g} N on average" in told
    assert "alike in all runs" in told
    assert "elbow" not in told
    assert "elbow" in parting.summary(full=True)


def test_it_is_saved(parting, tmp_path):
    again = Result.open(parting.save(tmp_path / "double.nc"))
    assert again.summary(full=True) == parting.summary(full=True)
    for name in STATISTICS:
        assert np.array_equal(again.error[name], parting.error[name], equal_nan=True)


def test_of_many_warnings_one_makes_room(parting):
    """So that there are 14 lines at most."""
    data = parting.data.copy(deep=True).assign_attrs(accuracy=1e-3, accuracy_missed=1)
    data["error_total_energy"][-1] = 100.0
    result = Result(data)
    shown = [x for x in result.summary().splitlines() if x.startswith("WARNING")]
    assert len(result.warnings) > 2
    assert len(shown) == 2
    assert f"and {len(result.warnings) - 1} more" in shown[-1]
