"""The cones K^1, K^2, ... of motions that meet the constraints to each order [mobility 2016, 5.2].

K^i has the directions s_1 of motions s(t) = s_1 t + s_2 t^2 + ... that meet g(s) = 0 (`Reduction`)
up to t^i: the coefficients of t^2 to t^i of g(s(t)) vanish [eq. 38]. As g begins with squares, s_i
has no part in that; motions are arrays (i - 1, variables) of s_1 to s_(i-1).

A cone is found in the kernel of J as pieces: lines, subspaces, or curved cones that polynomials
describe. Each piece of K^i is one of K^(i+1) or has pieces of less dimension in it. Directions are
vectors s (variables,), as many as J leaves free.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from nsopt.algebra import null_space
from nsopt.arrays import Array
from nsopt.mobility.polynomials import PolynomialMap

MET, EXACT = 1e-8, 1e-15
"""Coefficients up to which g counts as zero, and to which it is solved where a direction is looked
for: a double zero is then known to 1e-7. Coefficients of its polynomials are about one."""

LARGEST = 100.0
"""Size of s_2, s_3, ... beyond which there is no motion: they grow without limit while g tends to
zero."""

ITERATIONS = 80
TRIALS = 8  # random s_2, s_3, ... from which a motion is looked for
SAME = 1e-5  # sine of the angle up to which directions are the same

CLUSTERED = 1e-3
"""Distance, over 1 + |root|, up to which roots are taken for one of higher multiplicity."""

COMMON = 1e-7  # value up to which a form is zero in a direction of length one
RAYS = 5  # directions of a piece that stand for all of it
STARTS = 60  # random directions from which pieces in a subspace are looked for

NEARBY, NUDGE = 8, 0.01
"""Displacements, for each dimension of the subspace, that measure the dimension of a piece, and
their size."""


@dataclass(frozen=True, eq=False)
class Prolongation:
    """The equations of motions along reduced constraints g, up to an order, i above."""

    g: PolynomialMap
    order: int

    def has_motion(self, direction: Array) -> bool:
        """Return whether a direction s_1 (variables,) of length one has such a motion."""
        rng = np.random.default_rng(0)
        held = np.zeros((len(direction), 0))
        for k in range(TRIALS):
            later = rng.normal(size=(self.order - 2, len(direction))) * min(k, 1)  # zeros at first
            if self._solve(np.vstack([direction, later]), held, MET):
                return True
        return False

    def nearest(self, start: Array, within: Array) -> Array | None:
        """Return such a motion near ``start`` (order - 1, variables), None if none is found.

        Its direction s_1, of length one, may turn in the span of ``within`` (variables, k).
        """
        s = start.copy()
        return s if self._solve(s, within, EXACT) else None

    def _solve(self, s: Array, within: Array, target: float) -> bool:
        """Solve for s in place, by damped Gauss-Newton; return whether g is zero to `MET`."""
        E, damping = self._find_rows(s), 1e-3
        for _ in range(ITERATIONS):
            if np.max(np.abs(E), initial=0.0) < target:
                break
            J = self._find_jacobian(s, within)
            if not J.shape[1]:
                break
            step = np.linalg.lstsq(
                np.vstack([J, np.sqrt(damping) * np.eye(J.shape[1])]),
                -np.concatenate([E, np.zeros(J.shape[1])]),
                rcond=None,
            )[0]
            new = self._move(s, step, within)
            after = self._find_rows(new)
            if np.linalg.norm(after) < np.linalg.norm(E):
                s[:], E, damping = new, after, damping / 10
            else:
                damping *= 10
                if damping > 1e8:
                    break
        met = np.max(np.abs(E), initial=0.0) < MET
        return bool(met and np.max(np.abs(s)) < LARGEST)

    def _find_rows(self, s: Array) -> Array:
        """Return the coefficients of t^2 to t^order of g(s(t)), one after another."""
        return self._expand_series(self.g, s)[2:].ravel()

    def _expand_series(self, polynomials: PolynomialMap, s: Array) -> Array:
        padded = np.zeros((self.order, s.shape[1]))
        padded[: len(s)] = s
        return polynomials.series(padded)

    def _find_jacobian(self, s: Array, within: Array) -> Array:
        """Return the derivatives of the rows by the turn of s_1 and by s_2, s_3, ..."""
        count, size = s.shape[1], self.g.size
        D = self._expand_series(self.g.gradient, s).reshape(-1, size, count)
        J = np.zeros((self.order - 1, size, len(s), count))
        for k in range(2, self.order + 1):
            for j in range(1, min(k, len(s)) + 1):
                # d(g(s(t)))/d(s_j) = g'(s(t)) t^j, of which this is the coefficient of t^k.
                J[k - 2, :, j - 1] = D[k - j]
        first = (J[:, :, 0] @ within).reshape(J.shape[0] * size, within.shape[1])
        later = J[:, :, 1:].reshape(J.shape[0] * size, (len(s) - 1) * count)
        return np.hstack([first, later])

    @staticmethod
    def _move(s: Array, step: Array, within: Array) -> Array:
        """Return s after a step: s_1 turned within the subspace, s_2, s_3, ... displaced."""
        new, turns = s.copy(), within.shape[1]
        new[0] += within @ step[:turns]
        new[0] /= np.linalg.norm(new[0])
        new[1:] += step[turns:].reshape(new[1:].shape)
        return new


class ConePiece(NamedTuple):
    """A part of a cone, in the kernel of J."""

    dimension: int
    basis: Array  # (variables, k) orthonormal, of its span; k is the dimension unless it is curved
    rays: Array  # (variables, count) directions in it, of length one
    equations: Prolongation | None = None  # of a curved one: what its directions meet

    @property
    def linear(self) -> bool:
        """Whether it is a line or a subspace."""
        return bool(self.basis.shape[1] == self.dimension)

    def part_across(self, s: Array) -> Array:
        """Return the part of vectors (variables, ...) that is orthogonal to its span."""
        across: Array = s - self.basis @ (self.basis.T @ s)
        return across

    def distance(self, ray: Array) -> float:
        """Return the distance of a direction (variables,) of length one from the piece."""
        if self.equations is None:
            return float(np.linalg.norm(self.part_across(ray)))
        start = np.vstack([ray, np.zeros((self.equations.order - 2, len(ray)))])
        motion = self.equations.nearest(start, self.basis)
        return 1.0 if motion is None else float(np.linalg.norm(motion[0] - ray))

    def contains(self, other: ConePiece) -> bool:
        """Return whether it contains another; False where it is curved."""
        return self.linear and bool(np.linalg.norm(self.part_across(other.basis)) < SAME)


def make_subspace(basis: Array) -> ConePiece:
    """Return the piece that is a subspace, with directions drawn at random."""
    draws = np.random.default_rng(1).normal(size=(basis.shape[1], RAYS))
    rays = basis if basis.shape[1] == 1 else basis @ (draws / np.linalg.norm(draws, axis=0))
    return ConePiece(basis.shape[1], basis, rays)


def find_cones(g: PolynomialMap, order: int) -> list[list[ConePiece]]:
    """Return the pieces of K^1 to K^order of reduced constraints; none where only zero is left."""
    found = [[make_subspace(np.eye(g.variables))] if g.variables else []]
    for i in range(2, order + 1):
        equations = Prolongation(g, i)
        pieces = [new for piece in found[-1] for new in _find_pieces_in(equations, piece)]
        found.append(_drop_contained(pieces))
    return found


def _find_pieces_in(equations: Prolongation, piece: ConePiece) -> list[ConePiece]:
    """Return the pieces of the next cone in a piece of the one before."""
    if all(equations.has_motion(ray) for ray in piece.rays.T):
        return [piece]
    if piece.dimension == 1:
        return []
    if equations.g.variables == 2:  # lines are roots of a polynomial: exact, and none is missed
        lines = _find_common_zeros(equations.g)
        return [make_subspace(x[:, None]) for x in lines if equations.has_motion(x)]
    return list(_search_pieces(equations, piece.basis))


def _drop_contained(pieces: list[ConePiece]) -> list[ConePiece]:
    """Return the pieces that are not part of others."""
    kept: list[ConePiece] = []
    for piece in sorted(pieces, key=lambda x: -x.dimension):
        if not any(other.contains(piece) for other in kept):
            kept.append(piece)
    return kept


def _find_common_zeros(g: PolynomialMap) -> Iterator[Array]:
    """Yield the common real zeros (2,) of the forms of lowest degree, in two variables."""
    turn = 0.7390851  # [rad], an arbitrary one: no zero of a mechanism has its first entry zero
    basis = np.array([[np.cos(turn), -np.sin(turn)], [np.sin(turn), np.cos(turn)]])
    forms = g.lowest().along(basis)
    degree = int(forms.exponents[0].sum())
    largest = int(np.argmax(np.linalg.norm(forms.coefficients, axis=1)))
    by_power = np.zeros(degree + 1)
    by_power[degree - forms.exponents[:, 1]] = forms.coefficients[largest]
    for root in _cluster(np.roots(np.trim_zeros(by_power, "f"))):
        x = np.array([1.0, root])  # forms are homogeneous: a zero is known by the ratio of entries
        x /= np.linalg.norm(x)
        if np.max(np.abs(forms.value(x))) < COMMON:
            yield basis @ x


def _cluster(roots: NDArray[Any]) -> list[float]:
    """Return real roots; a cluster, into which round-off splits a multiple root, by its mean."""
    found, left = [], list(roots)
    while left:
        root = left[0]
        near = [x for x in left if abs(x - root) < CLUSTERED * (1 + abs(root))]
        left = [x for x in left if x not in near]
        mean = np.mean(near)
        if abs(mean.imag) < 1e-7 * (1 + abs(mean)):
            found.append(float(mean.real))
    return found


def _search_pieces(equations: Prolongation, basis: Array) -> Iterator[ConePiece]:
    """Yield pieces in a subspace, found from many starts; one could be missed."""
    rng = np.random.default_rng(2)
    known: list[ConePiece] = []
    for _ in range(STARTS):
        s = rng.normal(size=(equations.order - 1, equations.g.variables)) * 0.3
        s[0] = basis @ rng.normal(size=basis.shape[1])
        s[0] /= np.linalg.norm(s[0])
        motion = equations.nearest(s, basis)
        if motion is None or any(np.linalg.norm(x.part_across(motion[0])) < SAME for x in known):
            continue
        known.append(_measure_piece(equations, motion, basis))
        yield known[-1]


def _measure_piece(equations: Prolongation, motion: Array, basis: Array) -> ConePiece:
    """Return the piece that a motion (order - 1, variables) begins in, by directions near its."""
    rng, rays = np.random.default_rng(3), [motion[0]]
    for _ in range(NEARBY * basis.shape[1]):
        s = motion.copy()
        s[0] += NUDGE * basis @ rng.normal(size=basis.shape[1])
        s[0] /= np.linalg.norm(s[0])
        near = equations.nearest(s, basis)
        if near is not None:
            rays.append(near[0])
    found = np.stack(rays, axis=1)
    moves = found[:, 1:] - motion[0][:, None]
    across = moves - np.outer(motion[0], motion[0] @ moves)
    sizes = np.linalg.svd(across, compute_uv=False) / np.sqrt(max(across.shape[1], 1))
    # Moves within the piece keep the size of a nudge, what curves away has its square.
    dimension = 1 + int(np.sum(sizes > 0.2 * NUDGE))
    axes, lengths, _ = np.linalg.svd(found)
    flat = make_subspace(axes[:, :dimension])
    if all(equations.has_motion(ray) for ray in flat.rays.T):
        return flat
    span = axes[:, : max(dimension, int(np.sum(lengths > SAME)))]
    return ConePiece(dimension, span, found[:, :RAYS], equations)


def span_pieces(pieces: list[ConePiece], variables: int) -> Array:
    """Return an orthonormal basis of the span of pieces."""
    if not pieces:
        return np.zeros((variables, 0))
    return null_space(null_space(np.concatenate([p.basis for p in pieces], axis=1).T).T)
