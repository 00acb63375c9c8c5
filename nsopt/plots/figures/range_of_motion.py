"""Figures of joints within their range of motion [RoM 2023, Figs. 13 and 18-20]."""

from __future__ import annotations

import json
from typing import Any, NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from nsopt.algebra import rotate
from nsopt.plots import style
from nsopt.plots.figures.cone import EDGE, direction, draw_edge, views
from nsopt.plots.style import Array
from nsopt.result import Result

READ = ("longitude", "latitude", "moment", "dissipation")
"""Outputs of a `RangeOfMotion`, in the order of `_Path`."""


class _Portrait(NamedTuple):
    """The numbers of a cone that a result keeps for pictures."""

    name: str
    numbers: dict[str, Array]
    bodies: list[str]  # of frame a and frame b, empty for the ground


class _Path(NamedTuple):
    """The path of a pointer, angles in rad."""

    longitude: Array  # (time,)
    latitude: Array
    moment: Array  # [N m]
    dissipation: Array  # [N m]


def range_of_motion(*results: Result) -> Figure:
    """Draw pointer and cone, latitude, moment and energy over time, and the law.

    Several results are overlaid, of each the first cone. One without a cone, as a joint that turns
    freely, is drawn by the frames of the first that has one.
    """
    style.require_steps(results, "range_of_motion")
    portraits = [_find_portrait(result) for result in results]
    first = next((x for x in portraits if x), None)
    if first is None:
        raise ValueError(f"range_of_motion: {results[0].name} has no RangeOfMotion to draw")
    paths = [
        _read_path(result, own) if own else _compute_path(result, first)
        for result, own in zip(results, portraits, strict=True)
    ]
    figure, axes = style.page(f"Range of motion, {first.name}", results, 2, 3, (12.0, 7.2))
    grid = axes[0, 0].get_gridspec()
    for ax in axes[:, 0]:
        ax.remove()
    polar, solid = views(figure, grid[0, 0], grid[1, 0])
    for k, (result, path) in enumerate(zip(results, paths, strict=True)):
        look: dict[str, Any] = {"color": style.COLOURS[k % len(style.COLOURS)], "linewidth": 0.9}
        name = style.label(result) if len(results) > 1 else None
        t = result.data["time"].values
        polar.plot(path.longitude, np.degrees(path.latitude), **look)
        solid.plot(*direction(path.longitude, path.latitude), **look)
        axes[0, 1].plot(t, np.degrees(path.latitude), label=name, **look)
        axes[0, 2].plot(t, path.moment, **look)
        axes[0, 2].plot(t, path.dissipation, linestyle=":", **look)
        axes[1, 1].plot(t, result["total_energy"].values, **look)
        own = portraits[k]
        if own:
            excess, moment = own.numbers["law_excess"], own.numbers["law_moment"]
            axes[1, 2].plot(np.degrees(excess), moment, **look)
    _draw_edges(polar, solid, [x for x in portraits if x])
    _label_axes(axes)
    if len(results) > 1:
        lines, names = axes[0, 1].get_legend_handles_labels()
        figure.legend(lines, names, fontsize=style.SMALL, loc="outside lower center", ncols=3)
    return figure


def _find_portrait(result: Result) -> _Portrait | None:
    """Return the first cone of a result, if it has one."""
    known: dict[str, Any] = json.loads(result.data.attrs["plot_data"])
    for name, data in known.items():
        if "latitude" in data:
            bodies = data.pop("bodies")
            return _Portrait(name, {key: np.array(x) for key, x in data.items()}, bodies)
    return None


def _read_path(result: Result, portrait: _Portrait) -> _Path:
    return _Path(*(result[f"{portrait.name}.{output}"].values for output in READ))


def _compute_path(result: Result, portrait: _Portrait) -> _Path:
    """Return the path of the pointer that a cone of another result would have seen."""
    known = [str(name) for name in result["body"].values]
    for name in filter(None, portrait.bodies):
        if name not in known:
            raise ValueError(
                f"range_of_motion: {result.name} has neither a RangeOfMotion nor the body "
                f"{name!r} of {portrait.name!r}: leave it out"
            )
    axes, pointer = portrait.numbers["axes"], portrait.numbers["pointer"]
    of_a, of_b = portrait.bodies
    a, u = _turn_directions(result, of_a, axes), _turn_directions(result, of_b, pointer[None])
    x, y, z = np.sum(a * u, axis=-1).T
    none = np.zeros_like(x)
    return _Path(np.arctan2(y, x) % (2 * np.pi), np.arctan2(np.hypot(x, y), z), none, none)


def _turn_directions(result: Result, body: str, directions: Array) -> Array:
    """Return directions (n, 3) on a body in world axes, (time, n, 3)."""
    if not body:
        return np.broadcast_to(directions, (result.data.sizes["time"], *directions.shape))
    k = [str(name) for name in result["body"].values].index(body)
    e = result["body_quaternion"].values[:, k]
    return np.stack([rotate(e, np.broadcast_to(x, (len(e), 3))) for x in directions], axis=1)


def _draw_edges(polar: Any, solid: Any, portraits: list[_Portrait]) -> None:
    """Draw the edge of each cone from above, that of the first in space too."""
    for k, portrait in enumerate(portraits):
        longitude, latitude = portrait.numbers["longitude"], portrait.numbers["latitude"]
        if k == 0:
            draw_edge(polar, solid, longitude, latitude, EDGE)
        else:
            polar.plot(longitude, np.degrees(latitude), color=EDGE, linewidth=1.8)


def _label_axes(axes: Any) -> None:
    labels = {
        (0, 1): ("Latitude", "time [s]", "[deg]"),
        (0, 2): ("Restricting moment (dotted: dissipative)", "time [s]", "[N m]"),
        (1, 1): ("Energy", "time [s]", "[J]"),
        (1, 2): ("Law", "excess [deg]", "[N m]"),
    }
    for k, (text, x, y) in labels.items():
        ax: Axes = axes[k]
        style.title(ax, text)
        style.axis_labels(ax, x, y)
