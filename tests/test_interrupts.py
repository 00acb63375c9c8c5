"""Ctrl-C and SIGTERM in a program: what was computed is kept, and nothing runs on."""

import gc
import json
import signal
import sys
import weakref
from dataclasses import replace
from functools import cache

import pytest

from nsopt import Ipopt, PaperStep, Solver, Sqp, load_problem, simulate
from nsopt.interrupt import forget, guard, interruptible, is_interrupted
from nsopt.mpcc.backends.filter_sqp import _Run
from nsopt.mpcc.backends.ipopt import InterruptCallback
from nsopt.problem import load_optimization
from nsopt.simulation.driver import Driver
from nsopt.trajectory import Earlier, ObjectiveChange, multi_start, refine

PREPARED, ASSESSMENT = (
    sys.modules[f"nsopt.trajectory.{name}"] for name in ("prepared", "assessment")
)
SIGNALS = [signal.SIGINT, signal.SIGTERM]


@pytest.fixture(autouse=True)
def to_go_on():
    """Go on after a test in which a signal came: all of pytest is one script."""
    yield
    forget()


def press(number=signal.SIGINT):
    signal.raise_signal(number)  # to this thread, so that it is heard here


@pytest.mark.unit
@pytest.mark.parametrize("number", SIGNALS)
def test_the_innermost_scope_decides(number):
    before = signal.getsignal(number)
    with guard():
        assert not is_interrupted()
        with guard():
            press(number)
            with pytest.raises(KeyboardInterrupt):
                press(number)
        press(number)  # the first of the outer one
        with pytest.raises(KeyboardInterrupt), interruptible():  # pressed before
            raise AssertionError
        assert is_interrupted()
    assert not is_interrupted()
    forget()
    with pytest.raises(KeyboardInterrupt), interruptible():
        press(number)
    assert not is_interrupted()
    assert signal.getsignal(number) is before


@pytest.mark.parametrize("second", [False, True])
def test_a_loop_of_runs_ends_after_the_one_that_ctrl_c_ended(monkeypatch, second):
    """The first Ctrl-C is heard after the step, the second at once."""
    problem, runs = load_problem("case_a"), []
    advance, calls = Driver.advance, []

    def pressed(driver):
        calls.append(driver)
        if len(calls) == 3:  # a run has two
            press()
            if second:
                press()
        return advance(driver)

    monkeypatch.setattr(Driver, "advance", pressed)

    def run():
        options = {"steps": problem.steps, "scheme": PaperStep(), "progress": False}
        return simulate(problem.dynamics, duration=0.003, **options)

    def loop():
        for _ in range(4):
            runs.append(run())

    with pytest.raises(KeyboardInterrupt):
        loop()
    assert [result.completed for result in runs] == [True, False]
    assert runs[1].interrupted
    assert runs[1].data.attrs["steps"] == (1 - second)
    assert len(calls) == 3
    assert run().completed  # it is raised once


@pytest.mark.unit
def test_another_cell_goes_on(monkeypatch):
    """As a notebook runs them: one after the other in the names of __main__."""
    notebook = type(sys)("__main__")
    monkeypatch.setitem(sys.modules, "__main__", notebook)
    vars(notebook).update(guard=guard, interruptible=interruptible, press=press)
    interrupted_run, run = "with guard(): press()\n", "with interruptible(): ran = True\n"
    with pytest.raises(KeyboardInterrupt):
        exec(f"for text in 'ab':\n  {interrupted_run}  {run}", vars(notebook))
    exec(interrupted_run, vars(notebook))
    assert not hasattr(notebook, "ran")
    exec(run, vars(notebook))
    assert notebook.ran


def test_a_process_that_is_told_to_end_begins_no_other_run(monkeypatch):
    problem = load_problem("case_a")
    calls = pressing_at(monkeypatch, Driver, "advance", 3, signal.SIGTERM)

    def run():
        options = {"steps": problem.steps, "scheme": PaperStep(), "progress": False}
        return simulate(problem.dynamics, duration=0.1, **options)

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


class Deleted:
    """Whose deletion is interrupted, as any other thing at a random moment."""

    def __init__(self, number):
        self.number = number

    def __del__(self):
        press(self.number)


class Referred:
    """To which there is a weak reference, with a callback."""


def drop_of_deletion(number):
    Deleted(number)


def drop_of_weak_reference(number):
    held = Referred()
    reference = weakref.ref(held, lambda _: press(number))
    del held
    assert reference() is None


def drop_of_collection(number):
    def callback(phase, _):
        if phase == "start":
            gc.callbacks.remove(callback)
            press(number)

    gc.callbacks.append(callback)
    gc.collect()


def drop_then_enter(drop, number):
    drop(number)
    with interruptible():
        raise AssertionError


DROPS = [drop_of_deletion, drop_of_weak_reference, drop_of_collection]


@pytest.mark.unit
@pytest.mark.parametrize("drop", DROPS)
@pytest.mark.parametrize("number", SIGNALS)
def test_what_python_drops_is_raised_at_the_next_part_or_at_the_end(monkeypatch, drop, number):
    told = []
    monkeypatch.setattr(sys, "unraisablehook", told.append)
    with pytest.raises(KeyboardInterrupt), interruptible():
        drop(number)
    with pytest.raises(KeyboardInterrupt), interruptible():
        drop_then_enter(drop, number)
    assert [dropped.exc_type for dropped in told] == [KeyboardInterrupt] * 2


@pytest.mark.unit
@pytest.mark.parametrize("own", [signal.SIG_IGN, lambda *_: heard.append(1)])
def test_what_a_program_does_with_ctrl_c_is_left(own):
    heard.clear()
    before = signal.signal(signal.SIGINT, own)
    try:
        with interruptible():
            press()
            assert not is_interrupted()
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
        pytest.param(Sqp(), signal.SIGTERM, marks=pytest.mark.slow),
    ],
    ids=["ipopt, Ctrl-C", "ipopt, SIGTERM", "sqp, SIGTERM"],
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
    assert capsys.readouterr().err.count("stopping soon") == 1
    # Another motion than the guess, from which the same problem is solved, by IPOPT within its
    # limits between nodes too.
    monkeypatch.undo()
    forget()
    whole = solved(Ipopt)
    assert whole.completed
    assert abs(result["q"].values - whole["q"].values).max() > 1e-6
    again = small(backend, guess=Earlier(result)).solve()
    assert again.objective == pytest.approx(whole.objective, rel=1e-3)


def test_a_second_ctrl_c_ends_an_optimization_at_once(monkeypatch):
    """Without its motion; the next one begins."""
    stated = load_optimization("double_integrator")
    monkeypatch.setattr(PREPARED, "explain_fault", lambda *_: (press(), press()))
    with pytest.raises(KeyboardInterrupt):
        stated.solve()
    monkeypatch.undo()
    assert stated.solve().objective == pytest.approx(12, abs=1e-9)


@pytest.mark.slow
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
    monkeypatch.setattr(PREPARED, "check_feasible", lambda *_: press())
    with pytest.raises(KeyboardInterrupt):
        small().solve()
    with pytest.raises(KeyboardInterrupt):
        multi_start(small(), 2)
    with pytest.raises(KeyboardInterrupt):
        refine(small(), 1e-9, by=ObjectiveChange())


@pytest.mark.slow
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
    monkeypatch.setattr(ASSESSMENT, "resimulate", lambda *_: press())
    result = load_optimization("double_integrator").solve(verify=True)
    assert result.objective == pytest.approx(12, abs=1e-9)
    assert result.stop_reason == (
        "interrupted while it was simulated again; this motion is a solution"
    )
    assert "resimulated" not in result.data
