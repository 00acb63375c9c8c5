"""A motion as a program: its transcription, its starting point, the schedules of its solve."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from nsopt.mechanics import Dynamics
from nsopt.mpcc import (
    Point,
    Relaxation,
    Schedule,
    Settings,
    Solver,
    StationarityKind,
    StructuredNlp,
)
from nsopt.schemes import Scheme, Variational
from nsopt.trajectory.conditions import Condition
from nsopt.trajectory.costs import Cost
from nsopt.trajectory.guesses import Earlier, Guess
from nsopt.trajectory.horizon import Horizon
from nsopt.trajectory.optimality import relaxed_in_space
from nsopt.trajectory.schedules import (
    DAMPED_START,
    FROM_AFAR,
    FROM_NEARBY,
    SETTINGS,
    WARM_START,
    horizon_settings,
)
from nsopt.trajectory.transcription.accelerations import not_by_default
from nsopt.trajectory.transcription.base import Array, Transcription
from nsopt.trajectory.transcription.collocation import Collocation
from nsopt.trajectory.transcription.stepped import Stepped

LONG = 100
"""Steps from which a program is one of many steps."""


def suit_solver(solver: Solver, steps: int, *, often: bool) -> Solver:
    """Return a solver as it suits a program of so many steps, that is solved ``often`` or not."""
    many = often or steps >= LONG
    return replace(solver, backend=solver.backend.of_many_steps) if many else solver


def transcribe(
    dynamics: Dynamics,
    horizon: Horizon,
    costs: Sequence[Cost],
    conditions: Sequence[Condition],
    *,
    inputs: Sequence[str],
    p: Array,
    scheme: Scheme | None,
    relaxation: Relaxation = SETTINGS.relaxation,
) -> Transcription:
    """Return the program of a motion, arguments as for `optimize`."""
    stated = (dynamics, horizon, tuple(costs), tuple(conditions), tuple(inputs))
    if scheme is None and not not_by_default(dynamics):
        return Collocation(*stated)
    return Stepped(*stated, scheme or Variational(), p, relaxation)


def starting_point(transcription: Transcription, nlp: StructuredNlp, guess: Guess) -> Point:
    """Return the starting point of a solve.

    If the guess is a solution with the same unknowns, these are taken, and its multipliers if the
    rows are the same too.
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
    else:
        x = unknown + x - transcription.start_from(replace(guess, shift=None))
    same_rows = len(lam_g) == len(nlp.lower)
    same_rows &= data.attrs["scheme"] == transcription.description[1]
    # Where there are no multipliers of the signs of limits, those of a branch lead astray.
    same_rows &= data.attrs.get("stationarity_kind") != StationarityKind.B.name
    same_rows &= bool(np.isfinite(lam_g).all())
    return Point(x, lam_x, lam_g) if same_rows else Point.cold(x, len(nlp.lower))


def program_settings(transcription: Transcription, solver: Solver) -> Settings:
    """Return the settings of a solve, with the schedules that suit the motion."""
    settings = horizon_settings(solver)
    last = transcription.last_stage
    if not transcription.unilateral:
        return replace(settings, schedules=((last,),), active_set=None)
    if relaxed_in_space(transcription) or not settings.relaxation.states_halves:
        settings = replace(settings, active_set=None)
    if _opens_far(transcription.dynamics) and _by_default(solver):
        settings = replace(settings, schedules=(FROM_AFAR, *settings.schedules))
    # Homotopy parameters that a stage leaves out keep their final values.
    schedules = tuple(
        tuple((*stage, *last[len(stage) :]) for stage in stages) for stages in settings.schedules
    )
    return replace(settings, schedules=schedules)


def _opens_far(d: Dynamics) -> bool:
    """Return whether contacts open by more than a clearance: none of them is in a bore."""
    return bool(d.contact_names) and not d.bores


def _by_default(solver: Solver) -> bool:
    """Return whether schedules are those of inequalities by default."""
    return solver.schedules is None and not solver.backend.prefers_equations


def schedules_from(
    guess: Guess, start: Point, transcription: Transcription, settings: Settings
) -> tuple[Schedule, ...]:
    """Return the schedules of a solve from a guess."""
    if not (isinstance(guess, Earlier) and guess.result.completed and not start.warm):
        return settings.schedules
    if not transcription.unilateral:
        return settings.schedules
    other_grid = guess.result.data.sizes["unknown_index"] != transcription.size
    known = WARM_START
    if transcription.dynamics.bores:
        known = DAMPED_START
    elif other_grid and _opens_far(transcription.dynamics):
        known = FROM_NEARBY
    return (known, *settings.schedules)
