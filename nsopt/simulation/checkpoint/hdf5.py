"""HDF5 files with checksums and hashes: arrays by name, and facts as JSON."""

from __future__ import annotations

import io
import json
import os
from collections.abc import Mapping
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nsopt.files import NO_LINK, create, replacing

Arrays = dict[str, NDArray[Any]]
Facts = dict[str, Any]

FACTS, HASHES = "facts", "hashes"  # datasets beside the arrays, JSON; hashes are by name
OF_FACTS = "of facts"  # among the hashes, those of each fact
OLDER = "nsopt 1.0.0"  # wrote files without hashes

BINARY = getattr(os, "O_BINARY", 0)  # on Windows


def write(path: Path, arrays: Mapping[str, NDArray[Any]], facts: Mapping[str, Any]) -> str:
    """Write a file that appears whole or not at all, and is there after the power failed.

    Return the hash of its content. After an OSError ``path`` is as it was before.
    """
    import h5py

    facts = {**facts, "name": path.name}  # by which `read` knows a file in place of another
    named = {**arrays, FACTS: _encode(facts)}
    hashes = {name: _hash(x) for name, x in named.items()} | {OF_FACTS: _hash_each(facts)}
    # In memory, for HDF5 cannot close a file on a full disk.
    buffer = io.BytesIO()
    with h5py.File(buffer, "w", libver="latest") as file:  # whose metadata have checksums too
        for name, x in {**named, HASHES: _encode(hashes)}.items():
            # Checksums are of chunks, and an empty array has none.
            checked = {"chunks": x.shape, "fletcher32": True} if x.size else {}
            file.create_dataset(name, data=x, **checked)
    with replacing(path, durable=True) as new:
        create(new, buffer.getvalue())
    return _hash(_encode(hashes))


def read(path: Path) -> tuple[Arrays, Facts, str]:
    """Return arrays, facts and hash of a file; ValueError if it is missing, damaged, or another."""
    import h5py

    try:
        with open(os.open(path, os.O_RDONLY | NO_LINK | BINARY), "rb") as raw:
            content = raw.read()
        with h5py.File(io.BytesIO(content), "r") as file:
            stated = _read_array(HASHES, file[HASHES], len(content)) if HASHES in file else None
            hashes = _decode(stated, f"its hashes, which {OLDER} did not write")
            if missing := {*hashes} - {*file, OF_FACTS}:
                raise ValueError(f"it lacks {', '.join(sorted(missing))}")
            names = [name for name in file if name != HASHES]
            arrays: Arrays = {name: _read_array(name, file[name], len(content)) for name in names}
        _check_hashes(arrays, hashes)
        facts = _decode(arrays.pop(FACTS, None), "its facts")
        if facts.get("name") != path.name:
            raise ValueError(f"it is another file, whose name was {facts.get('name')!r:.60}")
    except (OSError, RuntimeError, ValueError, KeyError, TypeError) as error:
        reason = (error.strerror or error) if isinstance(error, OSError) else error
        raise make_damage_error(path, str(reason)) from error
    return arrays, facts, _hash(_encode(hashes))


def _read_array(name: str, x: Any, most: int) -> NDArray[Any]:
    """Return the content of a dataset; nothing is compressed, so it is smaller than the file."""
    if not hasattr(x, "nbytes") or x.dtype.kind not in "biuf":
        raise ValueError(f"{name!r} is no array of numbers")
    if x.nbytes > most:
        raise ValueError(f"{name!r} is larger than the file")
    return np.asarray(x[()])


def _check_hashes(arrays: Arrays, hashes: Facts) -> None:
    for name, x in arrays.items():
        if name not in hashes:
            raise ValueError(f"{name!r} is no field of a run")
        if hashes[name] != _hash(x):
            changed = _find_changed_facts(x, hashes.get(OF_FACTS)) if name == FACTS else ""
            raise ValueError(f"{changed or repr(name)} is not what was written, by its hash")


def _find_changed_facts(x: NDArray[Any], stated: Any) -> str:
    """Return the names of the facts that are not those of the hashes; empty if these tell none."""
    found = _hash_each(_decode(x, "its facts"))
    if not isinstance(stated, dict):
        return ""
    return ", ".join(n for n in {**stated, **found} if stated.get(n) != found.get(n))


def _hash_each(facts: Mapping[str, Any]) -> dict[str, str]:
    return {name: _hash(_encode({name: fact})) for name, fact in facts.items()}


def _hash(x: NDArray[Any]) -> str:
    total = sha256(f"{x.dtype.str} {x.shape} ".encode())
    total.update(np.ascontiguousarray(x).tobytes())
    return total.hexdigest()


def _encode(facts: Mapping[str, Any]) -> NDArray[np.uint8]:
    return np.frombuffer(json.dumps(facts).encode(), dtype=np.uint8)


def _decode(x: NDArray[Any] | None, what: str) -> Facts:
    """Return facts from bytes; ``what`` names them in errors."""
    if x is None:
        raise ValueError(f"it lacks {what}")
    try:
        facts = json.loads(x.tobytes())
    except (ValueError, RecursionError):
        raise ValueError(f"no JSON in {what}") from None
    if not isinstance(facts, dict):
        raise ValueError(f"no table in {what}")
    return facts


def make_damage_error(path: Path, reason: str) -> ValueError:
    """Return the error of a checkpoint with a file that cannot be used."""
    return ValueError(
        f"the checkpoint {str(path.parent)!r} is damaged, {path.name}: {reason}; it cannot be "
        "resumed: start the run anew"
    )
