"""Wear of joints with clearance by Archard's law, and the clearance that it leaves."""

from __future__ import annotations

import warnings
from typing import NamedTuple

import numpy as np

from nsopt.arrays import Array
from nsopt.checks import check_names, positive
from nsopt.contact_modes import contacts_of_joints, count_rigid, read_clearances
from nsopt.loads import bores_of_joints
from nsopt.result import Result

PARTS = 72  # parts of the circumference, each with a depth
LITTLE = 0.1  # depth worn off, over the clearance, that leaves the motion about as it is


class Wear(NamedTuple):
    """What a run has worn off a joint.

    Attributes
    ----------
    joint : str
    volume : float [m^3]
        Of pin and bore together.
    angle : (n,) [rad]
        Middles of parts of the circumference, from x of frame a; empty of joints without a bore.
    depth : (n,) [m]
        Of pin and bore together, where the line of contact was, in the axes of frame a.
    clearance, worn : float [m]
        Clearance before the run, and after it of a round bore with the same volume worn off evenly.
    """

    joint: str
    volume: float
    angle: Array
    depth: Array
    clearance: float
    worn: float


def wear(
    result: Result,
    joint: str,
    coefficient: float,
    *,
    radius: float | None = None,
    length: float | None = None,
    runs: float = 1.0,
    parts: int = PARTS,
) -> Wear:
    """Return what a run, or many like it, has worn off a joint [Archard 1953, J. Appl. Phys. 24].

    The volume is k times the sum of normal force and way of sliding; impacts count by their
    impulse. In a bore the depth is where the line of contact was, R dphi L of it for each part.

    Parameters
    ----------
    result : Result
    joint : str
        A contact or a joint with clearance, rigid or compliant.
    coefficient : float [1/Pa]
        k: the dimensionless coefficient over the hardness, 1e-16 (mild) to 1e-12 (severe).
    radius, length : float [m], optional
        Of the bore; the length is that which each of its gaps stands for. Without these there is
        neither depth nor clearance.
    runs : float
        Number of runs like this one.
    parts : int
        Of the circumference.

    Raises
    ------
    ValueError
        If there is no such joint, a film carries it, or a number is out of range: a bore must be
        wider than its clearance.

    Warns
    -----
    UserWarning
        If some place is worn deeper than the clearance, so that the motion was not that of the run.

    Notes
    -----
    Fed back: ``simulate(..., parameters={"clearance": worn.worn})``, as long as a run wears off
    little of the clearance.
    """
    contacts = contacts_of_joints(result.data)
    check_names("no contact in joint", [joint], contacts)
    positive("wear coefficient", coefficient)
    positive("runs", runs)
    ks, h = contacts[joint], result["h"].values
    pressed = [k for k in ks if k >= count_rigid(result.data)]
    apart = result["gap"].values[:, pressed] > 0
    if np.any(apart & np.any(result["contact_force"].values[:, pressed] != 0, axis=2)):
        raise ValueError(
            f"an oil film carries joint {joint!r}: its force is on record with that of asperities, "
            "and does not wear; give a joint with dry contact"
        )
    normal = _find_normal_impulses(result)[:, ks]
    slip = np.linalg.norm(result["contact_slip"].values[:, ks], axis=2)
    mean = slip.copy()  # of each step
    mean[1:] = (slip[1:] + slip[:-1]) / 2
    # Where steps were left out, impulses are of the kept ones: forces over the time between them.
    steps = np.diff(result["time"].values, prepend=result["time"].values[0]) / h
    worn = coefficient * runs * np.nan_to_num(normal * mean * steps[:, None])  # [m^3]
    volume = float(worn.sum())
    bore = bores_of_joints(result).get(joint)
    if bore is None or radius is None or length is None:
        return Wear(joint, volume, np.zeros(0), np.zeros(0), np.nan, np.nan)
    positive("length of the bore", length)
    c = float(read_clearances(result.data)[bore[0]])
    if not c < positive("radius of the bore", radius):
        raise ValueError(
            f"radius of the bore of joint {joint!r} must be more than its clearance, {c:g} m, got "
            f"{radius:g}: the pin in it has the radius less the clearance"
        )
    edges = np.linspace(-np.pi, np.pi, parts + 1)
    offset = result["contact_offset"].values[:, bore]
    # The line of contact on the pin is opposite to the offset of the bushing.
    angle = np.arctan2(-offset[..., 1], -offset[..., 0])
    in_bore = worn[:, [ks.index(k) for k in bore]]
    removed, _ = np.histogram(angle, edges, weights=in_bore)
    depth = removed / (radius * 2 * np.pi / parts * length)
    deepest = float(depth.max())
    if deepest > c:
        warnings.warn(
            f"joint {joint!r} is worn {deepest:.2g} m deep, more than its clearance of {c:.2g} m, "
            "so that it moves otherwise than in this run long before: take "
            f"runs={runs * LITTLE * c / deepest:.1g} or less, and feed the clearance back",
            stacklevel=2,
        )
    return Wear(joint, volume, (edges[1:] + edges[:-1]) / 2, depth, c, c + float(depth.mean()))


def _find_normal_impulses(result: Result) -> Array:
    """Return the normal impulses of steps (time, contact) [N s].

    Recorded impulses of compliant contacts contain friction, which is along the slip.
    """
    impulse, k = result["impulse"].values.copy(), count_rigid(result.data)
    force, slip = (result[x].values[:, k:] for x in ("contact_force", "contact_slip"))
    sizes = np.linalg.norm(force, axis=2) * np.linalg.norm(slip, axis=2)
    along = np.einsum("kji,kji->kj", force, slip) / np.where(sizes > 0, sizes, 1)
    impulse[:, k:] *= np.sqrt(np.maximum(1 - along**2, 0))
    return impulse
