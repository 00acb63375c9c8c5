"""Orbits of journals in their bores and of sliders in their guides, and modes of contact."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from nsopt.algebra import rotate
from nsopt.arrays import Array
from nsopt.contact_modes import (
    ModeStatistics,
    contacts_of_joints,
    read_clearances,
    statistics_of_modes,
)
from nsopt.elements import PlanarPrismaticClearance, PrismaticClearance
from nsopt.loads import bores_of_joints, read_frames
from nsopt.result import Result

FLAT = 1e-9  # extent of an orbit along an axis, over the clearance, that counts as none

PRISM, RECTANGLE = PrismaticClearance.__name__, PlanarPrismaticClearance.__name__
"""Kinds of guides, as results name them: for a slider in space, and in the plane."""

ENDS = ("front", "back")  # ends of a prism, in the order of its contacts


class Orbit(NamedTuple):
    """The way of one end of a bushing, of a socket, or of a corner of a slider in its clearance.

    Attributes
    ----------
    contact : str
        Name of the contact, or of the corner.
    part : str
        What shares one picture: the contact, or the joint with the end of the slider.
    axes : tuple of str
        The two axes of frame a in whose plane the offset lives, or all three of a ball. Of a
        `PlanarPrismaticClearance` the offsets of both ends across the guide.
    offset : (time, 2) or (time, 3)
        From the middle, over the clearance.
    eccentricity, angle : (time,)
        The part of the clearance that is used, 1 in contact: of a bore the size of the offset; and
        the direction of the offset in the plane [rad], of a ball about z of frame a.
    mode : (time,)
        Of the contact, as ``contact_mode``; of a corner that of its contacts which counts most: an
        impact, then lasting contact.
    walls : (m, 2)
        A closed line within which the offset stays; empty of a ball that moves in space.
    clearance : float [m]
    """

    contact: str
    part: str
    axes: tuple[str, ...]
    offset: Array
    eccentricity: Array
    angle: Array
    mode: Array
    walls: Array
    clearance: float


def orbit(result: Result, joint: str | None = None) -> list[Orbit]:
    """Return the orbits in a joint: one for each end of a bore, or for each corner of a slider.

    Parameters
    ----------
    result : Result
    joint : str, optional
        Name of a joint with clearance; the first with a bore or a guide by default.

    Raises
    ------
    ValueError
        If there is no such joint, or it has no bore and no guide.
    """
    known = journals(result)
    if joint is None and known:
        joint = known[0]
    if joint is None or joint not in known:
        raise ValueError(
            f"no bore or guide in joint {joint!r}: {', '.join(known) or 'none of this run'} has one"
        )
    bores = bores_of_joints(result)
    if joint in bores:
        return [_make_bore_orbit(result, k) for k in bores[joint]]
    return _make_guide_orbits(result, joint)


def journals(result: Result) -> list[str]:
    """Return the joints that have an `orbit`: those with bores, and sliders in guides."""
    kinds = {frame["element"]: frame["kind"] for frame in read_frames(result)}
    of_all = contacts_of_joints(result.data)
    guided = [joint for joint in of_all if kinds.get(joint) in (PRISM, RECTANGLE)]
    return [*bores_of_joints(result), *guided]


def mode_statistics(result: Result) -> Mapping[str, ModeStatistics]:
    """Return how each joint with contacts spent a run, by name.

    Raises
    ------
    KeyError
        If modes or impulses were not recorded.
    """
    for name in ("contact_mode", "impact_impulse"):
        result[name]  # the error of a result says how to record it
    return statistics_of_modes(result.data)


def _make_bore_orbit(result: Result, k: int) -> Orbit:
    c = float(read_clearances(result.data)[k])
    d = result["contact_offset"].values[:, k] / c
    extent = np.max(np.abs(d), axis=0)
    flat = int(np.argmin(extent))
    # A pin's offset has no part along its axis; of a ball that moves in a plane one axis is none.
    plane = [i for i in range(3) if i != flat] if extent[flat] < FLAT else [0, 1, 2]
    offset, name = d[:, plane], str(result["contact"].values[k])
    turn = np.linspace(0, 2 * np.pi, 181)
    circle = np.column_stack([np.cos(turn), np.sin(turn)])[: None if len(plane) == 2 else 0]
    angle, mode = np.arctan2(offset[:, 1], offset[:, 0]), result["contact_mode"].values[:, k]
    axes, eccentricity = tuple("xyz"[i] for i in plane), np.linalg.norm(d, axis=1)
    return Orbit(name, name, axes, offset, eccentricity, angle, mode, circle, c)


def _make_guide_orbits(result: Result, joint: str) -> list[Orbit]:
    """Return the orbits of a slider in its guide.

    Of a prism each corner of each end, in the xy plane of frame a. Of a rectangle in the plane one
    for both ends: its two axes are how far the middle of either end is across the guide.
    """
    contacts = contacts_of_joints(result.data)[joint]
    a, b = (x for x in read_frames(result) if x["element"] == joint)
    is_prism = a["kind"] == PRISM
    # A corner of a prism has two contacts, one for each wall that meets there; both at its point.
    shown = contacts[::2] if is_prism else contacts
    points = result["contact_point"].values[:, shown]
    centred = _express_in(result, b, points[:1])[0]  # corners do not move in the slider
    offsets = (_express_in(result, a, points) - centred)[:, :, :2]
    modes = result["contact_mode"].values[:, contacts]
    c = float(read_clearances(result.data)[contacts[0]])
    if not is_prism:
        return [_make_end_orbit(joint, offsets[:, :, 1], modes, c)]
    modes = np.fmax(modes[:, ::2], modes[:, 1::2])
    return _make_corner_orbits(joint, offsets, modes, centred[:, :2], c)


def _make_corner_orbits(
    joint: str, offsets: Array, modes: Array, centred: Array, c: float
) -> list[Orbit]:
    """Return the orbits of the corners of a prism, front end first.

    ``offsets`` (time, corners, 2) [m] and ``modes`` (time, corners) are of corners at ``centred``
    (corners, 2) [m] in the axes of the slider.
    """
    count = len(centred) // 2
    polygon = centred[:count]
    edges = np.roll(polygon, -1, axis=0) - polygon
    outward = np.column_stack([edges[:, 1], -edges[:, 0]])
    outward /= np.linalg.norm(outward, axis=1)[:, None]
    # At a corner the walls of two edges meet: offsets x with outward @ x <= clearance.
    normals = [np.stack([outward[k - 1], outward[k]]) for k in range(count)]
    walls = np.array([np.linalg.solve(both, np.ones(2)) for both in normals])
    found = []
    for i in range(2 * count):
        part, k = f"{joint}, {ENDS[i // count]} end", i % count
        share = np.max(offsets[:, i] @ normals[k].T, axis=1)
        names = f"{part}, corner {k}", part, ("x", "y")
        angle = np.arctan2(offsets[:, i, 1], offsets[:, i, 0])
        offset, closed = offsets[:, i] / c, np.vstack([walls, walls[:1]])
        found.append(Orbit(*names, offset, share / c, angle, modes[:, i], closed, c))
    return found


def _make_end_orbit(joint: str, across: Array, modes: Array, c: float) -> Orbit:
    """Return the orbit of both ends of a rectangle, of each the mean of its two corners.

    ``across`` and ``modes``: of the upper corners at -x and +x, then of the lower ones.
    """
    offset = (across[:, :2] + across[:, 2:]) / 2
    walls = np.array([[-1.0, -1.0], [1.0, -1.0], [1.0, 1.0], [-1.0, 1.0], [-1.0, -1.0]])
    axes = ("y of the end at \u2212x", "y of the end at +x")
    share = np.max(across * [1, 1, -1, -1], axis=1)  # upper corners meet the upper guide alone
    mode = np.fmax.reduce(modes, axis=1)
    angle = np.arctan2(offset[:, 1], offset[:, 0])
    return Orbit(joint, joint, axes, offset / c, share / c, angle, mode, walls, c)


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
