"""A square program for the kernels: its terms as a function, its rows as index arrays."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import casadi as ca

from nsopt.kernels import Sizes, Square, make_square
from nsopt.mpcc.blocks import stacked
from nsopt.mpcc.matching import match_rows
from nsopt.mpcc.min_map import min_rows
from nsopt.mpcc.newton import check_square
from nsopt.mpcc.newton_rows import Differentiated, with_symbols
from nsopt.mpcc.problem import Mpcc


@dataclass(frozen=True, eq=False)
class SquareProgram:
    """A program of equations and complementarity, as kernels solve it.

    Attributes
    ----------
    values : Function (x, p) -> (terms, which pairs and events are active, derivatives of the terms
            row by row, redundant combinations row by row)
        Of scaled unknowns and parameters.
    square : Square
    """

    values: ca.Function
    square: Square

    @classmethod
    def of(cls, mpcc: Mpcc) -> SquareProgram:
        """Return a program without objective, inequalities and bounds.

        Raises
        ------
        ValueError
            If it is not square, or structurally singular.
        """
        check_square(mpcc)
        x, p = mpcc.x, mpcc.p
        other, differentiated = with_symbols(mpcc)
        terms = ca.densify(_terms(other))
        derivatives = _derivatives(terms, x, differentiated)
        terms = ca.substitute(terms, *differentiated[:2])
        by_rows = derivatives.T  # its entries are those of the derivatives row by row
        starts, columns = by_rows.sparsity().colind(), by_rows.sparsity().row()
        of_terms = [columns[starts[i] : starts[i + 1]] for i in range(terms.numel())]
        match = match_rows(mpcc, _jacobian(mpcc))
        # Of multipliers: an equation that gives its own unknown is eliminated before them.
        redundant = [
            (rows, U)
            for rows, U in _redundant(mpcc)
            if not any(match[i] in of_terms[i] for i in rows)
        ]
        pairs_active = stacked(b.active for b in mpcc.pairs)
        events_active = stacked(b.active for b in mpcc.first_events)
        combinations = stacked(ca.vec(U.T) for _, U in redundant)
        entries = stacked(by_rows.nz[k] for k in range(by_rows.nnz()))
        y = ca.vertcat(terms, pairs_active, events_active, entries, combinations)
        values = ca.Function(f"{mpcc.name}_values", [x, p], [ca.densify(y)])
        events = [b.expr.numel() for b in mpcc.first_events]
        sets = [(rows, U.shape[1]) for rows, U in redundant]
        return cls(values, make_square(_sizes(mpcc), events, match, of_terms, sets))


def _sizes(mpcc: Mpcc) -> Sizes:
    return Sizes(
        sum(b.expr.numel() for b in mpcc.equalities),
        sum(b.G.numel() for b in mpcc.pairs),
        sum(b.z.numel() for b in mpcc.boxes),
        sum(b.radius.numel() for b in mpcc.discs),
        len(mpcc.first_events),
        sum(b.expr.numel() for b in mpcc.first_events),
    )


def _terms(mpcc: Mpcc) -> ca.SX:
    """Return the terms in the order of `Sizes`, scaled."""
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
    return stacked(
        [
            *(b.expr / ca.SX(b.scale) for b in mpcc.equalities),
            *(b.G / ca.SX(b.scales[0]) for b in pairs),
            *(b.H / ca.SX(b.scales[1]) for b in pairs),
            *of_boxes,
            *of_discs,
            *(b.expr / ca.SX(b.scale) for b in mpcc.first_events),
        ]
    )


def _derivatives(terms: ca.SX, x: ca.SX, differentiated: Differentiated) -> ca.SX:
    symbols, values, slopes = differentiated
    J = ca.jacobian(terms, x) + ca.jacobian(terms, symbols) @ slopes
    return ca.substitute(J, symbols, values)


def _redundant(mpcc: Mpcc) -> list[tuple[list[int], ca.SX]]:
    """Return the rows of equations that hold by others, and these combinations."""
    found, first = [], 0
    for block in mpcc.equalities:
        rows = list(range(first, first + block.expr.numel()))
        if block.redundant is not None:
            found.append((rows, block.redundant))
        first += len(rows)
    return found


def _jacobian(mpcc: Mpcc) -> ca.Function:
    """Return (x, p) -> derivatives of all rows, of those of the min map as it is there."""
    x, p = mpcc.x, mpcc.p
    equations: Sequence[ca.SX] = [b.expr / ca.SX(b.scale) for b in mpcc.equalities]
    rows = stacked([*equations, *(row.value for row in min_rows(mpcc))])
    return ca.Function("jacobian", [x, p], [ca.jacobian(rows, x)])
