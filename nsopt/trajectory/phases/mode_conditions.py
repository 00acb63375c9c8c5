"""The conditions on a motion that contacts in given modes are."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import casadi as ca
import numpy as np

from nsopt.mechanics import Dynamics
from nsopt.mpcc import Bound
from nsopt.trajectory.conditions import Condition, EndAt, Span, StartAt
from nsopt.trajectory.node_sample import NodeSample
from nsopt.trajectory.phases.modes import ModeForces, Sliding, sample
from nsopt.trajectory.transcription.base import Array

SLIP = 2
"""Number of the slip among the fields of `ContactMotion`."""

CLOSED = 1e-8
"""Gap [m] or speed [m/s] of a given state that counts as none."""


class Ends(NamedTuple):
    """Which equations of a closed contact hold at the start or the end of a phase.

    What a given posture or the phase before brings about already is stated once.
    """

    distance: bool
    opening: bool
    slip: bool


class ContactMotion(NamedTuple):
    """Gaps (g,) [m] and slips (k,) [m/s] of a contact, and how they change."""

    distance: ca.SX
    opening: ca.SX  # [m/s]
    slip: ca.SX
    opening_rate: ca.SX  # [m/s^2]
    slip_rate: ca.SX  # [m/s^2]


@dataclass(frozen=True, eq=False)
class InMode(Condition):
    """A contact is in a mode throughout a phase.

    Gaps that are closed stay closed, and contacts that stick where they are, by their
    accelerations: at all points but those of the last step. There they are closed and at rest at
    the end, and at rest in its middle, so that what steps leave does not add up.

    Parameters
    ----------
    dynamics : Dynamics
        With the forces among its elements.
    forces : ModeForces
    start_with, end_with : Ends
    steps : int
        Of the phase.
    placed : bool
        Whether it is given where it sticks, at the start or by the phase before.
    left : bool
        Whether it is given there and at the end, so that rest in the middle of the last step is
        left out.
    """

    dynamics: Dynamics
    forces: ModeForces
    start_with: Ends
    end_with: Ends
    steps: int
    placed: bool = False
    left: bool = False

    @cached_property
    def motion(self) -> ca.Function:
        """(t, q, v, a, p) -> the fields of `ContactMotion`."""
        m = sample(self.dynamics)
        gaps = self.forces.contact.gaps(m.state)
        distance = ca.vertcat(*(gap.distance for gap in gaps))
        slip = ca.vertcat(ca.SX(0, 1), *(gap.slip for gap in gaps))
        qdot = self.dynamics.rate_matrix(m.q) @ m.v
        opening = ca.jtimes(distance, m.q, qdot)
        rates = [ca.jtimes(x, m.q, qdot) + ca.jtimes(x, m.v, m.a) for x in (opening, slip)]
        parts = [ca.densify(x) for x in (distance, opening, slip, *rates)]
        return ca.Function("motion", [m.t, m.q, m.v, m.a, m.p], parts, {"cse": True})

    @property
    def slips(self) -> bool:
        """Whether the contact has friction."""
        return bool(self.motion.numel_out(SLIP))

    @cached_property
    def impulse(self) -> ca.Function:
        """(q, p, impulses (n,)) -> generalized impulse (nv,) [N s, N m s], and its cone.

        The impulses are those of the inputs, normal ones first; what they are within, as forces
        are, is not negative.
        """
        m, n = sample(self.dynamics), len(self.forces.inputs)
        gaps, given = self.forces.contact.gaps(m.state), ca.SX.sym("impulses", n)
        velocities = self.forces.velocities(m.state, gaps)
        parts = self.forces.of_unknowns(m.state, gaps, given)
        pairs = zip(velocities, parts, strict=True)
        total = sum((ca.jacobian(u, m.v).T @ x for u, x in pairs), ca.SX.zeros(m.v.numel()))
        rows = self.forces.within(m.state, gaps, given)
        # At rest: the directions depend on the posture alone.
        still = [ca.substitute(x, m.v, ca.SX.zeros(m.v.numel())) for x in (total, rows)]
        return ca.Function("impulse", [m.q, m.p, given], [ca.densify(x) for x in still])

    @cached_property
    def gap_forces(self) -> ca.Function:
        """(q, p, inputs (n,)) -> normal forces (g,) and friction (k,) of its gaps [N]."""
        m = sample(self.dynamics)
        gaps, given = self.forces.contact.gaps(m.state), ca.SX.sym("given", len(self.forces.inputs))
        parts = self.forces.of_unknowns(m.state, gaps, given)
        values = [ca.vertcat(ca.SX(0, 1), *parts[i::2]) for i in (0, 1)]
        return ca.Function("gap_forces", [m.q, m.p, given], [ca.densify(x) for x in values])

    def of(self, m: NodeSample) -> ContactMotion:
        """Return the motion of the contact."""
        return ContactMotion(*self.motion(m.t, m.q, m.v, m.a, m.p))

    def along(self, m: NodeSample) -> list[Bound]:
        name, mode, x = self.forces.name, self.forces.mode, self.of(m)
        if not mode.closed:
            return [not_negative(f"gap of {name}", x.distance)]
        given = ca.vertcat(*(m.input(i) for i in self.forces.inputs))
        within, gaps = self.impulse(m.q, m.p, given)[1], x.distance.numel()
        bounds = [
            not_negative(f"force of {name}", within[:gaps]),
            not_negative(f"friction of {name} within its cone", within[gaps:]),
        ]
        if isinstance(mode, Sliding):
            bounds.append(not_negative(f"slip of {name}", mode.sign * x.slip))
        return [b for b in bounds if b.value.numel()]

    def during(self, m: NodeSample) -> list[Span]:
        if not self.forces.mode.closed:
            return []
        x, name = self.of(m), self.forces.name
        bounds = [zero(f"{name} stays closed", x.opening_rate)]
        if self.forces.mode.sticks:
            bounds.append(zero(f"{name} sticks", x.slip_rate))
        return [Span(0.0, 1 - 1 / self.steps, bounds)]

    def last_middle(self, m: NodeSample) -> list[Bound]:
        """Return the bounds in the middle of the last step."""
        if self.left or not self.forces.mode.sticks:
            return []
        return [zero(f"{self.forces.name} rests in its last step", self.of(m).slip)]

    def start(self, m: NodeSample) -> list[Bound]:
        return self._state_contact(m, self.start_with)

    def end(self, m: NodeSample) -> list[Bound]:
        return self._state_contact(m, self.end_with)

    def _state_contact(self, m: NodeSample, ends: Ends) -> list[Bound]:
        if not self.forces.mode.closed:
            return []
        x, name = self.of(m), self.forces.name
        rows = (
            (ends.distance, f"{name} is closed", x.distance),
            (ends.opening, f"{name} does not open", x.opening),
            (ends.slip and self.forces.mode.sticks, f"{name} does not slip", x.slip),
        )
        return [zero(label, value) for holds, label, value in rows if holds]


class GivenState(NamedTuple):
    """Coordinates and velocities that conditions give, NaN where they are free."""

    q: Array
    v: Array

    @classmethod
    def of(cls, d: Dynamics, states: Iterable[StartAt | EndAt]) -> GivenState:
        """Return those given by conditions."""
        q, v = np.full(d.nq, np.nan), np.full(d.nv, np.nan)
        for x in states:
            q = np.where(np.isnan(q), x.coordinates(d), q)
            v = np.where(np.isnan(v), x.velocities(d), v)
        return cls(q, v)

    def places(self, x: InMode) -> bool:
        """Return whether they give where along its tangents a contact is."""
        rates = set(x.motion.jac_sparsity(SLIP, 2).get_triplet()[1])
        pairs = zip(*x.dynamics.rate_matrix.sparsity_out(0).get_triplet(), strict=True)
        moved = [i for i, j in pairs if j in rates]
        return bool(np.isfinite(self.q[moved]).all())

    def equations(self, x: InMode, p: Array) -> Ends:
        """Return which equations of a closed contact they leave open.

        Raises
        ------
        ValueError
            If they contradict one.
        """
        forces, q, v = x.forces, np.nan_to_num(self.q), np.nan_to_num(self.v)
        values = dict(zip(ContactMotion._fields, x.motion(0, q, v, 0 * v, p), strict=True))
        free = {}
        for name, of_v in (("distance", False), ("opening", True), ("slip", True)):
            row = ContactMotion._fields.index(name)
            on_q, on_v = (set(x.motion.jac_sparsity(row, i).get_triplet()[1]) for i in (1, 2))
            known = np.isfinite(self.q[list(on_q)]).all() and np.isfinite(self.v[list(on_v)]).all()
            free[name] = not known
            off = float(np.abs(np.asarray(values[name])).max(initial=0.0))
            counts = x.forces.mode.sticks or name != "slip"
            if known and counts and off > CLOSED:
                unit = "m/s" if of_v else "m"
                raise ValueError(
                    f"{type(forces.mode).__name__}() of contact {forces.name!r} does not fit the "
                    f"state that is given: its {name} is {off:.3g} {unit}, not zero; change one"
                )
        return Ends(**free)


@dataclass(frozen=True)
class UnitAtStart(Condition):
    """Euler parameters that nothing gives have a norm of one at the start; steps keep it."""

    groups: tuple[int, ...]

    def start(self, m: NodeSample) -> list[Bound]:
        norms = m.dynamics.norms(m.q)[list(self.groups)]
        one = np.ones(len(self.groups))
        return [Bound("norm of Euler parameters", norms, one, one)]

    @classmethod
    def of_free(cls, d: Dynamics, given: GivenState) -> tuple[UnitAtStart, ...]:
        """Return the condition on those that a given state leaves free; none if there are none."""
        of_norms = ca.DM(d.norms.jac_sparsity(0, 0)).full().astype(bool)
        free = tuple(k for k, x in enumerate(of_norms) if not np.isfinite(given.q[x]).all())
        return (cls(free),) if free else ()


def find_closing(before: Sequence[InMode], forces: Sequence[ModeForces]) -> list[str]:
    """Return the names of contacts that close and were open in the phase before."""
    were = {x.forces.name for x in before if x.forces.mode.closed}
    return [x.name for x in forces if x.mode.closed and x.name not in were]


def contacts_in_modes(
    d: Dynamics,
    forces: Sequence[ModeForces],
    steps: int,
    known: tuple[GivenState, GivenState],
    before: Sequence[InMode],
    p: Array,
    struck: bool,
) -> tuple[InMode, ...]:
    """Return the conditions on a phase that its contacts are.

    Parameters
    ----------
    d : Dynamics
        With the forces among its elements.
    forces : sequence of ModeForces
    steps : int
    known : (GivenState, GivenState)
        What is given at the start and at the end.
    before : sequence of InMode
        Those of the phase before, which its end already meets; none of the first.
    p : (np,)
        Parameters.
    struck : bool
        Whether the phase begins with an impact.
    """
    were = {x.forces.name: x for x in before}
    found = []
    for x in forces:
        mode = InMode(d, x, Ends(True, True, True), Ends(True, True, True), steps)
        if x.mode.closed:
            start, end = (y.equations(mode, p) for y in known)
            earlier = were.get(x.name)
            held = earlier is not None and earlier.forces.mode.sticks and earlier.placed
            placed = held or known[0].places(mode)
            if earlier is not None and earlier.forces.mode.closed:
                slips = struck or not earlier.forces.mode.sticks
                start = Ends(False, start.opening and struck, start.slip and slips)
            left = placed and known[1].places(mode)
            mode = replace(mode, start_with=start, end_with=end, placed=placed, left=left)
        found.append(mode)
    return tuple(found)


def zero(label: str, value: ca.SX) -> Bound:
    """Return the bound of a value (n,) that is zero."""
    none = np.zeros(value.numel())
    return Bound(label, value, none, none)


def not_negative(label: str, value: ca.SX) -> Bound:
    """Return the bound of a value (n,) that is not below zero."""
    n = value.numel()
    return Bound(label, value, np.zeros(n), np.full(n, np.inf))
