"""What depends on whether a contact is closed, stated as complementarity.

A step that starts from a known state switches by it; in a program over a horizon states are
unknowns, and both sides of a switch must be one statement.
"""

from __future__ import annotations

import casadi as ca

from nsopt.mechanics import Dynamics
from nsopt.mpcc import Mpcc
from nsopt.stepping.node import Node

HALF = 0.5
"""Guess of what is from 0 to 1."""


def vanish(
    mpcc: Mpcc,
    name: str,
    rate: ca.SX,
    lam: ca.SX,
    scale: tuple[ca.SX, ca.SX],
    labels: tuple[str, ...],
) -> ca.SX:
    """State rate = 0 where lam > 0, and nothing elsewhere; return the negative part of rate."""
    parts = [mpcc.variable(f"{name}_{x}", lam.numel(), scale=scale[0]) for x in ("up", "down")]
    mpcc.equal(name, rate - parts[0] + parts[1], scale=scale[0])
    for x, part in zip(("up", "down"), parts, strict=True):
        mpcc.complement(f"{name}_{x}_pair", part, lam, scale=scale, labels=labels)
    return parts[1]


def touching(mpcc: Mpcc, d: Dynamics, node: Node, open: ca.SX, scale: ca.SX) -> ca.SX:
    """Return max(1 - sharp open / scale, 0): which contacts touch, (ng,).

    Only for contacts with viscous friction; zero for the others.

    Parameters
    ----------
    node : Node
    open : SX (ng,) [m]
        Zero or more, as the solver keeps it.
    scale : SX [m]
        Its size.
    """
    viscous = d.viscous(node.p)
    some = [k for k in range(open.numel()) if not viscous[k].is_zero()]
    found = ca.SX.zeros(open.numel())
    if not some:
        return found
    on = mpcc.variable("touching", len(some), guess=HALF)
    off = on - 1 + node.sharp * (open / scale)[some]
    names = [d.contact_names[k] for k in some]
    mpcc.complement("touching", on, off, labels=names)
    for i, k in enumerate(some):
        found[k] = on[i]
    return found


def parted(
    mpcc: Mpcc, name: str, d: Dynamics, x: ca.SX, guess: ca.SX, scale: ca.SX
) -> tuple[ca.SX, ca.SX]:
    """Return the positive and the negative part of numbers of the contacts, both zero or more.

    Parameters
    ----------
    x, guess : SX (ng,)
    scale : SX
        Size of x.
    """
    parts = [
        mpcc.variable(f"{name}_{k}", x.numel(), scale=scale, guess=ca.fmax(sign * guess, 0))
        for k, sign in (("above", 1), ("below", -1))
    ]
    mpcc.equal(name, x - parts[0] + parts[1], scale=scale)
    mpcc.complement(f"{name}_parts", *parts, scale=(scale, scale), labels=d.contact_names)
    return parts[0], parts[1]
