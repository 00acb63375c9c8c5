"""Figures of how a run went: step size, residuals, closure of the joints, effort."""

from __future__ import annotations

import json
import textwrap
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import LogLocator, NullLocator

from nsopt.arrays import Array
from nsopt.plots import style
from nsopt.result import Result

FLOOR = 1e-18  # value at which smaller residuals, and zeros, are drawn

ROUND_OFF = 1e-14
"""Opening of a joint up to which it is round-off [m, rad]."""


RESIDUALS = {
    "motion_residual": ("equations of motion [N]", "motion"),
    "complementarity_residual": ("complementarity [N m]", "complementarity"),
    "gap_violation": ("gap violation [m]", "gap"),
    "constraint_violation": ("joint closure [m]", "closure"),
    "euler_norm_error": ("Euler-parameter norm [1]", ""),
}
"""Of residuals the titles, and their names in the limits of acceptance, if they have any."""


def step_size(*results: Result) -> Figure:
    """Draw the step size with its bounds and the steps that were retried (Figs. 15, 22, 29).

    A row for each result.
    """
    style.require_steps(results, "step_size")
    size = (7.0, 1.1 + 2.2 * len(results))
    figure, axes = style.page("Step size", results, len(results), 1, size, sharex=True)
    for ax, result in zip(axes[:, 0], results, strict=True):
        steps_of(ax, result)
        style.title(ax, style.label(result) if len(results) > 1 else "")
    style.axis_labels(axes[-1, 0], "time [s]", None)
    return figure


def steps_of(ax: Axes, result: Result) -> None:
    """Draw the step sizes of one result."""
    h, time = result["h"].values, result["time"].values
    bounds = style.step_bounds(result)
    unit = style.unit_of("s", bounds)
    dots: dict[str, Any] = {"marker": ".", "markersize": 3.0, "markeredgewidth": 0}
    ax.plot(time, unit.factor * h, color=style.COLOURS[0], lw=0.3, zorder=3, label="h", **dots)
    colour = style.COLOURS[1]
    beside: dict[str, Any] = {"xycoords": ("axes fraction", "data"), "fontsize": style.SMALL}
    beside |= {"xytext": (3, 0), "textcoords": "offset points", "va": "center", "color": colour}
    for bound, name in zip(bounds, ("h$_{min}$", "h$_{max}$"), strict=True):
        height = unit.factor * bound
        ax.axhline(height, color=colour, lw=0.9, ls="--", zorder=2, label="_bound")
        ax.annotate(name, (1.0, height), **beside)
    retried = result["retries"].values > 0
    if np.any(retried):
        text = f"retried ({np.count_nonzero(retried)})"
        x, y = time[retried], unit.factor * h[retried]
        ax.plot(x, y, "x", color="black", markersize=5, zorder=4, label=text)
        ax.legend(
            handles=ax.lines[-1:],
            fontsize=style.SMALL,
            frameon=False,
            loc="lower right",
            bbox_to_anchor=(1.0, 0.97),
            borderaxespad=0.2,
            handletextpad=0.2,
        )
    style.logarithmic(ax, unit.factor * np.append(h, bounds))
    style.axis_labels(ax, None, f"h [{unit.text}]")


def residuals(*results: Result) -> Figure:
    """Draw the residuals of a run, as Figs. 9, 16 and 23; the limits of acceptance dashed.

    Zeros are drawn at 1e-18.
    """
    style.require_steps(results, "residuals")
    names = [name for name in RESIDUALS if any(r[name].size for r in results)]
    size = (7.0, 1.0 + 1.5 * len(names))
    figure, axes = style.page("Residuals", results, len(names), 1, size, sharex=True)
    for ax, name in zip(axes[:, 0], names, strict=True):
        title, limit = RESIDUALS[name]
        for k, result in enumerate(results):
            if result[name].size:
                limits = json.loads(result.data.attrs.get("acceptance", "{}"))  # none of optima
                draw_dots(ax, result, worst(result, name), k, float(limits.get(limit, 0.0)))
        style.title(ax, title)
    style.axis_labels(axes[-1, 0], "time [s]", None)
    style.results_legend(figure, results, dots=True)
    return figure


def draw_dots(ax: Axes, result: Result, values: Array, k: int, limit: float = 0.0) -> None:
    """Draw values over time as dots of the k-th result, on a logarithmic scale; a limit dashed."""
    values = np.maximum(values, FLOOR)
    ax.plot(result["time"], values, **style.dot(k))
    if limit:
        ax.axhline(limit, color="black", linewidth=0.8, linestyle="--")
    # A few decades are labelled, from just below the floor or the values.
    ax.set_yscale("log")
    top = max(style.peak(values), limit, 1e3 * FLOOR)
    low, high = ax.get_ylim() if len(ax.lines) > 1 else (1.0, 0.0)
    ax.set_ylim(min(FLOOR / 5, low), max(20 * top, high))
    ax.yaxis.set_major_locator(LogLocator(numticks=5))
    ax.yaxis.set_minor_locator(NullLocator())


def worst(result: Result, name: str) -> Array:
    """Return the largest of all entries of a residual at each time, (time,)."""
    values = result[name].values
    return np.asarray(values.reshape(len(values), -1).max(axis=1))


def joint_closure(*results: Result) -> Figure:
    """Draw how far the joints are from closed, as Fig. 36; zeros at 1e-18.

    For a joint with clearance it is the depth inside the wall. Joints that are closed to round-off
    all the time, as those that relative coordinates close, are only named where others are not.
    """
    style.require_steps(results, "joint_closure")
    joints = style.names(results, "joint")
    if not joints:
        raise ValueError(f"joint_closure: no joint in {results[0].name}")
    violations = [result["constraint_violation"] for result in results]
    opened = {
        str(x) for v in violations for x in v["joint"].values[v.max("time").values > ROUND_OFF]
    }
    drawn = [joint for joint in joints if joint in opened] or joints
    size = (7.0, 1.2 + 2.0 * len(drawn))
    figure, axes = style.page("Joint closure", results, len(drawn), 1, size, sharex=True)
    for ax, joint in zip(axes[:, 0], drawn, strict=True):
        for k, result in enumerate(results):
            available = [str(n) for n in result["joint"].values]
            if joint in available:
                closure_of(ax, result, available.index(joint), k)
        style.title(ax, joint)
    closed = ", ".join(joint for joint in joints if joint not in drawn)
    named = textwrap.fill(f"closed to {ROUND_OFF:g}: {closed}", 90) if closed else ""
    style.axis_labels(axes[-1, 0], "\n".join(filter(None, ["time [s]", named])), None)
    style.results_legend(figure, results, dots=True)
    return figure


def closure_of(ax: Axes, result: Result, joint: int, k: int = 0) -> None:
    """Draw the closure of one joint of one result."""
    draw_dots(ax, result, result["constraint_violation"].values[:, joint], k)
    style.axis_labels(ax, None, "violation [m]")


def effort(*results: Result) -> Figure:
    """Draw bars of the total iterations and the total time in the solver, as Fig. 37."""
    style.require_steps(results, "effort")
    figure, axes = style.page("Effort", (), 1, 2, (9.0, 1.5 + 0.45 * len(results)), sharey=True)
    seconds = [float(np.nansum(r["solve_time"])) for r in results]
    iterations = [float(np.nansum(r["iterations"])) for r in results]
    _draw_bars(axes[0, 0], iterations, "solver iterations", "{:.0f}")
    _draw_bars(axes[0, 1], seconds, "time in the solver [s]", "{:.3g}")
    labels = [f"{style.label(r)}\n{r.data.sizes['time'] - 1} steps" for r in results]
    axes[0, 0].set_yticks(range(len(results)), labels)
    axes[0, 0].set_ylim(len(results) - 0.4, -0.6)
    return figure


def _draw_bars(ax: Axes, values: list[float], text: str, number: str) -> None:
    colours = [style.look(k).color for k in range(len(values))]
    bars = ax.barh(range(len(values)), values, height=0.6, color=colours)
    ax.bar_label(bars, [number.format(v) for v in values], padding=3, fontsize=style.SMALL)
    ax.margins(x=0.15)
    ax.grid(False, axis="y")
    style.axis_labels(ax, text, None)
