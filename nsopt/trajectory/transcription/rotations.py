"""Coordinates that move on by integrals of velocities, rotations among them."""

from __future__ import annotations

import casadi as ca

from nsopt.mechanics import Dynamics
from nsopt.sampled import TurnEntries


def turns_of(d: Dynamics) -> tuple[TurnEntries, ...]:
    """Return the rotations of free bodies and ball joints among coordinates and velocities."""
    blocks = d.mechanism.generalized_coordinates.blocks
    return tuple(TurnEntries(x.q, x.v) for x in blocks if x.ball)


def off(
    d: Dynamics, q: tuple[ca.SX, ca.SX], moved: ca.SX, v: tuple[ca.SX, ca.SX], h: ca.SX
) -> ca.SX:
    """Return what coordinates are off that move on over h, (nq,).

    Parameters
    ----------
    d : Dynamics
    q, v : SX (nq,), SX (nv,), two of each
        Coordinates and velocities at both ends.
    moved : SX (nv,)
        Integrals of the velocities.
    h : SX scalar [s]
    """
    if d.nq == d.nv:
        return q[1] - q[0] - moved
    parts = [
        # The second term of Magnus, by the rate of a velocity that changes linearly.
        moved[x.v] + (h**2 / 12 * ca.cross(v[0][x.v], v[1][x.v]) if x.ball else 0)
        for x in d.mechanism.generalized_coordinates.blocks
    ]
    return q[1] - d.retract(q[0], ca.vertcat(*parts))
