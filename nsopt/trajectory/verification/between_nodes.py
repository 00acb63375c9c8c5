"""Limits between the nodes of a motion by polynomials: how far it breaks them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import casadi as ca
import numpy as np
from numpy.typing import NDArray

from nsopt.sampled import PARTS, lagrange
from nsopt.trajectory.diagnosis import ALONG, Row, Statement
from nsopt.trajectory.guesses import Trajectory
from nsopt.trajectory.transcription.base import Array
from nsopt.trajectory.transcription.collocation import Collocation

FINE = 64
"""Intervals of a step at whose ends limits are looked at."""

KEPT = 1e-6
"""Part of a limit by which a motion may go beyond it and is still said to keep it."""


LEAST = 0.02
"""Size that limits have at least: solvers keep rows to 1e-8, also those of a tolerance of 1 mm."""


class BeyondLimits(NamedTuple):
    """How far a motion is beyond its limits within each step.

    Attributes
    ----------
    beyond : (2, steps, rows)
        The lower and the upper limit; zero where it is kept.
    when : (steps, rows) [s]
        Where in the step most.
    scale : (rows,)
        Size of the limits: the larger one, where it is zero the range.
    """

    rows: tuple[Row, ...]
    beyond: Array
    when: Array
    scale: Array

    @property
    def largest(self) -> float:
        """Over the size of its limit."""
        return float(np.max(self.beyond / self.scale, initial=0.0))

    def worst(self) -> str:
        """Return in words which limit is broken most."""
        beyond = self.beyond / self.scale
        over, k, i = np.unravel_index(int(np.argmax(beyond)), beyond.shape)
        row, most = self.rows[i], self.beyond[over, k, i]
        limit = row.upper if over else row.lower
        value = limit + most if over else limit - most
        return (
            f"{row.owner}: {row.name} is {value:.6g} at t = {self.when[k, i]:.4g} s, between "
            f"nodes, {'above' if over else 'below'} its limit of {limit:g}"
        )


@dataclass(frozen=True, eq=False)
class LimitsBetweenNodes:
    """The limits of a motion by polynomials that hold all along, at all times.

    Parameters
    ----------
    transcription : Collocation
    statement : Statement
        Of its conditions.
    """

    transcription: Collocation
    statement: Statement

    @cached_property
    def rows(self) -> tuple[Row, ...]:
        """Rows of conditions that are limits all along; equations of every moment are none."""
        return tuple(self.statement.rows[k] for k in self._numbers)

    @cached_property
    def _numbers(self) -> list[int]:
        rows = enumerate(self.statement.rows)
        return [k for k, x in rows if x.when == ALONG and x.lower < x.upper]

    @cached_property
    def free_at_ends(self) -> NDArray[np.bool_]:
        """Which rows depend on what no posture at the start or end gives, (rows,)."""
        _, _, _, a, u = self.statement.symbols
        given = any(
            getattr(x, "accelerations", None) is not None for x in self.statement.conditions
        )
        free = u if given else ca.vertcat(a, u)
        return np.array([bool(ca.depends_on(x.value, free)) for x in self.rows], dtype=bool)

    def excess(self, fine: Trajectory) -> BeyondLimits:
        """Return how far a motion, given at nodes and midpoints, is beyond its limits."""
        steps = self.transcription.horizon.steps
        t, q, v, a, u = self.transcription.within_steps(fine)
        columns = self.statement.function.map(len(t))(t, q.T, v.T, a.T, u.T)
        at_parts = np.asarray(columns)[self._numbers].T.reshape(steps, len(PARTS), -1)
        shares = np.linspace(0, 1, FINE + 1)
        values = np.einsum("sp,npk->nsk", lagrange(shares), at_parts)
        lower, upper = np.array([(x.lower, x.upper) for x in self.rows]).T
        off = np.maximum(lower - values, values - upper)
        h = fine.duration / steps
        when = h * (np.arange(steps)[:, None] + shares[np.argmax(off, axis=1)])
        return BeyondLimits(
            self.rows,
            np.maximum(np.stack([lower - values.min(axis=1), values.max(axis=1) - upper]), 0),
            when,
            _sizes(lower, upper),
        )


def _sizes(lower: Array, upper: Array) -> Array:
    """Return the sizes of limits (rows,)."""
    sides = np.stack([lower, upper])
    finite = np.where(np.isfinite(sides), np.abs(sides), 0.0).max(axis=0)
    span = np.where(np.isfinite(upper - lower), upper - lower, 1.0)
    return np.maximum(np.where(finite > 0, finite, span), LEAST)
