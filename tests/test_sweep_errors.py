"""The measures of a sweep are off by the errors that stand beside them."""

import numpy as np
import pytest
import xarray as xr
from typer.testing import CliRunner

from nsopt import Grid, Problem, StepBounds, sweep
from nsopt.cli import app
from nsopt.plots import measures
from nsopt.sweep import columns, table
from tests.schemes.models import G, ball
from tests.simulation.test_check import DURATION, FINER, LIKE, pendulum
from tests.simulation.test_recorded_errors import swing


def run(dynamics, h, duration, **options):
    problem = Problem(dynamics, duration, StepBounds(h[0], h[0]))
    return sweep(problem, Grid({"h": h}), workers=1, progress=False, **options)


@pytest.fixture(scope="module")
def bounces():
    """Return a ball that bounces, in steps of two sizes."""
    return run(ball(0.6, 0.45), [1e-2, 5e-3], 0.8, check=FINER, title="bounces")


def test_a_measure_is_off_by_the_error_beside_it():
    data = run(pendulum(), [1e-2, 5e-3], DURATION, check=FINER)
    angle, _ = swing(np.array([0.1, DURATION]))
    for h in data["h"]:
        at = data.sel(h=h)
        true = abs(float(at["final_q"][0]) - angle[-1])
        assert float(at["error_final_q"][0]) == pytest.approx(true, rel=LIKE - 1)
    assert data["error_final_q"].dims == ("h", "q")
    assert data["error_final_q"].attrs["units"] == "m, 1"
    ratio = data["error_motion"].values[0] / data["error_motion"].values[1]
    assert ratio == pytest.approx(4, rel=0.1)  # of second order
    assert data["predictable_until"].values == pytest.approx(DURATION)


def test_figures_of_contacts_are_off_by_the_errors_beside_them(bounces):
    impulse = bounces["impact_impulse_sum"].sel(contact_joint="floor")
    speed = np.sqrt(2 * G * 0.45)
    fallen = (np.sqrt(2 * 0.45 / G), *(2 * speed * 0.6**k / G for k in (1, 2, 3)))
    count = np.sum(np.cumsum(fallen) < 0.8)
    true = speed * 1.6 * np.sum(0.6 ** np.arange(count))
    off = np.abs(impulse.values - true)
    told = bounces["error_impact_impulse_sum"].sel(contact_joint="floor").values
    assert np.all((off / 3 < told) & (told < 3 * off))


def test_a_table_and_columns_have_errors_beside_values(bounces):
    lines = table(bounces).splitlines()
    one = bounces.isel(h=0, contact_joint=0)
    value, error = (float(one[f"{x}impact_impulse_sum"]) for x in ("", "error_"))
    assert f"{value:.4g} +- {error:.2g}" in lines[1]
    assert "error_impact" not in lines[0]
    rows = columns(bounces)
    assert rows["impact_impulse_sum"][0] == value
    assert rows["error_impact_impulse_sum"][0] == error


def test_of_several_joints_the_largest_stands_with_its_own_error(bounces):
    names = ["impact_impulse_sum", "error_impact_impulse_sum"]
    other = bounces[names].assign_coords(contact_joint=["other"]) * 2
    both = xr.concat([bounces[names], other], "contact_joint")
    rows = columns(both.assign({x: bounces[x] for x in ("completed", "stop_reason")}))
    for name in names:
        assert np.array_equal(rows[name], other[name].values[:, 0])


def test_pictures_of_sweeps_have_errors_as_bars(bounces):
    (ax,) = measures(bounces, of="impact_impulse_sum").axes
    (bars,) = [x for x in ax.collections if len(x.get_paths()) == bounces.sizes["h"]]
    lengths = [np.ptp(path.vertices[:, 1]) for path in bars.get_paths()]
    h = bounces["h"].values
    told = 2 * bounces["error_impact_impulse_sum"].values[np.argsort(h), 0]
    assert lengths == pytest.approx(told)
    titles = [ax.get_title() for ax in measures(bounces).axes]
    assert not [x for x in titles if "error of the impulses" in x]


def test_without_a_check_there_are_no_errors():
    data = run(ball(0.6, 0.45), [1e-2], 0.1)
    assert not [x for x in data if str(x).startswith("error_")]
    assert "+-" not in table(data)


def test_errors_are_kept_with_the_points(bounces, tmp_path):
    options = {"check": FINER, "title": "bounces", "folder": tmp_path}
    first, again = (run(ball(0.6, 0.45), [1e-2, 5e-3], 0.8, **options) for _ in range(2))
    assert again.drop_vars("run_time").identical(first.drop_vars("run_time"))
    for name in (x for x in bounces if str(x).startswith("error_")):
        assert np.array_equal(first[name], bounces[name], equal_nan=True)


def test_the_command_checks_where_asked(tmp_path):
    common = ["sweep", "pendulum_ideal", "--set", "h=2e-3", "--t-end", "0.05", "--workers", "1"]
    runner = CliRunner()
    with_errors = runner.invoke(app, [*common, "--check", "--out", str(tmp_path / "with")])
    without = runner.invoke(app, [*common, "--out", str(tmp_path / "without")])
    assert with_errors.exit_code == without.exit_code == 0
    assert "+-" in with_errors.stdout
    assert "+-" not in without.stdout
