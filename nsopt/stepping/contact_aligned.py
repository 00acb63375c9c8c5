"""Steps that end where a contact closes or opens."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import ClassVar

import casadi as ca
import numpy as np
from numpy.typing import NDArray

from nsopt.mechanics import Dynamics
from nsopt.mpcc import Mpcc
from nsopt.stepping.impact import Impact, NewtonImpact
from nsopt.stepping.node import Node, Passage
from nsopt.stepping.scheme import Scales, Scheme, Step, StepStart
from nsopt.stepping.switches import vanish
from nsopt.stepping.terms import (
    bend,
    energy_error,
    external_work,
    joint_work,
    kick,
    kinetic,
    momentum_size,
    same_body,
    smooth_forces,
    square,
)
from nsopt.stepping.variational import Variational

Array = NDArray[np.float64]

PRESSING = 1e-7
"""Of the typical force, what a contact presses with at least."""

FREE = 1e6
"""Impulses up to this many typical ones are not bounded."""


@dataclass(frozen=True)
class ContactAligned(Scheme):
    """The step size as an unknown: as large as given, unless contact changes before.

    The idea of finite elements with switch detection and state jumps: within a step the set of
    pressing contacts does not change, so a second-order integrator keeps its order across impacts
    and releases. Contacts that press are held like ideal joints by the two halves of `Variational`;
    the end of the step has multipliers of its own, from the accelerations there, so that a contact
    opens where its force is zero. One equation gives h:

    ====================  ===========================================================
    modes, at q_n         0 <= d(W^T v)/dt _|_ lam >= 0 for contacts at rest on their wall
    step                  that of `Variational`, pressing contacts as equations
    end-point forces      M a = K + W lam + C^T mu, d(W^T v)/dt = 0 for pressing contacts
    h                     min(h_given - h, gaps of the others, end-point lam) = 0
    jump, at q_n+1        0 <= W^T v+ + e W^T v- _|_ Lam >= 0, all closed contacts at once,
                          or another `Impact`
    ====================  ===========================================================

    h_min does not apply to a step that ends at such an event. Contacts that meet slower than
    ``v_rest`` do not rebound, which ends the infinite sequences of ever smaller jumps; the record
    says which events were grazing. There is no friction.

    Parameters
    ----------
    v_rest : float [m/s]
        e = 0 below this approach speed.
    closed : float
        A contact counts as closed up to this part of its clearance.
    impact : Impact
        `NewtonImpact` or `PoissonImpact`.
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

    def check(self, dynamics: Dynamics, p: object) -> None:
        del p
        if dynamics.slip_contacts:
            name = dynamics.contact_names[dynamics.slip_contacts[0]]
            raise ValueError(
                f"ContactAligned knows no friction, but contact {name!r} has it: use Variational "
                "or MoreauJean"
            )

    @property
    def fallback(self) -> Scheme:
        return Variational()

    def add_modes(
        self, mpcc: Mpcc, dynamics: Dynamics, start: StepStart, h: ca.SX, scales: Scales
    ) -> StepStart:
        d, at, touch = (
            dynamics,
            (start.t, start.q, start.p),
            self.closed * dynamics.gap_scale(start.p),
        )
        forces = Accelerations(mpcc, d, at, start.v, scales)
        forces.state_motion()
        leaving = h * (d.gap_matrix(*at).T @ start.v)
        forces.press(ca.logic_and(d.gap(*at) <= touch, leaving <= touch))
        return replace(start, modes=forces.lam > PRESSING * scales.force)

    def add_step(
        self, mpcc: Mpcc, dynamics: Dynamics, start: StepStart, h: ca.SX, scales: Scales
    ) -> Step:
        d, at, on = dynamics, (start.t, start.q, start.p), start.modes
        C, W, M = d.closure_matrix(*at), d.gap_matrix(*at), d.mass(start.q, start.p)
        n, nc, given = W.size2(), C.size1(), h
        h = mpcc.variable("step_size", 1, scale=scales.time, guess=given)
        v = mpcc.variable("v_half", d.nv, guess=start.v)
        after = v if d.constant_mass else mpcc.variable("v_after", d.nv, guess=start.v)
        v_end = mpcc.variable("v_end", d.nv, guess=start.v)
        mu, mu_end = (mpcc.variable(x, nc, scale=scales.impulse) for x in ("mu", "mu_end"))
        q = d.retract(start.q, h * (v + after) / 2)
        end = (start.t + h, q, start.p)
        C_end, W_end, M_end = d.closure_matrix(*end), d.gap_matrix(*end), d.mass(q, start.p)

        forces = Accelerations(mpcc, d, end, v_end, scales)
        lam, lam_end = (mpcc.variable(x, n, scale=scales.impulse) for x in ("lam", "lam_end"))
        K, K_end = kick(d, *at, v), kick(d, *end, after)
        first = M @ (v - start.v) - h / 2 * K - W @ lam - C.T @ mu
        second = M_end @ (v_end - after) - h / 2 * K_end - W_end @ lam_end - C_end.T @ mu_end
        mpcc.equal("motion", first, scale=scales.impulse)
        if after is not v:
            mpcc.equal("momentum", M_end @ after - M @ v, scale=scales.impulse)
        mpcc.equal("motion_end", second, scale=scales.impulse)
        mpcc.equal("closure", d.closure(*end), scale=scales.time)
        mpcc.equal("joint_rate", C_end @ v_end + d.closure_drift(*end))
        forces.state_motion()
        forces.hold(on)
        gap, speeds = d.gap(*end), scales.gap / scales.time
        hold(mpcc, "wall", lam, gap, on, (scales.impulse, scales.gap))
        hold(mpcc, "wall_rate", lam_end, W_end.T @ v_end, on, (scales.impulse, speeds))
        mpcc.lowest(
            "event",
            ca.vertcat(given - h, gap, forces.lam),
            scale=ca.vertcat(scales.time, scales.gap, ca.repmat(ca.SX(scales.force), n, 1)),
            active=ca.vertcat(1, 1 - on, on),
            of="step_size",
        )
        uneven = h / 2 * (K_end - K) + W_end @ lam_end - W @ lam + C_end.T @ mu_end - C.T @ mu
        turned = h / 2 * (K_end - K) + (W_end - W) @ lam + (C_end - C).T @ mu
        size = momentum_size(M, ca.fabs(v) + ca.fabs(start.v), W, lam, C, mu)
        loss = -lam * (W.T @ (start.v + v)) / 2 - lam_end * (W_end.T @ (after + v_end)) / 2
        return Step(
            h=h,
            q=q,
            v=v_end,
            impulse=lam + lam_end,
            joint_impulse=mu + mu_end,
            slip_impulse=ca.SX(0, 1),
            gap=gap,
            closure=d.closure(*end),
            motion_residual=(first + second) / h,
            motion_size=size / h + ca.fabs(K) + ca.fabs(K_end),
            frozen=lam,
            loss=loss,
            contact_work=-ca.sum1(loss),
            contact_energy=kinetic(M, start.v) + kinetic(M_end, v_end),
            energy_error=energy_error(
                M_end, M, turned, v_end - start.v, bend(d, start, h, v, K + K_end), v
            ),
            local_error=h / 6 * ca.sqrt(square(M, uneven) * M.size1() / ca.trace(M)),
            work=external_work(d, start, h, q, (v, (start.v + v) / 2), (after, (after + v_end) / 2))
            + joint_work(d, at, mu)
            + joint_work(d, end, mu_end),
            event=ca.if_else(h < given * (1 - 1e-9), 2, 0),
        )

    def check_horizon(self, dynamics: Dynamics, p: Array) -> None:
        self.check(dynamics, p)

    def add_interval(
        self,
        mpcc: Mpcc,
        dynamics: Dynamics,
        first: Node,
        second: Node,
        before: ca.SX,
        scales: Scales,
    ) -> Passage:
        """State the blow at a node and the step to the next, with modes that do not change within.

        What presses in a step is closed at both of its ends and at rest on its wall at the second
        (cross complementarity); nodes find the times of blows where sizes of steps are unknown.
        Inputs and drives are constant over a step.
        """
        del before
        d, h = dynamics, second.t - first.t
        blow, started = self._blow(mpcc, d, first, scales)
        M, M_end = d.mass(first.q, first.p), d.mass(second.q, second.p)
        C, C_end = d.closure_matrix(*first.at), d.closure_matrix(*second.at)
        v = mpcc.variable("v_half", d.nv, guess=first.v)
        after = v if d.constant_mass else mpcc.variable("v_after", d.nv, guess=first.v)
        n, nc = len(d.contact_names), len(d.closure_names)
        mu, mu_end = (mpcc.variable(x, nc, scale=scales.impulse) for x in ("mu", "mu_end"))
        lam, lam_end = (mpcc.variable(x, n, scale=scales.impulse) for x in ("lam", "lam_end"))
        kicks = [kick(d, *first.at, v) + first.drive, kick(d, *second.at, after) + first.drive]
        motion = M @ (v - started) - h / 2 * kicks[0] - first.W @ lam - C.T @ mu
        mpcc.equal("motion", motion, scale=scales.impulse)
        if after is not v:
            mpcc.equal("momentum", M_end @ after - M @ v, scale=scales.impulse)
        motion = M_end @ (second.v - after) - h / 2 * kicks[1]
        motion -= second.W @ lam_end + C_end.T @ mu_end
        mpcc.equal("motion_end", motion, scale=scales.impulse)
        there = d.retract(first.q, h * (v + after) / 2)
        mpcc.equal("move", second.q - there, scale=scales.time)
        mpcc.equal("closure", d.closure(*second.at), scale=scales.time)
        mpcc.equal("joint_rate", C_end @ second.v + d.closure_drift(*second.at))
        sizes, speed = (scales.gap, scales.impulse), scales.gap / scales.time
        pressed, names = lam + lam_end, d.contact_names
        for half, x in (("lam", lam), ("lam_end", lam_end)):
            mpcc.complement(f"closed_before_{half}", first.gap, x, scale=sizes, labels=names)
            mpcc.complement(f"closed_after_{half}", second.gap, x, scale=sizes, labels=names)
        vanish(mpcc, "rest", second.W.T @ second.v, pressed, (speed, scales.impulse), names)
        ends = (first, v, (started + v) / 2), (second, after, (after + second.v) / 2)
        pushes = [ca.dot(d.external(x.t, x.q, u, x.p) + first.drive, mean) for x, u, mean in ends]
        loss = -lam * (first.W.T @ ends[0][2]) - lam_end * (second.W.T @ ends[1][2])
        return replace(
            blow,
            change=second.v - started,
            impulse=pressed,
            joint_impulse=mu + mu_end,
            loss=loss,
            work=h / 2 * (pushes[0] + pushes[1]),
            h=h,
            share=h,
        )

    def add_ending(
        self, mpcc: Mpcc, dynamics: Dynamics, last: Node, before: ca.SX, scales: Scales
    ) -> Passage:
        return replace(self._blow(mpcc, dynamics, last, scales)[0], h=before)

    def _blow(self, mpcc: Mpcc, d: Dynamics, node: Node, scales: Scales) -> tuple[Passage, ca.SX]:
        """State how velocities jump at a node; return it with the velocity after."""
        jump = self.impact.add_at(mpcc, d, node, scales)
        loss = -jump.impulse * (node.W.T @ (jump.v + node.v)) / 2
        still = Passage.still(d, jump.v, ca.SX(0))
        return replace(still, blow=jump.impulse, blow_loss=loss), jump.v

    def add_projection(
        self, mpcc: Mpcc, dynamics: Dynamics, start: StepStart, scales: Scales, step: Step
    ) -> Step:
        d, p = dynamics, start.p
        at = (start.t + step.h, step.q, p)
        W, M = d.gap_matrix(*at), d.mass(step.q, p)
        touching = step.gap <= self.closed * d.gap_scale(p)
        fast = (W.T @ step.v < -self.v_rest) * (1 - start.modes)
        e = d.restitution(p) * fast
        met = touching * (1 - start.modes) * (step.event > 0)
        closing = ca.if_else(
            ca.sum1(met * fast) > 0, 1, ca.if_else(ca.sum1(met) > 0, 3, step.event)
        )
        jump = self.impact.add(mpcc, d, at, step.v, touching, e, scales)
        loss = step.loss - jump.impulse * (W.T @ (jump.v + step.v)) / 2
        touched = same_body(d) @ ca.fabs(W @ (jump.impulse + step.impulse)) > 0
        size = ca.fabs(M) @ (ca.fabs(jump.v) + ca.fabs(step.v))
        return replace(
            step,
            v=jump.v,
            impulse=step.impulse + jump.impulse,
            joint_impulse=step.joint_impulse + jump.joint_impulse,
            motion_residual=step.motion_residual + jump.residual / step.h,
            motion_size=step.motion_size + size / step.h,
            loss=loss,
            contact_work=-ca.sum1(loss),
            contact_energy=(kinetic(M, touched * start.v) + kinetic(M, touched * step.v)) / 2,
            event=closing,
        )


class Accelerations:
    """Accelerations and the forces of joints and contacts at a state, as unknowns.

    Attributes
    ----------
    lam : SX (ng,) [N]
    """

    def __init__(
        self, mpcc: Mpcc, d: Dynamics, at: tuple[ca.SX, ca.SX, ca.SX], v: ca.SX, scales: Scales
    ) -> None:
        C, W = d.closure_matrix(*at), d.gap_matrix(*at)
        self._mpcc, self._force, self._rate = mpcc, scales.force, scales.force / scales.mass
        self._a = mpcc.variable("acceleration", d.nv, scale=self._rate)
        mu = mpcc.variable("joint_force", C.size1(), scale=scales.force)
        self.lam = mpcc.variable("contact_force", W.size2(), scale=scales.force)
        K, M = smooth_forces(d, *at, v), d.mass(at[1], at[2])
        self._motion = M @ self._a - K - W @ self.lam - C.T @ mu
        self._joints = C @ self._a + d.closure_bias(at[0], at[1], v, at[2])
        self._gaps = W.T @ self._a + d.gap_bias(at[0], at[1], v, at[2])

    def state_motion(self) -> None:
        """State the equations of motion and of the ideal joints."""
        self._mpcc.equal("acceleration", self._motion, scale=self._force)
        self._mpcc.equal("joint_acceleration", self._joints, scale=self._rate)

    def press(self, closed: ca.SX) -> None:
        """State that closed contacts press or leave."""
        scale = (self._rate, self._force)
        self._mpcc.complement("pressing", self._gaps, self.lam, scale=scale, active=closed)

    def hold(self, on: ca.SX) -> None:
        """State that contacts ``on`` stay closed, whatever force that takes, and others free."""
        hold(self._mpcc, "held", self.lam, self._gaps, on, (self._force, self._rate))


def hold(
    mpcc: Mpcc, name: str, lam: ca.SX, gap: ca.SX, on: ca.SX, scale: tuple[ca.SX, ca.SX]
) -> None:
    """State gap = 0 where ``on``, lam = 0 elsewhere."""
    bound = on * FREE * ca.SX(scale[0])
    mpcc.box(name, lam, gap, lower=-bound, upper=bound, scale=scale)
