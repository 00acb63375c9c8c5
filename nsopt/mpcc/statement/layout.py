"""Which entries of stacked vectors belong to which block (`Layout`), how residuals are judged."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from enum import Enum

import numpy as np
from numpy.typing import NDArray

from nsopt.mpcc.statement.blocks import Pairs, Sides
from nsopt.mpcc.statement.problem import Mpcc

Vector = NDArray[np.float64]

ACTIVE = 1e-8
"""Scaled distance at which a bound or an inequality counts as met with equality: ten times what
`Tolerances` lets a solution violate it by."""


@dataclass(frozen=True)
class Tolerances:
    """Limits that a solution must meet, in scaled units: each residual over the scale of its row.

    Parameters
    ----------
    equality, inequality, bounds : float
        Largest violation; the signs of G and H count as inequalities.
    complementarity : float
        Largest min(G, H, G H) of a pair.
    stationarity : float
        Largest entry of the gradient of the relaxed program's Lagrangian. Not judged by default:
        where both of a pair vanish, multipliers need not exist. With an objective it is
        `ActiveSet.tolerance` that counts.
    stage : float
        Largest violation of the relaxed program at a stage that is not the last.
    """

    equality: float = 1e-9
    inequality: float = 1e-9
    bounds: float = 1e-9
    complementarity: float = 1e-9
    stationarity: float = np.inf
    stage: float = 1e-6

    def __post_init__(self) -> None:
        for name, value in vars(self).items():
            if not value > 0:
                raise ValueError(f"tolerance {name} must be positive, got {value!r}")

    @property
    def rows(self) -> float:
        """Limit of rows that may be equations or inequalities."""
        return min(self.equality, self.inequality)


class Kind(Enum):
    """The kinds of residuals; the value is what to do about a large one."""

    EQUALITY = (
        "check that these equations can be met within the bounds, give a better guess, or start "
        "the schedule at a larger sigma"
    )
    ROW = "check that these conditions can be met together, or give a better guess"
    INEQUALITY = "check that the limit can be met, give a better guess, or loosen the limit"
    SIGN = "check that G and H can both be >= 0, or start the schedule at a larger sigma"
    COMPLEMENTARITY = (
        "end the schedule at a smaller sigma, keep the polish on, or choose another relaxation"
    )
    BOUNDS = "check that lower <= upper for these parameters and that the bounds can be met"
    STATIONARITY = "loosen the stationarity tolerance or choose another relaxation"


@dataclass(frozen=True, eq=False)
class Section:
    """Consecutive residuals of one block."""

    kind: Kind
    block: str
    rows: slice  # among all residuals
    limit: Vector  # (m,) tolerances in physical units
    labels: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class Layout:
    """The stacked vectors of one Mpcc."""

    variables: dict[str, slice]
    parameters: dict[str, slice]
    scale: Vector  # (n,) physical x = scale * x
    least: NDArray[np.intp]  # (k,) unknowns that take their least norm
    # Rows are equations c, inequalities d, then G of all pairs, then H of all pairs.
    equations: int = 0  # number of rows c
    inequalities: int = 0  # number of rows d
    pairs: int = 0
    row_scale: Vector = field(default_factory=lambda: np.zeros(0))  # (c + d + 2 pairs,)
    blocks_of_pairs: tuple[Pairs, ...] = ()
    equality_rows: dict[str, slice] = field(default_factory=dict)  # each counts from its own first
    inequality_rows: dict[str, slice] = field(default_factory=dict)
    pair_rows: dict[str, slice] = field(default_factory=dict)
    sides: dict[str, Sides] = field(default_factory=dict)  # of `Mpcc.within`, by name
    added: frozenset[str] = frozenset()  # names of variables and equations that nobody stated

    def mark_added(self, mpcc: Mpcc) -> Layout:
        """Return the layout with those names ``added`` that are not of the stated program."""
        stated = {*(v.name for v in mpcc.variables), *(r.name for r in mpcc.equalities)}
        return replace(self, added=frozenset({*self.variables, *self.equality_rows} - stated))

    @classmethod
    def of(cls, mpcc: Mpcc) -> Layout:
        """Lay out the blocks in the order they were stated."""
        variables = _number_slices([(v.name, v.scaled.shape[0]) for v in mpcc.variables])
        c = [r.scale for r in mpcc.equalities]
        d = [r.scale for r in mpcc.inequalities]
        G, H = [b.scales[0] for b in mpcc.pairs], [b.scales[1] for b in mpcc.pairs]
        least = [np.arange(variables[n].start, variables[n].stop) for n in mpcc.least]
        return cls(
            variables=variables,
            parameters=_number_slices([(p.name, p.symbol.shape[0]) for p in mpcc.parameters]),
            scale=_join([v.scale for v in mpcc.variables]),
            least=np.concatenate([*least, np.zeros(0, dtype=np.intp)]),
            equations=_join(c).size,
            inequalities=_join(d).size,
            pairs=_join(G).size,
            row_scale=_join([*c, *d, *G, *H]),
            blocks_of_pairs=mpcc.pairs,
            equality_rows=_number_slices([(r.name, r.scale.size) for r in mpcc.equalities]),
            inequality_rows=_number_slices([(r.name, r.scale.size) for r in mpcc.inequalities]),
            pair_rows=_number_slices([(b.name, len(b.labels)) for b in mpcc.pairs]),
            sides={r.name: r.sides for r in mpcc.inequalities if r.sides is not None},
        )

    def same_unknowns(self, other: Layout) -> bool:
        """Tell whether x of ``other`` means the same here."""
        return self is other or (
            self.variables == other.variables and np.array_equal(self.scale, other.scale)
        )


def list_sections(mpcc: Mpcc, tolerances: Tolerances) -> tuple[Section, ...]:
    """Return the residuals in the order of `Functions.report`."""
    sections: list[Section] = []
    first = 0
    for kind, block, limit, labels in _list_residuals(mpcc, tolerances):
        sections.append(Section(kind, block, slice(first, first + limit.size), limit, labels))
        first += limit.size
    return tuple(sections)


def _list_residuals(
    mpcc: Mpcc, t: Tolerances
) -> Iterator[tuple[Kind, str, Vector, tuple[str, ...]]]:
    """Yield kind, name of the block, limits (m,) and labels of the residuals of each block."""
    for r in mpcc.equalities:
        yield Kind.EQUALITY, r.name, t.equality * r.scale, _label_rows(r.scale.size)
    for r in mpcc.inequalities:
        labels = _label_rows(r.scale.size) if r.sides is None else r.sides.labels
        yield Kind.INEQUALITY, r.name, t.inequality * r.scale, labels
    for b in mpcc.pairs:
        yield Kind.SIGN, b.name, t.inequality * b.scales[0], tuple(f"G of {n}" for n in b.labels)
    for b in mpcc.pairs:
        yield Kind.SIGN, b.name, t.inequality * b.scales[1], tuple(f"H of {n}" for n in b.labels)
    for b in mpcc.pairs:  # of scaled G and H
        yield Kind.COMPLEMENTARITY, b.name, np.full(len(b.labels), t.complementarity), b.labels
    for side in ("lower", "upper"):
        for v in mpcc.variables:
            labels = tuple(f"{side} of {n}" for n in _label_rows(v.scale.size))
            yield Kind.BOUNDS, v.name, t.bounds * v.scale, labels
    if np.isfinite(t.stationarity):
        for v in mpcc.variables:
            n = v.scale.size
            yield Kind.STATIONARITY, v.name, np.full(n, t.stationarity), _label_rows(n)


def _label_rows(n: int) -> tuple[str, ...]:
    return tuple(f"[{i}]" for i in range(n))


def _join(parts: list[Vector]) -> Vector:
    return np.concatenate([*parts, np.zeros(0)])


def _number_slices(sizes: list[tuple[str, int]]) -> dict[str, slice]:
    ends = np.cumsum([0, *(n for _, n in sizes)])
    return {name: slice(int(a), int(a) + n) for (name, n), a in zip(sizes, ends, strict=False)}
