"""The time step of [NLP-clearance 2024]: a nonlinear program whose step size is a variable."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import ClassVar

import casadi as ca
import numpy as np

from nsopt.arrays import Array
from nsopt.checks import not_negative
from nsopt.mechanics import Dynamics
from nsopt.mpcc import Mpcc
from nsopt.schemes.balance import Balance, Impulses
from nsopt.schemes.contacts.friction import find_mean_slip
from nsopt.schemes.contacts.impact import Impact, NewtonImpact
from nsopt.schemes.contacts.modes import KnownModes, find_step_contacts
from nsopt.schemes.contacts.walls import Approach, WallFigures, measure_depth, respond
from nsopt.schemes.errors import Errors, estimate_first_order_errors, find_change_at_end
from nsopt.schemes.node import Node, StepStart
from nsopt.schemes.one_step import OneStep, SimulatedStep
from nsopt.schemes.scales import Scales
from nsopt.schemes.scheme import Scheme, UnifiedScheme
from nsopt.schemes.step import Step, Transition
from nsopt.schemes.terms import advance_internal_states, smooth_forces, squares

CLOSED, SOON = 1e-6, 1e-3
"""Gap up to which a contact is closed: as a part of its typical opening, `Gap.scale`, and of its
way in a step, as steps whose h is found end next to a wall and not on it."""


class Closure(ABC):
    """Where gaps and ideal joints of a step are evaluated."""

    @abstractmethod
    def gap(self, one: OneStep, end: Node) -> ca.SX:
        """Return the gaps at the end of the step, shape (ng,) [m]; state what else they need."""

    @abstractmethod
    def joints(self, one: OneStep, end: Node) -> ca.SX:
        """Return the residuals of the ideal joints at the end of the step, shape (nc,)."""


@dataclass(frozen=True)
class TrueClosure(Closure):
    """Gaps and joints at the recorded coordinates: recorded residuals are the solved ones."""

    def gap(self, one: OneStep, end: Node) -> ca.SX:
        del one
        return end.gap

    def joints(self, one: OneStep, end: Node) -> ca.SX:
        return one.dynamics.closure(*end.at)


@dataclass(frozen=True)
class LinearisedClosure(Closure):
    """Gaps and joints linearised at the start of the step, as printed (eqs. 23, 24).

    The true gap is then missed by about L (w h)^2 / 2. Near the axis of a pin the linearised gap
    has next to no gradient and would let the motion through the wall: where the true gap ends
    further outside than ``trust`` times `Gap.scale`, it is taken instead; over a horizon no step
    ends there.

    Parameters
    ----------
    trust : float
    """

    trust: float = 0.5

    def gap(self, one: OneStep, end: Node) -> ca.SX:
        linear = one.start.gap + one.h * one.start.W.T @ end.v + one.h * one.start.drift
        least = -self.trust * one.dynamics.gap_scale(one.start.p)
        return one.trust(linear, end.gap, least)

    def joints(self, one: OneStep, end: Node) -> ca.SX:
        d, at = one.dynamics, one.start.at
        rate = d.closure_matrix(*at) @ end.v + d.closure_drift(*at)
        return d.closure(*at) + one.h * rate


@dataclass(frozen=True)
class PaperStep(UnifiedScheme):
    """NLP (25) for contacts, (31) for ideal joints, both at once; ours: friction and restitution.

    Variables are h, the impulses h lambda of contacts and ideal joints, and v_n, from which qdot_n
    follows by the norm of the Euler parameters; its multiplier (14) does not enter the equations of
    motion (G(p) p = 0) and is no variable. With K = Q_A - S (eq. 26) at q_n-1 and the mean velocity
    of the step:

    ==============================  ====================================================
    objective (17-19)               |vdot - M^-1 K|_M^2, less ``growth`` times h / h_max
    equations of motion (22, 26)    M (v_n - v_n-1) - h K - W lam - T lam_t - C^T mu = 0
    norm of Euler parameters (23)   p.p - 1 + 2 h p.pdot_n = 0
    ideal joints                    Phi(q_n) = 0
    complementarity (16, 24)        0 <= gap(q_n), lam >= 0, gap lam = 0
    friction (ours)                 lam_t as of `Friction`, against the mean slip of the step
    step size                       h_min <= h <= h_max
    ==============================  ====================================================

    with q_n = q_n-1 + h qdot_n, p_n renormalised, and v_n = (rdot_n, 2 G(p_n-1) pdot_n). Gaps are
    >= 0 when open and W is their gradient at q_n-1, the papers' -D. Friction is an applied force to
    Gauss' principle, and not in the objective. Where contacts may rebound an impact is a program of
    its own, at the end of the step in which they close (`add_projection`).

    Parameters
    ----------
    closure : Closure
        Gaps and joints at the stored coordinates (default), or linearised as printed.
    renormalise : bool
        Whether the stored Euler parameters are divided by their norm; the printed scheme stores
        them as integrated, with |p|^2 off by h^2 |pdot|^2.
    explicit : bool
        Whether K is taken at v_n-1, as printed (eq. 26b). The gyroscopic moment then feeds energy
        into every step, and dampers with h c > 2 m make the motion explode; at the mean velocity
        the gyroscopic moment does no work, and dampers only take energy.
    growth : float
        Which h is taken when the objective does not care, as in free flight: the larger. Small
        beside the objective, which would otherwise be pinned at h_max.
    finds_h : bool
        Whether h is a variable, found by Gauss' principle. Else it is given, as to other schemes,
        by a `StepControl`. Nothing is left to optimize then, so that steps are chained by
        `Compiled`, a thousand times faster than by the solvers of nonlinear programs.
    impact : Impact
        `NewtonImpact`, `PoissonImpact`, `SequentialImpact` or `EnergeticImpact`.
    slip_creep : float [m/s]
        Over a horizon, by which dry friction is smoothed: see `Scheme.slip_creep`.
    """

    order: ClassVar[int] = 1
    holds_inputs: ClassVar[bool] = True
    forces_at_end: ClassVar[bool] = False

    closure: Closure = field(default_factory=TrueClosure)
    renormalise: bool = True
    explicit: bool = False
    growth: float = 1e-5
    finds_h: bool = True
    impact: Impact = field(default_factory=NewtonImpact)
    slip_creep: float = 0.0

    def __post_init__(self) -> None:
        not_negative("slip_creep of PaperStep", self.slip_creep)

    @property
    def chooses_h(self) -> bool:
        return self.finds_h

    @property
    def fallback(self) -> Scheme | None:
        law = self.impact.fallback
        return None if law is None else replace(self, impact=law)

    def gain_remedy(self, dynamics: Dynamics, p: Array) -> str:
        return self.impact.gain_remedy(dynamics, p)

    def add_step(
        self, mpcc: Mpcc, dynamics: Dynamics, start: StepStart, h: ca.SX, scales: Scales
    ) -> Step:
        """State the step, and Gauss' principle where that finds how long it is."""
        step = super().add_step(mpcc, dynamics, start, h, scales)
        if not self.finds_h:
            return step
        (b,) = step.transition.balances
        mu, lam, _ = b.impulses
        # |vdot - M^-1 K|_M^2 = F.M^-1 F, F the forces of contacts and joints, scaled to about one.
        force, size = (b.node.W @ lam + b.F @ mu) / h, scales.force**2 / scales.mass
        (of_force,) = squares(b.M, force)
        mpcc.minimize(of_force / ca.SX(size))
        mpcc.minimize(-self.growth * h / scales.time)
        return step

    def state(self, one: OneStep) -> Transition:
        d, start, h, scales = one.dynamics, one.start, one.h, one.scales
        v = one.end_velocity()
        mu, lam, friction = one.impulses(self.slip_creep)
        q = advance_internal_states(d, start, h, v, start.q + h * self._find_rates(d, start, h, v))
        end = one.end(d.renormalise(q) if self.renormalise else q, v)
        mean = (v + start.v) / 2
        acting = start.v if self.explicit else mean
        K = smooth_forces(d, *start.at, acting) + start.drive
        # The mean slip is zero where a contact does not move over its surface.
        mean_slip = find_mean_slip(d, start, h, v, q)
        slip = friction.impulse(start, v, lam, self._find_touching_gaps(one), h, mean_slip)
        impulses = Impulses(mu, lam, slip)
        balance = Balance.of(d, start, (start.v, v), h, K, impulses, acting=acting)
        one.equal("motion", balance.residual, scale=scales.impulse)
        joints, gap = self.closure.joints(one, end), self.closure.gap(one, end)
        one.close("closure", joints, scale=scales.time)
        sizes = (scales.gap, scales.impulse)
        one.mpcc.complement("contact", gap, lam, scale=sizes, labels=d.contact_names)
        friction.state()
        one.least_norm("impulse", "joint_impulse")
        return Transition((balance,), end, gap, joints)

    def add_projection(
        self, mpcc: Mpcc, dynamics: Dynamics, start: StepStart, scales: Scales, step: Step
    ) -> Step:
        """State the impact at the end of a step, where contacts may rebound.

        In a step that ends with an impact the impulses of the program only place the bodies: all
        momentum then changes at once at the end, so that contacts meet with the speed that they
        have without walls. Elsewhere the step stays as it is.
        """
        d, h, e = dynamics, step.h, dynamics.restitution(start.p)
        if e.is_zero():
            return step
        node, (b,) = start.node(d), step.transition.balances
        end = replace(step.transition.end, v=step.v)
        shut = find_step_contacts(d, node, h, CLOSED).closed
        placing = step.impulse * (1 - shut)
        new = ca.vertcat(ca.SX(0, 1), *(1 - shut[k] for k in d.slip_contacts))
        rubbing = new * b.impulses.slip
        met = replace(end, v=step.v - respond(b.M, b.C, node.W @ placing + b.T @ rubbing))
        rate = met.gap_rate(met.v)
        closed = step.gap <= ca.fmax(CLOSED * d.gap_scale(start.p), -SOON * h * rate)
        strikes = closed * (1 - shut) * (rate < 0)
        impact = ca.sum1(strikes * (e > 0)) > 0
        rests = Approach.at_once(d, met, b.M, b.K, h).rests(e)
        modes = KnownModes(mpcc, d, scales, closed * impact)
        rebound = self.impact.state(
            modes, met, impact * self.impact.coefficients(e, strikes) * (1 - rests)
        )
        one = SimulatedStep.of(mpcc, d, end, h, scales)
        v = one.velocity("v_rebound")
        mu, more, friction = one.impulses()
        lam = rebound.given + more
        slip = rebound.spent.slip + friction.impulse(end, v, lam, closed, h * impact)
        whole = Balance.of(
            d,
            end,
            (ca.if_else(impact, b.before, step.v), v),
            h * impact,
            b.K,
            Impulses(mu, rebound.spent.lam + lam, slip),
            M=b.M,
            load_work=impact * b.load_work,
            contact_before=ca.if_else(impact, met.v, step.v),
        )
        mpcc.equal("rebound_motion", whole.residual, scale=scales.impulse)
        still = whole.C @ (v - step.v)
        one.close("rebound_rate", ca.if_else(impact, whole.C @ v + d.closure_drift(*end.at), still))
        friction.state()
        rebound.press("rebound", modes, end.gap_rate(v), more)
        # In an impact impulses are complementary to rates, not to gaps.
        closing = h * rebound.complete_rate(end.gap_rate(v), more)
        gap = ca.if_else(closed * impact, closing, step.gap)
        one.least_norm("impulse", "joint_impulse")
        off = 1 - impact
        first = replace(
            b,
            impulses=Impulses(*(off * x for x in b.impulses)),
            load_work=off * b.load_work,
            pressed_loss=off * b.pressed_loss,
        )
        x = Transition((first, whole), replace(end, v=v), gap, step.closure)
        ended = Step.of(x, h, Errors(step.energy_error, step.local_error))
        return replace(
            ended,
            motion_residual=step.motion_residual + whole.residual / h,
            motion_size=step.motion_size + whole.size / h,
            frozen=step.frozen * off,
            walls=step.walls,
        )

    def errors(self, x: Transition, h: ca.SX) -> Errors:
        (b,) = x.balances
        dv = b.after - b.before
        changed = ca.dot(find_change_at_end(x.balances, x.end), (b.before + b.after) / 2)
        energy = (ca.fabs(changed) + h * ca.fabs(ca.dot(b.K, dv))) / 2
        return Errors(energy, estimate_first_order_errors(x.balances, x.end, h).position)

    def refine(self, step: Step) -> Step:
        step = replace(step, frozen=step.impulse)
        if self.finds_h:
            return step
        (b,) = step.transition.balances
        return replace(step, walls=WallFigures(measure_depth(b, step.impulse, step.h)))

    def guess(self, dynamics: Dynamics, q: Array, v: Array, h: float) -> Mapping[str, Array]:
        del dynamics, q
        return {"h": np.array([h]), "v_end": v} if self.finds_h else {"v_end": v}

    def _find_touching_gaps(self, one: OneStep) -> ca.SX:
        """Return where viscous friction acts, (ng,): 1 of contacts closed at the start."""
        if one.dynamics.viscous(one.start.p).is_zero():
            return ca.SX.zeros(one.start.gap.numel())
        return one.modes(one.start.gap).closed

    def _find_rates(self, d: Dynamics, start: Node, h: ca.SX, v: ca.SX) -> ca.SX:
        """Return qdot of v = 2 G(p) pdot and eq. 23, p.p - 1 + 2 h p.pdot = 0, (nq,).

        Only Euler parameters that are stored as integrated have norms other than one.
        """
        rates, norms = d.rate_matrix(start.q) @ v, d.norms(start.q)
        if self.renormalise or not norms.numel():
            return rates
        excess = ca.DM(d.norms.jac_sparsity(0, 0)).T @ (norms - 1)  # (nq,) of each entry's norm
        return (rates - excess * start.q / (2 * h)) / (1 + excess)
