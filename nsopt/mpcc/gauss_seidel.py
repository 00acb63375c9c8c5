"""Projected Gauss-Seidel for complementarity with friction, as a start for Newton."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

import casadi as ca
import numpy as np
from numpy.typing import NDArray

from nsopt.mpcc.evaluator import Evaluator
from nsopt.mpcc.problem import Mpcc

Array = NDArray[np.float64]

CHUNK = 50
"""Sweeps in one call, after which they are extrapolated."""

MEMORY = 10
"""Calls after which extrapolation begins anew."""

ASTRAY = 10.0
"""Times the least change so far, the change at which it begins anew."""

ALIKE = 1e-10
"""Relative size of singular values of changes that count as zero."""

STILL = 1e-14
"""Change in `CHUNK` sweeps at which they end, over the largest scaled unknown or one."""

RANK = 1e-12
"""Relative size of singular values of the equations that count as zero."""

LEAST = 1e-12
"""Of the largest slope, one that counts as none: F then does not move its z."""


class ProjectedUnknowns(NamedTuple):
    """Unknowns z that are projected on a set, as z - rho F is; (n,) each, scaled."""

    z: ca.SX
    F: ca.SX
    lower: ca.SX
    upper: ca.SX


class GaussSeidel:
    """Sweeps over a linearised program [Jourdan, Alart, Jean 1998, CMAME 155(1-2)].

    Unknowns z of pairs, boxes and discs are projected in turn on the values they may have,

        z_i <- proj(z_i - F_i(z) / (dF_i/dz_i)),

    where the equations are solved for all other unknowns, in least squares; between sweeps z is
    extrapolated [Anderson; Walker, Ni 2011, SIAM J. Numer. Anal. 49(4)]. That takes longer than
    Newton, but converges from anywhere, also where many z give the same motion and where Newton
    wanders from mode to mode.

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
        x, kinds = _unknowns(mpcc), _projected(mpcc)
        z, *rows = (ca.vertcat(*parts) for parts in zip(*kinds, strict=True))
        own = _own_unknowns(z, x)
        if own is None or mpcc.first_events:
            raise ValueError(
                f"GaussSeidel needs pairs, boxes and discs of unknowns of their own, "
                f"{mpcc.name!r} has others: use Newton, Ipopt or Sqp"
            )
        p = ca.vertcat(ca.SX(0, 1), *(block.symbol for block in mpcc.parameters))
        equations = ca.vertcat(ca.SX(0, 1), *(r.expr / ca.SX(r.scale) for r in mpcc.equalities))
        self._own, self._equations = own, equations.numel()
        r = ca.vertcat(equations, *rows)
        stated = [r, ca.jacobian(r, x), z, ca.sum2(ca.jacobian(z, x))]
        self._stated = Evaluator(ca.Function("stated", [x, p], [ca.densify(y) for y in stated]))
        self._sweeps = Evaluator(_repeated(_sweep(*(part.z.numel() for part in kinds))))

    @staticmethod
    def takes(mpcc: Mpcc) -> bool:
        """Tell whether a program is one of these."""
        z = ca.vertcat(*(part.z for part in _projected(mpcc)))
        return _own_unknowns(z, _unknowns(mpcc)) is not None and not mpcc.first_events

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
        inverse = np.linalg.pinv(J_others[:e], RANK)
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
            if size <= STILL * max(1.0, np.max(np.abs(end), initial=0.0)):
                return end
            if len(ends) == MEMORY or size > ASTRAY * least:
                ends, moves = [], []
            ends, moves, least = [*ends, end], [*moves, end - z], min(least, size)
            z = _extrapolated(ends, moves)
        return end


def _extrapolated(ends: Sequence[Array], moves: Sequence[Array]) -> Array:
    """Return the combination of ends whose moves, combined alike, are least."""
    if len(ends) == 1:
        return ends[0]
    weights = np.linalg.lstsq(np.diff(moves, axis=0).T, moves[-1], rcond=ALIKE)[0]
    end: Array = ends[-1] - np.diff(ends, axis=0).T @ weights
    return end


def _unknowns(mpcc: Mpcc) -> ca.SX:
    return ca.vertcat(ca.SX(0, 1), *(v.scaled for v in mpcc.variables))


def _projected(mpcc: Mpcc) -> list[ProjectedUnknowns]:
    """Return all pairs, all boxes and all discs."""
    return [_joined(part(mpcc)) for part in (_pairs, _boxes, _discs)]


def _pairs(mpcc: Mpcc) -> Iterator[ProjectedUnknowns]:
    for block in mpcc.pairs:
        H, G = block.H / ca.SX(block.scales[1]), block.G / ca.SX(block.scales[0])
        yield ProjectedUnknowns(H, G, ca.SX(H.numel(), 1), ca.if_else(block.active, ca.inf, 0))


def _boxes(mpcc: Mpcc) -> Iterator[ProjectedUnknowns]:
    for block in mpcc.boxes:
        size, rate = (ca.SX(scale) for scale in block.scales)
        yield ProjectedUnknowns(
            block.z / size, block.F / rate, block.lower / size, block.upper / size
        )


def _discs(mpcc: Mpcc) -> Iterator[ProjectedUnknowns]:
    """Yield vectors of two entries, whose upper limits are both the radius."""
    for block in mpcc.discs:
        size, rho, radius = (_twice(y) for y in (block.scales[0], block.rho, block.radius))
        yield ProjectedUnknowns(
            block.z / size, rho * block.F / size, ca.SX(size.numel(), 1), radius / size
        )


def _twice(x: Any) -> ca.SX:
    return ca.vec(ca.repmat(ca.SX(x).T, 2, 1))


def _joined(parts: Iterable[ProjectedUnknowns]) -> ProjectedUnknowns:
    none = ProjectedUnknowns(*(ca.SX(0, 1) for _ in ProjectedUnknowns._fields))
    return ProjectedUnknowns(*(ca.vertcat(*x) for x in zip(none, *parts, strict=True)))


def _own_unknowns(z: ca.SX, x: ca.SX) -> NDArray[np.intp] | None:
    """Return the index in x of each z, None if one is not linear in an unknown of its own."""
    J = ca.jacobian(z, x)
    rows, columns = (np.array(y, dtype=int) for y in J.sparsity().get_triplet())
    alone = np.array_equal(np.sort(rows), np.arange(z.numel())) and len({*columns}) == z.numel()
    return columns[np.argsort(rows)] if alone and not ca.depends_on(J, x) else None


def _repeated(sweep: ca.Function) -> ca.Function:
    z, *given = (ca.MX.sym(f"in_{i}", sweep.sparsity_in(i)) for i in range(sweep.n_in()))
    end = z
    for _ in range(CHUNK):
        end = sweep(end, *given)
    return ca.Function("sweeps", [z, *given], [end])


def _sweep(pairs: int, boxes: int, discs: int) -> ca.Function:
    """Return (z, constants, slopes) -> z of one sweep, over all pairs, then boxes, then discs.

    F, lower and upper limits are ``constants + slopes z``.
    """
    n = pairs + boxes + discs
    z, constants, slopes = ca.SX.sym("z", n), ca.SX.sym("c", 3 * n), ca.SX.sym("s", 3 * n, n)
    values = [z[i] for i in range(n)]
    least = LEAST * ca.mmax(ca.vertcat(0, *(slopes[i, i] for i in range(n))))

    def row(i: int) -> ca.SX:
        return constants[i] + slopes[i, :] @ ca.vertcat(*values)

    def reach(i: int, rate: ca.SX) -> ca.SX:
        return values[i] - ca.if_else(rate > least, row(i) / rate, 0)

    for i in range(pairs + boxes):
        lower, upper = row(n + i), row(2 * n + i)
        values[i] = ca.fmin(ca.fmax(reach(i, slopes[i, i]), lower), upper)
    for i in range(pairs + boxes, n, 2):
        # A bound of the larger eigenvalue, so that the step of both entries is none too long.
        rate = slopes[i, i] + slopes[i + 1, i + 1]
        to, radius = ca.vertcat(reach(i, rate), reach(i + 1, rate)), ca.fmax(row(2 * n + i), 0)
        size = ca.sqrt(ca.sumsqr(to))
        values[i], values[i + 1] = ca.vertsplit(to * ca.if_else(size <= radius, 1, radius / size))
    return ca.Function("sweep", [z, constants, slopes], [ca.vertcat(*values)], {"cse": True})
