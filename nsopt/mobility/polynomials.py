"""Vectors of polynomials, their values at vectors and along power series."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations_with_replacement

import numpy as np
from numpy.typing import NDArray

from nsopt.arrays import Array

NEGLIGIBLE = 1e-9  # part of the largest coefficient up to which others are left out of texts


def exponents_of(variables: int, degree: int) -> NDArray[np.int_]:
    """Return the exponents of all monomials of a degree, (number, variables)."""
    picks = combinations_with_replacement(range(variables), degree)
    rows = [np.bincount(pick, minlength=variables) for pick in picks]
    return np.array(rows, dtype=int).reshape(-1, variables)


def monomials(exponents: NDArray[np.int_], s: Array) -> Array:
    """Return the values (terms, ...) at s (variables, ...) of monomials, by their exponents."""
    powers = s[None] ** exponents.reshape(*exponents.shape, *[1] * (s.ndim - 1))
    return np.asarray(np.prod(powers, axis=1), dtype=float)


def fit_polynomials(exponents: NDArray[np.int_], s: Array, values: Array) -> Array:
    """Return coefficients (size, terms), by values (size, count) at s (variables, count)."""
    found = np.linalg.lstsq(monomials(exponents, s).T, values.T, rcond=None)[0]
    return np.asarray(found.T, dtype=float)


@dataclass(frozen=True, eq=False)
class PolynomialMap:
    """A vector of ``size`` polynomials, by the monomials that they have in common."""

    exponents: NDArray[np.int_]  # (terms, variables) of each variable in each monomial
    coefficients: Array  # (size, terms)

    @property
    def variables(self) -> int:
        """The number of variables."""
        return int(self.exponents.shape[1])

    @property
    def size(self) -> int:
        """The number of polynomials."""
        return len(self.coefficients)

    def reduce(self, zero: float) -> PolynomialMap:
        """Return independent combinations of the polynomials, coefficients up to ``zero`` left out.

        Their vectors of coefficients are orthonormal.
        """
        C = self.coefficients
        if not C.size:
            return PolynomialMap(self.exponents, np.zeros((0, len(self.exponents))))
        _, sizes, vectors = np.linalg.svd(C, full_matrices=False)
        independent, sizes = vectors[sizes > zero], sizes[sizes > zero, None]
        found = np.where(np.abs(independent) * sizes > zero, independent, 0.0)
        return PolynomialMap(self.exponents, found)

    def of_degree(self, degree: int) -> PolynomialMap:
        """Return the part of one degree."""
        chosen = self.exponents.sum(axis=1) == degree
        return PolynomialMap(self.exponents[chosen], self.coefficients[:, chosen])

    def lowest(self) -> PolynomialMap:
        """Return the part of the lowest degree that has a coefficient other than zero."""
        degrees = np.unique(self.exponents.sum(axis=1))
        parts = (self.of_degree(int(degree)) for degree in degrees)
        return next((part for part in parts if np.any(part.coefficients)), self)

    def texts(self, names: Sequence[str]) -> tuple[str, ...]:
        """Return the polynomials as text, each over its largest coefficient."""
        monomials = [_format_monomial(names, row) for row in self.exponents]
        return tuple(
            " ".join(
                f"{value:+.4g} {monomial}"
                for value, monomial in zip(c / np.max(np.abs(c)), monomials, strict=True)
                if abs(value) > NEGLIGIBLE
            )
            for c in self.coefficients
            if np.any(c)
        )

    def along(self, basis: Array) -> PolynomialMap:
        """Return the polynomials in x (k,), s = basis x, for a basis (variables, k).

        Each degree is fitted to values at random x, as a linear map keeps degrees apart.
        """
        variables = basis.shape[1]
        degrees = self.exponents.sum(axis=1)
        exponents, coefficients = [np.zeros((0, variables), dtype=int)], [np.zeros((self.size, 0))]
        for degree in np.unique(degrees):
            new = exponents_of(variables, int(degree))
            points = np.random.default_rng(0).normal(size=(variables, 2 * len(new) + 1))
            values = self.of_degree(int(degree)).value(basis @ points)
            exponents.append(new)
            coefficients.append(fit_polynomials(new, points, values))
        return PolynomialMap(np.concatenate(exponents), np.concatenate(coefficients, axis=1))

    def value(self, s: Array) -> Array:
        """Return the values (size, ...) at s (variables, ...)."""
        return np.tensordot(self.coefficients, monomials(self.exponents, s), axes=1)

    @cached_property
    def gradient(self) -> PolynomialMap:
        """The (size * variables) derivatives: of each polynomial by each variable."""
        terms, exponents = len(self.exponents), []
        C = np.zeros((self.size, self.variables, self.variables * terms))
        for k in range(self.variables):
            lower = self.exponents.copy()
            lower[:, k] = np.maximum(lower[:, k] - 1, 0)
            exponents.append(lower)
            C[:, k, k * terms : (k + 1) * terms] = self.coefficients * self.exponents[:, k]
        return PolynomialMap(np.concatenate(exponents), C.reshape(-1, self.variables * terms))

    def series(self, s: Array) -> Array:
        """Return the series from 1 on (order + 1, size), along s (order, variables) from t on."""
        count, highest = len(s) + 1, int(self.exponents.max(initial=0))
        terms = np.zeros((len(self.exponents), count))
        terms[:, 0] = 1.0
        for k in range(self.variables):
            powers = np.zeros((highest + 1, count))  # the series of 1, s_k, s_k^2, ...
            powers[0, 0] = 1.0
            x = np.concatenate([[0.0], s[:, k]])
            for e in range(1, highest + 1):
                powers[e] = np.convolve(powers[e - 1], x)[:count]
            terms = _multiply_series(terms, powers[self.exponents[:, k]])
        return terms.T @ self.coefficients.T


def _format_monomial(names: Sequence[str], exponents: NDArray[np.int_]) -> str:
    powers = zip(names, exponents, strict=True)
    return " ".join(f"({name})" + (f"^{e}" if e > 1 else "") for name, e in powers if e)


def _multiply_series(a: Array, b: Array) -> Array:
    """Return the products of truncated power series, row by row (number, count)."""
    count, product = a.shape[1], np.zeros_like(a)
    for k in range(count):
        product[:, k:] += a[:, k : k + 1] * b[:, : count - k]
    return product
