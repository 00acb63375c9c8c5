"""A panel of the mechanism itself, at a few instants."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection

from nsopt.arrays import Array
from nsopt.plots import style
from nsopt.plots.scenes.scene import AXES, Poses, Scene, View, view_of
from nsopt.result import Result

INSTANTS = 7  # number of instants at which a mechanism is drawn
FEW = 4  # number of instants of a mechanism whose bodies have outlines, which cover more
ROWS = 4  # number of instants of a mechanism that goes far, one in each row


def mechanism(ax: Axes, result: Result) -> None:
    """Draw the mechanism at a few instants, later ones darker, and the paths of the bodies.

    An optimum from start to end, a simulation only until its first swing turns back.
    """
    scene = Scene(result)
    view = view_of(scene)
    if scene.travels_far():
        _draw_in_rows(ax, scene, view)
        style.title(ax, "Mechanism, the picture moving with it")
        return
    end = float(scene.poses.time[-1]) if result.is_optimum else scene.outward()
    count = FEW if scene.shaped else INSTANTS
    times = np.linspace(scene.poses.time[0], end, count)
    poses = scene.at(times)
    _draw_ground(ax, scene, view)
    for b in range(len(scene.bodies)):
        path = view(scene.poses.position[:, b])
        ax.plot(*path.T, color=style.GREY, linewidth=0.6, zorder=1, label="_path")
    for k in range(count):
        _draw_bodies(ax, scene, view, poses, k, 0.25 + 0.75 * k / (count - 1))
    ax.set_aspect("equal", adjustable="datalim")
    ax.margins(0.08)
    ax.locator_params(axis="x", nbins=6)
    style.axis_labels(ax, f"{view.across} [m]", f"{view.up} [m]")
    style.title(ax, f"Mechanism, t = {times[0]:.3g} (light) to {end:.3g} s (dark)")


def _draw_ground(ax: Axes, scene: Scene, view: View) -> None:
    """Draw what is on the ground as far as it is close to the bodies."""
    low, high = scene.corners(view)
    ax.update_datalim([low, high])
    for still, colour, width in ((scene.obstacles, style.GREY, 0.5), (scene.ground, "black", 0.8)):
        lines = [view(line) for line in still]
        drawn = LineCollection(lines, colors=colour, linewidths=width, zorder=2)
        ax.add_collection(drawn, autolim=False)
    pins = view(np.reshape(scene.pins, (-1, 3)))
    close = np.all((pins >= low) & (pins <= high), axis=1)
    ax.plot(*pins[close].T, "+", color="black", markersize=5, label="_pin")


def _draw_bodies(ax: Axes, scene: Scene, view: View, poses: Poses, k: int, strength: float) -> None:
    outlines, sticks = (scene.place(lines, poses, k) for lines in (scene.outlines, scene.sticks))
    for b in range(len(scene.bodies)):
        colour = style.tint(style.look(b).color, strength)
        for lines, width in ((outlines[b], 0.7), (sticks[b], 1.8)):
            seen, look = [view(x) for x in lines], {"linewidths": width, "zorder": 3 + k}
            ax.add_collection(LineCollection(seen, colors=[colour], **look))
        ax.plot(*view(poses.position[k, b]), "o", color=colour, markersize=4, zorder=4 + k)


def _draw_in_rows(ax: Axes, scene: Scene, view: View) -> None:
    """Draw a mechanism that goes far at a few instants below each other, each where it is then."""
    times = np.linspace(scene.poses.time[0], scene.poses.time[-1], ROWS)
    poses = scene.at(times)
    away = int(np.argmax(scene.travel()))
    own = [
        x for lines in (scene.outlines, scene.sticks) for x in scene.place(lines, scene.poses, 0)
    ]
    extent = np.ptp(view(np.concatenate([line for part in own for line in part])), axis=0)
    spread, sideways = float(0.9 * extent[0]), float(1.5 * extent[1])  # half the row, of rows
    for k in range(ROWS):
        middle = poses.position[k].mean(axis=0)
        shift = view(np.where(np.arange(3) == away, middle, 0.0)) + np.array([0.0, k * sideways])
        for colour, width, drawn in _list_lines(scene, poses, k):
            seen = [view(x) - shift for x in drawn]
            for line in seen:  # ends are not further than needed to leave the picture
                line[:, 0] = np.clip(line[:, 0], -2 * spread, 2 * spread)
            ax.add_collection(LineCollection(seen, colors=[colour], linewidths=width))
        text = f"t = {times[k]:.3g} s\n{AXES[away]} = {middle[away]:.3g} m"
        beside: dict[str, Any] = {"xytext": (-4, 0), "textcoords": "offset points"}
        beside |= {"va": "center", "ha": "right", "annotation_clip": False}
        ax.annotate(text, (-spread, -k * sideways), fontsize=style.SMALL, **beside)
    ax.set_aspect("equal")
    ax.set(xlim=(-spread, spread), ylim=(-(ROWS - 0.4) * sideways, 0.6 * sideways), yticks=[])
    ax.grid(False)
    ax.spines["left"].set_visible(False)
    style.axis_labels(ax, f"{AXES[away]} from its centre [m]", None)


def _list_lines(scene: Scene, poses: Poses, k: int) -> list[tuple[str, float, list[Array]]]:
    drawn = [("#bbbbbb", 0.8, scene.guides()), ("black", 0.8, scene.ground)]
    drawn += [(style.GREY, 0.5, scene.obstacles)]
    for lines, width in ((scene.outlines, 1.2), (scene.sticks, 1.8)):
        drawn += [
            (style.look(b).color, width, own) for b, own in enumerate(scene.place(lines, poses, k))
        ]
    return drawn
