"""Figures of joints within their range of motion [RoM 2023, Figs. 13 and 18-20]."""

from __future__ import annotations

import json
from typing import Any, NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from nsopt.plots import style
from nsopt.plots.style import Array
from nsopt.result import Result

EDGE = "#e0a500"
READ = ("longitude", "latitude", "moment", "dissipation")


class _Cone(NamedTuple):
    """A cone of a result and the path of its pointer, angles in rad."""

    name: str
    edge: tuple[Array, Array]  # longitude, latitude
    law: tuple[Array, Array]  # excess, moment [N m]
    longitude: Array  # (time,)
    latitude: Array
    moment: Array  # [N m]
    dissipation: Array  # [N m]


def range_of_motion(*results: Result) -> Figure:
    """Draw pointer and cone, latitude, moment and energy over time, and the law.

    Several results are overlaid, of each the first cone; those without one are left out.

    Parameters
    ----------
    *results : Result

    Returns
    -------
    Figure

    Raises
    ------
    ValueError
        Without results, or if none of them has a cone.
    """
    style.require_steps(results, "range_of_motion")
    results = tuple(r for r in results if _portraits(r)) or results[:1]
    cones = [_cone(result) for result in results]
    title = f"Range of motion, {cones[0].name}"
    figure, axes = style.page(title, results, 2, 3, (12.0, 7.2))
    grid = axes[0, 0].get_gridspec()
    for ax in axes[:, 0]:
        ax.remove()
    polar = figure.add_subplot(grid[0, 0], projection="polar")
    solid = figure.add_subplot(grid[1, 0], projection="3d")
    for k, (result, cone) in enumerate(zip(results, cones, strict=True)):
        look: dict[str, Any] = {"color": style.COLOURS[k % len(style.COLOURS)], "linewidth": 0.9}
        name = style.label(result) if len(results) > 1 else None
        t = result.data["time"].values
        polar.plot(cone.longitude, np.degrees(cone.latitude), **look)
        _path(solid, cone, look)
        axes[0, 1].plot(t, np.degrees(cone.latitude), label=name, **look)
        axes[0, 2].plot(t, cone.moment, **look)
        axes[0, 2].plot(t, cone.dissipation, linestyle=":", **look)
        axes[1, 1].plot(t, result["total_energy"].values, **look)
        axes[1, 2].plot(np.degrees(cone.law[0]), cone.law[1], **look)
    _edges(polar, solid, cones)
    _label_axes(axes)
    if len(results) > 1:
        lines, names = axes[0, 1].get_legend_handles_labels()
        figure.legend(lines, names, fontsize=style.SMALL, loc="outside lower center", ncols=3)
    return figure


def _portraits(result: Result) -> list[tuple[str, dict[str, Any]]]:
    """Return the names and numbers of the cones of a result."""
    plot_data: dict[str, Any] = json.loads(result.data.attrs["plot_data"])
    return [(name, p) for name, p in plot_data.items() if "latitude" in p]


def _cone(result: Result) -> _Cone:
    portraits = _portraits(result)
    if not portraits:
        raise ValueError(f"range_of_motion: {result.name} has no RangeOfMotion to draw")
    name, plot_data = portraits[0]
    drawn = {key: np.array(values) for key, values in plot_data.items()}
    path = [result[f"{name}.{output}"].values for output in READ]
    law = (drawn["law_excess"], drawn["law_moment"])
    return _Cone(name, (drawn["longitude"], drawn["latitude"]), law, *path)


def _edges(polar: Any, solid: Any, cones: list[_Cone]) -> None:
    for k, cone in enumerate(cones):
        polar.plot(cone.edge[0], np.degrees(cone.edge[1]), color=EDGE, linewidth=1.8)
        if k == 0:
            tip = _direction(*cone.edge)
            solid.plot(*tip, color=EDGE, linewidth=1.8)
            for j in range(0, tip.shape[1], 12):
                solid.plot(*np.column_stack([np.zeros(3), tip[:, j]]), color=EDGE, linewidth=0.3)
    polar.tick_params(labelsize=style.SMALL)
    polar.set_title("Latitude [deg] over longitude", fontsize=style.TEXT)
    polar.set_rlabel_position(22.5)
    solid.set_box_aspect((1, 1, 1))
    for which in (solid.set_xlim, solid.set_ylim, solid.set_zlim):
        which(-1, 1)
    solid.invert_zaxis()
    for which in (solid.set_xticks, solid.set_yticks, solid.set_zticks):
        which([-1, 0, 1])
    solid.tick_params(labelsize=style.SMALL)
    solid.set_title("Pointer [1] in the axes of the cone", fontsize=style.TEXT)


def _path(solid: Any, cone: _Cone, look: dict[str, Any]) -> None:
    solid.plot(*_direction(cone.longitude, cone.latitude), **look)


def _direction(longitude: Array, latitude: Array) -> Array:
    """Return unit vectors (3, n)."""
    flat = np.sin(latitude)
    return np.array([flat * np.cos(longitude), flat * np.sin(longitude), np.cos(latitude)])


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
