"""Coordinates moved by integrals of velocities, rotations among them."""

from __future__ import annotations

import casadi as ca

from nsopt.mechanics import Dynamics
from nsopt.sampled import TurnEntries


def find_turns(d: Dynamics) -> tuple[TurnEntries, ...]:
    """Return where rotations of free bodies and ball joints are in coordinates and velocities."""
    blocks = d.mechanism.generalized_coordinates.blocks
    return tuple(TurnEntries(x.q, x.v) for x in blocks if x.ball)


def find_move_residual(
    d: Dynamics, q: tuple[ca.SX, ca.SX], moved: ca.SX, v: tuple[ca.SX, ca.SX], h: ca.SX
) -> ca.SX:
    """Return coordinates at the end minus those that the start comes to over h, (nq,).

    ``q`` and ``v`` are given at start and end; ``moved`` (nv,) are integrals of velocities over h.
    """
    if d.nq == d.nv:
        return q[1] - q[0] - moved
    parts = [
        # The second term of the Magnus expansion, for an angular velocity that changes linearly.
        moved[x.v] + (h**2 / 12 * ca.cross(v[0][x.v], v[1][x.v]) if x.ball else 0)
        for x in d.mechanism.generalized_coordinates.blocks
    ]
    return q[1] - d.retract(q[0], ca.vertcat(*parts))
