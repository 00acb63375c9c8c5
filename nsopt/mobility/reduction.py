"""Constraints h(u) = 0 near a posture, reduced to the directions that are free to first order.

With J = dh/du of rank r, the columns of N span its kernel and those of M the complement, U the left
kernel and V its complement. u = N s + M w meets V^T h = 0 for one w(s) only, near zero; what
remains, g(s) = U^T h = 0, starts at second order (Lyapunov and Schmidt). This is the projection of
each d^i h / dt^i on the left kernel of J, where d^i u / dt^i drops out [mobility 2016, 5.2].
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from math import comb, factorial
from typing import NamedTuple

import numpy as np

from nsopt.arrays import Array
from nsopt.mobility.constraints import LoopConstraints
from nsopt.mobility.polynomials import PolynomialMap, exponents_of, fit_polynomials

ZERO, NONZERO = 1e-9, 1e-7
"""Singular values, over the largest, up to which they are zero, and from which they are not."""

CLOSED = 1e-13  # residual, in scaled rows, at which the reduced equations count as solved
MOST_TERMS = 2000  # monomials of one degree that are fitted, at most
PROBES = 5  # random directions along which a degree must vanish to count as zero


class UndecidedRankError(ValueError):
    """A rank that depends on which small singular values count as zero."""


def decide_rank(matrix: Array, what: str) -> int:
    """Return the rank of a scaled matrix, ``what`` in messages, if singular values decide it."""
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


class KernelBases(NamedTuple):
    """Orthonormal bases that J of rank r splits its columns and rows into."""

    N: Array  # (n, n - r) of the kernel
    M: Array  # (n, r) of its complement
    U: Array  # (m, m - r) of the left kernel
    V: Array  # (m, r) of its complement


@dataclass(frozen=True, eq=False)
class Reduction:
    """The constraints of loops in the directions that J leaves free.

    Lengths are divided by the size of the mechanism, and each row by its gradient in the relative
    motion of the bodies it connects, so that all numbers are about one. J, u, h are scaled here.
    """

    constraints: LoopConstraints
    columns: Array  # (n,) u [rad or m] over scaled u: the mechanism's size for lengths, else 1
    rows: Array  # (m,) scaled rows over those of h

    @classmethod
    def of(cls, constraints: LoopConstraints) -> Reduction:
        """Return the reduction at the posture of the constraints."""
        size = constraints.size
        columns = np.where(constraints.tree.is_length, size, 1.0)
        gradients = constraints.row_gradients() * np.repeat([1.0, size], 3)
        slopes = np.linalg.norm(gradients, axis=1)
        return cls(constraints, columns, 1 / np.where(slopes > 0, slopes, 1.0))

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
        """The dimension n - r of the kernel of J."""
        return self.constraints.n - self.rank

    @property
    def redundant(self) -> int:
        """The dimension m - r of its left kernel: how many rows depend on others."""
        return self.constraints.m - self.rank

    @cached_property
    def bases(self) -> KernelBases:
        """The bases N, M, U and V."""
        left, _, right = np.linalg.svd(self.jacobian)
        r = self.rank
        return KernelBases(right[r:].T, right[:r].T, left[:, r:], left[:, :r])

    @cached_property
    def _inverse(self) -> Array:
        """(V^T J M)^-1."""
        _, M, _, V = self.bases
        return np.asarray(np.linalg.inv(V.T @ self.jacobian @ M), dtype=float)

    def series(self, s: Array, order: int) -> tuple[Array, Array, float]:
        """Return the Taylor series in t of the motion u = N s t + M w(s t), and of g(s t).

        Of ``s`` (n - r, count) the coefficients u (order, n, count) and g (order, m - r, count) of
        t, t^2, ...; and the largest coefficient of h before w corrects it, 1 at least: round-off is
        of its size.
        """
        N, M, U, V = self.bases
        u = np.zeros((order, len(N), s.shape[1]))
        g = np.zeros((order, U.shape[1], s.shape[1]))
        u[0], size = N @ s, 1.0
        factorials = np.array([factorial(k + 1) for k in range(order)], dtype=float)
        for k in range(1, order):
            motion = u[: k + 1] * factorials[: k + 1, None, None] * self.columns[:, None]
            newest = self.constraints.derivatives(*motion)[-1] * self.rows[:, None]
            newest /= factorials[k]  # the coefficient of t^(k + 1) of h while that of u is zero
            size = max(size, float(np.max(np.abs(newest))))
            g[k] = U.T @ newest
            u[k] = -M @ (self._inverse @ (V.T @ newest))
        return u, g, size

    def polynomials(self, order: int) -> PolynomialMap:
        """Return the Taylor polynomials of g up to an order, in s.

        They are fitted to the series along half as many directions again as there are monomials of
        the highest degree; degrees that vanish along `PROBES` random directions are left out.
        """
        free = self.freedom
        degrees = self._find_degrees(order) if self.redundant and free and order >= 2 else []
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
        directions = _draw_directions(free, count + count // 2 + 1)
        _, g, size = self.series(directions, degrees[-1])
        coefficients = [
            fit_polynomials(powers, directions, g[k - 1])
            for k, powers in zip(degrees, exponents, strict=True)
        ]
        found = PolynomialMap(np.concatenate(exponents), np.concatenate(coefficients, axis=1))
        return found.reduce(ZERO * size)

    def _find_degrees(self, order: int) -> list[int]:
        """Return the degrees, up to an order, of which g has terms."""
        _, g, size = self.series(_draw_directions(self.freedom, PROBES), order)
        # Entries of directions of length one are about freedom^(-1/2), monomials its k-th power.
        sizes = [np.max(np.abs(g[k - 1])) * self.freedom ** (k / 2) for k in range(2, order + 1)]
        return [k for k, value in enumerate(sizes, 2) if value > ZERO * size]

    def rates(self, s: Array) -> dict[str, Array]:
        """Return the rates of all joints (k,), by name, along directions s (n - r, k).

        Those of cut joints, if they have coordinates of their own, follow from cut bodies.
        """
        tree_rates = self.columns[:, None] * (self.bases.N @ s)
        whole = self.constraints.with_cut_bodies
        tree = [whole.names.index(name) for name in self.constraints.names]
        cut = [k for k in range(whole.n) if k not in tree]
        J = whole.jacobian()
        rates = np.zeros((whole.n, s.shape[1]))
        rates[tree] = tree_rates
        rates[cut] = np.linalg.lstsq(J[:, cut], -J[:, tree] @ tree_rates, rcond=None)[0]
        return dict(zip(whole.names, rates, strict=True))

    def point(self, s: Array, w: Array | None = None) -> tuple[Array, Array, Array]:
        """Return the point u (n,) = N s + M w(s) of V^T h = 0, g (m - r,) there, dg/ds.

        Newton's method begins at w (r,), by default zero. Where it does not converge u is nan, g
        inf and dg/ds (m - r, n - r) zero.
        """
        N, M, U, V = self.bases
        w = np.zeros(M.shape[1]) if w is None else w
        for _ in range(30):
            u = N @ s + M @ w
            h, J = self.evaluate(u)
            error = V.T @ h
            across = V.T @ J @ M
            if np.max(np.abs(error), initial=0.0) < CLOSED:
                slope = np.linalg.lstsq(across, V.T @ J @ N, rcond=None)[0]  # -dw/ds
                return u, U.T @ h, U.T @ J @ (N - M @ slope)
            move = np.linalg.lstsq(across, error, rcond=None)[0]
            w = w - move / max(1.0, float(np.linalg.norm(move)))  # a radian, or the size, at most
        return np.full(len(N), np.nan), np.full(U.shape[1], np.inf), np.zeros((U.shape[1], len(s)))

    def evaluate(self, u: Array) -> tuple[Array, Array]:
        """Return h (m,) and J (m, n) at u (n,), all scaled."""
        h, J = self.constraints.closure(self.columns * u)
        return (
            self.rows * np.asarray(h).ravel(),
            self.rows[:, None] * np.asarray(J) * self.columns,
        )


def _draw_directions(variables: int, count: int) -> Array:
    """Return random directions (variables, count) of length one."""
    found = np.random.default_rng(0).normal(size=(variables, count))
    return np.asarray(found / np.linalg.norm(found, axis=0), dtype=float)
