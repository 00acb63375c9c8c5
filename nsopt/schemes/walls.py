"""How well a step follows its contacts: how far beyond walls it would lead, when in it they met."""

from __future__ import annotations

from dataclasses import dataclass, field

import casadi as ca

from nsopt.mechanics import Dynamics
from nsopt.schemes.balance import Balance
from nsopt.schemes.node import Node
from nsopt.schemes.terms import kinetic, metric

MATTERS = 1e-2
"""Of the largest impulse, that from which the time of an impact matters."""

FLAT = 1e-6
"""Least slope of a gap function whose direction counts."""


REDUNDANT = 1e-9
"""Of the trace of C M^-1 C^T, what is added so that redundant joints solve too."""


def _zero() -> ca.SX:
    return ca.SX(0)


@dataclass(frozen=True)
class WallFigures:
    """Figures of a step from which its size follows, where there are contacts.

    Attributes
    ----------
    depth : SX scalar
        How far beyond a wall the step would have led without it, over the clearance: h^2 a / (2 c)
        in lasting contact at the relative acceleration a.
    late : SX scalar [s]
        How long before the end of the step the first of its impacts was.
    unplaced : SX scalar [J]
        By which the energy is off because that impact is placed at the end.
    """

    depth: ca.SX = field(default_factory=_zero)
    late: ca.SX = field(default_factory=_zero)
    unplaced: ca.SX = field(default_factory=_zero)


def depth(first: Balance, lam: ca.SX, h: ca.SX) -> ca.SX:
    """Return how far beyond the walls of bores a step would lead without them, over clearances.

    Flat walls need not be followed: their normals do not turn with the body that slides along.

    Parameters
    ----------
    first : Balance
        At the start of the step.
    lam : SX (ng,) [N s]
        Impulses that place the bodies.
    h : SX scalar [s]
    """
    d, D = first.dynamics, first.node.W
    if not (bores := list(d.bores)):
        return ca.SX(0)
    beyond = h * D[:, bores].T @ _response(first, D @ lam)
    return ca.fmax(ca.mmax(beyond / d.clearance(first.node.p)[bores]), 0)


def unplaced_impact(
    first: Balance, second: Balance, placing: ca.SX, new: ca.SX, h: ca.SX, closed: ca.SX
) -> tuple[ca.SX, ca.SX]:
    """Return when an impact was, and the error of its energy: `WallFigures.late`, ``unplaced``.

    Bodies go on for the rest of the step, and are brought back by the impulse of that time; so
    they met their wall as long before the end as that impulse is a part of the whole impact.
    Meanwhile the directions of walls and joints turn, and momentum changes along the later ones.
    An estimate: friction is not counted, and in space a body that spins counts as turning them.

    Parameters
    ----------
    first, second : Balance
        At the start and the end of the step; the second is the impact.
    placing : SX (ng,) [N s]
        Impulses that place the bodies.
    new : SX (ng,), 0 or 1
        Contacts that close in the step.
    h : SX scalar [s]
    closed : SX (ng,), 0 or 1
        Contacts that were closed at the start: they do not rebound.
    """
    d, lam = first.dynamics, second.impulses.lam
    if not lam.numel():
        return ca.SX(0), ca.SX(0)
    e = d.restitution(first.node.p) * (1 - closed)
    matters = new * (lam > MATTERS * ca.mmax(lam))
    part = ca.fmin(ca.fmax(placing * (1 + e) / ca.if_else(matters, lam, 1), 0), 1)
    late = ca.mmax(ca.if_else(matters, part, 0))
    turned = (_normals(d, second.node) - _normals(d, first.node)) @ lam
    turned += (second.F - first.F) @ second.impulses.mu
    given = ca.fmax(ca.dot(turned, _response(second, turned)), 0)
    return h * late, late * ca.sqrt(given * 2 * kinetic(second.M, second.after))


def met_at(first: Balance, moved: ca.SX, placing: ca.SX, h: ca.SX, end: Node) -> ca.SX:
    """Return the velocity (nv,) with which the first wall of a step is met.

    Without the walls that close bodies gain velocity evenly over the step, and come as far beyond
    the wall as the placing impulses bring them back: so long before the end they met it.

    Parameters
    ----------
    first : Balance
        At the start of the step.
    moved : SX (nv,)
        Velocity of the move.
    placing : SX (ng,) [N s]
        Impulses of contacts that close, which place the bodies.
    h : SX scalar [s]
    end : Node
    """
    back = _response(first, first.node.W @ placing)
    gained = 2 * (moved - back - first.before)
    nearing = -h * end.gap_rate(first.before + gained)
    beyond = (placing > 0) * (h * first.node.W.T @ back)
    late = ca.if_else(nearing > 0, beyond / ca.if_else(nearing > 0, nearing, 1), 0)
    return first.before + (1 - ca.fmin(ca.fmax(ca.mmax(late), 0), 1)) * gained


def _response(b: Balance, impulse: ca.SX) -> ca.SX:
    """Return by how much an impulse changes the velocity of a body held by ideal joints, (nv,)."""
    M, C = metric(b.M), b.C
    free = ca.solve(M, impulse)
    if not C.size1():
        return free
    carried = ca.solve(M, C.T)
    S = C @ carried
    S += REDUNDANT * ca.trace(S) * ca.SX.eye(C.size1())
    return free - carried @ ca.solve(S, C @ free)


def _normals(d: Dynamics, node: Node) -> ca.SX:
    """Return gradients of gaps, of the size they have at the wall, (nv, ng)."""
    return d.gap_matrix(*node.at) / ca.repmat(ca.fmax(d.slope(*node.at), FLAT).T, d.nv, 1)
