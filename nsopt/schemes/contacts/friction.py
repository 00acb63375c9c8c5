"""Tangential impulses of contacts and their slip: dry friction, exact in the plane and in space.

A contact has one slip in the plane, two in space. What has a limit of its own is a `Drag`: that a
contact slides, rolls or spins; the two slips of sliding in space are of one drag.
"""

from __future__ import annotations

from collections.abc import Sequence

import casadi as ca
import numpy as np
from numpy.typing import NDArray

from nsopt.mechanics import Dynamics
from nsopt.mpcc import Mpcc, Slopes
from nsopt.schemes.node import At, Node
from nsopt.schemes.scales import Scales
from nsopt.schemes.terms import metric

SLOW = (
    1e-3  # of the speed that a typical impulse gives (`Scales.speed`), a slip that counts as none
)
NEXT_TO_NONE = 1e-14  # slip [m/s] by which its size is smoothed, for a derivative where it sticks
LARGEST_TURN = 0.5  # difference of two directions of slip up to which friction turns with it
TURNED = 0.9  # cosine, less zero, between the slips at both ends of a step that turned round
EARLY = 0.4  # part of a step that is tried again where a slip ends in its first half


def sum_by_contact(d: Dynamics, values: ca.SX) -> ca.SX:
    """Return sums over the slips (ns,) of each contact, (ng,)."""
    sums = ca.SX.zeros(len(d.contact_names))
    for k, i in enumerate(d.slip_contacts):
        sums[int(i)] += values[k]
    return sums


def sum_by_drag(d: Dynamics, values: ca.SX) -> ca.SX:
    """Return sums over the slips (ns,) of each drag, (nd,)."""
    return ca.vertcat(ca.SX(0, 1), *(ca.sum1(values[list(drag.slips)]) for drag in d.drags))


def repeat_by_slip(d: Dynamics, values: ca.SX) -> ca.SX:
    """Return the value (nd,) of the drag of each slip, (ns,)."""
    return _select(values, find_drags(d))


def measure_slip(d: Dynamics, u: ca.SX) -> ca.SX:
    """Return the sizes of the slips (ns,) of each drag, smooth where there is none, (nd,)."""
    return ca.sqrt(sum_by_drag(d, u**2) + NEXT_TO_NONE**2)


def select_drags(d: Dynamics, values: ca.SX) -> ca.SX:
    """Return the values of contacts (ng,) for their drags, (nd,)."""
    return _select(values, [drag.contact for drag in d.drags])


def find_drags(d: Dynamics) -> list[int]:
    """Return the drag of each slip, (ns,)."""
    return [i for i, drag in enumerate(d.drags) for _ in drag.slips]


def find_directions(d: Dynamics, u: ca.SX) -> ca.SX:
    """Return the unit vectors of the slips (ns,) of each drag, zero where there is none."""
    return u / repeat_by_slip(d, measure_slip(d, u))


def turn_slip(
    d: Dynamics, begin: ca.SX, slips: tuple[ca.SX, ca.SX], slides: ca.SX, scales: Scales
) -> ca.SX:
    """Return the directions of slip at the end of a step, (ns,), of its mean and last ``slips``.

    In space the end has the direction of the last slip, so that a step back undoes the step. Where
    the last slip is slow, or turned round, the direction at the start, ``begin``, is mirrored at
    that of the mean slip. Drags that do not slide, 0 in ``slides`` (nd,), then keep ``begin``.
    """
    owners, (mean_slip, last) = find_drags(d), slips
    in_space = ca.DM([float(owners.count(i) == 2) for i in owners])
    turns = repeat_by_slip(d, slides * (sum_by_drag(d, mean_slip * begin) > 0)) * in_space
    mean = find_directions(d, mean_slip)
    cosine = repeat_by_slip(d, sum_by_drag(d, mean * begin))
    beyond = ca.if_else(turns, 2 * cosine * mean - begin, begin)
    goes_on = sum_by_drag(d, last * begin) > SLOW * ca.SX(scales.speed)
    own = repeat_by_slip(d, goes_on) * in_space
    return ca.if_else(own, find_directions(d, last), beyond)


def find_slip(d: Dynamics, at: At, v: ca.SX) -> ca.SX:
    """Return the slip of contacts at a velocity (nv,), (ns,) [m/s]."""
    return d.slip_matrix(*at).T @ v + d.slip_drift(*at)


def find_mean_slip(d: Dynamics, node: Node, h: ca.SX, v: ca.SX, q_end: ca.SX) -> ca.SX:
    """Return the mean slip of contacts over a move of h at velocity v from a node, (ns,) [m/s].

    By Simpson's rule along the move to ``q_end``: times h it is how far a contact moves over the
    surface that carries it, however that turns. By the slip at one place, what sticks would creep.
    """
    drift = ca.SX.zeros(len(d.slip_contacts))
    for at, _, weight in _list_places(node, h, q_end):
        drift += weight * d.slip_drift(*at)
    return _average_directions(d, node, h, q_end).T @ v + drift


def differentiate_mean_slip(
    d: Dynamics, node: Node, h: ca.SX, v: ca.SX, q_end: ca.SX, change: ca.SX
) -> ca.SX:
    """Return the derivatives of `find_mean_slip` by v, (ns, nv).

    By the coordinates of each place, each drag for itself: in half the operations of a Jacobian of
    the whole. ``change`` (nv, nv) is the displacement at ``q_end`` with v.
    """
    t, p, q = ca.SX.sym("t"), ca.SX.sym("p", len(d.parameters)), ca.SX.sym("q", d.nq)
    u = ca.SX.sym("u", d.nv)
    slip = find_slip(d, (t, q, p), u)
    rows = [ca.jacobian(slip[list(drag.slips)], q) for drag in d.drags]
    by_place = ca.Function("by_place", [t, q, p, u], [ca.vertcat(ca.SX(0, d.nq), *rows)])
    by_end = ca.SX(len(d.slip_contacts), d.nq)
    for at, part, weight in _list_places(node, h, q_end)[1:]:
        by_end += weight * part * by_place(*at, v)
    moved = _average_directions(d, node, h, q_end).T
    return moved + by_end @ d.rate_matrix(q_end) @ change


def _list_places(node: Node, h: ca.SX, q_end: ca.SX) -> list[tuple[At, float, float]]:
    """Return start, middle and end of a move as (place, part of the step before it, weight)."""
    t, q, p = node.at
    # Of Euler parameters the mean of both ends is in the middle, but for its norm.
    places = (q, 0.0, 1 / 6), ((q + q_end) / 2, 1 / 2, 4 / 6), (q_end, 1.0, 1 / 6)
    return [((t + part * h, place, p), part, weight) for place, part, weight in places]


def _average_directions(d: Dynamics, node: Node, h: ca.SX, q_end: ca.SX) -> ca.SX:
    """Return the mean of the directions of slip over a move, (nv, ns)."""
    T = ca.SX(d.nv, len(d.slip_contacts))
    for at, _, weight in _list_places(node, h, q_end):
        T += weight * d.slip_matrix(*at)
    return T


def find_turn_from_start(d: Dynamics, node: Node, h: ca.SX, slow: ca.SX) -> ca.SX:
    """Return the direction of slip at a node less that of its mean over a move of h, (ns,).

    Both at the velocity of the node.
    """
    mean = find_mean_slip(d, node, h, node.v, d.retract(node.q, h * node.v))
    return _find_turn(d, find_slip(d, node.at, node.v), mean, slow)


def find_turn_from_end(d: Dynamics, end: Node, move: ca.SX, after: ca.SX, slow: ca.SX) -> ca.SX:
    """Return the direction of slip at the end of a move less that at the velocity after it, (ns,).

    ``move`` and ``after`` are both velocities (nv,).
    """
    return _find_turn(d, find_slip(d, end.at, move), find_slip(d, end.at, after), slow)


def _find_turn(d: Dynamics, to: ca.SX, since: ca.SX, slow: ca.SX) -> ca.SX:
    """Return the difference of the directions of two slips (ns,) of each drag in space.

    Zero where one of them is slow, of single slips, and where directions are far apart: a
    slip u + |u| turn is zero only where u is, as long as the turn is below 1.
    """
    owners = find_drags(d)
    in_plane = [float(owners.count(i) == 1) for i in owners]
    sizes = [measure_slip(d, u) for u in (to, since)]
    units = [
        u / ca.vertcat(ca.SX(0, 1), *(ca.fmax(size, slow)[i] for i in owners))
        for u, size in zip((to, since), sizes, strict=True)
    ]
    turn = units[0] - units[1]
    small = ca.logic_and(ca.fmin(*sizes) > slow, sum_by_drag(d, turn**2) < LARGEST_TURN**2)
    return turn * ca.vertcat(ca.SX(0, 1), *(small[i] for i in owners)) * (1 - ca.DM(in_plane))


def is_turned(d: Dynamics, before: ca.SX, after: ca.SX) -> ca.SX:
    """Return of which drags (nd,) a slip (ns,) is turned round against an earlier one."""
    along = sum_by_drag(d, before * after)
    return along < -TURNED * measure_slip(d, before) * measure_slip(d, after)


def find_end_of_slip(
    d: Dynamics,
    nodes: tuple[Node, Node],
    mean_slip: ca.SX,
    lasting: ca.SX,
    h: ca.SX,
    slow: ca.SX,
) -> ca.SX:
    """Return how long before the end a slip stopped or turned round, the longest [s].

    From then on friction has another direction, or holds. At a constant deceleration a slip u whose
    mean over the step is u_m is zero after h u / 2 (u - u_m). ``mean_slip`` (ns,) is that mean
    between the nodes at both ends, ``lasting`` (ng,) 1 of contacts that press all the time;
    ``slow`` [m/s, rad/s] counts as none.
    """
    if not d.slip_contacts:
        return ca.SX(0)
    before, after = (find_slip(d, node.at, node.v) for node in nodes)
    size, size_after = (measure_slip(d, x) for x in (before, after))
    ends = ca.logic_or(size_after < slow, is_turned(d, before, after))
    counts = select_drags(d, lasting) * ends * (size > slow) * (d.static_drag(nodes[1].p) > 0)
    mean = sum_by_drag(d, before * mean_slip) / ca.fmax(size, slow)
    late = size / ca.fmax(2 * (size - mean), size)  # part of the step after which it ends, >= 1/2
    early = ca.fmin(size / ca.fmax(size + size_after, slow), EARLY)
    part = ca.if_else(mean > 0, 1 - late, 1 - early)
    return h * ca.fmax(ca.mmax(ca.if_else(counts, part, 0)), 0)


LIGHT = 1e-12  # least mobility [1/kg], that of a slip in which nothing with a mass takes part


class Friction:
    """The friction of one program: its unknowns, then its law.

    With slip u = T^T v + drift and normal impulse lam, for each contact:

    =========  =================================================================
    plane      -mu lam <= lam_t <= mu lam, lam_t against u, any value where u = 0
    space      |lam_t| <= mu lam, lam_t = -mu lam u / |u|, any value where u = 0
    smoothed   lam_t sqrt(|u|^2 + creep^2) = -mu lam u, instead of either
    viscous    -h d u more, while closed
    =========  =================================================================

    Of all forces in the cone the first two are those that take most energy; d is the coefficient
    `viscous` of a contact [N s/m]. A ``creep`` of zero [m/s] leaves the law exact. ``tag`` ends the
    names of unknowns and rows, where a program has friction twice.

    What rolls and spins has the same law, of one slip and of two, with angular velocities [rad/s]
    in place of u and lever arms [m] in place of mu.
    """

    def __init__(
        self,
        mpcc: Mpcc,
        dynamics: Dynamics,
        scales: Scales,
        tag: str = "",
        creep: float = 0.0,
    ) -> None:
        self._mpcc, self._d, self._scales, self._tag = mpcc, dynamics, scales, tag
        self._creep = creep
        drags = find_drags(dynamics)
        in_plane = np.array([drags.count(i) == 1 for i in drags], dtype=bool)
        mu = dynamics.static_drag(ca.SX.sym("p", len(dynamics.parameters)))
        dry = np.array([not mu[i].is_zero() for i in drags], dtype=bool)
        exact = dry & (creep == 0)
        # Slips by the kind of their law; one without dry friction is of none.
        self._plane = np.flatnonzero(exact & in_plane)
        self._space = np.flatnonzero(exact & ~in_plane)
        self._smoothed = np.flatnonzero(dry & ~exact)
        self._turning = [dynamics.drags[i].turns for i in drags]
        self._unknowns = ca.SX.zeros(len(drags))
        # Slips (ns,), their derivatives, limits of friction (ns,) [N s], masses that resist slips
        # (ns,) [kg].
        self._law: tuple[ca.SX, Slopes, ca.SX, ca.SX] | None = None

    @property
    def unknowns(self) -> ca.SX:
        """Tangential impulses (ns,) [N s] by dry friction."""
        return self._unknowns

    def add(self) -> None:
        """Make the unknowns, in the order of their rows."""
        self._add("slip_smoothed", self._smoothed)
        self._add("slip_plane", self._plane)
        self._add("slip_space", self._space)

    def _add(self, name: str, columns: NDArray[np.intp]) -> None:
        """Make the unknowns of some slips."""
        if columns.size:
            size = self._scales.impulse
            unknowns = self._mpcc.variable(name + self._tag, columns.size, scale=size)
            for k, column in enumerate(columns):
                self._unknowns[int(column)] = unknowns[k]

    def impulse(
        self,
        node: Node,
        v: ca.SX,
        lam: ca.SX,
        closed: ca.SX,
        h: ca.SX,
        slip: ca.SX | None = None,
        turn: ca.SX | None = None,
        coefficients: ca.SX | None = None,
        slopes: Slopes | None = None,
    ) -> ca.SX:
        """Return the tangential impulses (ns,) [N s], to be followed by `state`.

        Directions are those at the node; the slip (ns,) [m/s] is that there at v (nv,) unless it is
        given. Normal impulses are lam (ng,) [N s] times the slope of the gap function. The viscous
        part acts where ``closed`` (ng,), from 0 to 1, over h. In space friction acts against the
        direction of the slip plus ``turn`` (ns,). Coefficients (nd,) are those of sliding unless
        given. ``slopes`` are derivatives of the slip that is given, (ns, n) by name of a variable.
        """
        d, at, p = self._d, node.at, node.p
        owners, drags = d.slip_contacts, find_drags(d)
        if not owners:
            return ca.SX(0, 1)
        T = d.slip_matrix(*at)
        u = T.T @ v + node.slip_drift if slip is None else slip
        if turn is not None and self._space.size:
            slopes = {x: S + _differentiate_size(d, u, S, turn) for x, S in (slopes or {}).items()}
            u += repeat_by_slip(d, measure_slip(d, u)) * turn
        mu = d.drag(p) if coefficients is None else coefficients
        limit = _select(mu * select_drags(d, d.slope(*at)) * select_drags(d, lam), drags)
        # About the mass that resists each slip (ns,) [kg], by the diagonal of M alone.
        M = metric(d.mass(*at[1:]))
        mass = 1 / ca.fmax((T**2).T @ (1 / ca.diag(M)), LIGHT)
        self._law = (u, slopes or {}, limit, mass)
        viscous = _select(d.viscous(p) * closed, owners)
        viscous[np.flatnonzero(self._turning).tolist()] = 0
        return self._unknowns - h * viscous * u

    def state(self) -> None:
        """State the law."""
        if self._law is None:
            return
        u, slopes, limit, mass = self._law
        owners, speed = self._d.slip_contacts, self._scales.speed
        parts = (self._smoothed, self._plane, self._space)
        smoothed, plane, space = ([int(i) for i in part] for part in parts)
        if smoothed:
            sums = sum_by_drag(self._d, u**2)
            sizes = ca.sqrt(_select(sums + self._creep**2, find_drags(self._d)))
            law = self._unknowns + limit * u / sizes
            name, size = f"friction_smoothed{self._tag}", self._scales.impulse
            self._mpcc.equal(name, _select(law, smoothed), scale=size)
        if plane:
            # Angular velocities as speeds that an impulse gives to the whole mass, too.
            weights = ca.vertcat(
                *(mass[k] / self._scales.mass if self._turning[k] else ca.SX(1) for k in plane)
            )
            self._mpcc.box(
                f"friction{self._tag}",
                _select(self._unknowns, plane),
                weights * _select(u, plane),
                lower=-_select(limit, plane),
                upper=_select(limit, plane),
                scale=(self._scales.impulse, speed),
                labels=[self._d.contact_names[owners[k]] for k in plane],
                slopes={x: ca.diag(weights) @ S[plane, :] for x, S in slopes.items()} or None,
            )
        if space:
            first = space[::2]  # both slips of a contact are side by side
            self._mpcc.disc(
                f"friction_in_space{self._tag}",
                _select(self._unknowns, space),
                _select(u, space),
                radius=_select(limit, first),
                scale=(self._scales.impulse, speed),
                rho=ca.fmin(_select(mass, first), _select(mass, space[1::2])),
                labels=[self._d.contact_names[owners[k]] for k in first],
                slopes={x: S[space, :] for x, S in slopes.items()} or None,
            )


def _differentiate_size(d: Dynamics, u: ca.SX, slopes: ca.SX, along: ca.SX) -> ca.SX:
    """Return the derivatives (ns, n) of the size of each slip times ``along`` (ns,), from its own.

    ``slopes`` (ns, n) are those of the slips u (ns,).
    """
    unit, of_slips = find_directions(d, u), find_drags(d)
    sizes = [ca.mtimes(unit[k].T, slopes[k, :]) for k in (list(drag.slips) for drag in d.drags)]
    return ca.vertcat(*(along[k] * sizes[i] for k, i in enumerate(of_slips)))


def _select(values: ca.SX, rows: Sequence[int]) -> ca.SX:
    return ca.vertcat(ca.SX(0, 1), *(values[k] for k in rows))
