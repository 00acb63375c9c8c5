"""Which mechanisms may move by polynomials, and how coordinates follow from velocities."""

from __future__ import annotations

import casadi as ca

from nsopt.mechanics import Dynamics
from nsopt.sampled import TurnEntries


def why_no_accelerations(d: Dynamics) -> str:
    """Return the reason why a mechanism has no independent accelerations; empty if it has."""
    if d.contact_names:
        return f"contact {d.contact_names[0]!r} has no acceleration"
    if d.closure_names:
        return f"joint {d.closure_names[0]!r} is a constraint on the coordinates"
    if d.nonholonomic_names:
        return f"{d.nonholonomic_names[0]!r} is a constraint on velocities"
    if d.internal_names:
        return "internal states of friction are coordinates of another kind"
    return ""


def why_not_by_default(d: Dynamics) -> str:
    """Return why `optimize` does not move a mechanism by polynomials; empty if it does."""
    if reason := why_no_accelerations(d):
        return reason
    if d.nq != d.nv:
        return "free bodies that turn and ball joints have coordinates of another kind"
    return ""


def find_turns(d: Dynamics) -> tuple[TurnEntries, ...]:
    """Return which coordinates and velocities are of rotations of free bodies and ball joints."""
    blocks = d.mechanism.generalized_coordinates.blocks
    return tuple(TurnEntries(x.q, x.v) for x in blocks if x.ball)


def find_move_residual(
    d: Dynamics, q: tuple[ca.SX, ca.SX], moved: ca.SX, v: tuple[ca.SX, ca.SX], h: ca.SX
) -> ca.SX:
    """Return coordinates (nq,) at the end minus those that follow from the start.

    ``q`` and ``v`` are those at start and end, ``moved`` (nv,) integrals of velocities over h [s].
    """
    if d.nq == d.nv:
        return q[1] - q[0] - moved
    parts = [
        # The second term of the Magnus expansion, for an angular velocity that changes linearly.
        moved[x.v] + (h**2 / 12 * ca.cross(v[0][x.v], v[1][x.v]) if x.ball else 0)
        for x in d.mechanism.generalized_coordinates.blocks
    ]
    return q[1] - d.retract(q[0], ca.vertcat(*parts))
