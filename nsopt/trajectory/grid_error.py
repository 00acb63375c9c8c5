"""The error of an optimum by its grid, from the same problem on other numbers of steps."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from nsopt.result import Result
from nsopt.stored import ERROR
from nsopt.trajectory.guesses import Earlier
from nsopt.trajectory.horizon import Horizon
from nsopt.trajectory.optimization import Optimization
from nsopt.trajectory.refine import SOLVED
from nsopt.trajectory.smoothing.dry_friction import read_exact_cost
from nsopt.trajectory.smoothing.schedules import horizon_settings

CREDIBLE_ORDERS = (0.7, 6.5)
"""Orders of convergence that schemes may show; others are seen by chance."""

LEAST_STEPS = 4
"""Least number of steps of the coarsest grid."""

MOTION = ("q", "v", "drive", "input")
"""Variables whose errors are estimated."""


def measure_grid_error(
    optimization: Optimization,
    result: Result,
    parameters: Mapping[str, float] | None = None,
) -> Result:
    """Return an optimum with the error of its grid, from half and twice as many steps.

    Both are solved from the optimum itself. Let the objective change by d from half the steps, and
    by e to twice the steps. If d / e = 2^p with a credible order p, it is off by e / (1 - 2^-p).
    Otherwise, as where limits or switches are bound to nodes, it may be off by d + e, or by 2 e
    where the coarse grid is far off. The motion is off by what it changes to twice the steps, at
    the same share of the duration.

    Parameters
    ----------
    optimization : Optimization
    result : Result
        A completed one that it returned.
    parameters : mapping of name to float, optional
        As for `Optimization.solve`.

    Returns
    -------
    Result
        With the attributes ``objective_error`` and ``objective_order``, NaN where none was seen,
        and the variables ``error_q``, ``error_v``, ``error_drive``, ``error_input`` of those that
        it has.

    Raises
    ------
    ValueError
        If the result is not completed, has fewer than eight steps or an odd number of them, or
        another grid leads to no optimum, with the reason.
    """
    steps = int(result.data.sizes["time"]) - 1
    if not (result.is_optimum and result.completed):
        raise ValueError(f"{result.name!r} is no completed optimum: its grid is not what is wrong")
    if steps % 2 or steps < 2 * LEAST_STEPS:
        raise ValueError(
            f"a grid of {steps} steps cannot be halved: give an even number of {2 * LEAST_STEPS} "
            "or more"
        )
    coarse, fine = (_solve_on(optimization, result, n, parameters) for n in (steps // 2, 2 * steps))
    on_coarse, here, on_fine = map(read_exact_cost, (coarse, result, fine))
    error, order = _estimate(abs(here - on_coarse), abs(on_fine - here), SOLVED * abs(here))
    data = result.data.assign_attrs(objective_error=error, objective_order=order)
    shares = _divide_by_duration(result), _divide_by_duration(fine)
    for name in (x for x in MOTION if x in data and x in fine and data[x].size):
        x, columns = data[name], fine[name].values.reshape(2 * steps + 1, -1).T
        of_fine = np.stack([np.interp(*shares, column) for column in columns], axis=1)
        off = np.abs(x.values - of_fine.reshape(x.shape))
        attrs = {"units": x.attrs.get("units", ""), "long_name": f"error of {name} by the grid"}
        data = data.assign({ERROR + name: (x.dims, off, attrs)})
    return Result(data)


def _solve_on(
    optimization: Optimization,
    result: Result,
    steps: int,
    parameters: Mapping[str, float] | None,
) -> Result:
    horizon = _divide(optimization.horizon, steps, int(result.data.sizes["time"]) - 1)
    again = replace(optimization, horizon=horizon, guess=Earlier(result)).solve(parameters)
    if again.interrupted:
        raise KeyboardInterrupt
    limit = horizon_settings(optimization.solver).tolerances
    # Steps with large defects are no fault here: they show the error of the grid.
    if not again.data.attrs["violation"] <= min(limit.equality, limit.inequality):
        raise ValueError(f"on {steps} steps there is no optimum: {again.stop_reason}")
    return again


def _divide(horizon: Horizon, steps: int, before: int) -> Horizon:
    """Return a horizon of another number of steps, with bounds of h for these."""
    h = None if horizon.h is None else horizon.h.scale(before / steps)
    return replace(horizon, steps=steps, h=h)


def _estimate(to_coarse: float, to_fine: float, least: float) -> tuple[float, float]:
    """Return the error of an objective and the order seen, from its changes to other grids.

    ``least`` is what solvers leave of it; see `measure_grid_error`.
    """
    if to_fine <= least:
        return max(to_fine, least), np.nan
    order = float(np.log2(to_coarse / to_fine)) if to_coarse else -np.inf
    if CREDIBLE_ORDERS[0] <= order <= CREDIBLE_ORDERS[1]:
        return to_fine / (1 - 2**-order), order
    return 2 * to_fine if order > CREDIBLE_ORDERS[1] else to_coarse + to_fine, np.nan


def _divide_by_duration(result: Result) -> NDArray[np.float64]:
    """Return times over the duration, (node,)."""
    t = result["time"].values
    shares: NDArray[np.float64] = (t - t[0]) / (t[-1] - t[0])
    return shares
