"""Redundancy of the ideal joints."""

import numpy as np
from numpy.typing import NDArray

from nsopt.algebra import rank
from nsopt.mechanics.dynamics import Dynamics


def redundancy(dynamics: Dynamics, t: float, q: NDArray[np.float64], p: NDArray[np.float64]) -> int:
    """Return the number of redundant rows of the ideal joints at a closed configuration.

    Redundant joints can be simulated; their reactions are those of least norm.
    """
    C = np.asarray(dynamics.closure_matrix(t, q, p))
    return int(C.shape[0]) - rank(C)


def moving_rows(d: Dynamics) -> list[int]:
    """Return the rows of joints that depend on time."""
    return sorted(set(d.closure_drift.sparsity_out(0).row()))


def over_determined(d: Dynamics, t: float, q: NDArray[np.float64], p: NDArray[np.float64]) -> str:
    """Return in words that more is programmed than the other joints leave free, or nothing."""
    rows = moving_rows(d)
    C = np.asarray(d.closure_matrix(t, q, p)).reshape(-1, d.nv)
    others = [k for k in range(len(C)) if k not in rows]
    free = d.nv - (rank(C[others]) if others else 0)
    if len(rows) <= free:
        return ""
    names = " and ".join(repr(x) for x in dict.fromkeys(d.closure_names[k] for k in rows))
    return (
        f"{names} keep {len(rows)} coordinates as functions of time, but the other joints leave "
        f"{free} free, so that {free} at most may be programmed"
    )
