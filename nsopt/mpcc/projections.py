"""Linear projections, solved by proximal points."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

NO_SLOPE = 1e-12
"""Of the largest slope, one that counts as none: F then does not move its z."""

RANK = 1e-13
"""Reciprocal condition number from which on a slope counts as singular."""

FIRST, SHRINK, GROW = 1e-3, 0.3, 10.0
"""Proximal part in the first point, over the own slope of F; how it changes after one that was
found, and after one that was not."""

POINTS = 40
"""Proximal points at most."""

STEPS = 30
"""Steps of Newton at most for each."""

TOLERANCE = 1e-14
"""Residual at which they end, over the largest z or one."""

INEXACT = 1e-4
"""Residual of a proximal point that counts as found, over its proximal part."""

LENGTHS = tuple(0.5**k for k in range(6))
"""Of steps, the first that lowers the residual is taken."""

SIDESTEP = 0.3
"""Length of every second step where none does."""

TINY = 1e-30
"""Length below which a vector has no direction."""

SUFFICIENT = 0.1
"""Of the length of a step, the part of the residual by which it must lower that."""


class ProjectionRows(NamedTuple):
    """z - (z - F projected on its limits), as arrays, for F and limits (3 n, ...) that are known.

    The rows of `min_rows`, that a search evaluates thousands of times: in numbers of several points
    at once. Symbolic ones take longer for one point than these for all lengths of a step.

    Attributes
    ----------
    n : int
        Unknowns z.
    in_discs : int
        How many, the last ones, are entries of vectors of two that are projected on discs.
    """

    n: int
    in_discs: int

    def value(self, z: Array, limits: Array) -> Array:
        """Return the rows (n, k) of k points z (n, k), where F and limits have values (3 n, k)."""
        F, lower, upper = limits[: self.n], limits[self.n : 2 * self.n], limits[2 * self.n :]
        reach, alone = z - F, self.n - self.in_discs
        # What is inside is F itself: of z - (z - F) the round-off of z would be left.
        over = np.minimum(np.maximum(F, z - upper), np.maximum(z - lower, z - upper))
        if not self.in_discs:
            return over
        radius, y = np.maximum(upper[alone::2], 0), self._pairs(reach)
        length = np.sqrt(y[:, 0] ** 2 + y[:, 1] ** 2)
        share = np.where(length >= radius, radius / np.maximum(length, TINY), np.inf)[:, None]
        edge = self._pairs(z) - np.where(np.isfinite(share), share, 0) * y
        discs = np.where(np.isfinite(share), edge, self._pairs(F))
        return np.concatenate([over[:alone], discs.reshape(self.in_discs, -1)])

    def jacobian(self, z: Array, limits: Array, slopes: Array) -> Array:
        """Return the slope (n, n) of the rows at z (n,), by those of F and limits (3 n, n)."""
        n, alone = self.n, self.n - self.in_discs
        F, lower, upper = limits[:n], limits[n : 2 * n], limits[2 * n :]
        one, reach = np.eye(n), z - F
        J = np.array(slopes[:n])
        low, high = reach < lower, reach > np.minimum(upper, np.maximum(lower, upper))
        high |= low & (lower > upper)
        J[low] = (one - slopes[n : 2 * n])[low]
        J[high] = (one - slopes[2 * n :])[high]
        if self.in_discs:
            J[alone:] = self._slopes_of_discs(reach, upper, slopes)
        return J

    def _slopes_of_discs(self, reach: Array, upper: Array, slopes: Array) -> Array:
        """Return the slope (in_discs, n) of the rows of discs."""
        n, m, alone = self.n, self.in_discs // 2, self.n - self.in_discs
        radius, y = np.maximum(upper[alone::2], 0), self._pairs(reach)
        length = np.sqrt(y[:, 0] ** 2 + y[:, 1] ** 2)
        inside = length < radius
        length = np.maximum(length, TINY)
        along = y / length[:, None]
        across = (radius / length)[:, None, None] * (np.eye(2) - along[:, :, None] * along[:, None])
        own = self._pairs(np.eye(n))
        grows = (upper[alone::2] > 0)[:, None] * slopes[2 * n + alone :: 2]
        F = self._pairs(slopes[:n])
        edge = own - across @ (own - F) - along[:, :, None] * grows[:, None]
        return np.where(inside[:, None, None], F, edge).reshape(2 * m, n)

    def _pairs(self, values: Array) -> Array:
        """Return the entries of discs of (n, ...), by twos (discs, 2, ...)."""
        alone = self.n - self.in_discs
        return values[alone:].reshape((self.in_discs // 2, 2, *values.shape[1:]))


class _Problem(NamedTuple):
    """Rows at given constants (3 n,) and slopes (3 n, n)."""

    rows: ProjectionRows
    constants: Array
    slopes: Array

    def value(self, z: Array) -> Array:
        """Return the rows (n, k) at k points (n, k)."""
        return self.rows.value(z, self.constants[:, None] + self.slopes @ z)

    def direction(self, z: Array, r: Array) -> Array:
        """Return Newton's step for the rows r (n,) at z, in least squares if it is not unique."""
        J = self.rows.jacobian(z, self.constants + self.slopes @ z, self.slopes)
        if not np.all(np.isfinite(J)):
            return np.zeros_like(z)
        return _least_squares(J, r)

    def newton(self, z: Array, tolerance: float) -> tuple[Array, float]:
        """Return the z of least residual on the way of a semismooth Newton, and that residual."""
        r = self.value(z[:, None])[:, 0]
        best, least = z, _largest(r)
        for k in range(STEPS):
            if least <= tolerance:
                break
            z, r = self._stepped(z, r, SIDESTEP if k % 2 else 1.0)
            if (size := _largest(r)) < least:
                best, least = z, size
        return best, least

    def _stepped(self, z: Array, r: Array, otherwise: float) -> tuple[Array, Array]:
        """Return the end of a step, (n,), and its rows, (n,)."""
        lengths = np.append(LENGTHS, otherwise)
        ends = z[:, None] - self.direction(z, r)[:, None] * lengths
        values = self.value(ends)
        sizes = np.sqrt(np.sum(values**2, axis=0))
        lower = sizes < (1 - SUFFICIENT * lengths) * np.sqrt(r @ r)
        lower[-1] = True  # where none is lower
        k = int(np.argmax(lower))
        return ends[:, k], values[:, k]


class LinearProjections:
    """z = z - F(z) projected on limits, with F and limits linear in z.

    The proximal point algorithm [Rockafellar 1976, SIAM J. Control Optim. 14(5)]: each point z is
    the one for F(z) + r (z - last point), by a semismooth Newton that is damped; r goes to zero.
    With friction F is not monotone, but Newton then nearly always converges, where without r many z
    may be solutions or its slopes are singular.

    Parameters
    ----------
    rows : ProjectionRows
    constants, slopes : (3 n,), (3 n, n)
        F, lower and upper limits are ``constants + slopes z``; that of a disc is its upper one.
    """

    def __init__(self, rows: ProjectionRows, constants: Array, slopes: Array) -> None:
        n = rows.n
        self._weights = _weights(np.diag(slopes[:n]), rows.in_discs)
        scale = np.concatenate([self._weights, np.ones(2 * n)])
        self._problem = _Problem(rows, constants * scale, slopes * scale[:, None])

    def residual(self, z: Array, values: Array) -> float:
        """Return the largest residual at z (n,) where F and limits have ``values`` (3 n,)."""
        scale = np.concatenate([self._weights, np.ones(2 * z.size)])
        at = self._problem._replace(constants=scale * values, slopes=np.zeros((3 * z.size, z.size)))
        return _largest(at.value(z[:, None]))

    def solution(self, z: Array) -> Array:
        """Return the solution that is found from z (n,), or the z of least residual."""
        part = FIRST
        best, least = z, _largest(self._problem.value(z[:, None]))
        for _ in range(POINTS):
            if least <= TOLERANCE * max(1.0, np.max(np.abs(best), initial=0.0)):
                break
            end, inexact = self._near(z, part).newton(z, INEXACT * part)
            size = _largest(self._problem.value(end[:, None]))
            if size < least:
                best, least = end, size
            found = inexact <= INEXACT * part
            z, part = (end, SHRINK * part) if found else (z, GROW * part)
        return best

    def _near(self, z: Array, part: float) -> _Problem:
        """Return the problem whose solution is the next point after z."""
        n = z.size
        constants, slopes = np.array(self._problem.constants), np.array(self._problem.slopes)
        constants[:n] -= part * z
        slopes[:n] += part * np.eye(n)
        return self._problem._replace(constants=constants, slopes=slopes)


def _weights(own: Array, in_discs: int) -> Array:
    """Return 1 / slope for each z, of discs a bound of the larger eigenvalue; none is zero."""
    size = np.array(own)
    alone = own.size - in_discs
    size[alone:] = np.repeat(own[alone::2] + own[alone + 1 :: 2], 2)
    moves = size > NO_SLOPE * np.max(size, initial=0.0)
    return np.where(moves, 1 / np.where(moves, size, 1.0), 0.0)


def _largest(r: Array) -> float:
    return float(np.max(np.abs(r), initial=0.0)) if np.all(np.isfinite(r)) else np.inf


def _least_squares(A: Array, b: Array) -> Array:
    """Return the x (n,) of least norm among those that A x = b (n,) best, by pivoted QR."""
    from scipy.linalg.lapack import dgelsy  # few runs need it: not at every start of nsopt

    n = b.size
    _, x, *_ = dgelsy(A, b[:, None], np.zeros(n, dtype=np.int32), RANK, 4 * n + 64)
    return np.asarray(x[:n, 0], dtype=float)
