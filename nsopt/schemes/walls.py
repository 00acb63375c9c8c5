"""How well a step follows its contacts: how far beyond walls it would lead, when in it they met."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import NamedTuple

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
    beyond = h * D[:, bores].T @ _response(first.M, first.C, D @ lam)
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
    given = ca.fmax(ca.dot(turned, _response(second.M, second.C, turned)), 0)
    return h * late, late * ca.sqrt(given * 2 * kinetic(second.M, second.after))


@dataclass(frozen=True)
class Meeting:
    """How walls are met.

    Attributes
    ----------
    node : Node
        Where, with the velocities of bodies and walls as the first is met.
    gained : SX (ng,) [m/s]
        By how much gaps come to close faster in a step, without the walls that close.
    """

    node: Node
    gained: ca.SX

    @classmethod
    def at_once(cls, d: Dynamics, node: Node, M: ca.SX, smooth: ca.SX, h: ca.SX) -> Meeting:
        """Return how walls are met at a node, where smooth forces (nv,) act over a step of h."""
        t, q, p = node.at
        free = _response(M, d.closure_matrix(t, q, p), h * smooth)
        return cls(node, -(node.W.T @ free + h * _accelerations(d, node, node.v)))

    def rests(self, e: ca.SX) -> ca.SX:
        """Return which contacts come to rest (ng,): what rebounds would be back within two steps.

        Such flights are shorter than steps resolve, and would go on for ever. What they take from
        the energy falls with h^2.
        """
        approach = -self.node.gap_rate(self.node.v)
        return ca.logic_and(approach > 0, e * approach <= self.gained)


def met_at(first: Balance, moved: ca.SX, placing: ca.SX, h: ca.SX, end: Node) -> Meeting:
    """Return how the first wall of a step is met.

    Without the walls that close bodies gain velocity evenly over the step, and come as far beyond
    the wall as the placing impulses bring them back: so long before the end they met it. Velocities
    of walls are those of that time too.

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
    back = _response(first.M, first.C, first.node.W @ placing)
    gained = 2 * (moved - back - first.before)
    fast = first.before + gained
    faster = -(end.W.T @ gained + h * _turning(first, end, fast).of_gaps)
    nearing, beyond = -end.gap_rate(fast), first.node.W.T @ back
    # In units of h: beyond = nearing s - faster s^2 / 2, at the time s before the end.
    root = ca.sqrt(ca.fmax(nearing**2 - 2 * faster * beyond, 0))
    met = ca.logic_and(placing > 0, nearing > 0)
    late = ca.mmax(ca.if_else(met, 2 * beyond / ca.if_else(met, nearing + root, 1), 0))
    after = ca.fmin(ca.fmax(late, 0), 1)
    v = first.before + (1 - after) * gained
    turning = _turning(first, end, v)
    node = replace(end, v=v, drift=end.drift - after * h * turning.of_surfaces)
    return Meeting(node, -(end.W.T @ gained + h * turning.of_gaps))


class _Turning(NamedTuple):
    """Accelerations at constant v, at the wall, (ng,) [m/s^2].

    Attributes
    ----------
    of_gaps : SX (ng,)
        Of the gaps.
    of_surfaces : SX (ng,)
        Of one surface against the other along a normal that does not turn; of planes and in bores.
    """

    of_gaps: ca.SX
    of_surfaces: ca.SX


def _turning(first: Balance, end: Node, v: ca.SX) -> _Turning:
    d, known, slopes = first.dynamics, (end.t, end.q, v, end.p), first.dynamics.slope(*end.at)
    turned = d.contact_normals(*end.at) - d.contact_normals(*first.node.at)
    slides, bias, bends = d.sliding(*known), d.gap_bias(*known), d.bore_bends(*known)
    surfaces = ca.SX.zeros(bias.numel())
    for k in range(bias.numel()):
        if k in d.bores:
            surfaces[k] = bias[k] - bends[k]
        elif slopes[k].is_constant():  # plane
            surfaces[k] = bias[k] - ca.dot(turned[:, k], slides[:, k]) / (2 * first.h)
    return _Turning(_accelerations(d, end, v), surfaces)


def _accelerations(d: Dynamics, node: Node, v: ca.SX) -> ca.SX:
    """Return accelerations of distances at constant v, (ng,), at the walls."""
    known = (node.t, node.q, v, node.p)
    steeper = d.slope_rates(*known) / ca.fmax(d.slope(*node.at), FLAT)
    return d.gap_bias(*known) - steeper * node.gap_rate(v)


def _response(M: ca.SX, C: ca.SX, impulse: ca.SX) -> ca.SX:
    """Return by how much an impulse changes the velocity of bodies held by ideal joints, (nv,)."""
    M = metric(M)
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
