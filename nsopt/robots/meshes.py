"""Vertices of meshes, from STL, OBJ and COLLADA files."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Mapping
from io import BytesIO
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np

from nsopt.robots.pose import Array

HEADER, TRIANGLE = 84, 50
"""Bytes of a binary STL file before its triangles, of which the last four are their number; and of
each triangle: a normal and three vertices of three floats, then two bytes."""


def mesh_vertices(path: str | os.PathLike[str], scale: float = 1.0) -> Array:
    """Return the vertices of a mesh, (n, 3), each once.

    Parameters
    ----------
    path : path
        Of a file in STL, binary or as text, in OBJ or in COLLADA (.dae), which needs pycollada.
    scale : float
        Metres of a unit of the file, such as 1e-3 for millimetres. COLLADA states its unit itself,
        a metre where it states none; the scale multiplies it.

    Notes
    -----
    Of COLLADA these are the vertices of all geometry of the scene, placed by its nodes. Its
    ``up_axis`` turns nothing, as in RViz: the axes of the file are those of the link.

    Raises
    ------
    FileNotFoundError
        If there is no such file.
    ImportError
        Of COLLADA without pycollada: ``pip install nsopt[meshes]``.
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


def _read_stl(data: bytes) -> Array:
    """Return the vertices of an STL file: as text, unless it is as long as a binary one says."""
    count = int.from_bytes(data[HEADER - 4 : HEADER], "little")
    if len(data) == HEADER + TRIANGLE * count:
        triangles = np.frombuffer(data, np.uint8, offset=HEADER).reshape(count, TRIANGLE)
        return triangles[:, 12:48].copy().view("<f4").reshape(-1, 3).astype(float)
    if not data.lstrip().lower().startswith(b"solid"):
        raise ValueError(
            f"a binary STL file of {count} triangles has {HEADER + TRIANGLE * count} bytes, got "
            f"{len(data)}: export it again"
        )
    return _read_lines(data, b"vertex")


def _read_obj(data: bytes) -> Array:
    return _read_lines(data, b"v")


def _read_lines(data: bytes, word: bytes) -> Array:
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


def _read_collada(data: bytes) -> Array:
    """Return the vertices of a COLLADA file [m]."""
    collada = _import_collada()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PendingDeprecationWarning)  # of NumPy, for its matrices
        try:
            return _scene_vertices(collada.Collada(BytesIO(_remove_materials(data))))
        except (ElementTree.ParseError, collada.DaeError) as error:
            raise ValueError(f"cannot be read as COLLADA ({error}): export it again") from None


def _scene_vertices(document: Any) -> Array:
    if document.scene is None:
        raise ValueError("a COLLADA file needs a <scene>, which places its meshes: export it again")
    placed = document.scene.objects("geometry")
    meshes = [x for geometry in placed for x in geometry.primitives() if len(x)]
    used = [x.vertex[np.unique(x.vertex_index)] for x in meshes]
    points: Array = np.concatenate([np.zeros((0, 3)), *used]) * (document.assetInfo.unitmeter or 1)
    return points


def _remove_materials(data: bytes) -> bytes:
    """Return a COLLADA file without materials, which may refer to pictures that are missing."""
    root = ElementTree.fromstring(data)
    looks = [f"{{*}}library_{x}" for x in ("images", "effects", "materials")]
    for parent in list(root.iter()):
        for child in [y for x in (*looks, "{*}bind_material") for y in parent.findall(x)]:
            parent.remove(child)
    return ElementTree.tostring(root)


def _import_collada() -> Any:
    try:
        import collada
    except ImportError:
        raise ImportError(
            "meshes in COLLADA (.dae) need pycollada: pip install nsopt[meshes]"
        ) from None
    return collada


READERS: Mapping[str, Callable[[bytes], Array]] = {
    ".stl": _read_stl,
    ".obj": _read_obj,
    ".dae": _read_collada,
}
