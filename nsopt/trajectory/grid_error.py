"""By how much an optimum is off by its grid, from half and twice as many steps."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from nsopt.result import Result
from nsopt.stored import ERROR
from nsopt.trajectory.smoothing.dry_friction import read_exact_cost

CREDIBLE_ORDERS = (0.7, 6.5)  # of convergence that schemes may show; others are seen by chance
MOTION = ("q", "v", "drive", "input")  # variables whose errors are estimated

SOLVED = 1e-7
"""Error of an objective, over itself, that solvers leave: they meet limits to 1e-8 of themselves,
and costs change by multipliers times that."""


class NoOptimumError(ValueError):
    """On another grid there is no optimum."""


def measure_grid_error(result: Result, solve_on: Callable[[float], Result]) -> Result:
    """Return an optimum with the error of its grid.

    Let the objective change by d from half the steps, and by e to twice the steps. If d / e = 2^p
    with a credible order p, it is off by e / (1 - 2^-p). Otherwise, as where limits or switches are
    bound to nodes, it may be off by d + e, or by 2 e where the coarse grid is far off. The motion
    is off by what it changes to twice the steps, at the same share of the duration, or of its
    phase.

    Parameters
    ----------
    result : Result
        A completed one.
    solve_on : callable
        Returns the optimum on so many times as many steps, from this one; raises NoOptimumError.

    Returns
    -------
    Result
        With the attributes ``objective_error`` and ``objective_order``, NaN where none was seen,
        ``border_errors`` [s] of phases of contact, and the variables ``error_q``, ``error_v``,
        ``error_drive``, ``error_input`` of those that it has; or with ``error_unknown``, the reason
        why there are none.
    """
    try:
        coarse, fine = solve_on(0.5), solve_on(2.0)
    except NoOptimumError as fault:
        return Result(result.data.assign_attrs(error_unknown=str(fault)))
    on_coarse, here, on_fine = map(read_exact_cost, (coarse, result, fine))
    to_coarse, to_fine = abs(here - on_coarse), abs(on_fine - here)
    error, order = _estimate_error(to_coarse, to_fine, SOLVED * abs(here))
    data = result.data.assign_attrs(objective_error=error, objective_order=order)
    if "borders" in data.attrs:
        moved = np.abs(np.subtract(fine.data.attrs["borders"], data.attrs["borders"]))
        data = data.assign_attrs(border_errors=moved)
    for name in (x for x in MOTION if x in data and x in fine and data[x].size):
        x = data[name]
        off = np.abs(x.values - _read_at_nodes(fine, name, result))
        attrs = {"units": x.attrs.get("units", ""), "long_name": f"error of {name} by the grid"}
        data = data.assign({ERROR + name: (x.dims, off, attrs)})
    return Result(data)


def _read_at_nodes(fine: Result, name: str, result: Result) -> NDArray[np.float64]:
    """Return a variable on twice as many steps at the nodes of a result, (node, ...)."""
    values = fine[name].values
    if "borders" in result.data.attrs:  # each phase has its own steps, and velocities jump between
        return np.asarray(values[::2])
    shares = _list_shares(result), _list_shares(fine)
    columns = values.reshape(len(values), -1).T
    at_nodes = np.stack([np.interp(*shares, column) for column in columns], axis=1)
    return at_nodes.reshape(result[name].shape)


def _estimate_error(to_coarse: float, to_fine: float, least: float) -> tuple[float, float]:
    """Return the error of an objective and the order seen, from its changes to other grids.

    ``least`` is the error that solvers leave; see `measure_grid_error`.
    """
    if to_fine <= least:
        return max(to_fine, least), np.nan
    order = float(np.log2(to_coarse / to_fine)) if to_coarse else -np.inf
    if CREDIBLE_ORDERS[0] <= order <= CREDIBLE_ORDERS[1]:
        return to_fine / (1 - 2**-order), order
    return 2 * to_fine if order > CREDIBLE_ORDERS[1] else to_coarse + to_fine, np.nan


def _list_shares(result: Result) -> NDArray[np.float64]:
    """Return times over the duration, (node,)."""
    t = result["time"].values
    return np.asarray((t - t[0]) / (t[-1] - t[0]))
