"""The errors of a run, from how far its repetitions in other steps are from it and each other.

``runs`` are throughout the run itself, then its repetitions: in h/2, h/4, ... if ``finer``, else in
2 h and 4 h. ``rows`` is how many times the run has, ``known`` how many of them all runs got to.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from nsopt.arrays import Array
from nsopt.contact_modes import IMPACT
from nsopt.simulation.check.distances import (
    measure_distance,
    measure_energy_distance,
    measure_size,
)
from nsopt.stored import ERROR, ERRORS

if TYPE_CHECKING:
    import xarray as xr

T = TypeVar("T")

SEEN = (0.7, 4.5)  # orders between which differences fall as those of a scheme; others are chance
HIGHEST = 4.0  # order at most by which longer steps tell the error of the run's own
ROUNDING = 1e-12  # part of the largest size of what is compared, differences that are rounding


class Estimate(NamedTuple):
    """An error, and the order that was seen; NaN where it is from differences without an order."""

    error: Array
    order: float


def estimate_error(
    runs: Sequence[T],
    distance: Callable[[T, T], Array],
    finer: bool,
    size: float,
    trusted: bool = True,
) -> Estimate:
    """Return the error of the first of some runs by how far they are from each other.

    Where differences fall with an order p, by Richardson: of steps h, h/2, ..., h/n the run is off
    by its distance from the last over 1 - n^-p, of steps h, 2 h, 4 h by that from the run of 2 h
    over 2^p - 1. Where only the last three fall so, by the distance from the last and what that is
    off by. Otherwise by what all halvings change, for the next ones may change as much; of longer
    steps by the distance from the run of 2 h.

    Distances are over time or (1,); rounding is told from the size of what is compared. An order
    that is not ``trusted`` is chance.
    """
    apart = [distance(a, b) for a, b in pairwise(runs)]
    orders = [
        observe_order(*(pair[::-1] if finer else pair), ROUNDING * size) if trusted else np.nan
        for pair in pairwise(apart)
    ]
    if not finer:
        seen = np.isfinite(orders[0])
        return Estimate(apart[0] / (2 ** min(orders[0], HIGHEST) - 1 if seen else 1), orders[0])
    whole = distance(runs[0], runs[-1])
    if np.isfinite(orders[0]):
        return Estimate(whole / (1 - 2 ** (-orders[0] * len(apart))), orders[0])
    if np.isfinite(orders[-1]):
        return Estimate(whole + apart[-1] / (2 ** orders[-1] - 1), orders[-1])
    return Estimate(np.sum(apart, axis=0), np.nan)


def observe_order(smaller: Array, larger: Array, rounding: float) -> float:
    """Return the order by which differences fall as h is halved, NaN where it is chance.

    The median over time: so neither the times at which a difference passes through zero nor those
    after which motions part decide it.
    """
    sizes = [np.sqrt(np.sum(x.reshape(len(x), -1) ** 2, axis=1)) for x in (smaller, larger)]
    told = np.minimum(*sizes) > rounding
    if not told.any():
        return np.nan
    order = float(np.median(np.log2(sizes[1][told] / sizes[0][told])))
    return order if SEEN[0] <= order <= SEEN[1] else np.nan


Variable = tuple[tuple[str, ...], Array, dict[str, Any]]

ENTRIES = ("q", "v", "body_position", "kinetic_energy", "potential_energy")
"""Variables whose entries are compared one by one."""

RECORDED = ("body_velocity", "joint_coordinate", "gap")  # the same, where they are on record
REACTIONS = ("joint_reaction", "joint_reaction_torque")  # the same, without steps with impacts
EXTREMES = ("largest_force", "peak_force")  # of single instants, chance where a force rattles


def compare_states(
    runs: Sequence[xr.Dataset],
    radii: Array,
    finer: bool,
    rows: int,
    changes: NDArray[np.bool_],
    step: float,
) -> dict[str, Variable]:
    """Return the errors of the first of some runs over time, NaN after the end of any of them.

    The runs are at the same times. ``radii`` (body,) [m] are those of gyration. ``changes`` (rows,)
    tells whether contacts strike, close or open between the time before and each time, ``step`` [s]
    is the longest of all runs: for `measure_energy_distance`.
    """
    known = min(x.sizes["time"] for x in runs)
    runs = [x if x.sizes["time"] == known else x.isel(time=slice(known)) for x in runs]
    size = measure_size(runs[-1 if finer else 0], radii)
    moved = estimate_error(runs, lambda a, b: measure_distance(a, b, radii), finer, size)
    farthest = Estimate(moved.error.max(axis=1, initial=0.0), moved.order)
    errors = {ERROR + "motion": _make_error_over_time("motion", farthest, rows, size=size)}
    recorded = (x for x in RECORDED if all(x in run and run[x].size for run in runs))
    for name in (*ENTRIES, *recorded):
        values = [x[name].values for x in runs]
        errors[ERROR + name] = _make_error_over_time(name, _compare(values, finer), rows)
    energies = [x["total_energy"].values for x in runs]
    t = runs[0]["time"].values
    apart = partial(measure_energy_distance, t, changes=changes[:known], step=step)
    lost = estimate_error(energies, apart, finer, _extent(energies))
    return errors | {ERROR + "total_energy": _make_error_over_time("total_energy", lost, rows)}


def compare_reactions(
    runs: Sequence[xr.Dataset], finer: bool, t: Array, picked: NDArray[np.int_]
) -> dict[str, Variable]:
    """Return the errors of what ideal joints carry over time t (rows,) [s].

    The runs are at the rows ``picked`` of these; between them errors are interpolated.
    """
    known = min(x.sizes["time"] for x in runs)
    runs = [x if x.sizes["time"] == known else x.isel(time=slice(known)) for x in runs]
    errors = {}
    for name in REACTIONS:
        if runs[0].attrs["ideal_joints"] and all(name in run for run in runs):
            found = _compare_reactions(name, runs, finer)
            spread = found._replace(error=spread_over(t, picked[:known], found.error))
            unique = int(not runs[0].attrs["redundant_joint_rows"])
            errors[ERROR + name] = _make_error_over_time(name, spread, len(t), unique=unique)
    return errors


def compare_forces(
    runs: Sequence[Array], finer: bool, t: Array, picked: NDArray[np.int_]
) -> dict[str, Variable]:
    """Return the error of what contacts of joints carry over time, as `compare_reactions` does.

    Forces are (picked, joint, 3) [N].
    """
    known = min(map(len, runs))
    runs = [x[:known] for x in runs]
    off = estimate_error(runs, lambda a, b: np.linalg.norm(a - b, axis=-1), finer, _extent(runs))
    spread = off._replace(error=spread_over(t, picked[:known], off.error))
    return {ERROR + "force": _make_error_over_time("force", spread, len(t))}


def spread_over(t: Array, picked: NDArray[np.int_], values: Array) -> Array:
    """Return values (picked, ...) at all rows up to the last of them, linear in between."""
    known = int(picked[-1]) + 1
    if len(picked) == known:
        return values
    columns = values.reshape(len(values), -1).T
    spread = [np.interp(t[:known], t[picked], x) for x in columns]
    return np.stack(spread, axis=1).reshape(known, *values.shape[1:])


def compare_figures(
    runs: Sequence[Mapping[str, Array]], finer: bool, shared: Collection[str], has_order: bool
) -> dict[str, Variable]:
    """Return the errors of the figures of contacts, each by itself, of the first of some runs.

    Figures are (joint,) by name. Those ``shared`` do not follow from the motion alone.
    ``has_order`` tells whether forces show an order over time: else that of extremes is chance.
    """
    errors = {}
    for name in runs[0]:
        trusted = has_order or name not in EXTREMES
        error, orders = estimate_figures([x[name] for x in runs], finer, trusted)
        found = Estimate(error, np.nan)
        errors[ERROR + name] = make_error(
            name, found, orders=orders, unique=int(name not in shared)
        )
    return errors


def estimate_figures(
    runs: Sequence[Array], finer: bool, trusted: bool = True
) -> tuple[Array, Array]:
    """Return the errors of figures (k, ...) of the first of some runs, and the orders (k,)."""
    each = zip(*(x[:, None] for x in runs), strict=True)
    found = [_compare(values, finer, trusted) for values in each]
    return np.array([x.error[0] for x in found]), np.array([x.order for x in found])


def make_figure(name: str, values: Array) -> Variable:
    """Return the figures (joint,) themselves as a variable."""
    dims, unit, text = ERRORS[name]
    return dims, values, {"units": unit, "long_name": text}


def _compare_reactions(name: str, runs: Sequence[xr.Dataset], finer: bool) -> Estimate:
    """Return the error of what ideal joints carry, NaN of others, and in steps with impacts."""
    ideal, values = runs[0].attrs["ideal_joints"], [x[name].values for x in runs]
    struck = np.zeros(len(values[0]), dtype=bool)
    for run in runs:
        if "contact_mode" in run and run.sizes["contact"]:
            struck |= np.any(run["contact_mode"].values == IMPACT, axis=1)
    parts = [np.where(struck[:, None, None], np.nan, x[:, :ideal]) for x in values]
    found, error = _compare(parts, finer), np.full_like(values[0], np.nan)
    error[:, :ideal] = found.error
    return Estimate(error, found.order)


def _compare(values: Sequence[Array], finer: bool, trusted: bool = True) -> Estimate:
    """Return the errors of the entries of arrays, one by one."""
    return estimate_error(values, lambda a, b: np.abs(a - b), finer, _extent(values), trusted)


def _extent(values: Sequence[Array]) -> float:
    return float(max(np.fmax.reduce(np.abs(x), axis=None, initial=0.0) for x in values))


def _make_error_over_time(name: str, found: Estimate, rows: int, **attrs: float) -> Variable:
    """Return errors (known, ...) as a variable of ``rows`` times, NaN after those."""
    error = np.full((rows, *found.error.shape[1:]), np.nan)
    error[: len(found.error)] = found.error
    return make_error(name, Estimate(error, found.order), **attrs)


def make_error(name: str, found: Estimate, **attrs: Any) -> Variable:
    """Return errors as a variable, with the order that was seen."""
    dims, unit, text = ERRORS[name]
    about = {"units": unit, "long_name": f"error of the {text}", "order": found.order}
    return dims, found.error, about | attrs
