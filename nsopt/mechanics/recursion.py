"""Recursions over the links of a tree: motions, loads, mass matrix.

All vectors are in the axes of their link, which is shortest: the recursive Newton-Euler algorithm
[CHARMIE 2023, eqs. 28-34, errata for 30 and 31] with free axes in place of x, y, z, screws and
balls beside turns and slides, and accelerations of link origins instead of joints. Gravity enters
as an acceleration -g of the ground.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import casadi as ca

from nsopt.algebra import rotation_matrix
from nsopt.mechanics.coordinates import Value
from nsopt.mechanics.frame import Motion
from nsopt.mechanics.freedom import Ball
from nsopt.mechanics.links import Link, Links

Wrench = tuple[ca.SX, ca.SX]
"""Force [N] and torque about the origin of a link [N m], in its axes."""


class Place(NamedTuple):
    """A link in its parent."""

    R: ca.SX  # (3, 3) its axes
    p: ca.SX  # (3,) [m] its origin


class _Turning(NamedTuple):
    """How a link moves, in its own axes; a point r from its origin has acceleration a + B r."""

    w: ca.SX  # (3,) [rad/s]
    wdot: ca.SX  # (3,) [rad/s^2]
    a: ca.SX  # (3,) [m/s^2]
    B: ca.SX  # (3, 3) [1/s^2]


def places(tree: Links, q: ca.SX, move: ca.SX | None = None) -> list[Place]:
    """Return each link in its parent, with a virtual displacement ``move`` (nv,) added."""
    return [_place(link, q, move) for link in tree.links]


def _place(link: Link, q: ca.SX, move: ca.SX | None) -> Place:
    A, step, entry = ca.SX(link.place.A), link.step, link.entry
    if step is None:
        return Place(A, link.place.c)
    shift = ca.SX.zeros(entry.v.stop - entry.v.start) if move is None else move[entry.v]
    if isinstance(step, Ball):
        R = rotation_matrix(q[entry.q])
        return Place(A @ (R + R @ ca.skew(shift)), link.place.c)
    u = entry.ratio * (q[entry.q] + shift) + entry.offset
    return Place(A @ step.rotation(u), link.place.c + A @ (link.slide * u))


def kinematics(tree: Links, at: list[Place], v: ca.SX) -> list[Motion]:
    """Return the motion of each link's frame in world axes."""
    found: list[Motion] = []
    zero = ca.SX.zeros(3)
    for link, (R, p) in zip(tree.links, at, strict=True):
        up = found[link.parent] if link.parent >= 0 else Motion(zero, ca.SX.eye(3), zero, zero)
        A, arm = up.A @ R, up.A @ p
        u = link.rates(v)
        w = up.w + A @ (link.turn @ u)
        found.append(Motion(up.r + arm, A, up.v + ca.cross(up.w, arm) + A @ (link.slide @ u), w))
    return found


def newton_euler(
    tree: Links,
    at: list[Place],
    v: ca.SX,
    vdot: ca.SX,
    gravity: ca.SX,
    value: Value,
    loads: Mapping[int, Wrench] | None = None,
) -> tuple[ca.SX, list[Wrench]]:
    """Return generalized forces (nv,) that the motion takes, and what each link is held with.

    Parameters
    ----------
    v, vdot : SX (nv,)
    gravity : SX (3,) [m/s^2]
    loads : mapping of link to Wrench
        From outside, on links.
    """
    moving = _accelerations(tree, at, v, vdot, gravity)
    wrenches = []
    for k, (link, (w, wdot, a, B)) in enumerate(zip(tree.links, moving, strict=True)):
        m, h, J = link.inertia(value)
        f = m * a + B @ h
        n = J @ wdot + ca.cross(w, J @ w) + ca.cross(h, a)
        outside = (loads or {}).get(k, (ca.SX.zeros(3), ca.SX.zeros(3)))
        wrenches.append((f - outside[0], n - outside[1]))
    tau = [ca.SX(0)] * v.numel()
    for k in reversed(range(len(tree.links))):
        link, (f, n) = tree.links[k], wrenches[k]
        ratio, (R, p) = link.entry.ratio, at[k]
        felt = link.turn.T @ n + link.slide.T @ f + link.rotor * link.rates(vdot)
        for i, j in enumerate(range(link.entry.v.start, link.entry.v.stop)):
            tau[j] += ratio * felt[i]
        if link.parent >= 0:
            push = R @ f
            above = wrenches[link.parent]
            wrenches[link.parent] = (above[0] + push, above[1] + R @ n + ca.cross(p, push))
    return ca.vertcat(ca.SX(0, 1), *tau), wrenches


def _accelerations(
    tree: Links, at: list[Place], v: ca.SX, vdot: ca.SX, gravity: ca.SX
) -> list[_Turning]:
    """Return how each link moves [CHARMIE 2023, eqs. 29-31]."""
    zero = ca.SX.zeros(3)
    ground = _Turning(zero, zero, -gravity, ca.SX.zeros(3, 3))
    found: list[_Turning] = []
    for link, (R, p) in zip(tree.links, at, strict=True):
        up = found[link.parent] if link.parent >= 0 else ground
        u, udot = link.rates(v), link.rates(vdot)
        carried, spin, slip = R.T @ up.w, link.turn @ u, link.slide @ u
        w = carried + spin
        wdot = R.T @ up.wdot + link.turn @ udot + ca.cross(carried, spin)
        a = R.T @ (up.a + up.B @ p) + link.slide @ udot + 2 * ca.cross(carried, slip)
        found.append(_Turning(w, wdot, a, ca.skew(wdot) + w @ w.T - ca.sumsqr(w) * ca.SX.eye(3)))
    return found


def mass_matrix(tree: Links, at: list[Place], nv: int, value: Value) -> ca.SX:
    """Return M (nv, nv), by composite links; entries of unrelated freedoms are left out."""
    composite = [link.inertia(value) for link in tree.links]
    M = ca.SX(nv, nv)
    for k in reversed(range(len(tree.links))):
        link, (m, h, J) = tree.links[k], composite[k]
        f = m * link.slide - ca.skew(h) @ link.turn
        n = J @ link.turn + ca.skew(h) @ link.slide
        _add_column(M, tree, at, k, f, n)
        if link.parent >= 0:
            R, p = at[k]
            up_m, up_h, up_J = composite[link.parent]
            moment = R @ h
            S, T = ca.skew(p), ca.skew(moment)
            carried = R @ J @ R.T - T @ S - S @ T - m * S @ S
            composite[link.parent] = (up_m + m, up_h + moment + m * p, up_J + carried)
    return M


def _add_column(M: ca.SX, tree: Links, at: list[Place], k: int, f: ca.SX, n: ca.SX) -> None:
    """Add to M what the freedom of link k shares with itself and with those that carry it.

    ``f`` and ``n`` are momentum and angular momentum per rate, (3, n).
    """
    mine, j = tree.links[k].entry, k
    rotor = tree.links[k].rotor * ca.SX.eye(mine.v.stop - mine.v.start)
    while j >= 0:
        link = tree.links[j]
        ratio = mine.ratio * link.entry.ratio
        part = ratio * (link.turn.T @ n + link.slide.T @ f + (rotor if j == k else 0))
        if part.numel():
            M[link.entry.v, mine.v] += part
            if j != k:
                M[mine.v, link.entry.v] += part.T
        R, p = at[j]
        f = R @ f
        n = R @ n + ca.skew(p) @ f
        j = link.parent
