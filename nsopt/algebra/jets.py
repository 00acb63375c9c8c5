"""Quantities with their derivatives by time: products by Leibniz, functions by recursion."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from math import comb
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nsopt.algebra.scalars import Scalars

Array = NDArray[Any]


def leibniz(a: Array, b: Array, k: int, product: Any = np.multiply) -> Array:
    """Return the k-th derivative of a product, of arrays whose first axis is the derivative.

    ``product`` takes arrays with k + 1 rows; further rows of a and b are not used.
    """
    first, second = a[: k + 1], b[k::-1]
    weights = np.array([comb(k, r) for r in range(k + 1)], dtype=first.dtype)
    terms = product(first, second)
    weighted: Array = np.sum(weights.reshape(-1, *[1] * (terms.ndim - 1)) * terms, axis=0)
    return weighted


class TimeJet:
    """A number and its derivatives by time: a truncated Taylor series.

    Parameters
    ----------
    d : (order + 1, ...)
        The number, its first derivative, ...; floats, or objects of one kind.
    """

    def __init__(self, d: Array) -> None:
        self.d = d

    @property
    def order(self) -> int:
        """The highest derivative."""
        return len(self.d) - 1

    def __add__(self, other: Any) -> TimeJet:
        """Return the sum with a jet or a number."""
        if isinstance(other, TimeJet):
            return TimeJet(self.d + other.d)
        d = self.d.copy()
        d[0] = d[0] + other
        return TimeJet(d)

    __radd__ = __add__

    def __neg__(self) -> TimeJet:
        """Return the negative."""
        return TimeJet(-self.d)

    def __sub__(self, other: Any) -> TimeJet:
        """Return the difference from a jet or a number."""
        difference: TimeJet = self + (-other)
        return difference

    def __rsub__(self, other: Any) -> TimeJet:
        """Return the difference of a number from this."""
        difference: TimeJet = -self + other
        return difference

    def __mul__(self, other: Any) -> TimeJet:
        """Return the product with a jet or a number."""
        if not isinstance(other, TimeJet):
            return TimeJet(self.d * other)
        return TimeJet(np.stack([leibniz(self.d, other.d, k) for k in range(len(self.d))]))

    __rmul__ = __mul__

    def rate(self) -> TimeJet:
        """Return the derivative, of one order less."""
        return TimeJet(self.d[1:])

    def cut(self) -> TimeJet:
        """Return the jet without its highest derivative."""
        return TimeJet(self.d[:-1])

    def integrate(self, start: Any) -> TimeJet:
        """Return the jet of which this is the rate, ``start`` its derivative of order zero."""
        return TimeJet(np.concatenate([np.asarray(start)[None], self.d]))


class JetScalars(Scalars):
    """The arithmetic of jets, and of the constant numbers beside them.

    Each derivative follows from those of lower order by Leibniz' rule.
    """

    def __init__(self, numbers: Scalars) -> None:
        self.numbers = numbers

    def constant(self, value: float) -> Any:
        return self.numbers.constant(value)

    def reciprocal(self, x: Any) -> Any:
        if not isinstance(x, TimeJet):
            return self.numbers.reciprocal(x)
        y = [self._apply(self.numbers.reciprocal, x.d[0])]
        for k in range(1, x.order + 1):  # y x = 1, of which the k-th derivative is zero
            lower = np.stack([*y, np.zeros_like(x.d[0])])
            y.append(-leibniz(lower, x.d, k) * y[0])
        return TimeJet(np.stack(y))

    def function(self, name: str, *x: Any) -> Any:
        if not any(isinstance(part, TimeJet) for part in x):
            return self.numbers.function(name, *x)
        return getattr(self, f"_{name}")(*x)  # one of `_sqrt`, `_exp`, ... below

    def power(self, x: Any, exponent: Any) -> Any:
        if not isinstance(x, TimeJet) and not isinstance(exponent, TimeJet):
            return self.numbers.power(x, exponent)
        if isinstance(exponent, TimeJet) or exponent != round(float(exponent)):
            return self.function("exp", exponent * self.function("log", x))
        result: Any = self.numbers.constant(1.0)
        for _ in range(abs(round(float(exponent)))):
            result = x * result
        return result if exponent >= 0 else self.reciprocal(result)

    def is_positive(self, x: Any) -> bool:
        return self.numbers.is_positive(x.d[0] if isinstance(x, TimeJet) else x)

    def _sqrt(self, x: TimeJet) -> TimeJet:
        """Return y of y y = x."""
        y = [self._evaluate("sqrt", x)]
        half = self._apply(self.numbers.reciprocal, y[0] + y[0])
        for k in range(1, x.order + 1):
            lower = np.stack([*y, np.zeros_like(x.d[0])])
            y.append((x.d[k] - leibniz(lower, lower, k)) * half)
        return TimeJet(np.stack(y))

    def _exp(self, x: TimeJet) -> TimeJet:
        """Return y of y' = y x'."""
        y = [self._evaluate("exp", x)]
        for k in range(x.order):
            y.append(leibniz(np.stack(y), x.d[1:], k))
        return TimeJet(np.stack(y))

    def _sin(self, x: TimeJet) -> TimeJet:
        return self._sine_cosine(x)[0]

    def _cos(self, x: TimeJet) -> TimeJet:
        return self._sine_cosine(x)[1]

    def _tan(self, x: TimeJet) -> TimeJet:
        sine, cosine = self._sine_cosine(x)
        tangent: TimeJet = sine * self.reciprocal(cosine)
        return tangent

    def _sine_cosine(self, x: TimeJet) -> tuple[TimeJet, TimeJet]:
        sine, cosine = [self._evaluate("sin", x)], [self._evaluate("cos", x)]
        for k in range(x.order):  # sin' = cos x', cos' = -sin x'
            sines, cosines = np.stack(sine), np.stack(cosine)
            sine.append(leibniz(cosines, x.d[1:], k))
            cosine.append(-leibniz(sines, x.d[1:], k))
        return TimeJet(np.stack(sine)), TimeJet(np.stack(cosine))

    def _log(self, x: TimeJet) -> TimeJet:
        return self._integrate("log", x, lambda x: x)

    def _atan(self, x: TimeJet) -> TimeJet:
        return self._integrate("atan", x, lambda x: x * x + 1)

    def _asin(self, x: TimeJet) -> TimeJet:
        return self._integrate("asin", x, lambda x: self._sqrt(1 - x * x))

    def _acos(self, x: TimeJet) -> TimeJet:
        return self._integrate("acos", x, lambda x: -self._sqrt(1 - x * x))

    def _atan2(self, y: Any, x: Any) -> TimeJet:
        """Return the angle of (x, y), whose rate is (x y' - y x') / (x x + y y)."""
        x, y = self._make_jet(x, y), self._make_jet(y, x)
        start = self._evaluate("atan2", y, x)
        if not x.order:
            return TimeJet(start[None])
        turning = x.cut() * y.rate() - y.cut() * x.rate()
        squared = x.cut() * x.cut() + y.cut() * y.cut()
        angle: TimeJet = (turning * self.reciprocal(squared)).integrate(start)
        return angle

    def _fabs(self, x: TimeJet) -> TimeJet:
        """Return x or its negative, whichever is positive; at zero there are no derivatives."""
        for signed in (x, -x):
            if self.is_positive(signed):
                return signed
        raise ValueError("an absolute value has no derivatives at zero: state it without, or move")

    def _integrate(self, name: str, x: TimeJet, divisor: Callable[[TimeJet], TimeJet]) -> TimeJet:
        """Return the function of that name, whose rate is x' / divisor(x)."""
        start = self._evaluate(name, x)
        if not x.order:
            return TimeJet(start[None])
        rate: TimeJet = x.rate() * self.reciprocal(divisor(x.cut()))
        return rate.integrate(start)

    def _evaluate(self, name: str, *x: TimeJet) -> Array:
        """Return the value of a function: of the numbers of order zero."""
        return self._apply(partial(self.numbers.function, name), *(part.d[0] for part in x))

    @staticmethod
    def _make_jet(x: Any, other: Any) -> TimeJet:
        """Return x, a jet or a constant, as a jet of the same order as ``other``."""
        return x if isinstance(x, TimeJet) else TimeJet(np.zeros_like(other.d)) + x

    @staticmethod
    def _apply(function: Callable[..., Any], *numbers: Array) -> Array:
        """Return a function of arrays of numbers, entry by entry where they are objects."""
        if numbers[0].dtype != object:
            return np.asarray(function(*numbers))
        result = np.empty_like(numbers[0])
        for index in np.ndindex(numbers[0].shape):
            result[index] = function(*(x[index] for x in numbers))
        return result
