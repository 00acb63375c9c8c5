"""The rows of a square program, for Newton on the min map."""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass, replace
from typing import NamedTuple

import casadi as ca

from nsopt.mpcc.blocks import Slopes, stacked
from nsopt.mpcc.min_map import min_rows
from nsopt.mpcc.problem import Mpcc
from nsopt.mpcc.proximal_point import Projections, near, projections
from nsopt.mpcc.stages import TermStage


class Differentiated(NamedTuple):
    """Expressions whose derivatives are stated, and symbols for them."""

    symbols: ca.SX  # (m,)
    values: ca.SX  # (m,)
    slopes: ca.SX  # (m, n) by the scaled unknowns


@dataclass(frozen=True, eq=False)
class NewtonRows:
    """What is evaluated of a program, for the next of its proximal points.

    Attributes
    ----------
    point : SX scalar, SX (n,), SX (nz,)
        Part, last point and weights of `near`.
    rows : SX (n,)
        The scaled equations, then the min map, with the symbols of ``differentiated``.
    differentiated : Differentiated
    projections : Projections
        Of the program itself, with these symbols too.
    combined : tuple of SX
        The redundant combinations of those equations that have some.
    """

    point: tuple[ca.SX, ca.SX, ca.SX]
    rows: ca.SX
    differentiated: Differentiated
    projections: Projections
    combined: tuple[ca.SX, ...]

    @classmethod
    def of(cls, mpcc: Mpcc) -> NewtonRows:
        """Return the rows of a program."""
        other, differentiated = with_symbols(mpcc)
        stated = projections(other)
        part, last = ca.SX.sym("part"), ca.SX.sym("last", mpcc.x.numel())
        point = part, last, ca.SX.sym("weights", stated.z.numel())
        rows = [_equations(other), *(row.value for row in min_rows(near(other, *point)))]
        combined = [block.redundant for block in mpcc.equalities if block.redundant is not None]
        return cls(point, ca.densify(stacked(rows)), differentiated, stated, tuple(combined))

    @property
    def expressions(self) -> list[ca.SX]:
        """All that depends on unknowns and parameters."""
        return [self.rows, *self.differentiated[1:], *self.projections[:2], *self.combined]

    def replaced(self, stage: TermStage) -> NewtonRows:
        """Return the rows with the `expressions` of a stage in place of their own."""
        rows, values, slopes, z, F, *combined = stage.expressions
        return replace(
            self,
            rows=rows,
            differentiated=self.differentiated._replace(values=values, slopes=slopes),
            projections=self.projections._replace(z=z, F=F),
            combined=tuple(combined),
        )

    @property
    def values(self) -> ca.SX:
        """The rows (n,), of the unknowns alone."""
        return ca.substitute(self.rows, *self.differentiated[:2])

    def jacobian(self, y: ca.SX, x: ca.SX) -> ca.SX:
        """Return the derivatives of expressions with the symbols by the unknowns, (m, n)."""
        symbols, values, slopes = self.differentiated
        J = ca.jacobian(y, x) + ca.jacobian(y, symbols) @ slopes
        return ca.substitute(J, symbols, values)

    def composed(self, x: ca.SX, equations: int) -> tuple[ca.SX, ca.SX, ca.SX]:
        """Return derivatives A, D, S of the rows A dx + D ds for ds = S dx.

        Of the symbols s only those that no equation contains, of which there are ``equations``.
        """
        symbols, values, slopes = self.differentiated
        A, D = ca.jacobian(self.rows, x), ca.jacobian(self.rows, symbols)
        pattern = D[:equations, :].sparsity()
        stated = sorted({int(j) for j in pattern.get_col()})
        others = [j for j in range(symbols.numel()) if j not in stated]
        A += D[:, stated] @ slopes[stated, :]
        found = (ca.substitute(y, symbols, values) for y in (A, D[:, others], slopes[others, :]))
        A, D, S = found
        return A, D, S

    def itself(self, x: ca.SX) -> ca.SX:
        """Return the values of ``point`` at which the rows are those of the program itself."""
        part, _, weights = self.point
        return ca.vertcat(ca.SX.zeros(part.numel()), x, ca.SX.ones(weights.numel()))


def _equations(mpcc: Mpcc) -> ca.SX:
    return stacked(b.expr / ca.SX(b.scale) for b in mpcc.equalities)


def with_symbols(mpcc: Mpcc) -> tuple[Mpcc, Differentiated]:
    """Return a program with symbols where derivatives are stated."""
    other, parts = copy(mpcc), []

    def symbol(expr: ca.SX, slopes: Slopes | None) -> ca.SX:
        symbols = ca.SX.sym("g", expr.numel())
        by_x = (
            ca.jacobian(expr, mpcc.x)
            if slopes is None
            else _by_unknowns(mpcc, expr.numel(), slopes)
        )
        parts.append(Differentiated(symbols, expr, by_x))
        return symbols

    other.equalities = tuple(
        b if b.slopes is None else replace(b, expr=symbol(b.expr, b.slopes))
        for b in mpcc.equalities
    )
    other.pairs = tuple(
        b if b.slopes is None and _plain(b.G) else replace(b, G=symbol(b.G, b.slopes))
        for b in mpcc.pairs
    )
    n = mpcc.x.numel()
    none = Differentiated(ca.SX(0, 1), ca.SX(0, 1), ca.SX(0, n))
    return other, Differentiated(*(ca.vertcat(*x) for x in zip(none, *parts, strict=True)))


def _plain(column: ca.SX) -> bool:
    """Tell whether entries are symbols or numbers."""
    return not any(e.n_dep() for e in ca.vertsplit(ca.densify(column)))


def _by_unknowns(mpcc: Mpcc, m: int, slopes: Slopes) -> ca.SX:
    """Return derivatives by all scaled unknowns, (m, n)."""
    columns = [
        slopes[v.name] @ ca.diag(ca.SX(v.scale)) if v.name in slopes else ca.SX(m, v.scaled.numel())
        for v in mpcc.variables
    ]
    return ca.horzcat(ca.SX(m, 0), *columns)
