"""Whether a direction is the first derivative of a motion that meets constraints up to an order.

A motion s(t) = s_1 t + s_2 t^2 + ... meets g(s) = 0 (`Reduction`) up to order i where the
coefficients of t^2 to t^i of g(s(t)) vanish [mobility 2016, eq. 38]. As g begins with squares, s_i
has no part in that; motions are arrays (i - 1, variables) of s_1 to s_(i-1).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from nsopt.mobility.polynomials import PolynomialMap

Array = NDArray[np.float64]

MET, EXACT = 1e-8, 1e-15
"""Coefficients up to which g counts as zero, and to which it is solved where a direction is looked
for: a double zero is then known to 1e-7. Coefficients of its polynomials are about one."""

LARGEST = 100.0
"""Size of s_2, s_3, ... beyond which there is no motion: they grow without limit while g tends to
zero."""

ITERATIONS = 80
STARTS = 8
"""Random s_2, s_3, ... from which a motion is looked for."""


@dataclass(frozen=True, eq=False)
class Prolongation:
    """The equations of motions along reduced constraints g, up to an order, i above."""

    g: PolynomialMap
    order: int

    def has_motion(self, direction: Array) -> bool:
        """Return whether a direction s_1 (variables,) of length one has such a motion."""
        rng = np.random.default_rng(0)
        held = np.zeros((len(direction), 0))
        for k in range(STARTS):
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
        E, damping = self._rows(s), 1e-3
        for _ in range(ITERATIONS):
            if np.max(np.abs(E), initial=0.0) < target:
                break
            J = self._jacobian(s, within)
            if not J.shape[1]:
                break
            step = np.linalg.lstsq(
                np.vstack([J, np.sqrt(damping) * np.eye(J.shape[1])]),
                -np.concatenate([E, np.zeros(J.shape[1])]),
                rcond=None,
            )[0]
            new = self._move(s, step, within)
            after = self._rows(new)
            if np.linalg.norm(after) < np.linalg.norm(E):
                s[:], E, damping = new, after, damping / 10
            else:
                damping *= 10
                if damping > 1e8:
                    break
        met = np.max(np.abs(E), initial=0.0) < MET
        return bool(met and np.max(np.abs(s)) < LARGEST)

    def _rows(self, s: Array) -> Array:
        """Return the coefficients of t^2 to t^order of g(s(t)), one after another."""
        return self._series(self.g, s)[2:].ravel()

    def _series(self, polynomials: PolynomialMap, s: Array) -> Array:
        padded = np.zeros((self.order, s.shape[1]))
        padded[: len(s)] = s
        return polynomials.series(padded)

    def _jacobian(self, s: Array, within: Array) -> Array:
        """Return the derivatives of the rows by the turn of s_1 and by s_2, s_3, ..."""
        count, size = s.shape[1], self.g.size
        D = self._series(self.g.gradient, s).reshape(-1, size, count)
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
