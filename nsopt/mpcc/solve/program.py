"""Solving an Mpcc, compiled once for many parameters: `Program`, what `Solver.build` returns."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from time import perf_counter
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np

from nsopt.checks import check_names
from nsopt.mpcc.backends.backend import Backend, Point
from nsopt.mpcc.solve.active_set import ActiveSetRun
from nsopt.mpcc.solve.branch import Branches
from nsopt.mpcc.solve.functions import Case
from nsopt.mpcc.solve.homotopy import Trial, make_solution, measure_violation
from nsopt.mpcc.solve.relaxed import RelaxedProgram, is_far, make_status
from nsopt.mpcc.solve.settings import STEP, Recovery, Settings
from nsopt.mpcc.solve.solution import Solution, Status
from nsopt.mpcc.solve.stationarity import Stationarity
from nsopt.mpcc.statement.disc import split_discs
from nsopt.mpcc.statement.layout import Vector
from nsopt.mpcc.statement.lifting import lift_pairs
from nsopt.mpcc.statement.min_map import split_into_pairs
from nsopt.mpcc.statement.problem import Mpcc


@dataclass(frozen=True)
class MultiStart:
    """Further starts, drawn at random; the best solution of all counts.

    Unknowns with two finite bounds are drawn uniformly between them, others from a normal
    distribution about the given start, then clipped to a bound that they have.

    Parameters
    ----------
    starts : int
        The given one included.
    spread : float
        Standard deviation of unknowns without two bounds, in scaled units.
    seed : int
        Of the generator: the same seed draws the same starts.

    Raises
    ------
    ValueError
        If starts is less than two or spread not positive.
    """

    starts: int = 10
    spread: float = 1.0
    seed: int = 0

    def __post_init__(self) -> None:
        if self.starts < 2 or not self.spread > 0:
            raise ValueError(f"starts of 2 or more and a positive spread are needed, got {self}")

    def points(self, lower: Vector, upper: Vector, start: Vector) -> Iterator[Vector]:
        """Yield the other starts, (n,).

        Parameters
        ----------
        lower, upper, start : (n,)
            Bounds and the given start, in scaled units.
        """
        rng = np.random.default_rng(self.seed)
        low, high = (np.where(np.isfinite(x), x, 0.0) for x in (lower, upper))
        both = np.isfinite(lower) & np.isfinite(upper)
        for _ in range(self.starts - 1):
            about = start + self.spread * rng.normal(size=start.size)
            between = low + (high - low) * rng.uniform(size=start.size)
            yield np.where(both, between, np.clip(about, lower, upper))


_NOTHING: Mapping[str, Any] = MappingProxyType({})  # no parameters


class End(NamedTuple):
    """The end of a solve from one start, the best trial last."""

    start: Point
    trials: list[Trial]
    found: Stationarity | None
    status: Status

    @property
    def interrupted(self) -> bool:
        """Whether Ctrl-C was pressed."""
        return any(trial.outcome.interrupted for trial in self.trials)

    @property
    def objective(self) -> float:
        """The objective of a solution, NaN where there is none."""
        return self.trials[-1].objective if self.status.ok else np.nan

    def rank(self) -> tuple[bool, float, float]:
        """Return a key that is less of a better end."""
        last = self.trials[-1]
        return not self.status.ok, measure_violation(last), last.objective


class Program:
    """An Mpcc compiled for one Solver; solve it for many parameters. Not for several threads."""

    def __init__(
        self,
        mpcc: Mpcc,
        backend: Backend,
        settings: Settings = STEP,
        *,
        polish: bool = True,
        recovery: Sequence[Recovery] = (),
        multi_start: MultiStart | None = None,
    ) -> None:
        self.name, stated = mpcc.name, mpcc
        self._settings, self._polish, self._starts = settings, polish, multi_start
        self._optimized = settings.active_set is not None
        mpcc, self._tolerances = split_into_pairs(mpcc), settings.tolerances
        schedules = settings.schedules
        if self._optimized:
            mpcc = lift_pairs(split_discs(mpcc))
            # Branches tell what kind of point it is: relaxed programs need not judge that.
            self._tolerances = replace(self._tolerances, stationarity=np.inf)
            if not mpcc.pairs:  # nothing is relaxed
                schedules = (schedules[0][-1:],)
                recovery = [x for x in recovery if x.relaxation == settings.relaxation]
        self._mpcc, self._recovery = mpcc, tuple(recovery)
        self._relaxed = [self._compile(Recovery(backend, settings.relaxation, schedules))]
        self.layout = self._relaxed[0].functions.layout.mark_added(stated)
        self._branches = Branches(mpcc, backend, self.layout) if self._optimized else None

    def _compile(self, way: Recovery) -> RelaxedProgram:
        known = self._mpcc, way, self._tolerances, self._settings.retries
        return RelaxedProgram(*known, polish=self._polish)

    @property
    def _relaxations(self) -> Iterator[RelaxedProgram]:
        """The relaxed programs to try in turn; each is compiled when it is first needed."""
        for k in range(1 + len(self._recovery)):
            if k == len(self._relaxed):
                self._relaxed.append(self._compile(self._recovery[k - 1]))
            yield self._relaxed[k]

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
        case = self._make_case(parameters)
        ends = [self._solve(self._make_start(guess, case), case)]
        if self._starts is not None:
            for x in self._starts.points(case.lower, case.upper, ends[0].start.x):
                if ends[-1].interrupted:
                    break
                ends.append(self._solve(Point.cold(self._complete(x, case), 0), case))
        best = min(ends, key=End.rank)
        trials = [x for end in ends if end is not best for x in end.trials] + best.trials
        objectives = tuple(end.objective for end in ends) if len(ends) > 1 else ()
        time = perf_counter() - begin
        return make_solution(self.layout, trials, best.status, time, best.found, objectives)

    def _solve(self, start: Point, case: Case) -> End:
        """Return the best end of all relaxations from a start; a solution ends the search."""
        ends: list[End] = []
        for way in self._relaxations:
            trials, found = way.follow(start, case), None
            start = Point.cold(start.x, 0)
            if self._branches is not None and not any(x.outcome.interrupted for x in trials):
                trials, found = self._improve(self._branches, way, trials, case)
            last = trials[-1]
            if way is not self._relaxed[0]:  # its multipliers are of other rows
                cold = Point.cold(last.point.x, self._relaxed[0].rows)
                trials = [*trials[:-1], replace(last, point=cold)]
            optimized = self._optimized
            status = make_status(self.name, self.layout, trials[-1], found, optimized=optimized)
            status = replace(status, verdict=trials[-1].outcome.verdict)
            ends.append(End(start, trials, found, status))
            if status.ok or ends[-1].interrupted:
                break
            if optimized and self._falls_without_end(trials[-1], start, case):
                break
        best = min(ends, key=End.rank)
        others = [x for end in ends if end is not best for x in end.trials]
        return best._replace(trials=others + best.trials)

    def _falls_without_end(self, trial: Trial, start: Point, case: Case) -> bool:
        """Return whether the end is far away and not higher than the start."""
        if not is_far(trial, optimized=True):
            return False
        f = self._relaxed[0].functions.report(Point.cold(start.x, self._relaxed[0].rows), 0.0, case)
        return not trial.objective >= f[2]

    def _improve(
        self, branches: Branches, way: RelaxedProgram, trials: list[Trial], case: Case
    ) -> tuple[list[Trial], Stationarity | None]:
        """Return the trials with those of branches, the best one last, and what that is."""
        options = self._settings.active_set
        assert options is not None  # there are branches
        run = ActiveSetRun(
            options,
            branches,
            case,
            lambda x, outcome: way.judge(x, outcome, case),
            lambda trial: way.refine(trial, case),
        )
        end = run.run(trials[-1])
        if end.best is None or end.found is None:
            return [*end.tried, *trials], None
        others = [x for x in (*trials, *end.tried) if x is not end.best]
        residuals = replace(end.best.residuals, gradient=end.found.gradient)
        return [*others, replace(end.best, residuals=residuals)], end.found

    def _make_case(self, parameters: Mapping[str, Any]) -> Case:
        """Return the numbers to solve for; ValueError where a parameter is missing or wrong."""
        slots = self.layout.parameters
        p = np.empty(sum(slot.stop - slot.start for slot in slots.values()))
        missing = slots.keys() - parameters.keys()
        if missing:
            raise ValueError(f"program {self.name!r}: parameters {sorted(missing)} are missing")
        _fill(p, slots, parameters, f"parameter of {self.name!r}")
        return self._relaxed[0].functions.make_case(p)

    def _make_start(self, guess: Solution | Point | Mapping[str, Any] | None, case: Case) -> Point:
        """Return the start of a solve from what `solve` takes as a guess."""
        cold = Point.cold(case.guess, self._relaxed[0].rows)
        if guess is None:
            return cold
        if isinstance(guess, Point):
            return self._fit_point(guess, cold)
        if isinstance(guess, Solution):
            if self.layout.same_unknowns(guess.layout):
                return self._fit_point(guess.point, cold)
            if guess.values.keys() != self.layout.variables.keys() - self.layout.added:
                raise ValueError(
                    f"program {self.name!r}: the guess is a Solution of another program, with "
                    f"{', '.join(guess.values)}: give a mapping of name to array"
                )
            guess = guess.values
        x = cold.x * self.layout.scale
        _fill(x, self.layout.variables, guess, f"guess for {self.name!r}")
        return Point.cold(self._complete(x / self.layout.scale, case), self._relaxed[0].rows)

    def _complete(self, x: Vector, case: Case) -> Vector:
        """Return x with the values of added halves of pairs that their equations give."""
        added = self.layout.added & self.layout.equality_rows.keys() & self.layout.variables.keys()
        if added:
            rows = self._relaxed[0].functions.linearise(x, case)[0]
            for name in added:
                halves = self.layout.variables[name]
                x[halves] = np.nan_to_num(x[halves] + rows[self.layout.equality_rows[name]])
        return x

    def _fit_point(self, point: Point, cold: Point) -> Point:
        """Return ``point`` with all or x alone of it, whatever fits this program; or ``cold``."""
        if not np.isfinite(point.x).all():
            return cold
        multipliers = np.append(point.lam_x, point.lam_g)
        if point.lam_g.size == self._relaxed[0].rows and np.isfinite(multipliers).all():
            return point
        return Point.cold(point.x, self._relaxed[0].rows)


def _fill(stack: Vector, slots: dict[str, slice], given: Mapping[str, Any], what: str) -> None:
    """Write the given blocks into ``stack``; ValueError that names the block where one is wrong."""
    check_names(f"{what}: no block", given, slots)
    for name, value in given.items():
        slot = slots[name]
        array = np.asarray(value, dtype=float).ravel()
        if array.size != slot.stop - slot.start:
            size = slot.stop - slot.start
            raise ValueError(f"{what}: {name!r} has {size} entries, got {value!r}")
        stack[slot] = array
    if not np.isfinite(stack).all():
        bad = [name for name, slot in slots.items() if not np.isfinite(stack[slot]).all()]
        raise ValueError(f"{what}: {', '.join(bad)} not finite: give finite numbers")
