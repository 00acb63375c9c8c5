"""How well a step follows its contacts: how far beyond walls it would lead, when in it they met."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import partial

import casadi as ca

from nsopt.mechanics import Dynamics
from nsopt.schemes.balance import Balance
from nsopt.schemes.contacts.modes import TOUCH
from nsopt.schemes.node import Node
from nsopt.schemes.terms import find_normals, find_slopes, kinetic, solve_mass

MATTERS = 1e-2  # of the largest impulse, that from which on the time of an impact matters
SHORT = 1e-2  # of a typical step, one in which forces change speeds by little

LIKELY, SLIGHT = 3.0, 1e-3
"""Speed that bodies gain in a step at most, over that by applied forces; and the part of the speed
of approach that they may gain beside."""

_zero = partial(ca.SX, 0)
REDUNDANT = 1e-9  # of the trace of C M^-1 C^T, added to it so that redundant joints solve too


@dataclass(frozen=True)
class WallFigures:
    """Figures of a step from which its size follows, where there are contacts."""

    # How far beyond a wall the step would have led without it, over the clearance: h^2 a / (2 c) in
    # lasting contact at the relative acceleration a.
    depth: ca.SX = field(default_factory=_zero)
    swing: ca.SX = field(default_factory=_zero)  # of compliant contacts, see `judge_pressed`
    # [s] how long before the end of the step the first of its impacts was.
    late: ca.SX = field(default_factory=_zero)
    # [s] how long before the end of the step a contact changed so that the step should have ended:
    # it was open and closed, its slip turned round, or it let go. Forces are others since.
    overdue: ca.SX = field(default_factory=_zero)
    # [J] error of the energy, as that impact is placed at the end, or as directions are those at
    # the start (`estimate_turned_directions`).
    unplaced: ca.SX = field(default_factory=_zero)


def measure_depth(first: Balance, lam: ca.SX, h: ca.SX) -> ca.SX:
    """Return how far beyond the walls of bores a step would lead without them, over clearances.

    Flat walls need not be followed: their normals do not turn with the body that slides along.
    ``first`` is the balance at the start; impulses lam (ng,) place the bodies.
    """
    d, D = first.dynamics, first.node.W
    if not (bores := list(d.bores)):
        return ca.SX(0)
    beyond = h * D[:, bores].T @ respond(first.M, first.C, D @ lam)  # [m]
    return ca.fmax(ca.mmax(beyond / d.clearance(first.node.p)[bores]), 0)


def time_impacts(
    first: Balance, second: Balance, placing: ca.SX, new: ca.SX, h: ca.SX, closed: ca.SX
) -> tuple[ca.SX, ca.SX]:
    """Return when impacts were (ng,) [s] before the end, and the error of their energy.

    Bodies go on for the rest of the step, and are brought back by the impulses that place them,
    ``placing`` (ng,): the part of these in the whole impact is the part of h for which they were
    beyond their wall. Meanwhile directions of walls and joints turn, and momentum changes along the
    later ones. An estimate: friction is not counted, and in space a body that spins counts as
    turning them. The second balance is the impact. Of contacts (ng,) those that are ``new`` close
    in the step, those ``closed`` at its start do not rebound.
    """
    d, lam = first.dynamics, second.impulses.lam
    if not lam.numel():
        return lam, ca.SX(0)
    e = d.restitution(first.node.p) * (1 - closed)
    matters = new * (lam > MATTERS * ca.mmax(lam))
    part = ca.fmin(ca.fmax(placing * (1 + e) / ca.if_else(matters, lam, 1), 0), 1)
    parts = ca.if_else(matters, part, 0)
    late = ca.mmax(parts)
    turned = (find_normals(d, second.node.at) - find_normals(d, first.node.at)) @ lam
    turned += (second.F - first.F) @ second.impulses.mu
    square = ca.fmax(ca.dot(turned, respond(second.M, second.C, turned)), 0)  # [J] of its motion
    off = late * ca.sqrt(square * 2 * kinetic(second.M, second.after))
    return h * parts, ca.if_else(late > 0, off, 0)


def estimate_turned_directions(first: Balance, end: Node) -> ca.SX:
    """Return the error of the energy of a step that takes all directions at its start [J].

    An impact is somewhere in the step, where on average directions have turned by half of their
    whole turn. A contact that lasts meets its wall anew in each step, and loses the energy of a
    small impact.
    """
    d, lam = first.dynamics, first.impulses.lam
    if not lam.numel():
        return ca.SX(0)
    opened = first.node.gap > TOUCH * d.gap_scale(first.node.p)
    struck = opened * (lam > MATTERS * ca.mmax(lam)) * lam
    turn = find_normals(d, end.at) - find_normals(d, first.node.at)
    turned = turn @ struck
    square = ca.fmax(ca.dot(turned, respond(first.M, first.C, turned)), 0)
    # The speed at which contacts that last meet their wall, as directions turned in the step before
    # (or in this one, alike). What is faster is an impact that begins at its wall, and not off.
    turns = 2 * ca.fabs(turn.T @ first.before)
    meets = ca.logic_not(opened) * ca.fmin(ca.fmax(-first.node.gap_rate(first.before), 0), turns)
    return ca.sqrt(square * 2 * kinetic(first.M, first.after)) / 2 + ca.dot(lam, meets) / 2


@dataclass(frozen=True)
class Approach:
    """Velocities before an impact."""

    node: Node  # of the impact, with the velocities of bodies and walls before it
    gained: ca.SX  # (ng,) [m/s] by which the speed of approach grows in a free step
    late: ca.SX | None = None  # (ng,) [s] before the end of the step when each met its wall

    @classmethod
    def at_once(cls, d: Dynamics, node: Node, M: ca.SX, smooth: ca.SX, h: ca.SX) -> Approach:
        """Return the approach at a node, where smooth forces (nv,) act over a step of h."""
        t, q, p = node.at
        free = respond(M, d.closure_matrix(t, q, p), h * smooth)
        return cls(node, -(node.W.T @ free + h * _find_distance_accelerations(d, node, node.v)))

    def where(self, impact: ca.SX, v: ca.SX) -> Approach:
        """Return the approach where there is an ``impact`` (1 or 0), else one with v (nv,)."""
        at = replace(
            self.node,
            v=ca.if_else(impact, self.node.v, v),
            drift=ca.if_else(impact, self.node.drift, 0),
        )
        late = None if self.late is None else ca.if_else(impact, self.late, 0)
        return Approach(at, ca.if_else(impact, self.gained, 0), late)

    def rests(self, e: ca.SX) -> ca.SX:
        """Return which contacts come to rest (ng,): their rebound would be over within two steps.

        Such rebounds are not resolved, and would go on for ever. The energy lost with them falls
        with h^2.
        """
        approach = -self.node.gap_rate(self.node.v)
        return ca.logic_and(approach > 0, e * approach <= self.gained)


def find_approach(
    first: Balance, moved: ca.SX, placing: ca.SX, h: ca.SX, end: Node, usual: ca.SX
) -> Approach:
    """Return the velocities before the first impact of a step.

    Without the walls that close bodies gain velocity evenly over the step, and come as far beyond
    the wall as the placing impulses (ng,) bring them back, which tells when they met it. Velocities
    of walls are those at that time too. ``moved`` (nv,) is the velocity of the move, ``usual`` [s]
    a usual step.

    The reactions of lasting contacts to the placing impulses are not known apart, and count as
    velocity that bodies gain. Where these approach far faster by it than by applied forces, and in
    steps far shorter than usual, as those that end at an impact, the velocity that applied forces
    give counts instead. In short steps the gap at the start tells when bodies meet.
    """
    d = first.dynamics
    short = h < SHORT * usual
    back = respond(first.M, first.C, first.node.W @ placing)  # (nv,) velocity by placing
    gained = 2 * (moved - back - first.before)
    forced = respond(first.M, first.C, h * first.K)  # (nv,) velocity by applied forces
    bends = h * _find_distance_accelerations(d, end, first.before)
    found, likely = end.W.T @ gained + bends, ca.fabs(end.W.T @ forced) + ca.fabs(bends)
    likely = LIKELY * likely + SLIGHT * ca.fabs(end.gap_rate(first.before))
    unlikely = ca.sum1((placing > 0) * (ca.fabs(found) > likely)) > 0
    gained = ca.if_else(ca.logic_or(unlikely, short), forced, gained)
    fast = first.before + gained  # at the end
    faster = -(end.W.T @ gained + h * _find_distance_accelerations(d, end, fast))
    speed = -end.gap_rate(fast)  # of approach, at the end
    mean_rate = first.node.gap_rate(first.before) + (first.node.W.T @ forced + bends) / 2
    passed = -mean_rate - first.node.gap / h
    beyond = ca.if_else(short, ca.fmax(passed, 0), first.node.W.T @ back)
    # Times h: beyond = speed s - faster s^2 / 2, at the part s of the step before its end.
    root = ca.sqrt(ca.fmax(speed**2 - 2 * faster * beyond, 0))
    met = ca.logic_and(placing > 0, speed > 0)
    late = ca.if_else(met, 2 * beyond / ca.if_else(met, speed + root, 1), 0)
    late = ca.fmin(ca.fmax(late, 0), 1)
    latest = ca.mmax(late)
    v = first.before + (1 - latest) * gained
    drift = end.drift - latest * h * _find_surface_accelerations(first, end, v)
    node = replace(end, v=v, drift=drift)
    faster = -(end.W.T @ gained + h * _find_distance_accelerations(d, end, v))
    return Approach(node, faster, h * late)


def _find_surface_accelerations(first: Balance, end: Node, v: ca.SX) -> ca.SX:
    """Return relative accelerations of surfaces at constant v along fixed normals, (ng,) [m/s^2].

    Of planes and in bores; zero of other surfaces.
    """
    d, known, slopes = first.dynamics, (end.t, end.q, v, end.p), first.dynamics.slope(*end.at)
    turned = d.contact_normals(*end.at) - d.contact_normals(*first.node.at)
    slides, bias, bends = d.sliding(*known), d.gap_bias(*known), d.bore_bends(*known)
    surfaces = ca.SX.zeros(bias.numel())
    for k in range(bias.numel()):
        if k in d.bores:
            surfaces[k] = bias[k] - bends[k]
        elif slopes[k].is_constant():  # plane
            surfaces[k] = bias[k] - ca.dot(turned[:, k], slides[:, k]) / (2 * first.h)
    return surfaces


def _find_distance_accelerations(d: Dynamics, node: Node, v: ca.SX) -> ca.SX:
    """Return accelerations of distances from walls at constant v, (ng,) [m/s^2], in contact."""
    known = (node.t, node.q, v, node.p)
    steeper = d.slope_rates(*known) / find_slopes(d, node.at)
    return d.gap_bias(*known) - steeper * node.gap_rate(v)


def respond(M: ca.SX, C: ca.SX, impulse: ca.SX) -> ca.SX:
    """Return by how much impulses (nv, n) change the velocity of bodies held by ideal joints."""
    free = solve_mass(M, impulse)
    if not C.size1():
        return free
    carried = solve_mass(M, C.T)
    S = ca.triu2symm(ca.triu(C @ carried))  # entries that are zero by accident are in both halves
    S += REDUNDANT * ca.trace(S) * ca.SX.eye(C.size1())
    return free - carried @ ca.ldl_solve(C @ free, *ca.ldl(S))


RESOLVED = (ca.pi / 30) ** 2
"""(w h)^2 of a step of a thirtieth of pi / w, the time that a body stays on a linear spring that
it strikes."""


def judge_pressed(d: Dynamics, start: Node, end: Node) -> tuple[ca.SX, ca.SX]:
    """Return `WallFigures.swing` of compliant contacts, and how long ago one of them closed [s].

    The force on a surface follows its depth, so that its frequency w is seen from the change of its
    rate: du = w^2 depth h; as contact begins, the change of the depth is taken in its place, if
    that is larger. The first number is (w h)^2 over `RESOLVED`, of the surface that swings fastest;
    at a constant depth it is zero, however stiff. The second counts from the end of the step, zero
    if no surface closed in it.
    """
    if not d.pressed_names:
        return ca.SX(0), ca.SX(0)
    (before, rate), (after, last) = (_distances(d, node) for node in (start, end))
    h = end.t - start.t
    deep = ca.fmax(ca.fmax(-before, -after), ca.fabs(after - before))
    inside = ca.fmin(before, after) < 0
    swing = ca.if_else(inside, h * ca.fabs(last - rate) / ca.if_else(inside, deep, 1), 0)
    # Before it closes a surface has a constant acceleration: -after = u s - du s^2 / (2 h).
    arrives = 2 * (after - before) / h - rate
    acceleration = (arrives - rate) / h
    closes = ca.logic_and(ca.logic_and(before >= 0, after < 0), arrives < 0)
    root = ca.sqrt(ca.fmax(arrives**2 - 2 * acceleration * after, 0))
    late = ca.if_else(closes, -2 * after / ca.if_else(closes, root - arrives, 1), 0)
    return ca.mmax(swing) / RESOLVED, ca.fmin(ca.mmax(late), h)


def _distances(d: Dynamics, node: Node) -> tuple[ca.SX, ca.SX]:
    """Return distances (ns,) [m] of surfaces and their rates [m/s]; they do not move with time."""
    q = ca.SX.sym("q", d.nq)
    distance = d.pressed(node.t, q, node.v, node.p)[0]
    rate = ca.jtimes(distance, q, d.rate_matrix(q) @ node.v)
    now, rates = ca.substitute([distance, rate], [q], [node.q])
    return now, rates
