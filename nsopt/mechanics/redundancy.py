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
