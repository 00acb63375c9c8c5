"""Files of checkpoints: HDF5 with its SHA-256 behind it, written whole or not at all."""

from __future__ import annotations

import hashlib
import io
import json
import os
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import h5py
import numpy as np
from numpy.typing import NDArray

Arrays = dict[str, NDArray[Any]]
Facts = dict[str, Any]

PARTIAL = ".partial"
_HASH = hashlib.sha256().digest_size


def packed(arrays: Mapping[str, NDArray[Any]], facts: Mapping[str, Any]) -> bytes:
    """Return HDF5 of named arrays, and of facts as JSON, with its hash behind it."""
    text = np.frombuffer(json.dumps(facts).encode(), dtype=np.uint8)
    # In memory, for HDF5 cannot close a file on a full disk.
    buffer = io.BytesIO()
    with h5py.File(buffer, "w") as file:
        for name, x in {**arrays, "facts": text}.items():
            file[name] = x
    content = buffer.getvalue()
    return content + hashlib.sha256(content).digest()


def unpacked(content: bytes) -> tuple[Arrays, Facts]:
    """Return the arrays and facts that were `packed`.

    Raises
    ------
    ValueError
        If a bit is wrong.
    """
    data, stated = content[:-_HASH], content[-_HASH:]
    if hashlib.sha256(data).digest() != stated:
        raise ValueError("its hash is wrong")
    with h5py.File(io.BytesIO(data), "r") as file:
        arrays: Arrays = {name: x[()] for name, x in file.items()}
    return arrays, json.loads(arrays.pop("facts").tobytes())


def stated_hash(content: bytes) -> str:
    """Return the hash behind what was `packed`."""
    return content[-_HASH:].hex()


def read(path: Path, fact: str, name: str = "") -> tuple[Arrays, Facts]:
    """Return what a file of a checkpoint holds.

    Parameters
    ----------
    path : Path
    fact : str
        One that must be among its facts.
    name : str
        If given, what its hash must be.

    Raises
    ------
    ValueError
        If it is missing or damaged.
    """
    try:
        content = path.read_bytes()
        arrays, facts = unpacked(content)
        if fact not in facts or (name and stated_hash(content) != name):
            raise ValueError("it is another file")
        return arrays, facts
    except (OSError, ValueError) as error:
        reason = (error.strerror or error) if isinstance(error, OSError) else error
        raise ValueError(
            f"the checkpoint {str(path.parent)!r} is damaged, {path.name}: {reason}; it cannot be "
            "resumed: start the run anew"
        ) from error


def write(content: bytes, path: Path) -> None:
    """Write a file that appears whole or not at all, and is there after the power failed.

    Raises
    ------
    OSError
        Only where ``path`` is as it was before.
    """
    partial = path.with_name(path.name + PARTIAL)
    try:
        with partial.open("wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        os.replace(partial, path)
    except BaseException:
        with suppress(OSError):
            partial.unlink(missing_ok=True)
        raise
    with suppress(OSError):
        _sync_folder(path.parent)


def _sync_folder(folder: Path) -> None:
    """Have the names in a folder written to the disk, where a system can do that."""
    if os.name != "posix":
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
