"""The linear program with equilibrium constraints at a point: does any direction lower f?"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import scipy
from numpy.typing import NDArray

from nsopt.mpcc.backends.native_output import printing_to_stderr
from nsopt.mpcc.statement.layout import ACTIVE, Vector

Mask = NDArray[np.bool_]
Index = NDArray[np.intp]
Matrix = Any  # scipy.sparse.csr_array
Part = tuple[Matrix, Any, Any]  # (r, n + binaries) of rows, their lower and upper bounds (r,)


class Direction(NamedTuple):
    """A step d, and the branch at its end."""

    d: Vector  # (n,) within the trust region, scaled
    closed: Mask  # (m,) whether G of a pair is zero after it; else H is
    descent: float  # - slope . d / radius
    proven: bool  # whether no other step of this length has more


@dataclass(frozen=True, eq=False)
class Lpec:
    """A program with complementarity linearised at a feasible point x, in scaled units.

    Minimize slope . d subject to J d = 0 in equations, rows + J d <= 0 in inequalities, bounds of
    x + d, 0 <= x_G + d_G _|_ x_H + d_H >= 0 and |d| <= radius. The point is B-stationary where
    d = 0 is best for a small radius [Luo, Pang, Ralph 1996; Scheel, Scholtes 2000, Math. Oper. Res.
    25(1)]. Pairs that can go either way within the radius are binary unknowns of a mixed-integer
    linear program (HiGHS).
    """

    x: Vector  # (n,)
    lower: Vector  # (n,)
    upper: Vector  # (n,)
    slope: Vector  # (n,) gradient of f
    rows: Vector  # (r,) values of inequalities, zero or less
    equations: Matrix  # (c, n) Jacobian
    inequalities: Matrix  # (r, n) Jacobian
    G: Index  # (m,) unknowns that are proportional to G of each pair
    H: Index
    factors: Vector  # (m, 2) G and H over these unknowns

    @property
    def finite(self) -> bool:
        """Whether all numbers of the linear program are."""
        parts = (self.slope, self.rows, self.equations.data, self.inequalities.data)
        return all(bool(np.isfinite(part).all()) for part in parts)

    @property
    def steepness(self) -> float:
        """The largest entry of the slope."""
        return float(np.abs(self.slope).max(initial=0.0))

    def solve(self, radius: float, nodes: int = 10_000, seconds: float = np.inf) -> Direction:
        """Return the best direction within a radius, d = 0 if nodes or seconds run out."""
        n, m = self.x.size, self.G.size
        halves = (np.maximum(self.x[unknown], 0.0) for unknown in (self.G, self.H))
        x_G, x_H = (np.where(y < ACTIVE, 0.0, y / radius) for y in halves)
        closed = x_G <= x_H
        # The smaller half is zero to the tolerance of solvers. It stays where it is: equations may
        # leave it no other place within the radius.
        x_G, x_H = np.where(closed, 0.0, x_G), np.where(closed, x_H, 0.0)
        undecided = np.flatnonzero((x_G <= 1) & (x_H <= 1))  # pairs that can go either way
        # All in units of the radius, so that the tolerances of the solver are small beside d.
        low = np.maximum(_measure_slack(self.lower - self.x, radius), -1.0)
        high = np.minimum(-_measure_slack(self.x - self.upper, radius), 1.0)
        decided = np.setdiff1d(np.arange(m), undecided)
        to_zero = np.where(closed[decided], self.G[decided], self.H[decided])
        high[to_zero] = low[to_zero] = 0.0
        k = undecided.size
        parts = [
            _make_part(self.equations, k, 0.0, 0.0),
            _make_part(self.inequalities, k, -np.inf, -_measure_slack(self.rows, radius)),
        ]
        for half, unknown, side in ((x_G, self.G, 1.0), (x_H, self.H, -1.0)):
            # Of G: d <= -x_G where the binary is 0, free where it is 1; of H the other way round.
            reach = half[undecided] + 1
            d = scipy.sparse.csr_array(
                (np.ones(k), (np.arange(k), unknown[undecided])), shape=(k, n)
            )
            row = scipy.sparse.hstack([d, scipy.sparse.diags_array(-side * reach)], format="csr")
            parts.append((row, -np.inf, -half[undecided] if side > 0 else 1.0))
        limits: Any = {"node_limit": nodes, "mip_rel_gap": 0.0}
        if seconds < np.inf:
            limits["time_limit"] = seconds
        rows = [scipy.optimize.LinearConstraint(A, a, b) for A, a, b in parts if A.shape[0]]
        steepness = self.steepness or 1.0  # the tolerance of the solver is absolute
        bounds = scipy.optimize.Bounds(np.append(low, np.zeros(k)), np.append(high, np.ones(k)))
        with printing_to_stderr():
            end = scipy.optimize.milp(
                np.append(self.slope / steepness, np.zeros(k)),
                integrality=np.append(np.zeros(n), np.ones(k)),
                bounds=bounds,
                constraints=rows,
                options=limits,
            )
        if end.x is None:
            return Direction(np.zeros(n), closed, 0.0, False)
        closed[undecided] = end.x[n:] < 0.5
        descent = -steepness * float(end.fun)
        return Direction(radius * end.x[:n], closed, descent, end.status == 0)


def _measure_slack(values: Vector, radius: float) -> Vector:
    """Return values of zero or less over the radius, zero where they are nearly."""
    return np.where(values > -ACTIVE, 0.0, values / radius)


def _make_part(J: Matrix, binaries: int, lower: Vector | float, upper: Vector | float) -> Part:
    """Return lower <= J d <= upper with rows of largest entry one, columns of zero for binaries."""
    largest = abs(J).max(axis=1).toarray().ravel() if J.shape[0] else np.zeros(0)
    size = np.where(largest > 0, largest, 1.0)
    idle = scipy.sparse.csr_array((J.shape[0], binaries))
    scaled = scipy.sparse.hstack([scipy.sparse.diags_array(1 / size) @ J, idle], format="csr")
    return scaled, lower / size, upper / size
