"""Laws of impact: how velocities jump when contacts close."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import NamedTuple

import casadi as ca

from nsopt.mechanics import Dynamics
from nsopt.mpcc import Mpcc
from nsopt.stepping.node import Node
from nsopt.stepping.scheme import Scales
from nsopt.stepping.switches import vanish

At = tuple[ca.SX, ca.SX, ca.SX]  # t, q, p


class Jump(NamedTuple):
    """What an impact leads to."""

    v: ca.SX  # (nv,)
    impulse: ca.SX  # (ng,) [N s]
    joint_impulse: ca.SX  # (nc,)
    residual: ca.SX  # (nv,) [N s, N m s]


class Impact(ABC):
    """A law of frictionless impact of all closed contacts at once."""

    @abstractmethod
    def add(
        self,
        mpcc: Mpcc,
        dynamics: Dynamics,
        at: At,
        v: ca.SX,
        closed: ca.SX,
        restitution: ca.SX,
        scales: Scales,
    ) -> Jump:
        """State the jump from velocity ``v`` on a square program.

        Parameters
        ----------
        mpcc : Mpcc
        dynamics : Dynamics
        at : t, q, p
        v : SX (nv,)
            Before the impact.
        closed : SX (ng,), 0 or 1
            Contacts that take part.
        restitution : SX (ng,)
            e of each.
        scales : Scales
        """

    @abstractmethod
    def add_at(self, mpcc: Mpcc, dynamics: Dynamics, node: Node, scales: Scales) -> Jump:
        """State the jump at a node of a horizon, which contacts take part being unknown.

        Parameters
        ----------
        mpcc : Mpcc
        dynamics : Dynamics
        node : Node
        scales : Scales
        """


@dataclass(frozen=True)
class NewtonImpact(Impact):
    """Newton's law: 0 <= W^T v+ + e W^T v- _|_ Lam >= 0.

    With several contacts at once, or e that differ, energy may be gained.
    """

    def add(
        self,
        mpcc: Mpcc,
        dynamics: Dynamics,
        at: At,
        v: ca.SX,
        closed: ca.SX,
        restitution: ca.SX,
        scales: Scales,
    ) -> Jump:
        d = dynamics
        C, W, M = d.closure_matrix(*at), d.gap_matrix(*at), d.mass(at[1], at[2])
        after = mpcc.variable("v_jump", d.nv, guess=v)
        mu = mpcc.variable("joint_blow", C.size1(), scale=scales.impulse)
        lam = mpcc.variable("blow", W.size2(), scale=scales.impulse)
        jump = M @ (after - v) - W @ lam - C.T @ mu
        mpcc.equal("jump", jump, scale=scales.impulse)
        mpcc.equal("joint_rate", C @ after + d.closure_drift(*at))
        _meet(mpcc, "contact", d, W.T @ after + restitution * (W.T @ v), lam, closed, scales)
        mpcc.least_norm(("blow", "joint_blow"))
        return Jump(after, lam, mu, jump)

    def add_at(self, mpcc: Mpcc, dynamics: Dynamics, node: Node, scales: Scales) -> Jump:
        """State W^T v+ + e W^T v- = 0 where there is an impulse."""
        d = dynamics
        v = mpcc.variable("v_jump", d.nv, guess=node.v)
        mu = mpcc.variable("joint_blow", len(d.closure_names), scale=scales.impulse)
        lam = mpcc.variable("blow", len(d.contact_names), scale=scales.impulse)
        C = d.closure_matrix(*node.at)
        jump = d.mass(node.q, node.p) @ (v - node.v) - node.W @ lam - C.T @ mu
        mpcc.equal("jump", jump, scale=scales.impulse)
        mpcc.equal("blow_rate", C @ v + d.closure_drift(*node.at))
        _strike(mpcc, "struck", d, node, lam, scales)
        rebound = node.W.T @ v + d.restitution(node.p) * (node.W.T @ node.v)
        vanish(mpcc, "rebound", rebound, lam, _sizes(scales), d.contact_names)
        return Jump(v, lam, mu, jump)


@dataclass(frozen=True)
class PoissonImpact(Impact):
    """Poisson's law: compression without rebound, then e times its impulses given back.

    0 <= W^T v_c _|_ Lam_c >= 0, then 0 <= W^T v+ _|_ Lam_x >= 0 for what is needed beyond e Lam_c
    so that nothing penetrates.
    """

    def add(
        self,
        mpcc: Mpcc,
        dynamics: Dynamics,
        at: At,
        v: ca.SX,
        closed: ca.SX,
        restitution: ca.SX,
        scales: Scales,
    ) -> Jump:
        d = dynamics
        C, W, M = d.closure_matrix(*at), d.gap_matrix(*at), d.mass(at[1], at[2])
        n, nc, size = W.size2(), C.size1(), scales.impulse
        middle, mu_c = (
            mpcc.variable("v_middle", d.nv, guess=v),
            mpcc.variable("mu_c", nc, scale=size),
        )
        after, mu = mpcc.variable("v_jump", d.nv, guess=v), mpcc.variable("mu", nc, scale=size)
        lam_c, extra = (mpcc.variable(x, n, scale=size) for x in ("compression", "extra"))
        compression = M @ (middle - v) - W @ lam_c - C.T @ mu_c
        expansion = M @ (after - middle) - W @ (restitution * lam_c + extra) - C.T @ mu
        for name, rows, speed in (("first", compression, middle), ("second", expansion, after)):
            mpcc.equal(f"{name}_jump", rows, scale=size)
            mpcc.equal(f"{name}_rate", C @ speed + d.closure_drift(*at))
        _meet(mpcc, "compressed", d, W.T @ middle, lam_c, closed, scales)
        _meet(mpcc, "expanded", d, W.T @ after, extra, closed, scales)
        mpcc.least_norm(("compression", "extra", "mu_c", "mu"))
        blow = (1 + restitution) * lam_c + extra
        return Jump(after, blow, mu_c + mu, compression + expansion)

    def add_at(self, mpcc: Mpcc, dynamics: Dynamics, node: Node, scales: Scales) -> Jump:
        """State both phases; what approaches must be compressed before it is given more."""
        d, size, names = dynamics, scales.impulse, dynamics.contact_names
        n, nc = len(names), len(d.closure_names)
        middle, after = (mpcc.variable(x, d.nv, guess=node.v) for x in ("v_middle", "v_jump"))
        mu_c, mu = (mpcc.variable(x, nc, scale=size) for x in ("mu_c", "mu_x"))
        lam_c, extra = (mpcc.variable(x, n, scale=size) for x in ("compression", "extra"))
        M, C, W = d.mass(node.q, node.p), d.closure_matrix(*node.at), node.W
        given = d.restitution(node.p) * lam_c + extra
        compression = M @ (middle - node.v) - W @ lam_c - C.T @ mu_c
        expansion = M @ (after - middle) - W @ given - C.T @ mu
        for name, rows, speed in (("first", compression, middle), ("second", expansion, after)):
            mpcc.equal(f"{name}_jump", rows, scale=size)
            mpcc.equal(f"{name}_rate", C @ speed + d.closure_drift(*node.at))
        _strike(mpcc, "struck", d, node, lam_c, scales)
        _strike(mpcc, "struck_again", d, node, extra, scales)
        approach = vanish(mpcc, "compressed", W.T @ middle, lam_c, _sizes(scales), names)
        vanish(mpcc, "expanded", W.T @ after, extra, _sizes(scales), names)
        mpcc.complement("approaching", approach, extra, scale=_sizes(scales), labels=names)
        return Jump(after, lam_c + given, mu_c + mu, compression + expansion)


def _meet(
    mpcc: Mpcc, name: str, d: Dynamics, rate: ca.SX, lam: ca.SX, closed: ca.SX, scales: Scales
) -> None:
    names = d.contact_names
    mpcc.complement(name, rate, lam, scale=_sizes(scales), labels=names, active=closed)


def _strike(mpcc: Mpcc, name: str, d: Dynamics, node: Node, lam: ca.SX, scales: Scales) -> None:
    sizes = (scales.gap, scales.impulse)
    mpcc.complement(name, node.gap, lam, scale=sizes, labels=d.contact_names)


def _sizes(scales: Scales) -> tuple[ca.SX, ca.SX]:
    return scales.gap / scales.time, scales.impulse
