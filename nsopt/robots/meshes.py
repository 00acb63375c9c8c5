"""Vertices of meshes, from STL, OBJ and COLLADA files, and of the shapes of links in URDF files."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Mapping
from functools import partial
from io import BytesIO
from itertools import product
from pathlib import Path
from typing import Any
from urllib.parse import unquote
from xml.etree import ElementTree
from xml.etree.ElementTree import Element

import numpy as np
import scipy

from nsopt.arrays import Array
from nsopt.checks import check_names
from nsopt.robots.urdf_model import numbers_of, pose_of
from nsopt.robots.urdf_xml import NUMBERS, check_numbers, parse

HEADER, TRIANGLE = 84, 50
"""Bytes of a binary STL file before its triangles, of which the last four are their number; and of
each triangle: a normal and three vertices of three floats, then two bytes."""

SIDES = 16  # sides of the prism about a cylinder


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
    try:
        import collada
    except ImportError:
        raise ImportError(
            "meshes in COLLADA (.dae) need pycollada: pip install nsopt[meshes]"
        ) from None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PendingDeprecationWarning)  # of NumPy, for its matrices
        try:
            return _list_scene_vertices(collada.Collada(BytesIO(_remove_materials(data))))
        except (ElementTree.ParseError, collada.DaeError) as error:
            raise ValueError(f"cannot be read as COLLADA ({error}): export it again") from None


def _list_scene_vertices(document: Any) -> Array:
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


READERS: Mapping[str, Callable[[bytes], Array]] = {
    ".stl": _read_stl,
    ".obj": partial(_read_lines, word=b"v"),
    ".dae": _read_collada,
}


def link_vertices(path: str | os.PathLike[str], link: str, visual: bool = False) -> Array:
    """Return points in the axes of a link of a URDF file whose hull holds its shapes, (n, 3) [m].

    Of a mesh they are its vertices, of a box its corners, of a cylinder or a sphere the corners of
    a polyhedron about it.

    Parameters
    ----------
    path : path
        Of the URDF file. Meshes in ``package://name/...`` are looked for beside the folders that
        hold the file, and in those.
    link : str
    visual : bool
        Takes what there is to look at, in place of the shapes for collision.

    Raises
    ------
    FileNotFoundError
        If the file or a mesh is missing.
    ValueError
        Naming link and file, if there is no such link, it has no shape, or one is not stated well.
    """
    path, tag = Path(path), "visual" if visual else "collision"
    robot = parse(path)
    links = {x.get("name", ""): x for x in robot.findall("link")}
    check_names(f"{path.name}: no link", [link], links)
    shapes = links[link].findall(tag)
    if not shapes:
        other = "" if visual else ": take visual=True, or another link"
        raise ValueError(f"{path.name}: link {link!r} has no <{tag}>{other}")
    try:
        return np.concatenate([_place_shape(x, f"<{tag}> of link {link!r}", path) for x in shapes])
    except ValueError as error:
        raise ValueError(f"{path.name}: {error}") from None


def _place_shape(shape: Element, what: str, path: Path) -> Array:
    """Return the points of a <visual> or <collision> in the axes of its link."""
    geometry = shape.find("geometry")
    solid = None if geometry is None else next(iter(geometry), None)
    if solid is None:
        raise ValueError(f"{what} has no shape in its <geometry>: state one, or leave it out")
    for element in (solid, *shape.findall("origin")):
        check_numbers(what, element)
    for name in NUMBERS.get(solid.tag, {}):
        if solid.get(name) is None and name != "scale":
            raise ValueError(f"<{solid.tag}> of {what} has no {name}: state it")
    pose = pose_of(shape.find("origin"))
    placed: Array = pose.origin + _points(solid, what, path) @ pose.axes.T
    return placed


def _points(solid: Element, what: str, path: Path) -> Array:
    match solid.tag:
        case "mesh":
            scale = numbers_of(solid, "scale", "1 1 1")
            points: Array = mesh_vertices(_find_mesh(solid.get("filename", ""), path, what)) * scale
            return points
        case "box":
            corners: Array = np.array(list(product((-0.5, 0.5), repeat=3)))
            return corners * numbers_of(solid, "size", "")
        case "cylinder":
            radius, length = (numbers_of(solid, x, "")[0] for x in ("radius", "length"))
            turn = 2 * np.pi * np.arange(SIDES) / SIDES
            rim = radius / np.cos(np.pi / SIDES) * np.array([np.cos(turn), np.sin(turn)]).T
            ends = [np.column_stack([rim, np.full(SIDES, z)]) for z in (-length / 2, length / 2)]
            return np.concatenate(ends)
        case "sphere":
            return _circumscribe_sphere(numbers_of(solid, "radius", "")[0])
    raise ValueError(
        f"{what} is a <{solid.tag}>: state a mesh, box, cylinder or sphere, or give its points"
    )


def _circumscribe_sphere(radius: float) -> Array:
    """Return corners about a sphere, (32, 3) [m]: of an icosahedron and a dodecahedron."""
    golden = (1 + np.sqrt(5)) / 2
    signs = np.array(list(product((-1.0, 1.0), repeat=2)))
    pairs = [np.roll([0.0, a, b * golden], k) for a, b in signs for k in range(3)]
    pairs += [np.roll([0.0, a / golden, b * golden], k) for a, b in signs for k in range(3)]
    corners = np.array([*pairs, *product((-1.0, 1.0), repeat=3)])
    corners /= np.linalg.norm(corners, axis=1)[:, None]
    inner = -scipy.spatial.ConvexHull(corners).equations[:, 3].max()  # radius of the sphere within
    scaled: Array = radius / inner * corners
    return scaled


def _find_mesh(name: str, path: Path, what: str) -> Path:
    """Return the file of a mesh by its name in a URDF file, ``path``, as `link_vertices` says."""
    kind, _, rest = name.rpartition("://")
    rest = unquote(rest)
    if kind not in ("", "file", "package"):
        raise ValueError(f"mesh {name!r} of {what} is no file: save it, and give its path")
    folder = path.resolve().parent
    if kind != "package":
        return folder / rest
    package, _, inside = rest.partition("/")
    places = [folder, *folder.parents]
    candidates = [x / rest for x in places] + [x / inside for x in places if x.name == package]
    found = next((x for x in candidates if x.is_file()), None)
    if found is None:
        raise FileNotFoundError(
            f"no mesh {name!r} of {what} in or beside the folders of {str(path)!r}: save it there, "
            "or give mesh_vertices its path"
        )
    return found
