"""Closed loops in a phase, as conditions on its motion: `LoopClosure`."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

import casadi as ca
import numpy as np
from numpy.typing import NDArray

from nsopt.algebra import rank
from nsopt.arrays import Array
from nsopt.mechanics import Dynamics
from nsopt.mpcc import Bound
from nsopt.trajectory.conditions import Condition, Span
from nsopt.trajectory.guesses import Trajectory
from nsopt.trajectory.node_sample import NodeSample
from nsopt.trajectory.phases.loop_forces import LoopForces, find_loop_forces
from nsopt.trajectory.phases.mode_conditions import ZERO_OF_GIVEN, GivenState
from nsopt.trajectory.transcription.base import zero

OPEN_LOOP = 1e-4
"""Residual of a joint [m, 1] within steps, an error of these, above which a loop is open."""


class LoopRows(NamedTuple):
    """Combinations of rows of `LoopForces` that are stated at one end of a phase.

    Without those that follow from a given state or the phase before, which would be dependent.
    """

    closed: Array  # (i, k)
    resting: Array  # (j, k), of the rates


@dataclass(frozen=True, eq=False)
class LoopClosure(Condition):
    """Loops are closed throughout a phase.

    As closed contacts are, see `ContactInMode`: their accelerations vanish at all points but those
    of the last step, and at the end residuals and their rates do.
    """

    stated: Dynamics  # with its cut joints
    dynamics: Dynamics  # of the phase
    forces: LoopForces
    start_rows: LoopRows
    end_rows: LoopRows
    steps: int  # of the phase

    def read_parameters(self, p: ca.SX | Array) -> ca.SX | Array:
        """Return the parameters of the mechanism with its joints from those of the phase."""
        names = self.dynamics.parameter_names
        return p[[names.index(name) for name in self.stated.parameter_names]]

    def compute_impulse(self, q: ca.SX, p: ca.SX, impulses: ca.SX) -> ca.SX:
        """Return the generalized impulse (nv,) of multipliers (k,) over an impact."""
        C = self.stated.closure_matrix(0, q, self.read_parameters(p))
        return C.T @ (ca.DM(self.forces.rows).T @ impulses)

    def describe_opening(self, fine: Trajectory, p: Array) -> str:
        """Return in words which joint is open at points of a motion; empty if none is."""
        n, of_stated = len(fine.q), np.asarray(self.read_parameters(p))
        given = np.zeros((1, n)), fine.q.T, np.tile(of_stated[:, None], n)
        off = np.abs(np.asarray(self.stated.closure.map(n)(*given))).max(axis=1)
        if off.max() <= OPEN_LOOP:
            return ""
        joint = self.stated.closure_names[int(off.argmax())]
        return f"joint {joint!r} is open by {off.max():.2g} (m, 1) within steps: give it more steps"

    def during(self, m: NodeSample) -> list[Span]:
        d, p, rows = self.stated, self.read_parameters(m.p), ca.DM(self.forces.rows)
        C, bias = d.closure_matrix(0, m.q, p), d.closure_bias(0, m.q, m.v, p)
        stays = zero("loops stay closed", rows @ (C @ m.a + bias))
        return [Span(0.0, 1 - 1 / self.steps, [stays])]

    def start(self, m: NodeSample) -> list[Bound]:
        return self._state(m, self.start_rows)

    def end(self, m: NodeSample) -> list[Bound]:
        return self._state(m, self.end_rows)

    def _state(self, m: NodeSample, stated: LoopRows) -> list[Bound]:
        closed, rates = self._sample(m)
        bounds = [
            zero("loops are closed", ca.DM(stated.closed) @ closed),
            zero("loops stay closed", ca.DM(stated.resting) @ rates),
        ]
        return [x for x in bounds if x.value.numel()]

    def _sample(self, m: NodeSample) -> tuple[ca.SX, ca.SX]:
        """Return the combined rows (k,) and their rates at a sample."""
        d, p, rows = self.stated, self.read_parameters(m.p), ca.DM(self.forces.rows)
        return rows @ d.closure(0, m.q, p), rows @ (d.closure_matrix(0, m.q, p) @ m.v)


def state_loops(
    stated: Dynamics,
    d: Dynamics,
    steps: int,
    given: tuple[GivenState, GivenState],
    postures: Array,
    p: Array,
    is_first: bool,
    has_impact: bool,
) -> tuple[LoopClosure, ...]:
    """Return the closed loops of a phase as a condition on it, none if it has none.

    ``d`` is the mechanism of the phase, ``given`` and ``postures`` are the states given at start
    and end and about where the motion is there. What the phase before states at its end is not
    stated again, but rates after an impact.
    """
    forces = find_loop_forces(d)
    if forces is None:
        return ()
    none = np.zeros((0, len(forces.rows)))
    loops = LoopClosure(stated, d, forces, LoopRows(none, none), LoopRows(none, none), steps)
    start, end = (_choose_rows(loops, x, q, p) for x, q in zip(given, postures, strict=True))
    if not is_first:
        start = LoopRows(none, start.resting if has_impact else none)
    return (replace(loops, start_rows=start, end_rows=end),)


def _choose_rows(loops: LoopClosure, given: GivenState, posture: Array, p: Array) -> LoopRows:
    """Return the rows that a given state leaves open; refuse a posture whose loops are open."""
    d, of_stated = loops.stated, np.asarray(loops.read_parameters(p))
    q = np.where(np.isnan(given.q), posture, given.q)
    C = loops.forces.rows @ np.asarray(d.closure_matrix(0, q, of_stated))
    moves = np.asarray(ca.DM(d.rate_matrix.sparsity_out(0), 1).full()) != 0  # (nq, nv)
    free_moves = (moves & np.isnan(given.q)[:, None]).any(axis=0)
    off = np.abs(np.asarray(d.closure(0, q, of_stated))).ravel()
    if not free_moves.any() and off.max() > ZERO_OF_GIVEN:
        raise ValueError(
            f"the posture that is given opens joint {d.closure_names[int(off.argmax())]!r} by "
            f"{off.max():.3g}: give one whose loops are closed, or leave coordinates free by NaN"
        )
    return LoopRows(_find_independent(C, free_moves), _find_independent(C, np.isnan(given.v)))


def _find_independent(C: Array, free: NDArray[np.bool_]) -> Array:
    """Return orthonormal combinations (i, k) of the rows C (k, nv) that free columns can change."""
    of_free = C[:, free]
    if not of_free.size:
        return np.zeros((0, len(C)))
    return np.asarray(np.linalg.svd(of_free)[0].T[: rank(of_free)])
