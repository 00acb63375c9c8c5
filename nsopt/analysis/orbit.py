"""Orbits of journals in their bores."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from nsopt.contact_modes import contacts_of_joints
from nsopt.result import Result

Array = NDArray[np.float64]

FLAT = 1e-9
"""Of the clearance, the extent along an axis that counts as none."""


class Orbit(NamedTuple):
    """The way of one end of a bushing, or of a socket, within its clearance.

    Attributes
    ----------
    contact : str
    axes : tuple of str
        The two axes of frame a in whose plane the offset lives, or all three of a ball.
    offset : (time, 2) or (time, 3)
        Over the clearance.
    eccentricity, angle : (time,)
        Size of the offset over the clearance, and its direction in the plane [rad].
    mode : (time,)
        Of the contact, as ``contact_mode``.
    clearance : float [m]
    """

    contact: str
    axes: tuple[str, ...]
    offset: Array
    eccentricity: Array
    angle: Array
    mode: Array
    clearance: float


def orbit(result: Result, joint: str | None = None) -> list[Orbit]:
    """Return the orbits in the bores of a joint, one for each end.

    Parameters
    ----------
    result : Result
    joint : str, optional
        Name of a joint with clearance; the first with a bore by default.

    Raises
    ------
    ValueError
        If there is no such joint, or it has no bore.
    """
    bores = bores_of_joints(result)
    if joint is None and bores:
        joint = next(iter(bores))
    if joint not in bores:
        raise ValueError(
            f"no bore in joint {joint!r}: {', '.join(bores) or 'none of this run'} has one"
        )
    return [_of_contact(result, k) for k in bores[joint]]


def bores_of_joints(result: Result) -> dict[str, list[int]]:
    """Return the contacts in bores, of each joint that has any."""
    known = np.isfinite(result["contact_offset"].values).all(axis=(0, 2))
    of_all = contacts_of_joints(result.data)
    inner = {joint: [k for k in ks if known[k]] for joint, ks in of_all.items()}
    return {joint: ks for joint, ks in inner.items() if ks}


def _of_contact(result: Result, k: int) -> Orbit:
    c = float(np.atleast_1d(result.data.attrs["clearances"])[k])
    d = result["contact_offset"].values[:, k] / c
    extent = np.max(np.abs(d), axis=0)
    flat = int(np.argmin(extent))
    # A pin's offset has no part along its axis; of a ball that moves in a plane one axis is none.
    plane = [i for i in range(3) if i != flat] if extent[flat] < FLAT else [0, 1, 2]
    offset = d[:, plane]
    return Orbit(
        str(result["contact"].values[k]),
        tuple("xyz"[i] for i in plane),
        offset,
        np.linalg.norm(d, axis=1),
        np.arctan2(offset[:, 1], offset[:, 0]),
        result["contact_mode"].values[:, k],
        c,
    )
