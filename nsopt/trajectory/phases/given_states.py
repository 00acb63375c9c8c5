"""What states at the ends of a phase imply: which equations of its contacts need no rows."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import casadi as ca
import numpy as np

from nsopt.arrays import Array
from nsopt.mechanics import Dynamics
from nsopt.mpcc import Bound
from nsopt.trajectory.conditions import Condition, EndAt, StartAt
from nsopt.trajectory.node_sample import NodeSample
from nsopt.trajectory.phases.mode_conditions import (
    ALL_EQUATIONS,
    SLIP,
    ContactInMode,
    EndEquations,
)
from nsopt.trajectory.phases.modes import ModeForces

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

    def has_no_slip(self, contact: ContactInMode, p: Array) -> bool:
        """Return whether they give a slip of zero."""
        if not self._imply(contact, SLIP):
            return False
        q, v = np.nan_to_num(self.q), np.nan_to_num(self.v)
        slip = np.asarray(contact.motion(0, q, v, 0 * v, p)[SLIP])
        return bool(np.abs(slip).max(initial=0.0) <= ZERO_OF_GIVEN)

    def _imply(self, contact: ContactInMode, row: int) -> bool:
        """Return whether they give all that a field of `ContactMotion` depends on."""
        on_q, on_v = (
            list(set(contact.motion.jac_sparsity(row, i).get_triplet()[1])) for i in (1, 2)
        )
        return bool(np.isfinite(self.q[on_q]).all() and np.isfinite(self.v[on_v]).all())

    def find_needed_equations(self, contact: ContactInMode, p: Array) -> EndEquations:
        """Return which equations of a closed contact do not follow; refuse what contradicts one."""
        q, v = np.nan_to_num(self.q), np.nan_to_num(self.v)
        values = contact.motion(0, q, v, 0 * v, p)
        needed = {}
        units = {"distance": "m", "opening": "m/s", "slip": "m/s"}
        for row, (name, unit) in enumerate(units.items()):
            follows = self._imply(contact, row)
            needed[name] = not follows
            off = float(np.abs(np.asarray(values[row])).max(initial=0.0))
            must_vanish = contact.mode.sticks or name != "slip"
            if follows and must_vanish and off > ZERO_OF_GIVEN:
                raise ValueError(
                    f"{type(contact.mode).__name__}() of contact {contact.name!r} does not fit the "
                    f"state that is given: its {name} is {off:.3g} {unit}, not zero; change one"
                )
        return EndEquations(**needed)


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


def state_contacts(
    d: Dynamics,
    forces: Sequence[ModeForces],
    steps: int,
    given: tuple[GivenState, GivenState],
    before: Sequence[ContactInMode],
    p: Array,
    has_impact: bool,
    resting: tuple[Collection[str], Collection[str]],
) -> tuple[ContactInMode, ...]:
    """Return the contacts of a phase as conditions on it.

    ``d`` has the forces among its elements, ``given`` are the states given at start and end. What
    contacts of the phase ``before`` state at its end is not stated again, unless the phase begins
    with an impact. ``resting`` are the names of contacts without slip at start and end, of
    `find_resting`.
    """
    given_start, given_end = given
    all_before = {x.name: x for x in before}
    found = []
    for x in forces:
        contact = ContactInMode(d, x, ALL_EQUATIONS, ALL_EQUATIONS, steps)
        if x.mode.closed:
            start = given_start.find_needed_equations(contact, p)
            end = given_end.find_needed_equations(contact, p)
            earlier = all_before.get(x.name)
            keeps_place = earlier is not None and earlier.mode.sticks and earlier.is_placed_at_start
            is_placed_at_start = keeps_place or given_start.has_place_of(contact)
            if earlier is not None and earlier.mode.closed:
                # Closed already; velocities are as at its end, unless there is an impact.
                may_slip = has_impact or not earlier.mode.sticks
                start = EndEquations(False, start.opening and has_impact, start.slip and may_slip)
            rests_at_start, rests_at_end = (
                x.name in names or state.has_no_slip(contact, p)
                for names, state in zip(resting, given, strict=True)
            )
            if earlier is not None and not has_impact:
                rests_at_start = rests_at_start or earlier.rests[1]
            contact = replace(
                contact,
                start_equations=start,
                end_equations=end,
                is_placed_at_start=is_placed_at_start,
                is_placed_at_both_ends=is_placed_at_start and given_end.has_place_of(contact),
                rests=(rests_at_start, rests_at_end),
            )
        found.append(contact)
    return tuple(found)
