"""Evaluation of a function at all times of a run."""

from __future__ import annotations

from functools import lru_cache

import casadi as ca
import numpy as np
from numpy.typing import NDArray

from nsopt.mechanics import Dynamics
from nsopt.mpcc import Code, Evaluator, over_instances

Array = NDArray[np.float64]

BLOCK = 512
"""Number of times evaluated in one call."""


@lru_cache(maxsize=128)  # of a sweep, or of runs to compare, all need the same ones
def _mapped(function: ca.Function, count: int, compiled: Code | None) -> ca.Function:
    """Return a function with dense outputs, evaluated ``count`` times."""
    inputs = [ca.SX.sym("x", *function.size_in(i)) for i in range(function.n_in())]
    outputs = [ca.densify(out) for out in function.call(inputs)]
    dense = ca.Function("dense", inputs, outputs)
    return over_instances(dense, dense.n_in(), count, compiled) if compiled else dense.map(count)


class AtTimes:
    """An SX function to evaluate at many times, at most ``times`` in one go.

    It is interpreted unless ``compiled``.
    """

    def __init__(self, function: ca.Function, times: int, compiled: Code | None = None) -> None:
        least = 1 << max(times - 1, 0).bit_length()  # few different sizes, so that they are shared
        self._function, self._block = function, min(least, BLOCK)
        self._evaluate = Evaluator(_mapped(function, self._block, compiled))

    def __call__(self, *arguments: Array) -> list[Array]:
        """Return the outputs at n times, each (n, size), matrices column by column.

        Parameters
        ----------
        *arguments : (n, size of the input) or (n,)
        """
        n, function, block = len(arguments[0]), self._function, self._block
        sizes = [function.numel_out(i) for i in range(function.n_out())]
        results = [np.empty((n, size)) for size in sizes]
        for begin in range(0, n, block):
            # The last block is padded by repeating the last row.
            rows = np.minimum(np.arange(begin, begin + block), n - 1)
            values = self._evaluate(*(a[rows].ravel() for a in arguments))
            end = min(begin + block, n)
            for out, value, size in zip(results, values, sizes, strict=True):
                out[begin:end] = value.reshape(block, size)[: end - begin]
        return results


def losses_of_forces(d: Dynamics, t: Array, q: Array, v: Array, p: Array) -> Array:
    """Return what forces dissipate at surfaces between times, (n - 1, ns) [J]; trapezoidal rule.

    Parameters
    ----------
    t, q, v, p : (n,), (n, nq), (n, nv), (np,)
    """
    (power,) = evaluate_at_times(d.pressed_loss, t, q, v, np.tile(p, (len(t), 1)), v)
    mean: Array = (power[1:] + power[:-1]) / 2
    return mean * np.diff(t)[:, None]


def evaluate_at_times(
    function: ca.Function, *arguments: Array, compiled: Code | None = None
) -> list[Array]:
    """Return the outputs of an SX function at all times, see `AtTimes`."""
    return AtTimes(function, len(arguments[0]), compiled)(*arguments)
