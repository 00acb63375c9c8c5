"""Laws of impact: how velocities jump when contacts close."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass

import casadi as ca

from nsopt.schemes.balance import Balance, Impulses
from nsopt.schemes.modes import ContactModes, rate_sizes
from nsopt.schemes.node import Node


class Impact(ABC):
    """A law of frictionless impact of all closed contacts at once."""

    @abstractmethod
    def state(self, modes: ContactModes, node: Node, restitution: ca.SX) -> Balance:
        """State the jump of the velocity at a node; return it as a balance of momentum.

        Parameters
        ----------
        modes : ContactModes
            Contacts that take part, and the program.
        node : Node
            Before the impact.
        restitution : SX (ng,)
            e of each contact.
        """


@dataclass(frozen=True)
class NewtonImpact(Impact):
    """Newton's law: 0 <= dg(v+) + e dg(v-) _|_ Lam >= 0, dg(v) = W^T v + dg/dt.

    With several contacts at once, or e that differ, energy may be gained.
    """

    def state(self, modes: ContactModes, node: Node, restitution: ca.SX) -> Balance:
        phase = _Phase(modes, node, "impact")
        lam = phase.impulse("impact")
        jump = phase.state(node.v, lam)
        modes.press("rebound", node.gap_rate(jump.after) + restitution * node.gap_rate(node.v), lam)
        modes.mpcc.least_norm(("impact", "joint_impact"))
        return jump


@dataclass(frozen=True)
class PoissonImpact(Impact):
    """Poisson's law: compression without rebound, then e times its impulses given back.

    0 <= dg(v_c) _|_ Lam_c >= 0, then 0 <= dg(v+) _|_ Lam_x >= 0 for what is needed beyond e Lam_c
    so that nothing penetrates, with the rate of the gaps dg(v) = W^T v + dg/dt.
    """

    def state(self, modes: ContactModes, node: Node, restitution: ca.SX) -> Balance:
        compression, expansion = (_Phase(modes, node, x) for x in ("compression", "expansion"))
        lam, more = compression.impulse("compression"), expansion.impulse("expansion")
        first = compression.state(node.v, lam)
        second = expansion.state(first.after, restitution * lam + more)
        approach = modes.press("compressed", node.gap_rate(first.after), lam)
        modes.press("expanded", node.gap_rate(second.after), more)
        if approach is not None:  # that must be compressed before it is given more
            sizes, labels = rate_sizes(modes.scales), modes.dynamics.contact_names
            modes.mpcc.complement("approaching", approach, more, scale=sizes, labels=labels)
        names = ("compression", "expansion", "joint_compression", "joint_expansion")
        modes.mpcc.least_norm(names)
        return first + second


class _Phase:
    """A phase of an impact: its unknowns, then its balance."""

    def __init__(self, modes: ContactModes, node: Node, name: str) -> None:
        self._modes, self._node, self._name = modes, node, name
        d, mpcc, size = modes.dynamics, modes.mpcc, modes.scales.impulse
        self._v = mpcc.variable(f"v_{name}", d.nv, guess=node.v)
        self._mu = mpcc.variable(f"joint_{name}", len(d.closure_names), scale=size)

    def impulse(self, name: str) -> ca.SX:
        """Add impulses of the contacts, (ng,) [N s]."""
        d, size = self._modes.dynamics, self._modes.scales.impulse
        return self._modes.mpcc.variable(name, len(d.contact_names), scale=size)

    def state(self, before: ca.SX, lam: ca.SX) -> Balance:
        """State how impulses change the velocity ``before``, and that joints hold."""
        d, node, mpcc = self._modes.dynamics, self._node, self._modes.mpcc
        none, slip = ca.SX(d.nv, 1), ca.SX.zeros(len(d.slip_contacts))
        impulses = Impulses(self._mu, lam, slip)
        jump = Balance.of(d, node, (before, self._v), ca.SX(0), none, impulses)
        mpcc.equal(f"{self._name}_motion", jump.residual, scale=self._modes.scales.impulse)
        rate = jump.C @ self._v + d.closure_drift(*node.at)
        mpcc.equal(f"{self._name}_joint_rate", rate)
        return jump
