"""Solving an Mpcc: compiled once, for many parameters."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from time import perf_counter
from types import MappingProxyType
from typing import Any

import numpy as np

from nsopt.mpcc.active_set import ActiveSetRun
from nsopt.mpcc.backend import Backend, Outcome, Point
from nsopt.mpcc.branch import Branches
from nsopt.mpcc.disc import split_discs
from nsopt.mpcc.functions import Case, Functions
from nsopt.mpcc.homotopy import Trial, ended, follow
from nsopt.mpcc.layout import Vector
from nsopt.mpcc.least_norm import least_norm
from nsopt.mpcc.lifting import lifted
from nsopt.mpcc.min_map import split_into_pairs
from nsopt.mpcc.polish import lift, polish
from nsopt.mpcc.problem import Mpcc
from nsopt.mpcc.schedule import Stage
from nsopt.mpcc.settings import STEP, Settings
from nsopt.mpcc.solution import Solution
from nsopt.mpcc.stationarity import Stationarity
from nsopt.mpcc.status import RUNAWAY, status_of

_NOTHING: Mapping[str, Any] = MappingProxyType({})


class Program:
    """An Mpcc compiled for one Solver; solve it for many parameters. Not for several threads."""

    def __init__(
        self, mpcc: Mpcc, backend: Backend, settings: Settings = STEP, *, polish: bool = True
    ) -> None:
        self.name, stated = mpcc.name, mpcc
        self._settings, self._polish = settings, polish
        self._optimized = settings.active_set is not None
        mpcc, tolerances = split_into_pairs(mpcc), settings.tolerances
        if self._optimized:
            mpcc, tolerances = lifted(split_discs(mpcc)), replace(tolerances, stationarity=np.inf)
            if not mpcc.pairs:  # nothing is relaxed
                settings = replace(settings, schedules=(settings.schedules[0][-1:],))
                self._settings = settings
        self._functions = Functions(mpcc, settings.relaxation, tolerances)
        self.layout = self._functions.layout.stated_by(stated)
        self._branches = Branches(mpcc, backend, self.layout) if self._optimized else None
        self._call = backend.build(self._functions.nlp)
        self._rows = self._functions.nlp.g.shape[0]

    def solve(
        self,
        parameters: Mapping[str, Any] = _NOTHING,
        guess: Solution | Point | Mapping[str, Any] | None = None,
    ) -> Solution:
        """Solve for the given numbers.

        Parameters
        ----------
        parameters : mapping of name to (size,) array
            Every parameter of the program.
        guess : Solution, its Point, mapping of name to (size,) array in physical units, or None
            A Solution of any Program of the same Mpcc carries x, and its multipliers where it has
            some and the numbers of constraints agree. Variables that a mapping leaves out start
            from the program's own guess.

        Returns
        -------
        Solution
            Failed or not; nothing the solver does raises.

        Raises
        ------
        ValueError
            If a parameter or guess is missing, unknown, of wrong size or not finite.
        """
        begin = perf_counter()
        case = self._case(parameters)
        cold = Point.cold(case.guess, self._rows)
        trials = follow(
            self._settings.schedules,
            self._start(guess, cold, case),
            cold,
            self._settings.retries,
            lambda stage, start, last: self._try(stage, start, case, last=last),
        )
        found: Stationarity | None = None
        if self._branches is not None and not any(x.outcome.interrupted for x in trials):
            trials, found = self._improved(self._branches, trials, case)
        status = status_of(self.name, self.layout, trials[-1], found, optimized=self._optimized)
        return ended(self.layout, trials, status, perf_counter() - begin, found)

    def _improved(
        self, branches: Branches, trials: list[Trial], case: Case
    ) -> tuple[list[Trial], Stationarity | None]:
        """Return trials of branches too, the best one last, and what it is."""
        options = self._settings.active_set
        assert options is not None  # there are branches
        run = ActiveSetRun(
            options,
            branches,
            case,
            lambda x, outcome: self._trial(x, outcome, case),
            lambda trial: self._refined(trial, case),
        )
        end = run.run(trials[-1])
        if end.best is None or end.found is None:
            return [*end.tried, *trials], None
        others = [x for x in (*trials, *end.tried) if x is not end.best]
        residuals = replace(end.best.residuals, gradient=end.found.gradient)
        return [*others, replace(end.best, residuals=residuals)], end.found

    def _trial(self, x: Vector, outcome: Outcome, case: Case) -> Trial:
        """Return a trial of a branch, ok where x meets the program."""
        point = Point.cold(x, self._rows)
        residuals, _, f = self._functions.report(point, self._sigma, case)
        good = residuals.largest <= 1 and np.abs(x).max() < RUNAWAY and np.isfinite(f)
        return Trial((), bool(good), point, outcome, residuals, f)

    @property
    def _sigma(self) -> float:
        """The last sigma of the homotopy."""
        return self._settings.schedules[0][-1][0]

    def _case(self, parameters: Mapping[str, Any]) -> Case:
        slots = self.layout.parameters
        p = np.empty(sum(slot.stop - slot.start for slot in slots.values()))
        missing = slots.keys() - parameters.keys()
        if missing:
            raise ValueError(f"program {self.name!r}: parameters {sorted(missing)} are missing")
        _fill(p, slots, parameters, f"parameter of {self.name!r}")
        return self._functions.case(p)

    def _start(
        self, guess: Solution | Point | Mapping[str, Any] | None, cold: Point, case: Case
    ) -> Point:
        if guess is None:
            return cold
        if isinstance(guess, Point):
            return self._warm(guess, cold)
        if isinstance(guess, Solution):
            if self.layout.same_unknowns(guess.layout):
                return self._warm(guess.point, cold)
            if guess.values.keys() != self.layout.variables.keys() - self.layout.added:
                raise ValueError(
                    f"program {self.name!r}: the guess is a Solution of another program, with "
                    f"{', '.join(guess.values)}: give a mapping of name to array"
                )
            guess = guess.values
        x = cold.x * self.layout.scale
        _fill(x, self.layout.variables, guess, f"guess for {self.name!r}")
        return Point.cold(self._completed(x / self.layout.scale, case), self._rows)

    def _completed(self, x: Vector, case: Case) -> Vector:
        """Return x with halves of pairs that were made unknowns as their equations give them."""
        added = self.layout.added & self.layout.equality_rows.keys() & self.layout.variables.keys()
        if added:
            rows = self._functions.linear(x, case)[0]
            for name in added:
                halves = self.layout.variables[name]
                x[halves] = np.nan_to_num(x[halves] + rows[self.layout.equality_rows[name]])
        return x

    def _warm(self, point: Point, cold: Point) -> Point:
        """Return what of ``point`` can be used here: all, x alone, or nothing of it."""
        if not np.isfinite(point.x).all():
            return cold
        multipliers = np.append(point.lam_x, point.lam_g)
        if point.lam_g.size == self._rows and np.isfinite(multipliers).all():
            return point
        return Point.cold(point.x, self._rows)

    def _try(self, stage: Stage, start: Point, case: Case, *, last: bool) -> Trial:
        inside = replace(start, x=np.clip(start.x, case.lower, case.upper))
        outcome = self._call(inside, np.append(case.p, stage), case.solver_lower, case.upper)
        residuals, relaxed, f = self._functions.report(outcome.point, stage[0], case)
        bounded = np.abs(outcome.point.x).max() < RUNAWAY
        near = bool(bounded) and relaxed <= self._settings.tolerances.stage
        if not last:
            return Trial(stage, near, outcome.point, outcome, residuals, f)
        trial = Trial(stage, residuals.largest <= 1, outcome.point, outcome, residuals, f)
        return self._refined(trial, case) if near else trial

    def _refined(self, trial: Trial, case: Case) -> Trial:
        """Return the trial polished, then of least norm; each kept only if it meets everything."""
        if self._polish and np.isfinite(trial.residuals.rows).all():
            x = polish(self._functions, trial.point.x, trial.residuals.rows, case)
            trial = self._moved(trial, x, case)
        if trial.ok:
            trial = self._moved(trial, least_norm(self._functions, trial.point.x, case), case)
        return trial

    def _moved(self, trial: Trial, x: Vector | None, case: Case) -> Trial:
        if x is None or x is trial.point.x:
            return trial
        point = replace(trial.point, x=lift(x, case))
        sigma = trial.stage[0] if trial.stage else self._sigma
        residuals, _, f = self._functions.report(point, sigma, case)
        if not residuals.largest <= 1:
            return trial
        return replace(trial, ok=True, point=point, residuals=residuals, objective=f)


def _fill(stack: Vector, slots: dict[str, slice], given: Mapping[str, Any], what: str) -> None:
    """Write the given blocks into ``stack``; ValueError that names the block where one is wrong."""
    for name, value in given.items():
        slot = slots.get(name)
        if slot is None:
            raise ValueError(f"{what}: no block {name!r}, there are {', '.join(slots)}")
        array = np.asarray(value, dtype=float).ravel()
        if array.size != slot.stop - slot.start:
            size = slot.stop - slot.start
            raise ValueError(f"{what}: {name!r} has {size} entries, got {value!r}")
        stack[slot] = array
    if not np.isfinite(stack).all():
        bad = [name for name, slot in slots.items() if not np.isfinite(stack[slot]).all()]
        raise ValueError(f"{what}: {', '.join(bad)} not finite: give finite numbers")
