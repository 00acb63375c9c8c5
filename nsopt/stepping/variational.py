"""The discrete Euler-Lagrange step: second order, without energy drift, unilateral contacts."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import casadi as ca
import numpy as np
from numpy.typing import NDArray

from nsopt.mechanics import Dynamics
from nsopt.mechanics.checks import between
from nsopt.mpcc import Mpcc
from nsopt.stepping.friction import Friction
from nsopt.stepping.kicks import kicked
from nsopt.stepping.moreau_jean import MoreauJean
from nsopt.stepping.node import Node, Passage
from nsopt.stepping.scheme import Scales, Scheme, Step, StepStart
from nsopt.stepping.switches import vanish
from nsopt.stepping.terms import (
    bend,
    energy_error,
    external_work,
    forced,
    joint_work,
    kick,
    kinetic,
    metric,
    momentum_size,
    moved,
    rub,
    same_body,
    smooth_forces,
    square,
)

Array = NDArray[np.float64]

ARRIVING = 100
"""Times what counts as touching, the way in a step from which a contact still arrives."""

PRESSED = 1e-9
"""Of the typical impulse, what a contact takes at least to count as touching."""

DAMPS = 0.5
"""How far ahead places are from which nothing rattles, see `Scheme.ahead`."""

SAME_SIDE = 0.5
"""Cosine by which a contact may turn in a step and still be one lasting contact."""


@dataclass(frozen=True)
class _Contacts:
    """The contacts of a step as the start of it tells.

    Attributes
    ----------
    closed : SX (ng,), 0 or 1
    lasting : SX (ng,), 0 or 1
        Closed, and headed for the same side of its clearance.
    D : SX (nv, ng)
        Directions of the impulses of the first half: for a lasting contact the gradient of the gap
        at the start, as the discrete Euler-Lagrange equations have it; for others the normal
        where free motion would lead, from where the wall is reached even across the clearance.
    """

    closed: ca.SX
    lasting: ca.SX
    D: ca.SX


@dataclass(frozen=True)
class Variational(Scheme):
    """Half kick, position-level contact, half kick, velocity-level contact.

    The generalised Stoermer-Verlet / RATTLE step of the discrete Euler-Lagrange equations, with
    unilateral constraints. K = Q_A - S holds all smooth forces, dissipative and gyroscopic ones at
    the half-step velocity v_h in both halves, coupled with the impulses; W and C are gradients of
    gaps and joints.

    ==================  ==============================================================
    first half          M v_h = M v_n + h/2 K(q_n, v_h) + D lam + C_n^T mu
    positions           q_n+1 = q_n (+) h v_h,  Phi(q_n+1) = 0
    contact             0 <= gap(q_n+1) _|_ lam >= 0
    second half         M v_n+1 = M v_h + h/2 K(q_n+1, v_h) + W_n+1 lam' + C_n+1^T mu'
    velocities          C_n+1 v_n+1 + dPhi/dt = 0
    contact, closed     0 <= W_n+1^T v_n+1 + e min(W_n+1^T v_n, 0) _|_ lam' >= 0
    ==================  ==============================================================

    Of second order in free motion, with ideal joints and in lasting contact (e = 0), and
    time-reversible there, so energy does not drift. In a step in which a contact closes lam and mu
    only place the bodies: all momentum then changes at once at the velocity level, from v_n and
    both kicks, so that a blow takes energy whatever it jams. Contacts that were closed already
    have e = 0. For a mass matrix that depends on q the velocities before and after
    the move share the momentum, and K holds the rate of M (generalised Stoermer-Verlet).

    Parameters
    ----------
    closed : float
        A contact counts as closed up to this part of its clearance.
    ahead : float, from 0 to 1
        Over a horizon, see `Scheme.ahead`.
    """

    rubs: ClassVar[bool] = True

    closed: float = 1e-8
    ahead: float = 0.0

    def __post_init__(self) -> None:
        between("ahead of Variational", self.ahead, 0.0, 1.0, "0.5 damps what rattles")

    @property
    def fallback(self) -> Scheme:
        return MoreauJean(project=True)

    def add_step(
        self, mpcc: Mpcc, dynamics: Dynamics, start: StepStart, h: ca.SX, scales: Scales
    ) -> Step:
        d, at = dynamics, (start.t, start.q, start.p)
        contacts, C, M = (
            self._contacts(d, start, h),
            d.closure_matrix(*at),
            d.mass(start.q, start.p),
        )
        v = mpcc.variable("v_half", d.nv, guess=start.v)
        after = v if d.constant_mass else mpcc.variable("v_after", d.nv, guess=start.v)
        mu = mpcc.variable("joint_half", C.size1(), scale=scales.impulse)
        friction = Friction(mpcc, d, scales)
        friction.add_space()
        lam = mpcc.variable("contact_half", contacts.D.size2(), scale=scales.impulse)
        friction.add_plane()
        slip = friction.impulse(at, v, lam * contacts.lasting, contacts.lasting, h / 2)
        q = moved(d, start, h, (v + after) / 2)
        end = (start.t + h, q, start.p)
        motion = M @ (v - start.v) - h / 2 * kick(d, *at, v) - contacts.D @ lam - C.T @ mu
        motion -= d.slip_matrix(*at) @ slip
        change = forced(d, at, v - start.v, [(v, h / 2)]) if d.rubbed else v - start.v
        pressing = lam * contacts.lasting
        rubbing = h / 2 * rub(d, start, at, v, h, change, mu, pressing, slip, h / 2)
        motion -= rubbing
        mpcc.equal("motion", motion, scale=scales.impulse)
        if after is not v:
            mpcc.equal("momentum", d.mass(q, start.p) @ after - M @ v, scale=scales.impulse)
        mpcc.equal("closure", d.closure(*end), scale=scales.time)
        friction.state()
        gap = d.gap(*end)
        mpcc.complement(
            "contact",
            gap,
            lam,
            scale=(scales.gap, scales.impulse),
            labels=d.contact_names,
        )
        mpcc.least_norm(("contact_half", "joint_half"))
        size = momentum_size(M, ca.fabs(v) + ca.fabs(start.v), contacts.D, lam, C, mu)
        nothing = ca.SX(0)
        return Step(
            h=h,
            q=q,
            v=after,
            impulse=lam,
            joint_impulse=mu,
            slip_impulse=slip,
            gap=gap,
            closure=d.closure(*end),
            motion_residual=motion / h,
            motion_size=size / h + ca.fabs(kick(d, *at, v)),
            frozen=lam * contacts.lasting,
            loss=ca.SX.zeros(lam.numel()),
            contact_work=nothing,
            contact_energy=nothing,
            energy_error=nothing,
            local_error=nothing,
            work=nothing,
            rub_work=ca.dot(rubbing, v),
        )

    def add_projection(
        self, mpcc: Mpcc, dynamics: Dynamics, start: StepStart, scales: Scales, step: Step
    ) -> Step:
        d, p, h = dynamics, start.p, step.h
        before, at = (start.t, start.q, p), (start.t + h, step.q, p)
        contacts = self._contacts(d, start, h)
        C, W, M = d.closure_matrix(*at), d.gap_matrix(*at), d.mass(step.q, p)
        M_start = d.mass(start.q, p)
        pressed = step.impulse > PRESSED * ca.SX(scales.impulse)
        touching = ca.logic_or(step.gap <= self.closed * d.gap_scale(p), pressed)
        blow = ca.sum1(touching * (1 - contacts.lasting)) > 0
        v = mpcc.variable("v_end", d.nv, guess=step.v)
        mu = mpcc.variable("joint_end", C.size1(), scale=scales.impulse, guess=step.joint_impulse)
        friction = Friction(mpcc, d, scales)
        friction.add_space()
        lam = mpcc.variable("contact_end", W.size2(), scale=scales.impulse, guess=step.impulse)
        friction.add_plane()
        slip = friction.impulse(at, v, lam, touching, h * ca.if_else(blow, 1, 0.5))
        T, T_start = d.slip_matrix(*at), d.slip_matrix(*before)
        kicked = M_start @ start.v + h / 2 * kick(d, *before, start.v)
        momentum = ca.if_else(blow, kicked, M @ step.v)
        u = ca.if_else(blow, start.v, step.v)
        K, frozen = kick(d, *at, u), contacts.lasting * step.impulse * (1 - blow)
        joint, sliding = step.joint_impulse * (1 - blow), step.slip_impulse * (1 - blow)
        motion = M @ v - momentum - h / 2 * K - W @ lam - T @ slip - C.T @ mu
        part = h / 2 * (1 + blow)  # of the step that the impulses are of
        change = v - u
        if d.rubbed:  # after a blow all of v is changed
            change = forced(d, at, change, [(u, part * (1 - blow))])
        rubbing = part * rub(d, start, at, u, h, change, mu, lam, slip, part)
        motion -= rubbing
        mpcc.equal("motion", motion, scale=scales.impulse)
        mpcc.equal("joint_rate", C @ v + d.closure_drift(*at), scale=1.0)
        friction.state()
        bounce = d.restitution(p) * (1 - contacts.closed) * ca.fmin(W.T @ start.v, 0)
        mpcc.complement(
            "contact",
            W.T @ v + bounce,
            lam,
            scale=(scales.gap / scales.time, scales.impulse),
            labels=d.contact_names,
            active=touching,
        )
        mpcc.least_norm(("contact_end", "joint_end"))
        half = step.v if d.constant_mass else ca.solve(metric(M_start), M @ step.v)
        first, second = (start.v + half) / 2, (u + v) / 2
        kicked_at = (ca.if_else(blow, start.v, half), ca.if_else(blow, second, first)), (u, second)
        loss = -frozen * (contacts.D.T @ first) - lam * (W.T @ second)
        loss -= friction.by_contact(sliding * (T_start.T @ first) + slip * (T.T @ second))
        K_start = kick(d, *before, u)
        uneven, bent = h / 2 * (K - K_start), bend(d, start, h, u, K + K_start)
        C_start = d.closure_matrix(*before)
        turned = uneven + (W - contacts.D) @ frozen + (C - C_start).T @ (joint + mu)
        # A blow is placed to first order only, whatever h: it is no reason for smaller steps.
        uneven += (1 - blow) * (W @ lam - contacts.D @ frozen + C.T @ mu - C_start.T @ joint)
        size = momentum_size(M, ca.fabs(v) + ca.fabs(step.v), W, lam, C, mu)
        touched = same_body(d) @ (ca.fabs(contacts.D @ frozen) + ca.fabs(W @ lam)) > 0
        return Step(
            h=h,
            q=step.q,
            v=v,
            impulse=frozen + lam,
            joint_impulse=joint + mu,
            slip_impulse=sliding + slip,
            gap=step.gap,
            closure=step.closure,
            motion_residual=step.motion_residual + motion / h,
            motion_size=step.motion_size + size / h + ca.fabs(K),
            frozen=frozen,
            loss=loss,
            contact_work=-ca.sum1(loss),
            contact_energy=(kinetic(M, touched * v) + kinetic(M, touched * start.v)) / 2,
            energy_error=energy_error(M, M_start, turned, v - start.v, bent, u),
            local_error=h / 6 * ca.sqrt(square(M, uneven) * M.size1() / ca.trace(M)),
            work=external_work(d, start, h, step.q, *kicked_at)
            + joint_work(d, before, joint)
            + joint_work(d, at, mu),
            rub_work=(1 - blow) * step.rub_work + ca.dot(rubbing, u),
        )

    def remedy(self, bores: bool) -> str:
        if not bores or self.ahead >= DAMPS:
            return ""
        return f"let contacts in bores not rattle, Variational(ahead={DAMPS:g})"

    def check_horizon(self, dynamics: Dynamics, p: Array) -> None:
        self.check_no_rebound(dynamics, p)

    def add_interval(
        self,
        mpcc: Mpcc,
        dynamics: Dynamics,
        first: Node,
        second: Node,
        before: ca.SX,
        scales: Scales,
    ) -> Passage:
        """State the discrete Euler-Lagrange equations of a node, and the move to the next.

        Half a kick of the step before, half a kick of the one to come and all impulses act at the
        node at once.
        """
        d, h = dynamics, second.t - first.t
        passage, v = kicked(mpcc, d, first, second.gap, (before, h), scales)
        M, M_end = d.mass(first.q, first.p), d.mass(second.q, second.p)
        mpcc.equal("momentum", M_end @ second.v - M @ v, scale=scales.impulse)
        there = moved(d, first, h, (v + second.v) / 2)
        mpcc.equal("move", second.q - there, scale=scales.time)
        mpcc.equal("closure", d.closure(*second.at), scale=scales.time)
        sizes = (scales.gap, scales.impulse)
        mpcc.complement("contact", second.gap, passage.impulse, scale=sizes, labels=d.contact_names)
        return passage

    def add_ending(
        self, mpcc: Mpcc, dynamics: Dynamics, last: Node, before: ca.SX, scales: Scales
    ) -> Passage:
        """State half a kick, and that contacts which press are closed and at rest."""
        d = dynamics
        passage, v = kicked(mpcc, d, last, last.gap, (before, ca.SX(0)), scales)
        mpcc.equal("joint_rate", d.closure_matrix(*last.at) @ v + d.closure_drift(*last.at))
        lam, names = passage.impulse, d.contact_names
        mpcc.complement("ended", last.gap, lam, scale=(scales.gap, scales.impulse), labels=names)
        speeds = (scales.gap / scales.time, scales.impulse)
        vanish(mpcc, "rest", last.W.T @ v, lam, speeds, names)
        return replace(passage, at_node=v)

    def _contacts(self, d: Dynamics, start: StepStart, h: ca.SX) -> _Contacts:
        at = (start.t, start.q, start.p)
        free = ca.solve(metric(d.mass(start.q, start.p)), smooth_forces(d, *at, start.v))
        there = (start.t + h, d.retract(start.q, h * (start.v + h / 2 * free)), start.p)
        touch = self.closed * d.gap_scale(start.p)
        # What lies on its wall and still approaches is about to hit it.
        arrives = h * (d.gap_matrix(*at).T @ start.v) < -ARRIVING * touch
        closed = (d.gap(*at) <= touch) * (1 - arrives)
        cosine = ca.sum1(d.contact_normals(*at) * d.contact_normals(*there)).T
        lasting = closed * (cosine > SAME_SIDE)
        slope = ca.fmax(d.slope(*there), 1e-6)
        n = closed.numel()
        here = ca.repmat(lasting.T, d.nv, 1)
        ahead = d.gap_matrix(*there) / ca.repmat(slope.T, d.nv, 1) if n else ca.SX(d.nv, 0)
        D = ca.if_else(here, d.gap_matrix(*at), ahead) if n else ca.SX(d.nv, 0)
        return _Contacts(closed, lasting, D)
