"""Ctrl-C and SIGTERM: what was computed is kept, and nothing runs on."""

import json
import os
import signal
import subprocess
import sys
import time
from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest

from nsopt import Ipopt, Result, Solver, Sqp, simulate
from nsopt.cli import INTERRUPTED
from nsopt.interrupt import (
    deferred_interrupt,
    forget,
    interrupted,
    interruptible,
    uninterrupted,
)
from nsopt.mpcc.filter_sqp import _Run
from nsopt.mpcc.interrupt_callback import InterruptCallback
from nsopt.problem import load_optimization, load_problem
from nsopt.simulation.driver import Driver
from nsopt.trajectory import Earlier, multi_start
from nsopt.trajectory.refine import ObjectiveChange, refine

OPTIMIZE = sys.modules["nsopt.trajectory.optimize"]
SIGNALS = [signal.SIGINT, signal.SIGTERM]


@pytest.fixture(autouse=True)
def to_go_on():
    """Go on after a test in which SIGTERM came."""
    yield
    forget()


def press(number=signal.SIGINT):
    signal.raise_signal(number)  # to this thread, so that it is heard here


@pytest.mark.unit
@pytest.mark.parametrize("number", SIGNALS)
def test_the_innermost_scope_decides(number):
    before = signal.getsignal(number)
    with uninterrupted() as asked:
        assert not asked()
        with deferred_interrupt():
            press(number)
            with pytest.raises(KeyboardInterrupt):
                press(number)
        press(number)
        press(number)
        with pytest.raises(KeyboardInterrupt), interruptible():  # pressed before
            raise AssertionError
        assert interrupted()
    assert interrupted() == (number == signal.SIGTERM)
    forget()
    with pytest.raises(KeyboardInterrupt), interruptible():
        press(number)
    assert interrupted() == (number == signal.SIGTERM)
    assert signal.getsignal(number) is before


def test_a_process_that_is_told_to_end_begins_no_other_run(monkeypatch):
    """Of a script with a loop, as of one without."""
    problem = load_problem("case_a")
    calls = pressing_at(monkeypatch, Driver, "advance", 3, signal.SIGTERM)

    def run():
        return simulate(problem.dynamics, duration=0.1, steps=problem.steps, progress=False)

    result = run()
    assert result.interrupted
    assert len(calls) == 3
    assert 0 < result["time"][-1] < 0.1
    with pytest.raises(KeyboardInterrupt):
        run()
    assert len(calls) == 3
    forget()
    assert run().completed


@pytest.mark.unit
def test_another_exception_that_is_made_of_it_is_an_interrupt():
    with pytest.raises(SystemError), interruptible():
        raise SystemError

    def made_of_it():
        try:
            press()
        except KeyboardInterrupt as why:
            raise SystemError from why

    with pytest.raises(KeyboardInterrupt), interruptible():
        made_of_it()


@pytest.mark.unit
@pytest.mark.parametrize("own", [signal.SIG_IGN, lambda *_: heard.append(1)])
def test_what_a_program_does_with_ctrl_c_is_left(own):
    heard.clear()
    before = signal.signal(signal.SIGINT, own)
    try:
        with interruptible() as asked:
            press()
            assert not asked()
            assert signal.getsignal(signal.SIGINT) is own
    finally:
        signal.signal(signal.SIGINT, before)
    assert len(heard) == callable(own)


heard = []


def pressing_at(monkeypatch, kind, name, count, number=signal.SIGINT):
    """Press Ctrl-C in that call of a method; return the calls there were after it."""
    original, calls = getattr(kind, name), []

    def counted(self, *arguments):
        calls.append(arguments)
        if len(calls) == count:
            press(number)
        return original(self, *arguments)

    monkeypatch.setattr(kind, name, counted)
    return calls


def small(backend=None, **changed):
    """The fastest wire with 20 steps, which takes IPOPT about 30 iterations."""
    stated = load_optimization("brachistochrone")
    horizon = replace(stated.horizon, steps=20)
    return replace(stated, horizon=horizon, solver=Solver(backend=backend or Ipopt()), **changed)


@cache
def solved(kind):
    return small(kind()).solve()


@pytest.mark.parametrize(
    ("backend", "number"),
    [
        *((Ipopt(), number) for number in SIGNALS),
        (Sqp(), signal.SIGINT),
        pytest.param(Sqp(), signal.SIGTERM, marks=pytest.mark.slow),
    ],
    ids=["ipopt, Ctrl-C", "ipopt, SIGTERM", "sqp, Ctrl-C", "sqp, SIGTERM"],
)
def test_an_optimization_keeps_its_motion(monkeypatch, capsys, backend, number):
    kind, name = (InterruptCallback, "eval_buffer") if backend == Ipopt() else (_Run, "_step")
    calls = pressing_at(monkeypatch, kind, name, 3, number)
    result = small(backend).solve()
    assert len(calls) == 3
    assert not result.completed
    assert result.interrupted
    assert result.stop_reason.startswith("interrupted after ")
    assert result.stop_reason in result.summary()
    assert capsys.readouterr().err.count("stopping after this iteration") == 1
    # Another motion than the guess, from which the same problem is solved.
    monkeypatch.undo()
    forget()
    whole = solved(type(backend))
    assert whole.completed
    assert abs(result["q"].values - whole["q"].values).max() > 1e-6
    again = small(backend, guess=Earlier(result)).solve()
    assert again.objective == pytest.approx(whole.objective, rel=1e-3)


def test_a_homotopy_keeps_the_motion_of_least_violation(monkeypatch):
    stated = load_optimization("clearance_pendulum")
    stated = replace(stated, horizon=replace(stated.horizon, steps=10))
    seen = []
    build = Ipopt.build

    def recorded(self, nlp):
        call = build(self, nlp)

        def pressed(*arguments):
            if nlp.derivatives is not None and len(seen) == 2:
                press()
            outcome = call(*arguments)
            seen.append(outcome)
            return outcome

        return pressed

    monkeypatch.setattr(Ipopt, "build", recorded)
    result = stated.solve()
    assert result.interrupted
    assert len(seen) == 3
    assert any((result["unknown"].values == outcome.point.x).all() for outcome in seen)


def test_before_there_is_a_motion_nothing_is_returned(monkeypatch):
    monkeypatch.setattr(OPTIMIZE, "check_feasible", lambda *_: press())
    with pytest.raises(KeyboardInterrupt):
        small().solve()
    with pytest.raises(KeyboardInterrupt):
        multi_start(small(), 2)
    with pytest.raises(KeyboardInterrupt):
        refine(small(), 1e-9, by=ObjectiveChange())


def test_the_best_of_the_starts_so_far(monkeypatch):
    whole = small().solve()
    asked = pressing_at(monkeypatch, InterruptCallback, "eval_buffer", 10**6)
    small().solve()
    monkeypatch.undo()
    pressing_at(monkeypatch, InterruptCallback, "eval_buffer", len(asked) + 2)
    result = multi_start(small(), 4)
    assert result.interrupted
    assert not result.completed
    assert result.stop_reason == "interrupted after 1 of 4 starts; this motion is a solution"
    assert result.objective == whole.objective
    assert json.loads(result.data.attrs["starts"]) == [whole.objective, None, None, None]


def test_the_last_grid_that_was_solved(monkeypatch):
    asked = pressing_at(monkeypatch, InterruptCallback, "eval_buffer", 10**6)
    whole = small().solve()
    monkeypatch.undo()
    pressing_at(monkeypatch, InterruptCallback, "eval_buffer", len(asked) + 2)
    result = refine(small(), 1e-12, by=ObjectiveChange())
    assert result.stop_reason == "interrupted with 40 steps; this motion is a solution"
    assert not result.completed
    assert result.objective == whole.objective
    assert [grid["steps"] for grid in json.loads(result.data.attrs["grids"])] == [20]


def test_a_verification_is_left_out(monkeypatch):
    monkeypatch.setattr(OPTIMIZE, "resimulate", lambda *_: press())
    result = load_optimization("double_integrator").solve(verify=True)
    assert result.objective == pytest.approx(12, abs=1e-9)
    assert result.stop_reason == (
        "interrupted while it was simulated again; this motion is a solution"
    )
    assert "resimulated" not in result.data


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
from nsopt.interrupt import interrupted
from nsopt.mpcc.interrupt_callback import InterruptCallback

def held(self, *arguments):
    global calls
    calls += 1
    if calls == 3:
        Path("held").touch()
        while not interrupted():
            time.sleep(0.01)
    return ask(self, *arguments)

calls, ask, InterruptCallback.eval_buffer = 0, InterruptCallback.eval_buffer, held
"""
VIEWING = """
import nsopt.plots.browser
nsopt.plots.browser.page = lambda *_: hold()
"""
SAVING = """
from nsopt import Result
from nsopt.interrupt import interrupted

def held(self, path):
    Path("held").touch()
    while not interrupted():
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
@pytest.mark.parametrize("number", SIGNALS)
def test_an_interrupted_optimize_saves_its_motion(tmp_path, number):
    process = begin(tmp_path, OPTIMIZING, "optimize", "brachistochrone", "--steps", "20")
    output, message = ended(process, tmp_path, number)
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
@pytest.mark.parametrize("number", SIGNALS)
def test_an_interrupted_view_leaves_the_page_there_was(tmp_path, number):
    load_optimization("double_integrator").solve().save(tmp_path / "cart.nc")
    (tmp_path / "cart.html").write_text("earlier")
    process = begin(tmp_path, VIEWING, "view", "cart.nc")
    assert ended(process, tmp_path, number) == ("", "error: interrupted\n")
    assert (tmp_path / "cart.html").read_text() == "earlier"
    assert not list(tmp_path.glob("*partial*"))


COMPILER = """#!/bin/sh
if [ "$1" = --version ]; then echo slow 1; exit; fi
sleep 1000 &
echo $! > {folder}/child
mv {folder}/child {folder}/held
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
@pytest.mark.parametrize("number", [*SIGNALS, signal.SIGKILL])
def test_no_compiler_is_left(tmp_path, number):
    compiler = tmp_path / "slow"
    compiler.write_text(COMPILER.format(folder=tmp_path))
    compiler.chmod(0o755)
    process = begin(
        tmp_path, "", "run", "revolute_pendulum", "--solver", "compiled",
        CC=str(compiler), NSOPT_CACHE=str(tmp_path / "cache"),
    )  # fmt: skip
    wait_for(tmp_path / "held", process)
    process.send_signal(number)
    _, message = process.communicate()
    assert process.returncode == (INTERRUPTED if number in SIGNALS else -number)
    assert message.endswith("error: interrupted at t = 0 s\n") == (number in SIGNALS)
    gone(int((tmp_path / "held").read_text()))
