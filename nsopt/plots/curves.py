"""Curves over time from arrays: panels of lines, and components of vectors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from nsopt.arrays import Array
from nsopt.plots import style
from nsopt.plots.across import TIME
from nsopt.plots.bands import draw_band
from nsopt.plots.impulses import Stems

MOST_NAMED = 8  # lines of one pair of axes that have a colour and a name; the others are grey
TICKS = 5  # numbers along an axis, about
LEGEND, LEGEND_BEYOND_AXIS = 1.01, 1.14
"""Where legends begin, over the width of their axes: right of them, or of an axis on the right."""
KINDS = {"N": "force ", "N m": "torque ", "rad": "angle ", "m": "length "}
"""What has a unit, for labels of axes."""


class Curves(NamedTuple):
    """Lines over time in one pair of axes."""

    title: str
    unit: str  # of SI; figures add a prefix
    values: Mapping[str, Array]  # by label, (time,)
    # Of impacts, by label, (time,), in ``unit`` times s: drawn on an axis on the right.
    impulses: Mapping[str, Array] = MappingProxyType({})
    # By label, (time,), in ``unit``: drawn as bands about the lines.
    errors: Mapping[str, Array] = MappingProxyType({})


class Vector(NamedTuple):
    """A column of three axes: the components of a vector over time."""

    title: str
    symbol: str
    unit: str  # of SI; figures add a prefix


class Recorded(NamedTuple):
    """Vectors over time, of one run or study."""

    label: str
    time: Array  # (time,) [s]
    values: Array  # (time, vector, 3), components along x, y, z
    impulses: Array | None = None  # (time, vector, 3) of impacts, drawn if all runs have them


def draw_curves(title: str, time: Array, panels: Sequence[Curves], text: str = TIME) -> Figure:
    """Draw panels below each other over one time, from arrays.

    For data without a result, such as the inverse dynamics of a stated motion.

    Parameters
    ----------
    title : str
    time : (n,) [s]
    panels : sequence of Curves
    text : str
        Label below the axes, for what is across if it is not the time.

    Returns
    -------
    Figure

    Raises
    ------
    ValueError
        Without panels, or if a line has not one value for each time.
    """
    if not panels:
        raise ValueError(f"{title}: there are no curves to draw")
    for panel in panels:
        for label, values in panel.values.items():
            if np.shape(values) != np.shape(time):
                raise ValueError(
                    f"{title}: {label!r} must have one value for each of the {len(time)} times, "
                    f"got shape {np.shape(values)}"
                )
    size = (7.5, 0.9 + 2.6 * len(panels))  # [inch]
    no_results = ()  # whose names the title would have
    figure, axes = style.page(title, no_results, len(panels), 1, size, sharex=True)
    for ax, panel in zip(axes[:, 0], panels, strict=True):
        draw_panel(ax, np.asarray(time), panel)
    style.axis_labels(axes[-1, 0], text, None)
    return figure


def draw_panel(ax: Axes, time: Array, panel: Curves) -> None:
    """Draw lines with a legend; of many the largest are named, the others grey."""
    order = sorted(panel.values, key=lambda name: -style.peak(panel.values[name]))
    unit = style.unit_of(panel.unit, *panel.values.values())
    for name in order[MOST_NAMED:]:
        values = unit.factor * panel.values[name]
        # Matplotlib leaves labels with an underscore out of the legend.
        ax.plot(time, values, color=style.GREY, lw=0.6, label="_other")
    for k, name in enumerate(order[:MOST_NAMED]):
        values = unit.factor * panel.values[name]
        ax.plot(time, values, **style.look(k)._asdict(), label=name)
        if name in panel.errors:
            draw_band(ax, time, values, unit.factor * panel.errors[name], style.look(k).color)
    largest = max((style.peak(v) for v in panel.values.values()), default=0.0)
    # What is round-off beside 1 of the unit shown is drawn flat.
    style.flatten_round_off(ax, unit.factor * largest, 1.0)
    if struck := [panel.impulses[x] for x in order[:MOST_NAMED] if x in panel.impulses]:
        Stems.of_one(time, struck, f"{panel.unit} s").draw(ax)
    more = f" (the {MOST_NAMED} largest of {len(order)} named)" if len(order) > MOST_NAMED else ""
    style.title(ax, panel.title + more)
    if not order:
        ax.set_axis_off()
        return
    ax.locator_params(axis="x", nbins=2 * TICKS)
    style.axis_labels(ax, None, f"{KINDS.get(panel.unit, '')}[{unit.text or 1}]")
    ax.legend(
        loc="center left",
        bbox_to_anchor=(LEGEND_BEYOND_AXIS if struck else LEGEND, 0.5),
        fontsize=style.SMALL,
        frameon=False,
        handlelength=1.8,
    )


def draw_vectors(
    title: str, vectors: Sequence[Vector], recorded: Sequence[Recorded], text: str = TIME
) -> Figure:
    """Draw components of vectors over time, from arrays: a column for each, runs overlaid.

    Parameters
    ----------
    title : str
    vectors : sequence of Vector
    recorded : sequence of Recorded
        Their times may differ.
    text : str
        Label below the axes, for what is across if it is not the time.

    Returns
    -------
    Figure

    Raises
    ------
    ValueError
        Without vectors or records, or if the shape of a record is not (time, vector, 3).
    """
    if not vectors or not recorded:
        raise ValueError(f"{title}: there is nothing to draw")
    for one in recorded:
        shape = (len(one.time), len(vectors), 3)
        if np.shape(one.values) != shape:
            raise ValueError(
                f"{title}: the values of {one.label!r} must have shape {shape} (time, vector, "
                f"axis), got {np.shape(one.values)}"
            )
    size = (max(7.0, 3.9 * len(vectors)), 6.6)  # [inch]
    name = f": {recorded[0].label}" if len(recorded) == 1 else ""
    figure, axes = style.page(title + name, (), 3, len(vectors), size, sharex=True)
    largest = max(style.peak(r.values) for r in recorded)
    for column, vector in enumerate(vectors):
        drawn = [(r.time, r.values[:, column]) for r in recorded]
        _draw_components(list(axes[:, column]), vector, drawn, largest)
        struck = [(r.time, r.impulses[:, column]) for r in recorded if r.impulses is not None]
        if len(struck) == len(recorded):
            times, impulses = zip(*struck, strict=True)
            stems = Stems(times, [x[:, :, None] for x in impulses], f"{vector.unit} s")
            for a in range(3):
                stems.draw(axes[a, column], a)
        style.axis_labels(axes[-1, column], text, None)
        style.title(axes[0, column], vector.title)
    if len(recorded) > 1:
        labels = [one.label for one in recorded]
        style.share_legend(figure, style.make_handles(labels))
    return figure


def _draw_components(
    axes: Sequence[Axes], vector: Vector, drawn: list[tuple[Array, Array]], largest: float
) -> None:
    """Draw a vector in three axes, x, y and z, for each pair of times and values (time, 3)."""
    values = [value for _, value in drawn]
    unit, scale = style.unit_of(vector.unit, *values), max(map(style.peak, values))
    # What is round-off beside the largest vector is drawn as zero; forces and torques are compared
    # as they are, as if by arms of a metre.
    if scale <= style.MOST_ROUNDING * largest:
        scale = largest
    for a, ax in enumerate(axes):
        for k, (time, value) in enumerate(drawn):
            ax.plot(time, unit.factor * value[:, a], **style.look(k)._asdict())
        parts = np.concatenate([value[:, a] for value in values])
        style.flatten_round_off(ax, unit.factor * parts, unit.factor * scale)
        ax.locator_params(axis="x", nbins=TICKS)
        name = f"{vector.symbol}$_{'xyz'[a]}$" if vector.symbol else "xyz"[a]
        style.axis_labels(ax, None, f"{name} [{unit.text}]")
