"""One mechanism in several cases, overlaid: coordinates, accelerations, loads of joints."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from nsopt.arrays import Array
from nsopt.checks import check_names
from nsopt.loads import joint_loads, list_loaded_joints, rms_loads
from nsopt.plots import style
from nsopt.plots.across import across
from nsopt.plots.bands import draw_band, error_of_forces, shade_beyond
from nsopt.plots.coordinates import (
    axes_of_turn,
    bodies_with_parameters,
    errors_of_coordinates,
    is_length,
    is_parameter,
    is_speed,
    name_columns,
    split,
    with_angles,
)
from nsopt.plots.impulses import Stems, impulses_apart
from nsopt.result import Result

COLUMNS = 3  # number of panels in a row, at most
SIDE = 1.0
"""Room beside the first and the last joint, in distances of joints: few bars are not wide."""


class _Panel(NamedTuple):
    title: str
    symbol: str
    unit: str  # of SI; figures add a prefix
    lines: dict[int, Array]  # by the number of the result, (time,)
    impulses: Mapping[int, Array] = MappingProxyType({})  # of impacts, likewise
    errors: Mapping[int, Array] = MappingProxyType({})  # likewise


def joint_coordinates(
    *results: Result, names: Sequence[str] | None = None, over: str | None = None
) -> Figure:
    """Draw a panel for each coordinate, cases overlaid, as Figs. 9 and 18 of [CoPCoD 2023].

    Parameters
    ----------
    names : sequence of str, optional
        Of coordinates, as ``q_name`` has them; by default all but internal states of friction, and
        angles in place of Euler parameters of bodies that turn about one axis of the world.
    """

    def unit(name: str) -> str:
        if is_parameter(name):
            return ""
        return "m" if is_length(name) else "rad"

    style.require_steps(results, "joint_coordinates")
    parts = [split(result) for result in results]
    moving = _share_angles([q for q, _ in parts])
    if names is None:
        shown = moving
    else:
        shown = [q | z | turned for (q, z), turned in zip(parts, moving, strict=True)]
    errors = [errors_of_coordinates(result) for result in results]
    panels = [
        panel._replace(errors=_collect(errors, panel.title))
        for panel in _make_panels("joint_coordinates", shown, names, unit)
    ]
    return _overlay("Coordinates", results, panels, over)


def _share_angles(columns: Sequence[dict[str, Array]]) -> list[dict[str, Array]]:
    """Return coordinates with angles of bodies that turn about one axis in all results."""
    axes: dict[str, set[str]] = {}
    for q in columns:
        turning = axes_of_turn(q)
        for body in bodies_with_parameters(q):
            axes.setdefault(body, set()).add(turning.get(body, ""))
    shared = {body: "".join(own) for body, own in axes.items() if len(own) == 1 and own != {""}}
    return [with_angles(q, shared) for q in columns]


def joint_accelerations(
    *results: Result, names: Sequence[str] | None = None, over: str | None = None
) -> Figure:
    """Draw a panel for each acceleration, cases overlaid, as Fig. 16 of [CoPCoD 2023].

    Arguments as for `joint_coordinates`, names as ``v_name`` has them.
    """

    def unit(name: str) -> str:
        return "m/s²" if is_speed(name) else "rad/s²"

    style.require_steps(results, "joint_accelerations")
    columns = [name_columns(result, "v", "acceleration") for result in results]
    panels = _make_panels("joint_accelerations", columns, names, unit)
    return _overlay("Accelerations", results, panels, over)


def joint_forces(
    *results: Result, joints: Sequence[str] | None = None, over: str | None = None
) -> Figure:
    """Draw the size of the reaction of each joint, cases overlaid, as Fig. 10 of [CoPCoD 2023].

    Of a step with an impact the impulse is drawn, as a stem with an axis on the right.

    Parameters
    ----------
    joints : sequence of str, optional
        By default all.
    """
    style.require_steps(results, "joint_forces")
    known = [x for result in results for x in list_loaded_joints(result)]
    chosen = _choose("joint_forces", "joint", known, joints)
    forces, impulses, errors = (list[dict[str, Array]]() for _ in range(3))
    for result in results:
        own = [joint for joint in list_loaded_joints(result) if joint in chosen]
        force = joint_loads(result, own)["force"].values if own else np.zeros((0, 0))
        lasting, struck = impulses_apart(result, force) if own else (force, force)
        forces.append(dict(zip(own, lasting.T, strict=True)))
        impulses.append(dict(zip(own, struck.T, strict=True)))
        error = error_of_forces(result)
        sizes = np.zeros((0, 0)) if error is None else np.linalg.norm(error, axis=-1).T
        errors.append(dict(zip(map(str, result["joint"].values), sizes, strict=error is not None)))
    parts = (forces, impulses, errors)
    panels = [_Panel(joint, "F", "N", *(_collect(x, joint) for x in parts)) for joint in chosen]
    return _overlay("Forces of joints", results, panels, over)


def joint_rms(*results: Result, joints: Sequence[str] | None = None) -> Figure:
    """Draw root mean squares of axial and normal loads, as Figs. 11 and 20 of [CoPCoD 2023].

    Arguments as for `joint_forces` but ``over``; by default of the joints that all results have.
    """
    style.require_steps(results, "joint_rms")
    labels = [f"{k}" for k in range(len(results))]
    table = rms_loads(dict(zip(labels, results, strict=True)), joints)
    names = list(dict.fromkeys(map(str, table.columns.get_level_values(0))))
    size = (max(7.0, 1.2 + 0.13 * len(names) * len(results)), 6.0)
    figure, axes = style.page("RMS of joint loads", results, 2, 1, size, sharex=True)
    loads = {
        part: np.array([[table.loc[x, (joint, part)] for joint in names] for x in labels])
        for part in ("axial", "normal")
    }
    largest = max(map(style.peak, loads.values()))
    for ax, part in zip(axes[:, 0], loads, strict=True):
        values = loads[part]
        unit, width = style.unit_of("N", values), 0.8 / len(results)
        for k, row in enumerate(values):
            at = np.arange(len(names)) + (k - (len(results) - 1) / 2) * width
            ax.bar(at, unit.factor * row, width, label=style.label(results[k]), **style.bar(k))
        style.flatten_round_off(ax, unit.factor * values, unit.factor * largest)
        ax.set_xlim(-SIDE, len(names) - 1 + SIDE)
        ax.set_ylim(bottom=0)
        style.title(ax, f"{part} to z of frame a" if part == "normal" else "along z of frame a")
        style.axis_labels(ax, None, f"RMS [{unit.text}]")
    axes[-1, 0].set_xticks(range(len(names)), names, rotation=30, fontsize=style.SMALL)
    if len(results) > 1:
        style.share_legend(figure, axes[0, 0].containers)
    return figure


def _make_panels(
    figure: str,
    columns: Sequence[dict[str, Array]],
    names: Sequence[str] | None,
    unit: Callable[[str], str],
) -> list[_Panel]:
    """Return a panel for each name, of all results that have it."""
    chosen = _choose(figure, "coordinate", [name for own in columns for name in own], names)
    return [_Panel(name, "", unit(name), _collect(columns, name)) for name in chosen]


def _collect(columns: Sequence[dict[str, Array]], name: str) -> dict[int, Array]:
    """Return the lines of a name by the number of the result, of all that have it."""
    return {k: own[name] for k, own in enumerate(columns) if name in own}


def _choose(figure: str, what: str, known: Sequence[str], names: Sequence[str] | None) -> list[str]:
    known = list(dict.fromkeys(known))
    check_names(f"{figure}: no {what}", names or (), known)
    chosen = list(known if names is None else names)
    if not chosen:
        raise ValueError(f"{figure}: there is no {what} to draw")
    return chosen


def _overlay(
    title: str, results: Sequence[Result], panels: Sequence[_Panel], over: str | None
) -> Figure:
    results, text = across(results, over)
    columns = min(COLUMNS, len(panels))
    rows = -(-len(panels) // columns)
    size = (max(7.0, 3.6 * columns), 1.2 + 2.1 * rows)
    figure, axes = style.page(title, results, rows, columns, size, sharex=True)
    sizes = {panel.unit: 0.0 for panel in panels}
    for panel in panels:
        sizes[panel.unit] = max(sizes[panel.unit], *map(style.peak, panel.lines.values()))
    for ax, panel in zip(axes.flat, panels, strict=False):
        _draw_panel(ax, results, panel, sizes[panel.unit])
    for ax in axes.flat[len(panels) :]:
        ax.remove()
    for ax in axes.flat[max(0, len(panels) - columns) : len(panels)]:
        ax.tick_params(labelbottom=True)
        style.axis_labels(ax, text, None)
    shade_beyond(axes.flat[: len(panels)], results)
    style.results_legend(figure, results)
    return figure


def _draw_panel(ax: Axes, results: Sequence[Result], panel: _Panel, size: float) -> None:
    """Draw a panel; what is round-off of ``size``, the largest of its unit, is flat."""
    lines = panel.lines.values()
    largest = max(map(style.peak, lines))
    flat = largest <= style.MOST_ROUNDING * size
    unit = style.unit_of(panel.unit, *lines) if panel.unit else style.Unit(1.0, "1")
    unit = style.Unit(1.0, panel.unit) if flat and panel.unit else unit
    for k, values in panel.lines.items():
        time, look = results[k]["time"].values, style.look(k)
        ax.plot(time, unit.factor * values, **look._asdict())
        if k in panel.errors:
            off, least = unit.factor * panel.errors[k], 0.0 if panel.unit == "N" else -np.inf
            draw_band(ax, time, unit.factor * values, off, look.color, least)
    style.flatten_round_off(ax, unit.factor * largest, size if flat else 1.0)
    ax.locator_params(axis="x", nbins=5)
    style.title(ax, panel.title)
    style.axis_labels(ax, None, f"{panel.symbol} [{unit.text}]".strip())
    if panel.impulses:
        times = [result["time"].values for result in results]
        parts = [panel.impulses.get(k, np.full(len(t), np.nan)) for k, t in enumerate(times)]
        Stems(times, [x[:, None, None] for x in parts], f"{panel.unit} s").draw(ax)
