"""Linear projections, solved by proximal points."""

from __future__ import annotations

from typing import NamedTuple

import casadi as ca
import numpy as np
from numpy.typing import NDArray

from nsopt.mpcc.disc import Disc
from nsopt.mpcc.evaluator import Evaluator

Array = NDArray[np.float64]

NO_SLOPE = 1e-12
"""Of the largest slope, one that counts as none: F then does not move its z."""

RANK = 1e-13
"""Relative size of singular values of a slope that count as zero."""

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

SUFFICIENT = 0.1
"""Of the length of a step, the part of the residual by which it must lower that."""


class ProjectionRows:
    """z - (z - F projected on its limits), for F and limits that are linear in z.

    Parameters
    ----------
    n : int
        Unknowns z.
    in_discs : int
        How many, the last ones, are entries of vectors of two that are projected on discs.
    """

    def __init__(self, n: int, in_discs: int) -> None:
        z, constants, slopes = ca.SX.sym("z", n), ca.SX.sym("c", 3 * n), ca.SX.sym("s", 3 * n, n)
        self.n, self.in_discs = n, in_discs
        F, lower, upper = ca.vertsplit(constants + slopes @ z, n) if n else [z] * 3
        alone = n - in_discs
        rows = [z[i] - ca.fmin(ca.fmax(z[i] - F[i], lower[i]), upper[i]) for i in range(alone)]
        for i in range(alone, n, 2):
            both = slice(i, i + 2)
            rows.append(Disc(z[both], F[both], ca.fmax(upper[i], 0), "").rows)
        given, values = [z, constants, slopes], ca.densify(ca.vertcat(ca.SX(0, 1), *rows))
        jacobian = ca.densify(ca.jacobian(values, z))
        options = {"cse": True}
        self.value = Evaluator(ca.Function("rows", given, [values], options))
        self.with_jacobian = Evaluator(ca.Function("slope", given, [values, jacobian], options))


class _Problem(NamedTuple):
    """Rows at given constants (3 n,) and slopes (3 n, n)."""

    rows: ProjectionRows
    constants: Array
    slopes: Array

    def value(self, z: Array) -> Array:
        value: Array
        (value,) = self.rows.value(z, self.constants, self.slopes.ravel(order="F"))
        return value

    def direction(self, z: Array) -> Array:
        """Return Newton's step, in least squares where it is not unique."""
        r, flat = self.rows.with_jacobian(z, self.constants, self.slopes.ravel(order="F"))
        J = flat.reshape(z.size, z.size).T
        if not np.all(np.isfinite(J)):
            return np.zeros_like(z)
        return np.asarray(np.linalg.lstsq(J, r, rcond=RANK)[0], dtype=float)

    def newton(self, z: Array, tolerance: float) -> tuple[Array, float]:
        """Return the z of least residual on the way of a semismooth Newton, and that residual."""
        r = self.value(z)
        best, least = z, _largest(r)
        for k in range(STEPS):
            if least <= tolerance:
                break
            z, r = self._stepped(z, r, self.direction(z), SIDESTEP if k % 2 else 1.0)
            if (size := _largest(r)) < least:
                best, least = z, size
        return best, least

    def _stepped(self, z: Array, r: Array, dz: Array, otherwise: float) -> tuple[Array, Array]:
        size = float(np.linalg.norm(r))
        for length in LENGTHS:
            end = z - length * dz
            r = self.value(end)
            if np.linalg.norm(r) < (1 - SUFFICIENT * length) * size:
                return end, r
        end = z - otherwise * dz
        return end, self.value(end)


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
        return _largest(at.value(z))

    def solution(self, z: Array) -> Array:
        """Return the solution that is found from z (n,), or the z of least residual."""
        part = FIRST
        best, least = z, _largest(self._problem.value(z))
        for _ in range(POINTS):
            if least <= TOLERANCE * max(1.0, np.max(np.abs(best), initial=0.0)):
                break
            end, inexact = self._near(z, part).newton(z, INEXACT * part)
            size = _largest(self._problem.value(end))
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
