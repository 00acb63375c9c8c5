"""Limits between the nodes of a motion by polynomials: how far it breaks them.

Programs state limits at nodes and midpoints; here rows are evaluated all through each step.
`Tightening` makes limits narrower by what is found.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import casadi as ca
import numpy as np
from numpy.typing import NDArray

from nsopt.arrays import Array
from nsopt.sampled import PARTS, lagrange
from nsopt.simulation import evaluate_at_times
from nsopt.trajectory.diagnosis import ALONG, END, PARTLY, START, Occasion, Row, Stated, Statement
from nsopt.trajectory.guesses import Trajectory
from nsopt.trajectory.transcription.collocation import Collocation

FINE = 64
"""Intervals of a step at whose ends rows are compared with their limits. Measured on sines of any
phase, the peak between them is found to 1e-10 of the row where that swings once in a step, to 5e-3
where it swings twice; by 16 intervals once to 8e-3."""

EVEN: Array = np.linspace(0, 1, FINE + 1)
"""These ends, as shares of the step."""

ABOUT_TURN = 1e-3
"""How long before and after a joint turns round rows are compared too, over such an interval: far
more than the error of the turn, which a straight line finds, and too short for a row to change."""

KEPT = 1e-6  # excess over the size of a limit up to which a motion is said to keep it

LEAST = 0.02
"""Least size of a limit: `KEPT` times this, 2e-8, is above the 1e-8 to which solvers keep rows."""

NO_TURN = 0.5  # share of a step that stands for a turn in steps with fewer turns than others have


class BeyondLimits(NamedTuple):
    """How far a motion is beyond its limits within each step."""

    rows: tuple[Row, ...]
    beyond: Array  # (2, steps, rows) below the lower, above the upper limit; zero where it is kept
    when: Array  # (steps, rows) [s] at which it is beyond by most
    scale: Array  # (rows,) half of the range between limits, or the larger of them if that is less

    @property
    def largest(self) -> float:
        """The largest excess over the size of its limit."""
        return float(np.max(self.beyond / self.scale, initial=0.0))

    def worst(self) -> str:
        """Return in words which limit is broken most."""
        relative = self.beyond / self.scale
        over, k, i = np.unravel_index(int(np.argmax(relative)), relative.shape)
        row, most = self.rows[i], self.beyond[over, k, i]
        limit = row.upper if over else row.lower
        value = limit + most if over else limit - most
        return (
            f"{row.owner}: {row.name} is {value:.6g} at t = {self.when[k, i]:.4g} s, between "
            f"nodes, {'above' if over else 'below'} its limit of {limit:g}"
        )


@dataclass(frozen=True, eq=False)
class LimitsBetweenNodes:
    """The limits of a motion by polynomials that hold all along or for a part, at all times."""

    transcription: Collocation
    statement: Statement  # of its conditions
    before: Statement | None = None  # of the phase before, if any
    after: Statement | None = None

    @cached_property
    def rows(self) -> tuple[Row, ...]:
        """Rows of conditions that are limits at more than one node, without equations."""
        return tuple(stated.row for _, stated in self._limits)

    @cached_property
    def _limits(self) -> list[tuple[int, Stated]]:
        """Those rows with their numbers among all, and the nodes at which they hold."""
        stated = enumerate(self.statement.state_rows(self.transcription.horizon.steps))
        lasting = ((k, x) for k, x in stated if x.row.when in (ALONG, PARTLY) and x.first < x.last)
        return [(k, x) for k, x in lasting if x.row.lower < x.row.upper]

    @cached_property
    def _holds(self) -> NDArray[np.bool_]:
        """Within which steps each of `rows` holds, (steps, rows)."""
        step = np.arange(self.transcription.horizon.steps)[:, None]
        first, last = np.array([(x.first, x.last) for _, x in self._limits]).reshape(-1, 2).T
        return np.asarray((first <= step) & (step < last))

    @cached_property
    def rates_at_ends(self) -> NDArray[np.bool_]:
        """Which rows depend on accelerations or inputs that no condition gives, (2, rows).

        The first row is of the first node, the second of the last: they are alike.
        """
        found = self._find_dependent(self._free_symbols)
        return np.array([found, found], dtype=bool).reshape(2, -1)

    @cached_property
    def free_at_ends(self) -> NDArray[np.bool_]:
        """Which rows the given posture at the first and the last node leaves open, (2, rows)."""
        by_state, found = ca.vertcat(*self.statement.symbols[:3]), []
        for q, v in (self._posture(START), self._posture(END)):
            # Which of t, q, v are free: of them t never is.
            free = np.flatnonzero(np.concatenate([[False], np.isnan(q), np.isnan(v)]))
            symbols = ca.vertcat(self._free_symbols, *(by_state[int(k)] for k in free))
            found.append(self._find_dependent(symbols))
        return np.array(found, dtype=bool).reshape(2, -1)

    def _find_dependent(self, symbols: ca.SX) -> list[bool]:
        """Return which rows depend on some symbols."""
        values = ca.vertcat(ca.SX(0, 1), *(row.value for row in self.rows))
        return [*ca.which_depends(values, symbols, 1, True)]

    @property
    def _free_symbols(self) -> ca.SX:
        """Symbols of accelerations, unless a posture gives them, and of inputs."""
        _, _, _, a, u = self.statement.symbols
        conditions = self.statement.conditions
        given = any(getattr(x, "accelerations", None) is not None for x in conditions)
        return u if given else ca.vertcat(a, u)

    def _posture(self, when: Occasion) -> tuple[Array, Array]:
        """Return q and v as given at start or end, also by the phase before or after."""
        own = self.statement.posture(when)
        beside = self.before if when == START else self.after
        if beside is None:
            return own
        other = beside.posture(END if when == START else START)
        q, v = (np.where(np.isnan(x), y, x) for x, y in zip(own, other, strict=True))
        return q, v

    def excess(self, fine: Trajectory) -> BeyondLimits:
        """Return how far a motion, ``fine`` at nodes and midpoints, is beyond its limits."""
        steps = self.transcription.horizon.steps
        lower, upper = np.array([(x.lower, x.upper) for x in self.rows]).reshape(-1, 2).T
        if any(self.transcription.creep):  # smoothed dry friction: here it is exact, and jumps
            shares = self._add_turns(fine)
            values = self._values(fine, shares)
            peaks, over = _find_peaks(values, lower, upper)
            at_peaks = np.diagonal(self._values(fine, peaks), axis1=1, axis2=2)
        else:  # rows are smooth: polynomials through few of their values
            shares = np.tile(EVEN, (steps, 1))
            at_parts = self._values(fine, np.tile(PARTS, (steps, 1)))  # nine shares of each step
            values = at_parts @ lagrange(EVEN).T
            peaks, over = _find_peaks(values, lower, upper)
            of_row = lagrange(peaks.ravel()).reshape(*peaks.shape, -1)
            # n steps, k rows, p parts.
            at_peaks = np.einsum("nkp,nkp->nk", of_row, at_parts)
        # How far the values are beyond each limit, (steps, rows); then the peaks between them.
        below, above = lower - values.min(axis=2), values.max(axis=2) - upper
        worst = np.where(over, values.argmax(axis=2), values.argmin(axis=2))
        at_worst, when = np.where(over, above, below), np.take_along_axis(shares, worst, axis=1)
        past = np.where(over, at_peaks - upper, lower - at_peaks)
        when = np.where(past > at_worst, peaks, when)
        below, above = np.maximum(below, lower - at_peaks), np.maximum(above, at_peaks - upper)
        beyond = np.maximum(np.where(self._holds, np.stack([below, above]), 0.0), 0.0)
        times = fine.duration / steps * (np.arange(steps)[:, None] + when)
        return BeyondLimits(self.rows, beyond, times, _find_sizes(lower, upper))

    def _values(self, fine: Trajectory, shares: Array) -> Array:
        """Return the rows where shares (steps, n) of each step have passed, (steps, rows, n)."""
        steps, n = shares.shape
        t, q, v, a, u = self.transcription.interpolate(
            fine, np.repeat(np.arange(steps), n), shares.ravel()
        )
        (rows,) = evaluate_at_times(self.statement.function, t, q, v, a, u)
        wanted = rows[:, [k for k, _ in self._limits]].reshape(steps, n, -1)
        return np.ascontiguousarray(wanted.transpose(0, 2, 1))

    def _add_turns(self, fine: Trajectory) -> Array:
        """Return shares of each step, (steps, n), with those just before and after turns.

        Where a joint turns round dry friction jumps, and there are no polynomials through it.
        """
        steps = self.transcription.horizon.steps
        k = np.repeat(np.arange(steps), FINE + 1)
        v = self.transcription.interpolate(fine, k, np.tile(EVEN, steps))[2].reshape(
            steps, FINE + 1, -1
        )
        before, after = v[:, :-1], v[:, 1:]
        turns = before * after < 0
        part = before / np.where(turns, before - after, 1.0)  # of the interval, by a straight line
        most = int(turns.sum(axis=(1, 2)).max())
        shares = np.tile(EVEN, (steps, 1))
        found = np.full((steps, most), NO_TURN)
        for step, i, joint in np.argwhere(turns):
            column = int(np.argmax(found[step] == NO_TURN))
            found[step, column] = (i + part[step, i, joint]) / FINE
        return np.hstack([shares, found - ABOUT_TURN / FINE, found + ABOUT_TURN / FINE])


def _find_peaks(values: Array, lower: Array, upper: Array) -> tuple[Array, NDArray[np.bool_]]:
    """Return where rows are worst between even shares: the peak of a parabola through three.

    As shares of the step, (steps, rows); and whether a row exceeds its upper limit by more, or is
    nearer to it, than its lower limit. Of values (steps, rows, n) the first are at `EVEN` shares.
    """
    over = values.max(axis=2) - upper >= lower - values.min(axis=2)
    even = np.where(over[:, :, None], values[:, :, : FINE + 1], -values[:, :, : FINE + 1])
    i = np.clip(even.argmax(axis=2), 1, FINE - 1)[:, :, None]
    with np.errstate(invalid="ignore", divide="ignore"):
        before, most, after = (np.take_along_axis(even, i + j, axis=2)[:, :, 0] for j in (-1, 0, 1))
        ahead = (before - after) / (before - 2 * most + after) / 2
    ahead = np.clip(np.where(np.isfinite(ahead), ahead, 0.0), -1, 1)
    return (i[:, :, 0] + ahead) / FINE, over


def _find_sizes(lower: Array, upper: Array) -> Array:
    """Return the sizes of limits (rows,), as of `BeyondLimits.scale`, `LEAST` at least."""
    sides = np.stack([lower, upper])
    finite = np.where(np.isfinite(sides), np.abs(sides), 0.0).max(axis=0)
    half = np.where(np.isfinite(upper - lower), (upper - lower) / 2, np.inf)
    one_side = np.where(finite > 0, finite, 1.0)
    return np.maximum(np.minimum(half, one_side), LEAST)
