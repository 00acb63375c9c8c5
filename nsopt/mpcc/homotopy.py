"""Solving an Mpcc: a schedule of relaxations, with return to the last good one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from time import perf_counter
from types import MappingProxyType
from typing import Any

import numpy as np

from nsopt.mpcc.backend import Backend, Outcome, Point
from nsopt.mpcc.functions import Case, Functions
from nsopt.mpcc.ipopt import Ipopt
from nsopt.mpcc.layout import Tolerances, Vector
from nsopt.mpcc.least_norm import least_norm
from nsopt.mpcc.polish import lift, polish
from nsopt.mpcc.problem import Mpcc
from nsopt.mpcc.relaxation import FischerBurmeister, Relaxation
from nsopt.mpcc.solution import Attempt, Residuals, Solution, Status

_RUNAWAY = 1e12  # scaled unknowns this large come of a relaxed program that is unbounded below
_NOTHING: Mapping[str, Any] = MappingProxyType({})


@dataclass(frozen=True)
class Solver:
    """How to solve complementarity programs.

    Parameters
    ----------
    relaxation : Relaxation
    backend : Backend
    schedule : descending positive floats
        The relaxation parameters sigma, solved one after the other, each from the last.
    tolerances : Tolerances
    polish : bool
        Newton steps on the active set at the end, to round-off; dense, so switch it off for
        programs of a thousand unknowns.
    retries : int
        Failed stages allowed. After one the solver goes back: from the last good point, to a
        sigma halfway (geometrically) between the last good and the failed one. If nothing was
        good yet it restarts from the program's own guess, then from larger sigma.

    Raises
    ------
    ValueError
        If the schedule is empty, not positive or not descending, or retries is negative.
    """

    relaxation: Relaxation = field(default_factory=FischerBurmeister)
    backend: Backend = field(default_factory=Ipopt)
    schedule: Sequence[float] = (1e-10,)
    tolerances: Tolerances = field(default_factory=Tolerances)
    polish: bool = True
    retries: int = 8

    def __post_init__(self) -> None:
        sigmas = tuple(float(s) for s in self.schedule)
        object.__setattr__(self, "schedule", sigmas)
        falls = all(a > b for a, b in pairwise(sigmas))
        if not sigmas or not sigmas[-1] > 0 or not falls:
            raise ValueError(f"schedule must be positive and descending, got {sigmas}")
        if self.retries < 0:
            raise ValueError(f"retries must be zero or more, got {self.retries}")

    def build(self, mpcc: Mpcc) -> Program:
        """Compile a snapshot of ``mpcc``; statements made later do not enter."""
        return Program(mpcc, self)


@dataclass(frozen=True, eq=False)
class _Trial:
    """A stage that was run, its point refined if the stage was the last."""

    sigma: float
    ok: bool
    point: Point
    outcome: Outcome
    residuals: Residuals
    objective: float


class Program:
    """An Mpcc compiled for one Solver; solve it for many parameters. Not for several threads."""

    def __init__(self, mpcc: Mpcc, solver: Solver) -> None:
        self.name = mpcc.name
        self.solver = solver
        self._functions = Functions(mpcc.split(), solver.relaxation, solver.tolerances)
        self.layout = self._functions.layout
        self._call = solver.backend.build(self._functions.nlp)
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
            A Solution of any Program of the same Mpcc carries x, and its multipliers where the
            numbers of constraints agree. Variables that a mapping leaves out start from the
            program's own guess.

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
        trials = self._run(case, self._start(guess, cold), cold)
        last = trials[-1]
        return Solution(
            self.layout,
            last.point,
            last.objective,
            last.residuals,
            _status(last, self.name),
            tuple(
                Attempt(t.sigma, t.ok, t.outcome.word, t.outcome.iterations, t.outcome.time)
                for t in trials
            ),
            perf_counter() - begin,
        )

    def _case(self, parameters: Mapping[str, Any]) -> Case:
        slots = self.layout.parameters
        p = np.empty(sum(at.stop - at.start for at in slots.values()))
        missing = slots.keys() - parameters.keys()
        if missing:
            raise ValueError(f"program {self.name!r}: parameters {sorted(missing)} are missing")
        _fill(p, slots, parameters, f"parameter of {self.name!r}")
        return self._functions.case(p)

    def _start(self, guess: Solution | Point | Mapping[str, Any] | None, cold: Point) -> Point:
        if guess is None:
            return cold
        if isinstance(guess, Point):
            return self._warm(guess, cold)
        if isinstance(guess, Solution):
            if not self.layout.same_unknowns(guess.layout):
                raise ValueError(
                    f"program {self.name!r}: the guess is a Solution of another program, with "
                    f"{', '.join(guess.layout.variables)}: give a mapping of name to array"
                )
            return self._warm(guess.point, cold)
        x = cold.x * self.layout.scale
        _fill(x, self.layout.variables, guess, f"guess for {self.name!r}")
        return Point.cold(x / self.layout.scale, self._rows)

    def _warm(self, point: Point, cold: Point) -> Point:
        """Return what of ``point`` can be used here: all, x alone, or nothing of it."""
        if not np.isfinite(point.x).all():
            return cold
        multipliers = np.append(point.lam_x, point.lam_g)
        if point.lam_g.size == self._rows and np.isfinite(multipliers).all():
            return point
        return Point.cold(point.x, self._rows)

    def _run(self, case: Case, start: Point, cold: Point) -> list[_Trial]:
        """Run the schedule; the last trial is the result."""
        pending = [*reversed(self.solver.schedule)]
        # before any stage was good, "halfway" is taken towards 1, an easy relaxation of scaled rows
        sigma, good = max(1.0, 100 * pending[-1]), start
        trials: list[_Trial] = []
        failures = 0
        while pending and failures <= self.solver.retries:
            trial = self._try(pending[-1], good, case, last=len(pending) == 1)
            trials.append(trial)
            if trial.ok:
                sigma, good = pending.pop(), trial.point
                continue
            failures += 1
            if good is start and start is not cold:
                good = cold
            else:
                # multipliers that led astray once are dropped
                good = Point.cold(good.x, self._rows)
                pending.append(float(np.sqrt(sigma * pending[-1])))
        return trials

    def _try(self, sigma: float, start: Point, case: Case, *, last: bool) -> _Trial:
        inside = replace(start, x=np.clip(start.x, case.lower, case.upper))
        outcome = self._call(inside, np.append(case.p, sigma), case.solver_lower, case.upper)
        residuals, relaxed, f = self._functions.report(outcome.point, sigma, case)
        bounded = np.abs(outcome.point.x).max() < _RUNAWAY
        near = bool(bounded) and relaxed <= self.solver.tolerances.stage
        if not last:
            return _Trial(sigma, near, outcome.point, outcome, residuals, f)
        trial = _Trial(sigma, residuals.largest <= 1, outcome.point, outcome, residuals, f)
        return self._refined(trial, case) if near else trial

    def _refined(self, trial: _Trial, case: Case) -> _Trial:
        """Return the trial polished, then of least norm; each kept only if it meets everything."""
        if self.solver.polish:
            x = polish(self._functions, trial.point.x, trial.residuals.rows, case)
            trial = self._moved(trial, x, case)
        if trial.ok:
            trial = self._moved(trial, least_norm(self._functions, trial.point.x, case), case)
        return trial

    def _moved(self, trial: _Trial, x: Vector | None, case: Case) -> _Trial:
        if x is None or x is trial.point.x:
            return trial
        point = replace(trial.point, x=lift(x, case))
        residuals, _, f = self._functions.report(point, trial.sigma, case)
        if not residuals.largest <= 1:
            return trial
        return replace(trial, ok=True, point=point, residuals=residuals, objective=f)


def _fill(stack: Vector, slots: dict[str, slice], given: Mapping[str, Any], what: str) -> None:
    """Write the given blocks into ``stack``; ValueError that names the block where one is wrong."""
    for name, value in given.items():
        at = slots.get(name)
        if at is None:
            raise ValueError(f"{what}: no block {name!r}, there are {', '.join(slots)}")
        array = np.asarray(value, dtype=float).ravel()
        if array.size != at.stop - at.start:
            raise ValueError(f"{what}: {name!r} has {at.stop - at.start} entries, got {value!r}")
        stack[at] = array
    if not np.isfinite(stack).all():
        bad = [name for name, at in slots.items() if not np.isfinite(stack[at]).all()]
        raise ValueError(f"{what}: {', '.join(bad)} not finite: give finite numbers")


def _status(trial: _Trial, name: str) -> Status:
    word = trial.outcome.word
    if trial.ok:
        return Status(True, "all residuals are within tolerance", "", word)
    if trial.residuals.largest <= 1:
        reason = f"{name}: no stage of the schedule after sigma {trial.sigma:.1e} was reached"
        return Status(False, reason, "allow more retries or a finer schedule", word)
    worst = trial.residuals.worst()
    remedy = worst.kind.value
    if not np.isfinite(worst.value):
        remedy = "the solver met numbers that are not finite: check the guess and the scales"
    return Status(False, f"{name}: {worst}", remedy, word)
