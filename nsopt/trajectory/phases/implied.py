"""Contacts of a phase as conditions on it, without equations at its ends that follow from others.

Stated again these would be dependent rows, whose multipliers grow without bound.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

import casadi as ca
import numpy as np

from nsopt.arrays import Array
from nsopt.mechanics import Dynamics
from nsopt.trajectory.conditions import Condition
from nsopt.trajectory.phases.given_states import ZERO_OF_GIVEN, GivenState
from nsopt.trajectory.phases.mode_conditions import (
    ALL_EQUATIONS,
    SLIP,
    ContactInMode,
    EndEquations,
)
from nsopt.trajectory.phases.modes import ModeForces, sample_symbols
from nsopt.trajectory.returned import call_bounds

DEPENDENT = 1e-8  # part of a gradient that others do not span, up to which it depends on them
NEARBY = 1e-3  # [rad, m] from the guess to a second state: at one alone rows may agree by chance
ITERATIONS = 20  # of Newton's method, which takes a few where there is such a state


UNITS = {"distance": "m", "opening": "m/s", "slip": "m/s"}  # of the fields of `EndEquations`


@dataclass(frozen=True, eq=False)
class EndConditions:
    """The equations between coordinates and velocities that conditions state at an end."""

    equations: ca.Function  # state (nq + nv,) -> rows (n,) and their gradients (n, nq + nv)
    states: tuple[Array, ...]  # that meet them

    @classmethod
    def of(cls, d: Dynamics, rows: Sequence[ca.Function], state: Array) -> EndConditions:
        """Return those of ``rows``, of `state_rows`, with states near a given one (nq + nv,).

        If no state is found that meets all of them, of those alone that are linear, such as given
        coordinates.
        """
        z = ca.SX.sym("z", d.nq + d.nv)
        # Euler parameters have a norm of one at both ends: steps keep it.
        norms = d.norms(z[: d.nq]) - 1
        stated = ca.vertcat(norms, *(f(z) for f in rows))
        linear = [x for x in ca.vertsplit(stated) if ca.is_linear(x, z)]
        shift = np.random.default_rng(0).uniform(-NEARBY, NEARBY, len(state))
        for x in (stated, ca.vertcat(ca.SX(0, 1), norms, *linear)):
            value = ca.densify(x)
            found = cls(ca.Function("rows", [z], [value, ca.densify(ca.jacobian(value, z))]), ())
            near = [y for y in map(found._find_state, (state, state + shift)) if y is not None]
            if len(near) == 2:
                break
        return replace(found, states=tuple(near))

    def _find_state(self, near: Array) -> Array | None:
        """Return a state that meets the equations; None if none is found."""
        for _ in range(ITERATIONS):
            off, gradients = self._evaluate(near)
            if np.abs(off).max(initial=0.0) <= ZERO_OF_GIVEN / 10:
                return near
            near = near - np.linalg.pinv(gradients) @ off
        return None

    def _evaluate(self, state: Array) -> tuple[Array, Array]:
        """Return rows (k,) and gradients of the equations that have them at a state.

        That of a speed, such as ``norm(v)``, has no gradient at rest.
        """
        off, gradients = (np.asarray(x) for x in self.equations(state))
        known = np.isfinite(np.hstack([off, gradients])).all(axis=1)
        return off[known].ravel(), gradients[known]

    def find_needed(self, stated: EndEquations, contact: ContactInMode, p: Array) -> EndEquations:
        """Return which equations of a closed contact do not follow; refuse what contradicts one."""
        needed = []
        for row, (is_stated, (name, unit)) in enumerate(zip(stated, UNITS.items(), strict=True)):
            off = self._determine(contact, row, p)
            must_vanish = contact.mode.sticks or row != SLIP
            if is_stated and must_vanish and off is not None and off > ZERO_OF_GIVEN:
                raise ValueError(
                    f"{type(contact.mode).__name__}() of contact {contact.name!r} does not fit the "
                    f"state that is given: its {name} is {off:.3g} {unit}, not zero; change one"
                )
            needed.append(is_stated and off is None)
        return EndEquations(*needed)

    def has_no_slip(self, contact: ContactInMode, p: Array) -> bool:
        """Return whether the contact has no slip by these, so that its slip has no direction."""
        slip = self._determine(contact, SLIP, p)
        return slip is not None and slip <= ZERO_OF_GIVEN

    def _determine(self, contact: ContactInMode, row: int, p: Array) -> float | None:
        """Return the largest of a field of `ContactMotion` wherever these equations hold.

        None where they leave it open.
        """
        d, largest = contact.dynamics, list[float]()
        z = ca.SX.sym("z", d.nq + d.nv)
        value = contact.motion(0, z[: d.nq], z[d.nq :], ca.DM.zeros(d.nv), p)[row]
        equations = ca.Function("equations", [z], [value, ca.jacobian(value, z)])
        if len(self.states) < 2:
            return None
        for state in self.states:
            rows, gradients = (np.asarray(x) for x in equations(state))
            own = self._evaluate(state)[1]
            if not (np.isfinite(rows).all() and np.isfinite(gradients).all()):
                return None
            rest = gradients - gradients @ np.linalg.pinv(own) @ own
            sizes = np.linalg.norm(gradients, axis=1)
            if (np.linalg.norm(rest, axis=1) > DEPENDENT * sizes).any():
                return None
            largest.append(float(np.abs(rows).max(initial=0.0)))
        return max(largest)


def state_rows(
    d: Dynamics,
    conditions: Sequence[Condition],
    end: str,
    inputs: Sequence[str],
    p: Array,
    *,
    with_velocities: bool = True,
) -> ca.Function:
    """Return the equations of conditions at an ``end``, "start" or "end": state (nq + nv,) -> (n,).

    Those that depend on one of the ``inputs`` are not among them.
    """
    m, rows = sample_symbols(d), [ca.SX(0, 1)]
    others = ca.vertcat(m.t, m.a, *map(m.input, inputs), ca.SX(0, 1) if with_velocities else m.v)
    for bound in (b for x in conditions for b in call_bounds(x, end, m)):
        for k in np.flatnonzero(np.equal(bound.lower, bound.upper)).tolist():
            if not ca.depends_on(bound.value[k], others):
                rows.append(bound.value[k] - bound.lower[k])
    value = ca.substitute(ca.densify(ca.vertcat(*rows)), m.p, ca.DM(p))
    return ca.Function(end, [ca.vertcat(m.q, m.v)], [value])


def state_contacts(
    d: Dynamics,
    forces: Sequence[ModeForces],
    steps: int,
    given: tuple[GivenState, GivenState],
    conditions: tuple[EndConditions, EndConditions],
    before: Sequence[ContactInMode],
    p: Array,
    has_impact: bool,
    resting: tuple[Collection[str], Collection[str]],
) -> tuple[ContactInMode, ...]:
    """Return the contacts of a phase as conditions on it.

    ``d`` has the forces among its elements, ``given`` are the states given at start and end,
    ``conditions`` all that is stated there. What contacts of the phase ``before`` state at its end
    is not stated again, unless the phase begins with an impact. ``resting`` are the names of
    contacts without slip at start and end, of `find_resting`.
    """
    all_before = {x.name: x for x in before}
    found = []
    for x in forces:
        contact = ContactInMode(d, x, ALL_EQUATIONS, ALL_EQUATIONS, steps)
        if x.mode.closed:
            earlier = all_before.get(x.name)
            keeps_place = earlier is not None and earlier.mode.sticks and earlier.is_placed_at_start
            is_placed_at_start = keeps_place or given[0].has_place_of(contact)
            start, end = ALL_EQUATIONS, ALL_EQUATIONS
            if earlier is not None and earlier.mode.closed:
                # Closed already; velocities are as at its end, unless there is an impact.
                slips = has_impact or not earlier.mode.sticks
                start = EndEquations(distance=False, opening=has_impact, slip=slips)
            rests_at_start, rests_at_end = (
                x.name in names or (contact.is_in_space and stated.has_no_slip(contact, p))
                for names, stated in zip(resting, conditions, strict=True)
            )
            if earlier is not None and not has_impact:
                rests_at_start = rests_at_start or earlier.rests[1]
            contact = replace(
                contact,
                start_equations=conditions[0].find_needed(start, contact, p),
                end_equations=conditions[1].find_needed(end, contact, p),
                is_placed_at_start=is_placed_at_start,
                is_placed_at_both_ends=is_placed_at_start and given[1].has_place_of(contact),
                rests=(rests_at_start, rests_at_end),
            )
        found.append(contact)
    return tuple(found)
