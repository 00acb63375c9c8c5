"""Impulses of impacts as stems beside lasting forces, which a peak of impulse over h hides."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from matplotlib.axes import Axes

from nsopt.arrays import Array
from nsopt.loads import find_impacts
from nsopt.plots import style
from nsopt.result import Result

ROOM = 1.08  # upper end of the axis over the largest impulse that it shows

ROUND_OFF = 1e-6
"""Impulse, over the largest, up to which it is not drawn."""


def impulses_apart(result: Result, force: Array) -> tuple[Array, Array]:
    """Return forces (time, ...), NaN in steps with impacts, and impulses, NaN in all others.

    Of torques [N m] likewise.
    """
    impact = find_impacts(result).reshape(-1, *[1] * (force.ndim - 1))
    h = result["h"].values.reshape(impact.shape)
    return np.where(impact, np.nan, force), np.where(impact, force * h, np.nan)


class Stems(NamedTuple):
    """Impulses of impacts of several results or joints, to be drawn beside forces."""

    times: Sequence[Array]  # what is across, of each, (time,)
    impulses: Sequence[Array]  # (time, rows, columns), NaN where there is none
    unit: str = "N s"

    @classmethod
    def of_one(cls, time: Array, impulses: Sequence[Array], unit: str) -> Stems:
        """Return impulses (time,) each at one time, to be drawn in one pair of axes."""
        return cls([time] * len(impulses), [x[:, None, None] for x in impulses], unit)

    def draw(self, ax: Axes, row: int = 0, column: int = 0) -> None:
        """Draw those of one component from the zero of an axis on the right, if there are any.

        The axis on the left keeps to what is drawn there; both have zero at one height.
        """
        if not self._has_any(row, column):
            return
        right, unit = ax.twinx(), style.unit_of(self.unit, *self.impulses)
        sizes = [unit.factor * part[:, row, column] for part in self.impulses]
        for k, (t, size) in enumerate(zip(self.times, sizes, strict=True)):
            at, colour = np.isfinite(size), style.look(k).color
            right.vlines(t[at], 0, size[at], color=colour, linewidth=0.7, alpha=0.6)
            right.plot(t[at], size[at], "o", color=colour, markersize=2.2, alpha=0.8)
        every = np.append(np.concatenate(sizes), 0.0)
        _share_zero(ax, right, float(np.nanmin(every)), float(np.nanmax(every)))
        right.grid(False)
        right.tick_params(labelsize=style.SMALL)
        columns = self.impulses[0].shape[2]
        if not any(self._has_any(row, later) for later in range(column + 1, columns)):
            style.axis_labels(right, None, f"o impulse [{unit.text}]")

    def _has_any(self, row: int, column: int) -> bool:
        """Return whether there are impulses above the round-off of the largest."""
        largest = max(map(style.peak, self.impulses))
        own = max(style.peak(part[:, row, column]) for part in self.impulses)
        return own > ROUND_OFF * largest


def _share_zero(left: Axes, right: Axes, low: float, high: float) -> None:
    """Set limits of both so that their zeros coincide and the right one holds low to high."""
    a, b = (float(x) for x in left.get_ylim())
    a, b = min(a, 0.0), max(b, 0.0)
    whole = b - a or 1.0
    below = max(-a / whole, -low / (high - low or 1.0))  # of the height, what is below zero
    above = max(b / whole, high / (high - low or 1.0))
    below, above = below / (below + above), above / (below + above)
    for ax, least, most in ((left, a, b), (right, low, high)):
        size = ROOM * max(-least / below if below else 0.0, most / above if above else 0.0) or 1.0
        ax.set_ylim(-below * size, above * size)
