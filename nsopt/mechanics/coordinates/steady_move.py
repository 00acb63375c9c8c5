"""A move of a tree at constant rates, as one of free bodies.

A body that goes from one pose to another in a step has the velocity of its centre of mass,
(r_1 - r_0) / h, in world axes and the angular velocity of its turn in its own. Their momenta, as
the joints feel them at both ends, make the discrete Euler-Lagrange equations in relative
coordinates: those in absolute coordinates in the null space of the joints [Betsch and Leyendecker
2006, The discrete null space method]. Both have the same motion. M v_h in joint coordinates
would be of second order too, with the errors of inertias about joints, many times those about
centres of mass.

Nothing is subtracted and then divided by h, so that h may be zero: Euler parameters of turns are
kept as (e0, h e).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import casadi as ca

from nsopt.algebra import angular_velocity_over, state_once, turn_over
from nsopt.mechanics.coordinates.circles import Circle, find_lag
from nsopt.mechanics.coordinates.links import TreeLink
from nsopt.mechanics.coordinates.recursion import Recursion, Wrench

Parts = tuple[ca.SX, ca.SX, ca.SX]


class _Move(NamedTuple):
    """The move of a link over h, in its axes at the start."""

    e0: ca.SX  # Euler parameters of its turn: (e0, h e)
    e: ca.SX  # (3,) [1/s]
    w: ca.SX  # (3,) [rad/s] the constant angular velocity of that turn
    u: ca.SX  # (3,) [m/s] displacement of its origin, divided by h


class SteadyMove:
    """The links of a tree that move at constant rates v (nv,) over h, any number."""

    def __init__(
        self, recursion: Recursion, v: ca.SX, h: ca.SX, circles: Mapping[str, Circle]
    ) -> None:
        self._recursion, self._v, self._h, self._circles = recursion, v, h, circles
        zero = ca.SX.zeros(3)
        ground, self._moves = _Move(ca.SX(1), zero, zero, zero), list[_Move]()
        for k, link in enumerate(recursion.tree.links):
            up = self._moves[link.parent] if link.parent >= 0 else ground
            self._moves.append(self._move(k, link, up))

    def twists(self) -> ca.SX:
        """Return the twist of each body, in the order of links, angular ones in their axes.

        Of a body on a circle its lag (`find_lag`) follows.
        """
        recursion, twists = self._recursion, [ca.SX(0, 1)]
        for link, move, A in zip(recursion.tree.links, self._moves, recursion.axes, strict=True):
            for name, (_, at) in link.bodies.items():
                twists += [*_move_centre(A, at.c, self._h, move.e0, move.e, move.u), move.w]
                if name in self._circles:
                    axis = at.A @ self._circles[name].axis
                    twists.append(find_lag(axis, move.w, move.e0, move.e))
        return ca.vertcat(*twists)

    def _move(self, k: int, link: TreeLink, up: _Move) -> _Move:
        h, pose, rates = self._h, self._recursion.poses[k], link.rates(self._v)
        u, e, carried = _carry(link.slide, rates, h, *pose, *up)
        if link.turn.is_zero():
            return _Move(up.e0, e, carried, u)
        e0, e, spin = _turn_on(link.turn, rates, h, up.e0, e)
        # Turns about one axis add up, however large; Euler parameters know them up to full turns.
        alike = ca.cross(carried, spin).is_zero()
        return _Move(e0, e, carried + spin if alike else _find_rate_of_turn(e0, e, h)[0], u)


def _find_way(e0: ca.SX, e: ca.SX, c: ca.SX, h: ca.SX) -> ca.SX:
    """Return the displacement by its turn of a point c (3,) [m] of a link, divided by h."""
    turning = ca.cross(e, c)
    return 2 * (e0 * turning + h * ca.cross(e, turning))


@state_once
def _move_centre(A: ca.SX, c: ca.SX, h: ca.SX, e0: ca.SX, e: ca.SX, u: ca.SX) -> tuple[ca.SX]:
    """Return the displacement of a point c of a link, divided by h, in world axes (3,) [m/s]."""
    return (A @ (u + _find_way(e0, e, c, h)),)


@state_once
def _carry(slide: ca.SX, rates: ca.SX, h: ca.SX, R: ca.SX, p: ca.SX, *up: ca.SX) -> Parts:
    """Return u of a link, and e and w of its parent ``up`` in its axes."""
    e0, e, w, u = up
    along = slide @ rates
    return R.T @ (u + _find_way(e0, e, p + h * R @ along, h)) + along, R.T @ e, R.T @ w


@state_once
def _turn_on(turn: ca.SX, rates: ca.SX, h: ca.SX, e0: ca.SX, e: ca.SX) -> Parts:
    """Return e0 and e after the turn of a link itself, and its angular velocity."""
    spin = turn @ rates
    f0, f = turn_over(spin, h)
    return e0 * f0 - h**2 * ca.dot(e, f), e0 * f + f0 * e + h * ca.cross(e, f), spin


@state_once
def _find_rate_of_turn(e0: ca.SX, e: ca.SX, h: ca.SX) -> tuple[ca.SX]:
    """Return the angular velocity of a turn over h."""
    return (angular_velocity_over(e0, e, h),)


def body_momenta(
    recursion: Recursion, twists: ca.SX, h: ca.SX, circles: Mapping[str, Circle]
) -> list[Wrench]:
    """Return momentum and angular momentum of each link about its origin, in its axes.

    The recursion is at one end of a move of h, less than zero at its end, with the twists of its
    bodies by `SteadyMove`.
    """
    tree, momenta, i = recursion.tree, list[Wrench](), 0
    for link, masses, A in zip(tree.links, tree.masses, recursion.axes, strict=True):
        f, n = ca.SX.zeros(3), ca.SX.zeros(3)
        for (name, (_, at)), own in zip(link.bodies.items(), masses, strict=True):
            push, moment = _find_momenta(*own, A, twists[i : i + 6], h)
            f, n, i = f + push, n + moment, i + 6
            if name in circles:
                circle = circles[name]
                n += own[0] * circle.square * twists[i] * (at.A @ circle.axis)
                i += 1
        momenta.append((f, n))
    return momenta


@state_once
def _find_momenta(m: ca.SX, c: ca.SX, J: ca.SX, A: ca.SX, twist: ca.SX, h: ca.SX) -> Wrench:
    """Return momentum and angular momentum of a body about the origin of its link."""
    u, w = twist[:3], twist[3:]
    push, spin = m * A.T @ u, J @ w  # momentum and angular momentum about its centre
    return push, spin + h / 2 * ca.cross(w, spin) + ca.cross(c, push)
