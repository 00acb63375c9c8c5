"""Motions within clearances on many steps: found on coarser grids first."""

import os
import signal

import numpy as np
import pytest

from nsopt import Solver, Sqp, StepBounds, Variational
from nsopt.interrupt import forget
from nsopt.mpcc import StructuredProgram
from nsopt.trajectory import STRAIGHT, Earlier, Horizon
from nsopt.trajectory.programs import transcribe
from nsopt.trajectory.search import CoarserGrids
from nsopt.trajectory.task import Task
from tests.trajectory.lifted import PENDULUM, chains, held, lifted, on_an_ideal_hinge


@pytest.mark.slow
def test_a_pendulum_in_200_steps_is_found_from_coarser_grids():
    """With 0.1 mm of play it costs what it costs on an ideal hinge."""
    ideal, result = on_an_ideal_hinge(), lifted(PENDULUM, 1e-4, 200)
    held(result)
    assert result.objective == pytest.approx(ideal.objective, rel=1e-3)


@pytest.mark.slow
def test_an_interrupt_on_a_coarser_grid_keeps_its_motion(monkeypatch):
    """As Ctrl-C once the grid of 50 steps is solved."""
    solve, solved = StructuredProgram.solve, []

    def pressed(self, *given):
        solved.append(solve(self, *given))
        if len(solved) == 1:
            os.kill(os.getpid(), signal.SIGINT)
        return solved[-1]

    monkeypatch.setattr(StructuredProgram, "solve", pressed)
    try:
        result = lifted(PENDULUM, 1e-4, 200)
    finally:
        forget()
    assert not result.completed
    assert "interrupted" in result.data.attrs["stop_reason"]
    assert np.isfinite(result["q"].values).all()
    monkeypatch.undo()
    coarse = lifted(PENDULUM, 1e-4, 50)
    assert result.objective == pytest.approx(coarse.objective, rel=0.2)


def grids(horizon, solver=None, guess=None, c=1e-3):
    """The coarser grids of a pendulum on a worn hinge."""
    links, start, end, _ = PENDULUM
    chain = chains.chain(links, [c])
    ends = [chains.HungAt(chain, start), chains.TurnedTo(chain, end)]
    p = chain.dynamics.values()
    guess = guess or chains.Hanging(chain, start, end)
    stated = chain.dynamics, horizon, chain.effort(), ends, guess, chain.inputs
    motion = transcribe(Task(*stated, scheme=Variational()), p)
    return [x.steps for x in CoarserGrids().list_grids(motion, solver or Solver(), guess)]


def test_grids_are_halved_down_to_at_least_50_steps():
    assert grids(Horizon(0.8, 200)) == [50, 100]
    assert grids(Horizon(0.8, 399)) == [99, 199]
    assert grids(Horizon(0.8, 1600)) == [50, 100, 200, 400, 800]


def test_none_is_coarser_where_the_motion_or_its_grid_is_stated_otherwise():
    even = Horizon(0.8, 400)
    assert not grids(Horizon(0.8, 199))
    assert not grids(Horizon(0.8, 400, StepBounds(1e-3, 1e-2)))
    assert not grids(even, Solver(schedules=[STRAIGHT]))
    assert not grids(even, Solver(Sqp()))
    assert not grids(even, guess=Earlier(on_an_ideal_hinge()))
