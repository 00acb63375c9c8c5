"""From points to one dataset."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import xarray as xr

from nsopt.sweep.measures import NOTES
from nsopt.sweep.points import Points


def gather(over: Points, found: Sequence[xr.Dataset], attrs: Mapping[str, Any]) -> xr.Dataset:
    """Return one dataset of all points; a measure is NaN where a point does not have it.

    Raises
    ------
    ValueError
        If a measure has other dimensions at other points.
    """
    names = dict.fromkeys([*NOTES, *(str(name) for point in found for name in point.data_vars)])
    variables = [_gather(name, over, found) for name in names]
    data = xr.merge(variables, join="outer", compat="no_conflicts", combine_attrs="override")
    shared = next((point.attrs for point in found if point.attrs), {})
    return data.drop_attrs(deep=False).assign_attrs({**attrs, **shared})


def _gather(name: str, over: Points, found: Sequence[xr.Dataset]) -> xr.DataArray:
    have = {k: point[name] for k, point in enumerate(found) if name in point}
    try:
        aligned = xr.align(*have.values(), join="outer", copy=False)
        stacked = np.stack([x.values for x in aligned])
    except ValueError as error:
        raise ValueError(f"measure {name!r} differs in shape between points: {error}") from error
    first = aligned[0]
    if len(have) < len(found):
        full = np.full((len(found), *first.shape), np.nan)
        full[list(have)] = stacked
        stacked = full
    labels = {d: first.coords[d] for d in first.dims if d in first.coords}
    if stacked.dtype == object:
        stacked = stacked.astype(str)
    shape, dims = (*over.sizes.values(), *first.shape), (*over.sizes, *first.dims)
    coords: dict[Any, Any] = {**over.coords, **labels}
    return xr.DataArray(stacked.reshape(shape), coords, dims, name, first.attrs)
