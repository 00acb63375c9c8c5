"""By how much an optimum is off by its grid, from the same optimum on other grids."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from nsopt.arrays import Array
from nsopt.mechanics import Dynamics
from nsopt.result import Result
from nsopt.simulation import find_gyration_radii, measure_distance, measure_size
from nsopt.stored import ERROR
from nsopt.trajectory.smoothing.dry_friction import read_exact_cost

HALF, QUARTER, TWICE = 0.5, 0.25, 2.0  # numbers of steps, over those of the optimum

CREDIBLE_ORDERS = (0.7, 6.5)  # of convergence that schemes may show; others are seen by chance
HIGHEST = 4.0  # order at most by which coarser grids tell the error of a finer one
HIGHEST_OF_SWITCHES = 2.0  # order at most that is seen where drives switch at nodes
MOTION = ("q", "v", "drive", "input")  # variables whose errors are estimated
PLACES = ("body_position", "body_quaternion")

SOLVED = 1e-7
"""Error of an objective, over itself, that solvers leave: they meet limits to 1e-8 of themselves,
and costs change by multipliers times that."""


def explain_unknown_error(result: Result, reason: str) -> Result:
    """Return an optimum that says why its error is not known."""
    return Result(result.data.assign_attrs(error_unknown=reason))


def measure_grid_error(
    result: Result, others: Mapping[float, Result], dynamics: Dynamics, p: Array
) -> Result:
    """Return an optimum with the error of its grid, from it on half and on twice as many steps.

    Let the objective change by d from half the steps, and by e to twice the steps. If d / e = 2^p
    with a credible order p, it is off by e / (1 - 2^-p). Otherwise, as where limits or switches are
    bound to nodes, it may be off by d + e, or by 2 e where the coarse grid is far off. The motion
    is off by what it changes to twice the steps, at the same share of the duration, or of its
    phase.

    Where limits switch at nodes and costs count no accelerations, as of least times, drives jump,
    and orders above 2 are chance: the optimum is then off by 2 e, as of order 1, or by d / 3, as of
    order 2, whichever is more.

    Of half and a quarter of the steps both are off by e / (2^p - 1), e the change from half the
    steps, or by e itself where no order is seen, or limits hold the motion for a part of the time.

    Where limits were tightened so that they hold between nodes too, what that costs is of the grid
    as well: objectives are compared without it, and are off by as much at least.

    Parameters
    ----------
    result : Result
        A completed one.
    others : mapping
        The optimum on so many times as many steps: 1/2 and 2, or 1/2 and 1/4, or 1/2 alone.
    dynamics, p
        Its mechanism, and the values of its parameters (np,).

    Returns
    -------
    Result
        With the attributes ``objective_error`` and ``objective_order``, NaN where none was seen,
        ``error_parts``, steps over its own, ``border_errors`` [s] of phases of contact, and
        the variables ``error_motion`` as of a run, ``error_q``, ``error_v``, ``error_drive``,
        ``error_input`` of those that it has.
    """
    finer = TWICE in others
    by_steps = [others[x] for x in (TWICE, HALF, QUARTER) if x in others]  # finest first
    by_steps.insert(1 if finer else 0, result)
    changes, least = _list_changes(by_steps), SOLVED * abs(result.objective)
    if not finer and "switching_limits" in result.data.attrs:
        del changes[1:]  # an order is chance where limits are bound to nodes
    error, order = _estimate_error(changes, least, finer, _find_highest_order([result], finer))
    data = result.data.assign_attrs(
        objective_error=max(error, abs(result.data.attrs.get("limits_cost", 0.0))),
        objective_order=order,
        error_parts=np.array([1 / x for x in others]),
        error_unknown="",
    )
    nearest = others[TWICE if finer else HALF]
    if _has_same_phases(by_steps):
        moved = np.abs(np.subtract(nearest.data.attrs["borders"], data.attrs["borders"]))
        data = data.assign_attrs(border_errors=moved)
    for name in (x for x in MOTION if x in data and x in nearest and data[x].size):
        x = data[name]
        off, seen = _compare(_read(by_steps, name), _measure_difference, finer)
        about = {"units": x.attrs.get("units", ""), "long_name": f"error of {name} by the grid"}
        data = data.assign({ERROR + name: (x.dims, off, about | {"order": seen})})
    radii = find_gyration_radii(dynamics, p)
    if radii.size:
        off, seen = _compare(_read(by_steps, *PLACES), partial(_measure_farthest, radii), finer)
        about = {"units": "m", "long_name": "error of the body that is farthest off, by the grid"}
        about |= {"order": seen, "size": measure_size(result.data, radii)}
        data = data.assign({ERROR + "motion": ("time", off, about)})
    return Result(data)


def estimate_total_error(
    phases: Sequence[Result], others: Mapping[float, Sequence[Result]], limits_cost: float
) -> tuple[float, float]:
    """Return the error of the objective of all phases by their grids, and the order seen or NaN.

    As `measure_grid_error` does of one, from the phases on half and on twice as many steps;
    ``limits_cost`` is what their objective grew by to keep limits within steps.
    """
    half, own, twice = (sum(map(read_exact_cost, x)) for x in (others[HALF], phases, others[TWICE]))
    changes = [abs(own - limits_cost - twice), abs(own - limits_cost - half)]
    least = SOLVED * abs(sum(x.objective for x in phases))
    error, order = _estimate_error(changes, least, True, _find_highest_order(phases, True))
    return max(error, abs(limits_cost)), order


def _find_highest_order(results: Sequence[Result], finer: bool) -> float:
    """Return the largest order that may be seen of optima."""
    switch = any({"switching_limits", "tie_breaker"} <= x.data.attrs.keys() for x in results)
    return HIGHEST_OF_SWITCHES if finer and switch else CREDIBLE_ORDERS[1]


Values = dict[str, Array]
"""Variables at nodes by their names, (node, ...) each."""


def _measure_difference(a: Values, b: Values) -> Array:
    """Return by how much the only variable of two motions differs, at the same nodes."""
    (x,), (y,) = a.values(), b.values()
    return np.abs(x - y)


def _measure_farthest(radii: Array, a: Values, b: Values) -> Array:
    """Return how far the body that is farthest off is from its place in the other motion [m]."""
    import xarray as xr

    dims = ("time", "body")
    one, other = (xr.Dataset({k: ((*dims, k), x) for k, x in y.items()}) for y in (a, b))
    off: Array = measure_distance(one, other, radii).max(axis=1)
    return off


def _list_changes(by_steps: Sequence[Result]) -> list[float]:
    """Return by how much objectives change between grids, the finest first.

    By the exact sign of friction, and without what it costs to keep limits between nodes.
    """
    costs = [read_exact_cost(x) - x.data.attrs.get("limits_cost", 0.0) for x in by_steps]
    return [abs(a - b) for a, b in pairwise(costs)]


def _estimate_error(
    changes: Sequence[float], least: float, finer: bool, highest: float
) -> tuple[float, float]:
    """Return the error of an objective and the order seen, from its changes between grids.

    ``least`` is the error that solvers leave, ``highest`` the largest order that may be seen; see
    `measure_grid_error`.
    """
    e, d = (*changes, np.nan)[:2]
    if e <= least:
        return max(e, least), np.nan
    order = float(np.log2(d / e)) if d else -np.inf
    seen = CREDIBLE_ORDERS[0] <= order <= highest
    if not finer:
        return (max(e / (2 ** min(order, HIGHEST) - 1), least), order) if seen else (e, np.nan)
    if seen:
        return e / (1 - 2**-order), order
    if order <= highest:
        return d + e, np.nan
    return (max(2 * e, d / 3) if highest < CREDIBLE_ORDERS[1] else 2 * e), np.nan


class _AtNodes(NamedTuple):
    """Variables at nodes, and what share of the duration has passed there, or number of phases."""

    shares: Array
    values: Values

    def at(self, shares: Array) -> Values:
        """Return the variables at other shares, linear between nodes."""
        return {name: _interpolate(shares, self.shares, x) for name, x in self.values.items()}


def _interpolate(shares: Array, known: Array, values: Array) -> Array:
    """Return values (known, ...) at shares, linear between those that are known."""
    columns = [np.interp(shares, known, x) for x in values.reshape(len(known), -1).T]
    return np.transpose(columns).reshape(len(shares), *values.shape[1:])


def _read(by_steps: Sequence[Result], *names: str) -> list[_AtNodes]:
    """Return variables of an optimum on several grids."""
    in_phases, motions = _has_same_phases(by_steps), []
    for result in by_steps:
        t, values = result["time"].values, {name: result[name].values for name in names}
        shares = (t - t[0]) / (t[-1] - t[0])
        if in_phases:
            borders = np.atleast_1d(result.data.attrs["borders"])
            shares = np.interp(t, borders, np.arange(len(borders)))
        if (p := values.get("body_quaternion")) is not None:  # p and -p are one orientation
            turned = np.sum(p[1:] * p[:-1], axis=-1) < 0
            signs = np.cumprod(np.where(turned, -1.0, 1.0), axis=0)
            values["body_quaternion"] = np.concatenate([p[:1], p[1:] * signs[..., None]])
        motions.append(_AtNodes(shares, values))
    return motions


def _has_same_phases(by_steps: Sequence[Result]) -> bool:
    """Return whether all grids have phases of contact, as many each."""
    counts = {np.size(x.data.attrs.get("borders", ())) for x in by_steps}
    return len(counts) == 1 and counts != {0}


def _compare(
    motions: Sequence[_AtNodes], distance: Callable[[Values, Values], Array], finer: bool
) -> tuple[Array, float]:
    """Return the error of a motion at its nodes, and the order seen.

    Of ``motions``, the finest first, it is the second if there is a ``finer`` one. They are
    compared at the nodes of the coarser one of each two, where no values are between nodes.
    """
    apart = [distance(a.at(b.shares), b.values) for a, b in pairwise(motions)]
    sizes = [float(np.sqrt(np.nanmean(x**2))) for x in apart]
    order = np.nan
    if len(sizes) > 1 and min(sizes) > 0:
        order = float(np.log2(sizes[1] / sizes[0]))
        order = order if CREDIBLE_ORDERS[0] <= order <= CREDIBLE_ORDERS[1] else np.nan
    if finer:
        return apart[0], order
    off = apart[0] / (2 ** min(order, HIGHEST) - 1 if np.isfinite(order) else 1)
    return _interpolate(motions[0].shares, motions[1].shares, off), order
