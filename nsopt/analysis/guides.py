"""Sliders within the clearance of their guides: how far each corner is from the middle."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from nsopt.algebra import rotate
from nsopt.contact_modes import contacts_of_joints
from nsopt.elements import PlanarPrismaticClearance, PrismaticClearance
from nsopt.result import Result

Array = NDArray[np.float64]

PRISM, RECTANGLE = PrismaticClearance.__name__, PlanarPrismaticClearance.__name__
"""Kinds of guides, as results name them: for a slider in space, and in the plane."""

ENDS = ("front", "back")
"""Ends of a prism, in the order of its contacts."""


class Corner(NamedTuple):
    """The way of a corner of a slider, or of both ends of a planar one.

    Attributes
    ----------
    name, part : str
        ``part`` is what several corners share: the joint with the end of the slider.
    axes : tuple of str
        Names of the two directions of the offset.
    offset : (time, 2) [m]
        From where it is when the slider is in the middle.
    share : (time,) [m]
        How much of the clearance the offset takes, towards the nearest wall.
    mode : (time,)
        As ``contact_mode``; of several contacts an impact counts most, then lasting contact.
    walls : (m, 2)
        Corners of the polygon in which the offset may be, over the clearance.
    contact : int
        Index of one of its contacts.
    """

    name: str
    part: str
    axes: tuple[str, str]
    offset: Array
    share: Array
    mode: Array
    walls: Array
    contact: int


def list_guided_joints(result: Result) -> list[str]:
    """Return the joints with a guide."""
    kinds = {frame["element"]: frame["kind"] for frame in _frames(result)}
    contacts = contacts_of_joints(result.data)
    return [joint for joint in contacts if kinds.get(joint) in (PRISM, RECTANGLE)]


def find_corners(result: Result, joint: str) -> list[Corner]:
    """Return the corners of a slider in its guide.

    Of a prism each corner of each end, in the xy plane of frame a. Of a rectangle in the plane one
    `Corner` for both ends: its two axes are how far the middle of either end is across the guide.
    """
    contacts = contacts_of_joints(result.data)[joint]
    a, b = (x for x in _frames(result) if x["element"] == joint)
    is_prism = a["kind"] == PRISM
    # A corner of a prism has two contacts, one for each wall that meets there; both at its point.
    shown = contacts[::2] if is_prism else contacts
    points = result["contact_point"].values[:, shown]
    centred = _express_in(result, b, points[:1])[0]  # corners do not move in the slider
    offsets = (_express_in(result, a, points) - centred)[:, :, :2]
    modes = result["contact_mode"].values[:, contacts]
    if not is_prism:
        return [_make_ends(joint, offsets[:, :, 1], modes, contacts)]
    modes = np.fmax(modes[:, ::2], modes[:, 1::2])
    return _make_corners(joint, offsets, modes, centred[:, :2], shown)


def _make_corners(
    joint: str, offsets: Array, modes: Array, centred: Array, contacts: Sequence[int]
) -> list[Corner]:
    """Return the corners of a prism, front end first.

    ``offsets`` (time, corners, 2) [m], ``modes`` (time, corners), ``centred`` (corners, 2) [m]
    where corners are in the axes of the slider.
    """
    count = len(contacts) // 2
    polygon = centred[:count]
    edges = np.roll(polygon, -1, axis=0) - polygon
    outward = np.column_stack([edges[:, 1], -edges[:, 0]])
    outward /= np.linalg.norm(outward, axis=1)[:, None]
    # At a corner the walls of two edges meet: offsets x with outward @ x <= clearance.
    normals = [np.stack([outward[k - 1], outward[k]]) for k in range(count)]
    walls = np.array([np.linalg.solve(both, np.ones(2)) for both in normals])
    found = []
    for i, contact in enumerate(contacts):
        part, k = f"{joint}, {ENDS[i // count]} end", i % count
        share = np.max(offsets[:, i] @ normals[k].T, axis=1)
        name = f"{part}, corner {k}"
        axes = ("x", "y")
        found.append(Corner(name, part, axes, offsets[:, i], share, modes[:, i], walls, contact))
    return found


def _make_ends(joint: str, across: Array, modes: Array, contacts: Sequence[int]) -> Corner:
    """Return both ends of a rectangle, of each the mean of its upper and its lower corner.

    ``across`` and ``modes``: of the upper corners at -x and +x, then of the lower ones.
    """
    offset = (across[:, :2] + across[:, 2:]) / 2
    walls = np.array([[-1.0, -1.0], [1.0, -1.0], [1.0, 1.0], [-1.0, 1.0]])
    axes = ("y of the end at \u2212x", "y of the end at +x")
    share = np.max(across * [1, 1, -1, -1], axis=1)  # upper corners meet the upper guide alone
    mode = np.fmax.reduce(modes, axis=1)
    return Corner(joint, joint, axes, offset, share, mode, walls, contacts[0])


def _frames(result: Result) -> list[dict[str, Any]]:
    names = ("frames", "pressed_frames")
    return [frame for name in names for frame in json.loads(result.data.attrs[name])]


def _express_in(result: Result, frame: dict[str, Any], points: Array) -> Array:
    """Return world points (time, n, 3) in the axes of a frame, from its origin."""
    x, z, origin = (np.asarray(frame[name]) for name in ("x", "z", "origin"))
    axes = np.column_stack([x, np.cross(z, x), z])
    if frame["body"] < 0:
        return np.asarray((points - origin) @ axes)
    n = len(points)
    r = result["body_position"].values[:n, frame["body"]]
    e = result["body_quaternion"].values[:n, frame["body"]]
    place = r + rotate(e, origin)
    turned = np.stack([rotate(e, axis) for axis in axes.T], axis=-1)  # (time, 3, axis)
    return np.asarray(np.einsum("tni,tij->tnj", points - place[:, None], turned))
