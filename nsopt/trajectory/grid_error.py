"""The error of an optimum that comes of its grid: the same problem on other numbers of steps."""

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
from nsopt.trajectory.smoothing.dry_friction import cost_of
from nsopt.trajectory.smoothing.schedules import horizon_settings

SEEN = (0.7, 6.5)
"""Orders between which differences fall as those of polynomials do; others are chance."""

LEAST = 4
"""Steps of the coarsest grid at least."""

MOTION = ("q", "v", "drive", "input")


def measure_grid_error(
    optimization: Optimization,
    result: Result,
    parameters: Mapping[str, float] | None = None,
) -> Result:
    """Return an optimum with the error of its grid, from half and twice as many steps.

    Both are solved from the optimum itself. Where the objective changes by less from grid to grid,
    with an order p, it is off by what twice the steps change over 1 - 2^-p. Where it shows no order
    it is limited by its grid, as where limits or switches hang on nodes: then it may be off by all
    that both grids change, or, where the coarse one is far off, twice what the fine one does. The
    motion is off by what twice the steps change at the same share of the duration.

    Parameters
    ----------
    optimization : Optimization
    result : Result
        That it returned, completed.
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
    if steps % 2 or steps < 2 * LEAST:
        raise ValueError(
            f"a grid of {steps} steps cannot be halved: give an even number of {2 * LEAST} or more"
        )
    coarse, fine = (_solve_on(optimization, result, n, parameters) for n in (steps // 2, 2 * steps))
    before, now, after = map(cost_of, (coarse, result, fine))
    error, order = _estimate(abs(now - before), abs(after - now), SOLVED * abs(now))
    about = {"objective_error": error, "objective_order": order}
    data = result.data.assign_attrs(about)
    for name in (x for x in MOTION if x in data and x in fine and data[x].size):
        x, columns = data[name], fine[name].values.reshape(2 * steps + 1, -1).T
        shares = _measure_shares(result), _measure_shares(fine)
        there = np.stack([np.interp(*shares, column) for column in columns], axis=1)
        off = np.abs(x.values - there.reshape(x.shape))
        told = {"units": x.attrs.get("units", ""), "long_name": f"error of {name} by the grid"}
        data = data.assign({ERROR + name: (x.dims, off, told)})
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
    # Steps that are too coarse to be reintegrated tell the error of a grid all the same.
    if not again.data.attrs["violation"] <= min(limit.equality, limit.inequality):
        raise ValueError(f"on {steps} steps there is no optimum: {again.stop_reason}")
    return again


def _divide(horizon: Horizon, steps: int, before: int) -> Horizon:
    """Return a horizon of another number of steps, with bounds of h for these."""
    h = None if horizon.h is None else horizon.h.scale(before / steps)
    return replace(horizon, steps=steps, h=h)


def _estimate(larger: float, smaller: float, least: float) -> tuple[float, float]:
    """Return the error of an objective, and the order seen, by its changes from grid to grid."""
    if smaller <= least:  # what a solver leaves tells no order
        return max(smaller, least), np.nan
    order = float(np.log2(larger / smaller)) if larger else -np.inf
    if SEEN[0] <= order <= SEEN[1]:
        return smaller / (1 - 2**-order), order
    # A grid that is twice as fine may be off by as much as it changes.
    return 2 * smaller if order > SEEN[1] else larger + smaller, np.nan


def _measure_shares(result: Result) -> NDArray[np.float64]:
    """Return times over the duration, (node,)."""
    t = result["time"].values
    shares: NDArray[np.float64] = (t - t[0]) / (t[-1] - t[0])
    return shares
