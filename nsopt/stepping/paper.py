"""The time step of [NLP-clearance 2024]: a nonlinear program whose step size is a variable."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import ClassVar, NamedTuple

import casadi as ca
import numpy as np

from nsopt.mechanics import Dynamics
from nsopt.mpcc import Mpcc
from nsopt.stepping.node import PUSHED, Node, Passage
from nsopt.stepping.scheme import Array, Scales, Scheme, Step, StepStart
from nsopt.stepping.terms import (
    joint_work,
    kinetic,
    momentum_size,
    same_body,
    smooth_forces,
    square,
)


class _End(NamedTuple):
    """End of a step: time, coordinates, the rate that led there."""

    t: ca.SX
    q: ca.SX
    h: ca.SX
    v: ca.SX


class Closure(ABC):
    """Where gaps and ideal joints of a step are evaluated."""

    @abstractmethod
    def gap(self, dynamics: Dynamics, start: StepStart, end: _End) -> ca.SX:
        """Return the gaps at the end of the step, shape (ng,) [m]."""

    @abstractmethod
    def joints(self, dynamics: Dynamics, start: StepStart | Node, end: _End) -> ca.SX:
        """Return the residuals of the ideal joints at the end of the step, shape (nc,)."""

    @abstractmethod
    def gap_between(
        self, mpcc: Mpcc, dynamics: Dynamics, first: Node, second: Node, scale: ca.SX
    ) -> ca.SX:
        """Return as `gap` those of a step between two nodes; state what they need beside.

        ``scale`` [m] is the size of gaps.
        """


@dataclass(frozen=True)
class TrueClosure(Closure):
    """Gaps and joints at the coordinates that are stored: what is reported is what was solved."""

    def gap(self, dynamics: Dynamics, start: StepStart, end: _End) -> ca.SX:
        return dynamics.gap(end.t, end.q, start.p)

    def joints(self, dynamics: Dynamics, start: StepStart | Node, end: _End) -> ca.SX:
        return dynamics.closure(end.t, end.q, start.p)

    def gap_between(
        self, mpcc: Mpcc, dynamics: Dynamics, first: Node, second: Node, scale: ca.SX
    ) -> ca.SX:
        del mpcc, dynamics, first, scale
        return second.gap


@dataclass(frozen=True)
class LinearisedClosure(Closure):
    """Gaps and joints linearised at the start of the step, as printed (eqs. 23, 24).

    The true gap is then missed by about L (w h)^2 / 2. Near the axis of a pin the linearised gap
    has next to no gradient and would let the motion through the wall: where the true gap ends
    further outside than ``trust`` times the clearance, it is taken instead.

    Parameters
    ----------
    trust : float
    """

    trust: float = 0.5

    def gap(self, dynamics: Dynamics, start: StepStart, end: _End) -> ca.SX:
        at = (start.t, start.q, start.p)
        linear = dynamics.gap(*at) + end.h * dynamics.gap_matrix(*at).T @ end.v
        true = dynamics.gap(end.t, end.q, start.p)
        outside = true < -self.trust * dynamics.gap_scale(start.p)
        return ca.if_else(outside, true, linear)

    def joints(self, dynamics: Dynamics, start: StepStart | Node, end: _End) -> ca.SX:
        at = (start.t, start.q, start.p)
        rate = dynamics.closure_matrix(*at) @ end.v + dynamics.closure_drift(*at)
        return dynamics.closure(*at) + end.h * rate

    def gap_between(
        self, mpcc: Mpcc, dynamics: Dynamics, first: Node, second: Node, scale: ca.SX
    ) -> ca.SX:
        """State what a switch to the true gap comes to: none ends further outside than trusted."""
        least = -self.trust * dynamics.gap_scale(first.p)
        mpcc.less("trusted", least - second.gap, scale=scale)
        return first.gap + (second.t - first.t) * first.W.T @ second.v


@dataclass(frozen=True)
class PaperStep(Scheme):
    """NLP (25) for contacts, (31) for ideal joints, both at once.

    Variables are h, the impulses h lambda of contacts and ideal joints, and qdot_n; the multiplier
    of the Euler-parameter norm (14) does not enter the equations of motion (G(p) p = 0) and is no
    variable. With K = Q_A - S (eq. 26) at q_n-1 and the mean velocity of the step:

    ==============================  ====================================================
    objective (17-19)               |vdot - M^-1 K|_M^2, less ``growth`` times h / h_max
    equations of motion (22, 26)    M (v_n - v_n-1) - h K - W lam - C^T mu = 0
    norm of Euler parameters (23)   p.p - 1 + 2 h p.pdot_n = 0
    ideal joints                    Phi(q_n) = 0
    complementarity (16, 24)        0 <= gap(q_n), lam >= 0, gap lam = 0
    step size                       h_min <= h <= h_max
    ==============================  ====================================================

    with q_n = q_n-1 + h qdot_n, p_n renormalised, and v_n = (rdot_n, 2 G(p_n-1) pdot_n). Gaps are
    >= 0 when open and W is their gradient at q_n-1, the papers' -D.

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
    """

    chooses_h: ClassVar[bool] = True
    holds_inputs: ClassVar[bool] = True
    forces_at_end: ClassVar[bool] = False

    closure: Closure = field(default_factory=TrueClosure)
    renormalise: bool = True
    explicit: bool = False
    growth: float = 1e-5

    def check(self, dynamics: Dynamics, p: Array) -> None:
        for law in ("restitution", "friction", "viscous"):
            numbers = np.asarray(getattr(dynamics, law)(p)).ravel()
            for name, number in zip(dynamics.contact_names, numbers, strict=True):
                if number:
                    raise ValueError(
                        f"PaperStep knows no restitution and no friction, but {law} of contact "
                        f"{name!r} is {number:g}: use Variational or MoreauJean"
                    )

    def add_step(
        self, mpcc: Mpcc, dynamics: Dynamics, start: StepStart, h: ca.SX, scales: Scales
    ) -> Step:
        at = (start.t, start.q, start.p)
        C, W = dynamics.closure_matrix(*at), dynamics.gap_matrix(*at)
        lam = mpcc.variable("impulse", W.size2(), scale=scales.impulse)
        mu = mpcc.variable("joint_impulse", C.size1(), scale=scales.impulse)
        qdot = mpcc.variable("qdot", dynamics.nq)
        v = dynamics.velocity(start.q, qdot)
        q = start.q + h * qdot
        if self.renormalise:
            q = dynamics.renormalise(q)
        end = _End(start.t + h, q, h, v)

        M = dynamics.mass(start.q, start.p)
        mean = (v + start.v) / 2
        taken = start.v if self.explicit else mean
        K = smooth_forces(dynamics, *at, taken)
        motion = M @ (v - start.v) - h * K - W @ lam - C.T @ mu
        gap = self.closure.gap(dynamics, start, end)
        mpcc.equal("motion", motion, scale=scales.impulse)
        mpcc.equal("norm", self._norm(dynamics, start, h, qdot), scale=scales.time)
        joints = self.closure.joints(dynamics, start, end)
        mpcc.equal("closure", joints, scale=scales.time)
        mpcc.complement(
            "contact",
            gap,
            lam,
            scale=(scales.gap, scales.impulse),
            labels=dynamics.contact_names,
        )
        mpcc.least_norm(("impulse", "joint_impulse"))
        mpcc.minimize(_gauss(M, (W @ lam + C.T @ mu) / h, scales))
        mpcc.minimize(-self.growth * h / scales.time)
        turned = self._turned(dynamics, end, start, h * K + W @ lam + C.T @ mu, lam, mu)
        error = (ca.fabs(ca.dot(turned, mean)) + h * ca.fabs(ca.dot(K, v - start.v))) / 2
        touched = same_body(dynamics) @ ca.fabs(W @ lam) > 0
        return Step(
            h=h,
            q=q,
            v=v,
            impulse=lam,
            joint_impulse=mu,
            slip_impulse=ca.SX.zeros(len(dynamics.slip_contacts)),
            gap=gap,
            closure=joints,
            motion_residual=motion / h,
            motion_size=momentum_size(M, ca.fabs(v) + ca.fabs(start.v), W, lam, C, mu) / h
            + ca.fabs(K),
            frozen=lam,
            loss=-lam * (W.T @ mean),
            contact_work=ca.dot(W @ lam, mean),
            contact_energy=(kinetic(M, touched * v) + kinetic(M, touched * start.v)) / 2,
            energy_error=error,
            local_error=ca.SX(0),
            work=h * ca.dot(dynamics.external(*at[:2], taken, start.p), mean)
            + joint_work(dynamics, at, mu),
        )

    def check_horizon(self, dynamics: Dynamics, p: Array) -> None:
        self.check_no_rebound(dynamics, p)
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
        """State the step; how long it is comes from the horizon, not from Gauss' principle."""
        del before
        d, h = dynamics, second.t - first.t
        v, end = second.v, _End(second.t, second.q, h, second.v)
        qdot = mpcc.variable("qdot", d.nq, guess=d.rate_matrix(first.q) @ first.v)
        push = PUSHED * ca.SX(scales.impulse)
        lam = mpcc.variable("impulse", len(d.contact_names), scale=scales.impulse, guess=push)
        mu = mpcc.variable("joint_impulse", len(d.closure_names), scale=scales.impulse)
        M, C = d.mass(first.q, first.p), d.closure_matrix(*first.at)
        mean = (v + first.v) / 2
        taken = first.v if self.explicit else mean
        K = smooth_forces(d, *first.at, taken) + first.drive
        motion = M @ (v - first.v) - h * K - first.W @ lam - C.T @ mu
        mpcc.equal("motion", motion, scale=scales.impulse)
        mpcc.equal("rate", d.velocity(first.q, qdot) - v)
        mpcc.equal("norm", self._norm(d, first, h, qdot), scale=scales.time)
        there = first.q + h * qdot
        there = d.renormalise(there) if self.renormalise else there
        mpcc.equal("move", second.q - there, scale=scales.time)
        mpcc.equal("closure", self.closure.joints(d, first, end), scale=scales.time)
        gap, sizes = (
            self.closure.gap_between(mpcc, d, first, second, scales.gap),
            (scales.gap, scales.impulse),
        )
        mpcc.complement("contact", gap, lam, scale=sizes, labels=d.contact_names)
        pushes = d.external(first.t, first.q, taken, first.p) + first.drive
        loss = -lam * (first.W.T @ mean)
        return replace(
            Passage.still(d, first.v, h),
            change=v - first.v,
            impulse=lam,
            joint_impulse=mu,
            loss=loss,
            work=h * ca.dot(pushes, mean),
            share=h,
        )

    def guess(self, dynamics: Dynamics, q: Array, v: Array, h: float) -> Mapping[str, Array]:
        return {"h": np.array([h]), "qdot": np.asarray(dynamics.rate_matrix(q) @ v).ravel()}

    def _turned(
        self, d: Dynamics, end: _End, start: StepStart, impulse: ca.SX, lam: ca.SX, mu: ca.SX
    ) -> ca.SX:
        """Return the generalized impulse with all directions taken at the end, less ``impulse``."""
        at = (end.t, end.q, start.p)
        smooth = end.h * smooth_forces(d, *at, end.v)
        return smooth + d.gap_matrix(*at) @ lam + d.closure_matrix(*at).T @ mu - impulse

    def _norm(self, dynamics: Dynamics, start: StepStart | Node, h: ca.SX, qdot: ca.SX) -> ca.SX:
        """Return eq. 23: the linearised norm of the Euler parameters at the end, less one."""
        norms = dynamics.norms(start.q)
        return norms - 1 + h * ca.jtimes(norms, start.q, qdot)


def _gauss(M: ca.SX, force: ca.SX, scales: Scales) -> ca.SX:
    """Return Gauss' constraint, made about one: |vdot - M^-1 K|_M^2 = F.M^-1 F.

    F are the forces of contacts and joints (eqs. 17-19). Where a body has no mass, the forces on it
    are measured by the mass of the mechanism.
    """
    size = scales.force**2 / scales.mass
    return square(M, force) / ca.SX(size)
