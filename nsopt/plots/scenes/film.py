"""A mechanism drawn at one time after the other, the pictures of a film."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.collections import LineCollection
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from numpy.typing import NDArray

from nsopt.algebra import axes_from_z, rotate
from nsopt.arrays import Array
from nsopt.contact_modes import read_clearances
from nsopt.elements import SphericalClearance
from nsopt.loads import bores_of_joints, read_frames
from nsopt.plots import style
from nsopt.plots.scenes.scene import AXES, Poses, Scene, view_of
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


Pixels = NDArray[np.uint8]
DPI = 100
LONG, SHORT = 7.2, 3.4
"""Longer side of the picture of the mechanism, and the least shorter one [inches]."""
MARGIN = 0.06  # margin about what is drawn, over its extent


class Film:
    """The figure of an animation, drawn anew for each time.

    Parameters
    ----------
    magnify : float, optional
        Clearances as many times larger: of each bore a circle about the origin of frame a, and the
        way of the origin of frame b within it.

    Raises
    ------
    ValueError
        For an unknown view, or if there is no clearance to magnify.
    """

    def __init__(self, result: Result, view: str | None = None, magnify: float | None = None):
        self.scene = Scene(result)
        self.magnified = [] if magnify is None else magnify_clearances(result, magnify)
        self.ways = [clearance.offset(self.scene.poses) for clearance in self.magnified]
        self.view = view_of(self.scene, view)
        self.name = result.name
        self.far = self.scene.travels_far()
        low, high = self._find_window()
        self.half = (high - low) / 2
        self.figure, self.ax, strip = self._make_figure()
        self.ax.set(xlim=(low[0], high[0]), ylim=(low[1], high[1]))
        self._draw_background()
        self.outlines = [self._add_lines(b, 1.0) for b in range(len(self.scene.bodies))]
        self.sticks = [self._add_lines(b, 2.6) for b in range(len(self.scene.bodies))]
        looks = [style.look(b).color for b in range(len(self.scene.bodies))]
        self.traces = [self.ax.plot([], [], color=c, linewidth=0.8, alpha=0.55)[0] for c in looks]
        self.masses = [self.ax.plot([], [], "o", color=c, markersize=6, zorder=6)[0] for c in looks]
        self.circles = [self.ax.plot([], [], color="black", lw=0.8)[0] for _ in self.magnified]
        self.orbits = [self.ax.plot([], [], color="#666666", lw=0.6)[0] for _ in self.magnified]
        self.pins = [self.ax.plot([], [], "ok", markersize=4, zorder=8)[0] for _ in self.magnified]
        self.mark = self._draw_strip(strip) if strip is not None else None
        # A long title takes a second line, for which there is to be room from the start.
        self.end = "\n" if self.magnified else "   "
        look: dict[str, Any] = {"fontsize": style.TITLE, "family": "monospace"}
        self.title = self.ax.set_title(self.name + self.end, **look)
        self.canvas: Any = FigureCanvasAgg(self.figure)
        # Arranged once: arranging every picture takes most of the time, and would make it jump.
        self.figure.draw_without_rendering()
        self.figure.set_layout_engine("none")

    def _find_window(self) -> tuple[Array, Array]:
        """Return the corners of the picture [m]: all that is swept, or the mechanism alone."""
        scene = self.scene
        if self.far:
            middle = self.view(scene.poses.position[0].mean(axis=0))
            half = 0.9 * scene.size() * np.array([1.0, 0.45])
            return middle - half, middle + half
        low, high = scene.corners(self.view)
        room = max((clearance.radius for clearance in self.magnified), default=0.0)
        low, high = low - room, high + room
        extent = high - low
        largest = float(extent.max()) or 1.0
        # A motion along a line still needs a picture of some height.
        half = np.maximum(extent / 2 + MARGIN * largest, largest * SHORT / LONG / 2)
        return (low + high) / 2 - half, (low + high) / 2 + half

    def _make_figure(self) -> tuple[Figure, Axes, Axes | None]:
        size = LONG * self.half / self.half.max() + [0.9, 0.9 + 1.0 * self.far]
        pixels = 2 * np.round(size * DPI / 2)  # MP4 wants even numbers
        figure = Figure(figsize=tuple(pixels / DPI), dpi=DPI, layout="constrained")
        heights = (1.0, 0.06) if self.far else (1.0,)
        axes = list(figure.subplots(len(heights), 1, height_ratios=heights, squeeze=False)[:, 0])
        for ax in axes:
            style.plain(ax)
        axes[0].set_aspect("equal")
        return figure, axes[0], axes[1] if self.far else None

    def _draw_background(self) -> None:
        """Draw the parts that do not move."""
        scene, ax, view = self.scene, self.ax, self.view
        guides = scene.guides() if self.far else []
        still = ((guides, "#bbbbbb", 1.0), (scene.obstacles, style.GREY, 0.5))
        for lines, colour, width in (*still, (scene.ground, "black", 1.0)):
            seen = [view(line) for line in lines]
            drawn = LineCollection(seen, colors=colour, linewidths=width, zorder=2)
            ax.add_collection(drawn, autolim=False)
        if scene.pins:
            look: dict[str, Any] = {"color": "black", "markersize": 7, "zorder": 5}
            ax.plot(*view(np.array(scene.pins)).T, "+", scalex=False, scaley=False, **look)
        if view.across:
            style.axis_labels(ax, f"{view.across} [m]", f"{view.up} [m]")
        else:
            style.axis_labels(ax, "[m], seen from above and aside", "[m]")

    def _add_lines(self, body: int, width: float) -> LineCollection:
        lines = LineCollection([], colors=style.look(body).color, linewidths=width, zorder=4)
        lines.set_capstyle("round")
        self.ax.add_collection(lines, autolim=False)
        return lines

    def _draw_strip(self, ax: Axes) -> Line2D:
        """Draw the whole way; return the mark on it."""
        away = int(np.argmax(self.scene.travel()))
        along = self.scene.poses.position.mean(axis=1)[:, away]
        ax.plot([along.min(), along.max()], [0, 0], color=style.GREY, linewidth=1.5)
        ax.set(yticks=[], ylim=(-1, 1))
        ax.grid(False)
        ax.spines["left"].set_visible(False)
        style.axis_labels(ax, f"the whole way: {AXES[away]} [m]", None)
        return ax.plot([along[0]], [0], "D", color=style.COLOURS[1], markersize=7)[0]

    def draw(self, time: float, text: str) -> Pixels:
        """Return the picture at a time, (height, width, 4).

        Parameters
        ----------
        time : float [s]
        text : str
            The title.
        """
        scene, view, poses = self.scene, self.view, self.scene.at(time)
        outlines, sticks = (scene.place(x, poses, 0) for x in (scene.outlines, scene.sticks))
        past = scene.poses.time <= time
        for b in range(len(scene.bodies)):
            self.outlines[b].set_segments([view(x) for x in outlines[b]])
            self.sticks[b].set_segments([view(x) for x in sticks[b]])
            here = view(poses.position[0, b])
            self.masses[b].set_data([here[0]], [here[1]])
            self.traces[b].set_data(*np.vstack([view(scene.poses.position[past, b]), here]).T)
        self._draw_magnified(poses, past)
        self._follow(poses.position[0].mean(axis=0))
        self.title.set_text(text)
        self.canvas.draw()
        return np.array(self.canvas.buffer_rgba(), dtype=np.uint8)

    def _draw_magnified(self, poses: Poses, past: NDArray[np.bool_]) -> None:
        """Draw the clearances that are magnified, and the ways in them so far."""
        for k, clearance in enumerate(self.magnified):
            self.circles[k].set_data(*self.view(clearance.circle(poses)).T)
            middle, here = clearance.a.at(poses)[0], clearance.offset(poses)
            way = self.view(middle + np.vstack([self.ways[k][past], here]))
            self.orbits[k].set_data(*way.T)
            self.pins[k].set_data(*way[-1:].T)

    def _follow(self, middle: Array) -> None:
        if self.mark is None:
            return
        centre = self.view(middle)
        self.ax.set_xlim(centre[0] - self.half[0], centre[0] + self.half[0])
        self.ax.set_ylim(centre[1] - self.half[1], centre[1] + self.half[1])
        self.mark.set_xdata([middle[int(np.argmax(self.scene.travel()))]])

    def frames(self, times: Array, speed: float) -> Iterator[Pixels]:
        """Yield the pictures at some times; the title says the time."""
        gap = float(np.min(np.diff(times), initial=1.0))
        digits = max(2, 1 - math.floor(math.log10(gap))) if gap > 0 else 3
        width = len(f"{times[-1]:.{digits}f}")
        played = "" if speed == 1 else f"   speed {speed:g}"
        if self.magnified:
            played += f"   clearance x {self.magnified[0].factor:g}"
        for time in times:
            text = f"{self.name}{self.end}t = {time:{width}.{digits}f} s{played}"
            yield self.draw(float(time), text)
