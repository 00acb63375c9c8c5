"""One process at a time writes a file: the second is told before it computes anything."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from nsopt.claim import ClaimedError, claim_file

REMEDY = "wait"

# Holds a file until its standard input ends.
HOLDER = """
import sys
from pathlib import Path
from nsopt.claim import claim_file
with claim_file(Path(sys.argv[1]), "wait"):
    print("held", flush=True)
    sys.stdin.read()
"""


@pytest.fixture
def holder(tmp_path):
    """Another process that holds x.nc."""
    command = [sys.executable, "-c", HOLDER, str(tmp_path / "x.nc")]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True) as process:
        assert process.stdout.readline() == "held\n"
        yield process
        process.kill()


@pytest.mark.slow
def test_another_process_is_told_who_holds_a_file(tmp_path, holder):
    path = tmp_path / "x.nc"
    told = rf"x\.nc' is being written by process {holder.pid} on .*: wait"
    with pytest.raises(ClaimedError, match=told), claim_file(path, REMEDY):
        pass
    with claim_file(tmp_path / "y.nc", REMEDY):  # another file
        pass
    holder.communicate("")
    with claim_file(path, REMEDY):
        pass
    assert list(tmp_path.iterdir()) == []


@pytest.mark.slow
def test_what_a_killed_process_held_is_free(tmp_path, holder):
    holder.kill()
    holder.wait()
    assert [x.name for x in tmp_path.iterdir()] == ["x.nc.lock"]
    with claim_file(tmp_path / "x.nc", REMEDY):
        pass
    assert list(tmp_path.iterdir()) == []


def test_it_is_held_once_in_a_process(tmp_path):
    path = tmp_path / "x.nc"
    with (
        claim_file(path, REMEDY),
        pytest.raises(ClaimedError, match="process"),
        claim_file(path, REMEDY),
    ):
        pass
    with pytest.raises(ZeroDivisionError), claim_file(path, REMEDY):
        raise ZeroDivisionError
    with claim_file(path, REMEDY):
        pass


@pytest.mark.unit
@pytest.mark.parametrize("plant", [Path.symlink_to, Path.hardlink_to, "copy"])
def test_a_lock_file_that_leads_elsewhere_is_refused(tmp_path, plant):
    """Who may write to the folder could have the user overwrite a file of their own (CWE-59)."""
    thesis, lock = tmp_path / "thesis.txt", tmp_path / "x.nc.lock"
    thesis.write_text("my thesis")
    lock.write_text("my thesis") if plant == "copy" else plant(lock, thesis)
    with pytest.raises(OSError, match=r"x\.nc\.lock.* is .*: delete it, or name another place"):
        claim_file(tmp_path / "x.nc", REMEDY).__enter__()
    assert thesis.read_text() == lock.read_text() == "my thesis"


# Two runs at once, some times over: the one that simulates waits until the other has ended.
PAIRS = """
import importlib, json, multiprocessing, os, sys
import multiprocessing.connection
from pathlib import Path
from nsopt import Result, plots
from nsopt.cli import app

context = multiprocessing.get_context("fork")
module = importlib.import_module("nsopt.cli.run")
simulate = module.simulate

def run(k, i, both, ended):
    def simulated(*args, **options):
        assert ended.wait(60)
        return simulate(*args, **options)

    module.simulate = simulated
    plots.save = lambda *_: None  # pictures take longest
    sys.stdout = open(os.devnull, "w")
    sys.stderr = open(f"{k}.{i}.txt", "w")
    both.wait()
    app(["run", "drop.py", "--solver", "sqp", "--out", f"{k}.nc"])

for k in range(2):
    both, ended = context.Barrier(2), context.Event()
    pair = [context.Process(target=run, args=(k, i, both, ended)) for i in range(2)]
    for process in pair:
        process.start()
    multiprocessing.connection.wait([process.sentinel for process in pair])
    ended.set()
    for process in pair:
        process.join()
    told = [Path(f"{k}.{i}.txt").read_text() for i in range(2)]
    codes = [process.exitcode for process in pair]
    print(json.dumps([codes, told, Result.open(f"{k}.nc").completed]))
"""


@pytest.mark.slow
def test_pairs_of_runs_on_one_output(tmp_path):
    (tmp_path / "drop.py").write_text(
        "from nsopt import *\n"
        "ball = Body('ball', 1.0, position=(0, 0, 0.05), point_mass=True)\n"
        "dynamics = assemble(Mechanism([ball]), gravity=(0, 0, -9.81))\n"
        "problem = Problem(dynamics, duration=0.02, steps=StepBounds(1e-3, 1e-2))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", PAIRS], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    pairs = [json.loads(line) for line in done.stdout.splitlines()]
    assert len(pairs) == 2
    for codes, told, completed in pairs:
        assert sorted(codes) == [0, 2]
        (line,) = told[codes.index(2)].splitlines()
        assert line.startswith("error: ")
        assert "is being written by" in line
        assert "error" not in told[codes.index(0)]
        assert completed
    kinds = sorted(x.name.partition(".")[2] for x in tmp_path.iterdir() if x.is_file())
    assert kinds == ["0.txt"] * 2 + ["1.txt"] * 2 + ["nc"] * 2 + ["py"]
