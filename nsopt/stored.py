"""The files of results and sweeps: what they must hold, texts as numbers, a hash of all data."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection, Iterator, Mapping
from numbers import Integral, Real
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    import h5py
    import xarray as xr

HASH = "data_hash"
"""Attribute of a saved result."""

BLOCK = 1 << 22
"""Bytes that are read at once."""

ENCODED = "texts"
"""Attribute of a variable of texts: the name of the table that its numbers are rows of."""

_OF_HDF5 = {
    "CLASS",
    "DIMENSION_LIST",
    "NAME",
    "REFERENCE_LIST",
    "_NCProperties",
    "_Netcdf4Coordinates",
    "_Netcdf4Dimid",
}
"""Attributes that HDF5 and netCDF keep for themselves."""

TIME, CONTACT, JOINT = ("time",), ("time", "contact"), ("time", "joint")
VARIABLES: dict[str, tuple[tuple[str, ...], str, str]] = {
    "h": (TIME, "s", "step size"),
    "q": (("time", "q"), "m, 1", "coordinates"),
    "v": (("time", "v"), "m/s, rad/s", "velocities, angular ones in body axes"),
    "acceleration": (
        ("time", "v"),
        "m/s^2, rad/s^2",
        "rates of v right after the time, impacts left out",
    ),
    "gap": (CONTACT, "m", "distance of the surfaces"),
    "impulse": (CONTACT, "N s", "contact impulse over the step that ends here"),
    "impact_impulse": (CONTACT, "N s", "the part of it that acted at once, in impacts"),
    "contact_mode": (CONTACT, "1", "over the step: 0 open, 1 lasting contact, 2 impact"),
    "lasting_force": (
        (*CONTACT, "axis"),
        "N",
        "contact force on the body of frame b at the time, impacts left out",
    ),
    "contact_force": (
        (*CONTACT, "axis"),
        "N",
        "contact force on the body of frame b with friction, mean over the step that ends here",
    ),
    "contact_point": ((*CONTACT, "axis"), "m", "where the surfaces touch or would touch"),
    "contact_offset": (
        (*CONTACT, "axis"),
        "m",
        "offset from the axis of a bore, in its axes; NaN for other contacts",
    ),
    "contact_slip": (
        (*CONTACT, "axis"),
        "m/s",
        "velocity of the material of the body of frame b on that of frame a, along the surface",
    ),
    "joint_reaction": (
        (*JOINT, "axis"),
        "N",
        "force of the joint on the body of frame b, at the time; of contacts over the step",
    ),
    "joint_reaction_torque": ((*JOINT, "axis"), "N m", "its torque about the origin of frame b"),
    "joint_resistance": (
        (*JOINT, "axis"),
        "N m",
        "torque by which a joint resists, on the body of frame b, about its origin",
    ),
    "joint_resistance_force": ((*JOINT, "axis"), "N", "force by which a joint resists"),
    "body_acceleration": (("time", "body", "axis"), "m/s^2", "of the centres of mass"),
    "body_angular_acceleration": (("time", "body", "axis"), "rad/s^2", "in world axes"),
    "joint_coordinate": (("time", "freedom"), "rad, m", "angles and lengths of ideal joints"),
    "joint_rate": (("time", "freedom"), "rad/s, m/s", "their rates"),
    "kinetic_energy": (TIME, "J", "kinetic energy"),
    "potential_energy": (TIME, "J", "energy of gravity and springs"),
    "total_energy": (TIME, "J", "kinetic and potential energy"),
    "external_work": (TIME, "J", "work of applied loads since the start"),
    "dissipated_energy": (TIME, "J", "energy lost in impacts, friction, dampers and steps"),
    "projection_work": (TIME, "J", "energy added by bringing bodies back to joints and walls"),
    "motion_residual": (TIME, "N", "largest residual of the equations of motion"),
    "contact_loss": (CONTACT, "J", "energy taken by each contact over the step, as it is stepped"),
    "complementarity_residual": (CONTACT, "N m", "contact force times gap"),
    "gap_violation": (CONTACT, "m", "depth inside the wall"),
    "constraint_violation": (JOINT, "m", "largest residual of each joint (directions: rad)"),
    "euler_norm_error": (TIME, "1", "largest | |p| - 1 |"),
    "iterations": (TIME, "1", "solver iterations"),
    "retries": (TIME, "1", "attempts beyond the first"),
    "solve_time": (TIME, "s", "time in the solver"),
    "step_reason": (TIME, "", "reason of the step size, and the attempt that solved the step"),
    "tried": (TIME, "", "attempts that failed before, and why"),
    "body_position": (("time", "body", "axis"), "m", "centres of mass"),
    "body_quaternion": (("time", "body", "quaternion"), "1", "Euler parameters, body to world"),
    "body_velocity": (("time", "body", "axis"), "m/s", "velocities of the centres of mass"),
    "body_angular_velocity": (("time", "body", "axis"), "rad/s", "in world axes"),
}

NOTES = {
    "completed": ("1", "whether the run reached its end and all measures exist"),
    "stop_reason": ("", "why not"),
    "end_time": ("s", "time reached"),
    "steps": ("1", "number of steps"),
    "retries": ("1", "attempts of steps beyond the first"),
    "solve_time": ("s", "time in the solver"),
    "run_time": ("s", "time of the whole run, preparation included"),
}
"""What a sweep has on each of its runs, also on those that failed: unit and meaning."""

LABELS = ("q_name", "v_name", "contact", "joint", "freedom", "body", "axis")
"""Coordinates beside ``time``."""

_TEXTS = ("step_reason", "tried")
_JSON = (
    *("parameters", "outline", "frames", "pressed_frames"),
    *("plot_data", "redundant_rows", "left_out"),
)
_NUMBERS = ("gap_scales", "clearances", "gravity")
ATTRIBUTES: dict[str, type] = {
    **dict.fromkeys(
        (
            "title",
            "scheme",
            "scheme_name",
            "solver",
            "solver_name",
            "stop_reason",
            "nsopt_version",
            "casadi_version",
            "model_hash",
            *_JSON,
        ),
        str,
    ),
    **dict.fromkeys(
        (
            "completed",
            "steps",
            "store_every",
            "output_times",
            "steps_below_h_min",
            "steps_by_other_schemes",
            "steps_by_other_laws",
            "steps_unfollowed",
            "ideal_joints",
            "pressed",
            "redundant_joint_rows",
            "redundant_contacts",
        ),
        Integral,
    ),
    **dict.fromkeys(
        (
            "h_min",
            "h_max",
            "compile_time",
            "time_by_other_schemes",
            "unplaced_energy",
            *_NUMBERS,
        ),
        Real,
    ),
}
"""Attributes of every result, and what they are."""

OF_OPTIMA: dict[str, type] = {
    **dict.fromkeys(("objective", "violation", "defect", "guess_violation"), Real),
    **dict.fromkeys(("status", "detailed_cost", "guess_cost"), str),
}
"""Attributes of the result of an optimization."""

_KINDS: dict[type, str] = {str: "text", Integral: "a whole number", Real: "a number"}


ALWAYS = frozenset(name for name, (dims, _, _) in VARIABLES.items() if dims == TIME)
"""Variables that every result has."""


def check_wanted(variables: Collection[str] | None) -> frozenset[str]:
    """Return the variables of a result that is to have some, all by default.

    Raises
    ------
    ValueError
        For a name that is no variable, with those there are.
    """
    if variables is None:
        return frozenset(VARIABLES)
    names = [variables] if isinstance(variables, str) else list(variables)
    for name in names:
        if name not in VARIABLES:
            raise ValueError(f"no variable {name!r}; there are {', '.join(VARIABLES)}")
    return ALWAYS.union(names)


def check_complete(data: xr.Dataset) -> None:
    """Refuse a dataset that lacks something every result has, or has it of another kind.

    Raises
    ------
    ValueError
        Naming all that is wrong.
    """
    faults = [*_faults_of_variables(data), *_faults_of_attributes(data.attrs)]
    if faults:
        more = f"; and {len(faults) - 5} more" if len(faults) > 5 else ""
        raise ValueError(f"{'; '.join(faults[:5])}{more}")


def left_out(attrs: Mapping[Any, Any]) -> list[str]:
    """Return the variables that a result was made without."""
    try:
        return list(json.loads(attrs.get("left_out", "[]")))
    except (TypeError, ValueError):
        return []


def _faults_of_variables(data: xr.Dataset) -> Iterator[str]:
    for name in ("time", *LABELS, *VARIABLES):
        if name not in data.variables and name not in left_out(data.attrs):
            yield f"variable {name!r} is missing"
    for name, (dims, _, _) in {"time": (TIME, "s", ""), **VARIABLES}.items():
        if name not in data.variables:
            continue
        x = data.variables[name]
        if x.dims != dims:
            yield f"variable {name!r} is over {x.dims}, not {dims}"
        elif (x.dtype.kind in "OUTS") is not (name in _TEXTS):
            yield f"variable {name!r} is of type {x.dtype}"
        elif not x.size and name == "time":
            yield "variable 'time' is empty"
    for label, variable in data.data_vars.items():
        for key, kind in (("units", str), ("most", Real)):
            if not isinstance(variable.attrs.get(key, "" if kind is str else 0), kind):
                yield f"attribute {key!r} of {label!r} must be {_KINDS[kind]}"
        if label in VARIABLES and "units" not in variable.attrs:
            yield f"attribute 'units' of {label!r} is missing"


def _faults_of_attributes(attrs: Mapping[Any, Any]) -> Iterator[str]:
    optimum = OF_OPTIMA if "objective" in attrs else {}
    for name, kind in {**ATTRIBUTES, **optimum}.items():
        if name not in attrs:
            yield f"attribute {name!r} is missing"
        elif not _is(attrs[name], kind, many=name in _NUMBERS):
            yield f"attribute {name!r} must be {_KINDS[kind]}, got {attrs[name]!r:.60}"
        elif name in _JSON or name.endswith("_cost"):
            try:
                json.loads(attrs[name])
            except ValueError:
                yield f"attribute {name!r} must be JSON, got {attrs[name]!r:.60}"


def _is(value: Any, kind: type, many: bool) -> bool:
    if many:
        return np.asarray(value).dtype.kind in "fiu"
    return isinstance(value, kind) and not isinstance(value, bool)


def encoded(data: xr.Dataset) -> xr.Dataset:
    """Return a dataset whose texts over time are numbers, the rows of tables of different texts."""
    import pandas as pd

    for name in _TEXTS:
        rows, table = pd.factorize(data[name].values)
        attrs = data[name].attrs | {ENCODED: f"{name}_texts"}
        data = data.assign(
            {
                name: (TIME, rows.astype(np.int32), attrs),
                f"{name}_texts": (f"{name}_texts", np.asarray(table, dtype=object)),
            }
        )
    return data


def decoded(data: xr.Dataset) -> xr.Dataset:
    """Return the dataset that was `encoded`."""
    for name in _TEXTS:
        x = data.get(name)
        if x is None or ENCODED not in x.attrs:
            continue
        attrs = dict(x.attrs)
        table = attrs.pop(ENCODED)
        texts = data[table].values.astype(object)[x.values]
        data = data.drop_vars(table).assign({name: (TIME, texts, attrs)})
    return data


def add_hash(content: Any) -> None:
    """Add the hash of a file, a file object that can be read and written, to its attributes."""
    import h5py

    with h5py.File(content, "r+") as file:
        file.attrs[HASH] = _hash(file)


def check_hash(path: Path) -> str:
    """Return the hash that a file carries, empty if it has none.

    Raises
    ------
    ValueError
        If its data have another one.
    """
    import h5py

    with h5py.File(path, "r") as file:
        stated = str(file.attrs.get(HASH, ""))
        found = _hash(file) if stated else ""
    if stated != found:
        raise ValueError(
            f"the data of {str(path)!r} are not those that were saved, by their hash ({stated}, "
            f"found {found}): take another copy, or run it anew"
        )
    return stated


def _hash(file: h5py.File) -> str:
    """Return a hash of all variables and attributes, however HDF5 lays them out."""
    total = hashlib.sha256()
    for name in sorted(file):
        x = file[name]
        total.update(_text([name, x.dtype.kind, x.dtype.itemsize, x.shape, _attributes(x)]))
        for block in _blocks(x):
            total.update(_text(block.tolist()) if block.dtype.kind == "O" else block)
    total.update(_text(_attributes(file)))
    return total.hexdigest()


def _blocks(x: h5py.Dataset) -> Iterator[Any]:
    if not x.shape:
        yield np.atleast_1d(x[()])
        return
    rows = max(1, BLOCK * x.shape[0] // max(x.nbytes, 1))
    for begin in range(0, x.shape[0] if x.size else 0, rows):
        yield np.ascontiguousarray(x[begin : begin + rows])


def _attributes(x: Any) -> dict[str, Any]:
    own = sorted({*x.attrs} - _OF_HDF5 - {HASH})
    return {name: _listed(np.asarray(x.attrs[name])) for name in own}


def _listed(x: Any) -> Any:
    # Of one number, versions of h5netcdf write a scalar or an array with one element.
    return np.atleast_1d(x).tolist() if x.dtype.kind in "biuf" else x.tolist()


def _text(x: Any) -> bytes:
    return json.dumps(x, default=str).encode()
