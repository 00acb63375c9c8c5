"""From points to one dataset."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from nsopt.stored import NOTES
from nsopt.sweep.points import Points

if TYPE_CHECKING:
    import xarray as xr

_KINDS: dict[str, type] = {"O": str, "i": int}
"""Types of text and whole numbers by NumPy's kind: stored points have others than new ones."""


def gather(
    over: Points, points: Sequence[xr.Dataset], names: Iterable[str], attrs: Mapping[str, Any]
) -> xr.Dataset:
    """Return one dataset of all points; a measure is NaN where a point does not have it.

    ``names`` are the measures, of which one that no point has is left out, ``attrs`` attributes of
    the whole. A measure that has other dimensions at other points is a ValueError.
    """
    import xarray as xr

    measures = [name for name in (*NOTES, *names) if any(name in point for point in points)]
    variables = [_stack(name, over, points) for name in measures]
    data = xr.merge(variables, join="outer", compat="no_conflicts", combine_attrs="override")
    shared = next((point.attrs for point in points if point.attrs), {})
    return data.drop_attrs(deep=False).assign_attrs({**attrs, **shared})


def _stack(name: str, over: Points, points: Sequence[xr.Dataset]) -> xr.DataArray:
    """Return one measure of all points; labels that some do not have are NaN there."""
    import xarray as xr

    given = {k: point[name] for k, point in enumerate(points) if name in point}
    try:
        aligned = xr.align(*given.values(), join="outer", copy=False)
        stacked = np.stack([x.values for x in aligned])
    except ValueError as error:
        raise ValueError(f"measure {name!r} differs in shape between points: {error}") from error
    first = aligned[0]
    if len(given) < len(points):
        full = np.full((len(points), *first.shape), np.nan)
        full[list(given)] = stacked
        stacked = full
    labels = {d: first.coords[d] for d in first.dims if d in first.coords}
    if stacked.dtype.kind in _KINDS:
        stacked = stacked.astype(_KINDS[stacked.dtype.kind])
    shape, dims = (*over.sizes.values(), *first.shape), (*over.sizes, *first.dims)
    coords: dict[Any, Any] = {**over.coords, **labels}
    return xr.DataArray(stacked.reshape(shape), coords, dims, name, first.attrs)
