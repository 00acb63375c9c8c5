"""Matrices of expressions, evaluated at many points in one call."""

from __future__ import annotations

from collections.abc import Sequence

import casadi as ca
import numpy as np
from numpy.typing import NDArray

from nsopt.leaves import MappedLeaf

Array = NDArray[np.float64]

BATCH = 50
"""Points evaluated in one call."""


class Mapped:
    """Matrices of expressions, evaluated at many points.

    Parameters
    ----------
    name : str
    symbols : list of SX
        Columns.
    outputs : list of SX
    """

    def __init__(self, name: str, symbols: list[ca.SX], outputs: list[ca.SX]) -> None:
        dense = [ca.densify(y) for y in outputs]
        self._leaf = MappedLeaf(ca.Function(name, symbols, dense, {"cse": True}))
        self._shapes = [y.shape for y in outputs]
        self._sizes = [x.numel() for x in symbols]

    def __call__(self, count: int, columns: Sequence[Array]) -> list[Array]:
        """Return the outputs at ``count`` points, each transposed: (count, columns, rows).

        Parameters
        ----------
        count : int
        columns : sequence of (count, size), or (size,) where it is the same at all
            (count,) for a single number that varies.
        """
        each = [
            np.tile(a, (count, 1)) if a.shape == (size,) else a
            for a, size in zip(columns, self._sizes, strict=True)
        ]
        values = self._leaf(each)
        return [
            value.reshape(count, n, m) for value, (m, n) in zip(values, self._shapes, strict=True)
        ]
