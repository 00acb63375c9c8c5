"""A sweep as a table that a person can read."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import xarray as xr

MOST_ROWS = 40
MOST_REASONS = 5
ASIDE = {"end_time", "run_time"}


def table(data: xr.Dataset) -> str:
    """Return the measures of a sweep, a row for each point, and why points failed.

    Of a measure with a value for each contact the largest is shown; other measures with
    components are left out.
    """
    dims = [str(d) for d in data["completed"].dims]
    swept = [str(name) for name, x in data.coords.items() if {*x.dims} <= {*dims}]
    rows = data.drop_vars("stop_reason")
    rows = rows.max("contact") if rows.sizes.get("contact") else rows
    shown = [str(name) for name, x in rows.items() if [*x.dims] == dims and name not in ASIDE]
    text = rows[shown].to_dataframe(dim_order=dims).reset_index()[[*swept, *shown]]
    return "\n".join(
        [
            text.to_string(index=False, max_rows=MOST_ROWS, float_format="{:.4g}".format),
            *_reasons(data, dims, swept),
        ]
    )


def _reasons(data: xr.Dataset, dims: list[str], swept: list[str]) -> list[str]:
    rows = data[["stop_reason"]].to_dataframe(dim_order=dims).reset_index()
    failed = rows[rows["stop_reason"] != ""]
    lines = [
        f"failed at {', '.join(f'{name} = {row[name]:.6g}' for name in swept)}: "
        f"{row['stop_reason']}"
        for _, row in failed.head(MOST_REASONS).iterrows()
    ]
    more = len(failed) - MOST_REASONS
    return [*lines, f"... and {more} more"] if more > 0 else lines
