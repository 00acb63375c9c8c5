"""The cones K^1, K^2, ... of motions that meet the constraints to each order [mobility 2016, 5.2].

They are found in the kernel of J, as pieces: lines, subspaces, or curved cones that polynomials
describe. Each piece of K^i is one of K^(i+1) or has pieces of less dimension in it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from nsopt.algebra import null_space
from nsopt.mobility.polynomials import PolynomialMap
from nsopt.mobility.prolongation import Prolongation

Array = NDArray[np.float64]

SAME = 1e-5
"""Sine of the angle up to which directions are the same."""

ALIKE = 1e-3
"""Distance up to which roots may be one, of higher multiplicity."""

COMMON = 1e-7
"""Value up to which a direction is a zero of all forms."""

DRAWN = 5
"""Directions of a piece that stand for all of it."""

STARTS, NEARBY, NUDGE = 60, 8, 0.01
"""Starts from which a curved piece is looked for, and displacements that measure its dimension."""


class ConePiece(NamedTuple):
    """A part of a cone, in the kernel of J.

    Attributes
    ----------
    dimension : int
    basis : (variables, k)
        Orthonormal, of its span; k is the dimension if it is a line or a subspace.
    rays : (variables, count)
        Directions in it, of length one.
    rows : Prolongation, optional
        The equations of a curved one.
    """

    dimension: int
    basis: Array
    rays: Array
    rows: Prolongation | None = None

    @property
    def linear(self) -> bool:
        """Whether it is a line or a subspace."""
        return bool(self.basis.shape[1] == self.dimension)

    def off(self, s: Array) -> Array:
        """Return the part across its span of vectors (variables, ...)."""
        across: Array = s - self.basis @ (self.basis.T @ s)
        return across

    def distance(self, ray: Array) -> float:
        """Return the distance of a direction (variables,) of length one from the piece."""
        if self.rows is None:
            return float(np.linalg.norm(self.off(ray)))
        start = np.vstack([ray, np.zeros((self.rows.order - 2, len(ray)))])
        motion = self.rows.nearest(start, self.basis)
        return 1.0 if motion is None else float(np.linalg.norm(motion[0] - ray))

    def contains(self, other: ConePiece) -> bool:
        """Return whether a linear piece contains another."""
        return self.linear and bool(np.linalg.norm(self.off(other.basis)) < SAME)


def subspace(basis: Array) -> ConePiece:
    """Return the piece that is a subspace, with directions drawn at random."""
    draws = np.random.default_rng(1).normal(size=(basis.shape[1], DRAWN))
    rays = basis if basis.shape[1] == 1 else basis @ (draws / np.linalg.norm(draws, axis=0))
    return ConePiece(basis.shape[1], basis, rays)


def cones(g: PolynomialMap, order: int) -> list[list[ConePiece]]:
    """Return the pieces of K^1 to K^order; none where only zero is left.

    Parameters
    ----------
    g : PolynomialMap
        The reduced constraints, with Taylor polynomials up to ``order``.
    order : int
    """
    found = [[subspace(np.eye(g.variables))] if g.variables else []]
    for i in range(2, order + 1):
        rows = Prolongation(g, i)
        pieces = [new for piece in found[-1] for new in _keep_pieces(rows, piece)]
        found.append(_maximal(pieces))
    return found


def _keep_pieces(rows: Prolongation, piece: ConePiece) -> list[ConePiece]:
    """Return the pieces of the next cone in a piece of the one before."""
    if all(rows.has_motion(ray) for ray in piece.rays.T):
        return [piece]
    if piece.dimension == 1:
        return []
    if rows.g.variables == 2:
        return [subspace(x[:, None]) for x in _lines(rows.g) if rows.has_motion(x)]
    return list(_sample(rows, piece.basis))


def _maximal(pieces: list[ConePiece]) -> list[ConePiece]:
    """Leave out pieces that are part of others."""
    kept: list[ConePiece] = []
    for piece in sorted(pieces, key=lambda x: -x.dimension):
        if not any(other.contains(piece) for other in kept):
            kept.append(piece)
    return kept


def _lines(g: PolynomialMap) -> Iterator[Array]:
    """Yield the common real zeros (2,) of the lowest forms in two variables."""
    turn = 0.7390851  # so that no zero has its first entry near zero
    basis = np.array([[np.cos(turn), -np.sin(turn)], [np.sin(turn), np.cos(turn)]])
    forms = g.lowest().along(basis)
    degree = int(forms.exponents[0].sum())
    largest = int(np.argmax(np.linalg.norm(forms.coefficients, axis=1)))
    by_power = np.zeros(degree + 1)
    by_power[degree - forms.exponents[:, 1]] = forms.coefficients[largest]
    for root in _cluster(np.roots(np.trim_zeros(by_power, "f"))):
        x = np.array([1.0, root])
        x /= np.linalg.norm(x)
        if np.max(np.abs(forms.value(x))) < COMMON:
            yield basis @ x


def _cluster(roots: NDArray[Any]) -> list[float]:
    """Return real roots; those near each other by their mean, which is exact where they are one."""
    found, left = [], list(roots)
    while left:
        root = left[0]
        near = [x for x in left if abs(x - root) < ALIKE * (1 + abs(root))]
        left = [x for x in left if x not in near]
        mean = np.mean(near)
        if abs(mean.imag) < 1e-7 * (1 + abs(mean)):
            found.append(float(mean.real))
    return found


def _sample(rows: Prolongation, basis: Array) -> Iterator[ConePiece]:
    """Yield pieces in a subspace, found from many starts."""
    rng = np.random.default_rng(2)
    known: list[ConePiece] = []
    for _ in range(STARTS):
        s = rng.normal(size=(rows.order - 1, rows.g.variables)) * 0.3
        s[0] = basis @ rng.normal(size=basis.shape[1])
        s[0] /= np.linalg.norm(s[0])
        motion = rows.nearest(s, basis)
        if motion is None or any(np.linalg.norm(x.off(motion[0])) < SAME for x in known):
            continue
        known.append(_piece_at(rows, motion, basis))
        yield known[-1]


def _piece_at(rows: Prolongation, motion: Array, basis: Array) -> ConePiece:
    """Return the piece around a motion's direction."""
    rng, rays = np.random.default_rng(3), [motion[0]]
    for _ in range(NEARBY * basis.shape[1]):
        s = motion.copy()
        s[0] += NUDGE * basis @ rng.normal(size=basis.shape[1])
        s[0] /= np.linalg.norm(s[0])
        near = rows.nearest(s, basis)
        if near is not None:
            rays.append(near[0])
    found = np.stack(rays, axis=1)
    moves = found[:, 1:] - motion[0][:, None]
    across = moves - np.outer(motion[0], motion[0] @ moves)
    values = np.linalg.svd(across, compute_uv=False) / np.sqrt(max(across.shape[1], 1))
    dimension = 1 + int(np.sum(values > 0.2 * NUDGE))
    spans = np.linalg.svd(found)
    span = spans[0][:, : max(dimension, int(np.sum(spans[1] > SAME)))]
    flat = subspace(spans[0][:, :dimension])
    if all(rows.has_motion(ray) for ray in flat.rays.T):
        return flat
    return ConePiece(dimension, span, found[:, :DRAWN], rows)


def span_pieces(pieces: list[ConePiece], variables: int) -> Array:
    """Return an orthonormal basis of the span of pieces."""
    if not pieces:
        return np.zeros((variables, 0))
    return null_space(null_space(np.concatenate([p.basis for p in pieces], axis=1).T).T)
