"""Variables of a result, a block of times in memory at once, for those larger than memory."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from nsopt.arrays import Array

if TYPE_CHECKING:
    import xarray as xr

BLOCK = 1 << 23  # bytes of a variable that are in memory at once


def blocks(x: xr.DataArray) -> Iterator[tuple[int, Array]]:
    """Yield the index of the first time of each block, and its values."""
    rows = max(1, BLOCK * len(x) // max(x.nbytes, 1))
    for begin in range(0, len(x), rows):
        yield begin, x[begin : begin + rows].values


def largest(x: xr.DataArray) -> float:
    """Return the largest absolute value of the entries that are not NaN; NaN if there is none."""
    most = [np.fmax.reduce(np.abs(block), axis=None, initial=np.nan) for _, block in blocks(x)]
    return float(np.fmax.reduce(most, initial=np.nan))
