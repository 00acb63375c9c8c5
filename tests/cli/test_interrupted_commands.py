"""Commands that Ctrl-C or SIGTERM ends: what they have is saved, and no process is left."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from nsopt import Result
from nsopt.cli import INTERRUPTED
from nsopt.problem import load_optimization

SIGNALS = [signal.SIGINT, signal.SIGTERM]

# Python imports what follows before all else; it holds on where the test wants it, until a signal.
HOLD = """
import ctypes, os, sys, time
from pathlib import Path

def hold():
    Path("held").touch()
    while True:
        time.sleep(0.01)

"""
IMPORTING = """
class Held:
    def find_spec(self, name, path=None, target=None):
        if name == "casadi":
            hold()

sys.meta_path.insert(0, Held())
"""
OPTIMIZING = """
from nsopt.interrupt import is_interrupted
from nsopt.mpcc.backends.ipopt import InterruptCallback

def held(self, *arguments):
    global calls
    calls += 1
    if calls == 3:
        Path("held").touch()
        while not is_interrupted():
            time.sleep(0.01)
    return ask(self, *arguments)

calls, ask, InterruptCallback.eval_buffer = 0, InterruptCallback.eval_buffer, held
"""
VIEWING = """
import nsopt.plots.scenes.browser
nsopt.plots.scenes.browser.page = lambda *_: exec("hold()", globals())  # as dataclasses are made
"""
SAVING = """
from nsopt import Result
from nsopt.interrupt import is_interrupted

def held(self, path):
    Path("held").touch()
    while not is_interrupted():
        time.sleep(0.01)
    return save(self, path)

save, Result.save = Result.save, held
"""


def begin(folder, program, *arguments, call=("-m", "nsopt"), **environment):
    (folder / "sitecustomize.py").write_text(HOLD + program)
    path = os.pathsep.join([str(folder), *sys.path])
    return subprocess.Popen(
        [sys.executable, *call, *arguments],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": path, **environment},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def wait_for(file, process):
    while not file.exists():
        assert process.poll() is None, process.communicate()
        time.sleep(0.01)


def ended(process, folder, number):
    """Send a signal where the process holds; return what it says then."""
    wait_for(folder / "held", process)
    process.send_signal(number)
    output, message = process.communicate()
    assert process.returncode == INTERRUPTED, message
    assert "Traceback" not in message
    return output, message


SCRIPT = "import sys; sys.argv[0] = '/usr/bin/nsopt'; from nsopt.cli import app; app()"


@pytest.mark.parametrize("number", SIGNALS)
@pytest.mark.parametrize("call", [("-m", "nsopt"), ("-c", SCRIPT)], ids=["module", "script"])
def test_imports_end_quietly(tmp_path, call, number):
    process = begin(tmp_path, IMPORTING, "list", call=call)
    assert ended(process, tmp_path, number) == ("", "error: interrupted\n")


def test_a_command_in_the_background_of_a_script_hears_it(tmp_path):
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)  # which its children inherit
    try:
        process = begin(tmp_path, IMPORTING, "list")
        assert ended(process, tmp_path, signal.SIGINT) == ("", "error: interrupted\n")
    finally:
        signal.signal(signal.SIGINT, before)


@pytest.mark.slow
def test_an_interrupted_optimize_saves_its_motion(tmp_path):
    process = begin(tmp_path, OPTIMIZING, "optimize", "brachistochrone", "--steps", "20")
    output, message = ended(process, tmp_path, signal.SIGTERM)
    result = Result.open(tmp_path / "results" / "brachistochrone.nc")
    assert result.interrupted
    assert not result.completed
    assert "results/brachistochrone.png" in output
    assert message.endswith(f"error: {result.stop_reason}\n")


@pytest.mark.slow
def test_what_is_complete_is_saved(tmp_path):
    process = begin(tmp_path, SAVING, "optimize", "double_integrator")
    _, message = ended(process, tmp_path, signal.SIGINT)
    assert message.endswith("error: interrupted\n")
    assert Result.open(tmp_path / "results" / "double_integrator.nc").completed


@pytest.mark.slow
def test_an_interrupted_view_leaves_the_page_there_was(tmp_path):
    load_optimization("double_integrator").solve().save(tmp_path / "cart.nc")
    (tmp_path / "cart.html").write_text("earlier")
    process = begin(tmp_path, VIEWING, "view", "cart.nc")
    assert ended(process, tmp_path, signal.SIGINT) == ("", "error: interrupted\n")
    assert (tmp_path / "cart.html").read_text() == "earlier"
    assert not list(tmp_path.glob("*partial*"))


COMPILER = """#!/bin/sh
if [ "$1" = --version ]; then echo slow 1; exit; fi
sleep 1000 &
echo $! > {folder}/child$$
mv {folder}/child$$ {folder}/held
wait
"""


def gone(pid):
    """Wait until a process has ended."""
    while True:
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            return
        state = Path(f"/proc/{pid}/stat")
        if state.exists() and state.read_text().rpartition(")")[2].split()[0] == "Z":
            return
        time.sleep(0.01)


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL, signal.SIGINT])
def test_no_compiler_is_left(tmp_path, number):
    """Of the linear solver, before the first iteration over many steps."""
    compiler = tmp_path / "slow"
    compiler.write_text(COMPILER.format(folder=tmp_path))
    compiler.chmod(0o755)
    process = begin(
        tmp_path, "", "optimize", "double_integrator", "--steps", "100",
        CC=str(compiler), NSOPT_CACHE=str(tmp_path / "cache"),
    )  # fmt: skip
    wait_for(tmp_path / "held", process)
    process.send_signal(number)
    _, message = process.communicate()
    assert process.returncode == (INTERRUPTED if number in SIGNALS else -number)
    assert message.endswith("error: interrupted\n") == (number in SIGNALS)
    gone(int((tmp_path / "held").read_text()))
