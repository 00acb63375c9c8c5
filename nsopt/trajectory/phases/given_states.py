"""Coordinates and velocities that are given at the ends of a phase."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

import casadi as ca
import numpy as np

from nsopt.arrays import Array
from nsopt.mechanics import Dynamics
from nsopt.mpcc import Bound
from nsopt.trajectory.conditions import Condition, EndAt, StartAt
from nsopt.trajectory.node_sample import NodeSample
from nsopt.trajectory.phases.mode_conditions import (
    SLIP,
    ContactInMode,
)

# Gap [m] or speed [m/s] of a given state that counts as zero: the state may be the end of another
# optimum, whose rows solvers keep to 1e-8.
ZERO_OF_GIVEN = 1e-8


class GivenState(NamedTuple):
    """Coordinates and velocities that are given at one end of a phase, NaN where they are free."""

    q: Array  # (nq,)
    v: Array  # (nv,)

    @classmethod
    def of(cls, d: Dynamics, states: Iterable[StartAt | EndAt]) -> GivenState:
        """Return those that conditions give; where two do, the first one counts."""
        q, v = np.full(d.nq, np.nan), np.full(d.nv, np.nan)
        for x in states:
            q = np.where(np.isnan(q), x.coordinates(d), q)
            v = np.where(np.isnan(v), x.velocities(d), v)
        return cls(q, v)

    def has_place_of(self, contact: ContactInMode) -> bool:
        """Return whether they give the place of a contact along its tangents."""
        slip_on_v = set(contact.motion.jac_sparsity(SLIP, 2).get_triplet()[1])
        q_of_v = contact.dynamics.rate_matrix.sparsity_out(0).get_triplet()
        moved = [i for i, j in zip(*q_of_v, strict=True) if j in slip_on_v]
        return bool(np.isfinite(self.q[moved]).all())


@dataclass(frozen=True)
class UnitAtStart(Condition):
    """Euler parameters that are free at the start have a norm of one there; steps keep it."""

    groups: tuple[int, ...]  # indices of `Dynamics.norms`, of bodies and joints that have them

    def start(self, m: NodeSample) -> list[Bound]:
        norms = m.dynamics.norms(m.q)[list(self.groups)]
        one = np.ones(len(self.groups))
        return [Bound("norm of Euler parameters", norms, one, one)]

    @classmethod
    def of_free(cls, d: Dynamics, given: GivenState) -> tuple[UnitAtStart, ...]:
        """Return the condition on those that ``given`` leaves free; none if it leaves none."""
        of_groups = ca.DM(d.norms.jac_sparsity(0, 0)).full().astype(bool)
        free = tuple(k for k, own in enumerate(of_groups) if not np.isfinite(given.q[own]).all())
        return (cls(free),) if free else ()
