"""The proximal point algorithm as code: damped steps to a point, full ones from there."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import casadi as ca

from nsopt.algebra import repeated
from nsopt.mpcc.newton_steps import NewtonSteps
from nsopt.mpcc.proximal_point import ProximalPoints

LENGTHS = (0.5, 0.25, 0.06)
"""Of steps, where full ones do not lower the residual: the first that does is taken."""

SIDESTEP = 0.3
"""Length of every second step where none does; the others are full."""

SUFFICIENT = 0.1
"""Of the length of a step, the part of the residual by which it must lower that."""

TRIES = 6
"""Full steps of the program itself from each point."""

LOST = 1e100
"""Residual from which on a point is given up."""


class _State(NamedTuple):
    """Where a search is; columns of symbols.

    ``size`` is the residual of the program itself, infinite until it is solved.
    """

    x: ca.MX  # (n,)
    r: ca.MX  # (n,) rows of the point
    last: ca.MX  # (n,) unknowns of the point before
    part: ca.MX
    steps: ca.MX  # for this point
    total: ca.MX  # steps in all, full ones included
    size: ca.MX

    @property
    def column(self) -> ca.MX:
        return ca.vertcat(*self)

    @classmethod
    def of(cls, s: ca.MX, n: int) -> _State:
        edges = [0, n, 2 * n, *range(3 * n, 3 * n + 5)]
        return cls(*ca.vertsplit(s, edges))


@dataclass(frozen=True, eq=False)
class ProximalSearch:
    """`ProximalPoints` on the parts of an iteration, until a program is solved to tolerances.

    Parameters
    ----------
    options : ProximalPoints
    steps : NewtonSteps
    tolerance, rough : float
        Of the scaled residual: full steps from a point end at the first, and solve by the second.
    """

    options: ProximalPoints
    steps: NewtonSteps
    tolerance: float
    rough: float

    def function(self) -> ca.Function:
        """Return (z, start, constants, last) -> z from ``start`` (n,); see `Newton.lower`."""
        n, options = self.steps.n, self.options
        z, constants = self.steps.symbols()
        start, last = ca.MX.sym("start", n), ca.MX.sym("last")
        weights = self.steps.weights(start, constants)
        first = ca.MX(options.first)
        r = self.steps.rows(start, constants, first, start, weights)
        s = _State(start, r, start, first, ca.MX(0), z[2 * n], ca.MX.inf()).column
        given = self._symbols()
        hold, once = ca.Function("hold", given, [given[0]]), self._unless_solved()
        if options.budget:
            s = repeated(once, options.budget)(s, constants, weights)
        if more := options.last - options.budget:
            unless = ca.Function.if_else("more_unless", repeated(once, more), hold)
            s = unless(last, s, constants, weights)
        end = _State.of(s, n)
        out = self.steps.packed(end.x, constants, end.total)
        return ca.Function("search", [z, start, constants, last], [out])

    def _symbols(self) -> tuple[ca.MX, ca.MX, ca.MX]:
        """Return symbols for a state, constants and weights."""
        _, constants = self.steps.symbols()
        weights = ca.MX.sym("weights", self.steps.weights.numel_out(0))
        return ca.MX.sym("s", 3 * self.steps.n + 4), constants, weights

    def _unless_solved(self) -> ca.Function:
        """Return one step, nothing where the program is solved."""
        given = self._symbols()
        hold = ca.Function("hold", given, [given[0]])
        unless = ca.Function.if_else("unless_solved", hold, self._step())
        solved = _State.of(given[0], self.steps.n).size <= self.rough
        return ca.Function("search_step", given, [unless(solved, *given)])

    def _step(self) -> ca.Function:
        """Return a step towards a point, and what follows where it is found, or not in time."""
        given, options = self._symbols(), self.options
        s, *known = given
        at = _State.of(s, self.steps.n)
        lost = ca.logic_not(self.steps.largest(at.r) <= LOST)
        late = ca.logic_or(at.steps >= options.steps, lost)
        hold = ca.Function("hold", given, [s])
        where_late = ca.Function.if_else("where_late", self._given_up(), hold)
        otherwise = ca.Function("otherwise", given, [where_late(late, *given)])
        where_found = ca.Function.if_else("where_found", self._try_full_steps(), otherwise)
        new = self._damp()(*given)
        reached = _State.of(new, self.steps.n)
        found = self.steps.largest(reached.r) <= options.inexact * reached.part
        return ca.Function("step", given, [where_found(found, new, *known)])

    def _damp(self) -> ca.Function:
        """Return the first of some lengths of Newton's step that lowers the residual enough."""
        given = self._symbols()
        s, constants, weights = given
        at = _State.of(s, self.steps.n)
        dx = self.steps.move(at.x, at.r, constants, at.part, at.last, weights)
        whole = self._move()(s, dx, 1.0, constants, weights)
        unless = ca.Function.if_else("unless_lower", self._keep(), self._shorter())
        after = unless(_lower(whole, s, 1.0, self.steps.n), whole, s, dx, constants, weights)
        return ca.Function("damped", given, [after])

    def _keep(self) -> ca.Function:
        (s, *known), n = self._symbols(), self.steps.n
        before, dx = ca.MX.sym("before", s.numel()), ca.MX.sym("dx", n)
        return ca.Function("kept", [s, before, dx, *known], [s])

    def _shorter(self) -> ca.Function:
        """Return a step of another length than the whole one."""
        (s, *known), n, moved = self._symbols(), self.steps.n, self._move()
        before, dx = ca.MX.sym("before", s.numel()), ca.MX.sym("dx", n)
        odd = ca.fmod(_State.of(before, n).steps, 2)
        best = ca.if_else(odd, moved(before, dx, SIDESTEP, *known), s)
        for length in reversed(LENGTHS):
            other = moved(before, dx, length, *known)
            best = ca.if_else(_lower(other, before, length, n), other, best)
        return ca.Function("shorter", [s, before, dx, *known], [best])

    def _move(self) -> ca.Function:
        """Return (s, dx, length, constants, weights) -> s after a step along dx."""
        (s, *known), n = self._symbols(), self.steps.n
        dx, length = ca.MX.sym("dx", n), ca.MX.sym("length")
        at = _State.of(s, n)
        x = at.x - length * dx
        new = at._replace(
            x=x, r=self._rows(x, at, known), steps=at.steps + 1, total=at.total + 1
        ).column
        return ca.Function("moved", [s, dx, length, *known], [new])

    def _try_full_steps(self) -> ca.Function:
        """Return the end of full steps where they solve the program, else the start of a point."""
        given, n = self._symbols(), self.steps.n
        s, constants, _ = given
        at = _State.of(s, n)
        end = self._full_steps()(self.steps.packed(at.x, constants, at.total), constants)
        size = self.steps.residual(end)
        solved = at._replace(x=end[:n], total=end[2 * n], size=size)
        after = self._from(at._replace(total=end[2 * n]), at.x, self.options.shrink, given)
        return ca.Function("tried", given, [ca.if_else(size <= self.rough, solved.column, after)])

    def _full_steps(self) -> ca.Function:
        """Return (z, constants) -> z after full steps, none where the program is solved."""
        z, constants = self.steps.symbols()
        hold = ca.Function("hold", [z, constants], [z])
        unless = ca.Function.if_else("unless_exact", hold, self.steps.full_step())
        exact = self.steps.residual(z) <= self.tolerance
        once = ca.Function("full_once", [z, constants], [unless(exact, z, constants)])
        return repeated(once, TRIES)

    def _given_up(self) -> ca.Function:
        """Return the start of another point, nearer to the last one."""
        given = self._symbols()
        at = _State.of(given[0], self.steps.n)
        return ca.Function("given_up", given, [self._from(at, at.last, self.options.grow, given)])

    def _from(self, at: _State, x: ca.MX, factor: float, given: Sequence[ca.MX]) -> ca.MX:
        """Return the start of a point at x, its part being multiplied by a factor."""
        new = at._replace(x=x, last=x, part=factor * at.part, steps=ca.MX(0))
        return new._replace(r=self._rows(x, new, given[1:])).column

    def _rows(self, x: ca.MX, at: _State, known: Sequence[ca.MX]) -> ca.MX:
        constants, weights = known
        return self.steps.rows(x, constants, at.part, at.last, weights)


def _lower(new: ca.MX, old: ca.MX, length: float, n: int) -> ca.MX:
    """Return whether a step of a length lowers the residual enough."""
    after, before = (_State.of(s, n).r for s in (new, old))
    return ca.norm_2(after) < (1 - SUFFICIENT * length) * ca.norm_2(before)
