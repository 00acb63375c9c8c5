"""The command line, as a user calls it."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from nsopt import Result
from nsopt.cli import BAD_INPUT, INTERRUPTED, STOPPED_EARLY, app
from nsopt.problem import problem_files, problem_folder

README = Path(__file__).parents[1] / "README.md"
DROP = '''"""A ball dropped on a plane."""
from nsopt import *
ball = Body("ball", mass=Parameter("mass", 1.0), position=(0, 0, HEIGHT), point_mass=True)
ground = PlaneContact("ground", Frame(GROUND), Frame(ball))
dynamics = assemble(Mechanism([ball]), [ground], gravity=(0, 0, -9.81))
problem = Problem(dynamics, duration=0.2, steps=StepBounds(1e-3, 1e-2))
'''


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "drop.py").write_text(DROP.replace("HEIGHT", "0.05"))
    return tmp_path


def call(*arguments, code=0):
    outcome = CliRunner().invoke(app, [str(a) for a in arguments])
    assert outcome.exit_code == code, outcome.output
    return outcome


def complaint(*arguments):
    """Return the one line that a bad call prints."""
    lines = [x for x in call(*arguments, code=BAD_INPUT).stderr.splitlines() if "error: " in x]
    assert len(lines) == 1
    return lines[0]


def test_list_names_every_problem():
    output = call("list").output
    assert all(name in output for name in problem_files())


def test_run_saves_result_and_picture(folder):
    output = call("run", "drop.py", "--solver", "sqp").output
    result = Result.open("results/drop.nc")
    assert result.completed
    assert Path("results/drop.png").stat().st_size > 10_000
    # It falls 5 cm in 0.101 s and then lies still.
    assert result["q"].values[-1] == pytest.approx([0, 0, 0], abs=1e-12)
    assert "complete" in output
    assert "results/drop.nc" in output


def test_run_options_reach_the_run(folder):
    call("run", "drop.py", "--t-end", 0.05, "--h-min", 1e-3, "--h-max", 1e-3, "--scheme", "paper",
         "--set", "mass=2", "--out", "a/b.nc")  # fmt: skip
    data = Result.open("a/b.nc").data
    assert data["time"].values[-1] == 0.05
    assert np.allclose(data["h"].values[1:], 1e-3, rtol=1e-9)
    assert data["kinetic_energy"].values[-1] == pytest.approx((9.81 * 0.05) ** 2, rel=1e-9)


def test_plot_and_info(folder):
    call("run", "drop.py", "--solver", "sqp")
    for what in ("energies", "step_size"):
        call("plot", "results/drop.nc", "results/drop.nc", "--what", what, "--out", f"{what}.png")
        assert Path(f"{what}.png").is_file()
    call("plot", "results/drop.nc", "--what", "animation", "--out", "drop.gif")
    assert Path("drop.gif").is_file()
    output = call("info", "results/drop.nc").output
    assert "contact_force" in output
    assert "'mass': 1.0" in output


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["nothing_here"], ["nothing_here", "case_a"]),
        (["drop.py", "--set", "mas=2"], ["mas", "mass"]),
        (["drop.py", "--set", "mass=-1"], ["ball", "-1"]),
        (["drop.py", "--set", "mass=nan"], ["mass", "nan"]),
        (["drop.py", "--set", "mass"], ["NAME=NUMBER"]),
        (["drop.py", "--h-min", "0"], ["h_min", "0"]),
        (["drop.py", "--h-min", "nan"], ["h_min", "nan"]),
        (["drop.py", "--h-min", "0.1"], ["h_min", "h_max", "0.1"]),
        (["drop.py", "--t-end", "-1"], ["duration", "-1"]),
        (["drop.py", "--scheme", "euler"], ["euler", "paper"]),
        (["drop.py", "--solver", "snopt"], ["snopt", "ipopt"]),
        (["drop.py", "--out", "drop.py/x.nc"], ["drop.py"]),
        (["drop.py", "--out", "."], ["folder"]),
    ],
)
def test_bad_input_is_one_line_and_runs_nothing(folder, arguments, words):
    line = complaint("run", *arguments)
    assert all(word in line for word in words), line
    assert not list(folder.rglob("*.nc"))


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (DROP.replace("HEIGHT", "-0.05"), ["ground", "0.05"]),
        (DROP.replace("HEIGHT", "float('nan')"), ["ball", "position"]),
        (DROP.replace("HEIGHT", "height"), ["mine.py, line 3", "height"]),
        (DROP.replace("HEIGHT", "0,,"), ["mine.py, line 3"]),
        (DROP.replace("problem =", "other =").replace("HEIGHT", "1"), ["problem = Problem"]),
    ],
)
def test_faults_of_a_users_file_name_it(folder, text, words):
    Path("mine.py").write_text(text)
    line = complaint("run", "mine.py")
    assert all(word in line for word in words), line


def test_unwritable_output_is_told_before_the_run(folder):
    if os.geteuid() == 0:
        target = Path("/proc/result.nc")  # not even root writes there
    else:
        Path("locked").mkdir(mode=0o500)
        target = Path("locked/result.nc")
    started = time.perf_counter()
    assert str(target) in complaint("run", "case_a", "--out", target)
    assert time.perf_counter() - started < 5


def test_bad_results_are_refused(folder):
    Path("text.nc").write_text("no netCDF")
    assert "text.nc" in complaint("info", "text.nc")
    assert "missing.nc" in complaint("plot", "missing.nc")
    call("run", "drop.py", "--solver", "sqp")
    line = complaint("plot", "results/drop.nc", "--what", "sound")
    assert "sound" in line
    assert "energies" in line


DRIVEN = """
from nsopt import *
from nsopt.mechanics import Constraint, Pair

class Driven(Pair, Constraint):
    def residual(self, s):
        return s.motion(self.b).r[2] - (0.05 - s.t)

ball = Body("ball", mass=1.0, position=(0, 0, 0.05), velocity=(0, 0, -1), point_mass=True)
drive = Driven("drive", Frame(GROUND), Frame(ball))
floor = PlaneContact("floor", Frame(GROUND), Frame(ball))
dynamics = assemble(Mechanism([ball], [drive]), [floor])
problem = Problem(dynamics, duration=0.2, steps=StepBounds(1e-3, 1e-3))
"""


def test_a_run_that_cannot_go_on_keeps_what_it_has(folder):
    """A ball is driven down at 1 m/s from 5 cm: after 0.05 s the floor is in the way."""
    Path("driven.py").write_text(DRIVEN)
    outcome = call("run", "driven.py", "--solver", "sqp", code=STOPPED_EARLY)
    result = Result.open("results/driven.nc")
    assert not result.completed
    assert result["time"].values[-1] == pytest.approx(0.05, abs=1.1e-3)
    assert result["q"].values[-1, 2] >= -1e-10
    assert "STOPPED EARLY" in outcome.output
    for word in ("t = 0.0", "drive", "cold restart", "other backend", "h down to"):
        assert word in outcome.stderr


def test_interrupt_keeps_what_was_computed(folder):
    command = [sys.executable, "-m", "nsopt", "run", "case_a", "--h-min", "1e-5", "--h-max", "1e-5"]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, stdout=subprocess.PIPE)
    shown = b""
    while b"steps/s" not in shown:
        shown += process.stderr.read(64)
    process.send_signal(signal.SIGINT)
    _, rest = process.communicate(timeout=60)
    assert process.returncode == INTERRUPTED, rest
    assert b"interrupted" in rest
    result = Result.open("results/case_a.nc")
    assert not result.completed
    assert 0 < result["time"].values[-1] < 2


def test_readme_door_runs(folder):
    text = README.read_text().split("```python\n")[1].split("```")[0]
    assert len(text.splitlines()) <= 30
    Path("door.py").write_text(text)
    call("run", "door.py", "--t-end", 0.1, "--solver", "sqp")
    assert Result.open("results/door.nc").completed


def test_named_problems_have_a_readme():
    for file in problem_files().values():
        text = (file.parent / "README.md").read_text()
        assert "Must show" in text
        assert problem_folder() in file.parents
