"""The plane that the joints of a mechanism keep it in."""

from __future__ import annotations

import numpy as np

from nsopt.algebra import rotate
from nsopt.plots import style
from nsopt.plots.style import Array
from nsopt.result import Result

ACROSS_Z = {
    "Planar",
    "PlanarPrismaticClearance",
    "PlanarRevoluteClearance",
    "PointOnLine",
    "Revolute",
}
"""Joints of mechanisms in the plane across their z axis."""

ALONG_Z = {"Prismatic"}
"""Joints that keep to any plane which their z axis is in."""

ROUNDING = 1e-9
"""Cosine up to which an axis is at right angles to another."""


def plane_of(result: Result) -> int | None:
    """Return the world axis, 0 to 2, across the plane of a mechanism; None if it moves in space.

    It has a plane if each of its joints and contacts keeps to it: hinges and planar joints, ideal
    or with clearance, and sliders along it. One in space has none, though it may move in a plane.

    Parameters
    ----------
    result : Result
    """
    frames = [*style.stored(result, "frames"), *style.stored(result, "pressed_frames")]
    kinds = {frame["kind"] for frame in frames}
    if kinds <= {"PointOnLine"} | ALONG_Z or kinds - ACROSS_Z - ALONG_Z:
        return None
    orientation = result["body_quaternion"].values[0]
    normals: list[Array] = []
    slides: list[Array] = []
    for frame in frames:
        z, body = np.asarray(frame["z"]), frame["body"]
        axis = z if body < 0 else rotate(orientation[body], z)
        (slides if frame["kind"] in ALONG_Z else normals).append(axis)
    k = int(np.argmax(np.abs(normals[0])))
    flat = np.abs(np.delete(normals, k, axis=1)).max() <= ROUNDING
    along = np.abs([axis[k] for axis in slides]).max(initial=0.0) <= ROUNDING
    return k if flat and along else None
