"""A scene in the browser: its nodes, its camera, and how they move."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from matplotlib.colors import to_rgb

from nsopt.algebra import rotate
from nsopt.arrays import Array
from nsopt.plots import style
from nsopt.plots.figures.robot import read_followed_paths
from nsopt.plots.scenes.scene import Scene, view_of
from nsopt.result import Result

if TYPE_CHECKING:
    import viser

FIELD = math.radians(35.0)  # field of view of the camera, vertical
BLACK, GREY = (0, 0, 0), (95, 95, 95)


class Playback(NamedTuple):
    """The times of the pictures, and the speed of the film."""

    times: Array  # (n,) [s]
    speed: float  # seconds of the motion in a second of the film


class BrowserScene:
    """The nodes of a scene in the browser, and how they move."""

    def __init__(
        self, server: viser.ViserServer, result: Result, scene: Scene, playback: Playback
    ) -> None:
        self.nodes, self.scene, self.playback = server.scene, scene, playback
        self.poses = scene.at(playback.times)
        self.far = scene.travels_far()
        # A mechanism that goes far stays in the picture, and the ground moves instead.
        middle = self.poses.position.mean(axis=1)
        self.shift = (middle[0] - middle) * self.far
        self.size = (
            scene.size() or float(np.linalg.norm(np.ptp(scene.find_swept_points(), axis=0))) or 1.0
        )
        self.radius = _choose_radius(scene, self.size)
        weight = float(np.linalg.norm(scene.gravity))
        self.up = -scene.gravity / weight if weight else np.array([0.0, 0.0, 1.0])
        self.nodes.set_up_direction(self.up)
        self.nodes.world_axes.visible = False
        self.world = self.nodes.add_frame("/world", show_axes=False)
        self._add_ground()
        self.bodies = [self._add_body(b) for b in range(len(scene.bodies))]
        self.points = [
            self._add_point(k, *point) for k, point in enumerate(self._find_tracks(result))
        ]
        self.clock = self._set_camera(server)
        self.show(0)

    def show(self, k: int) -> None:
        """Move everything to where it is in the k-th picture."""
        if self.far:
            self.world.position = self.shift[k]
        for b, body in enumerate(self.bodies):
            body.position = self.poses.position[k, b]
            body.wxyz = self.poses.quaternion[k, b]
        for node, path in self.points:
            node.position = path[k]
        self.clock.text = self._write_time(k)

    def _write_time(self, k: int) -> str:
        times = self.playback.times
        gap = max(float(np.median(np.diff(times))), 1e-6)
        return f"t = {times[k]:.{max(2, -math.floor(math.log10(gap)))}f} s"

    def _add_lines(self, name: str, lines: Sequence[Array], colour: Any, width: float) -> None:
        pieces = [np.stack([line[:-1], line[1:]], axis=1) for line in lines if len(line) > 1]
        if pieces:
            self.nodes.add_line_segments(
                name, np.concatenate(pieces), colour, thickness=width, thickness_units="screen"
            )

    def _add_sphere(self, name: str, position: Array, colour: Any, radius: float) -> Any:
        return self.nodes.add_icosphere(
            name, radius * self.radius, colour, subdivisions=2, position=position, cast_shadow=False
        )

    def _add_ground(self) -> None:
        scene = self.scene
        self._add_lines("/world/ground/lines", scene.ground, BLACK, 2.0)
        self._add_lines("/world/ground/obstacles", scene.obstacles, GREY, 1.0)
        self._add_lines("/world/ground/guides", scene.guides() if self.far else [], (185,) * 3, 1.5)
        for k, pin in enumerate(scene.pins):
            self._add_sphere(f"/world/ground/joint {k}", pin, BLACK, 1.0)
        swept = scene.find_swept_points()
        low = swept[np.argmin(swept @ self.up)] @ self.up
        middle = scene.poses.position[0].mean(axis=0)
        cell = _round_length(0.15 * self.size)
        self.nodes.add_grid(
            "/world/grid",
            infinite_grid=True,
            cell_size=cell,
            section_size=5 * cell,
            cell_color=(225, 225, 225),
            section_color=(205, 205, 205),
            fade_distance=12 * self.size,
            shadow_opacity=0.0,
            wxyz=_turn_z_to(self.up),
            position=middle + (low - middle @ self.up - 1e-3 * self.size) * self.up,
        )

    def _add_body(self, b: int) -> Any:
        scene, name = self.scene, f"/world/bodies/{_name_node(self.scene.bodies[b])}"
        frame = self.nodes.add_frame(name, show_axes=False)
        colour = _choose_colour(b)
        self._add_lines(f"{name}/outline", scene.outlines[b], colour, 2.0)
        self._add_lines(f"{name}/stick", scene.sticks[b], colour, 5.0)
        self._add_sphere(f"{name}/centre of mass", np.zeros(3), colour, 1.4)
        for k, stick in enumerate(scene.sticks[b]):
            self._add_sphere(f"{name}/joint {k}", stick[-1], GREY, 1.0)
        return frame

    def _find_tracks(self, result: Result) -> list[tuple[str, Array]]:
        """Return the points followed, each with its path in the pictures, (n, 3) [m]."""
        known, times = result["time"].values, self.playback.times
        return [
            (name, np.column_stack([np.interp(times, known, column) for column in path.T]))
            for name, path in read_followed_paths(result).items()
        ]

    def _add_point(self, k: int, name: str, path: Array) -> tuple[Any, Array]:
        """Add a point with its name, its whole path and a stick of its body to it."""
        colour, node = _choose_colour(k + 3), f"/world/points/{_name_node(name)}"
        self._add_lines(f"{node} path", [path], colour, 1.5)
        sphere = self._add_sphere(node, path[0], colour, 1.2)
        self.nodes.add_label(f"{node}/name", f" {name}", anchor="center-left")
        for b, mark in _find_mark(self.scene, path[0]):
            stick = f"/world/bodies/{_name_node(self.scene.bodies[b])}/to {_name_node(name)}"
            self._add_lines(stick, [np.array([np.zeros(3), mark])], _choose_colour(b), 5.0)
        return sphere, path

    def _set_camera(self, server: viser.ViserServer) -> Any:
        """Look at all that is swept, nearly as pictures do; return the node of the clock."""
        camera, up = server.initial_camera, self.up
        swept = self.scene.list_points(0) if self.far else self.scene.find_swept_points()
        middle = (swept.min(axis=0) + swept.max(axis=0)) / 2
        view = view_of(self.scene).matrix
        toward = np.cross(*view)
        level = abs(toward @ up) > 0.7
        if level:  # a motion in a level plane is seen from aside and higher above
            toward = np.cross(view[0], up)
        toward = toward - (toward @ up) * up
        toward /= np.linalg.norm(toward)
        across = np.cross(up, toward)
        half = np.abs((swept - middle) @ np.array([across, up, toward]).T).max(axis=0)
        tall = half[1] + 0.6 * half[2] * level
        room = max(tall, half[0] / 1.5, 0.1 * self.size)
        distance = 1.35 * room / math.tan(FIELD / 2) + half[2]
        sight = toward + 0.30 * across + (0.65 if level else 0.28) * up
        camera.position = middle + distance * sight / np.linalg.norm(sight)
        camera.look_at = middle
        camera.up = up
        camera.fov = FIELD
        camera.near, camera.far = distance / 200, 200 * distance
        position = middle + 1.2 * max(tall, 0.3 * room) * up
        look: dict[str, Any] = {"anchor": "bottom-center", "font_screen_scale": 1.2}
        return self.nodes.add_label("/time", self._write_time(0), position=position, **look)


def _choose_radius(scene: Scene, size: float) -> float:
    """Return the radius of a joint's sphere; the size of a chain of short links makes lumps [m]."""
    lengths = [float(np.linalg.norm(stick[-1])) for own in scene.sticks for stick in own]
    typical = float(np.median([x for x in lengths if x > 0.005 * size] or [size]))
    return min(max(0.12 * typical, 0.004 * size), 0.011 * size)


def _find_mark(scene: Scene, point: Array) -> list[tuple[int, Array]]:
    """Return the body whose outline has a cross at a point of the first picture, and where there.

    A result says where a point is, but not whose it is.
    """
    r, e = scene.poses.position[0], scene.poses.quaternion[0]
    for b, lines in enumerate(scene.outlines):
        for middle in (line.mean(axis=0) for line in lines if len(line) == 2):
            if np.linalg.norm(r[b] + rotate(e[b], middle[None])[0] - point) < 1e-7:
                return [(b, middle)]
    return []


def _choose_colour(k: int) -> tuple[int, int, int]:
    r, g, b = (round(255 * part) for part in to_rgb(style.look(k).color))
    return r, g, b


def _name_node(name: str) -> str:
    """Return a name without the characters that make it a path of nodes."""
    return name.replace("/", "∕")


def _turn_z_to(up: Array) -> Array:
    """Return Euler parameters of the shortest turn of z to a unit vector."""
    if up[2] < -1 + 1e-12:
        return np.array([0.0, 1.0, 0.0, 0.0])
    e: Array = np.array([1 + up[2], -up[1], up[0], 0.0]) / math.sqrt(2 * (1 + up[2]))
    return e


def _round_length(length: float) -> float:
    """Return the largest of 1, 2 and 5 times a power of ten that is not above a length."""
    power = 10.0 ** math.floor(math.log10(length))
    return power * max(m for m in (1, 2, 5) if m * power <= length * (1 + 1e-9))
