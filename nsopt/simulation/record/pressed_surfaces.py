"""Surfaces that forces press apart, recorded like contacts and their joints."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from nsopt.mechanics import Dynamics
from nsopt.simulation.record.contact_phases import IMPACT, LASTING, OPEN
from nsopt.simulation.record.evaluation import evaluate_at_times

Array = NDArray[np.float64]


def _first_rebound(depth: Array) -> int:
    """Return how many of the depths (n,), the first above zero, are of compression and rebound."""
    end = int(np.argmax(depth <= 0)) or len(depth)
    rates = np.diff(depth[:end])
    leaving = int(np.argmax(rates < 0)) if np.any(rates < 0) else end
    again = np.flatnonzero(rates[leaving:] > 0)
    return leaving + int(again[0]) + 1 if again.size else end


class PressedSurfaces:
    """What forces do at their surfaces, at all times of a run.

    Parameters
    ----------
    dynamics : Dynamics
    t, q, v, p : (n,), (n, nq), (n, nv), (np,)
    h : (n,) [s]
        The step that ends at each time, NaN at the first.
    """

    def __init__(
        self, dynamics: Dynamics, t: Array, q: Array, v: Array, p: Array, h: Array
    ) -> None:
        self._d, self._h, n = dynamics, h, len(t)
        values = evaluate_at_times(dynamics.pressed, t, q, v, np.tile(p, (n, 1)))
        self._distance = values[0]
        self._point, self._offset, self._force, self._moment = (
            x.reshape(n, -1, 3) for x in values[1:]
        )

    def contacts(self) -> dict[str, Array]:
        """Return the variables of contacts, over (time, surface); forces are those at the times."""
        size = np.linalg.norm(self._force, axis=2)
        impulse = np.full_like(size, np.nan)
        impulse[1:] = (size[1:] + size[:-1]) / 2 * self._h[1:, None]
        none = np.zeros_like(size)
        return {
            "gap": self._distance,
            "impulse": impulse,
            "impact_impulse": none,
            "contact_mode": self.modes(),
            "contact_force": self._force,
            "contact_point": self._point,
            "contact_offset": self._offset,
            "complementarity_residual": none,
            "gap_violation": none,
        }

    def modes(self) -> Array:
        """Return the modes of surfaces (n, ns) as of contacts, NaN at the start.

        A contact is an impact until its first rebound ends, where depth is least again; what goes
        on after that lasts.
        """
        depth = np.maximum(-self._distance, 0)
        mode = np.where(depth > 0, LASTING, OPEN)
        for k in range(depth.shape[1]):
            pressed = np.append(False, depth[:, k] > 0)
            for begin in np.flatnonzero(pressed[1:] & ~pressed[:-1]):
                mode[begin : begin + _first_rebound(depth[begin:, k]), k] = IMPACT
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
