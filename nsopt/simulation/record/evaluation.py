"""Evaluation of a function at all times of a run."""

from __future__ import annotations

from functools import lru_cache

import casadi as ca
import numpy as np
from numpy.typing import NDArray

from nsopt.leaves import MappedLeaf
from nsopt.mechanics import Dynamics

Array = NDArray[np.float64]

BLOCK = 512  # number of times whose values are in memory at once


@lru_cache(maxsize=128)  # of a sweep, or of runs to compare, all need the same ones
def _leaf(function: ca.Function) -> MappedLeaf:
    """Return a function with dense outputs, to be evaluated many times."""
    inputs = [ca.SX.sym("x", *function.size_in(i)) for i in range(function.n_in())]
    outputs = [ca.densify(out) for out in function.call(inputs)]
    return MappedLeaf(ca.Function(function.name(), inputs, outputs))


def losses_of_forces(d: Dynamics, t: Array, q: Array, v: Array, p: Array) -> Array:
    """Return what forces dissipate at surfaces between times, (n - 1, ns) [J]; trapezoidal rule.

    Parameters
    ----------
    t, q, v, p : (n,), (n, nq), (n, nv), (np,)
    """
    (power,) = evaluate_at_times(d.pressed_loss, t, q, v, np.tile(p, (len(t), 1)), v)
    mean: Array = (power[1:] + power[:-1]) / 2
    return mean * np.diff(t)[:, None]


def evaluate_at_times(function: ca.Function, *arguments: Array) -> list[Array]:
    """Return outputs of an SX function at n times, (n, size), matrices by columns, as inputs."""
    return _leaf(function)(arguments)
