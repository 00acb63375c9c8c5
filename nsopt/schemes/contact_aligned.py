"""Steps that end where a contact closes or opens."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import ClassVar

import casadi as ca

from nsopt.arrays import Array
from nsopt.checks import positive
from nsopt.mechanics import Dynamics
from nsopt.mpcc import Mpcc
from nsopt.schemes.balance import Balance
from nsopt.schemes.contacts.impact import Impact, NewtonImpact
from nsopt.schemes.contacts.modes import (
    ClosedGaps,
    KnownModes,
    find_rate_scales,
    zero_where_pressed,
)
from nsopt.schemes.errors import Errors, estimate_symmetric_errors
from nsopt.schemes.half_steps import HalfSteps
from nsopt.schemes.node import Node, StepStart
from nsopt.schemes.one_step import HorizonStep, SimulatedStep
from nsopt.schemes.scales import Scales
from nsopt.schemes.scheme import Scheme
from nsopt.schemes.step import ContactEvent, Interval, Step, Transition, find_contact_energy
from nsopt.schemes.terms import smooth_forces
from nsopt.schemes.variational import Variational

PRESSING = 1e-7  # of the typical force, that from which on a contact presses
UNBOUNDED = 1e6  # of the typical impulse, the bound of impulses and forces that are free


@dataclass(frozen=True)
class ContactAligned(Scheme):
    """The step size as an unknown: as large as given, unless contact changes before.

    The idea of finite elements with switch detection and state jumps: within a step the set of
    pressing contacts does not change, so a second-order integrator keeps its order across impacts
    and releases. Contacts that press are held like ideal joints by the two halves of `Variational`;
    the end of the step has multipliers of its own, from the accelerations there, so that a contact
    opens where its force is zero. One equation gives h:

    ====================  ===========================================================
    modes, at q_n         0 <= d(dg)/dt _|_ lam >= 0 for contacts at rest on their wall
    step                  that of `Variational`, pressing contacts as equations
    end-point forces      M a = K + W lam + C^T mu, d(dg)/dt = 0 for pressing contacts
    h                     min(h_given - h, gaps of the others, end-point lam) = 0
    jump, at q_n+1        0 <= dg(v+) + e dg(v-) _|_ Lam >= 0, all closed contacts at once,
                          or another `Impact`
    ====================  ===========================================================

    with the rate of the gaps dg(v) = W^T v + dg/dt.

    Over a horizon, nodes take the place of the equation for h and of the modes: a contact presses
    in a step only if it is closed at both ends and at rest at the second (gap_n _|_ lam,
    gap_n+1 _|_ lam, lam dg_n+1 = 0), and the jump is at the node, before its step.
    `HalfSteps` and `Impact` are the same statements in both, so that motions whose events fall on
    nodes agree.

    h_min does not apply to a step that ends at such an event. Contacts that meet slower than
    ``v_rest`` do not rebound, which ends the infinite sequences of ever smaller jumps; the record
    says which events were grazing, and does not count them as impacts that acted at once. Contacts
    that push each other off their walls in turn rest once they would not open any more. There is no
    friction.

    Parameters
    ----------
    v_rest : float [m/s]
        e = 0 below this approach speed.
    closed : float
        A contact counts as closed up to this part of its typical opening, `Gap.scale`.
    impact : Impact
        `NewtonImpact`, `PoissonImpact`, `SequentialImpact` or `EnergeticImpact`.
    """

    ends_early: ClassVar[bool] = True
    horizon_at_end: ClassVar[bool] = True
    holds_inputs: ClassVar[bool] = True

    v_rest: float = 1e-4
    closed: float = 1e-8
    impact: Impact = field(default_factory=NewtonImpact)

    def __post_init__(self) -> None:
        if not self.v_rest >= 0:
            raise ValueError(f"v_rest must be a speed, zero or more [m/s], got {self.v_rest}")
        positive("closed of ContactAligned", self.closed)

    def check(self, dynamics: Dynamics, p: Array) -> None:
        super().check(dynamics, p)
        if dynamics.slip_contacts:
            name = dynamics.contact_names[dynamics.slip_contacts[0]]
            raise ValueError(
                f"ContactAligned knows no friction, but contact {name!r} has it: use Variational "
                "or MoreauJean"
            )

    @property
    def fallback(self) -> Scheme:
        return Variational(impact=self.impact)

    def add_modes(
        self, mpcc: Mpcc, dynamics: Dynamics, start: StepStart, h: ca.SX, scales: Scales
    ) -> StepStart:
        d, at, touch = dynamics, start.at, self.closed * dynamics.gap_scale(start.p)
        sizes = raise_force_scale(d, start, scales)
        forces = Accelerations(mpcc, d, at, start.v, sizes, d.redundant > 0)
        forces.state_motion()
        rate = start.node(d).gap_rate(start.v)
        # A contact that strikes its wall as a run begins does not press: that is an impact, before
        # which there is no step, so that the fallback takes it.
        rests = ca.logic_and(d.gap(*at) <= touch, rate >= -self.v_rest)
        # One that leaves presses too if it falls back within the step and is never open: that ends
        # the sequences of ever smaller jumps of contacts that push each other off in turn.
        forces.press(rests, ca.fmax(rate, 0) * ca.fmax(rate / (2 * touch), 2 / h))
        return replace(start, modes=forces.lam > PRESSING * scales.force)

    def gain_remedy(self, dynamics: Dynamics, p: Array) -> str:
        return self.impact.gain_remedy(dynamics, p)

    def add_step(
        self, mpcc: Mpcc, dynamics: Dynamics, start: StepStart, h: ca.SX, scales: Scales
    ) -> Step:
        """State the step for the modes at its start; which event ends it is an equation for h."""
        d, pressing, n, given_h = dynamics, start.modes, len(dynamics.contact_names), h
        h = mpcc.variable("step_size", 1, scale=scales.time, guess=given_h)
        one = SimulatedStep.of(mpcc, d, start.node(d), h, scales)
        halves = HalfSteps(one)
        sizes = raise_force_scale(d, start, scales)
        forces = Accelerations(mpcc, d, halves.end.at, halves.end.v, sizes, one.redundant)
        lam, lam_end = (mpcc.variable(x, n, scale=scales.impulse) for x in ("lam", "lam_end"))
        x = halves.state(start.v, lam, lam_end)
        (first, second), end = x.balances, x.end
        forces.state_motion()
        forces.hold(pressing)
        speeds, names = scales.gap / scales.time, d.contact_names
        hold(mpcc, "wall", names, lam, end.gap, pressing, (scales.impulse, scales.gap))
        rate = end.gap_rate(end.v)
        hold(mpcc, "wall_rate", names, lam_end, rate, pressing, (scales.impulse, speeds))
        # A gap that opens from zero is zero at the start of the step, too: its mean rate is not.
        rise = given_h / h * (end.gap - ca.fmin(one.start.gap, 0))
        gap = ca.if_else(one.start.gap_rate(start.v) > 0, rise, end.gap)
        mpcc.first_event(
            "event",
            ca.vertcat(given_h - h, gap, forces.lam),
            scale=ca.vertcat(scales.time, scales.gap, ca.repmat(ca.SX(scales.force), n, 1)),
            active=ca.vertcat(1, 1 - pressing, pressing),
            of="step_size",
            labels=["the end of the step", *(f"contact {name!r}" for name in [*names] * 2)],
        )
        mu = first.impulses.mu
        errors = estimate_symmetric_errors((first, second), h, first.after, mu, M=first.M)
        # `add_projection` tells closing from opening.
        event = ca.if_else(h < given_h * (1 - 1e-9), ContactEvent.OPENING, ContactEvent.NONE)
        return replace(Step.of(x, h, errors), frozen=lam, event=event)

    def add_interval(
        self,
        mpcc: Mpcc,
        dynamics: Dynamics,
        first: Node,
        second: Node,
        before: ca.SX,
        scales: Scales,
    ) -> Interval:
        """State the impact at a node and the step to the next, its modes those of the whole step.

        What presses in a step is closed at both of its ends and at rest on its wall at the second
        (cross complementarity); nodes find the times of impacts where sizes of steps are unknown.
        Inputs and drives are constant over a step.
        """
        del before
        d, n = dynamics, len(dynamics.contact_names)
        jump = self._impact(mpcc, d, first, scales)
        one = HorizonStep.between(mpcc, d, first, second, scales)
        halves = HalfSteps(one)
        lam, lam_end = (mpcc.variable(x, n, scale=scales.impulse) for x in ("lam", "lam_end"))
        x = halves.state(jump.after, lam, lam_end)
        sizes, names = (scales.gap, scales.impulse), d.contact_names
        for half, push in (("lam", lam), ("lam_end", lam_end)):
            mpcc.complement(f"closed_before_{half}", first.gap, push, scale=sizes, labels=names)
            mpcc.complement(f"closed_after_{half}", second.gap, push, scale=sizes, labels=names)
        rate, pressed = second.gap_rate(second.v), lam + lam_end
        zero_where_pressed(mpcc, "rest", rate, pressed, find_rate_scales(scales), names)
        return self._with_impact(Interval.of(first, x, one.h), jump)

    def add_ending(
        self, mpcc: Mpcc, dynamics: Dynamics, last: Node, before: ca.SX, scales: Scales
    ) -> Interval:
        jump = self._impact(mpcc, dynamics, last, scales)
        return self._with_impact(Interval.end(dynamics, last.v, before), jump)

    def _impact(self, mpcc: Mpcc, d: Dynamics, node: Node, scales: Scales) -> Balance:
        """State the impact at a node of a horizon; return its balance."""
        modes = ClosedGaps(mpcc, d, scales, node.gap)
        return self.impact.jump(modes, node, d.restitution(node.p))

    def _with_impact(self, interval: Interval, jump: Balance) -> Interval:
        return replace(
            interval,
            at_node=jump.after,
            impact_impulse=jump.impulses.lam,
            impact_loss=jump.loss,
            impact_work=jump.work,
        )

    def add_projection(
        self, mpcc: Mpcc, dynamics: Dynamics, start: StepStart, scales: Scales, step: Step
    ) -> Step:
        """State the impact at the end of a step."""
        d, p = dynamics, start.p
        node = Node.without_drives(d, start.t + step.h, step.q, p, step.v)
        touching = step.gap <= self.closed * d.gap_scale(p)
        fast = (node.gap_rate(step.v) < -self.v_rest) * (1 - start.modes)
        met = touching * (1 - start.modes) * (step.event > 0)
        strikes = ca.sum1(met * fast) > 0
        grazing = ca.if_else(ca.sum1(met) > 0, ContactEvent.GRAZING, step.event)
        modes = KnownModes(mpcc, d, scales, touching)
        rebounds = ca.sum1(touching * fast) > 0
        e = rebounds * self.impact.coefficients(d.restitution(p), fast)
        jump = self.impact.jump(modes, node, e)
        end = replace(node, v=jump.after)
        x = Transition((*step.transition.balances, jump), end)
        whole = Step.of(x, step.h, Errors(step.energy_error, step.local_error))
        return replace(
            whole,
            impact_impulse=jump.impulses.lam * strikes,
            frozen=step.frozen,
            contact_energy=find_contact_energy(x, step.v),
            event=ca.if_else(strikes, ContactEvent.CLOSING, grazing),
        )


def raise_force_scale(d: Dynamics, start: StepStart, scales: Scales) -> Scales:
    """Return scales whose force includes that of centripetal accelerations, which may exceed loads.

    Scales that are numbers, of a program for solvers, are left.
    """
    if not isinstance(scales.force, ca.SX):
        return scales
    known = (start.t, start.q, start.v, start.p)
    bias = ca.vertcat(ca.SX(0), d.closure_bias(*known), d.gap_bias(*known))
    return replace(scales, force=scales.force + scales.mass * ca.norm_inf(bias))


class Accelerations:
    """Accelerations and the forces of joints and contacts at a state, as unknowns."""

    def __init__(
        self,
        mpcc: Mpcc,
        d: Dynamics,
        at: tuple[ca.SX, ca.SX, ca.SX],
        v: ca.SX,
        scales: Scales,
        redundant: bool,
    ) -> None:
        C, W, self._names = d.closure_matrix(*at), d.gap_matrix(*at), d.contact_names
        F = d.effort_matrix(*at)
        self._redundant = redundant
        self._mpcc, self._force, self._rate = mpcc, scales.force, scales.force / scales.mass
        self._a = mpcc.variable("acceleration", d.nv, scale=self._rate)
        mu = mpcc.variable("joint_force", C.size1(), scale=scales.force, multiplier=True)
        self.lam = mpcc.variable("contact_force", W.size2(), scale=scales.force)
        K, M = smooth_forces(d, *at, v), d.mass(at[1], at[2])
        self._motion = M @ self._a - K - W @ self.lam - F @ mu
        self._joints = C @ self._a + d.closure_bias(at[0], at[1], v, at[2])  # (nc,) accelerations
        self._gaps = W.T @ self._a + d.gap_bias(at[0], at[1], v, at[2])  # (ng,) accelerations

    def state_motion(self) -> None:
        """State the equations of motion and of the ideal joints."""
        self._mpcc.equal("acceleration", self._motion, scale=self._force)
        joints, scale = self._joints, self._rate
        self._mpcc.equal("joint_acceleration", joints, scale=scale, redundant=self._redundant)

    def press(self, closed: ca.SX, fall: ca.SX) -> None:
        """State that closed contacts press, or leave with accelerations (ng,) of at least -fall."""
        scale, gaps = (self._rate, self._force), self._gaps + fall
        self._mpcc.complement(
            "pressing", gaps, self.lam, scale=scale, labels=self._names, active=closed
        )

    def hold(self, on: ca.SX) -> None:
        """State that contacts ``on`` (1 or 0) stay closed by any force, and others have none."""
        hold(self._mpcc, "held", self._names, self.lam, self._gaps, on, (self._force, self._rate))


def hold(
    mpcc: Mpcc,
    name: str,
    contacts: Sequence[str],
    lam: ca.SX,
    gap: ca.SX,
    on: ca.SX,
    scale: tuple[ca.SX, ca.SX],
) -> None:
    """State gap = 0 where ``on``, lam = 0 elsewhere."""
    bound = on * UNBOUNDED * ca.SX(scale[0])
    mpcc.box(name, lam, gap, lower=-bound, upper=bound, scale=scale, labels=contacts)
