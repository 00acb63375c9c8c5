"""Finite motions along the directions of cones: found, or found not to be there.

A direction r is followed on three sections, at sizes e: the points s = e r + b, b orthogonal to the
piece of the cone that r is in. A motion leads along r where g (`Reduction`) has zeros on each and
b / e shrinks with e. Where none is near, there is no motion.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum
from itertools import pairwise, product
from typing import NamedTuple

import numpy as np

from nsopt.algebra import null_space
from nsopt.arrays import Array
from nsopt.mobility.cones import ConePiece
from nsopt.mobility.reduction import Reduction

SIZES = (0.16, 0.08, 0.04)
"""Of sections: how far the joint that moves most has moved [rad, or over the mechanism's size]."""

FRACTIONS = (1.0, 0.25, 0.0625)  # factors on these sizes, tried in turn

ZERO, NONZERO = 1e-12, 1e-10
"""Values of g, in scaled rows, up to which it is zero, and from which it is not."""

NEAR = 0.5  # |b| / e up to which zeros are looked for

SPREAD = (0.0, 0.3, -0.3, 0.1, -0.1, 0.02, -0.02)
"""b / e from which Gauss-Newton begins, along a random direction across the piece."""

SHRINKS = 0.85
"""Along a motion, b / e at half the size is below this part of b / e at the whole size."""

STRAIGHT = 1e-4
"""b / e that counts as none."""

APART = 1e-3  # distance over e from which zeros are two
FLAT = 1e-7  # singular values of the derivative of g up to which they are zero

ITERATIONS = 30

AROUND, ASIDE = 12, 0.2
"""Random directions, for each freedom, in which other motions are looked for, and the sine of the
angle from a piece from which they are others."""


class Finding(Enum):
    """Whether finite motions lead along a direction."""

    CONFIRMED = "confirmed"
    REFUTED = "refuted"
    UNDECIDED = "undecided"


class SectionZero(NamedTuple):
    """A zero of g on a section."""

    u: Array  # (n,) scaled coordinates
    off: float  # |b| / e, how far it is off the direction
    freedom: int  # n - rank J there


class ConeSection(NamedTuple):
    """What was found on a section."""

    zeros: list[SectionZero]  # the nearest to its direction first
    least: float  # the least |g| that was met, zero or not


class Trace(NamedTuple):
    """The trace of one direction; all but the finding are 0 unless it is confirmed."""

    finding: Finding
    freedom: int  # the least n - rank J at the points found
    sheets: int  # the largest number of zeros on a section: of motions with the same direction
    u: Array  # (n,) scaled coordinates of the point found at the middle size


def trace(
    reduction: Reduction, piece: ConePiece, ray: Array, others: Sequence[ConePiece] = ()
) -> Trace:
    """Return what finite motions there are along a direction (n - r,), of a piece of a cone.

    Motions of ``others`` may be near: their zeros are not counted as sheets.
    """
    along = piece.basis if piece.linear else ray[:, None]
    across = null_space(along.T)
    spread = SPREAD if piece.linear and across.shape[1] else (0.0,)
    sizes = _choose_sizes(reduction, ray)
    sections = [_find_zeros(reduction, size, ray, across, spread) for size in sizes]
    nearest = [x.zeros[0] for x in sections if x.zeros]
    if len(nearest) == len(SIZES):
        # A motion is a choice of one zero on each section that comes nearer to the direction.
        tangent = any(
            all(smaller < max(SHRINKS * larger, STRAIGHT) for larger, smaller in pairwise(offs))
            for offs in product(*([zero.off for zero in x.zeros] for x in sections))
        )
        finding = Finding.CONFIRMED if tangent else Finding.REFUTED
    else:
        # Without freedom across, g is a function of the size alone, and zero at none or at all:
        # the largest section, where it is farthest from zero, is enough.
        judged = sections[:1] if not across.shape[1] else sections
        none = all(not x.zeros and NONZERO < x.least < np.inf for x in judged)
        finding = Finding.REFUTED if none else Finding.UNDECIDED
    if finding is not Finding.CONFIRMED:
        return Trace(finding, 0, 0, np.zeros(len(reduction.columns)))
    own = [
        [zero for zero in section.zeros if _is_nearest_to(reduction, zero.u, piece, others)]
        for section in sections
    ]
    sheets = max(map(len, own)) if piece.linear else 1
    return Trace(finding, min(zero.freedom for zero in nearest), sheets, nearest[1].u)


def _choose_sizes(reduction: Reduction, ray: Array) -> list[float]:
    """Return the lengths of s along a direction at which the joint that moves most has `SIZES`.

    By `FRACTIONS` smaller where V^T h = 0 has no solution so far away, as near another singularity.
    """
    most = float(np.max(np.abs(reduction.bases.N @ ray)))
    for part in FRACTIONS:
        sizes = [part * size / most for size in SIZES]
        if all(np.all(np.isfinite(reduction.point(size * ray)[0])) for size in sizes):
            break
    return sizes


def _is_nearest_to(
    reduction: Reduction, u: Array, piece: ConePiece, others: Sequence[ConePiece]
) -> bool:
    """Return whether the direction of u from the posture is nearer to a piece than to others."""
    s = reduction.bases.N.T @ u
    ray = s / np.linalg.norm(s)
    mine = piece.distance(ray)
    return all(mine <= other.distance(ray) for other in others)


def has_other_motions(reduction: Reduction, pieces: list[ConePiece]) -> bool:
    """Return whether closed postures are found nearby in other directions than those of pieces.

    They are looked for from random directions, at the two smaller sizes: one could be missed.
    """
    free = reduction.freedom
    rng = np.random.default_rng(4)
    for start in rng.normal(size=(AROUND * free, free)):
        ray = start / np.linalg.norm(start)
        for size in _choose_sizes(reduction, ray)[1:]:
            u, s = _find_zero_on_sphere(reduction, size, ray)
            ray = s / np.linalg.norm(s)
            if u is None or any(piece.distance(ray) < ASIDE for piece in pieces):
                break
        else:
            return True
    return False


def _find_zero_on_sphere(
    reduction: Reduction, size: float, ray: Array
) -> tuple[Array | None, Array]:
    """Return a zero of g with |s| = size near a direction, as u and s; u is None if none is."""
    s, w = size * ray, None
    for _ in range(ITERATIONS):
        u, g, Dg = reduction.point(s, w)
        if not np.all(np.isfinite(g)):
            break
        if np.max(np.abs(g), initial=0.0) < ZERO:
            return u, s
        w = reduction.bases.M.T @ u
        tangents = null_space(s[None])  # of the sphere
        step = tangents @ np.linalg.lstsq(Dg @ tangents, -g, rcond=1e-6)[0]
        s = s + step * min(1.0, 0.3 * size / max(float(np.linalg.norm(step)), 1e-300))
        s *= size / np.linalg.norm(s)
    return None, s


def _find_zeros(
    reduction: Reduction, size: float, ray: Array, across: Array, spread: Sequence[float]
) -> ConeSection:
    """Return the zeros among s = size * ray + across b, |b| up to `NEAR` times the size.

    ``across`` (n - r, k) is a basis; Gauss-Newton begins at b of sizes ``spread`` over the size.
    """
    rng = np.random.default_rng(0)
    zeros, least = list[SectionZero](), np.inf
    for part in spread:
        count = across.shape[1]
        way = np.asarray(np.ones(1) if count == 1 else rng.normal(size=count))
        b = part * size * (way / max(float(np.linalg.norm(way)), 1e-300))
        u, b, g, Dg = _iterate(reduction, size * ray, across, b)
        error = float(np.max(np.abs(g), initial=0.0))
        least = min(least, error)
        is_new = all(np.linalg.norm(u - zero.u) > APART * size for zero in zeros)
        if error < ZERO and np.linalg.norm(b) < NEAR * size and is_new:
            # The rank of J is r more than that of Dg, its Schur complement.
            freedom = len(ray) - int(np.sum(np.linalg.svd(Dg, compute_uv=False) > FLAT))
            zeros.append(SectionZero(u, float(np.linalg.norm(b)) / size, freedom))
    return ConeSection(sorted(zeros, key=lambda zero: zero.off), least)


def _iterate(
    reduction: Reduction, s: Array, across: Array, b: Array
) -> tuple[Array, Array, Array, Array]:
    """Return u of the iterate with the least |g| among s + across b, its b, g and dg/ds."""
    w, largest = None, NEAR * float(np.linalg.norm(s))
    best = None
    for _ in range(ITERATIONS):
        u, g, Dg = reduction.point(s + across @ b, w)
        if best is None or np.max(np.abs(g), initial=0.0) < np.max(np.abs(best[2]), initial=0.0):
            best = (u, b, g, Dg)
        if not np.all(np.isfinite(g)) or not len(b):
            break
        w = reduction.bases.M.T @ u
        step = np.linalg.lstsq(Dg @ across, -g, rcond=None)[0]
        length = float(np.linalg.norm(step))
        if length < 1e-14:
            break
        b = b + step * min(1.0, 0.3 * largest / length)
        if np.linalg.norm(b) > 2 * largest:
            break
    assert best is not None
    return best
