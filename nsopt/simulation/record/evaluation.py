"""Evaluation of a function at all times of a run."""

from __future__ import annotations

import casadi as ca
import numpy as np
from numpy.typing import NDArray

from nsopt.mpcc import Evaluator

Array = NDArray[np.float64]

BLOCK = 500
"""Number of times evaluated in one call."""


def evaluate_at_times(function: ca.Function, *arguments: Array) -> list[Array]:
    """Return the outputs of an SX function at n times, each (n, size), matrices column by column.

    Parameters
    ----------
    function : Function
    *arguments : (n, size of the input) or (n,)
    """
    n = len(arguments[0])
    block = max(min(n, BLOCK), 1)
    inputs = [ca.SX.sym("x", *function.size_in(i)) for i in range(function.n_in())]
    outputs = [ca.densify(out) for out in function.call(inputs)]
    evaluate = Evaluator(ca.Function("dense", inputs, outputs).map(block))
    sizes = [function.numel_out(i) for i in range(function.n_out())]
    results = [np.empty((n, size)) for size in sizes]
    for begin in range(0, n, block):
        # The last block is padded by repeating the last row.
        rows = np.minimum(np.arange(begin, begin + block), n - 1)
        values = evaluate(*(a[rows].ravel() for a in arguments))
        end = min(begin + block, n)
        for out, value, size in zip(results, values, sizes, strict=True):
            out[begin:end] = value.reshape(block, size)[: end - begin]
    return results
