"""Contacts in given modes, as conditions on the motion of a phase, and their impacts."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import NamedTuple

import casadi as ca
import numpy as np

from nsopt.arrays import Array
from nsopt.mechanics import Dynamics
from nsopt.mpcc import Bound
from nsopt.trajectory.conditions import Condition, Span
from nsopt.trajectory.friction_cone import find_least_limit
from nsopt.trajectory.guesses import Trajectory
from nsopt.trajectory.node_sample import NodeSample
from nsopt.trajectory.phases.modes import (
    ContactMode,
    ModeForces,
    Sliding,
    sample_symbols,
)
from nsopt.trajectory.phases.slip_directions import divide_slip
from nsopt.trajectory.transcription.base import not_negative, zero

SLIP = 2  # index of the slip among the fields of `ContactMotion`
LEAST_SPEED = 1e-3
"""Speed [m/s] whose product with all mass is the limit of friction impulses below which the tip of
their cone is rounded. If all mass lands at v, they may exceed it by (1e-3 / (mu v))^2 / 8 of it: by
5e-5 at v = 0.1 m/s and mu = 0.5."""


class EndEquations(NamedTuple):
    """Which equations of a closed contact are stated at the start or the end of a phase.

    Without those that follow from a given state or the phase before, which would be dependent rows.
    """

    distance: bool
    opening: bool
    slip: bool


ALL_EQUATIONS = EndEquations(distance=True, opening=True, slip=True)


class ContactMotion(NamedTuple):
    """The g gaps of a contact and the slips along their k tangents, with their rates."""

    distance: ca.SX  # (g,) [m] `Gap.function`
    opening: ca.SX  # (g,) [m/s]
    slip: ca.SX  # (k,) [m/s]
    opening_rate: ca.SX  # (g,) [m/s^2]
    slip_rate: ca.SX  # (k,) [m/s^2]
    # (g,) [m] by which distances are divided in rows: the clearance of a bore, else 1. In metres
    # they hardly count beside equations of motion, and iterations go far beyond the walls.
    unit: ca.SX

    @property
    def share(self) -> ca.SX:
        """The distances over their units, (g,)."""
        return self.distance / self.unit


@dataclass(frozen=True, eq=False)
class ContactInMode(Condition):
    """A contact is in a mode throughout a phase.

    A closed gap stays closed, and a contact that sticks stays in its place, as the rates of opening
    and slip are zero at all points but those of the last step. There gap and speeds are zero at the
    end and the slip in the middle, so that errors of the steps do not add up. In a bore, where such
    errors are large beside the clearance, the gap itself is zero at all points.
    """

    dynamics: Dynamics  # with the forces among its elements
    forces: ModeForces
    start_equations: EndEquations
    end_equations: EndEquations
    steps: int  # of the phase
    # Whether conditions, or the phase before, give its place along its tangents at the start.
    is_placed_at_start: bool = False
    # Whether they give it at both ends: then the slip in the middle of the last step follows.
    is_placed_at_both_ends: bool = False
    # Whether it has no slip at the start and at the end, so that its slip has no direction there.
    rests: tuple[bool, bool] = (False, False)
    # Whether its slip has the direction of the phase before at the start, or, in a period, that
    # of the first phase at the end: stated where phases are linked.
    carries: tuple[bool, bool] = (False, False)

    @property
    def name(self) -> str:
        """Name of the contact."""
        return self.forces.name

    @property
    def mode(self) -> ContactMode:
        """What the contact does."""
        return self.forces.mode

    @property
    def motion(self) -> ca.Function:
        """(t, q, v, a, p) -> the fields of `ContactMotion`."""
        return _state_motion(self.dynamics, self.forces)

    @property
    def has_friction(self) -> bool:
        """Whether the contact has friction."""
        return bool(self.motion.numel_out(SLIP))

    @property
    def is_in_space(self) -> bool:
        """Whether a gap of it slips in any direction of a plane."""
        return bool(self.motion.numel_out(SLIP) > self.motion.numel_out(0))

    def slips_on_in(self, after: ContactInMode) -> bool:
        """Return whether it slips in space on to the phase in which it is as ``after``."""
        own, others = self.forces.slip_angles, after.forces.slip_angles
        return bool(own) and own == others and not (self.rests[1] or after.rests[0])

    @property
    def is_closed_in_bore(self) -> bool:
        """Whether it is closed in bores, whose pins roll round within few steps."""
        gaps = self.forces.contact.gaps(sample_symbols(self.dynamics).state)
        return self.mode.closed and any(gap.bore is not None for gap in gaps)

    @property
    def impulse_and_margins(self) -> ca.Function:
        """(q, p, impulses (n,)) -> generalized impulse (nv,) [N s, N m s], margins (m,) [N s].

        ``impulses`` are as `ModeForces.inputs`, margins as `ModeForces.margins`.
        """
        return _state_impulse_and_margins(self.dynamics, self.forces)

    @property
    def force_margins(self) -> ca.Function:
        """(q, p, inputs (n,)) -> `ModeForces.margins` (m,) [N]."""
        return _state_force_margins(self.dynamics, self.forces)

    @cached_property
    def gap_forces(self) -> ca.Function:
        """(q, p, inputs (n,)) -> normal forces (g,) and friction (k,) of its gaps [N]."""
        m = sample_symbols(self.dynamics)
        gaps = self.forces.contact.gaps(m.state)
        inputs = ca.SX.sym("inputs", len(self.forces.inputs))
        parts = self.forces.split_by_gap(m.state, gaps, inputs)
        normal, friction = (ca.vertcat(ca.SX(0, 1), *parts[i::2]) for i in (0, 1))
        values = [ca.densify(normal), ca.densify(friction)]
        return ca.Function("gap_forces", [m.q, m.p, inputs], values)

    def measure(self, fine: Trajectory, p: Array) -> list[Array]:
        """Return the fields of `ContactMotion`, (., n) each, at n points of a motion."""
        n = len(fine.q)
        rows = np.zeros((1, n)), fine.q.T, fine.v.T, fine.a.T, np.tile(p[:, None], n)
        return [np.asarray(x) for x in self.motion.map(n)(*rows)]

    def sample_motion(self, m: NodeSample) -> ContactMotion:
        """Return the motion of the contact at a sample."""
        return ContactMotion(*self.motion(m.t, m.q, m.v, m.a, m.p))

    def along(self, m: NodeSample) -> list[Bound]:
        name, mode, x = self.name, self.mode, self.sample_motion(m)
        if not mode.closed:
            return [not_negative(f"gap of {name}", x.share)]
        forces = ca.vertcat(*(m.input(i) for i in self.forces.inputs))
        margins, gaps = self.force_margins(m.q, m.p, forces), x.distance.numel()
        bounds = [
            not_negative(f"force of {name}", margins[:gaps]),
            not_negative(f"friction of {name} within its cone", margins[gaps:]),
        ]
        if isinstance(mode, Sliding):
            is_turning = bool(self.forces.slip_angles)
            along = (
                divide_slip(x.slip, self._read_angles(m)).along
                if is_turning
                else mode.sign * x.slip
            )
            bounds.append(self._limit_slip(along))
        return [b for b in bounds if b.value.numel()]

    def during(self, m: NodeSample) -> list[Span]:
        if not self.mode.closed:
            return []
        x, name, bounds = self.sample_motion(m), self.name, list[Bound]()
        if not self.is_closed_in_bore:
            bounds.append(zero(f"{name} stays closed", x.opening_rate))
        if self.mode.sticks:
            bounds.append(zero(f"{name} sticks", x.slip_rate))
        return [Span(0.0, 1 - 1 / self.steps, bounds)] if bounds else []

    def inside(self, m: NodeSample) -> list[Bound]:
        """Return the bounds at all points but the first and the last one."""
        x, found = self.sample_motion(m), list[Bound]()
        if self.is_closed_in_bore:
            found.append(zero(f"{self.name} stays closed", x.share))
        if self.forces.slip_angles:
            found.append(self._direct_slip(divide_slip(x.slip, self._read_angles(m)).across))
        return found

    def direct_impulse(self, q: ca.SX, v: ca.SX, p: ca.SX, impulses: ca.SX) -> list[Bound]:
        """Return the bounds by which it slips after an impact as the angles of its impulses say.

        ``impulses`` (n,) are as `ModeForces.inputs`, q (nq,) and v (nv,) those after it.
        """
        if not self.forces.slip_angles:
            return []
        t = 0  # any time: contacts that move with time are refused by `make_mode_forces`
        x = ContactMotion(*self.motion(t, q, v, 0 * v, p))
        slip = divide_slip(x.slip, impulses[len(self.forces.normal) :])
        return [self._limit_slip(slip.along), self._direct_slip(slip.across)]

    def _read_angles(self, m: NodeSample) -> ca.SX:
        return ca.vertcat(ca.SX(0, 1), *map(m.input, self.forces.slip_angles))

    def _limit_slip(self, along: ca.SX) -> Bound:
        return not_negative(f"slip of {self.name}", along)

    def _direct_slip(self, across: ca.SX) -> Bound:
        return zero(f"direction of the slip of {self.name}", across)

    def limit_last_middle(self, m: NodeSample) -> list[Bound]:
        """Return the bounds at the midpoint of the last step."""
        if self.is_placed_at_both_ends or not self.mode.sticks:
            return []
        return [zero(f"{self.name} rests in its last step", self.sample_motion(m).slip)]

    def start(self, m: NodeSample) -> list[Bound]:
        return self._state_contact(m, self.start_equations, 0)

    def end(self, m: NodeSample) -> list[Bound]:
        return self._state_contact(m, self.end_equations, 1)

    def _state_contact(self, m: NodeSample, stated: EndEquations, end: int) -> list[Bound]:
        if not self.mode.closed:
            return []
        x, name = self.sample_motion(m), self.name
        rows = (
            (stated.distance, f"{name} is closed", x.share),
            (stated.opening, f"{name} does not open", x.opening),
            (stated.slip and self.mode.sticks, f"{name} does not slip", x.slip),
        )
        found = [zero(label, value) for is_stated, label, value in rows if is_stated]
        if self.forces.slip_angles and not self.carries[end]:
            slip = divide_slip(x.slip_rate if self.rests[end] else x.slip, self._read_angles(m))
            found.append(self._direct_slip(slip.across))
        return found


# The search for a sequence states many phases, of few contacts in few modes.
@lru_cache(maxsize=64)
def _state_motion(d: Dynamics, forces: ModeForces) -> ca.Function:
    """Return `ContactInMode.motion`."""
    m = sample_symbols(d)
    gaps = forces.contact.gaps(m.state)
    distance = ca.vertcat(*(gap.function for gap in gaps))
    slip = ca.vertcat(ca.SX(0, 1), *(gap.slip for gap in gaps))
    qdot = d.rate_matrix(m.q) @ m.v
    opening = ca.jtimes(distance, m.q, qdot)
    rates = [ca.jtimes(x, m.q, qdot) + ca.jtimes(x, m.v, m.a) for x in (opening, slip)]
    units = ca.vertcat(*(1 if gap.bore is None else gap.clearance for gap in gaps))
    parts = [ca.densify(x) for x in (distance, opening, slip, *rates, units)]
    return ca.Function("motion", [m.t, m.q, m.v, m.a, m.p], parts, {"cse": True})


@lru_cache(maxsize=64)
def _state_impulse_and_margins(d: Dynamics, forces: ModeForces) -> ca.Function:
    """Return `ContactInMode.impulse_and_margins`."""
    m = sample_symbols(d)
    gaps, impulses = forces.contact.gaps(m.state), ca.SX.sym("impulses", len(forces.inputs))
    velocities = forces.velocities(m.state, gaps)
    parts = forces.split_by_gap(m.state, gaps, impulses)
    pairs = zip(velocities, parts, strict=True)
    total = sum((ca.jacobian(u, m.v).T @ x for u, x in pairs), ca.SX.zeros(m.v.numel()))
    margins = forces.margins(m.state, gaps, impulses, LEAST_SPEED * ca.sum1(d.masses(m.p)))
    # The directions depend on the posture alone, so v may be zero.
    at_rest = [ca.substitute(x, m.v, ca.SX.zeros(m.v.numel())) for x in (total, margins)]
    return ca.Function("impulse", [m.q, m.p, impulses], [ca.densify(x) for x in at_rest])


@lru_cache(maxsize=64)
def _state_force_margins(d: Dynamics, forces: ModeForces) -> ca.Function:
    """Return `ContactInMode.force_margins`."""
    m = sample_symbols(d)
    gaps, inputs = forces.contact.gaps(m.state), ca.SX.sym("inputs", len(forces.inputs))
    margins = forces.margins(m.state, gaps, inputs, find_least_limit(m))
    at_rest = ca.substitute(margins, m.v, ca.SX.zeros(m.v.numel()))
    return ca.Function("force_margins", [m.q, m.p, inputs], [ca.densify(at_rest)])
