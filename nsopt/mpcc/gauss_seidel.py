"""Projected Gauss-Seidel for complementarity with friction, as a start for Newton."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import casadi as ca
import numpy as np
from numpy.typing import NDArray

from nsopt.algebra import repeated
from nsopt.mpcc.blocks import stacked
from nsopt.mpcc.disc import DiscRow
from nsopt.mpcc.evaluator import Evaluator
from nsopt.mpcc.min_map import min_rows
from nsopt.mpcc.min_row import ProjectedUnknown
from nsopt.mpcc.problem import Mpcc

Array = NDArray[np.float64]

CHUNK = 50
"""Sweeps in one call, after which they are extrapolated."""

MEMORY = 10
"""Calls after which extrapolation begins anew."""

DIVERGED = 10.0
"""Times the least change so far, the change at which it begins anew."""

DEPENDENT = 1e-10
"""Relative size of singular values of changes that count as zero."""

TOLERANCE = 1e-14
"""Change in `CHUNK` sweeps at which they end, over the largest scaled unknown or one."""

RANK = 1e-12
"""Relative size of singular values of the equations that count as zero."""

NO_SLOPE = 1e-12
"""Of the largest slope, one that counts as none: F then does not move its z."""


class _Projections(NamedTuple):
    """All projections of a program, (n,) each, scaled; those on discs come last.

    ``stated`` tells whether all that complements is stated so.
    """

    z: ca.SX
    F: ca.SX
    lower: ca.SX
    upper: ca.SX
    in_discs: int
    stated: bool

    @classmethod
    def of(cls, mpcc: Mpcc) -> _Projections:
        rows = min_rows(mpcc)
        found = [projected for row in rows if (projected := row.projected) is not None]
        none = ProjectedUnknown(*(ca.SX(0, 1) for _ in ProjectedUnknown._fields))
        z, F, lower, upper = (ca.vertcat(*column) for column in zip(none, *found, strict=True))
        in_discs = sum(isinstance(row, DiscRow) for row in rows)
        return cls(z, F, lower, upper, in_discs, len(found) == len(rows))

    def own_unknowns(self, x: ca.SX) -> NDArray[np.intp] | None:
        """Return the index in x of each z, None if one is not linear in an unknown of its own."""
        J = ca.jacobian(self.z, x)
        rows, columns = (np.array(y, dtype=int) for y in J.sparsity().get_triplet())
        n = self.z.numel()
        alone = np.array_equal(np.sort(rows), np.arange(n)) and len({*columns}) == n
        linear = alone and not ca.depends_on(J, x)
        return columns[np.argsort(rows)] if linear and self.stated else None


class GaussSeidel:
    """Sweeps over a linearised program [Jourdan, Alart, Jean 1998, CMAME 155(1-2)].

    Unknowns z of pairs, boxes and discs are projected in turn on the values they may have,

        z_i <- proj(z_i - F_i(z) / (dF_i/dz_i)),

    where the equations, scaled alike, are solved for all other unknowns in least squares; between
    sweeps z is extrapolated [Anderson; Walker, Ni 2011, SIAM J. Numer. Anal. 49(4)]. That takes
    longer than Newton, but converges from anywhere, also where many z give the same motion and
    where Newton wanders from mode to mode.

    Parameters
    ----------
    mpcc : Mpcc
        Whose H, of pairs, and z, of boxes and discs, are unknowns of their own.

    Raises
    ------
    ValueError
        If they are not, or it has first events.
    """

    def __init__(self, mpcc: Mpcc) -> None:
        x, given = _unknowns(mpcc), _Projections.of(mpcc)
        z, own = given.z, given.own_unknowns(x)
        if own is None:
            raise ValueError(
                f"GaussSeidel needs pairs, boxes and discs of unknowns of their own, "
                f"{mpcc.name!r} has others: use Newton, Ipopt or Sqp"
            )
        p = stacked(block.symbol for block in mpcc.parameters)
        equations = stacked(r.expr / ca.SX(r.scale) for r in mpcc.equalities)
        self._own, self._equations = own, equations.numel()
        r = ca.vertcat(equations, given.F, given.lower, given.upper)
        stated = [r, ca.jacobian(r, x), z, ca.sum2(ca.jacobian(z, x))]
        self._stated = Evaluator(ca.Function("stated", [x, p], [ca.densify(y) for y in stated]))
        self._sweeps = Evaluator(repeated(_sweep(z.numel(), given.in_discs), CHUNK))

    @staticmethod
    def takes(mpcc: Mpcc) -> bool:
        """Tell whether a program is one of these."""
        return _Projections.of(mpcc).own_unknowns(_unknowns(mpcc)) is not None

    def start(self, x: Array, p: Array, sweeps: int) -> Array:
        """Return scaled unknowns (n,) after so many sweeps, or fewer where they come to rest.

        Parameters
        ----------
        x : (n,)
            Scaled unknowns about which the program is linearised.
        p : (np,)
            Parameters of the program.
        sweeps : int
        """
        r, J, z0, factor = self._stated(x, p)
        if not all(np.all(np.isfinite(y)) for y in (r[: self._equations + z0.size], J, z0)):
            return x  # as where a root has no slope
        J, e, own = J.reshape(x.size, r.size).T, self._equations, self._own
        others = np.setdiff1d(np.arange(x.size), own)
        J_own, J_others = J[:, own] / factor, J[:, others]
        inverse = _inverse(J_others[:e])
        move, per_z = -inverse @ r[:e], -inverse @ J_own[:e]  # of the others, by the equations
        slope = J_own[e:] + J_others[e:] @ per_z
        constant = r[e:] + J_others[e:] @ move - slope @ z0
        z = self._rest(z0, constant, slope, sweeps)
        end = np.array(x)
        end[own] += (z - z0) / factor
        end[others] += move + per_z @ (z - z0)
        return end

    def _rest(self, z: Array, constant: Array, slope: Array, sweeps: int) -> Array:
        """Return z where sweeps come to rest, or as far as they come."""
        ends: list[Array] = []
        moves: list[Array] = []
        least = np.inf
        for _ in range(max(1, -(-sweeps // CHUNK))):
            (end,) = self._sweeps(z, constant, slope.ravel(order="F"))
            if not np.all(np.isfinite(end)):
                return z
            size = np.max(np.abs(end - z), initial=0.0)
            if size <= TOLERANCE * max(1.0, np.max(np.abs(end), initial=0.0)):
                return end
            if len(ends) == MEMORY or size > DIVERGED * least:
                ends, moves = [], []
            ends, moves, least = [*ends, end], [*moves, end - z], min(least, size)
            z = _extrapolated(ends, moves)
        return end


def _extrapolated(ends: Sequence[Array], moves: Sequence[Array]) -> Array:
    """Return the combination of ends whose moves, combined alike, are least."""
    if len(ends) == 1:
        return ends[0]
    weights = np.linalg.lstsq(np.diff(moves, axis=0).T, moves[-1], rcond=DEPENDENT)[0]
    end: Array = ends[-1] - np.diff(ends, axis=0).T @ weights
    return end


def _inverse(A: Array) -> Array:
    """Return the pseudo-inverse of A with columns, then rows, scaled to a norm of one.

    As impulses are in proportion to h and velocities are not, what is small without that is not
    dependent.
    """
    columns = np.linalg.norm(A, axis=0)
    columns[columns == 0] = 1
    rows = np.linalg.norm(A / columns, axis=1)
    rows[rows == 0] = 1
    inverse: Array = np.linalg.pinv(A / columns / rows[:, None], RANK) / columns[:, None] / rows
    return inverse


def _unknowns(mpcc: Mpcc) -> ca.SX:
    return stacked(v.scaled for v in mpcc.variables)


def _sweep(n: int, in_discs: int) -> ca.Function:
    """Return (z, constants, slopes) -> z of one sweep over n unknowns, the last of them in discs.

    F, lower and upper limits are ``constants + slopes z``.
    """
    z, constants, slopes = ca.SX.sym("z", n), ca.SX.sym("c", 3 * n), ca.SX.sym("s", 3 * n, n)
    values = [z[i] for i in range(n)]
    least = NO_SLOPE * ca.mmax(ca.vertcat(0, *(slopes[i, i] for i in range(n))))

    def row(i: int) -> ca.SX:
        return constants[i] + slopes[i, :] @ ca.vertcat(*values)

    def reach(i: int, rate: ca.SX) -> ca.SX:
        return values[i] - ca.if_else(rate > least, row(i) / rate, 0)

    for i in range(n - in_discs):
        lower, upper = row(n + i), row(2 * n + i)
        values[i] = ca.fmin(ca.fmax(reach(i, slopes[i, i]), lower), upper)
    for i in range(n - in_discs, n, 2):
        # A bound of the larger eigenvalue, so that the step of both entries is none too long.
        rate = slopes[i, i] + slopes[i + 1, i + 1]
        to, radius = ca.vertcat(reach(i, rate), reach(i + 1, rate)), ca.fmax(row(2 * n + i), 0)
        size = ca.sqrt(ca.sumsqr(to))
        values[i], values[i + 1] = ca.vertsplit(to * ca.if_else(size <= radius, 1, radius / size))
    return ca.Function("sweep", [z, constants, slopes], [ca.vertcat(*values)], {"cse": True})
