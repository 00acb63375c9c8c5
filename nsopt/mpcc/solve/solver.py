"""The choices of how to solve complementarity programs: `Solver`, an option of nsopt's calls."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from nsopt.mpcc.backends.backend import Backend
from nsopt.mpcc.backends.ipopt import Ipopt
from nsopt.mpcc.solve.active_set import ActiveSet
from nsopt.mpcc.solve.program import MultiStart, Program
from nsopt.mpcc.solve.schedule import Schedule, Stage, make_schedule
from nsopt.mpcc.solve.settings import GENERAL, SQUARE, STEP, Recovery, Settings, list_recoveries
from nsopt.mpcc.statement.layout import Tolerances
from nsopt.mpcc.statement.problem import Mpcc
from nsopt.mpcc.statement.relaxation import Relaxation


@dataclass(frozen=True)
class Solver:
    """How to solve complementarity programs, a single one or one over a horizon.

    Whatever is left out (None) suits the program: a step is small and solved thousands of times, a
    motion is large and solved once.

    Parameters
    ----------
    backend : Backend
    relaxation : Relaxation, optional
        By default `Scholtes` of a program with an objective, `FischerBurmeister` of one without,
        such as a step; over a horizon `Scholtes`, or `FischerBurmeister` where the backend prefers
        equations (`Sqp`).
    schedules : sequence of schedules, optional
        A schedule is a sequence of stages, solved one after the other, each from the last; a stage
        is sigma, or a tuple of sigma and further homotopy numbers of the program. The second
        schedule is tried where the first ends without a solution. By default from 1 down to 1e-8 by
        0.1, without an objective ``[(1e-10,)]``, over a horizon those of
        `nsopt.trajectory.optimize`.
    tolerances : Tolerances, optional
        By default 1e-9, over a horizon 1e-6.
    polish : bool
        Of a single program: Newton steps on the active set at the end, to round-off; dense, so
        switch it off for programs of a thousand unknowns.
    retries : int, optional
        Failed stages allowed in each schedule, after each of which it goes back, see `Homotopy`.
        By default 2, without an objective 8, over a horizon none.
    active_set : ActiveSet, optional
        Phase II, which leads a program with an objective from the end of the homotopy to a point
        that is B-stationary; by default `ActiveSet()`, over a horizon
        ``ActiveSet(radius=1e-3, branches=10, time_limit=60.0)``. All options of one that is given
        count, so ``ActiveSet()`` over a horizon looks at branches a thousand times as far away.
    phase_two : bool
        Whether there is phase II; without it a program with an objective counts as solved where it
        is feasible, whatever kind of point that is.
    recovery : sequence of Recovery, optional
        Other homotopies, each followed from the same start where those before led to no solution.
        By default `Backend.other`, then `ExactPenalty`, `FischerBurmeister`. Of single programs;
        steps of a simulation have retries of their own.
    multi_start : MultiStart, optional
        Further starts; the best of all solutions is returned.

    Raises
    ------
    ValueError
        If a schedule is empty, not positive or not descending, or retries is negative.
    """

    backend: Backend = field(default_factory=Ipopt)
    relaxation: Relaxation | None = None
    schedules: Sequence[Sequence[float | Stage]] | None = None
    tolerances: Tolerances | None = None
    polish: bool = True
    retries: int | None = None
    active_set: ActiveSet | None = None
    phase_two: bool = True
    recovery: Sequence[Recovery] | None = None
    multi_start: MultiStart | None = None

    def __post_init__(self) -> None:
        if self.schedules is not None:
            made = tuple(make_schedule(stages) for stages in self.schedules)
            object.__setattr__(self, "schedules", made)
            if not made:
                raise ValueError("schedules must be one or more, got none: leave them out")
        if self.retries is not None and self.retries < 0:
            raise ValueError(f"retries must be zero or more, got {self.retries}")

    def settings(self, defaults: Settings = STEP) -> Settings:
        """Return the settings, with those of ``defaults`` where none are stated."""
        schedules: tuple[Schedule, ...] = defaults.schedules
        if self.schedules is not None:
            schedules = tuple(make_schedule(stages) for stages in self.schedules)
        has_phase_two = self.phase_two and defaults.active_set is not None
        return Settings(
            defaults.relaxation if self.relaxation is None else self.relaxation,
            schedules,
            defaults.tolerances if self.tolerances is None else self.tolerances,
            defaults.retries if self.retries is None else self.retries,
            self.active_set or defaults.active_set if has_phase_two else None,
        )

    def build(self, mpcc: Mpcc, defaults: Settings | None = None) -> Program:
        """Compile a snapshot of ``mpcc``; statements made later do not enter.

        Parameters
        ----------
        mpcc : Mpcc
        defaults : Settings, optional
            For what is not stated; by default `GENERAL` with an objective, `SQUARE` without.
        """
        suited = defaults or (SQUARE if mpcc.objective.is_zero() else GENERAL)
        settings, recovery = self.settings(suited), self.recovery
        if recovery is None:
            recovery = list_recoveries(self.backend, settings.relaxation) if suited.recovers else ()
        return Program(
            mpcc,
            self.backend,
            settings,
            polish=self.polish,
            recovery=recovery,
            multi_start=self.multi_start,
        )
