"""Figures of sweeps: measures and points of sections over a swept name."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from textwrap import fill

import numpy as np
import xarray as xr
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from nsopt.analysis import bifurcation
from nsopt.arrays import Array
from nsopt.checks import check_names
from nsopt.plots import style
from nsopt.plots.curves import MOST_NAMED
from nsopt.stored import ERROR, FIGURE, NOTES

COLUMNS, TITLE_WIDTH = 2, 52
"""Number of panels in a row, and of letters in a line of their titles, at most."""
FEW = 100.0  # ratio of the ends of a logarithmic axis, up to which more than decades are numbered
LARGEST_OVER = ("contact", *FIGURE)
"""Dimensions over which the largest value is shown, as in the table of a sweep."""


def measures(*sweeps: xr.Dataset, of: str | None = None, over: str | None = None) -> Figure:
    """Draw measures of a sweep over a swept name, a line for each value of the others.

    Points of runs that failed are left out.

    Parameters
    ----------
    *sweeps : xarray.Dataset
        One, of `nsopt.sweep`.
    of : str, optional
        A measure, with a line for each of its components, or an output of an element, of which the
        largest is drawn; by default all measures that have one value for each run, the largest of
        all contacts.
    over : str, optional
        The swept name across; the first by default.
    """
    if len(sweeps) != 1:
        raise ValueError(f"measures shows one sweep at a time, got {len(sweeps)}")
    (data,) = sweeps
    swept = _list_dimensions(data)
    across = _choose(data, over, swept)
    if of is not None and "output" in data and of in data["output"].values:
        data = data.assign({of: _pick_output(data, of)})
    names = _list_shown(data, swept) if of is None else [of]
    if of == "stop_reason":
        raise ValueError("stop_reason is a text; nsopt sweep prints those there are")
    measures = (str(x) for x in data.data_vars if x != "stop_reason")
    check_names("no measure", names, measures, " in this sweep")
    columns = min(COLUMNS, len(names))
    rows = -(-len(names) // columns)
    size = (max(6.4, 4.6 * columns), 1.2 + 2.7 * rows)
    figure, axes = style.page(_name_sweep(data), (), rows, columns, size, sharex=True)
    handles: list[Line2D] = []
    for ax, name in zip(axes.flat, names, strict=False):
        values = data[name].where(data["completed"] != 0)
        errors = data[ERROR + name] if ERROR + name in data else 0 * values
        for dim in (x for x in LARGEST_OVER if of is None and x in values.dims):
            largest = values.fillna(-np.inf).argmax(dim)
            values, errors = (x.isel({dim: largest}, drop=True) for x in (values, errors))
        handles = _draw_measure(ax, values.assign_attrs(data[name].attrs), errors, across)
    for ax in axes.flat[len(names) :]:
        ax.remove()
    for ax in axes.flat[max(0, len(names) - columns) : len(names)]:
        ax.tick_params(labelbottom=True)
        style.axis_labels(ax, _add_unit(data, across), None)
    named = [line for line in handles if not str(line.get_label()).startswith("_")]
    if named:
        style.share_legend(figure, named)
    return figure


def bifurcation_diagram(*sweeps: xr.Dataset, of: str = "points", over: str | None = None) -> Figure:
    """Draw the points of a section over a swept name, as `nsopt.analysis.bifurcation` has them.

    Parameters
    ----------
    *sweeps : xarray.Dataset
        Of `nsopt.sweep` with a measure `nsopt.analysis.SectionValues`; overlaid.
    of : str
        Name of that measure.
    over : str, optional
        The swept name across; the only one by default.
    """
    if not sweeps:
        raise ValueError("bifurcation_diagram needs at least one sweep")
    tables = [bifurcation(data, of, over) for data in sweeps]
    across, first = str(tables[0].columns[0]), sweeps[0]
    title = "Bifurcation diagram" + (f": {_name_sweep(first)}" if len(sweeps) == 1 else "")
    figure, axes = style.page(title, (), 1, 1, (7.0, 4.6))
    for k, table in enumerate(tables):
        if table.empty:
            raise ValueError(f"no run of {_name_sweep(sweeps[k])} has a point in {of!r}")
        look = {**style.dot(k, 1.6), "label": _name_sweep(sweeps[k])}
        axes[0, 0].plot(table.iloc[:, 0], table.iloc[:, 1], **look)
    text = str(first[of].attrs.get("long_name", of))
    style.axis_labels(axes[0, 0], _add_unit(first, across), text)
    if len(sweeps) > 1:
        style.share_legend(figure, style.make_handles([*map(_name_sweep, sweeps)], dots=True))
    return figure


def _pick_output(data: xr.Dataset, name: str) -> xr.DataArray:
    """Return the largest value of an output of an element in each run, with its unit."""
    outputs = data["largest_outputs"]
    units = str(outputs.attrs.get("units_of_each", "")).split("; ")
    unit = dict(zip(outputs["output"].values.tolist(), units, strict=False)).get(name, "")
    largest = outputs.sel(output=name, drop=True)
    return largest.assign_attrs(long_name=f"largest {name}", units=unit)


def _list_dimensions(data: xr.Dataset) -> list[str]:
    """Return the dimensions of a sweep."""
    if "completed" not in data:
        raise ValueError("this is no sweep: give what nsopt.sweep returned, or its sweep.nc")
    return [str(d) for d in data["completed"].dims]


def _choose(data: xr.Dataset, over: str | None, swept: list[str]) -> str:
    names = [str(name) for name, x in data.coords.items() if x.dims and {*x.dims} <= {*swept}]
    chosen = names[0] if over is None else over
    check_names("over names", [chosen], names, ", which was not swept")
    return chosen


def _list_shown(data: xr.Dataset, swept: list[str]) -> list[str]:
    """Return the measures of one value for each run."""
    known = [
        str(name)
        for name, x in data.data_vars.items()
        if name not in NOTES
        and {*x.dims} <= {*swept, *LARGEST_OVER}
        and bool(x.notnull().any())
        and str(name).removeprefix(ERROR) not in {*data.data_vars} - {name}
    ]
    if not known:
        raise ValueError("no run of this sweep has a measure; nsopt sweep prints why")
    return known


def _draw_measure(
    ax: Axes, values: xr.DataArray, errors: xr.DataArray, across: str
) -> list[Line2D]:
    """Draw a line for each combination of the other dimensions, with what it may be off by."""
    off = [y for _, _, y in _yield_lines(errors.fillna(0.0).where(values.notnull()), across)]
    lines = list(_yield_lines(values, across))
    symbol = str(values.attrs.get("units", ""))
    one = symbol not in ("", "1") and "," not in symbol  # else a prefix would say nothing
    unit = style.unit_of(symbol, values.values) if one else style.Unit(1.0, symbol.strip("1"))
    handles = []
    for k, (label, x, y) in enumerate(lines):
        (line,) = ax.plot(x, unit.factor * y, "o", **style.look(k)._asdict(), markersize=3.0)
        line.set_label(label if label and k < MOST_NAMED else "_other")
        if np.any(off[k] > 0):
            color, bars = style.look(k).color, unit.factor * off[k]
            ax.errorbar(x, unit.factor * y, bars, fmt="none", ecolor=color, elinewidth=0.8)
        handles.append(line)
    if lines and _is_even_in_logarithm(lines[0][1]):
        ax.set_xscale("log")
        if lines[0][1][-1] < FEW * lines[0][1][0]:
            style.plain_decades(ax.xaxis)
    named = f" ({MOST_NAMED} of {len(lines)} lines named)" if len(lines) > MOST_NAMED else ""
    style.title(ax, fill(f"{values.attrs.get('long_name', values.name)}{named}", TITLE_WIDTH))
    style.axis_labels(ax, None, f"[{unit.text}]" if unit.text else None)
    return handles


def _yield_lines(values: xr.DataArray, across: str) -> Iterator[tuple[str, Array, Array]]:
    """Yield name, x and y of each line, x ascending, without points that have no value."""
    (along,) = values[across].dims
    others = [str(d) for d in values.dims if d != along]
    labels = [values[d].values if d in values.coords else range(values.sizes[d]) for d in others]
    for combination in product(*map(enumerate, labels)):
        y = values.isel({d: k for d, (k, _) in zip(others, combination, strict=True)})
        x = values[across].values
        order = [i for i in np.argsort(x, kind="stable") if np.isfinite(y.values[i])]
        # A component is told by its name alone.
        parts = [
            value if isinstance(value, str) else f"{d} = {value:.4g}"
            for d, (_, value) in zip(others, combination, strict=True)
        ]
        yield ", ".join(parts), x[order], y.values[order]


def _is_even_in_logarithm(x: Array) -> bool:
    """Return whether ascending values are spaced more evenly in their logarithm."""
    if len(x) < 3 or x[0] <= 0:
        return False
    steps, ratios = np.diff(x), np.diff(np.log(x))
    return bool(np.ptp(steps) / steps.mean() > np.ptp(ratios) / ratios.mean() + 1e-9)


def _add_unit(data: xr.Dataset, name: str) -> str:
    unit = str(data[name].attrs.get("units", "")) if name in data.coords else ""
    return f"{name} [{unit}]" if unit else name


def _name_sweep(data: xr.Dataset) -> str:
    """Return the title of a sweep, with its scheme and how many runs failed."""
    failed = int((data["completed"] == 0).sum()) if "completed" in data else 0
    parts = [str(data.attrs.get("title", "sweep")), str(data.attrs.get("scheme_name", ""))]
    parts += [f"{failed} of {data['completed'].size} runs failed"] if failed else []
    return ", ".join(filter(None, parts))
