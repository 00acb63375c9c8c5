"""Panels of the overview that are about an optimum: drives, speeds, resistance, costs."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from matplotlib.axes import Axes

from nsopt.plots import style
from nsopt.plots.coordinates import SPEEDS
from nsopt.plots.style import Array
from nsopt.result import Result

BAR = 0.36


def is_optimum(result: Result) -> bool:
    """Return whether a result is that of an optimization."""
    return "objective" in result.data.attrs and "drive" in result.data


def drives(ax: Axes, result: Result) -> None:
    """Draw the forces of the drives, as shares of their limits where all have one; else inputs."""
    forces, names = result["drive"].values, _owners(result)
    shown = [k for k in range(len(names)) if style.peak(forces[:, k]) > 1e-9]
    if not shown and result.data.sizes.get("input_name", 0):
        _inputs(ax, result)
        return
    most = _most(result)[shown]
    bounded = bool(shown) and bool(np.all(np.isfinite(most)))
    curves = 100 * forces[:, shown] / most if bounded else forces[:, shown]
    _lines(ax, result, {names[k]: curves[:, i] for i, k in enumerate(shown)})
    if bounded:
        for limit in (-100.0, 100.0):
            ax.axhline(limit, color="black", linewidth=0.8, linestyle="--", zorder=1)
    unit = "% of the limit" if bounded else _unit(result, shown, "N", "N m")
    style.axis_labels(ax, "time [s]", f"force of drives [{unit}]")
    style.title(ax, "Drives against their limits" if bounded else "Drives")


def speeds(ax: Axes, result: Result) -> None:
    """Draw the velocities of the coordinates."""
    names = [str(name) for name in result["v_name"].values]
    v = result["v"].values
    _lines(ax, result, {name: v[:, k] for k, name in enumerate(names)})
    unit = _unit(result, range(len(names)), "m/s", "rad/s")
    style.axis_labels(ax, "time [s]", f"velocity [{unit}]")
    style.title(ax, "Velocities")


def resistance(ax: Axes, result: Result) -> None:
    """Draw by what moment each joint resists, and each cone across several joints."""
    torque = np.linalg.norm(result["joint_resistance"].values, axis=-1)
    curves = {str(name): torque[:, k] for k, name in enumerate(result["joint"].values)}
    for name, variable in result.data.data_vars.items():
        owner, _, what = str(name).rpartition(".")
        if what == "moment" and owner:
            curves[owner] = np.asarray(variable.values)
    curves = {name: x for name, x in curves.items() if style.peak(x) > 1e-9}
    if not curves:
        speeds(ax, result)
        return
    _lines(ax, result, curves)
    style.axis_labels(ax, "time [s]", "moment [N m]")
    style.title(ax, "Resistance of joints")


def costs(ax: Axes, result: Result) -> None:
    """Draw the share of each cost in the optimum beside that in the guess."""
    best, guess = (style.stored(result, name) for name in ("detailed_cost", "guess_cost"))
    names = list(best)
    for k, (shares, colour, text) in enumerate(
        ((guess, style.GREY, "guess"), (best, style.COLOURS[0], "optimum"))
    ):
        places = np.arange(len(names)) + (k - 0.5) * BAR
        values = np.array([shares[name] for name in names], dtype=float)
        largest = np.array([max(abs(best[name]), abs(guess[name])) or 1.0 for name in names])
        bars = ax.barh(places, values / largest, height=BAR, color=colour, label=text)
        ax.bar_label(bars, [f"{x:.4g}" for x in values], padding=3, fontsize=style.SMALL)
    ax.set_yticks(range(len(names)), names)
    ax.invert_yaxis()
    ax.set_xlim(0, 1.25)
    ax.grid(False, axis="y")
    style.axis_labels(ax, "share of the larger of both", None)
    style.title(ax, f"Costs, {float(result.data.attrs['objective']):.4g} in all")
    style.own_legend(ax)


def _inputs(ax: Axes, result: Result) -> None:
    inputs = result["input"].values
    names = [str(name) for name in result["input_name"].values]
    _lines(ax, result, {name: inputs[:, k] for k, name in enumerate(names)})
    style.axis_labels(ax, "time [s]", "input")
    style.title(ax, "Inputs")


def _lines(ax: Axes, result: Result, curves: dict[str, Array]) -> None:
    """Draw the largest curves, as many as a legend holds."""
    order = sorted(curves, key=lambda name: -style.peak(curves[name]))[: style.MAX_OWN_LEGEND]
    shown = [name for name in curves if name in order]
    for k, name in enumerate(shown):
        color = style.look(k).color
        ax.plot(result["time"], curves[name], color=color, linewidth=1.0, label=name)
    if len(shown) > 1:
        style.own_legend(ax)


def _unit(result: Result, shown: Iterable[int], slide: str, turn: str) -> str:
    """Return the unit of what belongs to velocities: all slides, all turns, or both."""
    names = [str(result["v_name"].values[k]) for k in shown]
    slides = [name.rsplit(".", 1)[-1] in SPEEDS for name in names]
    return slide if all(slides) else f"{turn}, {slide}" if any(slides) else turn


def _owners(result: Result) -> list[str]:
    """Return the joint of each velocity, or its whole name where a joint has several."""
    names = [str(name) for name in result["v_name"].values]
    owners = [name.rsplit(".", 1)[0] for name in names]
    return [o if owners.count(o) == 1 else n for o, n in zip(owners, names, strict=True)]


def _most(result: Result) -> Array:
    """Return the largest force of each drive, infinite where none is stated, (nv,)."""
    if "drive_limit" in result.data:
        return np.asarray(result["drive_limit"].values, dtype=float)
    return np.full(result.data.sizes["v"], np.inf)
