"""Surfaces that forces press apart, as of compliant contacts, recorded like rigid contacts."""

from __future__ import annotations

import numpy as np

from nsopt.arrays import Array
from nsopt.contact_modes import FREE, IMPACT, LASTING, spans
from nsopt.mechanics import Dynamics
from nsopt.simulation.record.evaluated_steps import evaluate_at_times

REBOUND = 0.5  # part of its largest depth below which a surface must come back in a rebound


def _count_impact_times(depth: Array) -> int:
    """Return at how many times, from the first, a contact of depths (n,) [m] is an impact.

    0 where it lies or sinks in without a rebound; otherwise up to the end of the first rebound,
    where the depth is least again.
    """
    rates = np.diff(depth)
    leaving = int(np.argmax(rates < 0)) if np.any(rates < 0) else len(rates)
    again = np.flatnonzero(rates[leaving:] > 0)
    end = leaving + int(again[0]) if again.size else len(rates)
    rebounds = depth[end] < REBOUND * depth[leaving]
    return end + 1 if rebounds else 0


class PressedSurfaces:
    """What forces do at their surfaces, at all times of a run; h is NaN at the first."""

    def __init__(
        self, dynamics: Dynamics, t: Array, q: Array, v: Array, p: Array, h: Array
    ) -> None:
        self._d, self._h, n = dynamics, h, len(t)
        values = evaluate_at_times(dynamics.pressed, t, q, v, p)
        self._distance = values[0]
        self._point, self._offset, self._force, self._moment = (
            x.reshape(n, -1, 3) for x in values[1:]
        )

    def contacts(self) -> dict[str, Array]:
        """Return the variables of contacts, over (time, surface); forces are those at the times."""
        size = np.linalg.norm(self._force, axis=2)
        impulse = np.full_like(size, np.nan)
        impulse[1:] = (size[1:] + size[:-1]) / 2 * self._h[1:, None]
        none, mode = np.zeros_like(size), self.modes()
        # The step in which a contact separates has what is left of its force at its start.
        struck = (mode == IMPACT) | ((mode == FREE) & (np.roll(mode, 1, axis=0) == IMPACT))
        return {
            "gap": self._distance,
            "impulse": impulse,
            "impact_impulse": np.where(np.isnan(impulse), np.nan, struck * impulse),
            "contact_mode": mode,
            "contact_force": self._force,
            "contact_point": self._point,
            "contact_offset": self._offset,
            "complementarity_residual": none,
            "gap_violation": none,
        }

    def modes(self) -> Array:
        """Return the modes of surfaces (n, ns) as of contacts, NaN at the start.

        A contact is an impact until its first rebound ends, where depth is least again; what goes
        on after that lasts, as does all of a contact that lies or sinks in without a rebound.
        """
        depth = np.maximum(-self._distance, 0)
        mode = np.where(depth > 0, LASTING, FREE).astype(float)
        for k in range(depth.shape[1]):
            for begin, end in spans(depth[:, k] > 0):
                # The depths end with a zero, where it separates.
                mode[begin : begin + _count_impact_times(depth[begin : end + 1, k]), k] = IMPACT
        mode[depth == 0] = FREE
        mode[0] = np.nan
        return mode

    @property
    def joints(self) -> tuple[str, ...]:
        """The forces that press."""
        return tuple(dict.fromkeys(self._d.pressed_owners))

    def wrenches(self) -> Array:
        """Return force and moment about the origin of the last frame (time, force, 6)."""
        wrench = np.zeros((len(self._distance), len(self.joints), 6))
        for k, owner in enumerate(self._d.pressed_owners):
            parts = np.concatenate([self._force[:, k], self._moment[:, k]], axis=1)
            wrench[:, self.joints.index(owner)] += parts
        return wrench
