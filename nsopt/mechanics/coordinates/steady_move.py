"""A move of a tree at constant rates, as one of free bodies.

A body that goes from one pose to another in a step has the velocity of its centre of mass,
(r_1 - r_0) / h, in world axes and the angular velocity of its turn in its own. Their momenta, as
the joints feel them at both ends, make the discrete Euler-Lagrange equations in relative
coordinates: those in absolute coordinates in the null space of the joints [Betsch and Leyendecker
2006, The discrete null space method]. Both have the same motion. M v_h in joint coordinates
would be of second order too, with the errors of inertias about joints, many times those about
centres of mass.

Differences are taken as products, not by subtraction, so that h may be zero.
"""

from __future__ import annotations

from typing import NamedTuple

import casadi as ca

from nsopt.algebra import angular_velocity_over, turn_over
from nsopt.mechanics.coordinates.links import TreeLink
from nsopt.mechanics.coordinates.recursion import Recursion, Wrench


class _Move(NamedTuple):
    """The move of a link over h, in its axes at the start."""

    e0: ca.SX  # Euler parameters of its turn: (e0, h e)
    e: ca.SX  # (3,) [1/s]
    w: ca.SX  # (3,) [rad/s] the constant angular velocity of that turn
    u: ca.SX  # (3,) [m/s] way of its origin over h


class SteadyMove:
    """The links of a tree that move at constant rates.

    Parameters
    ----------
    recursion : Recursion
        At the start of the move.
    v : SX (nv,)
    h : SX scalar [s]
        Any number.
    """

    def __init__(self, recursion: Recursion, v: ca.SX, h: ca.SX) -> None:
        self._recursion, self._v, self._h = recursion, v, h
        zero = ca.SX.zeros(3)
        ground, self._moves = _Move(ca.SX(1), zero, zero, zero), list[_Move]()
        for k, link in enumerate(recursion.tree.links):
            up = self._moves[link.parent] if link.parent >= 0 else ground
            self._moves.append(self._move(k, link, up))

    def twists(self) -> ca.SX:
        """Return the twist of each body, in the order of links, angular ones in their axes."""
        tree, twists = self._recursion.tree, [ca.SX(0, 1)]
        for link, move, A in zip(tree.links, self._moves, self._recursion.axes, strict=True):
            for _, c, _ in link.masses(tree.value):
                twists += [A @ (move.u + self._way(move, c)), move.w]
        return ca.vertcat(*twists)

    def _move(self, k: int, link: TreeLink, up: _Move) -> _Move:
        h, (R, p) = self._h, self._recursion.poses[k]
        rates = link.rates(self._v)
        slip = link.slide @ rates
        u = R.T @ (up.u + self._way(up, p + h * R @ slip)) + slip
        e, carried = R.T @ up.e, R.T @ up.w
        if link.turn.is_zero():
            return _Move(up.e0, e, carried, u)
        spin = link.turn @ rates
        f0, f = turn_over(spin, h)
        e0, e = up.e0 * f0 - h**2 * ca.dot(e, f), up.e0 * f + f0 * e + h * ca.cross(e, f)
        # Turns about one axis add up, however large.
        alike = ca.cross(carried, spin).is_zero()
        return _Move(e0, e, carried + spin if alike else angular_velocity_over(e0, e, h), u)

    def _way(self, move: _Move, c: ca.SX) -> ca.SX:
        """Return by how much a point c (3,) of a link moves about its origin, over h."""
        turning = ca.cross(move.e, c)
        return 2 * (move.e0 * turning + self._h * ca.cross(move.e, turning))


def body_momenta(recursion: Recursion, twists: ca.SX, h: ca.SX) -> list[Wrench]:
    """Return momentum and angular momentum of each link about its origin, in its axes.

    Parameters
    ----------
    recursion : Recursion
        At one end of a move.
    twists : SX (6 n,)
        Of its n bodies, by `SteadyMove`.
    h : SX scalar [s]
        Of the move that starts, less than zero of one that ends.
    """
    momenta, i = list[Wrench](), 0
    for link, A in zip(recursion.tree.links, recursion.axes, strict=True):
        f, n = ca.SX.zeros(3), ca.SX.zeros(3)
        for m, c, J in link.masses(recursion.tree.value):
            u, w = twists[i : i + 3], twists[i + 3 : i + 6]
            push, spin = m * A.T @ u, J @ w
            f += push
            n += spin + h / 2 * ca.cross(w, spin) + ca.cross(c, push)
            i += 6
        momenta.append((f, n))
    return momenta
