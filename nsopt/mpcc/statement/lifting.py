"""Pairs whose halves are unknowns of their own: `lift_pairs`.

A branch of such a program differs from another by bounds of unknowns alone; see `Branches`.
"""

from __future__ import annotations

from copy import copy
from dataclasses import replace
from typing import NamedTuple

import casadi as ca
import numpy as np
from numpy.typing import NDArray

from nsopt.mpcc.statement.blocks import Pairs, stack
from nsopt.mpcc.statement.problem import Mpcc


def lift_pairs(mpcc: Mpcc) -> Mpcc:
    """Return the program with G and H of all pairs unknowns, new ones after all others.

    An equation of the same name and scale says what a new one is. Products G H then have two
    unknowns each, however many G and H depend on, and a branch of the program is a choice of
    bounds.
    """
    other = copy(mpcc)
    other.pairs = ()
    x = mpcc.x
    guess = stack(v.guess / ca.SX(v.scale) for v in mpcc.variables)
    for block in mpcc.pairs:
        G = _lift_half(other, f"G of {block.name}", block.G, block.scales[0], x, guess)
        H = _lift_half(other, f"H of {block.name}", block.H, block.scales[1], x, guess)
        other.pairs += (replace(block, G=G, H=H),)
    return other


def _lift_half(
    other: Mpcc, name: str, expr: ca.SX, scale: NDArray[np.float64], x: ca.SX, guess: ca.SX
) -> ca.SX:
    """Return G or H of a block, with new unknowns in ``other`` where it is not one itself."""
    rows = np.flatnonzero(find_own_unknowns(expr, x) < 0).tolist()
    if not rows:
        return expr
    taken = [v.name for v in other.variables] + [p.name for p in other.parameters]
    taken += [row.name for row in (*other.equalities, *other.inequalities)]
    taken += [disc.name for disc in other.discs]
    while name in taken:
        name += "_"
    start = ca.fmax(ca.substitute(expr[rows], x, guess), 0)  # zero where that is NaN
    new = other.variable(name, len(rows), lower=0, scale=scale[rows], guess=start)
    other.equal(name, expr[rows] - new, scale=scale[rows])
    half = ca.SX(expr)
    half[rows] = new
    return half


def find_own_unknowns(expr: ca.SX, x: ca.SX) -> NDArray[np.intp]:
    """Return the index of the scaled unknown that each row is a positive multiple of, or -1."""
    jacobian, at_zero = ca.jacobian(expr, x), ca.substitute(expr, x, ca.SX.zeros(*x.shape))
    rows, columns = (np.array(i, dtype=np.intp) for i in jacobian.sparsity().get_triplet())
    alone = np.bincount(rows, minlength=expr.shape[0]) == 1
    own = np.full(expr.shape[0], -1, dtype=np.intp)
    for i in np.flatnonzero(alone[rows]).tolist():
        slope = jacobian.nz[i]
        if slope.is_constant() and float(slope) > 0 and at_zero[int(rows[i])].is_zero():
            own[rows[i]] = columns[i]
    return own


def count_fixed_unknowns(mpcc: Mpcc) -> int:
    """Return how many unknowns have lower = upper as numbers."""
    bounds = [(v.lower, v.upper) for v in mpcc.variables]
    known = [b for b in bounds if b[0].is_constant() and b[1].is_constant()]
    return sum(int(np.sum(np.array(ca.DM(low)) == np.array(ca.DM(up)))) for low, up in known)


class Halves(NamedTuple):
    """The unknowns that are G and H of each pair of a lifted program."""

    G: NDArray[np.intp]  # (m,)
    H: NDArray[np.intp]  # (m,)
    factors: NDArray[np.float64]  # (m, 2) scaled G and H over their scaled unknowns

    @classmethod
    def of(cls, pairs: tuple[Pairs, ...], x: ca.SX) -> Halves:
        """Return those of scaled pairs; x (n,) are scaled unknowns."""
        G = stack(b.G / ca.SX(b.scales[0]) for b in pairs)
        H = stack(b.H / ca.SX(b.scales[1]) for b in pairs)
        factors = [ca.DM(ca.sum2(ca.jacobian(half, x))) for half in (G, H)]
        both = np.array(ca.horzcat(*factors)).reshape(-1, 2)
        return cls(find_own_unknowns(G, x), find_own_unknowns(H, x), both)
