"""A result as one HTML file that a browser shows in space and plays: no server, no network."""

from __future__ import annotations

import html
import math
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from matplotlib.colors import to_rgb

from nsopt.plots import style
from nsopt.plots.robot import tracked
from nsopt.plots.scene import Poses, Scene, rotate, view_of
from nsopt.plots.style import Array
from nsopt.result import Result, check_writable

if TYPE_CHECKING:
    import viser

MOST_FRAMES = 300
SHORTEST, LONGEST = 2.0, 30.0
"""How long a film may last without a speed of its own [s]."""
NAMED_BODIES = 8
FIELD = math.radians(35.0)  # field of view of the camera, vertical
BLACK, GREY = (0, 0, 0), (95, 95, 95)

# The page may run what it holds and fetch nothing: no address is allowed.
POLICY = (
    "default-src 'none'; script-src 'unsafe-inline' 'unsafe-eval' blob: data:; "
    "style-src 'unsafe-inline'; img-src data: blob:; font-src data:; connect-src data: blob:; "
    "worker-src blob: data:; base-uri 'none'; form-action 'none'"
)
CAPTION = (
    "position:fixed;top:.8em;right:1em;z-index:1;pointer-events:none;"
    "font:13px/1.5 sans-serif;color:#333"
)


class Playback(NamedTuple):
    """When pictures are taken, and how fast they are shown."""

    times: Array  # (n,) [s]
    speed: float  # seconds of the motion in a second of the film


def save_view(result: Result, path: str | Path, speed: float | None = None) -> Path:
    """Save the motion of a result as a page to be opened in any browser, from disk.

    Bodies are lines from their centres of mass to their joints, joints small spheres; the points of
    `Tracker` are followed by their path. The page has a slider of time, turns and zooms by mouse,
    and fetches nothing. It is made by viser [Yi et al., viser, Apache-2.0], whose player it holds:
    some 0.9 MB and what the motion takes, with at most 300 frames.

    Parameters
    ----------
    result : Result
    path : str or Path
        Ending in .html.
    speed : float, optional
        2 plays twice as fast as it happened. By default 1, but less where the motion takes under 2
        s and more where it takes over 30 s. The slider counts seconds of the film; the time of the
        motion is written above the mechanism.

    Returns
    -------
    Path

    Raises
    ------
    ImportError
        Without viser: ``pip install nsopt[viz]``.
    ValueError
        For another ending, ``speed`` that is not positive, or a result that has no step.
    OSError
        Naming the path, if it cannot be written.
    """
    style.require((result,), "view")
    path = Path(path)
    if path.suffix.lower() not in (".html", ".htm"):
        raise ValueError(f"cannot save a view as {path.name!r}: end it with .html")
    if speed is not None and not (math.isfinite(speed) and speed > 0):
        raise ValueError(f"speed must be a positive number, got {speed}")
    _viser()
    path = check_writable(path)
    partial = path.with_name(path.name + ".partial")
    try:
        partial.write_text(page(result, speed), encoding="utf-8")
        partial.replace(path)
    finally:
        partial.unlink(missing_ok=True)
    return path


def page(result: Result, speed: float | None = None) -> str:
    """Return the page of `save_view` as text."""
    scene, playback = Scene(result), playback_of(result, speed)
    with _quiet_server() as server:
        stage = Stage(server, result, scene, playback)
        recorded = server.get_scene_serializer()
        for k, wait in enumerate(np.diff(playback.times) / playback.speed):
            recorded.insert_sleep(float(wait))
            stage.show(k + 1)
        # The last picture stays for a moment before the film begins anew.
        recorded.insert_sleep(0.5)
        player = recorded.as_html()
    policy = f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">'
    player = player.replace("<head>", f"<head>{policy}", 1)
    player = player.replace("<title>Viser</title>", f"<title>{html.escape(result.name)}</title>", 1)
    begin, body, end = player.rpartition("<body>")
    return begin + body + _caption(result, scene, playback) + end


def playback_of(result: Result, speed: float | None = None) -> Playback:
    """Return the recorded times, or 300 even ones if there are more, and the speed."""
    times = result["time"].values
    length = float(times[-1] - times[0])
    if len(times) > MOST_FRAMES:
        times = np.linspace(times[0], times[-1], MOST_FRAMES)
    if speed is None:
        speed = length / min(max(length, SHORTEST), LONGEST)
        speed = 1.0 if speed == 1 else float(f"{speed:.1g}")
    return Playback(times, speed)


def _viser() -> Any:
    try:
        import viser
    except ImportError as error:
        raise ImportError(
            f"a view in the browser needs viser, which is not there ({error}): "
            "pip install nsopt[viz]"
        ) from error
    return viser


@contextmanager
def _quiet_server() -> Iterator[viser.ViserServer]:
    """Yield a server that nobody calls; viser records scenes only with one."""
    module = _viser()
    import rich

    console = rich.get_console()
    was, console.quiet = console.quiet, True
    server = None
    try:
        server = module.ViserServer(host="127.0.0.1", port=0, verbose=False)
        yield server
    finally:
        if server is not None:
            server.stop()
        console.quiet = was


class Stage:
    """The nodes of a scene in the browser, and how they move.

    Parameters
    ----------
    server : viser.ViserServer
    result : Result
    scene : Scene
    playback : Playback
    """

    def __init__(
        self, server: viser.ViserServer, result: Result, scene: Scene, playback: Playback
    ) -> None:
        self.nodes, self.scene, self.playback = server.scene, scene, playback
        self.poses = scene.at(playback.times)
        self.far = scene.travels_far()
        # What goes far stays in the picture, and the ground moves instead.
        middle = self.poses.position.mean(axis=1)
        self.shift = (middle[0] - middle) * self.far
        self.size = scene.size() or float(np.linalg.norm(np.ptp(scene.swept(), axis=0))) or 1.0
        lengths = [np.ptp(stick, axis=0) for own in scene.sticks for stick in own]
        typical = float(np.median(np.linalg.norm(lengths, axis=1))) if lengths else 0.0
        # Of a long chain of short links the size of the whole would make lumps.
        self.radius = min(0.011 * self.size, 0.09 * typical or np.inf)
        self.up = _up(scene.gravity)
        self.nodes.set_up_direction(self.up)
        self.nodes.world_axes.visible = False
        self.world = self.nodes.add_frame("/world", show_axes=False)
        self._ground()
        self.bodies = [self._body(b) for b in range(len(scene.bodies))]
        self.points = self._points(result)
        self.clock = self._camera(server)
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
        self.clock.text = self._time(k)

    def _time(self, k: int) -> str:
        times = self.playback.times
        digits = max(2, -math.floor(math.log10(float(np.min(np.diff(times))))))
        return f"t = {times[k]:.{min(digits, 6)}f} s"

    def _lines(self, name: str, lines: Sequence[Array], colour: Any, width: float) -> None:
        pieces = [np.stack([line[:-1], line[1:]], axis=1) for line in lines if len(line) > 1]
        if pieces:
            self.nodes.add_line_segments(
                name, np.concatenate(pieces), colour, thickness=width, thickness_units="screen"
            )

    def _sphere(self, name: str, place: Array, colour: Any, radius: float) -> Any:
        return self.nodes.add_icosphere(
            name, radius * self.radius, colour, subdivisions=2, position=place, cast_shadow=False
        )

    def _ground(self) -> None:
        scene = self.scene
        self._lines("/world/ground/lines", scene.ground, BLACK, 2.0)
        self._lines("/world/ground/guides", scene.guides() if self.far else [], (185,) * 3, 1.5)
        for k, pin in enumerate(scene.pins):
            self._sphere(f"/world/ground/joint {k}", pin, BLACK, 1.0)
        swept = scene.swept()
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

    def _body(self, b: int) -> Any:
        scene, name = self.scene, f"/world/bodies/{_node(self.scene.bodies[b])}"
        frame = self.nodes.add_frame(name, show_axes=False)
        colour = _colour(b)
        self._lines(f"{name}/outline", scene.outlines[b], colour, 2.0)
        self._lines(f"{name}/stick", scene.sticks[b], colour, 5.0)
        self._sphere(f"{name}/centre of mass", np.zeros(3), colour, 1.4)
        for k, stick in enumerate(scene.sticks[b]):
            self._sphere(f"{name}/joint {k}", stick[-1], GREY, 1.0)
        return frame

    def _points(self, result: Result) -> list[tuple[Any, Array]]:
        """Add the points followed, each with its name and its whole path."""
        found = []
        known, times = result["time"].values, self.playback.times
        for k, (name, recorded) in enumerate(tracked(result).items()):
            path = np.column_stack([np.interp(times, known, column) for column in recorded.T])
            colour, node = _colour(k + 3), f"/world/points/{_node(name)}"
            self._lines(f"{node} path", [path], colour, 1.5)
            sphere = self._sphere(node, path[0], colour, 1.2)
            self.nodes.add_label(f"{node}/name", f" {name}", anchor="center-left")
            found.append((sphere, path))
        return found

    def _camera(self, server: viser.ViserServer) -> Any:
        """Look at all that is swept, nearly as pictures do; return the node of the clock."""
        view, camera = view_of(self.scene), server.initial_camera
        swept = self._seen()
        middle = (swept.min(axis=0) + swept.max(axis=0)) / 2
        across, up = view.matrix
        toward = np.cross(across, up)
        half = np.abs((swept - middle) @ np.array([across, up, toward]).T).max(axis=0)
        room = max(half[1], half[0] / 1.5, 0.1 * self.size)
        distance = 1.35 * room / math.tan(FIELD / 2) + half[2]
        sight = toward + 0.30 * across + 0.28 * self.up
        camera.position = middle + distance * sight / np.linalg.norm(sight)
        camera.look_at = middle
        camera.up = self.up
        camera.fov = FIELD
        camera.near, camera.far = distance / 200, 200 * distance
        place = middle + 1.2 * max(half[1], 0.3 * room) * self.up
        return self.nodes.add_label(
            "/time", self._time(0), position=place, anchor="bottom-center", font_screen_scale=1.2
        )

    def _seen(self) -> Array:
        if not self.far:
            return self.scene.swept()
        return _all_points(self.scene, self.scene.poses)


def _all_points(scene: Scene, poses: Poses) -> Array:
    """Return all points of the bodies at the first of some times, (n, 3) [m]."""
    r, e = poses.position[0], poses.quaternion[0]
    parts = [
        r[b] + rotate(e[b], line)
        for lines in (scene.outlines, scene.sticks)
        for b, own in enumerate(lines)
        for line in own
    ]
    return np.concatenate([r, *parts])


def _caption(result: Result, scene: Scene, playback: Playback) -> str:
    """Return the words in a corner of the page: the run, and which colour is which body."""
    words = [f"<b>{html.escape(style.label(result))}</b>", *_pace(playback.speed)]
    if len(scene.bodies) <= NAMED_BODIES:
        words += [
            f'<span style="color:{style.look(b).color}">&#9632;</span> {html.escape(name)}'
            for b, name in enumerate(scene.bodies)
        ]
    else:
        words.append(f"{len(scene.bodies)} bodies: their names are in the tree, below right")
    return f'<div style="{CAPTION}">{"<br>".join(words)}</div>'


def _pace(speed: float) -> list[str]:
    if speed == 1:
        return []
    return [f"played {speed:.3g} times faster" if speed > 1 else f"slowed {1 / speed:.3g} times"]


def _colour(k: int) -> tuple[int, int, int]:
    r, g, b = (round(255 * part) for part in to_rgb(style.look(k).color))
    return r, g, b


def _node(name: str) -> str:
    """Return a name without what would make it a path of nodes."""
    return name.replace("/", "∕")


def _up(gravity: Array) -> Array:
    size = float(np.linalg.norm(gravity))
    return -gravity / size if size else np.array([0.0, 0.0, 1.0])


def _turn_z_to(up: Array) -> Array:
    """Return Euler parameters of the shortest turn of z to a unit vector."""
    if up[2] < -1 + 1e-12:
        return np.array([0.0, 1.0, 0.0, 0.0])
    e = np.array([1 + up[2], -up[1], up[0], 0.0])
    return e / np.linalg.norm(e)


def _round_length(length: float) -> float:
    """Return the largest of 1, 2 and 5 times a power of ten that is not above a length."""
    power = 10.0 ** math.floor(math.log10(length))
    return power * max(m for m in (1, 2, 5) if m * power <= length * (1 + 1e-9))
