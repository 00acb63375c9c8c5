"""The contacts of a step of `Variational`: which are closed, and which of these last."""

from __future__ import annotations

from dataclasses import dataclass

import casadi as ca

from nsopt.mechanics import Dynamics
from nsopt.schemes.node import Node
from nsopt.schemes.terms import smooth_forces, solve_mass

ARRIVING = 100
"""Times what counts as touching, the way in a step from which a contact still arrives."""

SAME_SIDE = 0.5  # cosine by which a contact may turn in a step and still be one lasting contact


@dataclass(frozen=True)
class StepContacts:
    """The contacts of a step as the start of it tells.

    Lasting ones are closed, and headed for the same side of their clearance. D are directions of
    the impulses of the first half: for a lasting contact the gradient of the gap at the start, as
    the discrete Euler-Lagrange equations have it; for others the normal where free motion would
    lead, from where the wall is reached even across the clearance.
    """

    closed: ca.SX  # (ng,), 0 or 1
    lasting: ca.SX  # (ng,), 0 or 1
    D: ca.SX  # (nv, ng)


def contacts_of_step(d: Dynamics, start: Node, h: ca.SX, closed: float) -> StepContacts:
    """Return the contacts of a step of h; closed up to that part of their typical opening."""
    if start.gap.numel() == 0:
        return StepContacts(ca.SX(0, 1), ca.SX(0, 1), ca.SX(d.nv, 0))
    at, forces = start.at, smooth_forces(d, *start.at, start.v)
    free = solve_mass(d.mass(start.q, start.p), forces)
    there = (start.t + h, d.retract(start.q, h * (start.v + h / 2 * free)), start.p)
    touch = closed * d.gap_scale(start.p)
    # What lies on its wall and still approaches is about to hit it.
    arrives = h * start.gap_rate(start.v) < -ARRIVING * touch
    shut = (start.gap <= touch) * (1 - arrives)
    cosine = ca.sum1(d.contact_normals(*at) * d.contact_normals(*there)).T
    lasting = shut * (cosine > SAME_SIDE)
    slope = ca.fmax(d.slope(*there), 1e-6)
    normals = d.gap_matrix(*there) / ca.repmat(slope.T, d.nv, 1)
    D = ca.if_else(ca.repmat(lasting.T, d.nv, 1), start.W, normals)
    return StepContacts(shut, lasting, D)
