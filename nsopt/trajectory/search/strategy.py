"""Plans of search: strategies in order, what they work with, and which of them ran."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from time import perf_counter
from typing import ClassVar, Generic, NamedTuple, Protocol, TypeVar

from nsopt.mechanics import Dynamics
from nsopt.mpcc import Point, Schedule, Solution, StageRun, StructuredProgram
from nsopt.result import Result
from nsopt.trajectory.costs import Cost
from nsopt.trajectory.guesses import Guess
from nsopt.trajectory.horizon import Horizon
from nsopt.trajectory.search.found import Found, P
from nsopt.trajectory.search.program import SearchedProgram, StatedProgram

S = TypeVar("S")


class SolveElse(Protocol):
    """Solves the same task on another horizon, from another guess, maybe by other costs."""

    def __call__(
        self,
        horizon: Horizon,
        guess: Guess,
        *,
        without: tuple[type, ...] = (),
        costs: Sequence[Cost] | None = None,
    ) -> Result | None:
        """Return its best motion, by a plan without some strategies; None if it is refused."""


class StrategyRun(NamedTuple):
    """A strategy that ran: its name, why, the iterations of its solves, its seconds."""

    strategy: str
    why: str
    iterations: int
    seconds: float


@dataclass(eq=False)
class Spent:
    """All that was solved in a search, and the time of it [s]."""

    runs: list[StageRun] = field(default_factory=list)
    seconds: float = 0.0

    def add(self, runs: Sequence[StageRun], seconds: float) -> None:
        """Count what was solved."""
        self.runs.extend(runs)
        self.seconds += seconds

    @property
    def iterations(self) -> int:
        """Iterations of all that was solved."""
        return sum(run.iterations for run in self.runs)


@dataclass(frozen=True, eq=False)
class MotionSearch(Generic[P]):
    """What strategies work with.

    Attributes
    ----------
    plan : Plan
    start : Point
        Where the search begins.
    schedules : sequence of Schedule
        Of a solve from there.
    guess : Guess, optional
        Of which the start is; None of phases.
    solve_else : SolveElse, optional
        None of phases.
    spent : Spent
    """

    plan: Plan[P]
    start: Point
    schedules: Sequence[Schedule]
    guess: Guess | None = None
    solve_else: SolveElse | None = None
    spent: Spent = field(default_factory=Spent)

    def run(self, now: P) -> tuple[Found[P], list[StrategyRun]]:
        """Return what the plan comes to for a program, and which of its strategies ran."""
        found, ran, spent = Found(now), list[StrategyRun](), self.spent
        for strategy in self.plan.strategies:
            if not strategy.applies(self, found):
                continue
            begin, before, iterations = perf_counter(), (len(spent.runs), found), spent.iterations
            found = strategy.solve(self, found)
            if (len(spent.runs), found) != before:  # it solved something, or decided
                name, took = type(strategy).__name__, spent.iterations - iterations
                ran.append(StrategyRun(name, strategy.why, took, perf_counter() - begin))
        return found, ran

    def solve(
        self,
        now: SearchedProgram,
        start: Point,
        schedules: Sequence[Schedule] | None = None,
        *,
        by: StructuredProgram | None = None,
    ) -> Solution:
        """Solve a program, by default along its own schedules, by another form of it if given."""
        along = now.settings.schedules if schedules is None else schedules
        solution = (by or now.program).solve(now.p, *now.limits(), start, along)
        self.spent.add(solution.stages, solution.time)
        return solution

    def complete(self, solution: Solution) -> Solution:
        """Return a solution with the stages and the time of all that was solved.

        What is found stays so where a trial after it was interrupted.
        """
        runs = (replace(x, interrupted=solution.interrupted) for x in self.spent.runs)
        return replace(solution, stages=tuple(runs), time=self.spent.seconds)


class Strategy(ABC, Generic[P]):
    """One entry of a plan: what is tried on what was found so far, where it applies.

    A strategy is a frozen dataclass; its numbers are fields. ``why`` says in one sentence what it
    is for.
    """

    why: ClassVar[str]

    def check(self, dynamics: Dynamics) -> None:
        """Raise TypeError or ValueError where it does not fit a mechanism."""

    @abstractmethod
    def applies(self, search: MotionSearch[P], found: Found[P]) -> bool:
        """Return whether it is to be tried."""

    @abstractmethod
    def solve(self, search: MotionSearch[P], found: Found[P]) -> Found[P]:
        """Return what is found by it, or what was found before if that is better."""


@dataclass(frozen=True)
class Plan(Generic[P]):
    """Strategies in the order in which they are tried.

    Parameters
    ----------
    strategies : tuple of Strategy
    """

    strategies: tuple[Strategy[P], ...]

    def __str__(self) -> str:
        return "\n".join(f"{type(x).__name__}: {x.why}" for x in self.strategies)

    def without(self, *kinds: type) -> Plan[P]:
        """Return the plan without strategies of some kinds."""
        return replace(self, strategies=tuple(x for x in self.strategies if type(x) not in kinds))

    def before(self, kind: type) -> Plan[P]:
        """Return the plan of what is tried before a strategy."""
        kinds = [type(x) for x in self.strategies]
        return replace(self, strategies=self.strategies[: kinds.index(kind)])

    def find(self, kind: type[S]) -> S | None:
        """Return the first strategy of a kind; None if there is none."""
        return next((x for x in self.strategies if isinstance(x, kind)), None)

    def with_others(self, *strategies: Strategy[P]) -> Plan[P]:
        """Return the plan with other numbers of some strategies, each in the place of its kind."""
        others = {type(x): x for x in strategies}
        return replace(self, strategies=tuple(others.get(type(x), x) for x in self.strategies))


Search = MotionSearch[StatedProgram]
"""The search for one motion."""
