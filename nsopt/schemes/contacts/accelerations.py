"""Accelerations at a state, and the forces of joints and contacts that come with them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import casadi as ca

from nsopt.mechanics import INSTANT, Dynamics
from nsopt.mpcc import Mpcc
from nsopt.schemes.contacts.friction import (
    Friction,
    find_slip,
    measure_slip,
    repeat_by_slip,
    select_drags,
)
from nsopt.schemes.node import Node
from nsopt.schemes.scales import Scales
from nsopt.schemes.terms import ReactionLoads, find_mean_joint_friction, smooth_forces

PRESSING = 1e-7  # of the typical force, that from which on a contact presses, or sticks
UNBOUNDED = 1e6  # of the typical impulse, the bound of impulses and forces that are free


class Accelerations:
    """Accelerations and the forces of joints and contacts at a node, as unknowns.

    First the unknowns, those of friction last; then `state_motion`; then rows of contacts.
    """

    def __init__(
        self, mpcc: Mpcc, d: Dynamics, node: Node, scales: Scales, guess: ca.SX | float = 0.0
    ) -> None:
        self._mpcc, self._d, self._node = mpcc, d, node
        self._force, self._rate = scales.force, scales.force / scales.mass
        # Impulses over one second are forces.
        self._scales = replace(scales, time=1, momentum=0)
        n, names = len(d.multiplier_names), d.contact_names
        self._a = mpcc.variable("acceleration", d.nv, scale=self._rate)
        self._mu = mpcc.variable("joint_force", n, scale=scales.force, multiplier=True)
        self.lam = mpcc.variable("contact_force", len(names), scale=scales.force, guess=guess)
        known = (node.t, node.q, node.v, node.p)
        T = d.slip_matrix(*node.at)
        self._slip_rates = T.T @ self._a + d.slip_bias(*known)  # (ns,) [m/s^2]
        self._gaps = node.W.T @ self._a + d.gap_bias(*known)  # (ng,) [m/s^2]

    @property
    def limit(self) -> ca.SX:
        """The largest friction of each drag, (nd,) [N]."""
        return find_friction_limit(self._d, self._node, self.lam)

    def resist(self, closed: ca.SX, slides: ca.SX) -> tuple[Friction, ca.SX]:
        """Return dry friction by its law, still to be stated, and the forces of all (ns,) [N].

        Drags that slide (nd,), 0 or 1, resist their slip, others its rate. The viscous part acts
        where they are ``closed`` (ng,).
        """
        d, node, friction = self._d, self._node, Friction(self._mpcc, self._d, self._scales)
        friction.add()
        slip = find_slip(d, node.at, node.v)
        size = repeat_by_slip(d, measure_slip(d, slip))
        against = ca.if_else(repeat_by_slip(d, slides), self._rate * slip / size, self._slip_rates)
        dry = friction.impulse(
            node, node.v, self.lam, ca.SX.zeros(closed.numel()), ca.SX(0), against
        )
        return friction, dry - find_viscous_friction(d, node, closed, slip)

    def state_motion(self, slip: ca.SX) -> None:
        """State the equations of motion and of the ideal joints; ``slip`` (ns,) [N] is friction."""
        d, node, mpcc = self._d, self._node, self._mpcc
        t, q, p = node.at
        loads = ReactionLoads(ca.SX(1), self._a, self._mu, self.lam, slip)
        rubbing = find_mean_joint_friction(d, node, node.at, node.v, ca.SX(INSTANT), loads)
        pushed = node.W @ self.lam + d.slip_matrix(*node.at) @ slip
        pushed += d.effort_matrix(*node.at) @ self._mu + rubbing
        motion = d.mass(q, p) @ self._a - smooth_forces(d, t, q, p, node.v) - pushed
        mpcc.equal("acceleration", motion, scale=self._force)
        joints = d.closure_matrix(*node.at) @ self._a + d.closure_bias(t, q, node.v, p)
        scale, redundant = self._rate, d.redundant > 0
        mpcc.equal("joint_acceleration", joints, scale=scale, redundant=redundant)
        rolls = d.nonholonomic_matrix(*node.at) @ self._a + d.nonholonomic_bias(t, q, node.v, p)
        mpcc.equal("rolling_acceleration", rolls, scale=scale)

    def press(self, closed: ca.SX, fall: ca.SX) -> None:
        """State that closed contacts press, or leave with accelerations (ng,) of at least -fall."""
        scale, gaps = (self._rate, self._force), self._gaps + fall
        labels = self._d.contact_names
        self._mpcc.complement("pressing", gaps, self.lam, scale=scale, labels=labels, active=closed)

    def hold(self, pressing: ca.SX) -> None:
        """State that ``pressing`` contacts stay closed by any force, and others have none."""
        sizes, names = (self._force, self._rate), self._d.contact_names
        state_held_gaps(self._mpcc, "held", names, self.lam, self._gaps, pressing, sizes)

    def hold_slip(self, dry: ca.SX, sticking: ca.SX, directions: ca.SX) -> None:
        """State that ``sticking`` drags (nd,) keep their slip by any force, others resist it."""
        sliding = -repeat_by_slip(self._d, self.limit) * directions
        sizes = (self._force, self._rate)
        state_held_slips(
            self._mpcc, "slip_held", self._d, dry, self._slip_rates, sticking, sliding, sizes
        )


def find_friction_limit(d: Dynamics, node: Node, lam: ca.SX) -> ca.SX:
    """Return the largest friction of contacts that press by lam (ng,), (nd,)."""
    return d.drag(node.p) * select_drags(d, d.slope(*node.at) * lam)


def find_viscous_friction(d: Dynamics, node: Node, closed: ca.SX, slip: ca.SX) -> ca.SX:
    """Return the force by which viscous contacts resist a slip (ns,) [m/s], (ns,) [N]."""
    moves = ca.DM([float(not drag.turns) for drag in d.drags])
    return repeat_by_slip(d, select_drags(d, d.viscous(node.p) * closed) * moves) * slip


def state_held_gaps(
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


def state_held_slips(
    mpcc: Mpcc,
    name: str,
    d: Dynamics,
    dry: ca.SX,
    slip: ca.SX,
    sticking: ca.SX,
    sliding: ca.SX,
    scale: tuple[ca.SX, ca.SX],
) -> None:
    """State slip = 0 of drags that are ``sticking`` (nd,), dry = sliding of others, (ns,)."""
    on = repeat_by_slip(d, sticking)
    if not d.slip_contacts:
        return
    middle, bound = (1 - on) * sliding, on * UNBOUNDED * ca.SX(scale[0])
    labels = [d.contact_names[k] for k in d.slip_contacts]
    low, up = middle - bound, middle + bound
    mpcc.box(name, dry, slip, lower=low, upper=up, scale=scale, labels=labels)
