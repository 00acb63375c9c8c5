"""Finite motions along the directions of cones: found, or found not to be there.

A direction r is followed on sections: among the points s = e r + b, b across the piece of the cone
that r is in, zeros of g at three sizes e. A motion leads along r where there are some at each size
and b / e shrinks with e. Where none is near, there is no motion.
"""

from __future__ import annotations

from enum import Enum
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from nsopt.algebra import null_space
from nsopt.mobility.cones import Piece
from nsopt.mobility.reduction import Reduction

Array = NDArray[np.float64]

SIZES = (0.16, 0.08, 0.04)
"""Distances from the posture [rad, or over the size of the mechanism]."""

ZERO, NONZERO = 1e-12, 1e-10
"""Values of g, in scaled rows, up to which it is zero, and from which it is not."""

NEAR = 0.5
"""Of the size of a section, how far from a direction zeros are looked for."""

SPREAD = (0.0, 0.3, -0.3, 0.1, -0.1, 0.02, -0.02)
"""Of the same, where Gauss-Newton begins, across the piece."""

SHRINKS = 0.85
"""Part to which b / e shrinks at half the size, at most, along a motion."""

STRAIGHT = 1e-6
"""b / e that counts as none."""

APART = 1e-3
"""Of the size, the distance from which zeros are two."""

FLAT = 1e-7
"""Singular values of the derivative of g up to which they are zero."""

ITERATIONS = 30


class Finding(Enum):
    """What tracing found out of a direction."""

    CONFIRMED = "confirmed"
    REFUTED = "refuted"
    UNDECIDED = "undecided"


class Section(NamedTuple):
    """The zeros of g on a section, the nearest to its direction first.

    Attributes
    ----------
    zeros : list of (u (n,), b / e, freedom)
        Scaled coordinates, how far off the direction, and n - rank J there.
    least : float
        The least |g| that was met.
    """

    zeros: list[tuple[Array, float, int]]
    least: float


class Trace(NamedTuple):
    """The trace of one direction.

    Attributes
    ----------
    finding : Finding
    freedom : int
        n - rank J at the points found: the dimension of the motions there.
    sheets : int
        The number of zeros on the smallest section: motions with the same direction.
    u : (number of sizes, n)
        Scaled coordinates of the points found, the farthest first.
    """

    finding: Finding
    freedom: int
    sheets: int
    u: Array


def traced(reduction: Reduction, piece: Piece, ray: Array) -> Trace:
    """Return what finite motions there are along a direction (n - r,) of a piece of a cone."""
    along = piece.basis if piece.linear else ray[:, None]
    across = null_space(along.T)
    sections = [_section(reduction, size, ray, across) for size in SIZES]
    nearest = [x.zeros[0] for x in sections if x.zeros]
    if len(nearest) == len(SIZES):
        offs = [off for _, off, _ in nearest]
        straight = all(b < max(SHRINKS * a, STRAIGHT) for a, b in pairwise(offs))
        finding = Finding.CONFIRMED if straight else Finding.REFUTED
    else:
        # Without freedom across, g is a function of the size alone, and zero at none or at all.
        clear = sections[:1] if not across.shape[1] else sections
        none = all(not x.zeros and x.least > NONZERO for x in clear)
        finding = Finding.REFUTED if none else Finding.UNDECIDED
    if finding is not Finding.CONFIRMED:
        return Trace(finding, 0, 0, np.zeros((0, len(reduction.columns))))
    u = np.stack([u for u, _, _ in nearest])
    smallest = sections[-1].zeros
    return Trace(finding, min(k for _, _, k in smallest), len(smallest), u)


def _section(reduction: Reduction, size: float, ray: Array, across: Array) -> Section:
    """Return the zeros among s = size * ray + across b, |b| up to half the size."""
    rng = np.random.default_rng(0)
    zeros: list[tuple[Array, float, int]] = []
    least = np.inf
    for spread in SPREAD if across.shape[1] else (0.0,):
        b = spread * size * _direction(rng, across.shape[1])
        u, b, g, Dg = _gauss_newton(reduction, size * ray, across, b)
        error = float(np.max(np.abs(g), initial=0.0))
        least = min(least, error)
        apart = all(np.linalg.norm(u - other) > APART * size for other, _, _ in zeros)
        if error < ZERO and np.linalg.norm(b) < NEAR * size and apart:
            flat = np.linalg.svd(Dg, compute_uv=False)
            freedom = len(ray) - int(np.sum(flat > FLAT))
            zeros.append((u, float(np.linalg.norm(b)) / size, freedom))
    return Section(sorted(zeros, key=lambda x: x[1]), least)


def _direction(rng: np.random.Generator, count: int) -> Array:
    x = np.ones(1) if count == 1 else rng.normal(size=count)
    return x / max(float(np.linalg.norm(x)), 1e-300)


def _gauss_newton(
    reduction: Reduction, s: Array, across: Array, b: Array
) -> tuple[Array, Array, Array, Array]:
    """Return the point where |g| is least along b, its b, and g and its derivative there."""
    w, largest = None, NEAR * float(np.linalg.norm(s))
    best = None
    for _ in range(ITERATIONS):
        u, g, Dg = reduction.point(s + across @ b, w)
        if best is None or np.max(np.abs(g), initial=0.0) < np.max(np.abs(best[2]), initial=0.0):
            best = (u, b, g, Dg)
        if not np.all(np.isfinite(g)) or not len(b):
            break
        w = reduction.bases[1].T @ u
        step = np.linalg.lstsq(Dg @ across, -g, rcond=None)[0]
        length = float(np.linalg.norm(step))
        if length < 1e-14:
            break
        b = b + step * min(1.0, 0.3 * largest / length)
        if np.linalg.norm(b) > 2 * largest:
            break
    assert best is not None
    return best
