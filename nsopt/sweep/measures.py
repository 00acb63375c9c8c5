"""The measures of each run of a sweep, their errors where it is checked, and the notes on it."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np

from nsopt.caveats import find_predictable_time, has_errors
from nsopt.result import Result
from nsopt.stored import ERROR, ERRORS, FIGURE, NOTES, PROVENANCE

if TYPE_CHECKING:
    import xarray as xr

Measure = Callable[[Result], Any]


def _take_last(name: str) -> Measure:
    """Return the measure that is the last value of a variable."""

    def measure(result: Result) -> xr.DataArray:
        x = result[name].isel(time=-1)
        return x.assign_attrs(long_name=f"{x.attrs['long_name']}, at the end")

    return measure


def _largest_lasting_force(result: Result) -> xr.DataArray:
    """Return the largest force of a single step, which need not converge as h falls."""
    size = np.linalg.norm(result["lasting_force"].values, axis=-1)
    meaning = "largest force of each contact in any one step, impacts left out"
    return _find_largest(result, size, "N", meaning)


def _take_largest(name: str, units: str, meaning: str) -> Measure:
    """Return the measure that is the largest value of a variable of contacts."""
    return lambda result: _find_largest(result, result[name].values[1:], units, meaning)


def _largest_outputs(result: Result) -> xr.DataArray:
    """Return the largest value of each output of forces, by its name."""
    import xarray as xr

    names = [str(name) for name, x in result.data.data_vars.items() if "most" in x.attrs]
    values = [float(np.fmax.reduce(result[name].values)) for name in names]
    meaning = {"units": "", "long_name": "largest value of each output of forces"}
    meaning["units_of_each"] = "; ".join(result[name].attrs["units"] for name in names)
    return xr.DataArray(values, {"output": names}, ("output",), attrs=meaning)


def _find_largest(result: Result, x: Any, units: str, meaning: str) -> xr.DataArray:
    """Return the largest of x (time, contact) over time, NaN where it is never known."""
    import xarray as xr

    contact, attrs = result["contact"].values, {"units": units, "long_name": meaning}
    largest = np.fmax.reduce(x, axis=0)
    return xr.DataArray(largest, {"contact": contact}, ("contact",), attrs=attrs)


MEASURES: Mapping[str, Measure] = {
    "final_q": _take_last("q"),
    "final_v": _take_last("v"),
    "dissipated_energy": _take_last("dissipated_energy"),
    "largest_lasting_force": _largest_lasting_force,
    "largest_impact": _take_largest(
        "impact_impulse", "N s", "largest impulse of an impact of each contact"
    ),
    "largest_gap_violation": _take_largest("gap_violation", "m", "largest depth inside the wall"),
    "largest_outputs": _largest_outputs,
}
"""The measures of each complete run, beside the `NOTES` on every run.

``largest_lasting_force`` is the force of one step. Of a joint that rattles it may be a step at the
end of a lasting contact that exceeds all others, and change as h falls: for what a joint carries
give `sweep` a quantile over time as a ``measure``.
"""


AT_END = MappingProxyType({"final_q": "q", "final_v": "v", "dissipated_energy": "total_energy"})
"""Measures that are the last value of a variable, and that variable."""

FIGURES = tuple(name for name, (dims, _, _) in ERRORS.items() if dims == FIGURE)
"""Figures of contacts, one for each joint, that a checked run has beside its errors."""

MOTION, UNTIL = f"{ERROR}motion", "predictable_until"
"""The largest error of the motion of a run, and the time until which it is predictable."""

OF_CHECKED = (
    *(UNTIL, MOTION),
    *(f"{ERROR}{name}" for name in AT_END),
    *FIGURES,
    *(f"{ERROR}{name}" for name in FIGURES),
)
"""Names that a checked run may have beside its measures."""


def make_notes(result: Result | None, stop_reason: str, run_time: float) -> xr.Dataset:
    """Return the `NOTES` on a run that took ``run_time`` [s], also on one that never began."""
    import xarray as xr

    nothing = {"time": np.array([np.nan]), "retries": np.array([]), "solve_time": np.array([])}
    run = nothing if result is None else {name: result[name].values for name in nothing}
    attrs = {} if result is None else result.data.attrs
    values = {
        "completed": int(not stop_reason),
        "stop_reason": stop_reason,
        "end_time": run["time"][-1],
        "steps": int(attrs.get("steps", len(run["time"]) - 1)),
        "retries": int(np.nansum(run["retries"])),
        "solve_time": np.nansum(run["solve_time"]),
        "run_time": run_time,
    }
    noted = {
        name: xr.DataArray(values[name], attrs={"units": units, "long_name": meaning})
        for name, (units, meaning) in NOTES.items()
    }
    return xr.Dataset(noted, attrs={name: attrs[name] for name in PROVENANCE if name in attrs})


def measure_run(
    result: Result, measures: Mapping[str, Measure], taken: Collection[str]
) -> dict[str, xr.DataArray]:
    """Return the measures of a run, none of which may have a dimension with a name in ``taken``.

    A ValueError names the measure that failed, or that has such a dimension.
    """
    values = {}
    for name, measure in measures.items():
        try:
            values[name] = label(measure(result))
        except Exception as error:  # anything may go wrong in what a user writes
            raise ValueError(f"measure {name!r}: {type(error).__name__}: {error}") from error
        if twice := {*map(str, values[name].dims)} & {*taken}:
            raise ValueError(f"measure {name!r} has a dimension {twice.pop()!r}, as the sweep has")
    return values


def label(value: Any) -> xr.DataArray:
    """Return floats whose dimensions have names as labels, without further coordinates."""
    import xarray as xr

    x = xr.DataArray(value).astype(float, keep_attrs=True)
    names = {d: x[f"{d}_name"].values for d in x.dims if f"{d}_name" in x.coords}
    x = x.drop_vars([c for c in x.coords if c not in x.dims or c in names])
    return x.assign_coords(names)


def measure_errors(result: Result, taken: Collection[str]) -> Mapping[str, xr.DataArray]:
    """Return the figures of a run and the errors of its measures; none if it is not checked.

    Figures whose names are ``taken`` are left out, with their errors. Errors of figures that do not
    follow from the motion alone are NaN.
    """
    import xarray as xr

    if not has_errors(result.data):
        return {}
    error, found = result.error, dict[str, xr.DataArray]()
    until = {"units": "s", "long_name": "time until which the motion is predictable"}
    found[UNTIL] = xr.DataArray(find_predictable_time(result.data), attrs=until)
    found[MOTION] = _strip(error["motion"].max("time", skipna=False), error["motion"].attrs)
    for name, variable in AT_END.items():
        if variable in error:
            found[ERROR + name] = _strip(error[variable].isel(time=-1), error[variable].attrs)
    for name in FIGURES:
        if name in error and name not in taken:
            known = bool(error[name].attrs["unique"])
            found[name] = _strip(result[name], result[name].attrs)
            found[ERROR + name] = _strip(error[name].where(known), error[name].attrs)
    return found


def _strip(x: xr.DataArray, attrs: Mapping[str, object]) -> xr.DataArray:
    """Return floats with labels along dimensions, and of ``attrs`` the unit and meaning."""
    kept = {name: attrs[name] for name in ("units", "long_name")}
    return label(x).drop_attrs().assign_attrs(kept)
