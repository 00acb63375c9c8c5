"""Proximal points of a program: regular where the program is not."""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import NamedTuple

import casadi as ca
import numpy as np

from nsopt.mpcc.blocks import Scale, stacked
from nsopt.mpcc.min_map import min_rows
from nsopt.mpcc.problem import Mpcc

FLAT = 1e-12
"""Of the largest slope, the least one that counts."""

NONE = 1e-300
"""A slope where there is none at all."""


@dataclass(frozen=True)
class ProximalPoints:
    """The proximal point algorithm [Rockafellar 1976, SIAM J. Control Optim. 14(5)].

    Pairs, boxes and discs state unknowns z as projections of z - F(z). Each point is the solution
    of the program with F(z) + part (z - z of the last point), F in units in which its own slope is
    about one; ``part`` goes to zero. A semismooth Newton that is damped finds each. With friction F
    is not monotone, but Newton then nearly always converges, where without part it goes from mode
    to mode, or many z give the same motion. From each point full steps try the program itself.

    Parameters
    ----------
    first, shrink, grow : float
        Part of the first point; how it changes after a point that was found, and after one that was
        not.
    inexact : float
        Residual at which a point counts as found, over its part.
    steps : int
        Of Newton at most for each point.
    budget, last : int
        Steps in all, where a failure only leads to a smaller h, and at h_min and elsewhere; none
        leaves the program to full steps.
    """

    first: float = 0.1
    shrink: float = 0.3
    grow: float = 10.0
    inexact: float = 1e-2
    steps: int = 12
    budget: int = 60
    last: int = 1000

    def __post_init__(self) -> None:
        if min(self.first, self.inexact) <= 0 or not 0 < self.shrink < 1 < self.grow:
            raise ValueError(
                f"first and inexact must be positive, shrink in (0, 1) and grow above 1, got {self}"
            )
        if self.steps < 1 or not 0 <= self.budget <= self.last:
            raise ValueError(f"steps must be 1 or more, budget from 0 to last, got {self}")


def near(mpcc: Mpcc, part: ca.SX, last: ca.SX, weights: ca.SX) -> Mpcc:
    """Return the program of the next point; with ``part`` 0 and weights 1 the program itself.

    Parameters
    ----------
    mpcc : Mpcc
    part : SX scalar
    last : SX (n,)
        Scaled unknowns of the last point.
    weights : SX (nz,)
        By which F is multiplied, in the order of `min_rows`; the same for both entries of a disc.
    """
    x = mpcc.x

    def pull(z: ca.SX) -> ca.SX:
        return part * (z - ca.substitute(z, x, last))

    sizes = [b.G.numel() for b in mpcc.pairs]
    sizes += [z.numel() for z in [*(b.z for b in mpcc.boxes), *(b.z for b in mpcc.discs)]]
    shares = iter(_split(weights, sizes))
    other = copy(mpcc)
    other.pairs = tuple(
        replace(b, G=next(shares) * b.G + pull(b.H) * _size(b.scales[0]) / _size(b.scales[1]))
        for b in mpcc.pairs
    )
    other.boxes = tuple(
        replace(b, F=next(shares) * b.F + pull(b.z) * _size(b.scales[1]) / _size(b.scales[0]))
        for b in mpcc.boxes
    )
    other.discs = tuple(
        replace(b, F=next(shares) * b.F + pull(b.z) / _twice(b.rho, b.z.numel()))
        for b in mpcc.discs
    )
    return other


class Projections(NamedTuple):
    """All unknowns z (nz,) that are projections of z - F, and F, scaled; on discs the last ones."""

    z: ca.SX
    F: ca.SX
    in_discs: int


def projections(mpcc: Mpcc) -> Projections:
    """Return those of a program, in the order of `min_rows`."""
    found = [projected for row in min_rows(mpcc) if (projected := row.projected) is not None]
    in_discs = sum(b.z.numel() for b in mpcc.discs)
    return Projections(stacked(x.z for x in found), stacked(x.F for x in found), in_discs)


def slope_weights(
    z: ca.SX, F: ca.SX, equations: ca.SX, match: Sequence[int], in_discs: int
) -> ca.SX:
    """Return about 1 / (dF/dz) of each z (nz,), once equations have given their unknowns.

    By the diagonal of these equations alone: of M that of the mass matrix, as by Jacobi's method.

    Parameters
    ----------
    z, F : SX (nz, n)
        Derivatives of `Projections` by the unknowns.
    equations : SX (ne, n)
        Those of the scaled equations.
    match : indices
        The unknown that each row, the equations first, is solved for.
    in_discs : int
        See `Projections`.
    """
    nz, n = z.shape
    if nz == 0:
        return ca.SX(0, 1)
    z /= ca.repmat(ca.sum2(z**2), 1, n)
    own = [(i, match[i]) for i in range(equations.shape[0])]
    slopes = ca.sum2(F * z)
    for i, j in own:
        if equations.sparsity().has_nz(i, j):
            slopes -= F[:, j] * (z @ equations[i, :].T) / equations[i, j]
    slopes = ca.fabs(ca.densify(slopes))
    for k in range(nz - in_discs, nz, 2):  # of a disc a bound of the larger eigenvalue
        slopes[k : k + 2] = slopes[k] + slopes[k + 1]
    return 1 / ca.fmax(slopes, FLAT * ca.mmax(slopes) + NONE)


def _size(scale: Scale) -> ca.SX:
    return ca.SX(scale)


def _twice(values: ca.SX, count: int) -> ca.SX:
    """Return the value of each disc for both of its entries, (count,)."""
    return stacked(ca.SX(values)[k // 2] for k in range(count))


def _split(values: ca.SX, sizes: list[int]) -> list[ca.SX]:
    edges = np.cumsum([0, *sizes]).tolist()
    return [values[a:b] for a, b in pairwise(edges)]
