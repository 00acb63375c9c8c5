"""Figures of joints within their range of motion, and of cones without a run.

As [RoM 2023, Figs. 2, 5, 13 and 18-20].
"""

from __future__ import annotations

import json
from typing import Any, NamedTuple

import numpy as np
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from nsopt.algebra import rotate
from nsopt.arrays import Array
from nsopt.elements import RangeOfMotion
from nsopt.plots import style
from nsopt.result import Result

EDGE = "#e0a500"
"""Colour of the edge of a cone."""
EVERY = 12  # number of points of the edge from one generator that is drawn to the next


class _Portrait(NamedTuple):
    """The numbers of a cone that a result keeps for pictures."""

    name: str
    numbers: dict[str, Array]
    bodies: list[str]  # of frame a and frame b, empty for the ground


class _Path(NamedTuple):
    """The path of a pointer, angles in rad: outputs of a `RangeOfMotion`."""

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
        _Path(*(result[f"{own.name}.{x}"].values for x in _Path._fields))
        if own
        else _compute_path(result, first)
        for result, own in zip(results, portraits, strict=True)
    ]
    figure, axes = style.page(f"Range of motion, {first.name}", results, 2, 3, (12.0, 7.2))
    grid = axes[0, 0].get_gridspec()
    for ax in axes[:, 0]:
        ax.remove()
    polar, solid = _add_views(figure, grid[0, 0], grid[1, 0])
    for k, (result, path) in enumerate(zip(results, paths, strict=True)):
        look: dict[str, Any] = {"color": style.COLOURS[k % len(style.COLOURS)], "linewidth": 0.9}
        name = style.label(result) if len(results) > 1 else None
        t = result.data["time"].values
        polar.plot(path.longitude, np.degrees(path.latitude), **look)
        solid.plot(*_find_direction(path.longitude, path.latitude), **look)
        axes[0, 1].plot(t, np.degrees(path.latitude), label=name, **look)
        axes[0, 2].plot(t, path.moment, **look)
        axes[0, 2].plot(t, path.dissipation, linestyle=":", **look)
        axes[1, 1].plot(t, result["total_energy"].values, **look)
        own = portraits[k]
        if own:
            excess, moment = own.numbers["law_excess"], own.numbers["law_moment"]
            axes[1, 2].plot(np.degrees(excess), moment, **look)
    for k, portrait in enumerate(x for x in portraits if x):
        longitude, latitude = portrait.numbers["longitude"], portrait.numbers["latitude"]
        if k == 0:  # in space too
            _draw_edge(polar, solid, longitude, latitude, EDGE)
        else:
            polar.plot(longitude, np.degrees(latitude), color=EDGE, linewidth=1.8)
    labels = {
        (0, 1): ("Latitude", "time [s]", "[deg]"),
        (0, 2): ("Restricting moment (dotted: dissipative)", "time [s]", "[N m]"),
        (1, 1): ("Energy", "time [s]", "[J]"),
        (1, 2): ("Law", "excess [deg]", "[N m]"),
    }
    for place, (text, across, upwards) in labels.items():
        style.title(axes[place], text)
        style.axis_labels(axes[place], across, upwards)
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


def cones(*limits: RangeOfMotion) -> Figure:
    """Draw cones from above and in space, and their laws, without a run.

    They are overlaid, each in axes of its own frame a. What is no RangeOfMotion is a TypeError.
    """
    if not limits:
        raise ValueError("cones needs at least one RangeOfMotion")
    for limit in limits:
        if not isinstance(limit, RangeOfMotion):
            raise TypeError(
                f"cones draws elements RangeOfMotion, got {type(limit).__name__}: those of "
                "dynamics are among dynamics.elements"
            )
    single = len(limits) == 1
    title = f"Range of motion, {limits[0].name}" if single else "Ranges of motion"
    figure, axes = style.page(title, (), 1, 3, (12.0, 4.4))
    grid = axes[0, 0].get_gridspec()
    for ax in axes[0, :2]:
        ax.remove()
    polar, solid = _add_views(figure, grid[0, 0], grid[0, 1])
    law, handles = axes[0, 2], []
    for k, limit in enumerate(limits):
        colour = EDGE if single else style.look(k).color
        data = {key: np.asarray(values) for key, values in limit.plot_data().items()}
        _draw_edge(polar, solid, data["longitude"], data["latitude"], colour)
        law.plot(np.degrees(data["law_excess"]), data["law_moment"], color=colour)
        handles.append(Line2D([], [], color=colour, label=limit.name))
    style.title(law, "Law")
    style.axis_labels(law, "excess [deg]", "moment [N m]")
    if not single:
        style.share_legend(figure, handles)
    return figure


def _add_views(figure: Figure, above: Any, in_space: Any) -> tuple[Any, Any]:
    """Return axes of latitude over longitude [deg], and of directions in space, at two places."""
    polar: Any = figure.add_subplot(above, projection="polar")
    polar.tick_params(labelsize=style.SMALL)
    polar.set_title("Latitude [deg] over longitude", fontsize=style.TEXT)
    polar.set_rlabel_position(22.5)
    solid: Any = figure.add_subplot(in_space, projection="3d")
    solid.set_box_aspect((1, 1, 1))
    for which in (solid.set_xlim, solid.set_ylim, solid.set_zlim):
        which(-1, 1)
    solid.invert_zaxis()
    for which in (solid.set_xticks, solid.set_yticks, solid.set_zticks):
        which([-1, 0, 1])
    solid.tick_params(labelsize=style.SMALL)
    solid.set_title("Pointer [1] in the axes of the cone", fontsize=style.TEXT)
    return polar, solid


def _draw_edge(polar: Any, solid: Any, longitude: Array, latitude: Array, colour: str) -> None:
    """Draw the edge of a cone, angles (n,) [rad], in both `_add_views`, its generators in space."""
    polar.plot(longitude, np.degrees(latitude), color=colour, linewidth=1.8)
    tip = _find_direction(longitude, latitude)
    solid.plot(*tip, color=colour, linewidth=1.8)
    for j in range(0, tip.shape[1], EVERY):
        solid.plot(*np.column_stack([np.zeros(3), tip[:, j]]), color=colour, linewidth=0.3)


def _find_direction(longitude: Array, latitude: Array) -> Array:
    """Return the unit vectors (3, n) of longitudes about z and latitudes from z (n,) [rad]."""
    flat = np.sin(latitude)
    return np.array([flat * np.cos(longitude), flat * np.sin(longitude), np.cos(latitude)])
