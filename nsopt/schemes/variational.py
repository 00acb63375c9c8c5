"""The discrete Euler-Lagrange step: second order, without energy drift, unilateral contacts."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import ClassVar

import casadi as ca

from nsopt.arrays import Array
from nsopt.checks import between, not_negative
from nsopt.mechanics import Dynamics
from nsopt.mpcc import Mpcc
from nsopt.schemes.balance import Balance, Impulses
from nsopt.schemes.contacts.friction import (
    SLOW,
    Friction,
    find_end_of_slip,
    find_mean_slip,
    find_slip,
    find_turn_from_end,
)
from nsopt.schemes.contacts.impact import Impact, NewtonImpact
from nsopt.schemes.contacts.modes import (
    KnownModes,
    find_rate_scales,
    find_step_contacts,
    split_parts,
    state_touching,
)
from nsopt.schemes.contacts.static_friction import find_later_work
from nsopt.schemes.contacts.walls import (
    Approach,
    WallFigures,
    find_approach,
    judge_pressed,
    time_impacts,
)
from nsopt.schemes.errors import estimate_symmetric_errors
from nsopt.schemes.first_half import state_first_half
from nsopt.schemes.moreau_jean import MoreauJean
from nsopt.schemes.node import StepStart
from nsopt.schemes.one_step import HorizonStep, SimulatedStep
from nsopt.schemes.scales import Scales
from nsopt.schemes.scheme import Scheme
from nsopt.schemes.step import Interval, Step, Transition
from nsopt.schemes.terms import (
    ReactionLoads,
    advance_coordinates,
    average_walls,
    average_walls_over,
    find_joint_friction_at_node,
    find_mean_joint_friction,
    rolling,
    rolling_over,
)

PRESSED = 1e-9  # of the typical impulse, that from which on a contact counts as touching
DAMPS = 0.5  # normal implicitness from which on nothing rattles, see `Scheme.normal_implicitness`


@dataclass(frozen=True)
class Variational(Scheme):
    """Half of the forces, contact by position, the other half, contact by velocity.

    The Stoermer-Verlet / RATTLE step of the discrete Euler-Lagrange equations, with unilateral
    constraints. Q_A are the applied forces, dissipative ones at the velocity v_h of the move in
    both halves, coupled with the impulses; W and C are gradients of gaps and joints. u(q_n, v_h)
    are the twists of bodies that go steadily from q_n to q_n+1, P(q, u, h) the momentum with which
    they leave q, P(q, u, -h) that with which they arrive (`Dynamics.twists`, `momentum`): u = v_h
    and P = M v_h + h/2 (w x J w) for free bodies. On a hinge in the ground P is that of the circle,
    not of its chord: there bodies turn at their rate for every h. In relative coordinates P is what
    the joints feel of the same momenta, so that the motion is that of absolute coordinates.

    ==================  ==============================================================
    first half          P(q_n, u, h) = M_n v_n + h/2 Q_A(q_n, v_h) + D lam + C_n^T mu
    positions           q_n+1 = q_n (+) h v_h,  Phi(q_n+1) = 0
    rolling             B v_h + s = 0  at q_n (+) h/2 v_h
    contact             0 <= gap(q_n+1) _|_ lam >= 0
    second half         M_n+1 v_n+1 = P(q_n+1, u, -h) + h/2 Q_A(q_n+1, v_h) + W_n+1 lam'
                        + C_n+1^T mu'
    velocities          C_n+1 v_n+1 + dPhi/dt = 0,  B_n+1 v_n+1 + s_n+1 = 0
    contact, closed     0 <= dg_n+1(v_n+1) + e min(dg_n+1(v-), 0) _|_ lam' >= 0,
                        or another `Impact`
    ==================  ==============================================================

    with the rate of the gaps dg(v) = W^T v + dg/dt and v- the velocity at the first impact, within
    the step (`find_approach`).

    Of second order in free motion, with ideal joints and in lasting contact (e = 0), and
    time-reversible there, so energy does not drift. In a step in which a contact closes lam and mu
    only place the bodies: all momentum then changes at once at the velocity level, from v_n and
    the forces of both halves, so that an impact takes energy even where bodies jam.
    Contacts that were closed already have e = 0.

    Over a horizon the two halves that meet at a node are one balance, of the velocity v- of the
    move that arrives and v+ of that which leaves, h- and h+ their sizes, with one impulse for the
    contact that the next step keeps closed:

    ==================  ==============================================================
    node                P(q_n, u+, h+) = P(q_n, u-, -h-) + h-/2 Q_A(q_n, v-)
                        + h+/2 Q_A(q_n, v+) + W lam + C^T mu
    positions           q_n+1 = q_n (+) h+ v+,   v-_n+1 = v+
    contact, joints     0 <= gap(q_n+1) _|_ lam >= 0,   Phi(q_n+1) = 0
    ==================  ==============================================================

    For which contact lasts and which is an impact is not known there: a switch by the state has no
    derivative. Without contact both are the same step. An impact falls within the step in a
    simulation and on its first node over a horizon, so that motions differ by a part of a step. Of
    a body with a foot that is thrown onto a floor at 1 m/s, spinning, coordinates differ by 2.0e-5
    m after 0.2 s in 20 steps, 2.6e-5 m in 40. e > 0 needs the mode to be known: refused there.

    Parameters
    ----------
    closed : float
        A contact counts as closed up to this part of its typical opening, `Gap.scale`.
    normal_implicitness : float, from 0 to 1
        Over a horizon, see `Scheme.normal_implicitness`.
    impact : Impact
        `NewtonImpact`, `PoissonImpact`, `SequentialImpact` or `EnergeticImpact`.
    slip_creep : float [m/s]
        Over a horizon, by which dry friction is smoothed: see `Scheme.slip_creep`.
    """

    takes_joint_friction: ClassVar[bool] = True
    takes_static_friction: ClassVar[bool] = True
    takes_rate_constraints: ClassVar[bool] = True

    closed: float = 1e-8
    normal_implicitness: float = 0.0
    impact: Impact = field(default_factory=NewtonImpact)
    slip_creep: float = 0.0

    def __post_init__(self) -> None:
        what, remedy = "normal_implicitness of Variational", "0.5 damps a bushing that rattles"
        between(what, self.normal_implicitness, 0.0, 1.0, remedy)
        not_negative("slip_creep of Variational", self.slip_creep)

    @property
    def fallback(self) -> Scheme:
        return MoreauJean(project=True, impact=self.impact)

    def gain_remedy(self, dynamics: Dynamics, p: Array) -> str:
        return self.impact.gain_remedy(dynamics, p)

    def add_step(
        self, mpcc: Mpcc, dynamics: Dynamics, start: StepStart, h: ca.SX, scales: Scales
    ) -> Step:
        return state_first_half(mpcc, dynamics, start, h, scales, self.closed)

    def add_projection(
        self, mpcc: Mpcc, dynamics: Dynamics, start: StepStart, scales: Scales, step: Step
    ) -> Step:
        """State the second half; after an impact, the whole change of momentum."""
        d, p, h = dynamics, start.p, step.h
        node, (half,) = start.node(d), step.transition.balances
        contacts, end = find_step_contacts(d, node, h, self.closed), step.transition.end
        M = d.mass(end.q, p)
        # Which contacts touch at the end, and whether one of them closed in the step: an impact.
        pressed = step.impulse > PRESSED * ca.SX(scales.impulse)
        closed = ca.logic_or(end.gap <= self.closed * d.gap_scale(p), pressed)
        impact = ca.sum1(closed * (1 - contacts.lasting)) > 0
        after = 2 * step.v - start.v  # about the velocity at the end, where nothing strikes
        one = SimulatedStep.of(mpcc, d, end, h, scales)
        if not any(drag.has_static for drag in d.drags):  # else it may begin to slip only now
            one = replace(one, guess=after)
        first_push = h / 2 * d.applied(*node.at[:2], start.v, p)
        u = ca.if_else(impact, start.v, step.v)  # velocity before, to which forces belong
        # Bodies hit walls with the twists at the start, turned by the whole gyroscopic torque.
        twists = d.twists(start.q, u, h * (1 - impact), p)
        arriving = d.momentum(end.q, twists, -h * (1 + impact), p) + impact * first_push
        applied = d.applied(*end.at[:2], u, p)
        # Without anything that depends on v, M = L D L^T gives it, and there is nothing to solve.
        free = not (d.contact_names or d.multiplier_names or d.friction_joints)
        v = one.end_velocity(ca.ldl_solve(arriving + h / 2 * applied, *ca.ldl(M)) if free else None)
        joint, push = step.joint_impulse, step.impulse
        # Unknowns of the half: v, mu, tangential impulses, and ``more``, normal impulses beside
        # those that the law of impact gives.
        mu = mpcc.variable("joint_end", joint.numel(), scale=scales.impulse, guess=joint)
        friction = Friction(mpcc, d, scales)
        more = mpcc.variable("contact_end", push.numel(), scale=scales.impulse, guess=push)
        friction.add()
        # Velocities with which contacts meet in an impact, and what its law says of the rebound.
        meeting, stated = KnownModes(mpcc, d, scales, closed * impact), d.restitution(p)
        met = Approach(replace(end, v=half.before), ca.SX.zeros(end.gap.numel()))
        if rebounds := not stated.is_zero():  # else nobody asks for the time of an impact
            placing, usual = push * (1 - contacts.lasting), ca.SX(scales.time)
            met = find_approach(half, step.v, placing, h, end, usual)
        met = met.where(impact, half.before)
        closes = (1 - contacts.closed) * (met.node.gap_rate(met.node.v) < 0)
        e = self.impact.coefficients(stated, closes) * (1 - closes * met.rests(stated))
        rebound = self.impact.state(meeting, met.node, e)
        last_lam = rebound.given + more
        slow = SLOW * ca.SX(scales.speed)
        turn = (1 - impact) * find_turn_from_end(d, end, step.v, after, slow)
        acting_time = h / 2 * (1 + impact)
        walls = average_walls(end, average_walls_over(d, end, -h))

        def try_end(program: Mpcc, coefficients: ca.SX) -> ca.SX:
            """State the half without an impact, coefficients (nd,) given; return its slip (ns,)."""
            one = SimulatedStep.of(program, d, end, h, scales)
            v, mu = one.end_velocity(), one.impulse_of_joints("joint_end")
            friction, lam = Friction(program, d, scales), one.impulse_of_contacts("contact_end")
            friction.add()
            slip = friction.impulse(end, v, lam, closed, h / 2, None, turn, coefficients)
            loads = ReactionLoads(h / 2, v - u, mu, lam, slip)
            rubbing = h / 2 * find_mean_joint_friction(d, start, end.at, u, h, loads)
            x, K = Impulses(mu, lam, slip), applied
            half = Balance.of(
                d, walls, (u, v), h / 2, K, x, joint_friction=rubbing, momenta=(arriving, M @ v)
            )
            program.equal("motion", half.residual, scale=scales.impulse)
            one.close("joint_rate", half.C @ v + d.closure_drift(*end.at))
            one.equal("rolling", rolling(d, end.at, v))
            friction.state()
            KnownModes(program, d, scales, closed).press("contact", end.gap_rate(v), lam)
            program.least_norm(("contact_end", "joint_end"))
            return find_slip(d, end.at, v)

        assert step.grip is not None
        mean_slip = find_mean_slip(d, node, h, step.v, step.q)
        grip = step.grip.at_end(mpcc, d, end, mean_slip, scales, try_end)
        coefficients = grip.within_impact(d, impact, p)
        last_slip = friction.impulse(
            end, v, last_lam, closed, acting_time, None, turn, coefficients
        )
        lam, slip = rebound.spent.lam + last_lam, rebound.spent.slip + last_slip
        # As contacts in `Balance.loss`, loads work on the velocity of an impact, where it is known.
        loaded_v = step.v if rebounds else (u + v) / 2
        load = d.external(*end.at[:2], u, p)
        loads = ReactionLoads(acting_time, v - u, mu, lam, slip)
        drift_change = impact * (met.node.drift + end.drift - 2 * walls.drift)
        second = Balance.of(
            d,
            walls,
            (u, v),
            h / 2,
            applied,
            Impulses(mu, lam, slip),
            M=M,
            acting=u,
            load_work=h / 2 * ca.dot(load, ca.if_else(impact, loaded_v, (u + v) / 2)),
            contact_before=ca.if_else(impact, met.node.v, u),
            contact_drift=drift_change if rebounds else None,
            joint_friction=acting_time * find_mean_joint_friction(d, start, end.at, u, h, loads),
            momenta=(arriving, M @ v),
        )
        if not free:
            mpcc.equal("motion", second.residual, scale=scales.impulse)
        one.close("joint_rate", second.C @ v + d.closure_drift(*end.at))
        one.equal("rolling", rolling(d, end.at, v))
        friction.state()
        rebound.press("contact", replace(meeting, closed=closed), end.gap_rate(v), more)
        mpcc.least_norm(("contact_end", "joint_end"))
        first = self._count_first_half(half, step.frozen, impact, loaded_v)
        errors = estimate_symmetric_errors(
            (first, second), h, u, first.impulses.mu + mu, impact=impact
        )
        whole = Step.of(Transition((first, second), replace(end, v=v)), h, errors)
        # When in the step contacts changed, for the step control.
        new = impact * closed * (1 - contacts.lasting)
        late, unplaced = time_impacts(half, second, push, new, h, contacts.closed)
        opened = new * (1 - contacts.closed) * (late > 0)
        closing = ca.if_else(opened, late if met.late is None else met.late, 0)
        ends = node, replace(end, v=v)
        stops = find_end_of_slip(d, ends, mean_slip, contacts.lasting, h, slow)
        stops = ca.fmax(stops, grip.find_breakaway(half, second, h))
        swing, shut = judge_pressed(d, *ends)
        overdue = ca.mmax(ca.vertcat(closing, (1 - impact) * stops, shut))
        first_hit = ca.mmax(ca.vertcat(late, 0))
        return replace(
            whole,
            motion_residual=step.motion_residual + second.residual / h,
            motion_size=step.motion_size + second.size / h + ca.fabs(second.K),
            contact_work=whole.contact_work + (1 - impact) * find_later_work(first, second),
            frozen=first.impulses.lam,
            walls=WallFigures(step.walls.depth, swing, first_hit, overdue, unplaced),
        )

    def _count_first_half(self, half: Balance, lasting: ca.SX, impact: ca.SX, v: ca.SX) -> Balance:
        """Return the first half as it counts, with the contact impulses ``lasting`` (ng,) [N s].

        In a step with an impact its loads alone count, which then work on v (nv,).
        """
        d, node, off = half.dynamics, half.node, 1 - impact
        acting = ca.if_else(impact, half.before, half.after)
        load = d.external(node.t, node.q, acting, node.p)
        loaded_v = ca.if_else(impact, v, (half.before + half.after) / 2)
        mu, _, slip = half.impulses
        return replace(
            half,
            impulses=Impulses(mu * off, lasting * off, slip * off),
            load_work=half.h * ca.dot(load, loaded_v),
            pressed_loss=half.h * d.pressed_loss(node.t, node.q, acting, node.p, loaded_v),
            joint_friction=half.joint_friction * off,
            joint_friction_work=half.joint_friction_work * off,
        )

    def remedy(self, bores: bool) -> str:
        if not bores or self.normal_implicitness >= DAMPS:
            return ""
        return f"let contacts in bores not rattle, Variational(normal_implicitness={DAMPS:g})"

    def add_interval(self, one: HorizonStep, before: ca.SX) -> Interval:
        """State the discrete Euler-Lagrange equations of a node, and the move to the next.

        Half of the forces of the step before, half of those of the step to come and all impulses
        act at the node at once.
        """
        d, first, second, scales = one.dynamics, one.start, one.next, one.scales
        interval, v = self._state_node(one, second.gap, before)
        M = d.mass(first.q, first.p)
        one.equal("momentum", M @ (second.v - v), scale=scales.impulse)
        one.end(advance_coordinates(d, first, one.h, (v + second.v) / 2), second.v)
        one.equal("closure", d.closure(*second.at), scale=scales.time)
        one.equal("rolling", rolling_over(d, first, one.h, (v + second.v) / 2))
        sizes, lam = (scales.gap, scales.impulse), interval.impulse
        one.mpcc.complement("contact", second.gap, lam, scale=sizes, labels=d.contact_names)
        return interval

    def add_ending(self, one: HorizonStep, before: ca.SX) -> Interval:
        """State half of the forces, and that contacts which press are closed and at rest."""
        mpcc, d, last, scales = one.mpcc, one.dynamics, one.start, one.scales
        names, (interval, v) = d.contact_names, self._state_node(one, last.gap, before)
        one.equal("joint_rate", d.closure_matrix(*last.at) @ v + d.closure_drift(*last.at))
        one.equal("rolling", rolling(d, last.at, v))
        lam = interval.impulse
        mpcc.complement("ended", last.gap, lam, scale=(scales.gap, scales.impulse), labels=names)
        if not (last.at_rest and last.drift.is_zero()):  # else rates are zero, and nothing is left
            # A contact at rest on its wall may press here or not. Interior points prefer that it
            # presses if both parts of its rate are free to grow where it does not.
            sizes = find_rate_scales(scales)
            up, down = split_parts(mpcc, "rest", last.gap_rate(v), sizes[0])
            mpcc.complement("rest_up", up, lam, scale=sizes, labels=names)
            mpcc.complement("rest_down", down, lam, scale=sizes, labels=names)
        return replace(interval, at_node=v)

    def _state_node(self, one: HorizonStep, gap: ca.SX, before: ca.SX) -> tuple[Interval, ca.SX]:
        """State the change of momentum at the start of a step; return it with the velocity after.

        The contact impulses there keep the gaps (ng,) closed; ``before`` is the size of the step
        that arrives.
        """
        d, node, after, scales = one.dynamics, one.start, one.h, one.scales
        q, p = node.q, node.p
        v = one.velocity("leaving")
        mu, lam, friction = one.impulses(self.slip_creep)
        h, mean, arrived = (before + after) / 2, (v + node.v) / 2, node.v
        # Slip is that after the node: what sticks stops. A mean of zero would throw it back.
        moving = average_walls_over(d, node, after)
        slip = friction.impulse(
            moving, v, lam, state_touching(one.mpcc, d, node, gap, scales.gap), h
        )

        def add_up(force: Callable[[ca.SX], ca.SX]) -> ca.SX:
            """Return the mean force over h: half a step at each of both velocities."""
            return (before / 2 * force(arrived) + after / 2 * force(v)) / h + node.drive

        loads = ReactionLoads(h, v - arrived, mu, lam, slip)
        balance = Balance.of(
            d,
            average_walls(moving, average_walls_over(d, node, -before)),
            (arrived, v),
            h,
            add_up(lambda u: d.applied(node.t, node.q, u, node.p)),
            Impulses(mu, lam, slip),
            momenta=(
                d.momentum(q, d.twists(q, arrived, -before, p), -before, p),
                d.momentum(q, d.twists(q, v, after, p), after, p),
            ),
            load_work=h * ca.dot(add_up(lambda u: d.external(node.t, node.q, u, node.p)), mean),
            joint_friction=find_joint_friction_at_node(d, node, v, (before, after), loads),
        )
        one.equal("motion", balance.residual, scale=scales.impulse)
        friction.state()
        return replace(
            Interval.of(node, Transition((balance,), node), h),
            # What acts over the step before has acted, what acts over the one after is to come.
            at_node=arrived + before / (before + after) * (v - arrived),
        ), v
