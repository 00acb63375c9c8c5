"""What the file of a result must hold, checked name by name."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any

import numpy as np

from nsopt.stored import (
    ATTRIBUTES,
    LABELS,
    NUMBERS,
    OF_OPTIMA,
    OF_SOME,
    TEXTS,
    TIME,
    VARIABLES,
    left_out,
)

if TYPE_CHECKING:
    import xarray as xr

_KINDS: dict[type, str] = {str: "text", Integral: "a whole number", Real: "a number"}


def check_complete(data: xr.Dataset) -> None:
    """Refuse a dataset that lacks something every result has, or has it of another kind.

    Raises
    ------
    ValueError
        Naming all that is wrong.
    """
    faults = [*_faults_of_variables(data), *_faults_of_attributes(data.attrs)]
    faults = faults or [*_faults_of_labels(data), *_faults_of_tables(data)]
    if faults:
        more = f"; and {len(faults) - 5} more" if len(faults) > 5 else ""
        raise ValueError(f"{'; '.join(faults[:5])}{more}")


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
        elif (x.dtype.kind in "OUTS") is not (name in TEXTS):
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
    others = {name: kind for name, kind in OF_SOME.items() if name in attrs}
    for name, kind in {**ATTRIBUTES, **optimum, **others}.items():
        if name not in attrs:
            yield f"attribute {name!r} is missing"
        elif not _is(attrs[name], kind, many=name in NUMBERS):
            yield f"attribute {name!r} must be {_KINDS[kind]}, got {attrs[name]!r:.60}"


def _is(value: Any, kind: type, many: bool) -> bool:
    if many:
        return np.asarray(value).dtype.kind in "fiu"
    return isinstance(value, kind) and not isinstance(value, bool)


def _faults_of_labels(data: xr.Dataset) -> Iterator[str]:
    for name in LABELS:
        x = data.variables[name]
        if x.dims != (name.removesuffix("_name"),) or x.dtype.kind not in "OUST":
            yield f"variable {name!r} is of type {x.dtype} over {x.dims}"
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
    """Yield the faults of attributes that are JSON."""

    def is_body(x: Any) -> bool:
        return _is(x, Integral, False) and -1 <= x < data.sizes["body"]

    def is_outline(x: Any) -> bool:
        return _has(x, {"body": is_body, "points": _list_of(_is_point)})

    def is_frame(x: Any) -> bool:
        points = dict.fromkeys(("origin", "x", "z"), _is_point)
        return _has(x, {"element": _is_text, "kind": _is_text, "body": is_body, **points})

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
        "impact": _table_of(_list_of(_is_number)),
        **dict.fromkeys(("detailed_cost", "guess_cost"), numbers),
        **dict.fromkeys(("exact_cost", "guess_exact_cost"), numbers),
    }
    for name in (x for x in tables if data.attrs.get(x)):
        try:
            right = tables[name](json.loads(data.attrs[name]))
        except (TypeError, ValueError, RecursionError):
            right = False
        if not right:
            yield f"attribute {name!r} must be JSON as runs write it, got {data.attrs[name]!r:.60}"


def _is_text(x: Any) -> bool:
    return isinstance(x, str)


def _is_number(x: Any) -> bool:
    return _is(x, Real, False)


def _is_point(x: Any) -> bool:
    return isinstance(x, list) and len(x) == 3 and all(map(_is_number, x))


def _list_of(is_right: Callable[[Any], bool]) -> Callable[[Any], bool]:
    return lambda x: isinstance(x, list) and all(map(is_right, x))


def _table_of(is_right: Callable[[Any], bool]) -> Callable[[Any], bool]:
    return lambda x: isinstance(x, dict) and all(map(is_right, x.values()))


def _has(x: Any, members: Mapping[str, Callable[[Any], bool]]) -> bool:
    return isinstance(x, dict) and all(k in x and check(x[k]) for k, check in members.items())
