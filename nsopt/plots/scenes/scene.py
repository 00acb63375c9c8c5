"""The bodies of a result as lines in the world, and the views from which they are drawn."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from nsopt.algebra import rotate
from nsopt.arrays import Array
from nsopt.checks import check_names
from nsopt.loads import read_frames
from nsopt.plots.style import read_stored
from nsopt.result import Result

AXES = "xyz"
UPRIGHT = 2.0
"""Weight of the extent along the vertical where a view is chosen; that of others is one."""

FAR = 6.0
"""Travel over the size of a mechanism, above which it is too small in a picture of its path: of
seven inches it then has one."""


class Poses(NamedTuple):
    """The poses of all bodies at some times."""

    time: Array  # (n,) [s]
    position: Array  # (n, body, 3) [m]
    quaternion: Array  # (n, body, 4) Euler parameters, body to world


class Scene:
    """The geometry of a mechanism, as its result states it.

    Its outline gives the lines, the frames of its joints the ends of the sticks.

    Attributes
    ----------
    ground, obstacles : list of (n, 3) [m]
        Polylines in world axes, of elements and of what an optimum keeps clear of.
    outlines, sticks : list, for each body, of (n, 3) [m]
        Polylines in body axes: joints and the body's own outline; where it has none, sticks from
        its centre of mass to each joint.
    shaped : set of int
        The bodies with an outline of their own.
    pins : list of (3,) [m]
        Where joints are on the ground.
    poses : Poses
        At the recorded times; Euler parameters change sign nowhere.
    """

    def __init__(self, result: Result):
        self.bodies = tuple(str(name) for name in result["body"].values)
        outline = read_stored(result, "outline")
        self.shaped = {int(line["body"]) for line in outline if line.get("shape")}
        self.ground, self.obstacles = list[Array](), list[Array]()
        self.outlines = [list[Array]() for _ in self.bodies]
        for line in outline:
            still = self.obstacles if line.get("obstacle") else self.ground
            lines = still if line["body"] < 0 else self.outlines[line["body"]]
            lines.append(np.asarray(line["points"], dtype=float))
        anchors = [
            (int(frame["body"]), np.asarray(frame["origin"], dtype=float))
            for frame in read_frames(result)
        ]
        self.pins = [point for body, point in anchors if body < 0]
        self.sticks = [
            [np.array([np.zeros(3), p]) for body, p in anchors if body == b not in self.shaped]
            for b in range(len(self.bodies))
        ]
        self.poses = Poses(
            result["time"].values,
            result["body_position"].values,
            _make_continuous(result["body_quaternion"].values),
        )
        self.gravity = np.asarray(result.data.attrs["gravity"], dtype=float)

    def at(self, times: ArrayLike) -> Poses:
        """Return the poses at times (n,) [s]: positions and Euler parameters interpolated linearly.

        Times before the start or after the end get the first or last pose.
        """
        times = np.atleast_1d(np.asarray(times, dtype=float))
        e = _interpolate(times, self.poses.time, self.poses.quaternion)
        e /= np.linalg.norm(e, axis=-1, keepdims=True)
        return Poses(times, _interpolate(times, self.poses.time, self.poses.position), e)

    def place(self, lines: Sequence[Sequence[Array]], poses: Poses, k: int) -> list[list[Array]]:
        """Return lines of each body, in body axes, as they are in the world at the k-th time."""
        r, e = poses.position[k], poses.quaternion[k]
        return [[r[b] + rotate(e[b], line) for line in own] for b, own in enumerate(lines)]

    def find_swept_points(self) -> Array:
        """Return points that bound the space the bodies pass through, (n, 3) [m]."""
        count = min(200, len(self.poses.time))
        chosen = np.unique(np.linspace(0, len(self.poses.time) - 1, count).astype(int))
        return np.concatenate([self.list_points(k) for k in chosen])

    def list_points(self, k: int) -> Array:
        """Return all points of the bodies at the k-th time on record, (n, 3) [m]."""
        parts = [
            line
            for lines in (self.outlines, self.sticks)
            for own in self.place(lines, self.poses, k)
            for line in own
        ]
        return np.concatenate([self.poses.position[k], *parts])

    def corners(self, view: View) -> tuple[Array, Array]:
        """Return the corners of a picture of all that is swept, and of the ground close to it [m].

        Anchors of joints on the ground that are farther away than half of that do not count.
        """
        swept = view(self.find_swept_points())
        low, high = swept.min(axis=0), swept.max(axis=0)
        room = 0.5 * (high - low).max()
        still = (*self.ground, *self.obstacles)
        ground = [np.clip(view(line), low - room, high + room) for line in still]
        pins = view(np.reshape(self.pins, (-1, 3)))
        close = np.all((pins >= low - room) & (pins <= high + room), axis=1)
        points = np.concatenate([swept, *ground, pins[close]])
        return points.min(axis=0), points.max(axis=0)

    def size(self) -> float:
        """Return the diagonal of the box around all bodies at the start [m]."""
        return float(np.linalg.norm(np.ptp(self.list_points(0), axis=0)))

    def travel(self) -> Array:
        """Return the extent of the path of the bodies' mean along each world axis, (3,) [m]."""
        return np.asarray(np.ptp(self.poses.position.mean(axis=1), axis=0))

    def outward(self) -> float:
        """Return the first time when the bodies' mean is about farthest from its start [s]."""
        mean = self.poses.position.mean(axis=1)
        distance = np.linalg.norm(mean - mean[0], axis=1)
        return float(self.poses.time[np.argmax(distance >= 0.99 * distance.max())])

    def guides(self) -> list[Array]:
        """Return lines of the ground along the travel, made as long as all of it."""
        away = int(np.argmax(self.travel()))
        middle = self.poses.position.mean(axis=1)[:, away]
        ends = middle.min() - self.size(), middle.max() + self.size()
        guides = []
        for line in self.ground:
            along = np.abs(line[-1] - line[0])
            if len(line) == 2 and along[away] > 0.999 * np.linalg.norm(along):
                longer = line.copy()
                longer[:, away] = ends
                guides.append(longer)
        return guides

    def travels_far(self) -> bool:
        """Whether the mechanism is too small to be seen in a picture of its whole path."""
        return float(self.travel().max()) > FAR * self.size() > 0


class View(NamedTuple):
    """Two directions of the picture in world axes, (2, 3), and their names."""

    matrix: Array
    across: str
    up: str

    def __call__(self, points: Array) -> Array:
        """Return the picture's coordinates of world points, (..., 2) [m]."""
        return np.asarray(points @ self.matrix.T)


def path_of_point(result: Result, body: int, origin: Array) -> Array:
    """Return the positions (time, 3) [m] of a point in the axes of a body, -1 the ground."""
    if body < 0:
        return np.tile(origin, (result.data.sizes["time"], 1))
    r, e = result["body_position"].values[:, body], result["body_quaternion"].values[:, body]
    return np.asarray(r + rotate(e, origin))


def view_of(scene: Scene, name: str | None = None) -> View:
    """Return one of `VIEWS` by name, by default of the plane in which the bodies extend most.

    It contains the vertical, unless that is less than half of what it would replace. An unknown
    name is a ValueError that lists the names.
    """
    if name is None:
        return _make_plane_view(*_find_widest_plane(scene), scene.gravity)
    check_names("unknown view", [name], VIEWS)
    return VIEWS[name](scene.gravity)


def _find_widest_plane(scene: Scene) -> tuple[int, int]:
    # Where extents are equal, x counts before y before z.
    extent = np.ptp(scene.find_swept_points(), axis=0) + 1e-12 * np.array([3, 2, 1])
    if weight := np.linalg.norm(scene.gravity):
        # What weighs is seen from aside, what sweeps over a level and hardly rises from above.
        extent *= 1 + (UPRIGHT - 1) * np.abs(scene.gravity) / weight
    a, b = np.sort(np.argsort(extent)[-2:])
    return int(a), int(b)


def _make_plane_view(a: int, b: int, gravity: Array) -> View:
    """Return the view of a plane of world axes; the one more along gravity is up."""
    across, up = (b, a) if abs(gravity[a]) > abs(gravity[b]) else (a, b)
    return View(np.eye(3)[[across, up]], AXES[across], AXES[up])


def _make_oblique_view(gravity: Array) -> View:
    """Return a view from above and aside, with gravity down."""
    up = -gravity / np.linalg.norm(gravity) if np.any(gravity) else np.array([0.0, 0.0, 1.0])
    first = np.cross(np.eye(3)[int(np.argmin(np.abs(up)))], up)
    side = np.cross(up, first / np.linalg.norm(first))
    near = first / np.linalg.norm(first)
    azimuth, height = np.deg2rad(35.0), np.deg2rad(22.0)
    toward = np.cos(azimuth) * near + np.sin(azimuth) * side
    across = np.cross(up, toward)
    tilted = np.cos(height) * up - np.sin(height) * toward
    return View(np.array([across, tilted]), "", "")


VIEWS: dict[str, Callable[[Array], View]] = {
    "xy": lambda gravity: _make_plane_view(0, 1, gravity),
    "xz": lambda gravity: _make_plane_view(0, 2, gravity),
    "yz": lambda gravity: _make_plane_view(1, 2, gravity),
    "oblique": _make_oblique_view,
}


def _make_continuous(e: Array) -> Array:
    """Return Euler parameters (n, body, 4) with signs that make neighbours close."""
    flips = np.where(np.sum(e[1:] * e[:-1], axis=-1) < 0, -1.0, 1.0)
    signs = np.concatenate([np.ones((1, e.shape[1])), np.cumprod(flips, axis=0)])
    return np.asarray(e * signs[:, :, None])


def _interpolate(times: Array, known: Array, values: Array) -> Array:
    flat = values.reshape(len(known), -1)
    columns = [np.interp(times, known, column) for column in flat.T]
    return np.stack(columns, axis=-1).reshape(len(times), *values.shape[1:])
