"""Orbits of journals in their bores, and of sliders in their guides."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from nsopt.analysis.guides import Corner, find_corners, list_guided_joints
from nsopt.contact_modes import contacts_of_joints
from nsopt.result import Result

Array = NDArray[np.float64]

FLAT = 1e-9
"""Extent of an orbit along an axis, over the clearance, that counts as none."""


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
        Of the contact, as ``contact_mode``; of the contacts of a corner an impact counts most, then
        lasting contact.
    walls : (m, 2)
        A closed line that the offset stays within, none of a ball that moves in space.
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
    return [_make_corner_orbit(result, corner) for corner in find_corners(result, joint)]


def journals(result: Result) -> list[str]:
    """Return the joints that have an `orbit`: those with bores, and sliders in guides."""
    return [*bores_of_joints(result), *list_guided_joints(result)]


def bores_of_joints(result: Result) -> dict[str, list[int]]:
    """Return the contacts in bores, of each joint that has any."""
    known = np.isfinite(result["contact_offset"].values).all(axis=(0, 2))
    of_all = contacts_of_joints(result.data)
    inner = {joint: [k for k in ks if known[k]] for joint, ks in of_all.items()}
    return {joint: ks for joint, ks in inner.items() if ks}


def _make_bore_orbit(result: Result, k: int) -> Orbit:
    c = _read_clearance(result, k)
    d = result["contact_offset"].values[:, k] / c
    extent = np.max(np.abs(d), axis=0)
    flat = int(np.argmin(extent))
    # A pin's offset has no part along its axis; of a ball that moves in a plane one axis is none.
    plane = [i for i in range(3) if i != flat] if extent[flat] < FLAT else [0, 1, 2]
    offset, name = d[:, plane], str(result["contact"].values[k])
    turn = np.linspace(0, 2 * np.pi, 181)
    circle = np.column_stack([np.cos(turn), np.sin(turn)])
    return Orbit(
        name,
        name,
        tuple("xyz"[i] for i in plane),
        offset,
        np.linalg.norm(d, axis=1),
        np.arctan2(offset[:, 1], offset[:, 0]),
        result["contact_mode"].values[:, k],
        circle if len(plane) == 2 else circle[:0],
        c,
    )


def _make_corner_orbit(result: Result, corner: Corner) -> Orbit:
    c = _read_clearance(result, corner.contact)
    return Orbit(
        corner.name,
        corner.part,
        corner.axes,
        corner.offset / c,
        corner.share / c,
        np.arctan2(corner.offset[:, 1], corner.offset[:, 0]),
        corner.mode,
        np.vstack([corner.walls, corner.walls[:1]]),
        c,
    )


def _read_clearance(result: Result, k: int) -> float:
    return float(np.atleast_1d(result.data.attrs["clearances"])[k])
