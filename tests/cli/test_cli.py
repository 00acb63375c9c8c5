"""The command line, as a user calls it."""

import importlib
import os
import re
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

import nsopt
from nsopt import Result
from nsopt.cli import INTERRUPTED, STOPPED_EARLY
from nsopt.cli.look import PICTURES, SWEEP_PICTURES
from nsopt.interrupt import forget
from nsopt.plots import FIGURES, overview, save
from nsopt.problem import problem_files, problem_folder
from nsopt.simulation.driver import Driver
from tests.cli.commands import DROP, call, complaint

README = Path(__file__).parents[2] / "README.md"


def test_list_names_every_problem():
    output = call("list").output
    assert all(name in output for name in problem_files())


def test_version_is_told():
    assert call("--version").output == f"nsopt {nsopt.__version__}\n"


@pytest.mark.slow
def test_run_saves_result_and_picture(dropped):
    result = Result.open("results/drop.nc")
    assert result.completed
    save(overview(result), "again.png")
    pictures = [np.asarray(Image.open(file)) for file in ("results/drop.png", "again.png")]
    assert np.array_equal(*pictures)
    # It falls 5 cm in 0.101 s and then lies still.
    assert result["q"].values[-1] == pytest.approx([0, 0, 0], abs=1e-12)


@pytest.mark.slow
def test_run_options_reach_the_run(folder):
    call("run", "drop.py", "--t-end", 0.05, "--h-min", 1e-3, "--h-max", 1e-3, "--scheme", "paper",
         "--set", "mass=2", "--out", "a/b.nc")  # fmt: skip
    data = Result.open("a/b.nc").data
    assert data["time"].values[-1] == 0.05
    assert np.allclose(data["h"].values[1:], 1e-3, rtol=1e-9)
    assert data["kinetic_energy"].values[-1] == pytest.approx((9.81 * 0.05) ** 2, rel=1e-9)


@pytest.mark.slow
def test_plot_and_info(dropped):
    shutil.copy("results/drop.nc", "again.nc")
    call("plot", "results/drop.nc", "again.nc", "--what", "energies", "--out", "both.svg")
    assert "<!-- again, " in Path("both.svg").read_text()  # of one title, told apart
    part = ("--from", "0.02", "--to", "0.04")
    call("plot", "results/drop.nc", "--what", "gaps", *part, "--out", "part.png")
    assert Path("part.png").is_file()
    assert "from 5 to" in complaint("plot", "results/drop.nc", "--from", "5")
    slow = ("--speed", 0.5, "--fps", 5)
    call("plot", "results/drop.nc", "--what", "animation", "--out", "drop.gif", *slow)
    with Image.open("drop.gif") as film:
        assert film.n_frames == 1 + 0.2 * 5 / 0.5
    assert "of animation" in complaint("plot", "results/drop.nc", "--speed", 2)
    assert "no joint with a bore" in complaint(
        "plot", "results/drop.nc", "--what", "animation", "--magnify", 9
    )
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
        (["drop.py", "--scheme", "runge-kutta", "--impact", "poisson"], ["--impact", "paper"]),
        (["drop.py", "--scheme", "variational", "--impact", "glocker"], ["glocker", "poisson"]),
        (["drop.py", "--solver", "snopt"], ["snopt", "ipopt"]),
        (["drop.py", "--out", "drop.py/x.nc"], ["drop.py"]),
        (["drop.py", "--out", "."], ["folder"]),
        (["drop.py", "--resume"], ["no checkpoint", "drop.checkpoint"]),
        (["drop.py", "--scheme", "paper", "--tolerance", "1e-6"], ["--tolerance", "variational"]),
        (["drop.py", "--scheme", "variational", "--tolerance", "-1"], ["tolerance", "positive"]),
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
        (
            DROP.replace("HEIGHT", "1") + "import sys\nsys.exit(0)",
            ["mine.py, line 8", "sys.exit(0)", "__main__"],
        ),
        (DROP.replace("problem =", "other =").replace("HEIGHT", "1"), ["problem = Problem"]),
    ],
)
def test_faults_of_a_users_file_name_it(folder, text, words):
    Path("mine.py").write_text(text)
    line = complaint("run", "mine.py")
    assert all(word in line for word in words), line


def test_unwritable_output_is_told_before_the_run(folder, monkeypatch):
    if os.geteuid() == 0:
        target = Path("/proc/result.nc")  # not even root writes there
    else:
        Path("locked").mkdir(mode=0o500)
        target = Path("locked/result.nc")
    monkeypatch.setattr(
        importlib.import_module("nsopt.cli.run"), "simulate", None
    )  # to run would be another error
    assert str(target) in complaint("run", "case_a", "--out", target)


def test_bad_results_are_refused(dropped):
    Path("text.nc").write_text("no netCDF")
    assert "text.nc" in complaint("info", "text.nc")
    assert "missing.nc" in complaint("plot", "missing.nc")
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


@pytest.mark.slow
@pytest.mark.parametrize("law", ["poisson", "energetic"])
def test_a_law_of_impact_is_chosen_by_name(folder, law):
    call("run", "drop.py", "--scheme", "moreau-jean", "--impact", law, "--t-end", 0.01)
    assert f"{law.capitalize()}Impact" in Result.open("results/drop.nc").data.attrs["scheme"]


SPINNING = '''"""A body that turns about z."""
from nsopt import *
body = Body("body", 1.0, (1.0, 1.0, 1.0), angular_velocity=(0.0, 0.0, 10.0))
problem = Problem(assemble(Mechanism([body])), duration=0.05, steps=StepBounds(1e-2, 1e-2))
'''


@pytest.mark.slow
@pytest.mark.parametrize("scheme", ["paper-unnormalised", "paper-printed"])
def test_printed_forms_of_the_paper_step_are_chosen_by_name(folder, scheme):
    """Eq. 23 as printed leaves p.p - 1 = (h |pdot|)^2, that is (h w / 2)^2, unless renormalised."""
    Path("spin.py").write_text(SPINNING)
    call("run", "spin.py", "--scheme", scheme, "--solver", "sqp")
    result = Result.open("results/spin.nc")
    p = result["q"].values[1:, 3:]
    assert np.sum(p**2, axis=1) - 1 == pytest.approx((1e-2 * 10 / 2) ** 2, rel=1e-2)
    assert ("LinearisedClosure" in result.data.attrs["scheme"]) == (scheme == "paper-printed")


@pytest.mark.slow
def test_steps_of_the_paper_of_a_given_size_are_chosen_by_name(folder):
    """They are compiled, and take a control of h."""
    Path("spin.py").write_text(SPINNING)
    call("run", "spin.py", "--scheme", "paper-given-h", "--tolerance", 1e-3)
    result = Result.open("results/spin.nc")
    assert "Compiled" in result.data.attrs["solver"]
    assert "finds_h=False" in result.data.attrs["scheme"]
    assert "ErrorControl(tolerance=0.001" in result.data.attrs["step_control"]


@pytest.mark.slow
def test_a_run_that_cannot_go_on_keeps_what_it_has(folder):
    """A ball is driven down at 1 m/s from 5 cm: after 0.05 s the floor is in the way."""
    Path("driven.py").write_text(DRIVEN)
    words = ("--solver", "sqp", "--scheme", "paper")
    outcome = call("run", "driven.py", *words, code=STOPPED_EARLY)
    result = Result.open("results/driven.nc")
    assert not result.completed
    assert result["time"].values[-1] == pytest.approx(0.05, abs=1.1e-3)
    assert result["q"].values[-1, 2] >= -1e-10
    assert "STOPPED EARLY" in outcome.output
    error, where = outcome.stderr[outcome.stderr.index("error:") :].splitlines()
    for word in ("t = 0.0", "'drive' off by"):
        assert word in error
    assert where == "each attempt: nsopt info results/driven.nc"
    told = call(*where.split()[3:]).output.partition("why it ended")[2]
    assert told.count("'drive' off by") > 3
    assert "--resume" not in outcome.stderr  # it would stop there again


LONG = ["run", "case_a", "--scheme", "variational", "--solver", "compiled", "--t-end", "0.5",
        "--h-min", "5e-7", "--h-max", "5e-7", "--store-every", "1000",
        "--no-check"]  # fmt: skip
"""Seconds of steps, so that Ctrl-C falls within them.

Without errors: in which steps it is repeated depends on how long that takes.
"""


# Killed as soon as a checkpoint is written.
KILLED = """
import os, signal
from nsopt.cli import app
from nsopt.simulation.checkpoint import CheckpointWriter

def killing(*args):
    write(*args)
    os.kill(os.getpid(), signal.SIGKILL)

write, CheckpointWriter.write = CheckpointWriter.write, killing
app()
"""


def begin(*arguments):
    command = [sys.executable, "-m", "nsopt", *map(str, arguments)]
    return subprocess.Popen(command, stderr=subprocess.PIPE, stdout=subprocess.PIPE)


def interrupted(process):
    """Press Ctrl-C in a run that steps; return the message then."""
    shown = b""
    while b"steps/s" not in shown:
        assert process.poll() is None, shown
        shown += process.stderr.read(64)
    process.send_signal(signal.SIGINT)
    message = process.communicate(timeout=600)[1]
    assert process.returncode == INTERRUPTED, message
    return message


@pytest.mark.slow
def test_stopped_and_killed_runs_go_on(folder):
    """By Ctrl-C, then from there with kill -9, then from there to the end."""
    keep = Path("results/case_a.checkpoint")
    message = interrupted(begin(*LONG))
    assert b"error: interrupted at t = 0." in message
    assert b"--resume goes on from results/case_a.checkpoint" in message
    killed = [sys.executable, "-c", KILLED, *LONG, "--resume", "--checkpoint-every", "1e-9"]
    assert subprocess.run(killed, check=False).returncode == -signal.SIGKILL
    assert not Result.open("results/case_a.nc").completed
    assert "scheme was Variational, is PaperStep" in complaint(
        "run", "case_a", "--scheme", "paper", "--resume"
    )
    assert keep.is_dir()
    call(*LONG, "--resume", "--checkpoint-every", 0)
    assert not keep.exists()
    call(*LONG, "--out", "whole.nc")
    resumed, whole = (Result.open(name).data for name in ("results/case_a.nc", "whole.nc"))
    assert resumed.attrs["steps"] == 1_000_000
    for name in set(whole.variables) - {"solve_time"}:
        assert np.array_equal(resumed[name].values, whole[name].values, equal_nan=name != "contact"
                              and resumed[name].dtype.kind == "f"), name  # fmt: skip


@pytest.mark.slow
def test_a_result_is_not_replaced_unasked(dropped, monkeypatch):
    before = Path("results/drop.nc").read_bytes()
    with monkeypatch.context() as patch:
        patch.delattr(importlib.import_module("nsopt.cli.run"), "simulate")  # nothing is solved
        for out in ([], ["--out", "results/drop.nc"]):
            line = complaint("run", "drop.py", "--solver", "sqp", *out)
            assert all(word in line for word in ("'results/drop.nc'", "--out", "--overwrite"))
            assert "--resume" not in line
    assert Path("results/drop.nc").read_bytes() == before
    done = call("run", "drop.py", "--solver", "sqp", "--t-end", 0.01, "--overwrite")
    assert "results/drop.nc" in done.output
    assert Result.open("results/drop.nc")["time"].values[-1] == 0.01
    assert not list(Path("results").glob("*.lock"))


@pytest.mark.slow
def test_a_stopped_run_goes_on_without_being_asked_to_overwrite(folder, monkeypatch):
    """From a result that is there, to which the refusal of a new run points."""
    words = ["run", "drop.py", "--scheme", "paper", "--solver", "sqp"]
    advance, calls = Driver.advance, []

    def pressed(driver):
        calls.append(driver)
        if len(calls) == 3:
            signal.raise_signal(signal.SIGINT)
        return advance(driver)

    with monkeypatch.context() as patch:
        patch.setattr(Driver, "advance", pressed)
        call(*words, code=INTERRUPTED)
    forget()  # what follows is another command
    assert not Result.open("results/drop.nc").completed
    assert "--resume" in complaint(*words)
    call(*words, "--resume")
    assert Result.open("results/drop.nc").completed


def test_an_optimum_is_not_replaced_unasked(folder):
    Path("results").mkdir()
    Path("results/double_integrator.nc").touch()
    line = complaint("optimize", "double_integrator")
    assert all(word in line for word in ("results/double_integrator.nc", "--overwrite"))
    assert not Path("results/double_integrator.nc").read_bytes()


@pytest.mark.slow
def test_an_unfinished_run_is_told_of(folder):
    keep = Path("results/drop.checkpoint")
    keep.mkdir(parents=True)
    (keep / "head.h5").touch()
    outcome = call("run", "drop.py", "--solver", "sqp")
    assert "note: results/drop.checkpoint holds an unfinished run" in outcome.stderr
    assert (keep / "head.h5").exists()  # too short a run to write one
    assert "is damaged" in complaint("run", "drop.py", "--solver", "sqp", "--resume")


@pytest.mark.slow
def test_tolerance_and_store_every_reach_the_run(folder):
    call("run", "drop.py", "--scheme", "variational", "--solver", "sqp", "--tolerance", 1e-4,
         "--store-every", 3)  # fmt: skip
    data = Result.open("results/drop.nc").data
    assert data.attrs["step_control"].startswith("ErrorControl(tolerance=0.0001")
    assert data.attrs["store_every"] == 3
    assert data.sizes["time"] == 1 + -(-data.attrs["steps"] // 3)


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


def test_the_pictures_of_the_command_line_are_those_there_are():
    assert tuple(FIGURES) == PICTURES


def test_the_page_of_pictures_has_them_all():
    page = (README.parent / "docs" / "pictures.md").read_text()
    for name in (*PICTURES, *SWEEP_PICTURES, "animation"):
        assert name in page, name
    chosen = re.findall(r"--what (\w+)", page)
    assert set(chosen) - {"PICTURE"} <= {*PICTURES, *SWEEP_PICTURES, "animation"}


def test_commands_that_draw_nothing_import_nothing_for_it():
    """Importing is most of the time of ``nsopt info``."""
    slow = {"matplotlib", "scipy.interpolate", "scipy.optimize", "scipy.sparse"}
    words = [
        sys.executable,
        "-P",
        "-c",
        f"import sys, nsopt.cli.look; print({slow} & {{*sys.modules}})",
    ]
    done = subprocess.run(words, check=True, capture_output=True, text=True)
    assert done.stdout.strip() == "set()", done.stdout
