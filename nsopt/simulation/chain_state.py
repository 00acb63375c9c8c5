"""The state and the parameters of a compiled chain as vectors, for code, arrays and records."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import IntEnum
from itertools import pairwise
from typing import Any, NamedTuple

import casadi as ca
import numpy as np

from nsopt.arrays import Array
from nsopt.mechanics import Dynamics, Start
from nsopt.simulation.control import MOST


class ChainStatus(IntEnum):
    """Whether a chain goes on, has come to the end of its run, or is stuck at h_min."""

    RUNNING = 0
    DONE = 1
    STUCK = 2


class ChainState(NamedTuple):
    """The state a chain continues from: columns of symbols, or arrays with these as last axis."""

    t: Any  # (1,) [s]
    q: Any  # (nq,)
    v: Any  # (nv,)
    h: Any  # (1,) [s] to try next
    back: Any  # (1,) [s] to go back to after a change of contact, 0 for none
    credit: Any  # (1,) attempts that may be spent on ending steps where contacts change
    x: Any  # (nx,) scaled unknowns of the last step, from where Newton starts
    status: Any  # (1,) a `ChainStatus`

    @property
    def vector(self) -> Array:
        """The state z (nz,), from numbers."""
        return _vector(self)

    @property
    def column(self) -> Any:
        """The state z (nz,), from symbols."""
        return ca.vertcat(*self)


class ChainParameters(NamedTuple):
    """The numbers that do not change during a run of a chain."""

    p: Any  # (np,) of the mechanism
    bounds: Any  # (4,) h_min, h_max, end of the run [s]; `StepBounds.part`
    scales: Any  # (4 + ng,) `Scales.numbers`

    @property
    def vector(self) -> Array:
        """All of them one after another, from numbers."""
        return _vector(self)


@dataclass(frozen=True)
class ChainLayout:
    """Where the parts of a chain's state z (nz,) and of its parameters stand in their vectors.

    Parameters
    ----------
    nq, nv : int
    unknowns : int
        Number of unknowns of all parts of a step.
    mechanism : int
        Number of parameters of the mechanism.
    contacts : int
    """

    nq: int
    nv: int
    unknowns: int
    mechanism: int
    contacts: int

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
        """Number of parameters."""
        return sum(self._parameters)

    def state(self, z: Any) -> ChainState:
        """Return the parts of a column of symbols, or of an array (..., nz)."""
        return ChainState(*_parts(z, self._state))

    def split_parameters(self, parameters: Any) -> ChainParameters:
        """Return the parts of the parameters, likewise."""
        return ChainParameters(*_parts(parameters, self._parameters))

    def begin(self, start: Start, h: float, x: Array | None = None) -> Array:
        """Return the state (nz,) of a chain that runs on from ``start``.

        Parameters
        ----------
        start : Start
        h : float [s]
            To try first.
        x : (nx,), optional
            Unknowns of the step before; zero without, and where they are not finite.
        """
        known = x is not None and bool(np.all(np.isfinite(x)))
        unknowns = x if x is not None and known else np.zeros(self.unknowns)
        running = [ChainStatus.RUNNING]
        return ChainState([start.t], start.q, start.v, [h], [0.0], [MOST], unknowns, running).vector

    def restart(self, z: Array) -> Array:
        """Return the state as one that runs on."""
        return self.state(z)._replace(status=[ChainStatus.RUNNING]).vector

    @property
    def _state(self) -> tuple[int, ...]:
        return 1, self.nq, self.nv, 1, 1, 1, self.unknowns, 1

    @property
    def _parameters(self) -> tuple[int, ...]:
        return self.mechanism, 4, 4 + self.contacts


def _vector(parts: Iterable[Any]) -> Array:
    return np.concatenate([np.asarray(part, dtype=float) for part in parts])


def _parts(vector: Any, sizes: Sequence[int]) -> list[Any]:
    edges = np.cumsum([0, *sizes]).tolist()
    if isinstance(vector, np.ndarray):
        return [vector[..., a:b] for a, b in pairwise(edges)]
    return [vector[a:b] for a, b in pairwise(edges)]
