"""A sweep as a table that a person can read."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from nsopt.checks import check_names
from nsopt.stored import ERROR, FIGURE

if TYPE_CHECKING:
    import pandas as pd
    import xarray as xr

MOST_ROWS = 40  # rows that are shown; of more those in the middle are left out
MOST_REASONS = 5  # failed points whose reasons are shown

HIDDEN = {"end_time", "run_time"}
"""Notes that the table leaves out."""

LARGEST = "largest_outputs"
"""Measure of the outputs of elements."""

OF_CONTACTS = ("contact", *FIGURE)  # dimensions over which the largest value is taken


def table(data: xr.Dataset, outputs: Sequence[str] = ()) -> str:
    """Return the measures of a sweep, a row for each point, and why points failed.

    Columns as `columns` has them, errors beside their values.
    """
    import pandas as pd

    dims = [str(d) for d in data["completed"].dims]
    swept = [str(name) for name, x in data.coords.items() if {*x.dims} <= {*dims}]
    rows = columns(data, outputs)
    text = pd.DataFrame({name: rows[name] for name in swept})
    for name in (x for x in map(str, rows) if x not in {*HIDDEN, *swept}):
        if name.removeprefix(ERROR) in rows and name.startswith(ERROR):
            continue  # stands beside its value
        error = rows.get(ERROR + name)
        text[name] = rows[name] if error is None else list(map(_add_error, rows[name], error))
    return "\n".join(
        [
            text.to_string(index=False, max_rows=MOST_ROWS, float_format="{:.4g}".format),
            *_tell_reasons(data, dims, swept),
        ]
    )


def columns(data: xr.Dataset, outputs: Sequence[str] = ()) -> pd.DataFrame:
    """Return the measures of a sweep and their errors as columns, a row for each point.

    ``columns(data).to_csv("sweep.csv", index=False)`` writes them. Of a measure with a value for
    each contact, or joint with contacts, the largest is taken, with the error of that; other
    measures with components are left out.

    Parameters
    ----------
    data : xarray.Dataset
        Of `sweep`.
    outputs : sequence of str
        Of elements, such as ``cone.excess``, whose ``largest_outputs`` are columns too.

    Returns
    -------
    pandas.DataFrame
        What was swept, notes and measures; ``error_`` and the name of a measure is its error.

    Raises
    ------
    ValueError
        No element has an output of that name.
    """
    dims = [str(d) for d in data["completed"].dims]
    swept = [str(name) for name, x in data.coords.items() if {*x.dims} <= {*dims}]
    rows = data.drop_vars("stop_reason")
    for name in outputs:
        rows = rows.assign(_pick_output(data, name))
    for over in (d for d in OF_CONTACTS if rows.sizes.get(d)):
        named = [str(name) for name, x in rows.items() if over in x.dims]
        for name in (x for x in named if not x.startswith(ERROR)):
            values, error = rows[name], rows.get(ERROR + name)
            rows[name] = values.max(over)
            if error is not None:
                largest = values.fillna(-np.inf).argmax(over)
                rows[ERROR + name] = error.isel({over: largest}, drop=True)
    shown = [str(name) for name, x in rows.items() if [*x.dims] == dims]
    return rows[shown].to_dataframe(dim_order=dims).reset_index()[[*swept, *shown]]


def _pick_output(data: xr.Dataset, name: str) -> dict[str, xr.DataArray]:
    """Return the largest of an output of an element and, if there is one, its error, by name."""
    known = [str(x) for x in data["output"].values] if "output" in data else []
    check_names("no output", [name], known, " in this sweep")
    found = {name: LARGEST, ERROR + name: ERROR + LARGEST}
    return {own: data[of].sel(output=name, drop=True) for own, of in found.items() if of in data}


def _add_error(value: float, error: float) -> str:
    """Return a value with its error, in words; the value alone if its error is unknown."""
    return f"{value:.4g}" if np.isnan(error) else f"{value:.4g} +- {error:.2g}"


def _tell_reasons(data: xr.Dataset, dims: list[str], swept: list[str]) -> list[str]:
    """Return why points failed, a line for each of the first."""
    rows = data[["stop_reason"]].to_dataframe(dim_order=dims).reset_index()
    failed = rows[rows["stop_reason"] != ""]
    lines = [
        f"failed at {', '.join(f'{name} = {row[name]:.6g}' for name in swept)}: "
        f"{row['stop_reason']}"
        for _, row in failed.head(MOST_REASONS).iterrows()
    ]
    more = len(failed) - MOST_REASONS
    return [*lines, f"... and {more} more"] if more > 0 else lines
