"""Shapes of links in URDF files, as points whose hull holds them."""

from __future__ import annotations

import os
from itertools import product
from pathlib import Path
from urllib.parse import unquote
from xml.etree.ElementTree import Element

import numpy as np
import scipy

from nsopt.robots.meshes import mesh_vertices
from nsopt.robots.pose import Array
from nsopt.robots.urdf_model import numbers_of, pose_of
from nsopt.robots.urdf_xml import NUMBERS, check_numbers, parse

SIDES = 16
"""Sides of the prism about a cylinder."""


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
    element = next((x for x in robot.findall("link") if x.get("name") == link), None)
    if element is None:
        known = ", ".join(x.get("name", "") for x in robot.findall("link"))
        raise ValueError(f"{path.name}: no link {link!r}: one of {known}")
    shapes = element.findall(tag)
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
    """Return the corners of a polyhedron about a sphere, (32, 3) [m].

    Those of an icosahedron and a dodecahedron, whose hull is near round.
    """
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
