"""What one run does otherwise than another: how far bodies are off, and how far turned."""

from __future__ import annotations

import numpy as np
from matplotlib.figure import Figure
from scipy.interpolate import CubicHermiteSpline
from scipy.spatial.transform import Rotation

from nsopt.plots import style
from nsopt.plots.curves import Recorded, Vector, draw_vectors
from nsopt.plots.style import Array
from nsopt.result import Result


def deviations(*results: Result) -> Figure:
    """Draw how far bodies are off the last result, and turned from it, as angles over the axes.

    Of a joint with clearance beside its ideal twin: what the clearance changes.

    Parameters
    ----------
    *results : Result
        The last is the reference, taken between its times by cubics through poses and velocities.
    """
    style.require_steps(results, "deviations")
    if len(results) < 2:
        raise ValueError("deviations needs two results or more: the last is the reference")
    *others, reference = results
    bodies = [
        name for name in _list_bodies(reference) if all(name in _list_bodies(r) for r in others)
    ]
    if not bodies:
        raise ValueError(f"deviations: {reference.name} shares no body with the other results")
    vectors = [
        vector
        for body in bodies
        for vector in (Vector(f"{body} off", "", "m"), Vector(f"{body} turned", "φ", "rad"))
    ]
    recorded = [_compare(result, reference, bodies) for result in others]
    title = f"Deviations from {style.label(reference)}"
    return draw_vectors(title + (",\nof" if len(recorded) == 1 else ""), vectors, recorded)


def _list_bodies(result: Result) -> list[str]:
    return [str(name) for name in result["body"].values]


def _compare(result: Result, reference: Result, bodies: list[str]) -> Recorded:
    """Return positions less those of the reference, and turns from it, in world axes."""
    t, known = result["time"].values, reference["time"].values
    shared = (t >= known[0]) & (t <= known[-1])
    if np.count_nonzero(shared) < 2:
        raise ValueError(f"deviations: {result.name} and {reference.name} share no time")
    parts = []
    for body in bodies:
        r, turn = (x[shared] for x in _read_poses(result, body))
        r0, turn0 = _interpolate_pose(reference, body, t[shared])
        parts += [r - r0, (Rotation.from_matrix(turn) * turn0.inv()).as_rotvec()]
    return Recorded(style.label(result), t[shared], np.stack(parts, axis=1))


def _read_poses(result: Result, body: str) -> tuple[Array, Array]:
    """Return positions (time, 3) [m] and rotation matrices (time, 3, 3) of a body."""
    k = _list_bodies(result).index(body)
    e = result["body_quaternion"].values[:, k]
    return result["body_position"].values[:, k], Rotation.from_quat(
        np.roll(e, -1, axis=1)
    ).as_matrix()


def _interpolate_pose(result: Result, body: str, times: Array) -> tuple[Array, Rotation]:
    """Return position and orientation of a body at times in between."""
    known, k = result["time"].values, _list_bodies(result).index(body)
    r, A = _read_poses(result, body)
    v, w = (result[f"body_{x}"].values[:, k] for x in ("velocity", "angular_velocity"))
    columns = CubicHermiteSpline(known, A, np.cross(w[:, None], A, axisb=1, axisc=1))(times)
    return CubicHermiteSpline(known, r, v)(times), Rotation.from_matrix(columns)
