"""What the file of a result must hold, checked name by name.

`Result.open` calls `check_readable` before xarray reads the file, `check_complete` of what was
read, then `check_values`, unless variables are left in the file; each takes for granted what those
before it refuse. Of optima, whose ``attrs`` have an "objective", some rules do not hold.
"""

from __future__ import annotations

import json
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from numbers import Integral, Real
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from nsopt.stored import (
    ATTRIBUTES,
    ENCODED,
    ERROR,
    ERRORS,
    FIGURE,
    JSON,
    LABELS,
    NUMBERS,
    NUMBERS_OF_ERRORS,
    OF_OPTIMA,
    OF_SOME,
    TEXTS,
    TIME,
    VARIABLES,
    read_names,
)
from nsopt.stored_hash import GROUP
from nsopt.stored_relations import EXACT, find_breaches, find_contradictions, yield_parts

if TYPE_CHECKING:
    import h5py
    import xarray as xr

SOMETIMES_NAN = {
    *("acceleration", "body_acceleration", "body_angular_acceleration", "lasting_force"),
    *("contact_mode", "contact_offset", "joint_reaction", "joint_reaction_torque"),
    *("joint_resistance", "joint_resistance_force"),
}
"""Variables that are NaN where they are not known, or where there is no such thing."""

OF_STEPS = {
    *("h", "impulse", "impact_impulse", "contact_force", "contact_loss"),
    *("complementarity_residual", "motion_residual", "iterations", "retries", "solve_time"),
}
"""Variables of the step that ends at a time: NaN at the first."""

NOT_NEGATIVE = (
    *("h", "impulse", "impact_impulse", "kinetic_energy", "motion_residual", "gap_violation"),
    *("complementarity_residual", "constraint_violation", "euler_norm_error"),
    *("iterations", "retries", "solve_time"),
)
"""Variables that are sizes and counts."""

TOO_LONG = 1.01  # step over h_max which no solver that chooses h comes to

OF_STATES = ("motion", "q", "v", "body_position", "body_velocity", "gap")
"""Errors that are zero at the start, which is stated."""

COUNTS = ("iterations", "retries")  # variables of whole numbers

MAY_BE_NAN = ("gap_scales", "clearances", *OF_OPTIMA, *OF_SOME)
"""Attributes that are NaN where a run does not know them."""

AMONG_STEPS = (
    *("steps_below_h_min", "steps_by_other_schemes"),
    *("steps_by_other_laws", "steps_unfollowed"),
)
"""Attributes that count some of all steps."""

MOST_FAULTS = 5  # number of faults in a message

_OWN_DIMENSION = "_nc4_non_coord_"
"""Prefix that netCDF gives in a file to a variable named as one of its own dimensions."""

_KINDS: dict[type, str] = {str: "text", Integral: "a whole number", Real: "a number"}
"""Types of attributes in words."""


def check_readable(path: Path) -> None:
    """Refuse a file of a result that lacks a variable, or has something else under its name.

    A ValueError names all that is wrong. Files that have not the attributes of a result, and those
    that are no HDF5, pass: that they are none `Result.open` says.
    """
    import h5py

    try:
        file = h5py.File(path, "r")
    except OSError:
        return
    with file:
        if "model_hash" in file.attrs and "casadi_version" in file.attrs:
            _refuse([*faults_of_members(file), *_faults_of_file(file)])


def faults_of_members(file: h5py.File) -> Iterator[str]:
    """Yield what netCDF cannot read as variables over dimensions."""
    for name, x in file.items():
        if name == GROUP:
            continue
        if not hasattr(x, "dtype"):
            yield f"{_name_variable(name)} is a group of {', '.join(map(repr, x)) or 'nothing'}"
        elif x.shape and "CLASS" not in x.attrs and "DIMENSION_LIST" not in x.attrs:
            yield f"{_name_variable(name)}, of type {x.dtype}, is over no dimension"


def _faults_of_file(file: h5py.File) -> Iterator[str]:
    """Yield what is missing or of another kind, before xarray reads the file."""
    for name, x in file.items():
        if getattr(x, "shape", None) == ():
            yield f"{_name_variable(name)} has no dimension"
    for name in ("time", *LABELS, *VARIABLES):
        is_there = {name, f"{_OWN_DIMENSION}{name}"} & {*file}
        if not is_there and name not in read_names(file.attrs, "left_out"):
            yield f"{_name_variable(name)} is missing"
    for name in LABELS:
        x = file.get(name, file.get(f"{_OWN_DIMENSION}{name}"))
        if getattr(x, "size", 0) and x.dtype.kind in "fiucb":
            yield f"{_name_variable(name)} is of type {x.dtype}"
    for name in TEXTS:
        table = getattr(file.get(name), "attrs", {}).get(ENCODED, "")
        if table and not hasattr(file.get(table), "size"):
            yield f"{_name_variable(table)}, the texts of {name!r}, is missing"
        elif table and file[name].dtype.kind not in "iu":
            yield f"{_name_variable(name)} is of type {file[name].dtype}"
        elif table and not np.all((file[name][()] >= 0) & (file[name][()] < file[table].size)):
            yield f"{_name_variable(name)} refers to texts that are not there"


def _name_variable(name: str) -> str:
    return f"variable {name.removeprefix(_OWN_DIMENSION)!r}"


def check_values(data: xr.Dataset) -> None:
    """Refuse a motion with numbers that no run records; warn of those that contradict each other.

    A ValueError, or a UserWarning, names all that is wrong. Contradictions are not refused: the
    caller has compared the file with its hash, so it was hardly altered. That a rule of ours is too
    strict is as likely, and must not keep a user from what was computed.
    """
    _refuse([*_faults_of_values(data)])
    if found := [*find_contradictions(data), *_find_errors_at_start(data)]:
        text = "; ".join(found)
        warnings.warn(f"variables of the result contradict each other: {text}", stacklevel=4)


def _faults_of_values(data: xr.Dataset) -> Iterator[str]:
    """Yield which variables have numbers that no run records."""
    for name in (x for x in VARIABLES if x in data.variables and x not in TEXTS):
        for k, x in enumerate(yield_parts(data, name)):
            known = x[1:] if not k and name in OF_STEPS else x
            if np.any(np.isinf(x)) or (name not in SOMETIMES_NAN and np.any(np.isnan(known))):
                yield f"variable {name!r} has entries that are no finite numbers"
                break
            if name in NOT_NEGATIVE and np.any(x < 0):
                yield f"variable {name!r} has entries that are negative"
                break
    # Each step of an optimum has an equal part of the iterations of its solve, no whole number.
    for name in COUNTS if "objective" not in data.attrs else ():
        if name in data.variables and any(np.any(x % 1 > 0) for x in yield_parts(data, name)):
            yield f"variable {name!r} has entries that are no whole numbers"
    name = "contact_mode"
    if name in data.variables and not all(
        np.all(np.isnan(x) | np.isin(x, (0, 1, 2))) for x in yield_parts(data, name)
    ):
        yield f"variable {name!r} has others than 0, 1, 2"
    yield from find_breaches(data)
    time, h = data.variables["time"].values, data.variables["h"].values
    # Of an optimum "h_max" is no bound of h, but taken from it.
    if np.any(h > TOO_LONG * data.attrs["h_max"]) and "objective" not in data.attrs:
        yield f"attribute 'h_max' is {data.attrs['h_max']}, less than 'h'"
    # Where the times are the ends of all steps.
    if data.attrs["steps"] == len(time) - 1 and not data.attrs["output_times"]:
        error = abs(np.diff(time) - h[1:])
        if not np.all(error <= EXACT * (abs(time[1:]) + abs(time[:-1])) + 1e-6 * h[1:]):
            yield "variable 'h' is not what 'time' rises by"
    # Optima state those of accelerations in another order.
    for name, (_, units, _) in VARIABLES.items():
        stated = data[name].attrs["units"] if name in data.variables else units
        if stated != units and "objective" not in data.attrs:
            yield f"attribute 'units' of {name!r} is {stated!r}, not {units!r}"


def check_complete(data: xr.Dataset) -> None:
    """Refuse a dataset that lacks something every result has, or has it of another kind.

    A ValueError names all that is wrong.
    """
    faults = [*_faults_of_variables(data), *_faults_of_attributes(data.attrs)]
    _refuse(faults or [*_faults_of_labels(data), *_faults_of_tables(data)])


def _refuse(faults: Sequence[str]) -> None:
    if faults:
        left = len(faults) - MOST_FAULTS
        more = f"; and {left} more" if left > 0 else ""
        raise ValueError(f"{'; '.join(faults[:MOST_FAULTS])}{more}")


def _faults_of_variables(data: xr.Dataset) -> Iterator[str]:
    for name in ("time", *LABELS, *VARIABLES):
        if name not in data.variables and name not in read_names(data.attrs, "left_out"):
            yield f"variable {name!r} is missing"
    for name, (dims, _, _) in {"time": (TIME, "s", ""), **VARIABLES}.items():
        if name not in data.variables:
            continue
        x = data.variables[name]
        if x.dims != dims:
            yield f"variable {name!r} is over {x.dims}, not {dims}"
        elif x.dtype.kind not in ("OUTS" if name in TEXTS else "f"):
            yield f"variable {name!r} is of type {x.dtype}"
        elif not x.size and name == "time":
            yield "variable 'time' is empty"
    yield from _faults_of_errors(data)
    for label, variable in data.data_vars.items():
        # "most": the largest value for which the law that records it holds.
        for key, kind in (("units", str), ("long_name", str), ("most", Real)):
            if not isinstance(variable.attrs.get(key, "" if kind is str else 0), kind):
                yield f"attribute {key!r} of {label!r} must be {_KINDS[kind]}"
        if label in VARIABLES and "units" not in variable.attrs:
            yield f"attribute 'units' of {label!r} is missing"


def _find_errors_at_start(data: xr.Dataset) -> Iterator[str]:
    """Yield which errors are above zero at the start of a simulation."""
    for label in (ERROR + name for name in ERRORS if name in OF_STATES):
        simulated = "objective" not in data.attrs  # optima on other grids may start elsewhere
        if simulated and label in data.variables and np.any(data.variables[label].values[:1] > 0):
            yield f"variable {label!r} is above zero at the start, which all runs share"


def _faults_of_errors(data: xr.Dataset) -> Iterator[str]:
    """Yield what is wrong with errors, and with what is recorded beside its error alone.

    That are figures of contacts, over `FIGURE`. A run whose repetitions came to their end has all
    of them and the names of its joints, the coordinate ``FIGURE[0]``; others have none.
    """
    for name, (dims, _, _) in ERRORS.items():
        for label in (ERROR + name, *([name] if name not in VARIABLES else [])):
            x = data.variables.get(label)
            if x is None:
                if dims == FIGURE and FIGURE[0] in data.variables:
                    yield f"variable {label!r} is missing"
                continue
            if x.dims != dims or x.dtype.kind != "f":
                yield f"variable {label!r} is of type {x.dtype} over {x.dims}"
            elif label != name and np.any(x.values < 0):
                yield f"variable {label!r} has entries that are negative"
            elif dims == TIME and np.any(np.diff(np.isnan(x.values).astype(int)) < 0):
                yield f"variable {label!r} is unknown at times before others"
            if label == ERROR + "motion" and not _is_of_kind(x.attrs.get("size"), Real, many=False):
                yield f"attribute 'size' of {label!r} must be a number"
            # Orders that were seen; whether forces follow from the motion; rate at which the error
            # of the motion grows [1/s]; which statistics are alike in all repetitions.
            for key in ("order", "orders", "unique", "growth_rate", "alike"):
                if not _is_of_kind(x.attrs.get(key, 0.0), Real, many=True):
                    yield f"attribute {key!r} of {label!r} must be a number"
    if FIGURE[0] in data.variables and data.variables[FIGURE[0]].dtype.kind not in "OUST":
        yield f"variable {FIGURE[0]!r} is of type {data.variables[FIGURE[0]].dtype}"


def _faults_of_attributes(attrs: Mapping[Any, Any]) -> Iterator[str]:
    optimum = OF_OPTIMA if "objective" in attrs else {}
    many = (*NUMBERS, *NUMBERS_OF_ERRORS)
    others = {name: kind for name, kind in OF_SOME.items() if name in attrs}
    for name, kind in {**ATTRIBUTES, **optimum, **others}.items():
        if name not in attrs:
            yield f"attribute {name!r} is missing"
        elif not _is_of_kind(attrs[name], kind, many=name in many):
            yield f"attribute {name!r} must be {_KINDS[kind]}, got {attrs[name]!r:.60}"
        elif kind is Integral and attrs[name] < 0:
            yield f"attribute {name!r} must not be negative, got {attrs[name]}"
        elif kind is Real and name not in MAY_BE_NAN and np.any(np.isnan(attrs[name])):
            yield f"attribute {name!r} must be a number, got nan"


def _is_of_kind(value: Any, kind: type, many: bool) -> bool:
    """Return whether an attribute is of a type, or if ``many`` one or several numbers."""
    if many:
        return np.asarray(value).dtype.kind in "fiu"
    return isinstance(value, kind) and not isinstance(value, bool)


def _faults_of_labels(data: xr.Dataset) -> Iterator[str]:
    for name in LABELS:
        x = data.variables[name]
        if x.dims != (name.removesuffix("_name"),) or x.dtype.kind not in "OUST":
            yield f"variable {name!r} is of type {x.dtype} over {x.dims}"
    for name in AMONG_STEPS:
        if data.attrs[name] > data.attrs["steps"]:
            yield f"attribute {name!r} is more than all {data.attrs['steps']} 'steps'"
    for name, texts in (("axis", ["x", "y", "z"]), ("quaternion", ["e0", "e1", "e2", "e3"])):
        if [*map(str, data[name].values)] != texts:
            yield f"variable {name!r} is not {', '.join(texts)}"
    for name, size in (("axis", 3), ("quaternion", 4)):
        if data.sizes.get(name, size) != size:
            yield f"dimension {name!r} has {data.sizes[name]} entries, not {size}"
    sizes = {"gravity": 3, "gap_scales": data.sizes["contact"], "clearances": data.sizes["contact"]}
    for name, size in sizes.items():
        if np.size(data.attrs[name]) != size:
            yield f"attribute {name!r} has {np.size(data.attrs[name])} entries, not {size}"
    time = data.variables["time"].values
    if time.dtype.kind != "f" or not np.all(np.isfinite(time)) or np.any(np.diff(time) < 0):
        yield "variable 'time' does not rise"


def _faults_of_tables(data: xr.Dataset) -> Iterator[str]:
    """Yield which attributes are not the JSON that runs write."""

    def is_body(x: Any) -> bool:
        return _is_of_kind(x, Integral, False) and -1 <= x < data.sizes["body"]

    def is_outline(x: Any) -> bool:
        return _has_members(x, {"body": is_body, "points": _list_of(_is_point)})

    def is_frame(x: Any) -> bool:
        points = dict.fromkeys(("origin", "x", "z"), _is_point)
        known = {"element": _is_text, "kind": _is_text, "body": is_body, **points}
        return _has_members(x, known) and _is_text(x.get("link", ""))

    texts, counts = dict.fromkeys(("strategy", "why"), _is_text), ("iterations", "seconds")
    strategy = {**texts, **dict.fromkeys(counts, _is_number)}
    numbers = _table_of(_is_number)
    tables: dict[str, Callable[[Any], bool]] = {
        "parameters": numbers,
        "outline": _list_of(is_outline),
        "frames": _list_of(is_frame),
        "pressed_frames": _list_of(is_frame),
        "plot_data": _table_of(lambda x: isinstance(x, dict)),
        "redundant_rows": numbers,
        "left_out": _list_of(VARIABLES.__contains__),
        "acceptance": numbers,
        "search": _list_of(lambda x: _has_members(x, strategy)),
        "impact": _table_of(_list_of(_is_number)),
        **dict.fromkeys(("detailed_cost", "guess_cost"), numbers),
        **dict.fromkeys(("exact_cost", "guess_exact_cost"), numbers),
    }
    for name in (x for x in tables if data.attrs.get(x) or x in JSON):
        try:
            right = tables[name](json.loads(data.attrs[name]))
        except (TypeError, ValueError, RecursionError):
            right = False
        if not right:
            yield f"attribute {name!r} must be JSON as runs write it, got {data.attrs[name]!r:.60}"


def _is_text(x: Any) -> bool:
    return isinstance(x, str)


def _is_number(x: Any) -> bool:
    return _is_of_kind(x, Real, False)


def _is_point(x: Any) -> bool:
    return isinstance(x, list) and len(x) == 3 and all(map(_is_number, x))


def _list_of(is_right: Callable[[Any], bool]) -> Callable[[Any], bool]:
    return lambda x: isinstance(x, list) and all(map(is_right, x))


def _table_of(is_right: Callable[[Any], bool]) -> Callable[[Any], bool]:
    return lambda x: isinstance(x, dict) and all(map(is_right, x.values()))


def _has_members(x: Any, members: Mapping[str, Callable[[Any], bool]]) -> bool:
    return isinstance(x, dict) and all(k in x and check(x[k]) for k, check in members.items())
