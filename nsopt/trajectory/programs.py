"""From a task to its program: transcription, small costs, starting point, schedules.

What `PreparedOptimization` and phases state is chosen here; strategies of search choose again.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from dataclasses import replace

import numpy as np

from nsopt.arrays import Array
from nsopt.mechanics import Dynamics
from nsopt.mpcc import Point, Schedule, Settings, Solver, StationarityKind, StructuredNlp
from nsopt.schemes import Variational
from nsopt.trajectory.costs import Smoothness, flattened
from nsopt.trajectory.diagnosis import check_costs, find_dependence
from nsopt.trajectory.guesses import Earlier, Guess
from nsopt.trajectory.smoothing.schedules import (
    DAMPED_START,
    FROM_AFAR,
    FROM_NEARBY,
    WARM_START,
    check_complementarity,
    horizon_settings,
)
from nsopt.trajectory.smoothing.small_costs import (
    M,
    make_bend_beside,
    make_step_bend,
    make_tie_breaker,
    with_cost,
)
from nsopt.trajectory.task import Task
from nsopt.trajectory.transcription.base import Transcription
from nsopt.trajectory.transcription.collocation import Collocation
from nsopt.trajectory.transcription.kinds import is_relaxed_in_space
from nsopt.trajectory.transcription.polynomials import why_not_by_default
from nsopt.trajectory.transcription.stepped import Stepped

# Number of steps from which `Backend.of_many_steps` is used. Arms of two and of seven joints take
# as long without it on 100 steps, 1.3 and 1.1 times as long on 200.
MANY_STEPS = 100


def suit_solver(solver: Solver, steps: int, *, often: bool) -> Solver:
    """Return a solver with a backend that suits a program of many steps, or solved ``often``."""
    many = often or steps >= MANY_STEPS
    return replace(solver, backend=solver.backend.of_many_steps) if many else solver


def transcribe(task: Task, p: Array) -> Transcription:
    """Return the motion of a task as a program, for parameters p (np,) of its mechanism."""
    stated = task.dynamics, task.horizon, tuple(flattened(task.costs)), tuple(task.conditions)
    inputs, scheme = tuple(task.inputs), task.scheme
    if scheme is None and not why_not_by_default(task.dynamics):
        return Collocation(*stated, inputs)
    relaxation = horizon_settings(task.solver).relaxation
    return Stepped(*stated, inputs, scheme or Variational(), p, relaxation)


def add_small_costs(
    x: M,
    guess: Guess,
    p: Array,
    state: Callable[[M], StructuredNlp] = operator.methodcaller("nlp"),
) -> tuple[M, StructuredNlp, Smoothness | None]:
    """Return a motion with small costs of bends and ties, its program, and its tie-breaker if any.

    ``x`` has the costs that the user stated, of which one must depend on the motion. Programs are
    stated by ``state``.
    """
    nlp = state(x)
    depends = find_dependence(nlp, len(x.costs))
    check_costs(x.costs, depends)
    tie = make_tie_breaker(x, nlp, depends, guess, p)
    is_smoothed = any(x.creep) and x.friction_modes is None
    bend = make_step_bend(x, nlp, guess, p) if is_smoothed else None
    if tie is not None and bend is None and x.by_polynomials:
        bend = make_bend_beside(tie)
    if tie is None and bend is None:
        return x, nlp, None
    x = with_cost(with_cost(x, bend), tie)
    return x, state(x), tie


def choose_start(transcription: Transcription, nlp: StructuredNlp, guess: Guess) -> Point:
    """Return the starting point of a solve.

    If the guess is a solution with the same unknowns, that is it, with its multipliers if the rows
    are the same, too.
    """
    x = transcription.start_from(guess)
    cold = Point.cold(x, len(nlp.lower))
    if not (isinstance(guess, Earlier) and guess.result.completed):
        return cold
    data = guess.result.data
    same_unknowns = data["input_name"].values.tolist() == list(transcription.inputs)
    same_unknowns &= data.attrs["scheme_name"] == transcription.description[0]
    if not same_unknowns or data.sizes["unknown_index"] != transcription.size:
        return cold
    names = ("unknown", "bound_multiplier", "row_multiplier")
    unknown, lam_x, lam_g = (data[name].values for name in names)
    if guess.shift is None:
        x = unknown
    else:  # plus what the shift of its ends adds
        x = unknown + x - transcription.start_from(replace(guess, shift=None))
    warm = len(lam_g) == len(nlp.lower)
    warm &= data.attrs["scheme"] == transcription.description[1]
    # Multipliers of a B-stationary point are of one branch of its contacts, and mislead others.
    warm &= data.attrs.get("stationarity_kind") != StationarityKind.B.name
    warm &= bool(np.isfinite(lam_g).all())
    return Point(x, lam_x, lam_g) if warm else Point.cold(x, len(nlp.lower))


def choose_settings(transcription: Transcription, solver: Solver) -> Settings:
    """Return the settings of a solve, with the schedules that suit the motion."""
    settings = horizon_settings(solver)
    last = transcription.last_stage
    if not transcription.is_complementary:
        return replace(settings, schedules=((last,),), active_set=None)
    check_complementarity(settings)
    if is_relaxed_in_space(transcription) or not settings.relaxation.states_halves:
        settings = replace(settings, active_set=None)
    default = solver.schedules is None and not solver.backend.prefers_equations
    if _opens_far(transcription.dynamics) and default:
        settings = replace(settings, schedules=(FROM_AFAR, *settings.schedules))
    # Homotopy numbers that a stage leaves out have their final values.
    schedules = tuple(
        tuple((*stage, *last[len(stage) :]) for stage in stages) for stages in settings.schedules
    )
    return replace(settings, schedules=schedules)


def _opens_far(d: Dynamics) -> bool:
    """Return whether contacts may open by more than a clearance, as none of them is in a bore."""
    return bool(d.contact_names) and not d.bores


def choose_schedules(
    guess: Guess, start: Point, transcription: Transcription, settings: Settings
) -> tuple[Schedule, ...]:
    """Return the schedules of a solve from a guess, first a shorter one if that is a solution."""
    if not (isinstance(guess, Earlier) and guess.result.completed and not start.warm):
        return settings.schedules
    if not transcription.is_complementary:
        return settings.schedules
    other_grid = guess.result.data.sizes["unknown_index"] != transcription.size
    first = WARM_START
    if transcription.dynamics.bores:
        first = DAMPED_START
    elif other_grid and _opens_far(transcription.dynamics):
        first = FROM_NEARBY
    return (first, *settings.schedules)
