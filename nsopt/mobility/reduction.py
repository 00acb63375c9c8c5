"""Constraints near a posture, reduced to the directions that are free to first order.

With J = H^(1) of rank r, the columns of N span its kernel and those of M the complement, U the left
kernel and V its complement. u = N s + M w meets V^T h = 0 for one w(s) only, near zero; what
remains, g(s) = U^T h = 0, starts at second order (Lyapunov and Schmidt). This is the projection of
each H^(i) on the left kernel of J, where its newest derivative drops out [mobility 2016, 5.2].
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from math import comb, factorial

import numpy as np
from numpy.typing import NDArray

from nsopt.mobility.constraints import LoopConstraints
from nsopt.mobility.polynomials import PolynomialMap, exponents_of, fit_polynomials

Array = NDArray[np.float64]

ZERO, NONZERO = 1e-9, 1e-7
"""Singular values, over the largest, up to which they are zero, and from which they are not."""

CLOSED = 1e-13
"""Residual, in scaled rows, at which the reduced equations count as solved."""

MOST_TERMS = 2000
"""Monomials of one degree that are computed, at most."""

PROBES = 5
"""Random directions along which a degree must vanish to count as zero."""


class UndecidedRankError(ValueError):
    """A rank that depends on which small singular values count as zero."""


def decide_rank(matrix: Array, what: str) -> int:
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
            f"the rank of {what} cannot be decided: its singular value {between[0]:.3g} is neither "
            f"zero (up to {ZERO:g} of the largest) nor clearly not (from {NONZERO:g}); all are "
            f"{listed}; close the loops more exactly, or move away from that posture"
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
        gradients = constraints.row_gradients() * np.repeat([1.0, size], 3)
        steep = np.linalg.norm(gradients, axis=1)
        return cls(constraints, columns, 1 / np.where(steep > 0, steep, 1.0))

    @cached_property
    def jacobian(self) -> Array:
        """J in scaled rows and columns, (m, n)."""
        J: Array = self.rows[:, None] * self.constraints.jacobian() * self.columns
        return J

    @cached_property
    def rank(self) -> int:
        """The rank of J; raises as `decide_rank`."""
        return decide_rank(self.jacobian, "the constraint Jacobian")

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

        Of each degree by the series along as many directions as there are monomials, and half as
        many again; degrees that vanish along some random ones vanish.

        Raises
        ------
        ValueError
            If there are more monomials of a degree than `MOST_TERMS`.
        """
        free = self.freedom
        degrees = self._degrees(order) if self.redundant and free and order >= 2 else []
        if not degrees:
            return PolynomialMap(np.zeros((0, free), dtype=int), np.zeros((0, 0)))
        count = comb(free + degrees[-1] - 1, degrees[-1])
        if count > MOST_TERMS:
            raise ValueError(
                f"polynomials of order {degrees[-1]} in {free} free directions have {count} terms "
                f"each, {MOST_TERMS} at most are computed: take a lower order, or hold joints that "
                "do not matter by Fixed ones"
            )
        exponents = [exponents_of(free, k) for k in degrees]
        directions = _directions(free, count + count // 2 + 1)
        _, g, size = self.series(directions, degrees[-1])
        coefficients = [
            fit_polynomials(powers, directions, g[k - 1])
            for k, powers in zip(degrees, exponents, strict=True)
        ]
        found = PolynomialMap(np.concatenate(exponents), np.concatenate(coefficients, axis=1))
        return found.reduce(ZERO * size)

    def _degrees(self, order: int) -> list[int]:
        """Return the degrees, up to an order, of which g has terms."""
        _, g, size = self.series(_directions(self.freedom, PROBES), order)
        # At directions of length one a monomial is small if there are many variables.
        most = [np.max(np.abs(g[k - 1])) * self.freedom ** (k / 2) for k in range(2, order + 1)]
        return [k for k, value in enumerate(most, 2) if value > ZERO * size]

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
            h, J = self.evaluate(u)
            error = V.T @ h
            across = V.T @ J @ M
            if np.max(np.abs(error), initial=0.0) < CLOSED:
                along = np.linalg.lstsq(across, V.T @ J @ N, rcond=None)[0]
                return u, U.T @ h, U.T @ J @ (N - M @ along)
            move = np.linalg.lstsq(across, error, rcond=None)[0]
            w = w - move / max(1.0, float(np.linalg.norm(move)))
        return np.full(len(N), np.nan), np.full(U.shape[1], np.inf), np.zeros((U.shape[1], len(s)))

    def evaluate(self, u: Array) -> tuple[Array, Array]:
        """Return h (m,) and J (m, n) at u (n,), all scaled."""
        h, J = self.constraints.closure(self.columns * u)
        return (
            self.rows * np.asarray(h).ravel(),
            self.rows[:, None] * np.asarray(J) * self.columns,
        )


def _directions(variables: int, count: int) -> Array:
    """Return random directions (variables, count) of length one."""
    found = np.random.default_rng(0).normal(size=(variables, count))
    return np.asarray(found / np.linalg.norm(found, axis=0), dtype=float)
