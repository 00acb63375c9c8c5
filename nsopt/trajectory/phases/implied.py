"""Equations of closed contacts that follow from the conditions at an end of a phase.

Stated again they would be dependent rows, whose multipliers grow without bound. `GivenState` finds
those that follow from coordinates and velocities; here also what other conditions imply, such as
that pins hang or rest.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import casadi as ca
import numpy as np

from nsopt.arrays import Array
from nsopt.mechanics import Dynamics
from nsopt.trajectory.conditions import Condition
from nsopt.trajectory.phases.given_states import ZERO_OF_GIVEN
from nsopt.trajectory.phases.mode_conditions import SLIP, ContactInMode, EndEquations
from nsopt.trajectory.phases.modes import sample_symbols
from nsopt.trajectory.returned import call_bounds

DEPENDENT = 1e-8  # part of a gradient that others do not span, up to which it depends on them
NEARBY = 1e-3  # [rad, m] from the guess to a second state: at one alone rows may agree by chance
ITERATIONS = 20  # of Newton's method, which takes a few where there is such a state


@dataclass(frozen=True, eq=False)
class EndConditions:
    """The equations between coordinates and velocities that conditions state at an end."""

    rows: ca.Function  # state (nq + nv,) -> (n,)
    gradients: ca.Function  # state -> (n, nq + nv)
    states: Sequence[Array]  # that meet them

    @classmethod
    def of(
        cls,
        d: Dynamics,
        conditions: Sequence[Condition],
        end: str,
        inputs: Sequence[str],
        p: Array,
        state: Array,
    ) -> EndConditions:
        """Return those of ``end``, "start" or "end", with states near a given one (nq + nv,).

        Equations that depend on one of the ``inputs`` are not among them.
        """
        m, rows = sample_symbols(d), [ca.SX(0, 1)]
        z, others = ca.vertcat(m.q, m.v), ca.vertcat(m.t, m.a, *map(m.input, inputs))
        for bound in (b for x in conditions for b in call_bounds(x, end, m)):
            for k in np.flatnonzero(np.equal(bound.lower, bound.upper)).tolist():
                if not ca.depends_on(bound.value[k], others):
                    rows.append(bound.value[k] - bound.lower[k])
        value = ca.substitute(ca.densify(ca.vertcat(*rows)), m.p, ca.DM(p))
        gradients = ca.densify(ca.jacobian(value, z))
        found = cls(ca.Function(end, [z], [value]), ca.Function(end, [z], [gradients]), ())
        shift = np.random.default_rng(0).uniform(-NEARBY, NEARBY, len(state))
        near = [found._find_state(x) for x in (state, state + shift)]
        return replace(found, states=[x for x in near if x is not None])

    def _find_state(self, near: Array) -> Array | None:
        """Return a state that meets the equations; None if none is found."""
        for _ in range(ITERATIONS):
            off = np.asarray(self.rows(near)).ravel()
            if np.abs(off).max(initial=0.0) <= ZERO_OF_GIVEN / 10:
                return near
            gradients = np.asarray(self.gradients(near))
            if not (np.isfinite(off).all() and np.isfinite(gradients).all()):
                return None  # as that of a speed has no gradient at rest
            near = near - np.linalg.pinv(gradients) @ off
        return None

    def leave_out(self, stated: EndEquations, contact: ContactInMode, p: Array) -> EndEquations:
        """Return which equations of a closed contact do not follow from these."""
        if len(self.states) < 2 or not self.rows.numel_out():
            return stated
        return EndEquations(
            *(
                is_stated and not self._imply(_state_equations(contact, row, p))
                for row, is_stated in enumerate(stated)
            )
        )

    def has_no_slip(self, contact: ContactInMode, p: Array) -> bool:
        """Return whether the contact has no slip by these, so that its slip has no direction."""
        is_known = len(self.states) == 2 and bool(self.rows.numel_out())
        return is_known and self._imply(_state_equations(contact, SLIP, p))

    def _imply(self, equations: ca.Function) -> bool:
        """Return whether rows (k,) with gradients are zero wherever these equations hold."""
        for state in self.states:
            rows, gradients = (np.asarray(x) for x in equations(state))
            own = np.asarray(self.gradients(state))
            if not all(np.isfinite(x).all() for x in (rows, gradients, own)):
                return False
            rest = gradients - gradients @ np.linalg.pinv(own) @ own
            sizes = np.linalg.norm(gradients, axis=1)
            if np.abs(rows).max(initial=0.0) > ZERO_OF_GIVEN:
                return False
            if (np.linalg.norm(rest, axis=1) > DEPENDENT * sizes).any():
                return False
        return True


def _state_equations(contact: ContactInMode, row: int, p: Array) -> ca.Function:
    """Return a field of `ContactMotion` by the state (nq + nv,), and its gradients."""
    d = contact.dynamics
    z = ca.SX.sym("z", d.nq + d.nv)
    value = contact.motion(0, z[: d.nq], z[d.nq :], ca.DM.zeros(d.nv), p)[row]
    return ca.Function("equations", [z], [value, ca.jacobian(value, z)])


def drop_implied_equations(
    contacts: Sequence[ContactInMode],
    d: Dynamics,
    conditions: Sequence[Condition],
    inputs: Sequence[str],
    p: Array,
    postures: Array,
) -> tuple[ContactInMode, ...]:
    """Return the contacts of a phase without equations at its ends that conditions imply.

    Slips in space that they imply to be zero there are marked as such, `ContactInMode.rests`.
    ``inputs`` are all of the phase, ``postures`` (2, nq) those of the guess at its start and end.
    """
    if not any(x.mode.closed for x in contacts):
        return tuple(contacts)
    states = [np.append(q, np.zeros(d.nv)) for q in postures]
    start, end = (
        EndConditions.of(d, conditions, name, inputs, p, state)
        for name, state in zip(("start", "end"), states, strict=True)
    )
    return tuple(
        replace(
            x,
            start_equations=start.leave_out(x.start_equations, x, p),
            end_equations=end.leave_out(x.end_equations, x, p),
            rests=(
                x.rests[0] or (x.is_in_space and start.has_no_slip(x, p)),
                x.rests[1] or (x.is_in_space and end.has_no_slip(x, p)),
            ),
        )
        if x.mode.closed
        else x
        for x in contacts
    )
