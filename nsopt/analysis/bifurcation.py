"""Bifurcation diagrams: what a section shows, over a parameter of a sweep."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd
import xarray as xr

from nsopt.analysis.quantities import Quantity, quantity
from nsopt.analysis.sections import PoincareSection, interpolate
from nsopt.result import Result


@dataclass(frozen=True)
class SectionValues:
    """A measure of `nsopt.sweep`: a quantity where each run meets a section.

    Parameters
    ----------
    of : str or callable
        As for `quantity`.
    section : PoincareSection
    last : int
        Number of times to keep, the last ones, after the motion has settled.

    Examples
    --------
    >>> data = sweep(
    ...     problem,
    ...     Grid({"speed": speeds}),
    ...     measure={"points": SectionValues("slider.speed", Strobe(period), 50)},
    ... )  # doctest: +SKIP
    """

    of: Quantity
    section: PoincareSection
    last: int = 50

    def __post_init__(self) -> None:
        if self.last < 1:
            raise ValueError(f"last must be 1 or more, got {self.last}")

    def __call__(self, result: Result) -> xr.DataArray:
        """Return the values along ``point``, NaN where a run has fewer."""
        times = self.section.times(result)[-self.last :]
        values = np.full(self.last, np.nan)
        if times.size:
            values[-len(times) :] = interpolate(result, quantity(result, self.of), times)
        name = self.of if isinstance(self.of, str) else "a quantity"
        attrs = {"long_name": f"{name} where the run meets a section", "units": ""}
        return xr.DataArray(values, dims="point", attrs=attrs)


def bifurcation(data: xr.Dataset, values: str = "points", over: str | None = None) -> pd.DataFrame:
    """Return the points of a bifurcation diagram, one row for each.

    Parameters
    ----------
    data : xarray.Dataset
        Of a `nsopt.sweep` with a measure `SectionValues`.
    values : str
        Name of the measure.
    over : str, optional
        The swept name on the axis across; the only one by default.

    Returns
    -------
    pandas.DataFrame
        Columns ``over`` and ``values``; points of runs that failed are left out.

    Raises
    ------
    KeyError
        If there is no such measure.
    ValueError
        If several names were swept and none is given.
    """
    if values not in data:
        raise KeyError(
            f"no measure {values!r} in the sweep; there are {', '.join(map(str, data.data_vars))}"
        )
    swept = [str(d) for d in data[values].dims if d != "point"]
    if over is None:
        if len(swept) != 1:
            raise ValueError(f"several names were swept ({', '.join(swept)}): give over=")
        over = swept[0]
    table = data[values].to_dataframe().reset_index()[[over, values]].dropna()
    return table.sort_values(over, kind="stable", ignore_index=True)
