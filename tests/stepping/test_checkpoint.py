"""Runs that were killed or interrupted go on as if nothing had happened."""

import signal
import subprocess
import sys
import time
from dataclasses import dataclass, replace

import numpy as np
import pytest

from nsopt import (
    Acceptance,
    Checkpoint,
    Ipopt,
    PaperStep,
    Result,
    Solver,
    Sqp,
    Start,
    StepBounds,
)
from nsopt.mpcc import Newton
from nsopt.stepping import Compiled, ErrorControl, LargestStep, Variational
from nsopt.stepping.driver import Driver
from nsopt.stepping.initial import Run
from tests.stepping.checkpoints import CASE_A, assert_same, keep_compiled, run

PAPER = StepBounds(5e-4, 1e-3)
cache = pytest.fixture(keep_compiled, scope="module", autouse=True)


@pytest.fixture
def stopped(monkeypatch):
    """Return a function that runs until a block does not come, as if the process had ended."""

    def run_until(block, **options):
        advance, left = Driver.advance, iter(range(block))

        def some(driver):
            if next(left, None) is None:
                raise KeyboardInterrupt
            return advance(driver)

        with monkeypatch.context() as patch:
            patch.setattr(Driver, "advance", some)
            result = run(**options)
        assert "interrupted" in result.data.attrs["stop_reason"]
        return result

    return run_until


RUNS = {
    "compiled": {"duration": 0.5},
    "compiled, with error control": {
        "steps": StepBounds(1e-6, 1e-3),
        "control": ErrorControl(1e-10),
        "duration": 0.7,
    },
    "compiled, often stuck": {
        "steps": StepBounds(5e-5, 1e-4),
        "solver": Compiled(Newton(tolerance=1e-16, rough=1e-15), chunk=5),
        "duration": 0.006,
    },
    "IPOPT": {
        "duration": 0.025,
        "steps": StepBounds(1e-3, 1e-3),
        "solver": Solver(backend=Ipopt()),
    },
    "paper, SQP": {
        "duration": 0.05,
        "steps": PAPER,
        "scheme": PaperStep(),
        "solver": Solver(backend=Sqp()),
    },
    "paper, IPOPT": {"duration": 0.025, "steps": PAPER, "scheme": PaperStep(), "solver": Solver()},
}


@pytest.mark.parametrize(
    ("name", "every"), [("compiled", 1), *((name, 7) for name in RUNS), ("paper, SQP", 1)]
)
def test_a_resumed_run_ends_the_same_bit_by_bit(tmp_path, stopped, name, every):
    """Ended after the 4th block; from there at once to the end, or ended again after the 7th."""
    options = RUNS[name] | {"store_every": every}
    whole = run(**options)
    assert whole.completed
    first, second = (Checkpoint(tmp_path / name, steps=3) for name in ("first", "second"))
    stopped(4, checkpoint=first, **options)
    assert_same(run(resume=first.path, **options), whole)
    stopped(4, checkpoint=second, resume=first.path, **options)
    assert_same(run(checkpoint=second, resume=second.path, **options), whole)


def test_the_stuck_run_is_stuck():
    """So that the test above says something of the solvers' memory between two calls of them."""
    result = run(**RUNS["compiled, often stuck"])
    texts = "; ".join(result["tried"].values)
    assert texts.count("Newton did not converge") > 20
    assert np.sum(result["retries"].values[1:] > 0) < len(result["retries"]) - 1


def test_chunks_leave_no_trace():
    """The state of a chain is all its memory: where its calls begin makes no difference."""
    options = RUNS["compiled, with error control"] | {"store_every": 7}
    small, large = (run(solver=Compiled(chunk=n), **options) for n in (20, 500))
    assert_same(small, large)


@dataclass(frozen=True)
class Hopeless(Variational):
    """A scheme whose steps are never good, so that another one takes them."""

    fallback = Variational()

    def add_step(self, *arguments):
        step = super().add_step(*arguments)
        return replace(step, motion_residual=step.motion_residual + 1e6)


@pytest.mark.parametrize(
    ("scheme", "solver", "control", "blocks"),
    [
        (PaperStep(), Solver(backend=Sqp()), LargestStep(), 20),
        (PaperStep(), Solver(backend=Ipopt()), LargestStep(), 20),
        (Variational(), Solver(backend=Ipopt()), LargestStep(), 20),
        (Variational(), Solver(backend=Sqp()), ErrorControl(1e-11), 20),
        (Hopeless(), Solver(backend=Sqp()), LargestStep(), 4),
        (Variational(), Compiled(chunk=1), ErrorControl(1e-11), 200),
    ],
    ids=["paper, SQP", "paper, IPOPT", "IPOPT", "SQP", "fallback", "compiled"],
)
def test_nothing_else_is_remembered(scheme, solver, control, blocks):
    """A driver made anew for each block, solvers and all, steps as one that goes on, bit by bit."""
    d, data = CASE_A.dynamics, run(duration=0.02).data  # the hinge is in contact then
    start = Start(data["q"].values[-1], data["v"].values[-1], 0.02)
    where = Run(start, d.values(), 2.0, StepBounds(1e-4 if scheme == Hopeless() else 1e-6, 1e-3))
    arguments = (d, where, scheme, solver, control, Acceptance())
    one, other = Driver(*arguments), Driver(*arguments)
    one.below_h_min = other.below_h_min = 3
    tried = []
    for _ in range(blocks):
        fresh = Driver(*arguments)
        fresh.go_on(other.reached)
        other = fresh
        a, b = one.advance(), other.advance()
        for name in set(vars(a)) - {"solve_time"}:
            assert getattr(a, name).tolist() == getattr(b, name).tolist(), name
        assert one.below_h_min == other.below_h_min
        tried += a.tried.tolist()
    # There must be something to remember.
    assert any(tried) == (control != LargestStep() or scheme == Hopeless())


KILLED = """
import sys
from nsopt import *
from nsopt.stepping import Compiled, Variational
result = simulate(
    load_problem("case_a").dynamics, duration=1.0, steps=StepBounds(5e-6, 5e-6),
    scheme=Variational(), solver=Compiled(), store_every=100, progress=False,
    checkpoint=Checkpoint(sys.argv[1], steps=7000), resume=(sys.argv[2:] or [None])[0],
)
result.save(sys.argv[1] + ".nc")
"""


@pytest.mark.slow
def test_kill_9_in_the_middle(tmp_path):
    keep, saved = Checkpoint(tmp_path / "killed"), tmp_path / "killed.nc"
    command = [sys.executable, "-c", KILLED, str(keep.path)]
    killed = subprocess.Popen(command)
    while not keep.exists:
        assert killed.poll() is None
        time.sleep(0.01)
    time.sleep(0.1)
    killed.kill()
    assert killed.wait() == -signal.SIGKILL
    assert not saved.exists()
    subprocess.run([*command, str(keep.path)], check=True)
    found = Result.open(saved)
    assert found.data.attrs["steps"] == 200_000
    whole = run(duration=1.0, steps=StepBounds(5e-6, 5e-6), store_every=100)
    assert_same(found, Result.open(whole.save(tmp_path / "whole.nc")))
