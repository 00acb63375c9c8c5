"""Figures of joints with clearance: where their ends are, how far they are open."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import PowerNorm
from matplotlib.figure import Figure
from numpy.typing import ArrayLike, NDArray

from nsopt.arrays import Array
from nsopt.contact_modes import contacts_of_joints, read_clearances
from nsopt.loads import bores_of_joints
from nsopt.plots import style
from nsopt.plots.across import across
from nsopt.plots.bands import draw_band, error_of, shade_beyond
from nsopt.result import Result

MOST_NAMES = 16  # number of names of rows that fit beside axes

ROUND_OFF = 1e-9
"""Impulse, over the largest, up to which a contact does not press."""


def openings(result: Result) -> Array:
    """Return a typical opening of each contact, (contact,) [m], in joints the clearance."""
    return np.atleast_1d(np.asarray(result.data.attrs["gap_scales"], dtype=float))


def walls(result: Result) -> NDArray[np.bool_]:
    """Return a mask of the contacts without a clearance, outside of joints, (contact,)."""
    return np.asarray(np.isnan(read_clearances(result.data)))


def contact_paths(*results: Result) -> Figure:
    """Draw the path of the contacting points inside the clearance circle, as Figs. 10 and 24.

    Axes for each joint of each result. Where a joint has plane contacts only, the displacement of
    its contact points over time, as Fig. 17.
    """
    pairs = _pair_joints(results, "contact_paths")
    columns = min(len(pairs), 3)
    rows = -(-len(pairs) // columns)
    size = (max(4.6, 3.6 * columns), 4.2 * rows)
    figure, axes = style.page("Path of the contacting points", results, rows, columns, size)
    for ax, (result, joint) in zip(axes.flat, pairs, strict=False):
        if radial := bores_of_joints(result).get(joint):
            clearance_circle(ax, result, radial)
        else:
            contact_displacement(ax, result, contacts_of_joints(result.data)[joint])
        _set_title(ax, results, result, joint)
    for ax in axes.flat[len(pairs) :]:
        ax.remove()
    return figure


def clearance_circle(ax: Axes, result: Result, contacts: list[int]) -> None:
    """Draw the path of each bushing end within the circle that the clearance leaves it."""
    angle = np.linspace(0, 2 * np.pi, 181)
    ax.fill(np.cos(angle), np.sin(angle), color="#f4f4f4", zorder=0)
    ax.plot(np.cos(angle), np.sin(angle), color="black", linewidth=0.8, label="_wall")
    ends = [(0, 2.0, "#e58a3c"), (1, 0.8, style.COLOURS[0])]
    for i, k in enumerate(contacts):
        path = result["contact_offset"].values[:, k, :2] / read_clearances(result.data)[k]
        order, width, colour = ends[i] if len(contacts) <= 2 else (i, 1.0, style.look(i).color)
        name = str(result["contact"].values[k])
        look: dict[str, Any] = {"color": colour, "linewidth": width, "zorder": 2 + order}
        ax.plot(*path.T, **look, label=name, solid_joinstyle="round")
        ax.plot(*path[0], "o", color="white", markeredgecolor="black", markersize=4.5, zorder=9)
    ax.set_aspect("equal")
    ticks = [-1, -0.5, 0, 0.5, 1]
    ax.set(xlim=(-1.12, 1.12), ylim=(-1.12, 1.12), xticks=ticks, yticks=ticks)
    style.axis_labels(ax, "x / clearance  (o start)", "y / clearance")
    style.own_legend(ax)


def contact_displacement(ax: Axes, result: Result, contacts: list[int]) -> None:
    """Draw how far each contact point has moved sideways, over time."""
    points: dict[str, Array] = {}
    for k in contacts:
        path = result["contact_point"].values[:, k]
        if not any(np.array_equal(path, seen) for seen in points.values()):  # behind two planes
            points[str(result["contact"].values[k])] = path
    moved = [path - path[0] for path in points.values()]
    extent = np.ptp(moved, axis=(0, 1))
    # Fig. 17 shows y.
    column = 1 if extent[1] > style.MOST_ROUNDING * np.max(extent) else 0
    unit = style.unit_of("m", *(m[:, column] for m in moved))
    for i, (name, path) in enumerate(zip(points, moved, strict=True)):
        values = unit.factor * path[:, column]
        ax.plot(result["time"], values, **style.look(i)._asdict(), label=name)
    axis = "xyz"[column]
    style.axis_labels(ax, "time [s]", f"{axis} − {axis} at the start [{unit.text}]")
    style.own_legend(ax)


def gaps(*results: Result, over: str | None = None) -> Figure:
    """Draw all gaps over time, each over its clearance.

    Axes for each joint of each result; more than six gaps are drawn as shades.
    """
    style.require_steps(results, "gaps")
    numbers = [len(ks) for r in results for ks in contacts_of_joints(r.data).values()]
    shaded = any(number > style.MAX_OWN_LEGEND for number in numbers)
    results, text = across(results, over, one_way=shaded)
    pairs = _pair_joints(results, "gaps")
    size = (7.0, 1.2 + 2.6 * len(pairs))
    figure, axes = style.page("Gaps", results, len(pairs), 1, size, sharex=True)
    most = 0
    for ax, (result, joint) in zip(axes[:, 0], pairs, strict=True):
        contacts = contacts_of_joints(result.data)[joint]
        if len(contacts) > style.MAX_OWN_LEGEND:
            gap_map(ax, result, contacts)
        else:
            gaps_of_joint(ax, result, contacts)
            shade_beyond([ax], [result])
            most = max(most, len(contacts))
        _set_title(ax, results, result, joint)
    style.axis_labels(axes[-1, 0], text, None)
    if most:
        style.share_legend(figure, style.make_handles([f"contact [{i}]" for i in range(most)]))
    return figure


def gaps_of_joint(ax: Axes, result: Result, contacts: list[int]) -> None:
    """Draw some gaps, and the wall at zero."""
    values = _scale_gaps(result, contacts)
    ax.axhline(0, color="black", linewidth=0.8, zorder=1)
    for i, k in enumerate(contacts):
        look = style.look(i)._replace(linewidth=0.9)
        name = str(result["contact"].values[k])
        ax.plot(result["time"], values[:, i], **look._asdict(), label=name)
        if (error := error_of(result, "gap")) is not None:
            off = error[:, k] / openings(result)[k]
            least = min(0.0, float(np.nanmin(values[:, i])))
            draw_band(ax, result["time"].values, values[:, i], off, look.color, least)
    style.axis_labels(ax, None, _name_gap(result, contacts))


def _scale_gaps(result: Result, contacts: list[int]) -> Array:
    """Return gaps over their clearances, of walls over typical openings, (time, contact)."""
    gap: Array = result["gap"].values[:, contacts]
    return gap / openings(result)[contacts]


def _name_gap(result: Result, contacts: list[int]) -> str:
    return "gap / typical opening" if np.all(walls(result)[contacts]) else "gap / clearance"


def touching(ax: Axes, result: Result) -> None:
    """Draw for each contact when it presses."""
    time, h = result["time"].values, result["h"].values
    impulse = result["impulse"].values
    least = ROUND_OFF * style.peak(impulse)
    for k in range(impulse.shape[1]):
        pressed = np.flatnonzero(impulse[:, k] > least)
        spans = [(float(time[i] - h[i]), float(h[i])) for i in pressed]
        # As wide as a hair at least, so that impacts in short steps are seen.
        ax.broken_barh(spans, (k - 0.35, 0.7), color=style.COLOURS[0], linewidth=0.8)
    _name_rows(ax, result["contact"].values)
    ax.set(ylim=(impulse.shape[1] - 0.4, -0.6), xlim=(time[0], time[-1]))
    style.axis_labels(ax, "time [s]", None)


def gap_map(ax: Axes, result: Result, contacts: list[int]) -> None:
    """Draw gaps as shades, a row for each contact, closed ones dark."""
    values = _scale_gaps(result, contacts)
    count, time = len(contacts), result["time"].values
    shades = ax.pcolormesh(
        time,
        np.arange(count),
        values.T,
        cmap="Blues_r",
        shading="nearest",
        norm=PowerNorm(0.5, vmin=0),  # the eye is to tell a closed gap from a small one
        rasterized=True,
    )
    _name_rows(ax, result["contact"].values[contacts])
    ax.set(ylim=(count - 0.5, -0.5), xlim=(time[0], time[-1]))
    ax.grid(False)
    bar = ax.figure.colorbar(shades, ax=ax, aspect=30)
    bar.ax.tick_params(labelsize=style.SMALL)
    bar.set_label(_name_gap(result, contacts), fontsize=style.SMALL)


def _name_rows(ax: Axes, names: ArrayLike) -> None:
    """Name rows at 0, 1, ...; of many only so many that the names stay readable."""
    texts = [str(name) for name in np.asarray(names)]
    every = -(-len(texts) // MOST_NAMES)
    ax.set_yticks(range(0, len(texts), every), texts[::every])


def _pair_joints(results: tuple[Result, ...], figure: str) -> list[tuple[Result, str]]:
    """Return each result with each of its joints that has contacts; ValueError without any."""
    style.require_steps(results, figure)
    pairs = [(result, joint) for result in results for joint in contacts_of_joints(result.data)]
    if not pairs:
        who = ", ".join(r.name for r in results)
        raise ValueError(f"{figure} shows joints with clearance and contacts; {who} has none")
    return pairs


def _set_title(ax: Axes, results: tuple[Result, ...], result: Result, joint: str) -> None:
    style.title(ax, f"{joint}, {style.label(result)}" if len(results) > 1 else joint)
