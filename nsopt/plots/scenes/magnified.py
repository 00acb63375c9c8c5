"""Clearances drawn larger than they are, where their joints are."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from nsopt.algebra import axes_from_z, rotate
from nsopt.arrays import Array
from nsopt.contact_modes import read_clearances
from nsopt.elements import SphericalClearance
from nsopt.loads import bores_of_joints, read_frames
from nsopt.plots.scenes.scene import Poses
from nsopt.result import Result

TURN = np.linspace(0.0, 2 * np.pi, 49)


class Anchor(NamedTuple):
    """The origin of a frame on a body, -1 the ground."""

    body: int
    origin: Array  # (3,) [m] in body axes

    def at(self, poses: Poses) -> Array:
        """Return where it is, (n, 3) [m]."""
        if self.body < 0:
            return np.tile(self.origin, (len(poses.time), 1))
        r, e = poses.position[:, self.body], poses.quaternion[:, self.body]
        return np.asarray(r + rotate(e, np.tile(self.origin, (len(e), 1))))


class MagnifiedClearance(NamedTuple):
    """A joint with a bore, and how many times larger its clearance is drawn."""

    a: Anchor  # the origins of its frames
    b: Anchor
    z: Array  # (3,) the axis of the bore in the axes of the body of frame a
    clearance: float  # [m]
    factor: float

    @property
    def radius(self) -> float:
        """The radius of the circle that is drawn [m]."""
        return self.factor * self.clearance

    def circle(self, poses: Poses) -> Array:
        """Return the circle about frame a at the first of some times, (n, 3) [m]."""
        across = axes_from_z(self._find_axis(poses)[0])[:, :2]
        around = np.column_stack([np.cos(TURN), np.sin(TURN)]) @ across.T
        return np.asarray(self.a.at(poses)[0] + self.radius * around)

    def offset(self, poses: Poses) -> Array:
        """Return how far frame b is off the axis, magnified, (n, 3) [m] in world axes."""
        d, z = self.b.at(poses) - self.a.at(poses), self._find_axis(poses)
        return np.asarray(self.factor * (d - np.sum(d * z, axis=1)[:, None] * z))

    def _find_axis(self, poses: Poses) -> Array:
        axis = Anchor(self.a.body, np.zeros(3)).at(poses), Anchor(self.a.body, self.z).at(poses)
        return axis[1] - axis[0]


def magnify_clearances(result: Result, factor: float) -> list[MagnifiedClearance]:
    """Return the magnified clearance of each joint with a bore; ValueError without any."""
    frames: dict[str, list[dict[str, Any]]] = {}
    for frame in read_frames(result):
        frames.setdefault(frame["element"], []).append(frame)
    found = []
    for joint, contacts in bores_of_joints(result).items():
        a, b = frames[joint]
        if a["kind"] == SphericalClearance.__name__:
            continue  # its clearance is no circle about an axis
        z, c = np.asarray(a["z"], dtype=float), float(read_clearances(result.data)[contacts[0]])
        found.append(MagnifiedClearance(_make_anchor(a), _make_anchor(b), z, c, factor))
    if not found:
        raise ValueError(
            f"no clearance to magnify: {result.name} has no joint with a bore about an axis"
        )
    return found


def _make_anchor(frame: dict[str, Any]) -> Anchor:
    return Anchor(int(frame["body"]), np.asarray(frame["origin"], dtype=float))
