"""The hash of the data of a saved result or sweep, of each variable and each attribute."""

from __future__ import annotations

import hashlib
import io
import json
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    import h5py
    import xarray as xr

HASH, HASHES = "data_hash", "hashes_by_name"
"""Attributes of the group of hashes: the hash of all, and those of each name as JSON."""

GROUP = "hashes"
"""Group of a file, so that who reads variables and writes them anew takes no hashes along."""

BLOCK = 1 << 22  # bytes that are read at once

_OF_HDF5 = {
    *("CLASS", "DIMENSION_LIST", "NAME", "REFERENCE_LIST"),
    *("_NCProperties", "_Netcdf4Coordinates", "_Netcdf4Dimid"),
}
"""Attributes that HDF5 and netCDF keep for themselves."""


def make_netcdf(data: xr.Dataset) -> bytes:
    """Return ``data`` as the content of a netCDF file, with their hash.

    Made in memory: on a full disk HDF5 can neither write nor close a file, and ends the process.
    """
    import h5netcdf
    import xarray as xr

    buffer = io.BytesIO()
    with h5netcdf.File(buffer, "w") as file:
        data.dump_to_store(xr.backends.H5NetCDFStore(file))
    add_hash(buffer)
    return buffer.getvalue()


def add_hash(content: Any) -> None:
    """Add the hashes of a file, a file object that can be read and written, to its attributes."""
    import h5py

    with h5py.File(content, "r+") as file:
        found = {HASHES: json.dumps(_hash_each(file)), HASH: _hash_all(file)}
        file.create_group(GROUP).attrs.update(found)


def check_hash(path: Path) -> str:
    """Return the hash that a file carries, empty if it has none.

    If its data have another one, a ValueError names the variables and attributes that changed.
    """
    import h5py

    with h5py.File(path, "r") as file:
        holder = file.get(GROUP, file)  # the file itself by 1.0.0
        stated = str(holder.attrs.get(HASH, ""))
        found = _hash_all(file) if stated else ""
        changed = _list_changes(file) if stated != found else ""
    if stated != found:
        raise ValueError(
            f"the data of {str(path)!r} are not those that were saved, by their hash ({stated}, "
            f"found {found}): {changed} changed; take another copy, or run it anew"
        )
    return stated


def _list_changes(file: h5py.File) -> str:
    """Return the names of the variables and attributes that are not those that were saved."""
    try:
        stated = dict(json.loads(file[GROUP].attrs[HASHES]))
    except (KeyError, TypeError, ValueError, RecursionError):  # of an earlier version
        return "something"
    found = _hash_each(file)
    names = [name for name in {**stated, **found} if stated.get(name) != found.get(name)]
    return ", ".join(names[:5]) or f"the hash in {GROUP!r}"


def _hash_each(file: h5py.File) -> dict[str, str]:
    """Return the hash of each variable and attribute."""
    found = {}
    for name in _list_variables(file):
        total = hashlib.sha256()
        _add_variable(total, name, file[name])
        found[f"variable {name!r}"] = total
    for name, x in _read_attributes(file).items():
        found[f"attribute {name!r}"] = hashlib.sha256(_to_bytes(x))
    return {name: total.hexdigest()[:16] for name, total in found.items()}


def _hash_all(file: h5py.File) -> str:
    """Return a hash of all variables and attributes, however HDF5 lays them out."""
    total = hashlib.sha256()
    for name in _list_variables(file):
        _add_variable(total, name, file[name])
    total.update(_to_bytes(_read_attributes(file)))
    return total.hexdigest()


def _list_variables(file: h5py.File) -> list[str]:
    return sorted({*file} - {GROUP})


def _add_variable(total: Any, name: str, x: Any) -> None:
    """Add name, type, shape, attributes and values of a variable to a hash."""
    if not hasattr(x, "dtype"):
        raise ValueError(f"{name!r} is no variable")
    total.update(_to_bytes([name, x.dtype.kind, x.dtype.itemsize, x.shape, _read_attributes(x)]))
    for block in _read_blocks(x):
        total.update(_to_bytes(block.tolist()) if block.dtype.kind == "O" else block)


def _read_blocks(x: h5py.Dataset) -> Iterator[Any]:
    """Yield the values, `BLOCK` bytes at a time."""
    if not x.shape:
        yield np.atleast_1d(x[()])
        return
    rows = max(1, BLOCK * x.shape[0] // max(x.nbytes, 1))
    for begin in range(0, x.shape[0] if x.size else 0, rows):
        yield np.ascontiguousarray(x[begin : begin + rows])


def _read_attributes(x: Any) -> dict[str, Any]:
    own = {name: np.asarray(x.attrs[name]) for name in sorted({*x.attrs} - _OF_HDF5 - {HASH})}
    # Of one number, versions of h5netcdf write a scalar or an array with one element.
    return {
        name: (np.atleast_1d(value) if value.dtype.kind in "biuf" else value).tolist()
        for name, value in own.items()
    }


def _to_bytes(x: Any) -> bytes:
    return json.dumps(x, default=str).encode()
