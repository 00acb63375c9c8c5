"""Figures of energies over time."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from nsopt.plots import style
from nsopt.plots.across import across
from nsopt.plots.bands import draw_band, error_of, shade_beyond
from nsopt.plots.style import Array
from nsopt.result import Result


def energies(*results: Result, over: str | None = None) -> Figure:
    """Draw kinetic, potential, total energy in one scale, the balance enlarged (Figs. 30, 34).

    Potential and total energy are changes since the start. The balance is the change of the total
    energy minus the work of applied loads.
    """
    style.require_steps(results, "energies")
    results, text = across(results, over)
    figure, axes = style.page("Energies", results, 2, 2, (9.0, 6.4), sharex=True)
    shared = style.unit_of("J", *(curve(r) for curve in CURVES.values() for r in results))
    for ax, (name, curve) in zip(axes.flat, CURVES.items(), strict=False):
        _draw_curve(ax, results, curve, name, shared)
    balances = [balance(r) for r in results]
    own = style.unit_of("J", *balances)
    _draw_curve(axes[1, 1], results, balance, "balance: total − external work − start", own)
    largest = max(style.peak(energy(r)) for energy in (kinetic, potential) for r in results)
    off = own.factor * max(map(style.peak, balances))
    style.flatten_round_off(axes[1, 1], off, own.factor * largest)
    _share_limits(list(axes.flat[:3]))
    shade_beyond(axes.flat, results)
    for ax in axes[-1]:
        style.axis_labels(ax, text, None)
    style.results_legend(figure, results)
    return figure


def _draw_curve(
    ax: Axes,
    results: Sequence[Result],
    curve: Callable[[Result], Array],
    text: str,
    unit: style.Unit,
) -> None:
    for k, result in enumerate(results):
        time, values = result["time"].values, unit.factor * curve(result)
        ax.plot(time, values, **style.look(k)._asdict())
        if (error := error_of(result, ERRORS[curve])) is not None:
            draw_band(ax, time, values, unit.factor * error, style.look(k).color)
    style.axis_labels(ax, None, f"energy [{unit.text}]")
    style.title(ax, text)


def _share_limits(axes: Sequence[Axes]) -> None:
    limits = np.array([ax.get_ylim() for ax in axes])
    for ax in axes:
        ax.set_ylim(limits[:, 0].min(), limits[:, 1].max())


def kinetic(result: Result) -> Array:
    """Return the kinetic energy, (time,) [J]."""
    energy: Array = result["kinetic_energy"].values
    return energy


def potential(result: Result) -> Array:
    """Return the potential energy, as a change since the start, (time,) [J]."""
    return _subtract_start(result["potential_energy"].values)


def total(result: Result) -> Array:
    """Return the total energy, as a change since the start, (time,) [J]."""
    return _subtract_start(result["total_energy"].values)


def balance(result: Result) -> Array:
    """Return total energy minus external work, as a change since the start, (time,) [J]."""
    return _subtract_start(result["total_energy"].values - result["external_work"].values)


def _subtract_start(energy: Array) -> Array:
    since: Array = energy - energy[0]
    return since


CURVES = MappingProxyType(
    {"kinetic": kinetic, "potential − start": potential, "total − start": total}
)
ERRORS: Mapping[Callable[[Result], Array], str] = MappingProxyType(
    {
        kinetic: "kinetic_energy",
        potential: "potential_energy",
        total: "total_energy",
        balance: "total_energy",  # work from outside is taken as known
    }
)
"""Of curves, the variable whose error is theirs."""
