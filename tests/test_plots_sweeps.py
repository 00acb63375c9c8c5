"""Figures of sweeps hold the numbers of their runs; the command draws them from the file."""

from pathlib import Path

import h5py
import numpy as np
import pytest
import xarray as xr
from typer.testing import CliRunner

from nsopt import Grid, Samples
from nsopt.analysis import SectionValues, Strobe, bifurcation
from nsopt.cli import BAD_INPUT, app
from nsopt.cli.look import SWEEP_PICTURES
from nsopt.cli.plot import SWEEP_ATTRIBUTES
from nsopt.plots import SWEEP_FIGURES, bifurcation_diagram, measures
from nsopt.result import make_netcdf
from nsopt.stored import NOTES
from nsopt.sweep import columns
from tests.plotted import factor_of
from tests.sweeps import drop, run

MASSES = [4.0, 0.5, 2.0, 1.0]
MEASURE = {"points": SectionValues("ball.vz", Strobe(5e-3), 3)}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("fallen")


@pytest.fixture(scope="module")
def fallen(folder):
    """A ball of several masses that falls from 5 cm for 20 ms, with two step sizes."""
    over = Grid({"mass": MASSES, "h": [1e-3, 2e-3]})
    return run(drop(), over, measure=MEASURE, folder=folder, title="fallen")


@pytest.mark.unit
def test_names_are_those_of_a_sweep():
    assert tuple(SWEEP_FIGURES) == SWEEP_PICTURES


def test_each_line_of_a_measure_is_that_of_its_runs(fallen):
    """Ordered by mass, which doubles, so that the axis is logarithmic."""
    figure = measures(fallen, of="final_v", over="mass")
    (ax,) = figure.axes
    lines = {line.get_label(): line for line in ax.lines}
    for k, h in enumerate([1e-3, 2e-3]):
        line = lines[f"h = {h:g}, ball.vz"]
        assert np.array_equal(line.get_xdata(), sorted(MASSES))
        # It falls freely, exactly so by any step.
        assert line.get_ydata() == pytest.approx(-9.81 * 0.02 * np.ones(4))
        assert fallen["final_v"].values[0, k, 2] == pytest.approx(-9.81 * 0.02)
    assert (ax.get_xscale(), ax.get_xlabel()) == ("log", "mass")
    assert ax.get_ylabel() == "[m/s, rad/s]"
    shown = measures(fallen, over="h").axes
    titles = [ax.get_title().replace("\n", " ") for ax in shown]
    for name in ("largest_impact", "largest_gap_violation"):
        ax = shown[titles.index(fallen[name].attrs["long_name"])]
        assert (ax.get_xscale(), ax.get_xlabel()) == ("linear", "h [s]")
        for k, line in enumerate(ax.lines):
            assert line.get_label() == f"mass = {MASSES[k]:g}"
            known = fallen[name].max("contact").values[k]
            unit = fallen[name].attrs["units"]
            assert line.get_ydata() == pytest.approx(factor_of(ax, unit) * known)


PUSHED = """
from nsopt import GROUND, AppliedForce, Body, Frame, Mechanism, Parameter, Problem, StepBounds
from nsopt import Tracker, assemble

ball = Body("ball", Parameter("mass", 1.0), point_mass=True)
lift = AppliedForce("lift", Frame(ball), (0, 0, 20.0))
seen = [lift, Tracker("place", Frame(ball))]
dynamics = assemble(Mechanism([ball]), seen, gravity=(0, 0, -9.81))
problem = Problem(dynamics, duration=0.2, steps=StepBounds(0.01, 0.01))
"""


def test_an_output_that_is_asked_for_is_shown(tmp_path, monkeypatch):
    """Two balls that are lifted, by how much."""
    monkeypatch.chdir(tmp_path)
    Path("pushed.py").write_text(PUSHED)
    words = ["sweep", "pushed.py", "--set", "mass=1,0.5", "--workers", "1", "--of", "place.z"]
    done = CliRunner().invoke(app, words)
    assert done.exit_code == 0, done.output
    known = (20 / np.array([1.0, 0.5]) - 9.81) * 0.2**2 / 2
    head, *rows = [line.split() for line in done.stdout.splitlines()[:3]]
    shown = [float(row[head.index("place.z")]) for row in rows]
    assert shown == pytest.approx(known, rel=1e-3)
    data = xr.load_dataset("results/pushed_sweep/sweep.nc", engine="h5netcdf")
    assert columns(data, ["place.z"])["place.z"].values == pytest.approx(known)
    (ax,) = measures(data, of="place.z").axes
    assert ax.lines[0].get_ydata() == pytest.approx(factor_of(ax, "m") * known[::-1])
    with pytest.raises(ValueError, match=r"'place.w' in this sweep: one of place\.x"):
        columns(data, ["place.w"])
    done = CliRunner().invoke(app, [*words[:-1], "place.w"])
    assert done.exit_code == BAD_INPUT
    assert "--of 'place.w' is no output of an element: one of place.x" in done.stderr


def test_samples_are_drawn_over_any_of_their_names():
    data = run(drop(), Samples({"mass": [2.0, 1.0, -1.0], "h": [1e-3, 2e-3, 1e-3]}))
    for over, known in (("mass", [1.0, 2.0]), ("h", [1e-3, 2e-3])):
        figure = measures(data, of="steps", over=over)
        (line,) = figure.axes[0].lines
        assert np.array_equal(line.get_xdata(), known)  # without the run that failed
        assert sorted(line.get_ydata()) == [10, 20]
        assert "1 of 3 runs failed" in figure.get_suptitle()


@pytest.mark.slow
def test_a_bifurcation_diagram_has_every_point(fallen):
    figure = bifurcation_diagram(fallen, over="mass")
    (line,) = figure.axes[0].lines
    known = bifurcation(fallen, over="mass")
    assert len(known) == 4 * 2 * 3
    assert np.array_equal(np.transpose(line.get_data()), known.values)
    # At 10, 15 and 20 ms, in free fall.
    assert sorted(set(np.round(line.get_ydata() / -9.81, 9))) == [0.01, 0.015, 0.02]
    assert figure.axes[0].get_ylabel() == "ball.vz where the run meets a section"
    both = bifurcation_diagram(fallen, fallen, over="mass")
    assert len(both.axes[0].lines) == 2


@pytest.mark.slow
def test_the_command_draws_a_sweep(fallen, folder):
    del fallen
    path = str(folder / "sweep.nc")
    for words, picture in [
        ([], "measures"),
        (["--of", "final_q", "--over", "h"], "measures"),
        (["--what", "bifurcation_diagram", "--over", "mass"], "bifurcation_diagram"),
    ]:
        made = folder / f"sweep_{picture}.png"
        done = CliRunner().invoke(app, ["plot", path, *words])
        assert done.exit_code == 0, done.output
        assert made.stat().st_size > 5000
        made.unlink()
    for words, told in [
        (["--what", "orbits"], "'orbits': one of measures, bifurcation_diagram"),
        (["--of", "speed"], "no measure 'speed' in this sweep: one of completed, end_time"),
        (["--over", "speed"], "'speed', which was not swept: one of mass, h"),
        (["--joint", "hinge"], "--joint is of other results, not of measures"),
        (["--from", "0.1"], "--from and --to are of results, not of sweeps"),
        (["--what", "bifurcation_diagram"], "several names were swept (mass, h)"),
        (["--what", "bifurcation_diagram", "--of", "steps1"], "no measure 'steps1'"),
        ([path], "one sweep at a time, got 2"),
    ]:
        done = CliRunner().invoke(app, ["plot", path, *words])
        assert done.exit_code == BAD_INPUT
        assert done.stderr.count("error: ") == 1
        assert told in done.stderr


SWEPT = {name: ("mass", np.ones(2)) for name in NOTES}


@pytest.mark.parametrize(
    ("variables", "told"),
    [
        ({"completed": ("mass", [1, 1])}, "variable 'stop_reason' is missing"),
        (SWEPT | {"steps": 1.0}, "variable 'steps' is over (), not ('mass',)"),
        (SWEPT, "the values that were swept are missing"),
        (dict.fromkeys(NOTES, 1.0), "the values that were swept are missing"),
    ],
)
def test_a_table_that_no_sweep_writes_is_one_error(tmp_path, variables, told):
    path = tmp_path / "sweep.nc"
    path.write_bytes(make_netcdf(xr.Dataset(variables)))
    done = CliRunner().invoke(app, ["plot", str(path)])
    assert done.exit_code == BAD_INPUT
    assert done.stderr.startswith(f"error: '{path}' is no whole sweep: ")
    assert told in done.stderr
    assert len(done.stderr.splitlines()) == 1


def make_steps_a_group(file):
    del file["steps"]
    file.create_group("steps")["x"] = 1.0


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (lambda file: file["steps"].__setitem__(0, 9), "variable 'steps' changed"),
        (lambda file: file.attrs.__setitem__("title", "x"), "attribute 'title' changed"),
        (make_steps_a_group, "variable 'steps' is a group of 'x'"),
        (lambda file: file.move("steps", "deeper/steps"), "'deeper' is a group of 'steps'"),
        (lambda file: file.create_dataset("more", data=np.ones(2)), "'more', of type float64, is"),
        (lambda file: file.__delitem__("completed"), "variable 'completed'"),
    ],
)
def test_a_sweep_that_is_not_as_it_was_saved_is_one_error(tmp_path, change, told):
    """What changed is named; a sweep without hashes, by another program, is read as it is."""
    path, texts = tmp_path / "sweep.nc", dict.fromkeys(SWEEP_ATTRIBUTES, "{}")
    whole = SWEPT | {"stop_reason": ("mass", ["", ""])}
    path.write_bytes(make_netcdf(xr.Dataset(whole, {"mass": [1.0, 2.0]}, texts)))
    assert CliRunner().invoke(app, ["plot", str(path), "--of", "steps"]).exit_code == 0
    with h5py.File(path, "r+") as file:
        change(file)
    done = CliRunner().invoke(app, ["plot", str(path)])
    assert done.exit_code == BAD_INPUT
    assert told in done.stderr
    assert len(done.stderr.splitlines()) == 1


@pytest.mark.parametrize(
    ("name", "value", "told"),
    [
        ("completed", 7.0, "variable 'completed' has others than 0, 1"),
        ("steps", -1.0, "variable 'steps' has entries that are negative"),
        ("end_time", np.inf, "variable 'end_time' has entries that are infinite"),
    ],
)
def test_a_number_that_no_sweep_writes_is_named(tmp_path, name, value, told):
    path, texts = tmp_path / "sweep.nc", dict.fromkeys(SWEEP_ATTRIBUTES, "{}")
    changed = {"stop_reason": ("mass", ["", ""]), name: ("mass", np.full(2, value))}
    path.write_bytes(make_netcdf(xr.Dataset(SWEPT | changed, {"mass": [1.0, 2.0]}, texts)))
    done = CliRunner().invoke(app, ["plot", str(path)])
    assert done.exit_code == BAD_INPUT
    assert told in done.stderr
