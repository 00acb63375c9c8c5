"""Vertices of meshes, from STL and OBJ files."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from pathlib import Path

import numpy as np

from nsopt.robots.pose import Array

HEADER, TRIANGLE = 84, 50
"""Bytes of a binary STL file before its triangles, the last four their number; of a triangle."""


def mesh_vertices(path: str | os.PathLike[str], scale: float = 1.0) -> Array:
    """Return the vertices of a mesh, (n, 3), each once.

    Parameters
    ----------
    path : path
        Of a file in STL, binary or as text, or in OBJ.
    scale : float
        Metres of a unit of the file, such as 1e-3 for millimetres.

    Raises
    ------
    FileNotFoundError
        If there is no such file.
    ValueError
        Naming the file, if it is of another format, broken or empty.
    """
    path = Path(path)
    if not path.is_file():
        raise FileNotFoundError(f"no mesh at {str(path)!r}: check the path")
    read = READERS.get(path.suffix.lower())
    if read is None:
        raise ValueError(
            f"{path.name}: meshes are read in {', '.join(READERS)}: convert it to one of them"
        )
    try:
        points = read(path.read_bytes())
    except ValueError as error:
        raise ValueError(f"{path.name}: {error}") from None
    if not len(points):
        raise ValueError(f"{path.name} has no vertices: is this the right file?")
    if not np.all(np.isfinite(points)):
        raise ValueError(f"{path.name} has a vertex that is not finite: export it again")
    return np.unique(points, axis=0) * scale


def _stl(data: bytes) -> Array:
    """Return the vertices of a file that is binary if it is as long as it says."""
    count = int.from_bytes(data[HEADER - 4 : HEADER], "little")
    if len(data) == HEADER + TRIANGLE * count:
        numbers = np.frombuffer(data, np.uint8, offset=HEADER).reshape(count, TRIANGLE)
        return numbers[:, 12:48].copy().view("<f4").reshape(-1, 3).astype(float)
    if not data.lstrip().lower().startswith(b"solid"):
        raise ValueError(
            f"a binary STL file of {count} triangles has {HEADER + TRIANGLE * count} bytes, got "
            f"{len(data)}: export it again"
        )
    return _lines(data, b"vertex")


def _obj(data: bytes) -> Array:
    return _lines(data, b"v")


def _lines(data: bytes, word: bytes) -> Array:
    """Return the first three numbers of lines that begin with a word."""
    points = []
    for k, line in enumerate(data.splitlines(), 1):
        parts = line.split()
        if not parts or parts[0].lower() != word:
            continue
        try:
            x, y, z = (float(part) for part in parts[1:4])
        except ValueError:
            text = line.decode(errors="replace").strip()
            raise ValueError(f"line {k} must hold three numbers, got {text!r}") from None
        points.append((x, y, z))
    return np.reshape(np.array(points, dtype=float), (-1, 3))


READERS: Mapping[str, Callable[[bytes], Array]] = {".stl": _stl, ".obj": _obj}
