"""The state and the parameters of a compiled chain as vectors, for code, arrays and records."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import IntEnum
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from nsopt.arrays import Array
from nsopt.mechanics import Dynamics, Start
from nsopt.simulation.control import MOST


class ChainStatus(IntEnum):
    """Whether a chain goes on, has come to the end of its run, or is stuck at h_min."""

    RUNNING = 0
    DONE = 1
    STUCK = 2


class ChainState(NamedTuple):
    """The state a chain continues from, of one chain or of many: (..., n) of each part."""

    t: Array  # (1,) [s]
    q: Array  # (nq,)
    v: Array  # (nv,)
    h: Array  # (1,) [s] to try next
    back: Array  # (1,) [s] h to go back to after a step made shorter to end at a change of contact
    credit: Array  # (1,) attempts that may be spent on such steps
    x: Array  # (nx,) scaled unknowns of the last step, from where Newton starts
    status: Array  # (1,) a `ChainStatus`


class ChainParameters(NamedTuple):
    """The numbers that do not change during a run of a chain."""

    p: ArrayLike  # (np,) of the mechanism
    bounds: ArrayLike  # (4,) h_min, h_max, end of the run [s]; `StepBounds.part`
    scales: ArrayLike  # (4 + ng,) `Scales.numbers`

    @property
    def vector(self) -> Array:
        """All of them one after another."""
        return _join(self)


@dataclass(frozen=True)
class ChainLayout:
    """Where the parts of a chain's state z (nz,) and of its parameters stand in their vectors."""

    nq: int
    nv: int
    unknowns: int  # number of unknowns of all parts of a step
    mechanism: int  # number of parameters of the mechanism
    contacts: int  # number of contacts

    @classmethod
    def of(cls, d: Dynamics, unknowns: int) -> ChainLayout:
        """Return the layout of the chain of a mechanism whose steps have so many unknowns."""
        return cls(d.nq, d.nv, unknowns, len(d.parameters), len(d.contact_names))

    @property
    def nz(self) -> int:
        """Size of the state."""
        return sum(self._state)

    @property
    def parameters(self) -> int:
        """Number of parameters: of the mechanism, bounds, and scales."""
        return self.mechanism + 4 + (4 + self.contacts)

    def state(self, z: Array) -> ChainState:
        """Return views of the parts of states z (..., nz)."""
        edges = np.cumsum([0, *self._state]).tolist()
        return ChainState(*(z[..., a:b] for a, b in pairwise(edges)))

    def begin(self, start: Start, h: float, x: Array | None = None) -> Array:
        """Return the state (nz,) of a chain that runs on from ``start``.

        Parameters
        ----------
        start : Start
        h : float [s]
            To try first.
        x : (nx,), optional
            Unknowns of the step before; zero without, and if they are not finite.
        """
        unknowns = np.zeros(self.unknowns) if x is None or not np.all(np.isfinite(x)) else x
        running = float(ChainStatus.RUNNING)
        return _join(([start.t], start.q, start.v, [h], [0.0], [MOST], unknowns, [running]))

    def restart(self, z: Array) -> Array:
        """Return the state with the status of a chain that goes on; all else is as it was."""
        return np.append(z[:-1], float(ChainStatus.RUNNING))

    @property
    def _state(self) -> tuple[int, ...]:
        return 1, self.nq, self.nv, 1, 1, 1, self.unknowns, 1


def _join(parts: Iterable[ArrayLike]) -> Array:
    return np.concatenate([np.asarray(part, dtype=float) for part in parts])
