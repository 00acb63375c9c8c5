"""Steps that end where a contact closes or opens, begins to slip or stops."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, NamedTuple

import casadi as ca

from nsopt.arrays import Array
from nsopt.checks import positive
from nsopt.mechanics import Dynamics
from nsopt.mpcc import Mpcc
from nsopt.schemes.balance import Balance
from nsopt.schemes.contacts.accelerations import (
    PRESSING,
    Accelerations,
    find_viscous_friction,
)
from nsopt.schemes.contacts.friction import (
    find_directions,
    find_slip,
    measure_slip,
    repeat_by_slip,
    select_drags,
    sum_by_drag,
)
from nsopt.schemes.contacts.held_move import HeldMove, add_impulses
from nsopt.schemes.contacts.impact import Impact, NewtonImpact
from nsopt.schemes.contacts.modes import (
    ClosedGaps,
    KnownModes,
    find_rate_scales,
    zero_where_pressed,
)
from nsopt.schemes.errors import Errors, sum_errors
from nsopt.schemes.half_steps import HalfSteps
from nsopt.schemes.node import ContactsAtStart, Node, StepStart
from nsopt.schemes.one_step import HorizonStep, OneStep, SimulatedStep
from nsopt.schemes.scales import Scales
from nsopt.schemes.scheme import Scheme
from nsopt.schemes.step import (
    ContactEvent,
    Interval,
    Step,
    Transition,
    find_contact_energy,
    sum_columns,
)
from nsopt.schemes.variational import Variational

SLOW = 1e-6  # of the speed that a typical impulse gives, the slip that counts as none
ROUND_OFF = 1e-2  # of the gap that counts as closed: how far what touches may go inside
REVERSED = 0.1  # of the slip that counts as none: how much a slip that begins may be reversed


@dataclass(frozen=True)
class ContactAligned(Scheme):
    """The step size as an unknown: as large as given, unless contact changes before.

    The idea of finite elements with switch detection and state jumps: within a step the set of
    pressing contacts does not change, so a second-order integrator keeps its order across impacts
    and releases. Contacts that press are held like ideal joints by the two halves of `Variational`;
    the end of the step has multipliers of its own, from the accelerations there, so that a contact
    opens where its force is zero. One equation gives h:

    ====================  ===========================================================
    modes, at q_n         0 <= d(dg)/dt _|_ lam >= 0 for contacts at rest on their wall,
                          and Coulomb's law of their slip u, of du/dt where u = 0
    step                  that of `Variational`, pressing contacts as equations
    friction              mean u = 0 and u(q_n+1, v_n+1) = 0 of contacts that stick, of others
                          lam_t = -mu lam u / |u|, in each half along the slip there
    end-point forces      M a = K + W lam + T lam_t + C^T mu, d(dg)/dt = 0 for pressing contacts
    h                     min(h_given - h, gaps of the others, end-point lam,
                          mu lam - |lam_t| of what sticks, u of what slips) = 0
    jump, at q_n+1        0 <= dg(v+) + e dg(v-) _|_ Lam >= 0, all closed contacts at once,
                          or another `Impact`
    ====================  ===========================================================

    with the rate of the gaps dg(v) = W^T v + dg/dt. The mean slip is the way over the surface that
    carries a contact, over h (`find_mean_slip`): what sticks does not creep, and lets go where its
    force leaves the cone of friction. A slip ends where it has no part along its direction at the
    start of the step; it is found anew whether the contact sticks then or slips back.

    Over a horizon, where there is no friction, nodes take the place of the equation for h and of
    the modes: a contact presses in a step only if it is closed at both ends and at rest at the
    second (gap_n _|_ lam, gap_n+1 _|_ lam, lam dg_n+1 = 0), and the jump is at the node, before its
    step.
    `HalfSteps` and `Impact` are the same statements in both, so that motions whose events fall on
    nodes agree.

    h_min does not apply to a step that ends at such an event. Contacts that meet slower than
    ``v_rest`` do not rebound, which ends the infinite sequences of ever smaller jumps; the record
    says which events were grazing, and does not count them as impacts that acted at once. Contacts
    that push each other off their walls in turn rest once they would not open any more.

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
    takes_rate_constraints: ClassVar[bool] = True
    takes_joint_friction: ClassVar[bool] = True

    v_rest: float = 1e-4
    closed: float = 1e-8
    impact: Impact = field(default_factory=NewtonImpact)

    def __post_init__(self) -> None:
        if not self.v_rest >= 0:
            raise ValueError(f"v_rest must be a speed, zero or more [m/s], got {self.v_rest}")
        positive("closed of ContactAligned", self.closed)

    def check_horizon(self, dynamics: Dynamics, p: Array) -> None:
        super().check_horizon(dynamics, p)
        names = [dynamics.contact_names[k] for k in dynamics.slip_contacts]
        names += [dynamics.joint_names[k] for k in dynamics.friction_joints]
        if names:
            raise ValueError(
                f"ContactAligned has no friction over a horizon, but {names[0]!r} has it: use "
                "Variational or MoreauJean"
            )

    @property
    def fallback(self) -> Scheme:
        return Variational(impact=self.impact)

    def add_modes(
        self, mpcc: Mpcc, dynamics: Dynamics, start: StepStart, h: ca.SX, scales: Scales
    ) -> StepStart:
        d, node, touch = dynamics, start.node(dynamics), self.closed * dynamics.gap_scale(start.p)
        sizes = raise_force_scale(d, start, scales)
        forces = Accelerations(mpcc, d, node, sizes)
        rate = node.gap_rate(start.v)
        # A contact that strikes its wall as a run begins does not press: that is an impact, before
        # which there is no step, so that the fallback takes it.
        rests = ca.logic_and(node.gap <= touch, rate >= -self.v_rest)
        slides = measure_slip(d, find_slip(d, node.at, start.v)) > find_slow(scales)
        friction, slip = forces.resist(rests, slides)
        forces.state_motion(slip)
        # One that leaves presses too if it falls back within the step and is never open: that ends
        # the sequences of ever smaller jumps of contacts that push each other off in turn. Of a
        # gap that opens at a rate r, a fall of r^2 / (2 touch) keeps the height within touch, one
        # of 2 r / h brings it back within the step.
        forces.press(rests, ca.fmax(rate, 0) * ca.fmax(rate / (2 * touch), 2 / h))
        friction.state()
        pressing = forces.lam > PRESSING * scales.force
        # Round-off of a force that is at its limit must not hold what is about to slide.
        grips = measure_slip(d, friction.unknowns) < forces.limit - PRESSING * scales.force
        begins = find_directions(d, -friction.unknowns)
        continues = find_directions(d, find_slip(d, node.at, start.v))
        modes = ContactsAtStart(
            pressing,
            select_drags(d, pressing) * (1 - slides) * grips,
            ca.if_else(repeat_by_slip(d, slides), continues, begins),
            forces.lam,
            friction.unknowns,
        )
        return replace(start, held=modes)

    def gain_remedy(self, dynamics: Dynamics, p: Array) -> str:
        return self.impact.gain_remedy(dynamics, p)

    def add_step(
        self, mpcc: Mpcc, dynamics: Dynamics, start: StepStart, h: ca.SX, scales: Scales
    ) -> Step:
        """State the step for the modes at its start; which event ends it is an equation for h."""
        d, held, given_h, pressing = dynamics, start.held, h, start.held.pressing
        h = mpcc.variable("step_size", 1, scale=scales.time, guess=given_h)
        one, names = SimulatedStep.of(mpcc, d, start.node(d), h, scales), d.contact_names
        slow, rubbing = find_slow(scales), select_drags(d, pressing)
        slides = rubbing * (measure_slip(d, find_slip(d, one.start.at, start.v)) > slow)
        moves = self._divide(one)
        end, sizes = moves[-1].end, raise_force_scale(d, start, scales)
        # From the forces at the start, Newton's method sees which event may be the first.
        forces = Accelerations(mpcc, d, end, sizes, held.force)
        scale, guess = sizes.force, held.friction
        dry_force = mpcc.variable("slip_force", len(d.slip_contacts), scale=scale, guess=guess)
        add_impulses(moves, held, slides)
        transitions, errors = zip(*(move.state() for move in moves), strict=True)
        slip_end, last = moves[-1].slip, moves[-1].directions
        forces.state_motion(dry_force - find_viscous_friction(d, end, pressing, slip_end))
        forces.hold(pressing)
        forces.hold_slip(dry_force, held.sticking, last)
        for move in moves:
            move.hold()
        # A gap that opens from zero is zero at the start of the step, too, where h = 0 would solve
        # the equation for h: its mean rate is not, here times the given h, as a gap in m.
        # Of surfaces that touch and do not press round-off is no event.
        way, touch = end.gap - ca.fmin(one.start.gap, 0), self.closed * d.gap_scale(start.p)
        gap = ca.if_else(one.start.gap_rate(start.v) > 0, given_h / h * way, way)
        gap += ROUND_OFF * touch * (one.start.gap <= touch)
        # So it is with a slip that begins.
        along = sum_by_drag(d, slip_end * held.directions)
        along = ca.if_else(slides, along, given_h / h * along + REVERSED * slow)
        grip = forces.limit - measure_slip(d, dry_force)
        rubs = rubbing * (1 - held.sticking) * (d.drag(start.p) > 0)
        labels = [f"contact {name!r}" for name in names]
        of_drags, force, speed = (
            [labels[drag.contact] for drag in d.drags],
            scales.force,
            scales.speed,
        )
        events = [
            Event(ContactEvent.NONE, given_h - h, scales.time, 1, ["the end of the step"]),
            Event(ContactEvent.CLOSING, gap, scales.gap, 1 - pressing, labels),
            Event(ContactEvent.OPENING, forces.lam, force, pressing, labels),
            Event(ContactEvent.STICK_SLIP, along, speed, rubs, of_drags),
            Event(ContactEvent.STICK_SLIP, grip, force, held.sticking, of_drags),
        ]
        first_event = state_first_event(mpcc, events, "step_size")
        # No event where h is the given one but for round-off.
        event = first_event * (h < given_h * (1 - 1e-9))
        x = Transition(tuple(b for x in transitions for b in x.balances), end)
        # Impulses of the first halves act along directions at the start of the step.
        frozen = sum_columns([move.lam for move in moves])
        return replace(Step.of(x, h, sum_errors(errors)), frozen=frozen, event=event)

    def _divide(self, one: OneStep) -> list[HeldMove]:
        """Return the moves that make up a step: one here, several in a `Composition`."""
        return [HeldMove(one)]

    def add_interval(self, one: HorizonStep, before: ca.SX) -> Interval:
        """State the impact at a node and the step to the next, its modes those of the whole step.

        What presses in a step is closed at both of its ends and at rest on its wall at the second
        (cross complementarity); nodes find the times of impacts where sizes of steps are unknown.
        Inputs and drives are constant over a step.
        """
        del before
        mpcc, d, first, second, scales = one.mpcc, one.dynamics, one.start, one.next, one.scales
        n, jump, halves = len(d.contact_names), self._impact(one), HalfSteps(one)
        lam, lam_end = (mpcc.variable(x, n, scale=scales.impulse) for x in ("lam", "lam_end"))
        x = halves.state(jump.after, (lam, lam_end))
        sizes, names = (scales.gap, scales.impulse), d.contact_names
        for half, push in (("lam", lam), ("lam_end", lam_end)):
            mpcc.complement(f"closed_before_{half}", first.gap, push, scale=sizes, labels=names)
            mpcc.complement(f"closed_after_{half}", second.gap, push, scale=sizes, labels=names)
        rate, pressed = second.gap_rate(second.v), lam + lam_end
        zero_where_pressed(mpcc, "rest", rate, pressed, find_rate_scales(scales), names)
        return self._with_impact(Interval.of(first, x, one.h), jump)

    def add_ending(self, one: HorizonStep, before: ca.SX) -> Interval:
        interval = Interval.end(one.dynamics, one.start.v, before)
        return self._with_impact(interval, self._impact(one))

    def _impact(self, one: HorizonStep) -> Balance:
        """State the impact at the first node of a step of a horizon; return its balance."""
        d, node = one.dynamics, one.start
        modes = ClosedGaps(one.mpcc, d, one.scales, node.gap)
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
        fast = (node.gap_rate(step.v) < -self.v_rest) * (1 - start.held.pressing)
        met = touching * (1 - start.held.pressing) * (step.event > 0)
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


def find_slow(scales: Scales) -> ca.SX:
    """Return the slip that counts as none [m/s]."""
    return SLOW * ca.SX(scales.speed)


def raise_force_scale(d: Dynamics, start: StepStart, scales: Scales) -> Scales:
    """Return scales whose force includes that of centripetal accelerations, which may exceed loads.

    Scales that are numbers, of a program for solvers, are left.
    """
    if not isinstance(scales.force, ca.SX):
        return scales
    known = (start.t, start.q, start.v, start.p)
    bias = ca.vertcat(ca.SX(0), d.closure_bias(*known), d.gap_bias(*known))
    return replace(scales, force=scales.force + scales.mass * ca.norm_inf(bias))


class Event(NamedTuple):
    """What ends a step where a value of it becomes zero."""

    kind: int  # a `ContactEvent`
    value: ca.SX  # (m,) positive before the event, as the gap of a contact that closes
    size: Any  # scalar or (m,) typical sizes of the values
    active: Any  # (m,), 0 or 1: whether it may happen in this step
    labels: Sequence[str]  # (m,) names for messages

    @property
    def sizes(self) -> ca.SX:
        """The size of each value, (m,)."""
        size, m = ca.SX(self.size), self.value.numel()
        return size if size.numel() == m else ca.repmat(size, m, 1)


def state_first_event(mpcc: Mpcc, events: Sequence[Event], of: str) -> ca.SX:
    """State that the least active value is zero, for the unknown ``of``; return its kind."""
    stated = [event for event in events if event.labels]
    mpcc.first_event(
        "event",
        ca.vertcat(*(x.value for x in stated)),
        scale=ca.vertcat(*(x.sizes for x in stated)),
        active=ca.vertcat(*(x.active for x in stated)),
        of=of,
        labels=[label for x in stated for label in x.labels],
    )
    kind, least = ca.SX(0), ca.SX(ca.inf)
    for x in stated:
        value = ca.mmin(ca.if_else(x.active, x.value / x.sizes, ca.inf))
        kind, least = ca.if_else(value < least, x.kind, kind), ca.fmin(value, least)
    return kind
