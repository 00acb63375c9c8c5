"""Moreau-Jean: impacts and friction at the velocity level, first order."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import ClassVar

import casadi as ca

from nsopt.arrays import Array
from nsopt.checks import not_negative
from nsopt.mechanics import Dynamics
from nsopt.mpcc import Mpcc
from nsopt.schemes.balance import Balance, Impulses
from nsopt.schemes.contacts.impact import Impact, NewtonImpact
from nsopt.schemes.contacts.static_friction import hold_at_rest
from nsopt.schemes.contacts.walls import Approach, WallFigures, estimate_turned_directions
from nsopt.schemes.node import Node, StepStart
from nsopt.schemes.one_step import OneStep, SimulatedStep
from nsopt.schemes.scales import Scales
from nsopt.schemes.scheme import Scheme, UnifiedScheme
from nsopt.schemes.step import Step, Transition
from nsopt.schemes.terms import (
    ReactionLoads,
    advance_coordinates,
    average_walls,
    find_mean_joint_friction,
    rolling,
    smooth_forces,
    solve_mass,
)

NEAR = 0.1
"""Part of a typical opening up to which a contact is closed over a horizon where bodies are brought
to their walls: at zero what lasts would be at the switch itself, in every step."""


@dataclass(frozen=True)
class MoreauJean(UnifiedScheme):
    """The theta scheme of Moreau and Jean with restitution and Coulomb friction.

    ==============  ==================================================================
    active          gaps with g(q_n) + h/2 (W^T v_n + dg/dt) <= 0
    motion          M (v_n+1 - v_n) = h K(q_m, v_m) + W lam + T lam_t + C^T mu
    active          0 <= W^T v_n+1 + dg/dt_n+1 + e (W^T v_n + dg/dt) _|_ lam >= 0,
                    or another `Impact`
    ideal joints    C v_n+1 + dPhi/dt = 0
    rolling         B v_n+1 + s = 0
    positions       q_n+1 = q_n (+) h v_m,   v_m = theta v_n+1 + (1 - theta) v_n
    ==============  ==================================================================

    with W, T, C at q_n, and K at q_m = q_n (+) h/2 v_n. Gaps are held at the velocity level only,
    so positions sink into walls by up to h times the impact speed and lasting contacts on curved
    walls drift; ``project`` brings q_n+1 back to 0 <= gap in the metric of the mass (the combined
    scheme). Ideal joints are always brought back.

    Parameters
    ----------
    theta : float
        1/2 conserves energy in free motion; 1 damps.
    project : bool
    impact : Impact
        `NewtonImpact`, `PoissonImpact`, `SequentialImpact` or `EnergeticImpact`.
    slip_creep : float [m/s]
        Over a horizon, by which dry friction is smoothed: see `Scheme.slip_creep`.
    """

    forces_at_end: ClassVar[bool] = False
    order: ClassVar[int] = 1
    takes_joint_friction: ClassVar[bool] = True
    takes_rate_constraints: ClassVar[bool] = True
    holds_inputs: ClassVar[bool] = True
    creeps: ClassVar[bool] = True

    theta: float = 0.5
    project: bool = False
    impact: Impact = field(default_factory=NewtonImpact)
    slip_creep: float = 0.0

    def __post_init__(self) -> None:
        if not 0.5 <= self.theta <= 1:
            raise ValueError(f"theta must be from 0.5 to 1, got {self.theta}: less is unstable")
        not_negative("slip_creep of MoreauJean", self.slip_creep)

    @property
    def allows_penetration(self) -> bool:
        return not self.project

    @property
    def fallback(self) -> Scheme | None:
        law = self.impact.fallback
        return None if law is None else replace(self, impact=law)

    def gain_remedy(self, dynamics: Dynamics, p: Array) -> str:
        return self.impact.gain_remedy(dynamics, p)

    def state(self, one: OneStep) -> Transition:
        d, start, h, scales = one.dynamics, one.start, one.h, one.scales
        v = one.end_velocity()
        mu, more, friction = one.impulses(self.slip_creep)
        gap = start.gap + h / 2 * start.gap_rate(start.v) + _predict_gap_change(d, start, h)
        modes = one.modes(gap, NEAR if self.project else 0.0)
        middle = (start.t + h / 2, d.retract(start.q, h / 2 * start.v), start.p)

        def smooth(v: ca.SX) -> ca.SX:
            """Return the forces K that act all through the step, at a velocity."""
            return smooth_forces(d, *middle, v) + start.drive

        def early(v: ca.SX) -> ca.SX:
            """Return their impulse in half of the step, at the mean of the start and v (nv,)."""
            return h / 2 * smooth((start.v + v) / 2)

        rebound = self.impact.state(modes, start, self._restitution(d, start, h), early)
        # Bodies that lie on a wall leave with the velocity that it has at the end.
        late = (start.t + h, start.q, start.p)
        later = replace(start, drift=d.gap_drift(*late), slip_drift=d.slip_drift(*late))
        # The law of impact gives some impulses (`given`, `spent`); ``more`` keep contacts closed.
        coefficients = hold_at_rest(d, start, scales)
        last_lam = rebound.given + more
        last_slip = friction.impulse(later, v, last_lam, modes.closed, h, coefficients=coefficients)
        lam, slip = rebound.spent.lam + last_lam, rebound.spent.slip + last_slip
        mean = self.theta * v + (1 - self.theta) * start.v
        loads = ReactionLoads(h, v - start.v, mu, lam, slip)
        balance = Balance.of(
            d,
            average_walls(start, later),
            (start.v, v),
            h,
            smooth(mean),
            Impulses(mu, lam, slip),
            M=d.mass(*middle[1:]),
            acting=mean,
            load_work=h * ca.dot(d.external(*middle[:2], mean, start.p) + start.drive, mean),
            joint_friction=h * find_mean_joint_friction(d, start, start.at, mean, h, loads),
        )
        one.equal("motion", balance.residual, scale=scales.impulse)
        one.close("joint_rate", balance.C @ v + d.closure_drift(*start.at))
        one.equal("rolling", rolling(d, start.at, v))
        friction.state()
        rate = later.gap_rate(v)
        rebound.press("contact", modes, rate, more)
        one.least_norm("impulse", "joint_impulse")
        project = self._project if self._projects(d) else None
        moved = advance_coordinates(d, start, h, mean)
        end = one.end(moved, v, project)
        gap = h * rebound.complete_rate(rate, more) * modes.closed
        return Transition((balance,), end, gap, projection_work=_find_added_energy(d, moved, end))

    def _restitution(self, d: Dynamics, start: Node, h: ca.SX) -> ca.SX:
        """Return e (ng,); zero of contacts that rest, where these are brought to their walls."""
        e = d.restitution(start.p)
        if not self.project or e.is_zero():
            return e
        smooth = smooth_forces(d, *start.at, start.v) + start.drive
        approach = Approach.at_once(d, start, d.mass(start.q, start.p), smooth, h)
        return e * (1 - approach.rests(e))

    def refine(self, step: Step) -> Step:
        (b,) = step.transition.balances
        # As in an impact, after the other forces have acted over the whole step.
        mean = (b.before + b.after + solve_mass(b.M, b.h * b.K)) / 2
        step = replace(step, contact_work=ca.dot(b.contact_impulse, mean) - b.wall_work)
        if not self.project:
            return step
        return replace(
            step, walls=WallFigures(unplaced=estimate_turned_directions(b, step.transition.end))
        )

    def add_projection(
        self, mpcc: Mpcc, dynamics: Dynamics, start: StepStart, scales: Scales, step: Step
    ) -> Step:
        d = dynamics
        if not self._projects(d):
            return step
        one = SimulatedStep.of(mpcc, d, start.node(d), step.h, scales)
        end = self._project(one, step.q, step.v)
        gap = step.gap
        if self._projects_contacts(d):
            # The position is judged here; the solver has judged impulse against rate.
            gap = ca.fmax(end.gap, 0) * (step.impulse <= 0) + ca.fmin(end.gap, 0)
        move = mpcc.variables[0]
        force = d.applied(end.t, step.q, step.v, start.p)
        work_of_move = ca.fabs(ca.dot(force, ca.SX(move.scale) * move.scaled))
        return replace(
            step,
            q=end.q,
            gap=gap,
            closure=d.closure(*end.at),
            energy_error=step.energy_error + work_of_move,
            projection_work=_find_added_energy(d, step.q, end),
        )

    def _projects_contacts(self, d: Dynamics) -> bool:
        return self.project and bool(d.contact_names)

    def _projects(self, d: Dynamics) -> bool:
        return self._projects_contacts(d) or bool(d.closure_names)

    def _project(self, one: OneStep, q: ca.SX, v: ca.SX) -> Node:
        """State that the step ends where joints and gaps are closed again, nearest to q."""
        d, scales = one.dynamics, one.scales
        at = (one.start.t + one.h, q, one.start.p)
        push, C = scales.impulse * scales.time, d.closure_matrix(*at)
        move = one.variable("projection", d.nv, scale=scales.time)
        mu = one.variable("joint_push", C.size1(), scale=push, multiplier=True)
        nearest = d.mass(q, one.start.p) @ move - C.T @ mu
        end = one.end(d.retract(q, move), v)
        if self._projects_contacts(d):
            sizes = (scales.gap, scales.mass * scales.gap)
            lam = one.variable("contact_push", end.gap.numel(), scale=sizes[1])
            nearest -= one.projection_directions(at, end) @ lam
        one.equal("nearest", nearest, scale=push)
        one.close("closure", d.closure(*end.at), scale=scales.time)
        if self._projects_contacts(d):
            names = d.contact_names
            one.mpcc.complement("outside", end.gap, lam, scale=sizes, labels=names)
        return end

    def remedy(self, bores: bool) -> str:
        del bores
        return "step by Variational(), whose contacts need no switch"


def _find_added_energy(d: Dynamics, q: ca.SX, end: Node) -> ca.SX:
    """Return the energy at the end, less that at coordinates q before they are projected [J]."""
    known = (end.t, end.q, end.v, end.p), (end.t, q, end.v, end.p)
    after, before = (d.kinetic(*x) + d.potential(*x) for x in known)
    return after - before


def _predict_gap_change(d: Dynamics, start: Node, h: ca.SX) -> ca.SX:
    """Return by how much forces change the gaps from walls that move in half a step, (ng,) [m].

    Without it what lies on a shaken floor would be let go whenever the floor is about to slow down.
    """
    if not start.drift.nnz():  # no wall moves
        return ca.SX.zeros(start.gap.numel())
    t, q, p = start.at
    a = solve_mass(d.mass(q, p), smooth_forces(d, *start.at, start.v) + start.drive)
    moving = ca.SX(start.drift.sparsity(), 1)
    return moving * h**2 / 4 * (start.W.T @ a + d.gap_bias(t, q, start.v, p))
