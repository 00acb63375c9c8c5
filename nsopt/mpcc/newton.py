"""Semismooth Newton for square programs, as one CasADi function that can be generated as C."""

from __future__ import annotations

from dataclasses import dataclass

import casadi as ca

from nsopt.algebra import repeated, solve_symbolic
from nsopt.mpcc.blocks import stacked
from nsopt.mpcc.matching import match_rows
from nsopt.mpcc.min_map import min_rows, narrowed
from nsopt.mpcc.problem import Mpcc

ENOUGH = 5
DAMPING = (1.0, 0.5, 0.25, 0.06)


@dataclass(frozen=True)
class Newton:
    """Newton on the min map: pairs are rows min(G, H), boxes and discs projections (`min_rows`).

    The program must be square, without objective, inequalities or finite bounds; multipliers of
    equations must be declared. `match_rows` finds which row is solved for which unknown. Each
    iteration solves for all unknowns at once, where equations give their own unknowns (velocities)
    first and multipliers come last. Full steps; if they do not converge, damped ones that lower
    the largest residual; then, where no smaller h is to be tried, damped ones while limits that
    depend on unknowns, as those of friction, grow from zero to the whole.

    Parameters
    ----------
    tolerance : float
        Largest scaled residual at which the iteration ends at once.
    rough : float
        Largest one at which it ends after five steps: where clearances are small beside the
        mechanism, round-off keeps it from falling further.
    iterations, damped : int
        At most that many full and damped steps.
    ramp : int
        In how many parts limits grow, each with as many damped steps; without those there is none.
    proximal, firm : float
        See `solve_symbolic`; of full and of damped steps. Where bodies jam, many impulses give the
        same motion, and a larger part keeps steps from running along them.
    """

    tolerance: float = 1e-11
    rough: float = 1e-8
    iterations: int = 10
    damped: int = 30
    ramp: int = 10
    proximal: float = 1e-9
    firm: float = 1e-3

    def __post_init__(self) -> None:
        if not 0 < self.tolerance < 1 or not 0 <= self.proximal <= self.firm < 1:
            raise ValueError(
                f"tolerance and proximal must be in (0, 1), firm from proximal on, got {self}"
            )
        if self.iterations < 1 or self.damped < 0 or self.ramp < 0:
            raise ValueError(f"iterations must be 1 or more, damped and ramp 0 or more, got {self}")

    def lower(self, mpcc: Mpcc) -> ca.Function:
        """Return the solver as a function (x, p, last) -> (x, residual, iterations).

        ``x`` (n,) are the scaled unknowns, ``p`` the parameters of the program, ``last`` is 0 where
        a failure only leads to a smaller h, and 1 at h_min and elsewhere. The residual is
        the largest scaled one, not a number where the iteration broke down.

        Raises
        ------
        ValueError
            If the program is not square, is structurally singular, or states what has no place
            here.
        """
        check_square(mpcc)
        x = ca.vertcat(*(v.scaled for v in mpcc.variables))
        p = stacked(block.symbol for block in mpcc.parameters)
        r = ca.SX.sym("r", x.numel())
        share, proximal = ca.SX.sym("share"), ca.SX.sym("proximal")
        # What does not depend on x is computed once in a solve: first what the rows need, which
        # then counts as given in their Jacobian, then what the Newton step needs besides.
        combined = [block.redundant for block in mpcc.equalities if block.redundant is not None]
        limited = ca.densify(_rows(narrowed(mpcc, share)))
        (rows, *combined), given, first = _parametric([limited, *combined], p)
        J, ramped = ca.jacobian(rows, x), ca.depends_on(rows, share)
        match = match_rows(mpcc, _composed(ca.substitute(J, share, 1), x, given, first, p))
        move = _move(mpcc, J, match, r, proximal, combined)
        (rows, dx), constants, second = _parametric([rows, move], given)
        known = ca.Function("known", [given], [second])(first)
        options = {"cse": True}
        return _Iteration(
            self,
            mpcc.name,
            ca.Function("prepare", [p], [ca.densify(known)], options),
            ca.Function("residual", [x, constants, share], [rows], options),
            ca.Function("move", [x, r, constants, share, proximal], [dx], options),
            self.ramp if ramped else 0,
        ).function()


@dataclass(frozen=True, eq=False)
class _Iteration:
    """Newton's iteration on z = (x, residual rows, count), from its three parts.

    Residual and move are functions of the share of limits, too, move of its proximal part.
    """

    options: Newton
    name: str
    prepare: ca.Function
    residual: ca.Function
    move: ca.Function
    ramp: int

    def function(self) -> ca.Function:
        """Return (x, p, last) -> (x, residual, iterations)."""
        n, m = self.residual.numel_in(0), self.residual.numel_in(1)
        x0, p = ca.MX.sym("x", n), ca.MX.sym("p", self.prepare.numel_in(0))
        last, constants = ca.MX.sym("last"), self.prepare(p) if m else ca.MX(0, 1)
        z = self._full(2 * n + 1)(self._packed(x0, constants, 0), constants, last)
        return ca.Function(
            f"{self.name}_newton",
            [x0, p, last],
            [z[:n], _largest(z[n : 2 * n]), z[-1]],
            ["x0", "p", "last"],
            ["x", "residual", "iterations"],
        )

    def _full(self, size: int) -> ca.Function:
        """Return full steps until one converges; if none does, damped ones from the start again."""
        z, constants = self._symbols(size)
        start, last = ca.MX.sym("start", size), ca.MX.sym("last")
        given = [z, start, constants, last]
        hold, rest = ca.Function("hold", given, [z]), self._rescue(size)
        step = self._full_step(size)
        for k in reversed(range(self.options.iterations)):
            new, converged = step(z, constants)
            goes_on = ca.Function.if_else(f"after_{k}", hold, rest)
            rest = ca.Function(
                f"full_{k}", given, [goes_on(converged, new, start, constants, last)]
            )
        return ca.Function("full", [z, constants, last], [rest(z, z, constants, last)])

    def _full_step(self, size: int) -> ca.Function:
        """Return one full step, and whether it has converged."""
        z, constants = self._symbols(size)
        dx = self._direction(z, constants, 1.0, self.options.proximal)
        new = self._moved(z, dx, constants, 1.0, 1.0)
        return ca.Function("full_step", [z, constants], [new, self._converged(new)])

    def _rescue(self, size: int) -> ca.Function:
        z, constants = self._symbols(size)
        start, last = ca.MX.sym("start", size), ca.MX.sym("last")
        hold = ca.Function("hold", [z, start, constants], [z])
        ramp = ca.Function.if_else("ramp_unless", hold, self._ramp(size))
        # Full steps that failed may have led astray.
        out = ca.vertcat(start[:-1], z[-1]) if self.options.damped else z
        out = self._several(size)(out, constants, 1.0)
        if self.ramp and self.options.damped:
            done = ca.logic_or(self._converged(out), ca.logic_not(last))
            out = ramp(done, out, start, constants)
        return ca.Function("rescue", [z, start, constants, last], [out])

    def _ramp(self, size: int) -> ca.Function:
        """Return damped steps at limits that grow, from the start again."""
        z, constants = self._symbols(size)
        start, several = ca.MX.sym("start", size), self._several(size)
        out = ca.vertcat(start[:-1], z[-1])
        for k in range(self.ramp + 1):
            share = k / max(self.ramp, 1)
            n = size // 2
            out = several(self._packed(out[:n], constants, out[-1], share), constants, share)
        return ca.Function("ramp", [z, start, constants], [out])

    def _several(self, size: int) -> ca.Function:
        """Return damped steps until one converges, at a share of limits."""
        z, constants = self._symbols(size)
        given = [z, constants, ca.MX.sym("share")]
        hold = ca.Function("hold", given, [z])
        if not self.options.damped:
            return hold
        unless = ca.Function.if_else("damped_unless", hold, self._damped(size))
        once = ca.Function("damped_once", given, [unless(self._converged(z), *given)])
        return repeated(once, self.options.damped)

    def _damped(self, size: int) -> ca.Function:
        """Return one step, of the lengths in DAMPING the one with the least residual."""
        z, constants = self._symbols(size)
        share, step = ca.MX.sym("share"), self._step(size)
        dx = self._direction(z, constants, share, self.options.firm)
        best, least = step(z, dx, constants, DAMPING[0], share)
        for length in DAMPING[1:]:
            other, residual = step(z, dx, constants, length, share)
            better = ca.logic_not(least <= residual)
            best, least = (ca.if_else(better, *x) for x in ((other, best), (residual, least)))
        return ca.Function("damped", [z, constants, share], [best])

    def _step(self, size: int) -> ca.Function:
        """Return a step along dx, and its largest residual."""
        z, constants = self._symbols(size)
        n = size // 2
        dx, length, share = ca.MX.sym("dx", n), ca.MX.sym("length"), ca.MX.sym("share")
        new = self._moved(z, dx, constants, length, share)
        given = [z, dx, constants, length, share]
        return ca.Function("step", given, [new, _largest(new[n : 2 * n])])

    def _direction(
        self, z: ca.MX, constants: ca.MX, share: ca.MX | float, proximal: float
    ) -> ca.MX:
        n = z.numel() // 2
        return self.move(z[:n], z[n : 2 * n], constants, share, proximal)

    def _moved(
        self, z: ca.MX, dx: ca.MX, constants: ca.MX, length: ca.MX | float, share: ca.MX | float
    ) -> ca.MX:
        x = z[: dx.numel()] - length * dx
        return self._packed(x, constants, z[-1] + 1, share)

    def _packed(
        self, x: ca.MX, constants: ca.MX, count: ca.MX | int, share: ca.MX | float = 1.0
    ) -> ca.MX:
        return ca.vertcat(x, self.residual(x, constants, share), count)

    def _symbols(self, size: int) -> tuple[ca.MX, ca.MX]:
        return ca.MX.sym("z", size), ca.MX.sym("constants", self.residual.numel_in(1))

    def _converged(self, z: ca.MX) -> ca.MX:
        n = z.numel() // 2
        size = _largest(z[n : 2 * n])
        late = ca.logic_and(z[-1] >= ENOUGH, size <= self.options.rough)
        return ca.logic_or(size <= self.options.tolerance, late)


def check_square(mpcc: Mpcc) -> None:
    """Refuse a program that Newton cannot solve.

    Raises
    ------
    ValueError
        Naming the program and what is too much or missing.
    """
    unknowns = sum(v.scaled.numel() for v in mpcc.variables)
    rows = sum(b.expr.numel() for b in mpcc.equalities)
    rows += sum(b.G.numel() for b in mpcc.pairs) + sum(b.z.numel() for b in mpcc.boxes)
    rows += sum(b.z.numel() for b in mpcc.discs)
    rows += len(mpcc.first_events)
    of = f"program {mpcc.name!r}"
    if unknowns != rows:
        raise ValueError(f"{of} is not square: {unknowns} unknowns, {rows} equations and pairs")
    if not mpcc.objective.is_zero() or mpcc.inequalities:
        raise ValueError(f"{of} has an objective or inequalities: solve it by a Solver")


def _free(mpcc: Mpcc, deferred: set[int], combined: list[ca.SX]) -> list[tuple[list[int], ca.SX]]:
    """Return the redundant combinations of equations with the indices of their rows."""
    free, first, given = [], 0, iter(combined)
    for block in mpcc.equalities:
        indices = list(range(first, first + block.expr.numel()))
        if block.redundant is not None and deferred.issuperset(indices):
            free.append((indices, next(given)))
        elif block.redundant is not None:
            next(given)
        first += len(indices)
    return free


def _move(
    mpcc: Mpcc,
    J: ca.SX,
    match: list[int],
    r: ca.SX,
    proximal: ca.SX,
    combined: list[ca.SX],
) -> ca.SX:
    """Return the Newton step for residuals r, (n,), by rows of J matched to unknowns.

    ``combined`` are the redundant combinations of those equations that have some.
    """
    J = J[:, match]
    # An equation whose own unknown is not in it can only give a multiplier.
    equations = sum(block.expr.numel() for block in mpcc.equalities)
    own = {i for i in range(equations) if J.sparsity().has_nz(i, i)}
    deferred = [i for i in range(len(match)) if i not in own]
    free = _free(mpcc, set(deferred), combined)
    dx = solve_symbolic(J, r, deferred, proximal, free)
    return ca.densify(dx[[match.index(i) for i in range(len(match))]])


def _rows(mpcc: Mpcc) -> ca.SX:
    """Return the scaled equations, then the min map."""
    equations = (b.expr / ca.SX(b.scale) for b in mpcc.equalities)
    return stacked([*equations, *(row.value for row in min_rows(mpcc))])


def _composed(J: ca.SX, x: ca.SX, given: ca.SX, values: ca.SX, p: ca.SX) -> ca.Function:
    """Return (x, p) -> J, where J depends on symbols ``given`` whose values depend on p."""
    x_, p_ = ca.MX.sym("x", x.numel()), ca.MX.sym("p", p.numel())
    known = ca.Function("given", [p], [values])(p_)
    return ca.Function("jacobian", [x_, p_], [ca.Function("J", [x, given], [J])(x_, known)])


def _parametric(expressions: list[ca.SX], p: ca.SX) -> tuple[list[ca.SX], ca.SX, ca.SX]:
    """Return expressions with symbols for what depends on p alone, those, and their values."""
    reduced, symbols, values = ca.extract_parametric(
        ca.cse(expressions), p, {"extract_trivial": True}
    )
    return reduced, stacked(symbols), stacked(values)


def _largest(r: ca.MX) -> ca.MX:
    """Return the largest size; not a number where any is (fmax would hide it)."""
    return ca.norm_inf(r) + 1e-300 * ca.sum1(r)  # zero times it would be simplified away
