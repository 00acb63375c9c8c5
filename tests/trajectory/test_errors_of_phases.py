"""By how much motions in phases are off by their grids, where they are known in closed form."""

import numpy as np
import pytest

from nsopt import Check, Result
from nsopt.trajectory import (
    ActuatorLimits,
    DriveWithin,
    Duration,
    EndAt,
    optimize_phases,
)
from tests.trajectory.test_phases import START, phase

LIKE = 3.0
TOP, SLOW = 0.9, 0.5  # m/s, in the first metre and in the second


def state_fastest(steps):
    """Two metres with 1 N, bang, coast and brake in each; with the least time [s]."""
    limits = [DriveWithin("rail", -1, 1), ActuatorLimits()]
    free = {"costs": [Duration()], "steps": steps}
    first = phase([START, EndAt([1.0]), *limits], 1.0, (0.3, 9.0), velocity=TOP, **free)
    last = [EndAt([2.0], [0.0]), *limits]
    second = phase(last, 2.0, (0.3, 9.0), velocity=SLOW, **free)
    coasts = (1 - TOP**2 / 2 - (TOP**2 - SLOW**2) / 2) / TOP, (1 - SLOW**2 / 2) / SLOW
    return [first, second], 2 * TOP - SLOW + coasts[0] + coasts[1] + SLOW


@pytest.mark.parametrize("steps", [6, 12, 20, 32])
def test_a_least_time_is_off_by_what_it_tells(steps):
    phases, exact = state_fastest(steps)
    result = optimize_phases(phases, check=Check(seconds=np.inf))
    off = result.objective - exact
    assert off / LIKE < result.objective_error < LIKE * off
    assert f"off by {result.objective_error:.2g} (by half and twice" in result.summary()
    for part in result.phases:
        # Velocities jump nowhere: they are off by less than the limit of drives makes of a step.
        h = float(np.diff(part["time"].values).max())
        assert 0 < float(part["error_v"].max()) < 2 * h
        assert "WARNING" not in part.summary()


def test_polynomials_are_off_by_no_more_than_solvers_leave(tmp_path):
    """1 kg through 1 m and back to 0.3 m: cubic polynomials."""
    first = phase([START, EndAt([1.0])], 1.0, (0.2, 1.9))
    second = phase([EndAt([0.3], [0.0])], 0.3, (0.2, 1.9))
    result = optimize_phases([first, second], duration=2.0)
    assert result.objective_error == pytest.approx(1e-7 * result.objective)
    assert np.isnan(result.objective_order)
    for part in result.phases:
        assert np.abs(part["error_q"].values).max() < 1e-6
        again = Result.open(part.save(tmp_path / "phase.nc"))
        assert again.summary() == part.summary()


def test_why_errors_are_not_known_is_told():
    phases, _ = state_fastest(6)
    result = optimize_phases(phases, check=None)
    assert np.isnan(result.objective_error)
    assert "error unknown: not asked for" in result.summary().splitlines()[0]
    with pytest.raises(TypeError, match="check must be Check"):
        optimize_phases(phases, check=True)
