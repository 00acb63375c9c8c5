"""Lines over time in one pair of axes, of one quantity or of two with a scale each."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.lines import Line2D

from nsopt.arrays import Array
from nsopt.plots import style
from nsopt.plots.curves import MOST_NAMED

COLOURS = (*style.COLOURS, "#e0a800", "#2a8c6e")
"""As many as lines are named: those of a robot of seven joints differ."""
LOADS = ("N", "N m")  # units that get a prefix
SMALL = 1e-6  # size, over the largest, up to which values are noise of the solver
WIDTHS = 1.5, 0.9  # from the first line to the last, which lies on top, so that equal ones are seen
LEGEND = 4.0  # width that the legend of axes may take [inches]


class Quantity(NamedTuple):
    """Values over time in one unit, by name."""

    label: str  # of the axis, with the unit
    values: Mapping[str, Array]  # all, (time,)
    drawn: tuple[str, ...]  # the names worth drawing


def quantity(
    what: str,
    unit: str,
    values: Mapping[str, Array],
    least: float,
    size: Callable[[Array], float] = style.peak,
) -> Quantity:
    """Return a quantity of which those lines are drawn whose size is above the least.

    Forces and moments are in the unit, with a prefix, that has a few digits before the point.
    """
    drawn = tuple(name for name in values if size(values[name]) > least)
    if unit not in LOADS:
        return Quantity(f"{what} [{unit}]", values, drawn)
    shown = style.unit_of(unit, *(values[name] for name in drawn))
    scaled = {name: shown.factor * x for name, x in values.items()}
    return Quantity(f"{what} [{shown.text}]", scaled, drawn)


def extent(values: Array) -> float:
    """Return by how much values change."""
    return float(np.ptp(values))


def draw_lines(ax: Axes, time: Array, quantities: Sequence[Quantity]) -> str:
    """Draw the first two quantities of which anything is worth it, the second dashed.

    The second has its scale on the right. As long as the names are few each keeps its colour, so
    that a joint has the same one in all axes. Returned is a remark for the title if not all lines
    have room, else nothing.
    """
    shown = [x for x in quantities if x.drawn][:2]
    coloured = [name for x in shown for name in x.values]
    if len(coloured) > len(COLOURS):
        coloured = []
        for x in shown:
            by_extent = sorted(x.drawn, key=lambda n: -extent(np.nan_to_num(x.values[n])))
            largest = by_extent[: MOST_NAMED // len(shown)]
            coloured += [name for name in x.drawn if name in largest]
    names = [name for x in shown for name in x.drawn if name in coloured]
    texts = dict(zip(names, short(names), strict=True))
    widths = dict(zip(names, np.linspace(*WIDTHS, len(names)), strict=True))
    handles = list[Line2D]()
    for k, x in enumerate(shown):
        side, dash = (ax, "-") if k == 0 else (_add_right_axis(ax), "--")
        for name in (name for name in x.drawn if name in texts):
            color = COLOURS[coloured.index(name)]
            look = {"color": color, "linewidth": widths[name], "label": texts[name]}
            handles += side.plot(time, x.values[name], dash, **look)
        style.axis_labels(side, None, x.label + (", dashed" if k else ""))
    style.axis_labels(ax, "time [s]", None)
    _show_legend(ax, handles)
    count = sum(len(x.drawn) for x in shown)
    return f", the {len(handles)} largest of {count}" if len(handles) < count else ""


def short(names: Sequence[str]) -> list[str]:
    """Return the joint or body of each name, or the name where it has several."""
    owners = [name.rpartition(".")[0] or name for name in names]
    return [o if owners.count(o) == 1 else n for o, n in zip(owners, names, strict=True)]


def _add_right_axis(ax: Axes) -> Axes:
    side = ax.twinx()
    style.plain(side)
    side.grid(False)
    side.spines["right"].set_visible(True)
    return side


def _show_legend(ax: Axes, handles: Sequence[Line2D]) -> None:
    """Show the legend below axes, its rows as full as the room for names allows."""
    longest = max((len(str(line.get_label())) for line in handles), default=0)
    most = max(1, min(4, int(LEGEND / (0.38 + 0.0075 * style.SMALL * longest))))
    rows = max(1, -(-len(handles) // most))
    style.own_legend(ax, max(1, -(-len(handles) // rows)), handles)
