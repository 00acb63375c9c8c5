"""The nearest configuration in which joints are closed, in the metric of the mass.

Of the displacements u from q0 that close the joints at q0 (+) u, the one of least u.M(q0) u is
sought; where springs act, of least u.(M + T^2 K) u, so that stiff parts as light as those of a
flexible link are not bent. Joints are closed first, by moves of bounded turns that open them no
further; then the displacement is made shorter among closed configurations, by Newton's method with
the curvature of the joints. Loops close in several ways: whatever is nearer than a first
configuration lies in the ball about the start through it, so that after long displacements it is
looked for from random places in that ball.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import casadi as ca
import numpy as np
from numpy.typing import NDArray

from nsopt.algebra import null_space

Array = NDArray[np.float64]

AIM = 1e-13
"""Residual [m, or 1] at which joints are closed."""

CLOSED = 1e-10
"""Residual at which they count as closed where rounding ends earlier, and so do gaps [m]."""

ALIGNED = 0.5
"""Least cosine of frames, one where a joint is closed: not turned by 90 or 180 deg."""

LONGEST = 0.4
"""Longest move at once: a turn [rad], or a way over the size of the mechanism."""

FAR = 0.1
"""Displacements, measured likewise, beyond which nearer ones are looked for."""

TRIES = 24
"""Places from which they are."""

DAMPING = (0.0, 1e-8, 1e-6, 1e-4, 1e-2, 1.0, 100.0)
"""Of moves that close joints, over the largest squared singular value; the first that helps."""

NEAR_LEAST = 1e-6
"""Moves, over the displacement, that change its length by less than rounding shows."""

PERIOD = 0.1
"""T [s]: springs with which bodies swing more slowly hardly count, those of stiff parts do."""

MASSLESS = 1e-9
"""Inertia, over the largest of other motions, of motions without any."""


@dataclass(frozen=True)
class Configurations:
    """The configurations of a mechanism, by functions as `Dynamics` has them."""

    mass: ca.Function
    retract: ca.Function
    retract_matrix: ca.Function
    renormalise: ca.Function
    closure: ca.Function
    closure_matrix: ca.Function
    alignment: ca.Function
    gap: ca.Function
    gap_matrix: ca.Function
    distance: ca.Function
    poses: ca.Function
    closure_names: tuple[str, ...]


@dataclass(frozen=True)
class Closing:
    """Where a search ended.

    Attributes
    ----------
    q : (nq,)
    residual : (nc,) [m, or 1]
        Of the joints.
    closed : bool
        Whether they are closed, with their frames the right way round.
    """

    q: Array
    residual: Array
    closed: bool


@dataclass(frozen=True)
class _Place:
    """A displacement and what is to vanish there."""

    y: Array  # in units in which the mass matrix is the identity
    q: Array
    error: Array
    J: Array  # d(error)/dy

    @property
    def open(self) -> float:
        return float(np.linalg.norm(self.error))

    @property
    def closed(self) -> bool:
        return float(np.max(np.abs(self.error), initial=0.0)) < CLOSED


class Search:
    """The search for the nearest closed configuration.

    Parameters
    ----------
    on : Configurations
    t : float [s]
    q : (nq,)
        The start.
    p : (np,)
        Parameters.
    stiffness : (nv, nv)
        K, of all springs at the start.
    """

    def __init__(self, on: Configurations, t: float, q: Array, p: Array, stiffness: Array) -> None:
        self._on, self._t, self._p, self._q = on, t, p, q
        values, axes = np.linalg.eigh((stiffness + stiffness.T) / 2)
        stiff = axes @ (np.maximum(values, 0.0)[:, None] * axes.T)
        self._root = inverse_root(np.asarray(on.mass(q, p)) + PERIOD**2 * stiff)
        self._touching = np.flatnonzero(column(on.distance(t, q, p)) < 0)

    def nearest(self) -> Closing:
        """Return the nearest closed configuration that is found, or else the least open one."""
        place, left = self._nearest(), set[int]()
        for _ in range(2 * column(self._on.distance(self._t, self._q, self._p)).size):
            inside = np.flatnonzero(column(self._on.distance(self._t, place.q, self._p)) < -CLOSED)
            pulled = self._pull(place) - left
            touching = (set(self._touching) | set(inside)) - pulled
            if not place.closed or touching == set(self._touching):
                break
            left |= pulled
            self._touching = np.array(sorted(touching), dtype=int)
            place = self._nearest()
        residual = column(self._on.closure(self._t, place.q, self._p))
        return Closing(place.q, residual, self._right(place))

    def close(self) -> Closing:
        """Return the configuration in which the joints close by the shortest moves."""
        place = self._close(self._place(np.zeros(len(self._root))))
        residual = column(self._on.closure(self._t, place.q, self._p))
        return Closing(place.q, residual, self._right(place))

    def _nearest(self) -> _Place:
        start = self._place(np.zeros(len(self._root)))
        first = self._shorten(self._close(start))
        found = [first] if self._right(first) else []
        if found and self._reach(first.y) < FAR:
            return first
        least = min((start, first), key=lambda place: place.open)
        for guess in self._guesses(first if found else None):
            place = self._close(self._place(guess))
            if self._right(place):
                found.append(self._shorten(place))
            least = min((least, place), key=lambda place: place.open)
        return min(found, key=lambda place: float(place.y @ place.y), default=least)

    def _guesses(self, first: _Place | None) -> Iterator[Array]:
        """Yield random displacements of what the joints concern."""
        rng = np.random.default_rng(0)
        C = self._on.closure_matrix.sparsity_out(0)
        concerned = np.isin(np.arange(len(self._root)), C.get_col() if C.nnz() else [])
        if not np.any(concerned):
            return
        back = np.linalg.inv(self._root)
        for k in range(TRIES):
            y = back @ (concerned * (self._root @ rng.normal(size=len(back))))
            if first is not None:
                yield y * (rng.uniform(0.2, 1.0) * np.linalg.norm(first.y) / np.linalg.norm(y))
            else:
                yield y * ((0.5 + 3.0 * k / TRIES) / self._reach(y))

    def _right(self, place: _Place) -> bool:
        aligned = column(self._on.alignment(self._t, place.q, self._p))
        return place.closed and bool(np.all(aligned >= ALIGNED))

    def _place(self, y: Array) -> _Place:
        on, u, p = self._on, self._root @ y, self._p
        q = column(on.renormalise(on.retract(self._q, u)))
        error = column(on.closure(self._t, q, p))
        C = np.asarray(on.closure_matrix(self._t, q, p))
        if self._touching.size:
            gaps, W = (np.asarray(f(self._t, q, p)) for f in (on.gap, on.gap_matrix))
            error = np.concatenate([error, gaps.ravel()[self._touching]])
            C = np.vstack([C, W[:, self._touching].T])
        return _Place(y, q, error, C @ np.asarray(on.retract_matrix(u)) @ self._root)

    def _reach(self, y: Array) -> float:
        """Return how far a displacement moves the bodies: turns, or ways over the size."""
        return reach(self._on.poses, self._q, self._root @ y, self._p)

    def _limit(self, move: Array) -> Array:
        return move * min(1.0, LONGEST / max(self._reach(move), 1e-300))

    def _close(self, place: _Place) -> _Place:
        """Return where moves end that open the joints no further, each the shortest one."""
        for _ in range(100):
            if float(np.max(np.abs(place.error), initial=0.0)) < AIM:
                break
            moved = self._less_open(place)
            if moved is None:
                break
            place = moved
        return place

    def _less_open(self, place: _Place) -> _Place | None:
        U, values, V = np.linalg.svd(place.J, full_matrices=False)
        largest = values.max(initial=1e-300)
        kept = values > 1e-10 * largest
        U, values, V = U[:, kept], values[kept], V[kept]
        along = U.T @ place.error
        for damping in DAMPING:
            move = -(values / (values**2 + damping * largest**2) * along) @ V
            moved = self._place(place.y + self._limit(move))
            if moved.open < (1 - 1e-4) * place.open:
                return moved
        return None

    def _shorten(self, place: _Place) -> _Place:
        """Return the closed configuration of least displacement that is next to a closed one."""
        for _ in range(50):
            if not place.closed:
                break
            move = self._limit(self._shortening(place))
            if np.linalg.norm(move) <= NEAR_LEAST * np.linalg.norm(place.y):
                return self._refine(place, move)
            shorter = self._shorter(place, move)
            if shorter is None:
                break
            place = shorter
        return place

    def _refine(self, place: _Place, move: Array) -> _Place:
        """Return where two last moves end, too short to be told from the displacement."""
        there = self._close(self._place(place.y + move))
        there = self._close(self._place(there.y + self._limit(self._shortening(there))))
        return there if there.closed else place

    def _shorter(self, place: _Place, move: Array) -> _Place | None:
        for part in 0.25 ** np.arange(6):
            moved = self._close(self._place(place.y + part * move))
            if moved.closed and moved.y @ moved.y < (1 - 1e-13) * (place.y @ place.y):
                return moved
        return None

    def _shortening(self, place: _Place) -> Array:
        """Return a Newton step of y.y / 2 on what the joints leave free."""
        free = null_space(place.J)
        forces = self._forces(place)
        bent = np.zeros((free.shape[1],) * 2)
        for k, direction in enumerate(free.T):
            size = 1e-6 / max(self._reach(direction), 1e-300)
            there = self._place(place.y + size * direction)
            bent[:, k] = free.T @ ((there.J - place.J).T @ forces) / size
        curvatures, axes = np.linalg.eigh(np.eye(len(bent)) - (bent + bent.T) / 2)
        along = axes.T @ (free.T @ place.y)
        # Where a longest displacement or a saddle is met, any way off it will do.
        along = np.where((curvatures < 0) & (np.abs(along) < 1e-9), 1e-3, along)
        step: Array = -free @ (axes @ (along / np.maximum(np.abs(curvatures), 1e-3)))
        return step

    def _forces(self, place: _Place) -> Array:
        """Return what on the rows would hold the displacement y, by least squares."""
        forces = np.linalg.lstsq(place.J.T, place.y, rcond=1e-10)[0]
        return np.asarray(forces, dtype=float)

    def _pull(self, place: _Place) -> set[int]:
        """Return the touching contacts that would be pulled: they need not touch."""
        forces = self._forces(place)[len(place.error) - len(self._touching) :]
        size = np.max(np.abs(forces), initial=0.0)
        return set(self._touching[forces < -1e-9 * size])


def inverse_root(M: Array) -> Array:
    """Return R with R.T M R the identity, a trace of inertia given to motions without any."""
    diagonal = np.diag(M)
    positive = diagonal[diagonal > 0]
    least = MASSLESS * (positive.max() if positive.size else 1.0)
    M = M + np.diag(np.where(diagonal > 0, 0.0, least))
    size: Array = np.sqrt(np.diag(M))
    values, vectors = np.linalg.eigh(M / np.outer(size, size))
    root = vectors / np.sqrt(np.maximum(values, MASSLESS * values[-1])) / size[:, None]
    return np.asarray(root, dtype=float)


def reach(poses: ca.Function, q: Array, displacement: Array, p: Array) -> float:
    """Return how far a displacement (nv,) moves the bodies: turns [rad], or ways over the size."""
    r, _, u, w = (np.asarray(x) for x in poses(q, displacement, p))
    size = float(np.max(np.linalg.norm(r - r[:, :1], axis=0))) or 1.0
    return float(max(*np.linalg.norm(w, axis=0), *np.linalg.norm(u, axis=0) / size))


def column(x: object) -> Array:
    """Return what a function returned as a vector."""
    return np.asarray(x, dtype=float).ravel()
