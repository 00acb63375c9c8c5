"""The errors of the measures of a sweep whose runs are checked."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING

from nsopt.caveats import FORCES, find_predictable_time, has_errors
from nsopt.result import Result
from nsopt.stored import ERROR, ERRORS, FIGURE
from nsopt.sweep.measures import label

if TYPE_CHECKING:
    import xarray as xr

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


def measure_errors(result: Result, taken: Collection[str]) -> Mapping[str, xr.DataArray]:
    """Return the figures of a run and the errors of its measures; none if it is not checked.

    Figures whose names are ``taken`` are left out, with their errors. Errors of forces that do not
    follow from the motion uniquely are NaN.
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
            known = name not in FORCES or error[name].attrs["unique"]
            found[name] = _strip(result[name], result[name].attrs)
            found[ERROR + name] = _strip(error[name].where(bool(known)), error[name].attrs)
    return found


def _strip(x: xr.DataArray, attrs: Mapping[str, object]) -> xr.DataArray:
    """Return floats with labels along dimensions, and of ``attrs`` the unit and meaning."""
    kept = {name: attrs[name] for name in ("units", "long_name")}
    return label(x).drop_attrs().assign_attrs(kept)
