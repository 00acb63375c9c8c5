"""Moreau-Jean: impacts and friction at the velocity level, first order."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import casadi as ca
import numpy as np
from numpy.typing import NDArray

from nsopt.mechanics import Dynamics
from nsopt.mpcc import Mpcc
from nsopt.stepping.friction import Friction
from nsopt.stepping.node import PUSHED, Node, Passage
from nsopt.stepping.scheme import Scales, Scheme, Step, StepStart
from nsopt.stepping.switches import parted, touching
from nsopt.stepping.terms import (
    joint_work,
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

TOUCH = 1e-10
"""Of the clearance, the gap up to which a contact is closed."""

NEAR = 0.1
"""Over a horizon, of the clearance, how near a contact is closed where bodies are brought back to
their walls: at zero what lasts would be at the switch itself, in every step."""

FASTER = 10.0
"""Times the speed of a gap in a step, what rates count as about one over a horizon."""


@dataclass(frozen=True)
class MoreauJean(Scheme):
    """The theta scheme of Moreau and Jean with Newton restitution and Coulomb friction.

    ==============  ==================================================================
    active          gaps with g(q_n) + h/2 W^T v_n <= 0
    motion          M (v_n+1 - v_n) = h K(q_m, v_m) + W lam + T lam_t + C^T mu
    active          0 <= W^T v_n+1 + e W^T v_n _|_ lam >= 0
    ideal joints    C v_n+1 + dPhi/dt = 0
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
    """

    forces_at_end: ClassVar[bool] = False
    order: ClassVar[int] = 1
    rubs: ClassVar[bool] = True
    holds_inputs: ClassVar[bool] = True

    theta: float = 0.5
    project: bool = False

    def __post_init__(self) -> None:
        if not 0.5 <= self.theta <= 1:
            raise ValueError(f"theta must be from 0.5 to 1, got {self.theta}: less is unstable")

    @property
    def sinks(self) -> bool:
        return not self.project

    def add_step(
        self, mpcc: Mpcc, dynamics: Dynamics, start: StepStart, h: ca.SX, scales: Scales
    ) -> Step:
        d, at = dynamics, (start.t, start.q, start.p)
        C, W = d.closure_matrix(*at), d.gap_matrix(*at)
        middle = (start.t + h / 2, d.retract(start.q, h / 2 * start.v), start.p)
        M = d.mass(middle[1], start.p)
        friction = Friction(mpcc, d, scales)
        v = mpcc.variable("v_end", d.nv, guess=start.v)
        mu = mpcc.variable("joint_impulse", C.size1(), scale=scales.impulse)
        friction.add_space()
        lam = mpcc.variable("impulse", W.size2(), scale=scales.impulse)
        friction.add_plane()
        mean = self.theta * v + (1 - self.theta) * start.v
        K = smooth_forces(d, *middle, mean)
        # Not zero: a body at rest must not be let go for a round-off above its floor.
        touch = TOUCH * d.gap_scale(start.p)
        active = d.gap(*at) + h / 2 * (W.T @ start.v) <= touch
        slip = friction.impulse(at, v, lam, active, h)
        T = d.slip_matrix(*at)
        motion = M @ (v - start.v) - h * K - W @ lam - T @ slip - C.T @ mu
        rubbing = h * rub(d, start, at, mean, h, v - start.v, mu, lam * active, slip, h)
        motion -= rubbing
        mpcc.equal("motion", motion, scale=scales.impulse)
        mpcc.equal("joint_rate", C @ v + d.closure_drift(*at))
        friction.state()
        rate = W.T @ v + d.restitution(start.p) * (W.T @ start.v)
        mpcc.complement(
            "contact",
            rate,
            lam,
            scale=(scales.gap / scales.time, scales.impulse),
            labels=d.contact_names,
            active=active,
        )
        mpcc.least_norm(("impulse", "joint_impulse"))
        q = moved(d, start, h, mean)
        end = (start.t + h, q, start.p)
        halfway = (v + start.v) / 2
        loss = -lam * (W.T @ halfway) - friction.by_contact(slip * (T.T @ halfway))
        # As blows the impulses meet the velocity that the other forces lead to.
        met = (start.v + v + ca.solve(metric(M), h * K)) / 2
        turned = (
            h * (smooth_forces(d, *end, v) - K)
            + (d.gap_matrix(*end) - W) @ lam
            + (d.closure_matrix(*end) - C).T @ mu
        )
        touched = same_body(d) @ ca.fabs(W @ lam) > 0
        return Step(
            h=h,
            q=q,
            v=v,
            impulse=lam,
            joint_impulse=mu,
            slip_impulse=slip,
            gap=h * rate * active,
            closure=d.closure(*end),
            motion_residual=motion / h,
            motion_size=momentum_size(M, ca.fabs(v) + ca.fabs(start.v), W, lam, C, mu) / h
            + ca.fabs(K),
            frozen=ca.SX.zeros(lam.numel()),
            loss=loss,
            contact_work=ca.dot(W @ lam + T @ slip, met),
            contact_energy=(kinetic(M, touched * v) + kinetic(M, touched * start.v)) / 2,
            energy_error=ca.sqrt(
                square(M, turned) * (kinetic(M, v) + kinetic(M, start.v) + square(M, h * K))
            ),
            local_error=h / 2 * ca.sqrt(square(M, turned + h * K) * M.size1() / ca.trace(M)),
            work=h * ca.dot(d.external(*middle[:2], mean, start.p), mean) + joint_work(d, at, mu),
            rub_work=ca.dot(rubbing, mean),
        )

    @property
    def _near(self) -> float:
        return NEAR if self.project else 0.0

    def remedy(self, bores: bool) -> str:
        del bores
        return "step by Variational(), whose contacts need no switch"

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
        """State the step, which contacts are active being unknown.

        Active is what the middle of the step would reach at v_n,

            reach = gap(q_n) + h/2 W^T v_n,   0 <= W^T v_n+1 + k/T max(reach, 0) _|_ lam >= 0

        with the mean step T: exactly so below zero, and from 1/k of the way in a step upwards not
        at all. With ``project`` that gap is less by a tenth of the clearance.
        """
        del before
        d, h, v = dynamics, second.t - first.t, second.v
        mu = mpcc.variable("joint_impulse", len(d.closure_names), scale=scales.impulse)
        friction = Friction(mpcc, d, scales)
        friction.add_space()
        push = PUSHED * ca.SX(scales.impulse)
        lam = mpcc.variable("impulse", len(d.contact_names), scale=scales.impulse, guess=push)
        friction.add_plane()
        C, T = d.closure_matrix(*first.at), d.slip_matrix(*first.at)
        off = first.gap - self._near * d.gap_scale(first.p)
        reach = off + h / 2 * (first.W.T @ first.v)
        away, _ = parted(mpcc, "reach", d, reach, off, scales.gap)
        closed = touching(mpcc, d, first, away, scales.gap)
        slip = friction.impulse(first.at, v, lam, closed, h)
        mean = self.theta * v + (1 - self.theta) * first.v
        middle = (first.t + h / 2, d.retract(first.q, h / 2 * first.v), first.p)
        M = d.mass(middle[1], first.p)
        K = smooth_forces(d, *middle, mean) + first.drive
        motion = M @ (v - first.v) - h * K - first.W @ lam - T @ slip - C.T @ mu
        motion -= h * rub(d, first, first.at, mean, h, v - first.v, mu, lam, slip, h)
        mpcc.equal("motion", motion, scale=scales.impulse)
        mpcc.equal("joint_rate", C @ v + d.closure_drift(*first.at))
        friction.state()
        sizes = (FASTER * scales.gap / scales.time, scales.impulse)
        rate = first.W.T @ v + first.sharp / scales.time * away
        mpcc.complement("contact", rate, lam, scale=sizes, labels=d.contact_names)
        self._bring_back(mpcc, d, moved(d, first, h, mean), second, scales)
        halfway = (v + first.v) / 2
        pushes = d.external(*middle[:2], mean, first.p) + first.drive
        loss = -lam * (first.W.T @ halfway) - friction.by_contact(slip * (T.T @ halfway))
        return replace(
            Passage.still(d, first.v, h),
            change=v - first.v,
            impulse=lam,
            joint_impulse=mu,
            slip_impulse=slip,
            loss=loss,
            work=h * ca.dot(pushes, mean),
            share=h,
        )

    def _bring_back(self, mpcc: Mpcc, d: Dynamics, q: ca.SX, second: Node, scales: Scales) -> None:
        """State that a step to q ends at the next node, where joints and gaps are closed again.

        As `add_projection`, but contacts along the gradients at that node.
        """
        contacts = self.project and d.contact_names
        if not contacts and not d.closure_names:
            mpcc.equal("move", second.q - q, scale=scales.time)
            return
        push, C = scales.impulse * scales.time, d.closure_matrix(second.t, q, second.p)
        move = mpcc.variable("brought_back", d.nv, scale=scales.time)
        mu = mpcc.variable("joint_push", C.size1(), scale=push)
        nearest = d.mass(q, second.p) @ move - C.T @ mu
        if contacts:
            lam = mpcc.variable("contact_push", second.gap.numel(), scale=scales.mass * scales.gap)
            nearest -= second.W @ lam
            sizes = (scales.gap, scales.mass * scales.gap)
            mpcc.complement("outside", second.gap, lam, scale=sizes, labels=d.contact_names)
        mpcc.equal("nearest", nearest, scale=push)
        mpcc.equal("move", second.q - d.retract(q, move), scale=scales.time)
        mpcc.equal("closure", d.closure(*second.at), scale=scales.time)

    def add_projection(
        self, mpcc: Mpcc, dynamics: Dynamics, start: StepStart, scales: Scales, step: Step
    ) -> Step:
        d, t, p = dynamics, start.t + step.h, start.p
        contacts = self.project and d.contact_names
        if not contacts and not d.closure_names:
            return step
        C, W, M = d.closure_matrix(t, step.q, p), d.gap_matrix(t, step.q, p), d.mass(step.q, p)
        push = scales.impulse * scales.time
        move = mpcc.variable("move", d.nv, scale=scales.time)
        mu = mpcc.variable("joint_push", C.size1(), scale=push)
        lam = mpcc.variable("contact_push", W.size2() if contacts else 0, scale=push)
        W = W if contacts else ca.SX(d.nv, 0)
        q = d.retract(step.q, move)
        mpcc.equal("nearest", M @ move - W @ lam - C.T @ mu, scale=push)
        mpcc.equal("closure", d.closure(t, q, p), scale=scales.time)
        gap = d.gap(t, q, p) if contacts else step.gap
        if contacts:
            sizes = (scales.gap, push)
            mpcc.complement("contact", gap, lam, scale=sizes, labels=d.contact_names)
        lifted = ca.fabs(ca.dot(d.applied(t, step.q, step.v, p), move))
        return replace(
            step,
            q=q,
            # Judged is the position now; that the impulse met the rate was judged by the solver.
            gap=ca.fmax(gap, 0) * (step.impulse <= 0) + ca.fmin(gap, 0) if contacts else step.gap,
            closure=d.closure(t, q, p),
            energy_error=step.energy_error + lifted,
        )
