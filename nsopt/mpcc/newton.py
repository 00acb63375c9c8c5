"""Semismooth Newton for square programs, as one CasADi function that can be generated as C."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import casadi as ca

from nsopt.algebra import Reduced, reduced, solver_of
from nsopt.mpcc.lanes import Lanes
from nsopt.mpcc.matching import match_rows
from nsopt.mpcc.newton_rows import NewtonRows
from nsopt.mpcc.newton_steps import NewtonSteps, largest
from nsopt.mpcc.problem import Mpcc
from nsopt.mpcc.proximal_point import ProximalPoints, slope_weights
from nsopt.mpcc.proximal_search import ProximalSearch
from nsopt.mpcc.stages import TermStage, extracted, stages

ENOUGH = 5
"""Steps after which a rough residual is enough."""


@dataclass(frozen=True)
class Newton:
    """Newton on the min map: pairs are rows min(G, H), boxes and discs projections (`min_rows`).

    The program must be square, without objective, inequalities or finite bounds; multipliers of
    equations must be declared. `match_rows` finds which row is solved for which unknown. Each
    iteration solves for all unknowns at once, where equations give their own unknowns (velocities)
    first and multipliers come last. Full steps; if they do not converge, by `ProximalPoints` from
    the start again.

    Parameters
    ----------
    tolerance : float
        Largest scaled residual at which the iteration ends at once.
    rough : float
        Largest one at which it ends after five steps: where clearances are small beside the
        mechanism, round-off keeps it from falling further.
    iterations : int
        Full steps at most.
    points : ProximalPoints
    proximal : float
        See `solve_symbolic`.
    """

    tolerance: float = 1e-11
    rough: float = 1e-8
    iterations: int = 10
    points: ProximalPoints = field(default_factory=ProximalPoints)
    proximal: float = 1e-9

    def __post_init__(self) -> None:
        if not 0 < self.tolerance < 1 or not 0 <= self.proximal < 1:
            raise ValueError(f"tolerance must be in (0, 1), proximal in [0, 1), got {self}")
        if self.iterations < 1:
            raise ValueError(f"iterations must be 1 or more, got {self}")

    def lower(self, mpcc: Mpcc) -> ca.Function:
        """Return the solver as a function (x, p, last, share) -> (x, residual, iterations).

        ``x`` (n,) are the scaled unknowns, ``p`` the parameters of the program, ``last`` is 0 where
        a failure only leads to a smaller h, and 1 at h_min and elsewhere. ``share`` is the part of
        the tolerance at which full steps end at once, 1 where nothing asks for less. The residual
        is the largest scaled one, not a number where the iteration broke down.

        Raises
        ------
        ValueError
            If the program is not square, is structurally singular, or states what has no place
            here.
        """
        rows, p = NewtonRows.of(mpcc), mpcc.p
        (stage,) = stages(p, [(rows.expressions, mpcc.x)], lanes := Lanes())
        solver = self.lower_stage(mpcc, rows, stage, lanes)
        x0, p_ = ca.MX.sym("x", solver.numel_in(0)), ca.MX.sym("p", p.numel())
        last, share = ca.MX.sym("last"), ca.MX.sym("share")
        given = ca.Function("given", [p], [stage.values], {"cse": True})
        return ca.Function(
            f"{mpcc.name}_newton",
            [x0, p_, last, share],
            list(solver(x0, given(p_), last, share)),
            ["x0", "p", "last", "share"],
            ["x", "residual", "iterations"],
        )

    def lower_stage(
        self, mpcc: Mpcc, rows: NewtonRows, stage: TermStage, lanes: Lanes
    ) -> ca.Function:
        """Return the solver of a program that is solved in turn with others; see `lower`.

        Parameters
        ----------
        mpcc : Mpcc
        rows : NewtonRows
            Of the program.
        stage : TermStage
            With the expressions of these rows.
        lanes : Lanes
            Is told of symbols for terms.

        Returns
        -------
        Function (x, given, last, share) -> (x, residual, iterations)
        """
        check_square(mpcc)
        steps = _steps(mpcc, rows, stage, self.proximal, lanes)
        x0, known = ca.MX.sym("x", steps.n), ca.MX.sym("given", steps.given)
        last, share = ca.MX.sym("last"), ca.MX.sym("share")
        constants = steps.constants(known)
        z = self._full(steps)(steps.packed(x0, constants, 0), constants, last, share)
        return ca.Function(
            f"{mpcc.name}_stage",
            [x0, known, last, share],
            [z[: steps.n], steps.residual(z), z[-1]],
        )

    def _full(self, steps: NewtonSteps) -> ca.Function:
        """Return full steps until one converges; if none does, proximal points from the start."""
        z, constants = steps.symbols()
        start, last, share = ca.MX.sym("start", steps.n), ca.MX.sym("last"), ca.MX.sym("share")
        given = [z, start, constants, last, share]
        search = self._search(steps)
        rest = ca.Function("search_only", given, [search(z, start, constants, last)])
        hold = ca.Function("hold", given, [z])
        once = steps.full_step()
        for k in reversed(range(self.iterations)):
            new = once(z, constants)
            goes_on = ca.Function.if_else(f"after_{k}", hold, rest)
            after = goes_on(self._converged(steps, new, share), new, start, constants, last, share)
            rest = ca.Function(f"full_{k}", given, [after])
        begun = rest(z, z[: steps.n], constants, last, share)
        return ca.Function("full", [z, constants, last, share], [begun])

    def _search(self, steps: NewtonSteps) -> ca.Function:
        """Return (z, start, constants, last) -> z by proximal points, where they are allowed."""
        if not self.points.last:
            z, constants = steps.symbols()
            start, last = ca.MX.sym("start", steps.n), ca.MX.sym("last")
            return ca.Function("hold", [z, start, constants, last], [z])
        return ProximalSearch(self.points, steps, self.tolerance, self.rough).function()

    def _converged(self, steps: NewtonSteps, z: ca.MX, share: ca.MX) -> ca.MX:
        size = steps.residual(z)
        late = ca.logic_and(z[-1] >= ENOUGH, size <= self.rough)
        return ca.logic_or(size <= share * self.tolerance, late)


def _steps(
    mpcc: Mpcc, stated: NewtonRows, stage: TermStage, proximal: float, lanes: Lanes
) -> NewtonSteps:
    """Return the parts of an iteration.

    What of the Newton step does not depend on x is computed once in a solve.
    """
    x, p, rows, given = mpcc.x, mpcc.p, stated.replaced(stage), stage.given
    equations = sum(block.expr.numel() for block in mpcc.equalities)
    A, D, S = parts = rows.composed(x, equations)
    J, r = A + D @ S, ca.SX.sym("r", x.numel())
    plain = ca.substitute(J, ca.vertcat(*rows.point), rows.itself(x))
    match = match_rows(mpcc, _compose(plain, x, given, stage.values, p))
    move = _move(mpcc, parts, match, r, ca.SX(proximal), rows.combined)
    z, F = (rows.jacobian(y, x) for y in rows.projections[:2])
    slopes = slope_weights(z, F, J[:equations, :], match, rows.projections.in_discs)
    (*moved, slopes), constants, known = extracted([move.K, move.right, move.x, slopes], given)
    move = move._replace(K=moved[0], right=moved[1], x=moved[2])
    own = x[match]
    _, last, weights = rows.point
    for symbols, values in (
        *((r, own), (last, x), (weights, rows.projections.z)),
        *((move.y, own[move.late]),),
    ):
        lanes.liken(symbols, values)
    order = lanes.order(constants, known)
    constants, known = constants[order], known[order]
    constants, options = ca.vertcat(given, constants), {"cse": True}
    return NewtonSteps(
        ca.Function("prepare", [given], [known], options),
        ca.Function("rows", [x, constants, *rows.point], [rows.values], options),
        _moving(move, [x, r, constants, *rows.point], match, lanes),
        ca.Function("weights", [x, constants], [ca.densify(slopes)], options),
        largest(f"{mpcc.name}_largest", x.numel(), lanes),
    )


def _moving(move: Reduced, given: list[ca.SX], match: list[int], lanes: Lanes) -> ca.Function:
    """Return the function of what is given -> dx, in three: reduced, solved, substituted back."""
    options = {"cse": True}
    dx = ca.densify(move.x[[match.index(i) for i in range(len(match))]])
    (dx,), symbols, values = extracted([dx], ca.vertcat(*given))
    order = lanes.order(symbols, values)
    symbols, values = symbols[order], values[order]
    entries = ca.vertcat(ca.SX(0, 1), *move.K.nz)
    places = lanes.order(ca.SX.sym("K", entries.numel()), entries)
    entries = entries[places]
    reduce = ca.Function("reduce", given, [entries, ca.densify(move.right), values], options)
    back = ca.Function("back", [*given, move.y, symbols], [dx], options)
    inputs = [ca.MX.sym(f"in_{i}", reduce.numel_in(i)) for i in range(len(given))]
    K, right, known = reduce(*inputs)
    y = solver_of(move.K.sparsity(), places)(K, right)
    return ca.Function("move", inputs, [back(*inputs, y, known)])


def check_square(mpcc: Mpcc) -> None:
    """Refuse a program that Newton cannot solve.

    Raises
    ------
    ValueError
        Naming the program and what is too much or missing.
    """
    unknowns = mpcc.x.numel()
    rows = sum(b.expr.numel() for b in mpcc.equalities)
    rows += sum(b.G.numel() for b in mpcc.pairs) + sum(b.z.numel() for b in mpcc.boxes)
    rows += sum(b.z.numel() for b in mpcc.discs)
    rows += len(mpcc.first_events)
    of = f"program {mpcc.name!r}"
    if unknowns != rows:
        raise ValueError(f"{of} is not square: {unknowns} unknowns, {rows} equations and pairs")
    if not mpcc.objective.is_zero() or mpcc.inequalities:
        raise ValueError(f"{of} has an objective or inequalities: solve it by a Solver")


def _free(
    mpcc: Mpcc, deferred: set[int], combined: Sequence[ca.SX]
) -> list[tuple[list[int], ca.SX]]:
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
    parts: tuple[ca.SX, ca.SX, ca.SX],
    match: list[int],
    r: ca.SX,
    proximal: ca.SX,
    combined: Sequence[ca.SX],
) -> Reduced:
    """Return the Newton step for residuals r by rows matched to unknowns, and in their order.

    ``parts`` as from `NewtonRows.composed`; ``combined`` are the redundant combinations of those
    equations that have some.
    """
    A, D, S = parts
    A, S, n, m = A[:, match], S[:, match], len(match), D.shape[1]
    # An equation whose own unknown is not in it can only give a multiplier.
    equations = sum(block.expr.numel() for block in mpcc.equalities)
    own = {i for i in range(equations) if A.sparsity().has_nz(i, i)}
    deferred = [i for i in range(n) if i not in own]
    free = _free(mpcc, set(deferred), combined)
    J = ca.blockcat([[A, D], [-S, ca.SX.eye(m)]])
    right = ca.vertcat(r, ca.SX(m, 1))
    return reduced(J, right, deferred, proximal, free, range(n, n + m))


def _compose(J: ca.SX, x: ca.SX, given: ca.SX, values: ca.SX, p: ca.SX) -> ca.Function:
    """Return (x, p) -> J, where J depends on symbols ``given`` whose values depend on p."""
    x_, p_ = ca.MX.sym("x", x.numel()), ca.MX.sym("p", p.numel())
    known = ca.Function("given", [p], [values], {"cse": True})(p_)
    return ca.Function("jacobian", [x_, p_], [ca.Function("J", [x, given], [J])(x_, known)])
