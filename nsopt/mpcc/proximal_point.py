"""The proximal point algorithm for complementarity with friction, as a start for Newton."""

from __future__ import annotations

from functools import cached_property
from typing import NamedTuple

import casadi as ca
import numpy as np
from numpy.typing import NDArray

from nsopt.mpcc.blocks import stacked
from nsopt.mpcc.evaluator import Evaluator
from nsopt.mpcc.min_map import min_rows
from nsopt.mpcc.min_row import ProjectedUnknown
from nsopt.mpcc.problem import Mpcc
from nsopt.mpcc.projections import LinearProjections, ProjectionRows

Array = NDArray[np.float64]

LINEARIZED = 6
"""Times at most that a program is linearised."""

ENOUGH = 1e-10
"""Residual of the program at which Newton is left the rest, over the largest scaled unknown or one:
where many impulses give the same motion, round-off keeps it from falling much further."""

RANK = 1e-12
"""Relative size of singular values of the equations that count as zero."""


class _Projected(NamedTuple):
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
    def of(cls, mpcc: Mpcc) -> _Projected:
        rows = min_rows(mpcc)
        found = [projected for row in rows if (projected := row.projected) is not None]
        none = ProjectedUnknown(*(ca.SX(0, 1) for _ in ProjectedUnknown._fields))
        z, F, lower, upper = (ca.vertcat(*column) for column in zip(none, *found, strict=True))
        in_discs = sum(block.z.numel() for block in mpcc.discs)
        return cls(z, F, lower, upper, in_discs, len(found) == len(rows))

    def own_unknowns(self, x: ca.SX) -> NDArray[np.intp] | None:
        """Return the index in x of each z, None if one is not linear in an unknown of its own."""
        J = ca.jacobian(self.z, x)
        rows, columns = (np.array(y, dtype=int) for y in J.sparsity().get_triplet())
        n = self.z.numel()
        alone = np.array_equal(np.sort(rows), np.arange(n)) and len({*columns}) == n
        linear = alone and not ca.depends_on(J, x)
        return columns[np.argsort(rows)] if linear and self.stated else None


class ProximalPoint:
    """Linearised programs solved by proximal points, until the program itself is solved.

    Unknowns z of pairs, boxes and discs are projections of z - F(z), where the equations, scaled
    alike, are solved for all other unknowns in least squares; `LinearProjections` solves that at
    each linearisation. It takes hundreds of times longer than `Newton`, but also solves what has
    many z that give the same motion, and what Newton wanders in from mode to mode.

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
        x, given = _unknowns(mpcc), _Projected.of(mpcc)
        z, own = given.z, given.own_unknowns(x)
        if own is None:
            raise ValueError(
                f"ProximalPoint needs pairs, boxes and discs of unknowns of their own, "
                f"{mpcc.name!r} has others: use Newton, Ipopt or Sqp"
            )
        p = stacked(block.symbol for block in mpcc.parameters)
        equations = stacked(r.expr / ca.SX(r.scale) for r in mpcc.equalities)
        self._own, self._equations, self._in_discs = own, equations.numel(), given.in_discs
        r = ca.vertcat(equations, given.F, given.lower, given.upper)
        stated = [r, ca.jacobian(r, x), z, ca.sum2(ca.jacobian(z, x))]
        self._stated = Evaluator(ca.Function("stated", [x, p], [ca.densify(y) for y in stated]))

    @staticmethod
    def takes(mpcc: Mpcc) -> bool:
        """Tell whether a program is one of these."""
        return _Projected.of(mpcc).own_unknowns(_unknowns(mpcc)) is not None

    def start(self, x: Array, p: Array) -> Array:
        """Return scaled unknowns (n,) that solve the program, or come as near as was found.

        Parameters
        ----------
        x : (n,)
            Scaled unknowns about which the program is first linearised.
        p : (np,)
            Parameters of the program.
        """
        best, least = x, np.inf
        for _ in range(LINEARIZED):
            r, J, z, factor = self._stated(x, p)
            if not all(np.all(np.isfinite(y)) for y in (r[: self._equations + z.size], J, z)):
                break  # as where a root has no slope
            J = J.reshape(x.size, r.size).T
            residual, end = self._linearized(x, r, J, z, factor)
            if residual >= least:
                break  # round-off, or astray
            best, least = x, residual
            if residual <= ENOUGH * max(1.0, np.max(np.abs(x), initial=0.0)):
                break
            x = end
        return best

    def _linearized(
        self, x: Array, r: Array, J: Array, z: Array, factor: Array
    ) -> tuple[float, Array]:
        """Return the largest residual at x, (n,), and the solution of the linearised program."""
        e, own = self._equations, self._own
        others = np.setdiff1d(np.arange(x.size), own)
        J_own, J_others = J[:, own] / factor, J[:, others]
        inverse = _inverse(J_others[:e])
        move, per_z = -inverse @ r[:e], -inverse @ J_own[:e]  # of the others, by the equations
        slopes = J_own[e:] + J_others[e:] @ per_z
        program = LinearProjections(self._rows, r[e:] + J_others[e:] @ move - slopes @ z, slopes)
        residual = max(np.max(np.abs(r[:e]), initial=0.0), program.residual(z, r[e:]))
        end_z = program.solution(z)
        end = np.array(x)
        end[own] += (end_z - z) / factor
        end[others] += move + per_z @ (end_z - z)
        return residual, end

    @cached_property
    def _rows(self) -> ProjectionRows:
        return ProjectionRows(self._own.size, self._in_discs)


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
