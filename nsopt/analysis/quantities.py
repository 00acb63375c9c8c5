"""Numbers over time, by their names."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from nsopt.arrays import Array
from nsopt.result import Result

Quantity = str | Callable[[Result], Array]
"""A name as `quantity` takes it, or a function of a result that returns (time,)."""

LABELLED = {"q": "q_name", "v": "v_name", "joint_coordinate": "freedom", "joint_rate": "freedom"}
"""Variables with the dimension whose labels name their parts; the first that has a name counts."""


def quantity(result: Result, name: Quantity) -> Array:
    """Return a number over time, (time,).

    Parameters
    ----------
    name : str or callable
        A variable over time (``total_energy``, ``pin.depth``), a coordinate, velocity or freedom of
        a joint (``crank.angle``), or a part of a variable, ``body_acceleration[slider, x]``,
        ``joint_rate[crank.angle]``, as the columns of `Result.to_dataframe`; or a function of
        the result.

    Raises
    ------
    KeyError
        For an unknown name.
    ValueError
        If a function returns another number of values.
    """
    if callable(name):
        values = np.asarray(name(result), dtype=float)
        if values.shape != (result.data.sizes["time"],):
            raise ValueError(f"a quantity is one number for each time, got shape {values.shape}")
        return values
    data = result.data
    if name in data.data_vars and data[name].dims == ("time",):
        return np.asarray(data[name].values, dtype=float)
    for variable, dimension in LABELLED.items():
        if variable in data and name in data[dimension].values:
            label = {dimension.removesuffix("_name"): name}
            return np.asarray(result.sel(**label)[variable].values)
    variable, _, rest = name.partition("[")
    if rest.endswith("]") and variable in data.data_vars:
        return _take_part(result, variable, [x.strip() for x in rest[:-1].split(",")])
    raise KeyError(
        f"no quantity {name!r}: a variable over time, a name of a coordinate, velocity or "
        "freedom of a joint, or a part as in body_acceleration[slider, x]"
    )


def unit(result: Result, name: Quantity) -> str:
    """Return the unit of a quantity, empty if it has none or several.

    Parameters
    ----------
    result : Result
    name : str or callable
        As for `quantity`.

    Returns
    -------
    str
    """
    if callable(name):
        return ""
    variable = name.partition("[")[0]
    if variable in result.data:
        units = str(result.data[variable].attrs.get("units", "")).split(", ")
        return units[0] if len(units) == 1 else ""  # "m, 1": they differ between entries
    lengths = ("distance", "x", "y", "z")
    if name in result.data["q_name"].values or name in result.data["freedom"].values:
        return "m" if name.rpartition(".")[2] in lengths else "rad"
    return ""


def freedom_of(result: Result, joint: str) -> str:
    """Return the name of the angle, or else the length, of a joint on record.

    Parameters
    ----------
    result : Result
    joint : str
        Name of the joint, or of the freedom itself, such as ``crank.angle``.

    Returns
    -------
    str
        A name for `quantity`.

    Raises
    ------
    ValueError
        If there is none, naming those there are.
    """
    known = [str(name) for name in result["freedom"].values]
    for name in (joint, f"{joint}.angle", f"{joint}.distance"):
        if name in known:
            return name
    raise ValueError(
        f"no angle of {joint!r} on record in {result.name}; there are {', '.join(known) or 'none'}"
    )


def _take_part(result: Result, variable: str, labels: list[str]) -> Array:
    """Return a variable at one label of each of its dimensions, (time,)."""
    dims = [str(d) for d in result.data[variable].dims if d != "time"]
    if len(labels) != len(dims):
        raise KeyError(f"{variable} is over {', '.join(dims)}: give a label for each of them")
    chosen = result.sel(**dict(zip(dims, labels, strict=True)))
    return np.asarray(chosen[variable].values, dtype=float)
