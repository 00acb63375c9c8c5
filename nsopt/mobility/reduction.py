"""Constraints near a posture, reduced to the directions that are free to first order.

With J = H^(1) of rank r, the columns of N span its kernel and those of M the complement, U the left
kernel and V its complement. u = N s + M w meets V^T h = 0 for one w(s) only, near zero; what
remains, g(s) = U^T h = 0, starts at second order (Lyapunov and Schmidt). This is the projection of
each H^(i) on the left kernel of J, where its newest derivative drops out [mobility 2016, 5.2].
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from math import factorial

import numpy as np
from numpy.typing import NDArray

from nsopt.mobility.constraints import LoopConstraints
from nsopt.mobility.polynomials import PolynomialMap, exponents_of

Array = NDArray[np.float64]

ZERO, NONZERO = 1e-9, 1e-7
"""Singular values, over the largest, up to which they are zero, and from which they are not."""

CLOSED = 1e-13
"""Residual, in scaled rows, at which the reduced equations count as solved."""


class UndecidedRankError(ValueError):
    """A rank that depends on which small singular values count as zero."""


def decided_rank(matrix: Array, what: str) -> int:
    """Return the rank of a scaled matrix.

    Raises
    ------
    UndecidedRankError
        If a singular value is neither clearly zero nor clearly not.
    """
    values = np.linalg.svd(matrix, compute_uv=False)
    size = max(values[0], 1e-300) if values.size else 1.0
    between = values[(values > ZERO * size) & (values < NONZERO * size)]
    if between.size:
        listed = ", ".join(f"{x:.3g}" for x in values)
        raise UndecidedRankError(
            f"the rank of {what} cannot be decided: of its singular values {listed}, "
            f"{between[0]:.3g} is neither zero (up to {ZERO:g} of the largest) nor clearly not "
            f"(from {NONZERO:g}); close the loops more exactly, or move away from that posture"
        )
    return int(np.sum(values > ZERO * size))


@dataclass(frozen=True, eq=False)
class Reduction:
    """The constraints of loops in the directions that J leaves free.

    Lengths are divided by the size of the mechanism, and each row by its gradient in the relative
    motion of the bodies it connects, so that all numbers are about one.

    Attributes
    ----------
    constraints : LoopConstraints
    columns : (n,)
        Scales of the coordinates u.
    rows : (m,)
        Scales of the rows of h.
    """

    constraints: LoopConstraints
    columns: Array
    rows: Array

    @classmethod
    def of(cls, constraints: LoopConstraints) -> Reduction:
        """Return the reduction at the posture of the constraints."""
        size = constraints.size
        columns = np.where(constraints.tree.lengths, size, 1.0)
        gradients = constraints.wrenches() * np.repeat([1.0, size], 3)
        return cls(constraints, columns, 1 / np.linalg.norm(gradients, axis=1))

    @cached_property
    def jacobian(self) -> Array:
        """J in scaled rows and columns, (m, n)."""
        J: Array = self.rows[:, None] * self.constraints.jacobian() * self.columns
        return J

    @cached_property
    def rank(self) -> int:
        """The rank of J; raises as `decided_rank`."""
        return decided_rank(self.jacobian, "the constraint Jacobian")

    @property
    def freedom(self) -> int:
        """The dimension of the kernel of J."""
        return self.constraints.n - self.rank

    @property
    def redundant(self) -> int:
        """The dimension of its left kernel."""
        return self.constraints.m - self.rank

    @cached_property
    def bases(self) -> tuple[Array, Array, Array, Array]:
        """N (n, n - r), M (n, r), U (m, m - r), V (m, r), orthonormal."""
        left, _, right = np.linalg.svd(self.jacobian)
        r = self.rank
        return right[r:].T, right[:r].T, left[:, r:], left[:, :r]

    @cached_property
    def _inverse(self) -> Array:
        """(V^T J M)^-1."""
        _, M, _, V = self.bases
        return np.asarray(np.linalg.inv(V.T @ self.jacobian @ M), dtype=float)

    def series(self, s: Array, order: int) -> tuple[Array, Array, float]:
        """Return the Taylor series of the motion N s t + M w, and of g along it.

        Parameters
        ----------
        s : (n - r, count)
        order : int

        Returns
        -------
        u : (order, n, count)
            Coefficients of t, t^2, ..., scaled coordinates.
        g : (order, m - r, count)
        size : float
            The largest coefficient of the rows before they were projected.
        """
        N, M, U, V = self.bases
        u = np.zeros((order, len(N), s.shape[1]))
        g = np.zeros((order, U.shape[1], s.shape[1]))
        u[0], size = N @ s, 1.0
        factorials = np.array([factorial(k + 1) for k in range(order)], dtype=float)
        for k in range(1, order):
            motion = u[: k + 1] * factorials[: k + 1, None, None] * self.columns[:, None]
            newest = self.constraints.derivatives(*motion)[-1] * self.rows[:, None]
            newest /= factorials[k]
            size = max(size, float(np.max(np.abs(newest))))
            g[k] = U.T @ newest
            u[k] = -M @ (self._inverse @ (V.T @ newest))
        return u, g, size

    def polynomials(self, order: int) -> PolynomialMap:
        """Return the Taylor polynomials of g up to an order, in s.

        By the series along as many directions as there are monomials, and half as many again.
        """
        free = self.freedom
        if not self.redundant or not free or order < 2:
            return PolynomialMap(np.zeros((0, free), dtype=int), np.zeros((0, 0)))
        exponents = [exponents_of(free, k) for k in range(2, order + 1)]
        count = len(exponents[-1]) if exponents else 0
        directions = np.random.default_rng(0).normal(size=(free, count + count // 2 + 1))
        directions /= np.linalg.norm(directions, axis=0)
        _, g, size = self.series(directions, order)
        coefficients = [np.zeros((self.redundant, 0))]
        for k, powers in enumerate(exponents):
            monomials = np.prod(directions.T[:, None, :] ** powers, axis=2)
            coefficients.append(np.linalg.lstsq(monomials, g[k + 1].T, rcond=None)[0].T)
        powers = np.concatenate([np.zeros((0, free), dtype=int), *exponents])
        return PolynomialMap(powers, np.concatenate(coefficients, axis=1)).reduced(ZERO * size)

    def rates(self, s: Array) -> dict[str, Array]:
        """Return the rates of all joints, in their order, along directions s (n - r, k).

        Those of cut joints, if they have coordinates of their own, follow from cut bodies.
        """
        x = self.columns[:, None] * (self.bases[0] @ s)
        whole = self.constraints.with_cut_bodies
        mine = [whole.names.index(name) for name in self.constraints.names]
        others = [k for k in range(whole.n) if k not in mine]
        J = whole.jacobian()
        y = np.linalg.lstsq(J[:, others], -J[:, mine] @ x, rcond=None)[0]
        found = np.zeros((whole.n, s.shape[1]))
        found[mine], found[others] = x, y
        return dict(zip(whole.names, found, strict=True))

    def point(self, s: Array, w: Array | None = None) -> tuple[Array, Array, Array]:
        """Return the point of V^T h = 0 over s, the value of g there and its derivative.

        Parameters
        ----------
        s : (n - r,)
        w : (r,), optional
            Where Newton's method begins.

        Returns
        -------
        u : (n,)
            Scaled coordinates; nan if Newton's method does not converge.
        g : (m - r,)
        Dg : (m - r, n - r)
        """
        N, M, U, V = self.bases
        w = np.zeros(M.shape[1]) if w is None else w
        for _ in range(30):
            u = N @ s + M @ w
            h, J = self.scaled(u)
            error = V.T @ h
            across = V.T @ J @ M
            if np.max(np.abs(error), initial=0.0) < CLOSED:
                along = np.linalg.lstsq(across, V.T @ J @ N, rcond=None)[0]
                return u, U.T @ h, U.T @ J @ (N - M @ along)
            move = np.linalg.lstsq(across, error, rcond=None)[0]
            w = w - move / max(1.0, float(np.linalg.norm(move)))
        return np.full(len(N), np.nan), np.full(U.shape[1], np.inf), np.zeros((U.shape[1], len(s)))

    def scaled(self, u: Array) -> tuple[Array, Array]:
        """Return h (m,) and J (m, n) at u (n,), all scaled."""
        h, J = self.constraints.closure(self.columns * u)
        return (
            self.rows * np.asarray(h).ravel(),
            self.rows[:, None] * np.asarray(J) * self.columns,
        )
