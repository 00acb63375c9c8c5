"""HDF5 files with checksums: arrays by name, and facts as JSON."""

from __future__ import annotations

import io
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nsopt.files import create, replacing

Arrays = dict[str, NDArray[Any]]
Facts = dict[str, Any]


def write(path: Path, arrays: Mapping[str, NDArray[Any]], facts: Mapping[str, Any]) -> None:
    """Write a file that appears whole or not at all, and is there after the power failed.

    Raises
    ------
    OSError
        Only where ``path`` is as it was before.
    """
    import h5py

    text = json.dumps({**facts, "name": path.name}).encode()
    # In memory, for HDF5 cannot close a file on a full disk.
    buffer = io.BytesIO()
    with h5py.File(buffer, "w", libver="latest") as file:  # whose metadata have checksums too
        for name, x in {**arrays, "facts": np.frombuffer(text, dtype=np.uint8)}.items():
            # Checksums are of chunks, and an empty array has none.
            checked = {"chunks": x.shape, "fletcher32": True} if x.size else {}
            file.create_dataset(name, data=x, **checked)
    with replacing(path, durable=True) as new:
        create(new, buffer.getvalue())


def read(path: Path) -> tuple[Arrays, Facts]:
    """Return the arrays and facts of a file.

    Raises
    ------
    ValueError
        If it is missing or damaged, or another file under this name.
    """
    import h5py

    try:
        with h5py.File(io.BytesIO(path.read_bytes()), "r") as file:
            arrays: Arrays = {name: x[()] for name, x in file.items()}
        facts: Facts = json.loads(arrays.pop("facts").tobytes())
        if facts["name"] != path.name:
            raise ValueError("it is another file")
    except (OSError, RuntimeError, ValueError, KeyError, AttributeError, TypeError) as error:
        reason = (error.strerror or error) if isinstance(error, OSError) else error
        raise damaged(path, str(reason)) from error
    return arrays, facts


def damaged(path: Path, reason: str) -> ValueError:
    """Return the error of a checkpoint with a file that cannot be used."""
    return ValueError(
        f"the checkpoint {str(path.parent)!r} is damaged, {path.name}: {reason}; it cannot be "
        "resumed: start the run anew"
    )
