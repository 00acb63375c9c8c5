"""A square program for the kernels: its terms as a function, its rows as index arrays."""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from time import perf_counter
from typing import NamedTuple

import casadi as ca
import numpy as np
from numpy.typing import ArrayLike

from nsopt.arrays import Array
from nsopt.kernels import (
    Sizes,
    Square,
    Workspace,
    make_square,
    own_terms,
    pack,
    solve_square,
    terms_of_rows,
    workspace_sizes,
)
from nsopt.leaves import Leaf
from nsopt.mpcc.square.matching import RowDerivatives, match_rows
from nsopt.mpcc.square.newton import Newton
from nsopt.mpcc.statement.blocks import Slopes, stack
from nsopt.mpcc.statement.problem import Mpcc


@dataclass(frozen=True, eq=False)
class SquareProgram:
    """A program of equations and complementarity, as kernels solve it.

    Attributes
    ----------
    mpcc : Mpcc
    y : SX
        The terms, which pairs and events are active, the derivatives of the terms by the scaled
        unknowns, row by row.
    square : Square
    """

    mpcc: Mpcc
    y: ca.SX
    square: Square

    @classmethod
    def of(cls, mpcc: Mpcc) -> SquareProgram:
        """Return a program without objective, inequalities and bounds.

        Raises
        ------
        ValueError
            If it is not square or structurally singular, or has an objective or inequalities.
        """
        sizes, events = _count_rows(mpcc), tuple(b.expr.numel() for b in mpcc.first_events)
        of, unknowns = f"program {mpcc.name!r}", mpcc.x.numel()
        if unknowns != sizes.rows:
            raise ValueError(
                f"{of} is not square: {unknowns} unknowns, {sizes.rows} equations and pairs"
            )
        if not mpcc.objective.is_zero() or mpcc.inequalities:
            raise ValueError(f"{of} has an objective or inequalities: solve it by a Solver")
        other, differentiated = replace_by_symbols(mpcc)
        derivatives = _differentiate_terms(other, differentiated)
        terms = ca.densify(_list_terms(mpcc))
        by_rows = derivatives.T  # its entries are those of the derivatives row by row
        starts, columns = by_rows.sparsity().colind(), by_rows.sparsity().row()
        columns_of_terms = tuple(tuple(columns[a:b]) for a, b in pairwise(starts))
        rows, own = terms_of_rows(sizes, events), own_terms(sizes, events)
        match = tuple(match_rows(mpcc, RowDerivatives.of(mpcc, derivatives, rows, own)))
        # Only those matched to multipliers: others are eliminated before, by their own unknowns.
        redundant = tuple(
            tuple(rows)
            for rows in _list_redundant(mpcc)
            if not any(match[i] in columns_of_terms[i] for i in rows)
        )
        pairs_active = stack(b.active for b in mpcc.pairs)
        events_active = stack(b.active for b in mpcc.first_events)
        entries = ca.vec(by_rows.nz[:])  # a column, of one unknown too
        y = ca.densify(ca.vertcat(terms, pairs_active, events_active, entries))
        return cls(mpcc, y, make_square(sizes, events, match, columns_of_terms, redundant))

    @cached_property
    def values(self) -> ca.Function:
        """The function (x, p) -> y."""
        return ca.Function(f"{self.mpcc.name}_values", [self.mpcc.x, self.mpcc.p], [self.y])

    @cached_property
    def leaf(self) -> Leaf:
        """``values`` as machine code, the derivatives apart."""
        return Leaf(self.values, self.square.head)


class Differentiated(NamedTuple):
    """Expressions with symbols in place of them, and their derivatives, mostly stated ones."""

    symbols: ca.SX  # (m,)
    values: ca.SX  # (m,)
    slopes: ca.SX  # (m, n) by the scaled unknowns


class SquareSolver:
    """A square program that is solved by itself, many times.

    Bounds of variables are not looked at: state them as pairs or boxes.

    Parameters
    ----------
    mpcc : Mpcc
    newton : Newton

    Raises
    ------
    ValueError
        See `SquareProgram.of`.
    """

    def __init__(self, mpcc: Mpcc, newton: Newton) -> None:
        self.program = SquareProgram.of(mpcc)
        self._newton, self._leaf = newton, self.program.leaf

    def __call__(
        self, x: ArrayLike, p: ArrayLike, *, last: bool = True
    ) -> tuple[Array, float, int]:
        """Return scaled unknowns, the largest scaled residual, and the steps of Newton.

        The residual is not a number where the iteration broke down.

        Parameters
        ----------
        x : (n,)
            Scaled unknowns to begin from.
        p : (np,)
            Parameters of the program.
        last : bool
            Whether the search may take as many steps as `ProximalPoints.last`, as where no easier
            program can follow a failure; else as many as `ProximalPoints.budget`.
        """
        workspace, residual, steps = self.workspace(x, p, last=last)
        return workspace.x, residual, steps

    def workspace(
        self, x: ArrayLike, p: ArrayLike, *, last: bool = True
    ) -> tuple[Workspace, float, int]:
        """Return all numbers of a solve, its residual and steps; arguments as for the call."""
        code, square = self._leaf.code, self.program.square
        sizes = workspace_sizes(square, known=0, kept=code.kept)  # p itself is not looked at again
        packed, space = pack(square, sizes), np.zeros(sum(sizes))
        views = Workspace._make(np.split(space, np.cumsum(sizes)[:-1]))
        views.x[:] = x
        code.keep(p, views.kept)
        begin, numbers = perf_counter(), self._newton.numbers
        addresses = code.evaluate, code.complete
        share = 1.0  # of the tolerance
        residual, steps = solve_square(packed, space, *addresses, numbers, last, share)
        self._leaf.spend(perf_counter() - begin)  # after some use `code` is better code
        return views, residual, steps


def _count_rows(mpcc: Mpcc) -> Sizes:
    return Sizes(
        sum(b.expr.numel() for b in mpcc.equalities),
        sum(b.G.numel() for b in mpcc.pairs),
        sum(b.z.numel() for b in mpcc.boxes),
        sum(b.radius.numel() for b in mpcc.discs),
        len(mpcc.first_events),
        sum(b.expr.numel() for b in mpcc.first_events),
    )


def _list_terms(mpcc: Mpcc) -> ca.SX:
    """Return the terms in the order of `Sizes`, scaled: rho F of a disc is of the kind of its z."""
    pairs, boxes, discs = mpcc.pairs, mpcc.boxes, mpcc.discs
    of_boxes = [
        *((b.z - b.lower) / ca.SX(b.scales[0]) for b in boxes),
        *((b.z - b.upper) / ca.SX(b.scales[0]) for b in boxes),
        *(b.F / ca.SX(b.scales[1]) for b in boxes),
        *(b.z / ca.SX(b.scales[0]) for b in boxes),
    ]
    twice = [ca.vec(ca.repmat(ca.SX(b.scales[0]).T, 2, 1)) for b in discs]
    rho = [ca.vec(ca.repmat(b.rho.T, 2, 1)) for b in discs]
    of_discs = [
        *(b.z / size for b, size in zip(discs, twice, strict=True)),
        *(b.F * r / size for b, r, size in zip(discs, rho, twice, strict=True)),
        *(b.radius / ca.SX(b.scales[0]) for b in discs),
    ]
    return stack(
        [
            *(b.expr / ca.SX(b.scale) for b in mpcc.equalities),
            *(b.G / ca.SX(b.scales[0]) for b in pairs),
            *(b.H / ca.SX(b.scales[1]) for b in pairs),
            *of_boxes,
            *of_discs,
            *(b.expr / ca.SX(b.scale) for b in mpcc.first_events),
        ]
    )


def _differentiate_terms(mpcc: Mpcc, differentiated: Differentiated) -> ca.SX:
    """Return the derivatives of the terms by scaled unknowns, through the symbols too."""
    symbols, _, slopes = differentiated
    terms, n = ca.densify(_list_terms(mpcc)), mpcc.x.numel()
    by_all = _differentiate(terms, ca.vertcat(mpcc.x, symbols), mpcc.p)
    return by_all[:, :n] + by_all[:, n:] @ slopes  # no symbol is left


def _differentiate(expr: ca.SX, x: ca.SX, p: ca.SX) -> ca.SX:
    """Return the Jacobian by x; what depends on p alone, most of a step, is not differentiated."""
    rest, symbols, known = ca.extract_parametric(expr, p)
    return ca.substitute(ca.jacobian(rest, x), stack(symbols), stack(known))


def _list_redundant(mpcc: Mpcc) -> list[list[int]]:
    """Return the sets of equations, as indices, of which some follow from the others."""
    found, first = [], 0
    for block in mpcc.equalities:
        rows = list(range(first, first + block.expr.numel()))
        if block.redundant:
            found.append(rows)
        first += len(rows)
    return found


def replace_by_symbols(mpcc: Mpcc) -> tuple[Mpcc, Differentiated]:
    """Return a program with symbols for what has stated derivatives, and for G of pairs.

    The Jacobian of G, often long expressions, takes fewer operations by itself than as a part of
    that of all terms: a third fewer in some programs, as many in most.
    """
    other, parts = copy(mpcc), []

    def symbol(expr: ca.SX, slopes: Slopes | None) -> ca.SX:
        symbols = ca.SX.sym("g", expr.numel())
        by_x = (
            _differentiate(expr, mpcc.x, mpcc.p)
            if slopes is None
            else _spread_slopes(mpcc, expr.numel(), slopes)
        )
        parts.append(Differentiated(symbols, expr, by_x))
        return symbols

    other.equalities = tuple(
        b if b.slopes is None else replace(b, expr=symbol(b.expr, b.slopes))
        for b in mpcc.equalities
    )
    other.pairs = tuple(
        b if b.slopes is None and _is_plain(b.G) else replace(b, G=symbol(b.G, b.slopes))
        for b in mpcc.pairs
    )
    other.boxes = tuple(
        b if b.slopes is None else replace(b, F=symbol(b.F, b.slopes)) for b in mpcc.boxes
    )
    other.discs = tuple(
        b if b.slopes is None else replace(b, F=symbol(b.F, b.slopes)) for b in mpcc.discs
    )
    n = mpcc.x.numel()
    none = Differentiated(ca.SX(0, 1), ca.SX(0, 1), ca.SX(0, n))
    return other, Differentiated(*(ca.vertcat(*x) for x in zip(none, *parts, strict=True)))


def _is_plain(column: ca.SX) -> bool:
    """Tell whether entries are symbols or numbers."""
    return not any(e.n_dep() for e in ca.vertsplit(ca.densify(column)))


def _spread_slopes(mpcc: Mpcc, m: int, slopes: Slopes) -> ca.SX:
    """Return derivatives by all scaled unknowns, (m, n)."""
    columns = [
        slopes[v.name] @ ca.diag(ca.SX(v.scale)) if v.name in slopes else ca.SX(m, v.scaled.numel())
        for v in mpcc.variables
    ]
    return ca.horzcat(ca.SX(m, 0), *columns)
