"""The nearest configuration in which joints are closed, in the metric of the mass.

Of the displacements u from q0 that close the joints at q0 (+) u, the one of least u.M(q0) u is
sought; where springs act, of least u.(M + T^2 K) u, K being their stiffness, so that stiff parts
as light as those of a flexible link are not bent. Joints are closed first, by moves of bounded
turns that open them no further; then the displacement is made shorter among closed configurations,
by Newton's method with the curvature of the joints. Loops close in several ways: whatever is nearer
than a first configuration lies in the ball about the start through it, so that after long
displacements it is looked for from random places in that ball.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import casadi as ca
import numpy as np

from nsopt.algebra import null_space
from nsopt.arrays import Array

AIM = 1e-13  # residual [m, or 1] at which joints are closed

CLOSED = 1e-10
"""Residual [m, or 1] at which joints count as closed if rounding keeps them from `AIM`; also how
far contacts [m] may be inside each other."""

ALIGNED = 0.5
"""Least of the cosines of `Constraint.alignment`, one where a joint is closed: its frames are not
turned by 90 or 180 deg."""

# Longest move at once, as `reach` measures it: after a turn by 0.4 rad joints that were linearised
# before it are open by 0.4^2 / 2, 8 %, of the length that turned.
LONGEST = 0.4
# Displacement, as `reach` measures it, beyond which nearer configurations are looked for: within it
# there is hardly another one.
FAR = 0.1
# Random places from which they are looked for: what a tenth of all places lead to is then found
# nine times in ten.
TRIES = 24

DAMPING = (0.0, 1e-8, 1e-6, 1e-4, 1e-2, 1.0, 100.0)
"""Damping of moves that close joints, over the largest squared singular value; the first with which
joints are less open is taken."""

NEAR_LEAST = 1e-6
"""Length of a move, over that of the displacement, below which the displacement becomes shorter by
less than rounding shows."""

IMPLIED = 1e-10  # part of the largest singular value, up to which rows follow from others
LESS = 1e-4  # part by which a move must open joints less: else moves that gain nothing go on
NUDGE = 1e-6  # reach of a displacement that shows how J changes: round-off over it is 1e-10
FLATTEST = 1e-3  # curvature at least, which is 1 without joints, so that moves stay finite
PERIOD = 0.1  # T [s]: slower swings by springs hardly count, those of stiff parts do
MOVES, SHORTENINGS = 100, 50  # moves at most that close joints, that shorten a displacement
PARTS_OF_MOVE = 0.25 ** np.arange(6)  # tried in turn: the first that leads nearer is taken
SHORTER = 1e-13  # part by which its square must fall at least: 450 times round-off
MASSLESS = 1e-9  # inertia given to motions without any, over the largest of the others


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
    """Where a search ended."""

    q: Array  # (nq,)
    residual: Array  # (nc,) [m, or 1] of the joints
    closed: bool  # with their frames the right way round


@dataclass(frozen=True)
class _Place:
    """A displacement and what is to vanish there."""

    y: Array  # (nv,) in units in which the metric is the identity
    q: Array  # (nq,)
    error: Array  # (nc + touching,) residuals of joints [m, or 1], gaps of contacts that touch [m]
    J: Array  # d(error)/dy

    @property
    def openness(self) -> float:
        return float(np.linalg.norm(self.error))

    @property
    def closed(self) -> bool:
        return float(np.max(np.abs(self.error), initial=0.0)) < CLOSED


class Search:
    """The search for the nearest closed configuration from q (nq,) at a time [s].

    ``stiffness`` (nv, nv) is that of all springs at the start [N m, or N/m].
    """

    def __init__(
        self, functions: Configurations, t: float, q: Array, p: Array, stiffness: Array
    ) -> None:
        self._functions, self._t, self._p, self._q = functions, t, p, q
        values, axes = np.linalg.eigh((stiffness + stiffness.T) / 2)
        stiff = axes @ (np.maximum(values, 0.0)[:, None] * axes.T)  # its stable part
        # u = root y
        self._root = inverse_root(np.asarray(functions.mass(q, p)) + PERIOD**2 * stiff)
        # Indices of the contacts that are held at gap zero.
        self._touching = np.flatnonzero(self._measure_distances(q) < 0)

    def nearest(self) -> Closing:
        """Return the nearest closed configuration that is found, or else the least open one.

        By an active set: contacts that end inside each other are held at gap zero, those that would
        pull are let go, each once at most.
        """
        place, released = self._find_nearest(), set[int]()
        # Each contact may be held once, and let go once.
        for _ in range(2 * self._measure_distances(self._q).size):
            inside = np.flatnonzero(self._measure_distances(place.q) < -CLOSED)
            pulled = self._find_pulled(place) - released
            touching = (set(self._touching) | set(inside)) - pulled
            if not place.closed or touching == set(self._touching):
                break
            released |= pulled
            self._touching = np.array(sorted(touching), dtype=int)
            place = self._find_nearest()
        return self._describe(place)

    def close(self) -> Closing:
        """Return the configuration in which the joints close by the shortest moves."""
        return self._describe(self._close_from(self._evaluate(np.zeros(len(self._root)))))

    def _describe(self, place: _Place) -> Closing:
        residual = flatten(self._functions.closure(self._t, place.q, self._p))
        return Closing(place.q, residual, self._is_assembled(place))

    def _measure_distances(self, q: Array) -> Array:
        return flatten(self._functions.distance(self._t, q, self._p))

    def _find_nearest(self) -> _Place:
        """Return the nearest closed place of those found, contacts held as they are now."""
        start = self._evaluate(np.zeros(len(self._root)))
        first = self._shorten(self._close_from(start))
        found = [first] if self._is_assembled(first) else []
        if found and self._measure_reach(first.y) < FAR:
            return first
        least_open = min((start, first), key=lambda place: place.openness)
        for guess in self._draw_guesses(first if found else None):
            place = self._close_from(self._evaluate(guess))
            if self._is_assembled(place):
                found.append(self._shorten(place))
            least_open = min((least_open, place), key=lambda place: place.openness)
        return min(found, key=lambda place: float(place.y @ place.y), default=least_open)

    def _draw_guesses(self, first: _Place | None) -> Iterator[Array]:
        """Yield random displacements y of the coordinates that joints depend on.

        In the ball through a first closed place; without one, farther and farther away.
        """
        rng = np.random.default_rng(0)
        C = self._functions.closure_matrix.sparsity_out(0)
        concerned = np.isin(np.arange(len(self._root)), C.get_col() if C.nnz() else [])
        if not np.any(concerned):
            return
        back = np.linalg.inv(self._root)
        for k in range(TRIES):
            y = back @ (concerned * (self._root @ rng.normal(size=len(back))))
            if first is not None:
                yield y * (rng.uniform(0.2, 1.0) * np.linalg.norm(first.y) / np.linalg.norm(y))
            else:  # reach of 0.5 to 3.5 rad
                yield y * ((0.5 + 3.0 * k / TRIES) / self._measure_reach(y))

    def _is_assembled(self, place: _Place) -> bool:
        aligned = flatten(self._functions.alignment(self._t, place.q, self._p))
        return place.closed and bool(np.all(aligned >= ALIGNED))

    def _evaluate(self, y: Array) -> _Place:
        """Return the place at a displacement y (nv,)."""
        d, u, p = self._functions, self._root @ y, self._p
        q = flatten(d.renormalise(d.retract(self._q, u)))
        error = flatten(d.closure(self._t, q, p))
        C = np.asarray(d.closure_matrix(self._t, q, p))
        if self._touching.size:
            gaps, W = (np.asarray(f(self._t, q, p)) for f in (d.gap, d.gap_matrix))
            error = np.concatenate([error, gaps.ravel()[self._touching]])
            C = np.vstack([C, W[:, self._touching].T])
        return _Place(y, q, error, C @ np.asarray(d.retract_matrix(u)) @ self._root)

    def _measure_reach(self, y: Array) -> float:
        return reach(self._functions.poses, self._q, self._root @ y, self._p)

    def _limit_move(self, move: Array) -> Array:
        """Return a move, shortened to a reach of `LONGEST`."""
        return move * min(1.0, LONGEST / max(self._measure_reach(move), 1e-300))

    def _close_from(self, place: _Place) -> _Place:
        """Return where moves end that open the joints no further, each the shortest one."""
        for _ in range(MOVES):
            if float(np.max(np.abs(place.error), initial=0.0)) < AIM:
                break
            moved = self._close_further(place)
            if moved is None:
                break
            place = moved
        return place

    def _close_further(self, place: _Place) -> _Place | None:
        """Return a place that is less open, by damped Gauss-Newton; None if no damping helps."""
        U, values, V = np.linalg.svd(place.J, full_matrices=False)
        largest = values.max(initial=1e-300)
        kept = values > IMPLIED * largest
        U, values, V = U[:, kept], values[kept], V[kept]
        along = U.T @ place.error
        for damping in DAMPING:
            move = -(values / (values**2 + damping * largest**2) * along) @ V
            moved = self._evaluate(place.y + self._limit_move(move))
            if moved.openness < (1 - LESS) * place.openness:
                return moved
        return None

    def _shorten(self, place: _Place) -> _Place:
        """Return the closed configuration of least displacement that is next to a closed one."""
        for _ in range(SHORTENINGS):
            if not place.closed:
                break
            move = self._limit_move(self._find_shortening(place))
            if np.linalg.norm(move) <= NEAR_LEAST * np.linalg.norm(place.y):
                return self._refine(place, move)
            shorter = self._try_shorter(place, move)
            if shorter is None:
                break
            place = shorter
        return place

    def _refine(self, place: _Place, move: Array) -> _Place:
        """Return where two last moves end, too short for the length to tell whether they help."""
        there = self._close_from(self._evaluate(place.y + move))
        there = self._close_from(
            self._evaluate(there.y + self._limit_move(self._find_shortening(there)))
        )
        return there if there.closed else place

    def _try_shorter(self, place: _Place, move: Array) -> _Place | None:
        """Return the closed place after a move, or part of it, if it is nearer to the start."""
        for part in PARTS_OF_MOVE:
            moved = self._close_from(self._evaluate(place.y + part * move))
            if moved.closed and moved.y @ moved.y < (1 - SHORTER) * (place.y @ place.y):
                return moved
        return None

    def _find_shortening(self, place: _Place) -> Array:
        """Return a Newton step (nv,) to the least y.y / 2 on what the joints leave free."""
        free = null_space(place.J)
        forces = self._find_forces(place)
        # The Hessian of y.y / 2 - forces.error: the identity less what the joints bend.
        bending = np.zeros((free.shape[1],) * 2)
        for k, direction in enumerate(free.T):
            size = NUDGE / max(self._measure_reach(direction), 1e-300)
            there = self._evaluate(place.y + size * direction)
            bending[:, k] = free.T @ ((there.J - place.J).T @ forces) / size
        curvatures, axes = np.linalg.eigh(np.eye(len(bending)) - (bending + bending.T) / 2)
        along = axes.T @ (free.T @ place.y)
        # At a longest displacement or a saddle the gradient is zero: any way off it will do.
        along = np.where((curvatures < 0) & (np.abs(along) < 1e-9), 1e-3, along)
        step: Array = -free @ (axes @ (along / np.maximum(np.abs(curvatures), FLATTEST)))
        return step

    def _find_forces(self, place: _Place) -> Array:
        """Return the multipliers of the rows that would hold the displacement y as a load."""
        forces = np.linalg.lstsq(place.J.T, place.y, rcond=IMPLIED)[0]
        return np.asarray(forces, dtype=float)

    def _find_pulled(self, place: _Place) -> set[int]:
        """Return the touching contacts that would have to pull: the way is shorter without them."""
        forces = self._find_forces(place)[len(place.error) - len(self._touching) :]
        size = np.max(np.abs(forces), initial=0.0)
        return set(self._touching[forces < -1e-9 * size])


def inverse_root(M: Array) -> Array:
    """Return R with R.T M R the identity, motions without inertia given a little (`MASSLESS`)."""
    diagonal = np.diag(M)
    positive = diagonal[diagonal > 0]
    least = MASSLESS * (positive.max() if positive.size else 1.0)
    M = M + np.diag(np.where(diagonal > 0, 0.0, least))
    size: Array = np.sqrt(np.diag(M))  # masses and inertias of other units are made alike first
    values, vectors = np.linalg.eigh(M / np.outer(size, size))
    root = vectors / np.sqrt(np.maximum(values, MASSLESS * values[-1])) / size[:, None]
    return np.asarray(root, dtype=float)


def reach(poses: ca.Function, q: Array, displacement: Array, p: Array) -> float:
    """Return how far a displacement (nv,) moves the bodies, to first order.

    The largest turn [rad], or way of a centre over the size of the mechanism.
    """
    r, _, u, w = (np.asarray(x) for x in poses(q, displacement, p))  # as velocities over 1 s
    size = float(np.max(np.linalg.norm(r - r[:, :1], axis=0))) or 1.0
    return float(max(*np.linalg.norm(w, axis=0), *np.linalg.norm(u, axis=0) / size))


def flatten(x: object) -> Array:
    """Return what a CasADi function returned as a vector."""
    return np.asarray(x, dtype=float).ravel()
