"""Figures of energies over time."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from nsopt.arrays import Array
from nsopt.plots import style
from nsopt.plots.across import across
from nsopt.plots.bands import draw_band, error_of, shade_beyond
from nsopt.result import Result


class EnergyCurve(NamedTuple):
    """An energy over time."""

    name: str
    variable: str
    work: str = ""  # of which the energy is told less; it is taken as known
    is_change: bool = True  # since the start

    def __call__(self, result: Result) -> Array:
        """Return it, (time,) [J]."""
        energy: Array = result[self.variable].values
        if self.work:
            energy = energy - result[self.work].values
        return energy - energy[0] if self.is_change else energy


KINETIC = EnergyCurve("kinetic", "kinetic_energy", is_change=False)
POTENTIAL = EnergyCurve("potential − start", "potential_energy")
TOTAL = EnergyCurve("total − start", "total_energy")
BALANCE = EnergyCurve("balance: total − external work − start", "total_energy", "external_work")


def energies(*results: Result, over: str | None = None) -> Figure:
    """Draw kinetic, potential, total energy in one scale, the balance enlarged (Figs. 30, 34).

    Potential and total energy are changes since the start. The balance is the change of the total
    energy minus the work of applied loads.
    """
    style.require_steps(results, "energies")
    results, text = across(results, over)
    figure, axes = style.page("Energies", results, 2, 2, (9.0, 6.4), sharex=True)
    curves = (KINETIC, POTENTIAL, TOTAL)
    shared = style.unit_of("J", *(curve(r) for curve in curves for r in results))
    for ax, curve in zip(axes.flat, curves, strict=False):
        _draw_curve(ax, results, curve, shared)
    balances = [BALANCE(r) for r in results]
    own = style.unit_of("J", *balances)
    _draw_curve(axes[1, 1], results, BALANCE, own)
    largest = max(style.peak(energy(r)) for energy in (KINETIC, POTENTIAL) for r in results)
    off = own.factor * max(map(style.peak, balances))
    style.flatten_round_off(axes[1, 1], off, own.factor * largest)
    limits = np.array([ax.get_ylim() for ax in axes.flat[:3]])
    for ax in axes.flat[:3]:
        ax.set_ylim(limits[:, 0].min(), limits[:, 1].max())
    shade_beyond(axes.flat, results)
    for ax in axes[-1]:
        style.axis_labels(ax, text, None)
    style.results_legend(figure, results)
    return figure


def _draw_curve(ax: Axes, results: Sequence[Result], curve: EnergyCurve, unit: style.Unit) -> None:
    for k, result in enumerate(results):
        time, values = result["time"].values, unit.factor * curve(result)
        ax.plot(time, values, **style.look(k)._asdict())
        if (error := error_of(result, curve.variable)) is not None:
            draw_band(ax, time, values, unit.factor * error, style.look(k).color)
    style.axis_labels(ax, None, f"energy [{unit.text}]")
    style.title(ax, curve.name)
