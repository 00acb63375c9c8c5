"""Sweeps that go on: what is finished is not run twice, what is damaged or another is run."""

import os
import signal
import subprocess
import sys
import time
from dataclasses import replace
from functools import cache

import numpy as np
import pytest
import xarray as xr
from typer.testing import CliRunner

from nsopt import Grid, Samples, Solver, Sqp, StepBounds
from nsopt.cli import INTERRUPTED, app
from nsopt.sweep import numbers
from nsopt.sweep.store import digest, write
from tests.sweeps import count_runs, drop, run, same

runs = pytest.fixture(count_runs)


def points(folder):
    return sorted((folder / "points").iterdir())


@pytest.mark.slow
def test_finished_points_are_not_run_again(tmp_path, runs):
    over = Grid({"mass": [1.0, 2.0], "h": [1e-3, 2e-3]})
    first = run(drop(), over, folder=tmp_path)
    assert len(runs) == 4
    assert run(drop(), over, folder=tmp_path).identical(first)
    assert len(runs) == 4
    # A finer grid runs what is new; a fixed step is a fixed step, however it is said.
    finer = run(drop(), Grid({"mass": [1.0, 1.5, 2.0], "h": [1e-3, 2e-3]}), folder=tmp_path)
    assert len(runs) == 6
    assert finer.sel(mass=[1.0, 2.0]).drop_attrs().identical(first.drop_attrs())
    run(drop(), Samples({"h_min": [2e-3], "h_max": [2e-3]}), folder=tmp_path)
    assert len(runs) == 6


def flipped(content):
    """Change the last bit of a number, the end time."""
    place = content.index(np.array(0.02, ">f8").tobytes()) + 7
    return content[:place] + bytes([content[place] ^ 1]) + content[place + 1 :]


@pytest.mark.slow
@pytest.mark.parametrize(
    "damage",
    [
        lambda file: file.unlink(),
        lambda file: file.write_bytes(b""),
        lambda file: file.write_bytes(file.read_bytes()[:-500]),
        lambda file: file.write_text("no netCDF"),
        lambda file: file.write_bytes(flipped(file.read_bytes())),
        lambda file: file.write_bytes(points(file.parents[1])[-1].read_bytes()),
    ],
)
def test_damaged_points_are_run_again(tmp_path, runs, damage):
    over = Grid({"mass": [1.0, 2.0, 3.0]})
    first = run(drop(), over, folder=tmp_path)
    damage(points(tmp_path)[0])
    assert same(run(drop(), over, folder=tmp_path), first)
    assert len(runs) == 4
    run(drop(), over, folder=tmp_path)
    assert len(runs) == 4


@pytest.mark.slow
def test_other_models_and_options_do_not_mix(tmp_path, runs):
    over, one = Grid({"mass": [2.0]}), lambda result: 1.0
    options = {"folder": tmp_path, "measure": {"one": one}}
    run(drop(), over, **options)
    others = [
        (drop(height=0.04), over, options),
        (replace(drop(), duration=0.03), over, options),
        (replace(drop(), steps=StepBounds(1e-3, 1e-3)), over, options),
        (drop(), over, options | {"solver": Solver(backend=Sqp(max_iter=50))}),
        (drop(), over, options | {"measure": {"two": one}}),
        (drop(), over, options | {"measure": {"one": lambda result: 2.0}}),
    ]
    for k, (problem, at, changed) in enumerate(others):
        run(problem, at, **changed)
        assert len(runs) == 2 + k
    data = run(drop(), over, **options)
    assert len(runs) == 1 + len(others)
    assert data["one"] == 1


def test_another_version_runs_its_own(tmp_path, runs, monkeypatch):
    run(drop(), Grid({"mass": [2.0]}), folder=tmp_path)
    for name in ("name_versions", "hash_sources"):
        monkeypatch.setattr(sys.modules["nsopt.sweep.store"], name, lambda: "other")
        run(drop(), Grid({"mass": [2.0]}), folder=tmp_path)
    assert len(runs) == 3


def test_a_measure_is_known_by_what_it_closes_over():
    def scaled(factor, offset=0.0):
        return lambda result, offset=offset: factor * result["h"] + offset

    assert digest(scaled(2.0)) == digest(scaled(2.0))
    assert len({digest(scaled(*x)) for x in [(2.0,), (3.0,), (2.0, 1.0)]}) == 3
    assert digest(lambda r: r["q"]) != digest(lambda r: r["v"])

    def recursive(n):
        return recursive(n - 1) if n else 0

    assert digest(recursive) == digest(recursive)


@pytest.mark.slow
def test_digests_are_the_same_in_every_process():
    program = (
        "from nsopt import load_problem\nfrom nsopt.sweep.store import digest\n"
        "problem = load_problem('revolute_pendulum')\n"
        "print(digest(problem, lambda x: x in {'a', 'b', 'c'} and 'd'))"
    )
    digests = {
        subprocess.run(
            [sys.executable, "-c", program],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in "12"
    }
    assert len(digests) == 1
    assert len(digests.pop().strip()) == 24


def test_an_interrupt_leaves_what_is_finished(tmp_path, runs):
    def interrupted(result):
        if "3.0" in result.data.attrs["parameters"] and not calm.exists():
            raise KeyboardInterrupt
        return 1.0

    calm = tmp_path / "calm"
    over = Grid({"mass": [1.0, 2.0, 3.0, 4.0]})
    options = {"folder": tmp_path, "measure": {"x": interrupted}}
    with pytest.raises(KeyboardInterrupt):
        run(drop(), over, **options)
    assert len(points(tmp_path)) == 2
    assert not (tmp_path / "sweep.nc").exists()
    calm.touch()
    assert run(drop(), over, **options)["completed"].values.all()
    assert len(runs) == 3 + 2


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_an_interrupt_that_python_drops_is_heard(tmp_path):
    class Last:
        def __del__(self):
            signal.raise_signal(signal.SIGINT)  # to this thread, so that it is heard here

    def dropped(result):
        last = Last()
        del last
        return 1.0

    options = {"folder": tmp_path, "measure": {"x": dropped}}
    with pytest.raises(KeyboardInterrupt):
        run(drop(), Grid({"mass": [1.0, 2.0]}), **options)
    assert len(points(tmp_path)) == 1


def test_an_interrupt_while_the_whole_is_written_waits_for_the_file(tmp_path, monkeypatch):
    def interrupted(data, path):
        signal.raise_signal(signal.SIGINT)
        write(data, path)

    monkeypatch.setattr(sys.modules["nsopt.sweep.run"], "write", interrupted)
    with pytest.raises(KeyboardInterrupt):
        run(drop(), Grid({"mass": [1.0, 2.0]}), folder=tmp_path)
    with xr.open_dataset(tmp_path / "sweep.nc") as kept:
        assert kept["completed"].values.all()


# Python imports it before all else: processes that sweep hold on before their points, but for some.
HOLD = """
import os, time
from pathlib import Path
from nsopt.sweep.job import Job

def held(self, row):
    if row["clearance"] > 2e-4:
        Path("held", str(os.getpid())).touch()
        while True:
            time.sleep(0.01)
    return run(self, row)

run, Job.run = Job.run, held
"""


@cache
def never_killed():
    over = Grid({"h": [1e-3], "clearance": numbers("log:1e-4:1e-3:8")})
    return run("case_a", over, duration=0.005)


@pytest.mark.slow
@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGKILL])
def test_a_killed_sweep_goes_on(tmp_path, how):
    command = [sys.executable, "-m", "nsopt", "sweep", "case_a", "--t-end", "0.005"]
    command += [
        "--scheme",
        "paper",
        "--solver",
        "sqp",
        "--workers",
        "2",
        "--out",
        str(tmp_path / "killed"),
    ]
    command += ["--set", "h=1e-3", "--set", "clearance=log:1e-4:1e-3:8"]
    (tmp_path / "held").mkdir()
    (tmp_path / "sitecustomize.py").write_text(HOLD)
    process = subprocess.Popen(
        command,
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(tmp_path), *sys.path])},
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    while [len([*tmp_path.glob(x)]) for x in ("held/*", "killed/points/*.nc")] != [2, 3]:
        assert process.poll() is None
        time.sleep(0.05)
    if how != signal.SIGKILL:
        os.killpg(process.pid, how)  # as a terminal and a batch system do
        _, message = process.communicate(timeout=600)
        assert process.returncode == INTERRUPTED, message
        assert "interrupted; the same call goes on" in message
        for noise in ("Traceback", "Warning", "stopping after this step"):
            assert noise not in message
    else:
        process.kill()
        process.communicate(timeout=600)  # until the last of its processes has ended
    there = points(tmp_path / "killed")
    assert len(there) == 3
    before = [file.stat().st_mtime_ns for file in there]
    again = CliRunner().invoke(app, [*command[3:], "--workers", "1"])
    assert again.exit_code == 0, again.output
    assert [file.stat().st_mtime_ns for file in there] == before
    whole = never_killed()
    assert same(xr.load_dataset(tmp_path / "killed" / "sweep.nc"), whole)
    assert whole["completed"].values.all()
