"""Derivatives of steps by the implicit function theorem (`ChainRule`), multiplied: `Transitions`.

Each part of a solved step is r(x, w) = 0 with the data w = (t, q, v, h, p) at its start. So
dx = -J^-1 (dr/dw) dw, J = dr/dx, with the rows that hold at the solution, independent of the
iterations that led to x; the end of the step is a function of x and w.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise

import casadi as ca
import numpy as np
from numpy.typing import NDArray

from nsopt.arrays import Array
from nsopt.leaves import MappedLeaf
from nsopt.mpcc import FirstEventRow, Mpcc, min_rows
from nsopt.simulation import StepProgram
from nsopt.trajectory.sensitivity.recorded import Steps

BATCH = 50  # points evaluated in one call

BIACTIVE = 1e-7
"""Scaled residual below which an alternative row holds too, so that gap and impulse are zero."""

CHANGES = 1e-7
"""Derivative of such a row along a direction, over the size of its terms, above which the row
ceases to hold in that direction."""

SINGULAR = 1e12  # condition number from which rows count as dependent


class Mapped:
    """Matrices, functions of several columns of symbols, evaluated at many points at once."""

    def __init__(self, name: str, symbols: list[ca.SX], outputs: list[ca.SX]) -> None:
        dense = [ca.densify(y) for y in outputs]
        self._leaf = MappedLeaf(ca.Function(name, symbols, dense, {"cse": True}))
        self._shapes = [y.shape for y in outputs]
        self._sizes = [x.numel() for x in symbols]

    def __call__(self, count: int, columns: Sequence[Array]) -> list[Array]:
        """Return the outputs at ``count`` points, each transposed: (count, columns, rows).

        Columns are (count, size), or (size,) where they are the same at all; (count,) for a single
        number that varies.
        """
        each = [
            np.tile(a, (count, 1)) if a.shape == (size,) else a
            for a, size in zip(columns, self._sizes, strict=True)
        ]
        values = self._leaf(each)
        return [
            value.reshape(count, n, m) for value, (m, n) in zip(values, self._shapes, strict=True)
        ]


@dataclass
class ActiveRows:
    """The rows of a square program that hold at its solution, and their alternatives.

    Where `Newton` solves min(G, H) = 0, here the smaller of the two is a row and the other its
    alternative: an equation that holds as well where both are zero. Then the derivative exists in
    a direction only if the alternative stays zero along it. Margins are how far alternatives are
    from holding, zero or more; infinite where they do not count.
    """

    rows: list[ca.SX] = field(default_factory=list)  # scalars, scaled; as many as unknowns
    alternatives: list[ca.SX] = field(default_factory=list)
    margins: list[ca.SX] = field(default_factory=list)
    labels: list[str] = field(default_factory=list)  # what would switch

    @classmethod
    def of(cls, mpcc: Mpcc) -> ActiveRows:
        """Return the rows of a program."""
        active = cls()
        for equation in mpcc.equalities:
            active.rows += ca.vertsplit(ca.densify(equation.expr / ca.SX(equation.scale)))
        for row in min_rows(mpcc):
            expr, alternatives = row.holding
            active.rows.append(expr)
            for other in alternatives:
                active.alternatives.append(other.expr)
                active.margins.append(other.margin)
                active.labels.append(
                    other.label if isinstance(row, FirstEventRow) else f"contact {other.label!r}"
                )
        return active


@dataclass(frozen=True, eq=False)
class Tie:
    """A row that holds in a step besides those by which the step was solved."""

    step: int
    label: str  # the contact or event that may switch
    slope: Array  # (nz + np,) of the row, by the state before the step and by parameters
    size: Array  # the sum of the sizes of its terms, which tells a zero from round-off


@dataclass(frozen=True, eq=False)
class Transitions:
    """The derivatives of a chain of steps z_n -> z_n+1, z = (t, q, v)."""

    A: Array  # (n, nz, nz) by the state before
    B: Array  # (n, nz, np) by parameters
    ties: tuple[Tie, ...]

    def forward(self, by_start: Array) -> Array:
        """Return derivatives (n + 1, nz, k + np) by directions (nz, k) of the start, parameters."""
        n, nz, count = self.B.shape
        S = np.zeros((n + 1, nz, by_start.shape[1] + count))
        directions = by_start.shape[1]
        S[0, :, :directions] = by_start
        for k in range(n):
            np.matmul(self.A[k], S[k], out=S[k + 1])
            S[k + 1, :, directions:] += self.B[k]
        return S

    def adjoint(self, weights: Array) -> tuple[Array, Array]:
        """Return gradients (nz,), (np,) of sum(weights * states) by the first state, parameters."""
        n = len(self.A)
        adjoints = np.empty((n, weights.shape[1]))  # of the ends of steps
        row = weights[n].copy()
        for k in range(n - 1, -1, -1):
            adjoints[k] = row
            row = row @ self.A[k] + weights[k]
        return row, np.einsum("ki,kij->j", adjoints, self.B)

    def find_broken(self, S: Array) -> tuple[Tie, ...]:
        """Return the ties that would switch along the directions of ``S``, from `forward`."""
        nz = S.shape[1]
        directions = S.shape[2] - self.B.shape[2]
        broken = []
        for tie in self.ties:
            along, size = tie.slope[:nz] @ S[tie.step], tie.size[:nz] @ np.abs(S[tie.step])
            along[directions:] += tie.slope[nz:]
            size[directions:] += tie.size[nz:]
            if np.any(np.abs(along) > CHANGES * size):
                broken.append(tie)
        return tuple(broken)


class ChainRule:
    """The derivatives of the steps of a program by parameters ``by`` of the mechanism."""

    def __init__(self, program: StepProgram, by: Sequence[int]) -> None:
        d, given = program.dynamics, program.blocks
        t, q, v, p, h, _ = given  # the last are scales
        x = [part.x for part in program.parts]
        active = [ActiveRows.of(part) for part in program.parts]
        w = ca.vertcat(t, q, v, h, *(p[k] for k in by))  # z, h, parameters
        end = program.end(*x, ca.vertcat(*given))  # the time that the step took, q, v
        reached = ca.vertcat(t + end[0], end[1], end[2])
        self._nz, self._nw = 1 + d.nq + d.nv, w.numel()
        self._blocks = Blocks([ca.vertcat(*a.rows) for a in active], reached, x, w)
        used = self._blocks.used
        self._labels = [label for k in used for label in active[k].labels]
        others, margins = (
            ca.vertcat(ca.SX(0, 1), *(y for k in used for y in getattr(active[k], name)))
            for name in ("alternatives", "margins")
        )
        symbols = [ca.vertcat(*x), *given]
        self._linear = Mapped("linear", symbols, [*self._blocks.matrices, margins])
        slopes = ca.jacobian(others, ca.vertcat(*(x[k] for k in used), w))
        self._slopes = Mapped("slopes", symbols, [slopes])

    def transitions(self, steps: Steps, p: Array) -> Transitions:
        """Return the derivatives of solved steps, `BATCH` at a time."""
        n, nz = len(steps), self._nz
        A, B = np.empty((n, nz, nz)), np.empty((n, nz, self._nw - nz - 1))
        ties: list[Tie] = []
        for begin in range(0, n, BATCH):
            batch = np.arange(begin, min(begin + BATCH, n))
            known = [steps.x, steps.t[:-1], steps.q[:-1], steps.v[:-1]]
            columns = [*(a[batch] for a in known), p, steps.given[batch], steps.scales]
            *matrices, margins = self._linear(len(batch), columns)
            dx_dw, dz_dw = self._blocks.solve(matrices)
            A[batch], B[batch] = self._split(dz_dw, steps.slope[batch])
            near = np.argwhere(margins[:, 0] < BIACTIVE)
            if near.size:
                (slopes,) = self._slopes(len(batch), columns)
                ties += self._make_ties(near, slopes, dx_dw, steps.slope[batch], begin)
        return Transitions(A, B, tuple(ties))

    def _split(self, by_w: Array, slope: Array) -> tuple[Array, Array]:
        """Return derivatives (..., nz) by state and (..., np) by parameters, from those by w.

        Where the last steps share the remaining time, h depends on the time at which they start:
        that is `Steps.slope`.
        """
        nz = self._nz
        by_state = by_w[..., :nz].copy()
        by_state[..., 0] += by_w[..., nz] * slope.reshape(-1, *[1] * (by_w.ndim - 2))
        return by_state, by_w[..., nz + 1 :]

    def _make_ties(
        self, near: NDArray[np.intp], slopes: Array, dx_dw: Array, slope: Array, begin: int
    ) -> list[Tie]:
        """Return the ties of a batch: ``near`` (ties, 2) are its steps and their alternatives."""
        ties, nx = [], dx_dw.shape[1]
        for k, i in near.tolist():
            row = slopes[k, :, i]  # columns come first
            by_w = row[:nx] @ dx_dw[k] + row[nx:]
            # Unknowns are scaled, so that round-off is relative to the largest of them.
            size = np.sum(np.abs(row[:nx])) * np.max(np.abs(dx_dw[k]), axis=0, initial=0.0)
            size += np.abs(row[nx:])
            along = np.concatenate(self._split(by_w[None], slope[k : k + 1]), axis=1)[0]
            sizes = np.concatenate(self._split(size[None], np.abs(slope[k : k + 1])), axis=1)[0]
            ties.append(Tie(begin + k, self._labels[i], along, sizes))
        return ties


class Blocks:
    """The rows of the parts of a step, each of its own unknowns x and of those of parts before.

    The end of the step is a function of all unknowns and, as all rows, of the data w. ``used`` are
    the parts on which it depends, the others only decide which rows hold; ``matrices`` the
    Jacobians of their rows and of the end by their unknowns and w.
    """

    def __init__(self, rows: list[ca.SX], end: ca.SX, x: list[ca.SX], w: ca.SX) -> None:
        self.used: list[int] = []
        wanted = end
        for k in reversed(range(len(x))):
            if ca.sparsify(ca.jacobian(wanted, x[k])).nnz():
                self.used.insert(0, k)
                wanted = ca.vertcat(wanted, rows[k])
        every = ca.vertcat(*(x[k] for k in self.used), w)
        self.matrices = [ca.jacobian(y, every) for y in (*(rows[k] for k in self.used), end)]
        self._edges = np.cumsum([0, *(x[k].numel() for k in self.used)])

    def solve(self, values: Sequence[Array]) -> tuple[Array, Array]:
        """Return d(unknowns)/dw (b, nx, nw), d(end)/dw (b, nz, nw) from transposed `matrices`."""
        *jacobians, end = (np.swapaxes(value, 1, 2) for value in values)
        nx = int(self._edges[-1])
        X = np.zeros((len(end), nx, end.shape[2] - nx))
        for J, (a, b) in zip(jacobians, pairwise(self._edges.tolist()), strict=True):
            by_data = J[:, :, nx:] + J[:, :, :a] @ X[:, :a]
            X[:, a:b] = -solve_all(J[:, :, a:b], by_data)
        return X, end[:, :, :nx] @ X + end[:, :, nx:]


def solve_all(J: Array, rhs: Array) -> Array:
    """Return the solutions of systems (b, n, n), (b, n, m); of least norm where rows depend."""
    # One more right-hand side, of entries without a pattern, estimates the condition number.
    probe = np.broadcast_to(np.cos(np.arange(J.shape[1]))[:, None], (*J.shape[:2], 1))
    try:
        solutions = np.linalg.solve(J, np.concatenate([rhs, probe], axis=2))
    except np.linalg.LinAlgError:
        return np.asarray(np.linalg.pinv(J, rcond=1 / SINGULAR) @ rhs)
    x, probed = solutions[:, :, :-1], solutions[:, :, -1]
    condition = np.max(np.abs(probed), axis=1) * np.max(np.sum(np.abs(J), axis=2), axis=1)
    weak = ~(condition < SINGULAR)
    if np.any(weak):
        x[weak] = np.linalg.pinv(J[weak], rcond=1 / SINGULAR) @ rhs[weak]
    return np.asarray(x)
