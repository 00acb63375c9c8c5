"""Closed loops and constraints on velocities as conditions on a phase: `ConstraintsInPhase`."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

import casadi as ca
import numpy as np
from numpy.typing import NDArray

from nsopt.algebra import rank
from nsopt.arrays import Array
from nsopt.mechanics import Dynamics, check_rate_rows
from nsopt.mpcc import Bound
from nsopt.trajectory.conditions import Condition, Span
from nsopt.trajectory.guesses import Trajectory
from nsopt.trajectory.node_sample import NodeSample
from nsopt.trajectory.phases.constraint_forces import ConstraintForces, find_constraint_forces
from nsopt.trajectory.phases.given_states import ZERO_OF_GIVEN, GivenState
from nsopt.trajectory.transcription.base import zero
from nsopt.trajectory.verification.defects import measure_size

OPEN_LOOP = 1e-3
"""Residual of a joint [m, 1] within steps, an error of these, over the farthest that a body moves
[m], above which a loop is open."""

LEAST_OPEN, MOST_OPEN = 1e-7, 1e-3  # [m, 1] this limit where bodies move by little, or far


class ConstraintRows(NamedTuple):
    """Combinations of rows of `ConstraintForces` that are stated at one end of a phase.

    Without those that follow from a given state or the phase before, which would be dependent.
    """

    closed: Array  # (j, i), of those of joints
    resting: Array  # (j, k), of the rates of all


@dataclass(frozen=True, eq=False)
class ConstraintsInPhase(Condition):
    """Loops are closed throughout a phase, and constraints on velocities are kept.

    As closed contacts are, see `ContactInMode`: their accelerations vanish at all points but those
    of the last step. At the end of that residuals of joints and all rates do, and in its middle
    the rates of constraints on velocities.
    """

    stated: Dynamics  # with its constraints
    dynamics: Dynamics  # of the phase
    forces: ConstraintForces
    start_rows: ConstraintRows
    end_rows: ConstraintRows
    steps: int  # of the phase

    def without_end(self) -> ConstraintsInPhase:
        """Return them without rows at the end of the phase, which follow from others."""
        closed, resting = self.end_rows
        return replace(self, end_rows=ConstraintRows(closed[:0], resting[:0]))

    def read_parameters(self, p: ca.SX | Array) -> ca.SX | Array:
        """Return the parameters of the mechanism with its joints from those of the phase."""
        names = self.dynamics.parameter_names
        return p[[names.index(name) for name in self.stated.parameter_names]]

    def compute_impulse(self, q: ca.SX, p: ca.SX, impulses: ca.SX) -> ca.SX:
        """Return the generalized impulse (nv,) of multipliers (k,) over an impact."""
        return self.compute_matrix(q, self.read_parameters(p)).T @ impulses

    def compute_matrix(self, q: ca.SX | Array, p: ca.SX | Array) -> ca.SX:
        """Return J (k, nv), with J v the rates of all rows; p are those of the mechanism."""
        d = self.stated
        J = ca.vertcat(d.closure_matrix(0, q, p), d.nonholonomic_matrix(0, q, p))
        return ca.SX(ca.DM(self.forces.rows)) @ J

    def describe_opening(self, fine: Trajectory, p: Array) -> str:
        """Return in words which joint is open at points of a motion; empty if none is."""
        n, of_stated = len(fine.q), np.asarray(self.read_parameters(p))
        given = np.zeros((1, n)), fine.q.T, np.tile(of_stated[:, None], n)
        off = np.abs(np.asarray(self.stated.closure.map(n)(*given))).max(axis=1)
        length = measure_size(self.dynamics, fine.q, p)[0]
        if off.max(initial=0.0) <= np.clip(OPEN_LOOP * length, LEAST_OPEN, MOST_OPEN):
            return ""
        joint = self.stated.closure_names[int(off.argmax())]
        return f"joint {joint!r} is open by {off.max():.2g} (m, 1) within steps: give it more steps"

    def during(self, m: NodeSample) -> list[Span]:
        d, p = self.stated, self.read_parameters(m.p)
        state = 0, m.q, m.v, p
        bias = ca.vertcat(d.closure_bias(*state), d.nonholonomic_bias(*state))
        accelerations = self.compute_matrix(m.q, p) @ m.a + ca.DM(self.forces.rows) @ bias
        return [Span(0.0, 1 - 1 / self.steps, [zero("constraints are kept", accelerations)])]

    def limit_last_middle(self, m: NodeSample) -> list[Bound]:
        """Return the bounds at the midpoint of the last step."""
        rates = self._compute_rates(m)[len(self.forces.loop_rows) :]
        return [zero("constraints on velocities are kept", rates)] if rates.numel() else []

    def start(self, m: NodeSample) -> list[Bound]:
        return self._state(m, self.start_rows)

    def end(self, m: NodeSample) -> list[Bound]:
        return self._state(m, self.end_rows)

    def _state(self, m: NodeSample, stated: ConstraintRows) -> list[Bound]:
        closure = self.stated.closure(0, m.q, self.read_parameters(m.p))
        closed = ca.SX(ca.DM(self.forces.loop_rows)) @ closure
        bounds = [
            zero("loops are closed", ca.DM(stated.closed) @ closed),
            zero("constraints are kept", ca.DM(stated.resting) @ self._compute_rates(m)),
        ]
        return [x for x in bounds if x.value.numel()]

    def _compute_rates(self, m: NodeSample) -> ca.SX:
        """Return the rates of all rows (k,) at a sample."""
        return self.compute_matrix(m.q, self.read_parameters(m.p)) @ m.v


def state_constraints(
    stated: Dynamics,
    d: Dynamics,
    steps: int,
    given: tuple[GivenState, GivenState],
    postures: Array,
    p: Array,
    is_first: bool,
    has_impact: bool,
) -> tuple[ConstraintsInPhase, ...]:
    """Return the constraints of a phase as a condition on it, none if it has none.

    ``d`` is the mechanism of the phase, ``given`` and ``postures`` are the states given at start
    and end and about where the motion is there. What the phase before states at its end is not
    stated again, but rates after an impact.
    """
    forces = find_constraint_forces(d)
    if forces is None:
        return ()
    none = np.zeros((0, len(forces.loop_rows))), np.zeros((0, len(forces.rows)))
    nothing = ConstraintRows(*none)
    kept = ConstraintsInPhase(stated, d, forces, nothing, nothing, steps)
    if is_first:
        check_rate_rows(stated, 0.0, postures[0], np.asarray(kept.read_parameters(p)))
    start, end = (_choose_rows(kept, x, q, p) for x, q in zip(given, postures, strict=True))
    if not is_first:
        start = nothing._replace(resting=start.resting) if has_impact else nothing
    return (replace(kept, start_rows=start, end_rows=end),)


def _choose_rows(
    kept: ConstraintsInPhase, given: GivenState, posture: Array, p: Array
) -> ConstraintRows:
    """Return the rows that a given state leaves open; refuse a posture whose loops are open."""
    d, of_stated = kept.stated, np.asarray(kept.read_parameters(p))
    q = np.where(np.isnan(given.q), posture, given.q)
    J = np.asarray(ca.evalf(kept.compute_matrix(q, of_stated)))
    moves = np.asarray(ca.DM(d.rate_matrix.sparsity_out(0), 1).full()) != 0  # (nq, nv)
    free_moves = (moves & np.isnan(given.q)[:, None]).any(axis=0)
    off = np.abs(np.asarray(d.closure(0, q, of_stated))).ravel()
    if not free_moves.any() and off.max(initial=0.0) > ZERO_OF_GIVEN:
        raise ValueError(
            f"the posture that is given opens joint {d.closure_names[int(off.argmax())]!r} by "
            f"{off.max():.3g}: give one whose loops are closed, or leave coordinates free by NaN"
        )
    of_loops = J[: len(kept.forces.loop_rows)]
    return ConstraintRows(
        _find_independent(of_loops, free_moves), _find_independent(J, np.isnan(given.v))
    )


def _find_independent(J: Array, free: NDArray[np.bool_]) -> Array:
    """Return orthonormal combinations (j, k) of the rows J (k, nv) that free columns can change."""
    of_free = J[:, free]
    if not of_free.size:
        return np.zeros((0, len(J)))
    return np.asarray(np.linalg.svd(of_free)[0].T[: rank(of_free)])
