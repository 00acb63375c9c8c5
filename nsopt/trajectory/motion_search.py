"""How the motion of an optimization is found: in which order its programs are solved."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Generic, Protocol, TypeVar

import numpy as np

from nsopt.mpcc import (
    BENT,
    BESIDE,
    ROUGHLY,
    Point,
    Schedule,
    Solution,
    Solver,
    StructuredNlp,
    StructuredProgram,
)
from nsopt.trajectory.transcription.base import Array

ACCEPTABLE = "Solved_To_Acceptable_Level"
"""What IPOPT says of a point from which it makes no more progress."""

SIGN = 0.25
"""Part of the distance allowed between reintegrated steps and nodes, beyond which a rough motion is
a sign that its optimum is not resolved. Of forty motions of a light arm 15 were between this part
and all, and ten of these not resolved at their optimum; none of 38 of heavier arms was beyond."""


class Solvable(Protocol):
    """A motion, or phases of one, as a program."""

    @property
    def nlp(self) -> StructuredNlp:
        """The program."""

    @property
    def program(self) -> StructuredProgram:
        """What solves it."""

    def limits(self) -> tuple[Array, Array]:
        """Return bounds of the unknowns, (n,) each."""


P = TypeVar("P", bound=Solvable)


class MotionSearch(ABC, Generic[P]):
    """How the motion of an optimization is found.

    Parameters p of its methods are those that its programs are solved for.
    """

    solver: Solver

    @abstractmethod
    def first(self, now: P, p: Array, start: Point, schedules: Sequence[Schedule]) -> Solution:
        """Return the solution of a program from a start that may be far."""

    @abstractmethod
    def at_once(self, now: P, start: Point) -> bool:
        """Return whether no solution is to be rough: those in stages, or from a start nearby."""

    @abstractmethod
    def by_polynomials(self, now: P) -> bool:
        """Return whether motions are by polynomials, without complementarity."""

    @abstractmethod
    def settled(self, now: P, solution: Solution, p: Array) -> P | None:
        """Return a program whose tie-breakers decide between equals alone; None if they do."""

    @abstractmethod
    def resolved(self, now: P, solution: Solution, p: Array, part: float = 1.0) -> bool:
        """Return whether each step, under its forces, ends at the next node.

        As near as the horizon allows, or within ``part`` of that.
        """

    @abstractmethod
    def bent(self, now: P, solution: Solution, p: Array, part: float = 1.0) -> P | None:
        """Return a program with a little cost of bends where steps are not `resolved`.

        Without it light joints may move between the points that costs are taken at. None if all
        steps are resolved, or the program has this cost already.
        """

    def found(
        self, now: P, p: Array, start: Point, schedules: Sequence[Schedule]
    ) -> tuple[P, Solution]:
        """Return program and solution, before limits are kept between nodes.

        A rough solution shows already whether joints are light, at half of the iterations.
        """
        given, last = (start, schedules), None
        if self._roughly_first(now, start):
            first = now.program.rough.solve(p, *now.limits(), *given)
            if not first.ok:
                return now, first
            now, last = self._resolve(now, first, p, SIGN)
            if last is first:
                further = now.program.restated(now.nlp, ROUGHLY)
                last = further.solve(p, *now.limits(), first.point, schedules).after(first)
        if last is None or not (last.ok or last.interrupted):
            again = self.first(now, p, *given)
            last = again if last is None else again.after(last)
        return self._completed(now, last, p, schedules)

    def near(
        self, now: P, p: Array, start: Point, schedules: Sequence[Schedule]
    ) -> tuple[P, Solution]:
        """Return program and solution from a start that is near."""
        return self._ended(now, now.program.solve(p, *now.limits(), start, schedules), p)

    def _completed(
        self, now: P, solution: Solution, p: Array, schedules: Sequence[Schedule]
    ) -> tuple[P, Solution]:
        """Return program and solution, with costs that settle and bound what it leaves open."""
        return self._ended(now, self._finish(now, solution, p, schedules), p)

    def _ended(self, now: P, solution: Solution, p: Array) -> tuple[P, Solution]:
        return self._resolve(*self._settle(now, solution, p), p)

    def _finish(
        self, now: P, solution: Solution, p: Array, schedules: Sequence[Schedule]
    ) -> Solution:
        """Return a solution that its solver only found acceptable solved again from there.

        Costs of flat optima may be off by 1e-4 of themselves then, though no slope shows.
        """
        if not solution.ok or now.nlp.complementary:
            return solution
        if solution.status.solver_status != ACCEPTABLE:
            return solution
        beside = now.program.restated(now.nlp, BESIDE)
        again = beside.solve(p, *now.limits(), solution.point, schedules).after(solution)
        return again if again.ok and again.objective <= solution.objective else solution

    def _roughly_first(self, now: P, start: Point) -> bool:
        """Return whether a first solution is to be rough: one with limits, which take stages."""
        if not self.by_polynomials(now) or self.at_once(now, start):
            return False
        limited, backend = bool(np.any(now.nlp.lower < now.nlp.upper)), self.solver.backend
        return limited and backend.rough != backend

    def _settle(self, now: P, solution: Solution, p: Array) -> tuple[P, Solution]:
        """Return program and solution in which a tie-breaker decides between equals alone."""
        other = self.settled(now, solution, p) if solution.ok else None
        if other is None:
            return now, solution
        start = Point.cold(solution.x, len(other.nlp.lower))
        found = other.program.solve(p, *other.limits(), start)
        return (other, found) if found.ok else (now, solution)

    def _resolve(
        self, now: P, solution: Solution, p: Array, part: float = 1.0
    ) -> tuple[P, Solution]:
        """Return program and solution of which steps are resolved, if need be by `bent`."""
        if not solution.feasible or solution.interrupted or not self.by_polynomials(now):
            return now, solution
        other = self.bent(now, solution, p, part)
        if other is None:
            return now, solution
        cold, last = Point.cold(solution.x, len(other.nlp.lower)), solution
        # From beside it is a third of the iterations; it may end beside, with steps not resolved.
        for starts, start in ((BENT, solution.point), (None, cold)):
            program = other.program.restated(other.nlp, starts)
            last = program.solve(p, *other.limits(), start).after(last)
            if last.interrupted or (last.ok and self.resolved(other, last, p)):
                break
        return (other, last) if last.ok or last.interrupted else (now, solution)
