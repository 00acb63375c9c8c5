"""Plans of search: strategies in order (`Plan`), what runs them (`MotionSearch`), what they find.

`PreparedOptimization` runs one for a motion, `solve_phases` for phases; the plans are in plan.py.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from time import perf_counter
from typing import Any, ClassVar, Generic, NamedTuple, Protocol, Self, TypeVar

from nsopt.arrays import Array
from nsopt.mechanics import Dynamics
from nsopt.mpcc import Point, Schedule, Solution, StageRun, StructuredProgram
from nsopt.result import Result
from nsopt.trajectory.costs import Cost
from nsopt.trajectory.guesses import Guess
from nsopt.trajectory.horizon import Horizon
from nsopt.trajectory.search.program import SearchedProgram, StatedProgram
from nsopt.trajectory.search.tightening import LimitExcess
from nsopt.trajectory.transcription.base import TranscribedMotion

P = TypeVar("P", bound=SearchedProgram)


class ExactMotion(ABC):
    """A motion through contact with free times of its changes of contact; see `ExactContacts`."""

    seconds: float
    """Of the processor, that its last solve took: as long as one on as many steps takes."""

    @property
    @abstractmethod
    def motion(self) -> TranscribedMotion:
        """The motion."""

    @abstractmethod
    def record(self, motion: TranscribedMotion, p: Array, attrs: Mapping[str, Any]) -> Result:
        """Return its result; its attributes replace those of the optimum in steps, ``attrs``."""

    @abstractmethod
    def solve_on(self, factor: float) -> Self:
        """Return the same on so many times as many steps, from itself.

        Raises
        ------
        ValueError
            If it cannot be stated so.
        """


@dataclass(frozen=True, eq=False)
class Found(Generic[P]):
    """What a search has come to."""

    program: P
    solution: Solution | None = None  # where the last solve ended, be it a solution or not
    excess: LimitExcess | None = None  # over limits between nodes; None if not measured
    swings: int | None = None  # of the `Swinging` guess that led here; None of the user's own guess
    remark: str = ""  # printed before the reason why a search failed
    exact: ExactMotion | None = None  # to be recorded in place of the solution
    not_exact: str = ""  # why there is no ``exact``, where that was tried

    @property
    def end(self) -> Solution:
        """``solution``; refused if nothing was solved."""
        if self.solution is None:
            raise ValueError("no strategy of the plan solves the program: give it FromGuess()")
        return self.solution

    @property
    def is_new(self) -> bool:
        """Whether nothing was solved yet."""
        return self.solution is None

    @property
    def is_solved(self) -> bool:
        """Whether there is a solution."""
        return self.solution is not None and self.solution.ok

    @property
    def is_good(self) -> bool:
        """Whether it is a solution that keeps its limits between nodes."""
        return self.is_solved and (self.excess is None or not self.excess.fault)


FoundMotion = Found[StatedProgram]
"""What the search for one motion has come to."""


S = TypeVar("S")


class SolveElse(Protocol):
    """Solves the same task on another horizon, from another guess, maybe with other costs."""

    def __call__(
        self,
        horizon: Horizon,
        guess: Guess,
        *,
        without: tuple[type, ...] = (),
        costs: Sequence[Cost] | None = None,
    ) -> Result | None:
        """Return its best motion, by the plan without some strategies; None if it is refused."""


class StrategyRun(NamedTuple):
    """A strategy that ran, and the iterations and time of its solves."""

    strategy: str
    why: str
    iterations: int
    seconds: float


@dataclass(eq=False)
class Spent:
    """All stages that were solved in a search, and their time."""

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
    """What strategies work with."""

    plan: Plan[P]
    start: Point  # where the search begins
    schedules: Sequence[Schedule]  # for a solve from there, tried in turn
    guess: Guess | None = None  # that ``start`` is made of; None of phases
    solve_else: SolveElse | None = None  # None of phases
    spent: Spent = field(default_factory=Spent)

    def run(self, program: P) -> tuple[Found[P], list[StrategyRun]]:
        """Return what the plan finds for a program, and which of its strategies ran."""
        found, ran, spent = Found(program), list[StrategyRun](), self.spent
        for strategy in self.plan.strategies:
            if not strategy.applies(self, found):
                continue
            begin, before, iterations = perf_counter(), (len(spent.runs), found), spent.iterations
            found = strategy.solve(self, found)
            if (len(spent.runs), found) != before:  # it solved or changed something
                name, took = type(strategy).__name__, spent.iterations - iterations
                ran.append(StrategyRun(name, strategy.why, took, perf_counter() - begin))
        return found, ran

    def solve(
        self,
        program: SearchedProgram,
        start: Point,
        schedules: Sequence[Schedule] | None = None,
        *,
        by: StructuredProgram | None = None,
    ) -> Solution:
        """Solve a program and count its iterations.

        By default along its own schedules, and by ``program.structured``; ``by`` another one that
        is rough, or for a start nearby.
        """
        along = program.settings.schedules if schedules is None else schedules
        solution = (by or program.structured).solve(program.p, *program.limits(), start, along)
        self.spent.add(solution.stages, solution.time)
        return solution

    def with_all_stages(self, solution: Solution) -> Solution:
        """Return a solution with the stages and the time of all that was solved.

        Stages count as interrupted if the solution was, whatever trial came after it.
        """
        runs = (replace(x, interrupted=solution.interrupted) for x in self.spent.runs)
        return replace(solution, stages=tuple(runs), time=self.spent.seconds)


class Strategy(ABC, Generic[P]):
    """One entry of a plan, which improves what was found so far.

    A frozen dataclass whose numbers are fields; ``why`` says in one sentence what it is for.
    """

    why: ClassVar[str]
    at_last: ClassVar[bool] = False  # for the motion asked for, not for those solved on the way

    def check(self, dynamics: Dynamics) -> None:
        """Raise TypeError or ValueError where it does not fit a mechanism."""

    @abstractmethod
    def applies(self, search: MotionSearch[P], found: Found[P]) -> bool:
        """Return whether it is to be tried."""

    @abstractmethod
    def solve(self, search: MotionSearch[P], found: Found[P]) -> Found[P]:
        """Return the better of ``found`` and the solution that this strategy finds."""


@dataclass(frozen=True)
class Plan(Generic[P]):
    """Strategies in the order in which they are tried.

    Parameters
    ----------
    strategies : tuple of Strategy

    Raises
    ------
    TypeError
        If one of them is something else, such as a class.
    """

    strategies: tuple[Strategy[P], ...]

    def __post_init__(self) -> None:
        for x in self.strategies:
            if not isinstance(x, Strategy):
                raise TypeError(f"a Plan has strategies such as FromGuess(), got {x!r}")

    def __str__(self) -> str:
        return "\n".join(f"{type(x).__name__}: {x.why}" for x in self.strategies)

    def without(self, *kinds: type) -> Plan[P]:
        """Return the plan without strategies of some classes, or derived from these."""
        for kind in kinds:
            if not (isinstance(kind, type) and issubclass(kind, Strategy)):
                raise TypeError(f"Plan.without takes classes such as KeepLimits, got {kind!r}")
        rest = tuple(x for x in self.strategies if not isinstance(x, kinds))
        return replace(self, strategies=rest)

    def on_the_way(self) -> Plan[P]:
        """Return the plan for motions that are solved on the way to the one asked for."""
        return replace(self, strategies=tuple(x for x in self.strategies if not x.at_last))

    def then(self, *strategies: Strategy[P]) -> Plan[P]:
        """Return the plan with strategies more, after all others."""
        return replace(self, strategies=(*self.strategies, *strategies))

    def before(self, strategy: Strategy[P]) -> Plan[P]:
        """Return the plan of the strategies before one of them."""
        return replace(self, strategies=self.strategies[: self.strategies.index(strategy)])

    def find(self, kind: type[S]) -> S | None:
        """Return the first strategy of a class; None if there is none."""
        return next((x for x in self.strategies if isinstance(x, kind)), None)

    def with_others(self, *strategies: Strategy[P]) -> Plan[P]:
        """Return the plan with each of some in place of that of its class, or one it derives from.

        Raises
        ------
        ValueError
            If there is none.
        """
        found = list(self.strategies)
        for other in strategies:
            places = [k for k, x in enumerate(found) if isinstance(other, type(x))]
            if not places:
                name = type(other).__name__
                raise ValueError(f"the plan has no {name} to be replaced: Plan.then adds one")
            for k in places:
                found[k] = other
        return replace(self, strategies=tuple(found))


Search = MotionSearch[StatedProgram]
"""The search for one motion."""
