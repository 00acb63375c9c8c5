"""Kinds of stationary points of programs with complementarity, and their multipliers."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from enum import Enum
from itertools import product
from typing import Any, NamedTuple

import numpy as np
import scipy

from nsopt.mpcc.backends.backend import Point
from nsopt.mpcc.backends.native_output import printing_to_stderr
from nsopt.mpcc.solve.lpec import Index, Lpec, Mask
from nsopt.mpcc.statement.layout import ACTIVE, Layout, Vector

MANY = 6  # pairs with G = H = 0 up to which all 3^n combinations of signs are tried

FREE = (-np.inf, np.inf)  # bounds of a multiplier
PLUS = (0.0, np.inf)
MINUS = (-np.inf, 0.0)
ZERO = (0.0, 0.0)
Signs = tuple[tuple[float, float], tuple[float, float]]
"""Bounds of the multipliers of G and H of a pair."""


class StationarityKind(Enum):
    """Kinds of stationary points, the strongest first [Scheel, Scholtes 2000, Math. Oper. Res. 25].

    They differ by the multipliers of pairs with G = H = 0.
    """

    S = "S-stationary: both multipliers of pairs with G = H = 0 are zero or more"
    B = "B-stationary: no direction lowers the objective to first order"
    M = "M-stationary: of each pair with G = H = 0 both multipliers are positive or one is zero"
    C = "C-stationary: of each pair with G = H = 0 both multipliers have one sign"
    W = "weakly stationary: where both halves of pairs with G = H = 0 stay zero, at least"
    NONE = "not stationary"


@dataclass(frozen=True, eq=False)
class Multipliers:
    """Multipliers by block, of physical rows: grad f + sum of multipliers times gradients = 0.

    Attributes
    ----------
    equality, inequality, bounds : mapping of name to (m,)
        Of c = 0, of d <= 0 (zero or more; of values within limits negative at lower ones), of
        bounds of variables (negative at lower ones).
    pairs : mapping of name to (m, 2)
        Of -G and -H; zero or more where G or H could not go below zero without loss.
    """

    equality: Mapping[str, Vector]
    inequality: Mapping[str, Vector]
    bounds: Mapping[str, Vector]
    pairs: Mapping[str, Vector]


@dataclass(frozen=True, eq=False)
class Stationarity:
    """Which kind of stationary point was found, with the multipliers that show it.

    Attributes
    ----------
    kind : StationarityKind
    biactive : int
        Pairs with G = H = 0.
    descent : float
        How far the objective falls in a unit of the best direction, to first order, in scaled
        unknowns; infinite where that was not found out, NaN where derivatives are not finite.
    gradient : (n,)
        Of the objective, with the multipliers of the Lagrangian, in scaled units.
    multipliers : Multipliers or None
        None where there are none: not even weakly stationary, or B-stationary alone.
    """

    kind: StationarityKind
    biactive: int
    descent: float
    gradient: Vector
    multipliers: Multipliers | None

    @property
    def optimal(self) -> bool:
        """Whether no direction lowers the objective to first order."""
        return self.kind in (StationarityKind.S, StationarityKind.B)

    def __str__(self) -> str:
        if self.optimal and not self.biactive:
            return "stationary: no direction lowers the objective to first order"
        return self.kind.value


def classify(lpec: Lpec, descent: float, tolerance: float, layout: Layout) -> Stationarity:
    """Return what a point is, given the descent of the objective there, infinite if unknown.

    ``tolerance`` limits the descent, and the sum of the sizes of the entries of the Lagrangian's
    gradient, which is the norm dual to that of directions; scaled units.
    """
    if not lpec.finite:
        return Stationarity(StationarityKind.NONE, 0, np.nan, lpec.slope, None)
    system = _System.of(lpec)
    zero_G, zero_H = lpec.x[lpec.G] < ACTIVE, lpec.x[lpec.H] < ACTIVE
    both = np.flatnonzero(zero_G & zero_H)
    for kind, signs in _list_kinds(both.size):
        if kind is StationarityKind.B:
            if descent <= tolerance:
                return Stationarity(kind, both.size, descent, lpec.slope, None)
            continue
        if kind is StationarityKind.S and tolerance < descent < np.inf:
            continue
        lam = system.solve(zero_G, zero_H, dict(zip(both.tolist(), signs, strict=True)), tolerance)
        if lam is not None:
            gradient = lpec.slope + system.columns @ lam
            return Stationarity(kind, both.size, descent, gradient, system.name_rows(lam, layout))
    return Stationarity(StationarityKind.NONE, both.size, descent, lpec.slope, None)


def classify_weak(G: Vector, H: Vector) -> StationarityKind:
    """Return the kind of a weakly stationary point that may be neither S- nor B-stationary.

    G and H (k,) are the multipliers, as of `Multipliers`, of pairs with G = H = 0.
    """
    if np.all(((G > 0) & (H > 0)) | (G * H == 0)):
        return StationarityKind.M
    return StationarityKind.C if np.all(G * H >= 0) else StationarityKind.W


def _list_kinds(n: int) -> Iterator[tuple[StationarityKind, tuple[Signs, ...]]]:
    """Yield kinds with bounds of multipliers of n pairs with G = H = 0, the strongest first."""
    yield StationarityKind.S, ((PLUS, PLUS),) * n
    yield StationarityKind.B, ()
    if n <= MANY:
        choices: tuple[Signs, ...] = ((PLUS, PLUS), (ZERO, FREE), (FREE, ZERO))
        for signs in product(choices, repeat=n):
            yield StationarityKind.M, signs
        for signs in product(((PLUS, PLUS), (MINUS, MINUS)), repeat=n):
            yield StationarityKind.C, signs
    yield StationarityKind.W, ((FREE, FREE),) * n


@dataclass(frozen=True, eq=False)
class _System:
    """Gradients of all that is active at a point, a combination of which is to be -slope."""

    lpec: Lpec
    columns: scipy.sparse.csc_array  # (n, k) equations, rows, bounds, -G, -H
    on_row: Index  # inequalities that are met with equality
    on_bound: Index  # (b,) unknowns on a bound
    side: Vector  # (b,) -1 on the lower bound, 1 on the upper

    @classmethod
    def of(cls, lpec: Lpec) -> _System:
        is_half = np.zeros(lpec.x.size, dtype=bool)  # whose lower bound is G >= 0 or H >= 0
        for half in (lpec.G, lpec.H):
            is_half[half] = lpec.lower[half] <= 0
        at_low = np.flatnonzero((lpec.x - lpec.lower < ACTIVE) & ~is_half)
        at_high = np.flatnonzero(lpec.upper - lpec.x < ACTIVE)
        on_row, on_bound = np.flatnonzero(lpec.rows > -ACTIVE), np.concatenate([at_low, at_high])
        side = np.concatenate([-np.ones(at_low.size), np.ones(at_high.size)])
        unit = scipy.sparse.identity(lpec.x.size, format="csc")
        parts = [
            lpec.equations.T,
            lpec.inequalities[on_row].T,
            unit[:, on_bound] @ scipy.sparse.diags_array(side),
            -unit[:, lpec.G],
            -unit[:, lpec.H],
        ]
        return cls(lpec, scipy.sparse.hstack(parts, format="csc"), on_row, on_bound, side)

    def solve(
        self,
        zero_G: Mask,
        zero_H: Mask,
        signs: Mapping[int, Signs],
        tolerance: float,
    ) -> Vector | None:
        """Return multipliers (k,), None if none have these ``signs``, by pairs with G = H = 0."""
        bounds: list[tuple[float, float]] = [FREE] * self.lpec.equations.shape[0]
        bounds += [PLUS] * (self.on_row.size + self.on_bound.size)
        for side, zero in enumerate((zero_G, zero_H)):
            bounds += [
                signs[k][side] if k in signs else FREE if zero[k] else ZERO
                for k in range(zero.size)
            ]
        n, k = self.columns.shape
        size = scipy.sparse.identity(n)
        steepness = self.lpec.steepness or 1.0  # the tolerance of the solver is absolute
        slope = self.lpec.slope / steepness
        rows = scipy.sparse.vstack(
            [
                scipy.sparse.hstack([self.columns, -size]),
                scipy.sparse.hstack([-self.columns, -size]),
            ],
            format="csr",
        )
        with printing_to_stderr():
            end = scipy.optimize.linprog(
                np.append(np.zeros(k), np.ones(n)),
                A_ub=rows,
                b_ub=np.concatenate([-slope, slope]),
                bounds=bounds + [PLUS] * n,
            )
        if end.x is None or steepness * float(end.fun or 0.0) > tolerance:
            return None
        return steepness * end.x[:k]

    def name_rows(self, lam: Vector, layout: Layout) -> Multipliers:
        """Return multipliers by name, of physical rows."""
        lpec, rows = self.lpec, layout.row_scale
        c, r, m = lpec.equations.shape[0], lpec.rows.size, lpec.G.size
        edges = np.cumsum([c, self.on_row.size, self.on_bound.size, m])
        equality, on_row, on_bound, G, H = np.split(lam, edges)
        inequality, bounds = np.zeros(r), np.zeros(lpec.x.size)
        inequality[self.on_row] = on_row
        np.add.at(bounds, self.on_bound, self.side * on_bound)  # a fixed one is on both
        sizes = np.column_stack([rows[c + r : c + r + m], rows[c + r + m :]])
        both = np.column_stack([G, H]) / (lpec.factors * sizes)  # factors: G, H over their unknowns
        limits = _split_by_name(layout.inequality_rows, inequality / rows[c : c + r])
        limits |= {name: sides.sum_by_value(limits[name]) for name, sides in layout.sides.items()}
        return Multipliers(
            _split_by_name(layout.equality_rows, equality / rows[:c], layout.added),
            limits,
            _split_by_name(layout.variables, bounds / layout.scale, layout.added),
            _split_by_name(layout.pair_rows, both),
        )


def _split_by_name(
    slots: Mapping[str, slice], values: Vector, without: Collection[str] = ()
) -> dict[str, Vector]:
    return {name: values[slot] for name, slot in slots.items() if name not in without}


Sides = tuple[Vector, Vector]  # lower and upper bounds


class Linearised(NamedTuple):
    """A program at a point x: f + slope . d, rows + J d for a step d."""

    slope: Vector  # (n,) gradient of f
    rows: Vector  # (m,)
    J: Any  # (m, n) sparse Jacobian
    limits: Sides  # of rows
    bounds: Sides  # of x


class Certificate(NamedTuple):
    """An upper bound on the descent of any direction, from multipliers.

    Of programs of a horizon: where it is small enough, no linear program is solved.

    From grad f = gradient - J^T lam - lam_x follows, for each direction d within the radius that
    the linearised program allows, grad f . d = gradient . d - lam . J d - lam_x . d. With
    multipliers of the signs of their limits the last two cannot gain more than each multiplier
    times the distance from its limit; one whose limit is out of reach is dropped, and so is one of
    the wrong sign. At a pair with both halves within reach both are limits, which makes the point
    S-stationary.
    """

    descent: float  # f falls by no more than this times the radius, to first order
    gradient: Vector  # (n,) of the Lagrangian with the multipliers that were kept
    biactive: int  # pairs with both halves within reach

    @classmethod
    def of(
        cls, at: Linearised, end: Point, halves: tuple[Index, Index], radius: float
    ) -> Certificate:
        """Return the bound that the multipliers of a point give within a trust region.

        ``halves`` are the unknowns (k,), (k,) that are G and H of each pair, at least zero.
        """
        width = np.asarray(abs(at.J).sum(axis=1)).ravel()
        lam, lost = _keep(end.lam_g, at.rows, at.limits, radius * width)
        lam_x, lost_x = _keep(end.lam_x, end.x, at.bounds, np.full(end.x.size, radius))
        G, H = halves
        # Halves have the multipliers that make their entries of the gradient zero.
        given = -(at.slope + at.J.T @ lam)
        fixed = np.zeros(end.x.size, dtype=bool)
        for own, other in ((G, H), (H, G)):
            np.logical_or.at(fixed, own, end.x[other] > radius)
        half = np.union1d(G, H)
        usable = np.where(fixed[half], given[half], np.minimum(given[half], 0.0))
        lam_x[half] = np.where(end.x[half] <= radius, usable, 0.0)
        lost_x[half] = np.abs(lam_x[half] * end.x[half])
        gradient = at.slope + at.J.T @ lam + lam_x
        descent = np.abs(gradient).sum() + (lost.sum() + lost_x.sum()) / radius
        both = (end.x[G] <= radius) & (end.x[H] <= radius)
        return cls(float(descent), gradient, int(both.sum()))


def _keep(lam: Vector, values: Vector, sides: Sides, reach: Vector) -> tuple[Vector, Vector]:
    """Return multipliers whose limits are within reach, and what the distances from these cost."""
    lower, upper = sides
    above, below = upper - values, values - lower
    distance = np.abs(np.where(lam > 0, above, below))
    kept = np.where((distance <= reach) | (lower == upper), lam, 0.0)
    return kept, np.where(kept != 0, np.abs(kept) * np.nan_to_num(distance, posinf=0.0), 0.0)
