"""The style of all figures: colours, units with prefixes, labels, grids of axes, legends."""

from __future__ import annotations

import io
import json
import sys
import threading
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.colors import to_rgb
from matplotlib.container import Container
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import FuncFormatter, LogLocator, NullLocator
from matplotlib.transforms import offset_copy
from numpy.typing import ArrayLike, NDArray

from nsopt.result import Result

AxesGrid = NDArray[Any]
"""Axes as (rows, columns)."""

# Of falling darkness, so that they differ in grey as well.
COLOURS = ("#16325c", "#d1651a", "#4fa3d1", "#7d1d57", "#86b23c", "#8a8a8a")
DASHES = ("-", "--", "-.", ":")
HATCHES = ("", "////", "....")
MARKERS = ("o", "^", "s", "D")
GREY = "#9a9a9a"
DPI, SCREEN_DPI = 150, 90
TITLE, TEXT, SMALL = 11.0, 9.0, 8.0
MAX_OWN_LEGEND = 6  # lines that a legend below one pair of axes names at most
NARROW = 6.5  # width of a figure [inches] below which its title takes two lines
MOST_ROUNDING = 1e-10  # components up to this part of the largest are round-off


class Picture(Figure):
    """A figure that a notebook shows where it is the value of a cell."""

    def _repr_png_(self) -> bytes:
        stream = io.BytesIO()
        self.savefig(stream, format="png", dpi=SCREEN_DPI)
        return stream.getvalue()

    def _ipython_display_(self) -> None:
        """Have pyplot not show it a second time, at the end of its cell."""
        if (pyplot := _find_pyplot()) and "inline" in pyplot.get_backend().lower():
            pyplot.close(self)
        raise NotImplementedError  # by which IPython goes on to the other ways of showing it


def new_picture(size: tuple[float, float]) -> Figure:
    """Return an empty figure of a size [inches].

    Where pyplot is imported it knows the figure like one of its own: `show` shows it, and it is
    kept until `close`. Else nothing keeps it, nor is a backend chosen for it.
    """
    options: dict[str, Any] = {"figsize": size, "dpi": DPI, "layout": "constrained"}
    pyplot = _find_pyplot()
    if pyplot is None or threading.current_thread() is not threading.main_thread():
        return Picture(**options)
    figure: Figure = pyplot.figure(FigureClass=Picture, **options)
    return figure


def _find_pyplot() -> Any:
    """Return pyplot where the program has imported it."""
    return sys.modules.get("matplotlib.pyplot")


class Look(NamedTuple):
    """The look of one of several lines."""

    color: str
    linestyle: str
    linewidth: float


def look(k: int) -> Look:
    """Return the look of the k-th of several things; later lines are thinner, on top of others."""
    dashes = DASHES[(k // len(COLOURS) + k) % len(DASHES)]
    return Look(COLOURS[k % len(COLOURS)], dashes, 1.3 if k == 0 else 1.0)


def tint(colour: str, strength: float) -> tuple[float, float, float]:
    """Return a colour mixed with white; strength 1 leaves it."""
    r, g, b = (1 - strength * (1 - part) for part in to_rgb(colour))
    return r, g, b


def dot(k: int, size: float = 2.2) -> dict[str, Any]:
    """Return the look of the k-th of several clouds of points."""
    return {
        "linestyle": "none",
        "marker": MARKERS[k % len(MARKERS)],
        "markersize": size,
        "markeredgewidth": 0,
        "color": look(k).color,
    }


class Unit(NamedTuple):
    """A unit with its prefix, and the factor from SI."""

    factor: float
    text: str


_PREFIXES = ((1e4, 1e-3, "k"), (0.1, 1.0, ""), (1e-4, 1e3, "m"), (1e-7, 1e6, "µ"), (0.0, 1e9, "n"))
"""Least number for each prefix, the factor, and the prefix."""


def unit_of(symbol: str, *values: ArrayLike) -> Unit:
    """Return the unit in which the largest of the values has a few digits before the point.

    Values that are zero or round-off keep the unit as it is; metres get no kilo.
    """
    largest = max((peak(v) for v in values), default=0.0)
    if largest < 1e-12:
        return Unit(1.0, symbol)
    prefixes = _PREFIXES[1:] if symbol.startswith("m") else _PREFIXES
    factor, prefix = next((f, p) for least, f, p in prefixes if largest >= least)
    return Unit(factor, prefix + symbol)


def peak(values: ArrayLike) -> float:
    """Return the largest finite magnitude, 0 if there is none."""
    array = np.abs(np.asarray(values, dtype=float))
    return float(np.max(array, initial=0.0, where=np.isfinite(array)))


def label(result: Result) -> str:
    """Return the title of a run with its scheme and step bounds, and whether it stopped early."""
    bounds = step_bounds(result)
    unit = unit_of("s", bounds)
    sizes = [f"{h * unit.factor:.3g}" for h in dict.fromkeys(bounds)]
    failed = "stopped early"
    if result.is_optimum:  # its steps may differ by round-off
        failed, sizes = "no solution", list(dict.fromkeys(sizes))
        sizes[0] = sizes[0] if len(sizes) > 1 else f"= {sizes[0]}"
    early = "" if result.completed else f", {failed}"
    run = ", ".join(filter(None, (result.data.attrs[x] for x in ("title", "scheme_name"))))
    return f"{run} (h {' to '.join(sizes)} {unit.text}{early})"


def step_bounds(result: Result) -> tuple[float, float]:
    """Return the lower and the upper bound of the step size [s]."""
    return float(result.data.attrs["h_min"]), float(result.data.attrs["h_max"])


def read_stored(result: Result, name: str) -> Any:
    """Return an attribute that a result holds as JSON."""
    return json.loads(result.data.attrs[name])


def names(results: Sequence[Result], coordinate: str) -> list[str]:
    """Return the names of joints or bodies of all results, each once, in order."""
    return list(dict.fromkeys(str(n) for r in results for n in r[coordinate].values))


def require_steps(results: Sequence[Result], figure: str) -> None:
    """Check that there are results, each with a step to draw, or raise a ValueError."""
    if not results:
        raise ValueError(f"{figure} needs at least one result")
    for result in results:
        if result.data.sizes["time"] < 2:
            raise ValueError(f"{figure}: {result.name} has no step to draw")


def page(
    title: str,
    results: Sequence[Result],
    rows: int,
    columns: int,
    size: tuple[float, float],
    **subplots: Any,
) -> tuple[Figure, AxesGrid]:
    """Return a titled figure with axes (rows, columns); a single result is named in the title."""
    figure = new_picture(size)
    only = f"{label(results[0])}" if len(results) == 1 else ""
    joined = (":\n" if size[0] < NARROW else ": ") if only else ""
    figure.suptitle(title + joined + only, fontsize=TITLE)
    axes = figure.subplots(rows, columns, squeeze=False, **subplots)
    for ax in axes.flat:
        plain(ax)
    return figure, axes


def plain(ax: Axes) -> None:
    """Give axes small text, a faint grid, numbers without offset."""
    ax.tick_params(labelsize=SMALL)
    ax.grid(True, color="#e3e3e3", linewidth=0.6)
    ax.set_axisbelow(True)
    ax.spines[["top", "right"]].set_visible(False)
    ax.ticklabel_format(useOffset=False)


def title(ax: Axes, text: str) -> None:
    """Set the title of one of several axes."""
    ax.set_title(text, fontsize=TEXT)


def axis_labels(ax: Axes, x: str | None, y: str | None) -> None:
    """Set the labels that are given."""
    if x is not None:
        ax.set_xlabel(x, fontsize=TEXT)
    if y is not None:
        ax.set_ylabel(y, fontsize=TEXT)


def results_legend(figure: Figure, results: Sequence[Result], dots: bool = False) -> None:
    """Show below the axes which look is which result, if there are several."""
    if len(results) > 1:
        share_legend(figure, make_handles([label(result) for result in results], dots))


def make_handles(labels: Sequence[str], dots: bool = False) -> list[Line2D]:
    """Return the handles of a legend, of lines or of clouds of points in their order."""
    looks = [dot(k, 4.0) if dots else look(k)._asdict() for k in range(len(labels))]
    return [Line2D([], [], **own, label=x) for own, x in zip(looks, labels, strict=True)]


def bar(k: int) -> dict[str, Any]:
    """Return the look of the bars of result k, told apart beyond the number of colours too."""
    hatch = HATCHES[k // len(COLOURS) % len(HATCHES)]
    look = {"color": COLOURS[k % len(COLOURS)], "hatch": hatch}
    return look | {"edgecolor": "white", "linewidth": 0}


def share_legend(figure: Figure, handles: Sequence[Line2D | Container]) -> None:
    """Show one legend for all axes, below them."""
    width = figure.get_figwidth() / (0.5 + 0.075 * max(len(str(h.get_label())) for h in handles))
    figure.legend(
        handles=list(handles),
        loc="outside lower center",
        fontsize=SMALL,
        frameon=False,
        ncols=max(1, min(len(handles), int(width))),
    )


def own_legend(ax: Axes, columns: int = 3, handles: Sequence[Line2D] | None = None) -> None:
    """Show the legend of axes below them, where it hides nothing; by default of all lines."""
    ax.legend(
        handles=handles,
        loc="upper center",
        bbox_to_anchor=(0.5, 0.0),
        bbox_transform=offset_copy(ax.transAxes, ax.get_figure(root=True), y=-34, units="points"),
        fontsize=SMALL,
        frameon=False,
        ncols=columns,
        handlelength=1.6,
        columnspacing=1.0,
        borderaxespad=0.2,
    )


def flatten_round_off(ax: Axes, values: ArrayLike, scale: float) -> None:
    """Show values that are round-off of ``scale`` as a flat line, instead of filling the axes."""
    if peak(values) <= MOST_ROUNDING * scale or peak(values) < 1e-15:
        ax.set_ylim(-0.1 * (scale or 1.0), 0.1 * (scale or 1.0))


def logarithmic(ax: Axes, values: ArrayLike) -> None:
    """Make y logarithmic; where the values span less than two decades, show plain numbers."""
    ax.set_yscale("log")
    array = np.asarray(values, dtype=float)
    array = array[np.isfinite(array) & (array > 0)]
    if array.size == 0 or array.max() / array.min() > 100:
        return
    ax.set_ylim(array.min() / 1.25, array.max() * 1.25)
    plain_decades(ax.yaxis)


def plain_decades(axis: Axis) -> None:
    """Show 1, 2 and 5 of each decade of a logarithmic axis as plain numbers."""
    axis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
    axis.set_major_formatter(FuncFormatter(lambda x, _: f"{x:g}"))
    axis.set_minor_locator(NullLocator())
