"""Sweeps of a ball that falls, and what several test files ask of a sweep."""

import importlib

from nsopt import (
    GROUND,
    Body,
    Frame,
    Mechanism,
    PaperStep,
    Parameter,
    PlaneContact,
    Problem,
    Solver,
    Sqp,
    StepBounds,
    assemble,
    simulate,
    sweep,
)

SQP = Solver(backend=Sqp())
TIMES = ["solve_time", "run_time"]


def drop(*, mass="mass", height=0.05):
    """A ball that falls on a plane."""
    ball = Body("ball", Parameter(mass, 1.0), position=(0, 0, height), point_mass=True)
    floor = PlaneContact("floor", Frame(GROUND), Frame(ball))
    dynamics = assemble(Mechanism([ball]), [floor], gravity=(0, 0, -9.81))
    return Problem(dynamics, duration=0.02, steps=StepBounds(1e-3, 2e-3))


def run(problem, over, **options):
    method = {"scheme": PaperStep(), "solver": SQP}
    return sweep(problem, over, **method | {"workers": 1, "progress": False} | options)


def same(one, other):
    """Whether all that is not a time is the same to the last bit."""
    return one.drop_vars(TIMES).identical(other.drop_vars(TIMES))


def count_runs(monkeypatch):
    """Return a list to which every run made in this process adds its parameters."""
    seen = []

    def counted(*args, parameters, **options):
        seen.append(parameters)
        return simulate(*args, parameters=parameters, **options)

    monkeypatch.setattr(importlib.import_module("nsopt.sweep.job"), "simulate", counted)
    return seen
