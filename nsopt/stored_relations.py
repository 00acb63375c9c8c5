"""Relations that the variables of a result must fulfil, whatever mechanism they are of."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from nsopt.contact_modes import IMPACT, contacts_of_joints, count_rigid

if TYPE_CHECKING:
    import xarray as xr

ROWS = 1 << 16  # times of a variable that are in memory at once
EXACT = 1e-9  # difference, over the largest number that takes part, that rounding may leave

FAR = 20.0
"""Way of a body in a step, over that at the largest speed of the run, which none comes near to: it
is one at most, but for speeds within a step that are larger than at all ends."""

Array = NDArray[Any]

Column = tuple[str, int, str, tuple[int, ...]]
"""A variable and its column, then the variable and its column that are the same numbers."""


def find_breaches(data: xr.Dataset) -> Iterator[str]:
    """Yield in words which variables break their definition."""
    yield from _find_wrong(data, [(*x, yield_parts) for x in RELATIONS])


def find_contradictions(data: xr.Dataset) -> Iterator[str]:
    """Yield in words which variables contradict each other, by what steps are expected to do."""
    simulated = "objective" not in data.attrs  # nodes of an optimum are no ends of steps
    whole = data.attrs["steps"] == data.sizes["time"] - 1 and not data.attrs["output_times"]
    own = [(*x, yield_parts) for x in (SUCCESSIVE if whole or not simulated else ())]
    yield from _find_wrong(data, own + [(*x, _yield_rigid_parts) for x in OF_STEPS if simulated])
    yield from (
        f"variable {name!r} is not what {other!r} says"
        for name, other in _find_unlike(data, simulated)
    )
    if simulated and whole:
        yield from _find_wrong_sums(data)


def _find_wrong(data: xr.Dataset, relations: Iterable[Any]) -> Iterator[str]:
    """Yield what is wrong: ``relations`` are those of `RELATIONS` with a function that reads."""
    for names, is_right, words, read in relations:
        if all(name in data.variables for name in names):
            parts = zip(*(read(data, name) for name in names), strict=True)
            if not all(is_right(*x) for x in parts):
                yield f"variable {names[0]!r} is not {words}"


def _find_unlike(data: xr.Dataset, simulated: bool) -> Iterator[tuple[str, str]]:
    """Yield pairs of variables that record the same numbers, and differ."""
    columns: dict[tuple[str, str], list[tuple[int, Any]]] = {}
    for name, k, other, column in _find_same_columns(data):
        if {name, other} <= {*data.variables} and (simulated or name != "acceleration"):
            columns.setdefault((name, other), []).append((k, (slice(None), *column)))
    for (name, other), pairs in columns.items():
        parts = zip(yield_parts(data, name), yield_parts(data, other), strict=True)
        if not all(_are_same(x[:, k], y[at]) for x, y in parts for k, at in pairs):
            yield name, other
    v_names = [*map(str, data["v_name"].values)]
    for j, body in enumerate(map(str, data["body"].values)):
        own = [v_names.index(x) for x in (f"{body}.w{k}" for k in "xyz") if x in v_names]
        pair = ("v", "body_angular_velocity")
        needed = ("body_quaternion", *pair)
        if len(own) == 3 and simulated and {*needed} <= {*data.variables}:
            turns = zip(*(yield_parts(data, x) for x in needed), strict=True)
            if not all(_are_same(_turn(p[:, j], x[:, own]), y[:, j]) for p, x, y in turns):
                yield pair
                return


def _turn(p: Array, x: Array) -> Array:
    """Return vectors (n, 3) of body axes in world axes, by Euler parameters (n, 4)."""
    e, s = np.split(p / np.linalg.norm(p, axis=1, keepdims=True), [1], axis=1)
    turned: Array = x + 2 * np.cross(s, np.cross(s, x) + e * x)
    return turned


def _find_wrong_sums(data: xr.Dataset) -> Iterator[str]:
    """Yield figures of joints that are not the sum over their contacts and all steps."""
    joints = contacts_of_joints(data).values()
    for name in ("impact_impulse", "contact_loss"):
        figure = f"{name}_sum"
        if {name, figure} <= {*data.variables} and data[figure].size == len(joints):
            sums = [np.nansum(data[name].values[:, contacts]) for contacts in joints]
            if not _are_same(np.array(sums), data[figure].values):
                yield f"variable {figure!r} is not the sum of {name!r}"


def _find_same_columns(data: xr.Dataset) -> Iterator[Column]:
    """Yield which columns are the same: coordinates of bodies or of joints are recorded twice."""
    names = {x: [*map(str, data[f"{x}_name"].values)] for x in "qv"}
    if data.attrs.get("generalized_coordinates") == "absolute":
        wanted = [
            *(("q", f".{x}", "body_position", k) for k, x in enumerate("xyz")),
            *(("q", f".e{k}", "body_quaternion", k) for k in range(4)),
            *(("v", f".v{x}", "body_velocity", k) for k, x in enumerate("xyz")),
            *(("acceleration", f".v{x}", "body_acceleration", k) for k, x in enumerate("xyz")),
        ]
        for j, body in enumerate(map(str, data["body"].values)):
            for name, end, other, k in wanted:
                among = names[name[0].replace("a", "v")]
                if body + end in among:
                    yield name, among.index(body + end), other, (j, k)
    freedoms = [*map(str, data["freedom"].values)]
    if freedoms == names["q"]:
        for k in range(len(freedoms)):
            yield "q", k, "joint_coordinate", (k,)
            yield "v", k, "joint_rate", (k,)


def _are_same(x: Array, y: Array) -> bool:
    """Return whether numbers are the same but for rounding, where both are known."""
    return bool(np.all((abs(x - y) <= EXACT * np.nanmax(abs(x), initial=0)) | (x != x) | (y != y)))


def yield_parts(data: xr.Dataset, name: str) -> Iterator[Array]:
    """Yield a variable in parts, for results larger than memory."""
    x = data.variables[name]
    for begin in range(0, x.shape[0], ROWS):
        yield x[begin : begin + ROWS].values


def _yield_rigid_parts(data: xr.Dataset, name: str) -> Iterator[Array]:
    """Yield a variable in parts without compliant contacts, whose forces are not over steps."""
    rigid = count_rigid(data)
    of_contacts = data.variables[name].dims[1:2] == ("contact",)
    yield from (x[:, :rigid] if of_contacts else x for x in yield_parts(data, name))


def _is_sum(total: Array, *terms: Array) -> bool:
    size = np.max(np.abs(terms), initial=0)
    return bool(np.all(abs(total - sum(terms)) <= EXACT * size))


def _agrees_with_work(lost: Array, energy: Array, work: Array) -> bool:
    changes = [x - x[0] for x in (lost, energy, work)]
    size = np.max(np.abs([energy, work]), initial=0)
    return bool(np.all(abs(changes[0] + changes[1] - changes[2]) <= EXACT * size))


def _is_depth(violation: Array, gap: Array) -> bool:
    # Forces that press surfaces together have a depth, which is no violation.
    off = abs(violation - np.maximum(-gap, 0)) > EXACT * np.max(abs(gap), initial=0)
    return not np.any(off & (violation != 0))


def _is_part(part: Array, whole: Array) -> bool:
    return not np.any(part > whole * (1 + EXACT))


def _is_impact(mode: Array, impact: Array) -> bool:
    return not np.any(((mode == IMPACT) != (impact > 0)) & ~np.isnan(impact))


def _makes_impulse(force: Array, impulse: Array, h: Array) -> bool:
    # Friction makes the force larger than the impulse, which is normal.
    whole = np.linalg.norm(force, axis=-1) * h[:, None]
    return not np.any(whole < impulse - EXACT * np.nanmax(impulse, initial=0))


def _is_power(residual: Array, impulse: Array, gap: Array, h: Array) -> bool:
    right = impulse * abs(gap) / h[:, None]
    return not np.any(abs(residual - right) > EXACT * np.nanmax(right, initial=0))


def _is_reachable(place: Array, velocity: Array, time: Array, gap: Array, impulse: Array) -> bool:
    # Solvers close gaps and joints to 1e-10 m, so that places are rounded as those of a metre.
    fastest, size = abs(velocity).max(initial=0), abs(place).max(initial=1)
    moved = abs(np.diff(place, axis=0)).max(axis=(1, 2), initial=0)
    # What falls and strikes a wall within a step may be at rest at both ends of it.
    strikes = np.any((gap[:-1] > 0) & (impulse[1:] > 0), axis=1)
    right = moved <= FAR * fastest * np.diff(time) + EXACT * size
    return bool(np.all(right | strikes))


def _is_unit(quaternion: Array, error: Array) -> bool:
    off = abs(np.linalg.norm(quaternion, axis=-1) - 1)
    return bool(np.all(off <= error[:, None] + EXACT))


Relation = tuple[tuple[str, ...], Callable[..., bool], str]
"""Names of variables, a check of their values, and its words."""

RELATIONS: tuple[Relation, ...] = (
    (
        ("total_energy", "kinetic_energy", "potential_energy"),
        _is_sum,
        "the sum of 'kinetic_energy' and 'potential_energy'",
    ),
    (
        ("dissipated_energy", "total_energy", "external_work"),
        _agrees_with_work,
        "what 'total_energy' lacks of 'external_work'",
    ),
    (("gap_violation", "gap"), _is_depth, "the depth by which 'gap' is negative"),
    (("body_quaternion", "euler_norm_error"), _is_unit, "of norm one within 'euler_norm_error'"),
)
"""Definitions of variables over time."""

SUCCESSIVE: tuple[Relation, ...] = (
    (
        ("body_position", "body_velocity", "time", "gap", "impulse"),
        _is_reachable,
        "within what 'body_velocity' lets it move",
    ),
)
"""Relations of successive steps, where none is left out: meanwhile a body may start and stop."""

OF_STEPS: tuple[Relation, ...] = (
    (("impact_impulse", "impulse"), _is_part, "a part of 'impulse'"),
    (("contact_mode", "impact_impulse"), _is_impact, "2 where there is an 'impact_impulse'"),
    (("contact_force", "impulse", "h"), _makes_impulse, "what makes 'impulse' over 'h'"),
    (
        ("complementarity_residual", "impulse", "gap", "h"),
        _is_power,
        "the force of 'impulse' times 'gap'",
    ),
)
"""Relations of rigid contacts in simulations, whose times are ends of steps."""
