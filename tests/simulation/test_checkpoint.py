"""Runs that were killed or interrupted go on as if nothing had happened."""

import shutil
import signal
import subprocess
import sys
from dataclasses import dataclass, replace

import numpy as np
import pytest

from nsopt import (
    Acceptance,
    Checkpoint,
    Ipopt,
    PaperStep,
    Solver,
    Sqp,
    Start,
    StepBounds,
)
from nsopt.interrupt import forget
from nsopt.mpcc import Newton
from nsopt.schemes import Composition, Variational
from nsopt.simulation import Compiled, ErrorControl, LargestStep
from nsopt.simulation.driver import Driver, StepCounts
from nsopt.simulation.method import Method
from nsopt.simulation.run import Run
from tests.simulation.checkpoints import CASE_A, assert_same, run

PAPER = StepBounds(5e-4, 1e-3)


@dataclass(frozen=True)
class Hopeless(Variational):
    """A scheme whose steps are never good, so that another one takes them."""

    fallback = Variational()

    def add_step(self, *arguments):
        step = super().add_step(*arguments)
        return replace(step, motion_residual=step.motion_residual + 1e6)


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
        forget()
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
        "duration": 0.003,
    },
    "compiled, by another scheme": {
        "steps": StepBounds(1e-4, 1e-3),
        "scheme": Hopeless(),
        "solver": Compiled(chunk=5),
        "duration": 0.05,
    },
    "compiled, in steps that end at an impact": {
        "steps": StepBounds(1e-9, 1e-4),
        "scheme": Composition(),
        "solver": Compiled(chunk=40),  # the impact is in the fourth block
        "duration": 0.04,
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
}


@pytest.mark.parametrize(
    ("name", "every"),
    [
        ("compiled", 1),
        *((name, 7) for name in RUNS if name != "compiled, often stuck"),
        pytest.param("compiled, often stuck", 7, marks=pytest.mark.slow),
    ],
)
def test_a_resumed_run_ends_the_same_bit_by_bit(tmp_path, stopped, name, every):
    """Ended after the 4th block; from there at once to the end, or ended again after the 7th."""
    options = RUNS[name] | {"store_every": every}
    whole = run(**options)
    assert whole.completed
    if "stuck" in name:  # so that it says something of the solvers' memory between two calls
        assert np.nansum(whole["retries"]) > 20
        assert np.any(whole["retries"].values[1:] == 0)
    first = Checkpoint(tmp_path / "first", steps=3)
    stopped(4, checkpoint=first, **options)
    again = replace(first, resume=True)
    second = shutil.copytree(first.path, tmp_path / "second")
    assert_same(run(checkpoint=replace(again, path=second), **options), whole)
    stopped(4, checkpoint=again, **options)
    assert_same(run(checkpoint=again, **options), whole)


@pytest.mark.slow
@pytest.mark.parametrize("every", [1, 7])
def test_another_scheme_goes_on(tmp_path, stopped, every):
    """After the checkpoint as before it, and its steps are counted over both parts."""
    options = RUNS["compiled, by another scheme"] | {"store_every": every}
    keep = Checkpoint(tmp_path / "run", steps=3)
    before = stopped(4, checkpoint=keep, **options)
    result = run(checkpoint=replace(keep, resume=True), **options)
    assert {"by Variational" in text for text in result["step_reason"].values[1:]} == {True}
    attrs = result.data.attrs
    assert attrs["steps_by_other_schemes"] == attrs["steps"] > before.data.attrs["steps"] > 0
    assert attrs["time_by_other_schemes"] == pytest.approx(options["duration"], rel=1e-12)


@pytest.mark.slow
def test_chunks_leave_no_trace():
    """The state of a chain is all its memory: where its calls begin makes no difference."""
    options = RUNS["compiled, with error control"] | {"store_every": 7}
    small, large = (run(solver=Compiled(chunk=n), **options) for n in (20, 500))
    assert_same(small, large)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("scheme", "solver", "control", "blocks"),
    [
        (PaperStep(), Solver(backend=Sqp()), LargestStep(), 10),
        (Variational(), Solver(backend=Ipopt()), LargestStep(), 10),
        (Variational(), Solver(backend=Sqp()), ErrorControl(1e-11), 20),
        (Hopeless(), Solver(backend=Sqp()), LargestStep(), 4),
        (Variational(), Compiled(chunk=1), ErrorControl(1e-11), 200),
        (Hopeless(), Compiled(chunk=1), LargestStep(), 20),
    ],
    ids=["paper, SQP", "IPOPT", "SQP", "fallback", "compiled", "both"],
)
def test_nothing_else_is_remembered(scheme, solver, control, blocks):
    """A driver made anew for each block, solvers and all, steps as one that goes on, bit by bit."""
    d, data = CASE_A.dynamics, run(duration=0.02).data  # the hinge is in contact then
    start = Start(data["q"].values[-1], data["v"].values[-1], 0.02)
    where = Run(start, d.values(), 2.0, StepBounds(1e-4 if scheme == Hopeless() else 1e-6, 1e-3))
    arguments = (d, where, Method(scheme, solver, control, Acceptance()))
    one, other = Driver(*arguments), Driver(*arguments)
    one.counts = other.counts = StepCounts(3, 2)
    tried, how = [], []
    for _ in range(blocks):
        fresh = Driver(*arguments)
        fresh.restore(other.state)
        other = fresh
        a, b = one.advance(), other.advance()
        for name in set(vars(a)) - {"solve_time"}:
            assert getattr(a, name).tolist() == getattr(b, name).tolist(), name
        assert one.counts == other.counts
        tried += a.tried.tolist()
        how += [text.partition("; ")[2] for text in b.reason]
    # There must be something to remember.
    assert any(tried) == (control != LargestStep() or scheme == Hopeless())
    by_others = scheme == Hopeless()
    assert {"by Variational" in text for text in how} == {by_others}
    assert one.counts.by_other_schemes == 2 + by_others * len(how)
    taken = by_others * (one.start.t - start.t)
    assert one.counts.time_by_other_schemes == pytest.approx(taken, abs=1e-15)


KILLED = """
import os, signal, sys
from nsopt import *
from nsopt.schemes import Variational
from nsopt.simulation import Compiled

def killing(handle):
    left.pop() if left else os.kill(os.getpid(), signal.SIGKILL)

left = [None] * int(sys.argv[2])
os.fsync = killing
simulate(
    load_problem("case_a").dynamics, duration=0.3, steps=StepBounds(1e-4, 1e-4),
    scheme=Variational(), solver=Compiled(chunk=500), progress=False,
    checkpoint=Checkpoint(sys.argv[1], steps=500),
)
"""


@pytest.mark.slow
@pytest.mark.parametrize("writes", [4, 11])
def test_kill_9_in_the_middle_of_a_write(tmp_path, writes):
    """Of the second block and the third head, after as many syncs."""
    keep = Checkpoint(tmp_path / "killed")
    killed = subprocess.run([sys.executable, "-c", KILLED, keep.path, str(writes)], check=False)
    assert killed.returncode == -signal.SIGKILL
    assert keep.exists
    assert_same(run(checkpoint=replace(keep, resume=True)), run())
