"""Sweeps: each point is the single run, and none ends the others."""

import json
import os
import threading
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import xarray as xr
from typer.testing import CliRunner

from nsopt import Checkpoint, Grid, PaperStep, Samples, StepBounds, load_problem, simulate
from nsopt.cli import BAD_INPUT, STOPPED_EARLY, app
from nsopt.sweep import MEASURES, numbers, table
from tests.sweeps import SQP, count_runs, drop, run, same

SHORT = 0.02  # s, past the first impact of case A
runs = pytest.fixture(count_runs)


@pytest.fixture(scope="module")
def case_a():
    return replace(load_problem("case_a"), duration=SHORT)


def single(problem, steps, **parameters):
    return simulate(
        problem.dynamics,
        duration=problem.duration,
        steps=steps,
        scheme=PaperStep(),
        solver=SQP,
        parameters=parameters,
        progress=False,
    )


@pytest.mark.slow
def test_each_point_of_a_grid_is_the_single_run(case_a, tmp_path):
    values = {"clearance": [1e-3, 5e-4], "h": [2e-3, 1e-3]}
    data = run(case_a, Grid(values), workers=2, folder=tmp_path, title="case A")
    assert data["completed"].dims == ("clearance", "h")
    for clearance in values["clearance"]:
        for h in values["h"]:
            at = data.sel(clearance=clearance, h=h)
            alone = single(case_a, StepBounds(h, h), clearance=clearance)
            assert np.array_equal(at["final_q"], alone["q"].values[-1])
            assert np.array_equal(at["final_v"], alone["v"].values[-1])
            assert list(at["q"]) == list(alone["q_name"])
            assert at["dissipated_energy"] == alone["dissipated_energy"].values[-1]
            force = np.linalg.norm(alone["lasting_force"].values, axis=-1)
            assert np.array_equal(at["largest_lasting_force"], np.nanmax(force, axis=0))
            impulse = alone["impact_impulse"].values[1:]
            assert np.array_equal(at["largest_impact"], impulse.max(axis=0))
            assert at["steps"] == alone.data.sizes["time"] - 1
            assert at["end_time"] == SHORT
            assert at["completed"] == 1
            assert at["stop_reason"] == ""
    for name, variable in data.data_vars.items():
        assert {"units", "long_name"} <= set(variable.attrs), name
    assert data["h"].attrs["units"] == "s"
    assert data.attrs["title"] == "case A"
    assert data.attrs["model_hash"] == alone.data.attrs["model_hash"]
    assert xr.load_dataset(tmp_path / "sweep.nc").identical(data)
    assert [p.name for p in tmp_path.iterdir() if p.is_file()] == ["sweep.nc"]


@pytest.mark.slow
def test_samples_are_taken_row_by_row(case_a):
    values = {"clearance": [1e-3, 5e-4, 7e-4], "h_max": [1e-3, 2e-3, 1.5e-3]}
    data = run(case_a, Samples(values))
    assert data["completed"].dims == ("sample",)
    for k, (clearance, h_max) in enumerate(zip(*values.values(), strict=True)):
        at = data.isel(sample=k)
        assert at["clearance"] == clearance
        alone = single(case_a, StepBounds(1e-3, h_max), clearance=clearance)
        assert np.array_equal(at["final_q"], alone["q"].values[-1])


def test_a_named_problem_and_h_min():
    data = run("pendulum_ideal", Grid({"h_min": [1e-4, 5e-4], "mass": [1.0]}), duration=5e-3)
    assert dict(data["completed"].sizes) == {"h_min": 2, "mass": 1}
    assert data["completed"].values.all()
    assert data.attrs["title"] == "pendulum_ideal"
    assert data["largest_lasting_force"].size == 0
    assert len(table(data).splitlines()) == 1 + 2


def test_own_measures_keep_labels_and_differ_in_length(case_a):
    data = run(
        case_a,
        Grid({"h": [1e-3, 2e-3]}),
        measure={
            "path": lambda result: result["gap"].sel(contact="hinge[0]"),
            "early": lambda result: result["q"].isel(time=2),
            "count": lambda result: len(result["time"]),
            "final_v": lambda result: 0,
        },
    )
    assert data["path"].dims == ("h", "time")
    assert data["path"].attrs["units"] == "m"
    # Times of one run that the other does not have.
    assert np.isnan(data["path"].sel(h=2e-3)).sum() >= 5
    assert list(data["early"]["q"]) == list(data["final_q"]["q"])
    assert data["count"].values.tolist() == [21, 11]
    assert data["final_v"].values.tolist() == [0, 0]


def test_failed_points_are_recorded_and_end_nothing(case_a, tmp_path):
    def picky(result):
        if json.loads(result.data.attrs["parameters"])["clearance"] == 7e-4:
            raise ArithmeticError("not this one")
        return 1.0

    over = Samples({"clearance": [1e-3, -1e-3, 5e-4, 7e-4], "h_min": [1e-3, 1e-3, 3e-3, 1e-3]})
    data = run(case_a, over, measure={"picky": picky}, folder=tmp_path)
    assert data["completed"].values.tolist() == [1, 0, 0, 0]
    reasons = data["stop_reason"].values
    assert "hinge" in reasons[1]
    assert "h_min must not exceed" in reasons[2]
    assert reasons[3] == "measure 'picky': ArithmeticError: not this one"
    assert data["steps"].values.tolist() == [*data["steps"].values[:1], 0, 0, data["steps"][3]]
    for name in [*MEASURES, "picky"]:
        assert np.isfinite(data[name].values[0]).all(), name
        assert np.isnan(data[name].values[1:]).all(), name
    assert xr.load_dataset(tmp_path / "sweep.nc").identical(data)
    assert "failed at clearance = -0.001, h_min = 0.001: " in table(data)
    none = run(case_a, Grid({"clearance": -np.arange(1.0, 9.0)}), progress=False)
    assert not set(MEASURES) & set(none)
    assert table(none).endswith("... and 3 more")


DRIVEN = '''
"""A ball that is driven down at 1 m/s; after 0.05 s the floor is in the way."""
from beside import Guided
from nsopt import *

ball = Body("ball", mass=Parameter("mass", 1.0), position=(0, 0, 0.05), velocity=(0, 0, -1),
            point_mass=True)
drive = Guided("drive", Frame(GROUND), Frame(ball))
floor = PlaneContact("floor", Frame(GROUND), Frame(ball))
dynamics = assemble(Mechanism([ball], [drive]), [floor])
problem = Problem(dynamics, duration=0.052, steps=StepBounds(2e-3, 2e-3))
'''
BESIDE = """
from nsopt.mechanics import Constraint, Pair

class Guided(Pair, Constraint):
    def residual(self, s):
        return s.motion(self.b).r[2] - (0.05 - s.t)
"""


def test_a_run_that_stops_early_and_a_module_beside_the_problem(tmp_path, runs):
    (tmp_path / "driven.py").write_text(DRIVEN)
    (tmp_path / "beside.py").write_text(BESIDE)
    over = Grid({"mass": [1.0, 2.0]})
    data = run(tmp_path / "driven.py", over, workers=2, folder=tmp_path)
    assert data["completed"].values.tolist() == [0, 0]
    assert all("drive" in reason for reason in data["stop_reason"].values)
    assert data["end_time"].values == pytest.approx(0.05, abs=2.1e-3)
    assert np.all(data["steps"].values >= 24)
    # Another try would find the same.
    assert same(run(tmp_path / "driven.py", over, folder=tmp_path), data)
    assert not runs


@pytest.mark.slow
def test_a_run_that_ends_its_process_is_a_failed_point(case_a, tmp_path, runs):
    def deadly(result):
        if os.getpid() != parent and result.data.attrs["h_max"] == 1.5e-3:
            os._exit(1)
        return 1.0

    parent = os.getpid()
    over = Grid({"h": [1.5e-3, 2e-3]})
    options = {"measure": {"deadly": deadly}, "folder": tmp_path}
    data = run(case_a, over, workers=2, **options)
    assert data["completed"].values.tolist() == [0, 1]
    assert "process died" in str(data["stop_reason"].values[0])
    # The next call tries it again, and only it.
    assert run(case_a, over, **options)["completed"].values.all()
    assert len(runs) == 1


def test_progress_counts_points_and_failures(tmp_path, capsys):
    over = Grid({"mass": [1.0, -1.0]})
    run(drop(), over, progress=True, folder=tmp_path)
    assert "2/2" in (shown := capsys.readouterr().err)
    assert "1 failed" in shown


def test_each_process_has_one_thread(case_a):
    threads = {"threads": lambda result: float(os.environ["OMP_NUM_THREADS"])}
    process = {"process": lambda result: os.getpid()}
    data = run(case_a, Grid({"h": [1e-3, 2e-3]}), workers=2, measure=threads | process)
    assert np.all(data["threads"] == 1)
    assert os.getpid() not in data["process"].values


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: Grid({}), ["at least one"]),
        (lambda: Grid({"mass": []}), ["mass", "finite numbers"]),
        (lambda: Grid({"mass": [1, float("nan")]}), ["mass", "nan"]),
        (lambda: Grid({"mass": ["heavy"]}), ["mass", "heavy"]),
        (lambda: Grid({"mass": [[1, 2]]}), ["mass", "list"]),
        (lambda: Grid({"mass": [1, 1]}), ["mass", "once"]),
        (lambda: Grid({"h": [1e-3], "h_max": [1e-3]}), ["h_min and h_max"]),
        (lambda: Samples({"mass": [1, 2], "h": [1e-3]}), ["mass", "2", "h", "1"]),
        (lambda: run(drop(), Grid({"mas": [1]})), ["mas", "mass", "h_min"]),
        (lambda: run(drop(mass="h"), Grid({"h": [1]})), ["step size", "rename", "'h'"]),
        (lambda: run(drop(mass="steps"), Grid({"steps": [1]})), ["steps", "rename"]),
        (lambda: run(drop(mass="q"), Grid({"q": [1]})), ["q", "rename"]),
        (lambda: run(drop(), Grid({"mass": [1]}), duration=-1), ["duration", "-1"]),
        (lambda: run(drop(), Grid({"mass": [1]}), sovler=SQP), ["sovler", "solver"]),
        (lambda: run(drop(), Grid({"mass": [1]}), checkpoint=Checkpoint("x")), ["checkpoint"]),
        (lambda: run(drop(), {"mass": [1]}), ["Grid", "Samples", "dict"]),
        (lambda: run(drop(), Grid({"mass": [1]}), measure={"m": 3}), ["'m'", "function", "3"]),
        (lambda: run(drop(), Grid({"mass": [1]}), measure={"q": len}), ["'q'", "rename"]),
        (lambda: run(drop(), Grid({"mass": [1]}), measure={"steps": len}), ["'steps'", "rename"]),
        (lambda: run(drop(), Grid({"mass": [1]}), measure={"q/m": len}), ["'q/m'", "letters"]),
        (lambda: run("no_such", Grid({"mass": [1]})), ["no_such", "case_a"]),
    ],
)
def test_refusals_before_anything_runs(make, words, runs):
    with pytest.raises((ValueError, TypeError), match=".*".join(words)):
        make()
    assert not runs


def test_a_measure_may_not_bring_a_swept_dimension():
    data = run(
        drop(), Grid({"mass": [1.0]}), measure={"m": lambda r: xr.DataArray([1.0], dims="mass")}
    )
    assert "measure 'm' has a dimension 'mass'" in str(data["stop_reason"].values)


def test_a_measure_that_cannot_be_sent_to_other_processes_is_refused(runs):
    lock = threading.Lock()
    with pytest.raises(TypeError, match=r"cannot be sent there: .*lock.*make them within"):
        run(drop(), Grid({"mass": [1.0]}), measure={"m": lambda r: lock.locked()})
    assert not runs


def test_measures_of_other_shapes_without_labels_are_refused():
    measure = {"m": lambda r: r["gap"].values[:, 0]}
    with pytest.raises(ValueError, match="measure 'm' differs in shape"):
        run(drop(), Grid({"h": [1e-3, 2e-3]}), measure=measure)


def test_a_folder_that_cannot_be_written_is_told_before_anything_runs(tmp_path, runs):
    (tmp_path / "file").write_text("")
    with pytest.raises(OSError, match=r"cannot write .*file/sweep\.nc"):
        run(drop(), Grid({"mass": [1.0]}), folder=tmp_path / "file")
    assert not runs


def test_numbers_of_a_text():
    assert numbers("1e-4, 3e-4") == [1e-4, 3e-4]
    assert numbers("0:1:3,5") == [0, 0.5, 1, 5]
    assert numbers("log:1e-4:1e-2:3") == pytest.approx([1e-4, 1e-3, 1e-2], rel=1e-15)
    for wrong in ("", "a", "1,", "1:2", "1:2:3:4", "1:2:0", "1:2:1.5", "log:0:1:3", "log:1"):
        with pytest.raises(ValueError, match="FROM:TO:COUNT"):
            numbers(wrong)


def test_more_points_than_anyone_can_run_are_refused():
    assert len(numbers("0:1:1000000")) == 1_000_000
    with pytest.raises(ValueError, match="'1:2:999999999999' is too many numbers: give 1,000,000"):
        numbers("1:2:999999999999")
    many = np.arange(1001.0)
    with pytest.raises(ValueError, match="a grid of 1,002,001 points is too large"):
        Grid({"a": many, "b": many})


def call(*arguments, code=0):
    outcome = CliRunner().invoke(app, ["sweep", *map(str, arguments)])
    assert outcome.exit_code == code, outcome.output
    return outcome


SHORT_CALL = ["case_a", "--t-end", SHORT, "--scheme", "paper", "--solver", "sqp", "--workers", 1]


@pytest.mark.slow
def test_command(tmp_path, monkeypatch, case_a):
    monkeypatch.chdir(tmp_path)
    sets = ["--set", "clearance=1e-3,5e-4", "--set", "h=1e-3:2e-3:2"]
    outcome = call(*SHORT_CALL, *sets)
    data = xr.load_dataset("results/case_a_sweep/sweep.nc")
    assert same(
        data, run(case_a, Grid({"clearance": [1e-3, 5e-4], "h": [1e-3, 2e-3]}), title="case_a")
    )
    lines = outcome.stdout.splitlines()
    assert lines[0].split()[:3] == ["clearance", "h", "completed"]
    assert len(lines) == 1 + 4 + 1
    assert lines[-1].endswith("results/case_a_sweep/sweep.nc")
    failing = call(*SHORT_CALL, *sets, "--set", "clearance=1e-3,-1", "--out", "x", code=BAD_INPUT)
    assert "once" in failing.stderr
    failing = call(*SHORT_CALL, "--set", "clearance=1e-3,-1", "--out", "x", code=STOPPED_EARLY)
    assert "failed at clearance = -1: " in failing.stdout
    assert "error: 1 of 2 runs failed" in failing.stderr


@pytest.mark.slow
def test_a_sweep_of_other_points_is_not_replaced_unasked(tmp_path, monkeypatch, runs):
    monkeypatch.chdir(tmp_path)
    one = [*SHORT_CALL, "--out", "here", "--set"]
    call(*one, "h=1e-3")
    call(*one, "h=1e-3,2e-3")  # goes on with it
    assert len(runs) == 2
    for other in (["h=2e-3"], ["h=1e-3,2e-3", "--scheme", "variational"]):
        assert "--overwrite" in call(*one, *other, code=BAD_INPUT).stderr
    assert len(runs) == 2
    assert xr.load_dataset("here/sweep.nc").sizes["h"] == 2
    call(*one, "h=2e-3", "--overwrite")
    assert xr.load_dataset("here/sweep.nc").sizes["h"] == 1


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["nothing_here", "--set", "h=1e-3"], ["nothing_here", "case_a"]),
        (["case_a", "--set", "c=1e-3"], ["'c'", "clearance", "h_min"]),
        (["case_a", "--set", "clearance"], ["FROM:TO:COUNT"]),
        (["case_a", "--set", "clearance=small"], ["small", "FROM:TO:COUNT"]),
        (["case_a", "--set", "clearance=nan"], ["clearance", "nan"]),
        (["case_a", "--set", "h=1:2:999999999999"], ["too many", "1,000,000"]),
        (["case_a", "--set", "clearance=1e-3,1e-3"], ["clearance", "once"]),
        (["case_a", "--set", "h=1e-3", "--scheme", "euler"], ["euler", "paper"]),
        (["case_a", "--set", "h=1e-3", "--solver", "snopt"], ["snopt", "ipopt"]),
        (["case_a", "--set", "h=1e-3", "--t-end", "-1"], ["duration", "-1"]),
        (["case_a", "--set", "h=1e-3", "--out", "file"], ["cannot write", "file/sweep.nc"]),
    ],
)
def test_bad_input_is_one_line(tmp_path, monkeypatch, arguments, words):
    monkeypatch.chdir(tmp_path)
    Path("file").write_text("")
    errors = [x for x in call(*arguments, code=BAD_INPUT).stderr.splitlines() if "error: " in x]
    assert len(errors) == 1
    assert all(word in errors[0] for word in words), errors
    assert not list(tmp_path.rglob("*.nc"))
