"""Tangential impulses of contacts: dry friction, exact in the plane and in space."""

from __future__ import annotations

import casadi as ca
import numpy as np
from numpy.typing import NDArray

from nsopt.mechanics import Dynamics
from nsopt.mpcc import Mpcc
from nsopt.schemes.contacts.slips import by_contact, size_of_slip
from nsopt.schemes.node import Node
from nsopt.schemes.scales import Scales
from nsopt.schemes.terms import metric

LIGHT = 1e-12  # least mobility [1/kg], that of a slip that nothing with a mass takes part in


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
        owners = np.array(dynamics.slip_contacts, dtype=int)
        alone = np.array([np.sum(owners == i) == 1 for i in owners], dtype=bool)
        mu = dynamics.friction(ca.SX.sym("p", len(dynamics.parameters)))
        dry = np.array([not mu[int(i)].is_zero() for i in owners], dtype=bool)
        exact = dry & (creep == 0)
        self._owners, self._plane = owners, np.flatnonzero(exact & alone)
        self._space = np.flatnonzero(exact & ~alone)
        self._smoothed = np.flatnonzero(dry & ~exact)
        self._unknowns = ca.SX.zeros(owners.size)
        self._law: tuple[ca.SX, ca.SX, ca.SX] | None = None

    def add(self) -> None:
        """Make the unknowns, in the order of their rows."""
        self._add("slip_smoothed", self._smoothed)
        self._add("slip_plane", self._plane)
        self._add("slip_space", self._space)

    def _add(self, name: str, columns: NDArray[np.intp]) -> None:
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
    ) -> ca.SX:
        """Return the tangential impulses (ns,) [N s], to be followed by `state`.

        Contacts and directions are taken at the node, slip (ns,) [m/s] is judged there with v (nv,)
        unless it is given. Impulses lam (ng,) [N s], times the slope of the gap function, are the
        normal ones. The viscous part acts where ``closed`` (ng,), from 0 to 1, over h. ``turn``
        (ns,), in space, is the unit vector against which friction acts, less that of the slip.
        """
        owners = [int(i) for i in self._owners]
        if not owners:
            return ca.SX(0, 1)
        d, at, p = self._d, node.at, node.p
        T = d.slip_matrix(*at)
        u = T.T @ v + node.slip_drift if slip is None else slip
        if turn is not None and self._space.size:
            u += _each(size_of_slip(d, u), owners) * turn
        limit = _each(d.friction(p) * d.slope(*at) * lam, owners)
        self._law = (u, limit, _resistance(T, metric(d.mass(*at[1:]))))
        return self._unknowns - h * _each(d.viscous(p) * closed, owners) * u

    def state(self) -> None:
        """State the law."""
        if self._law is None:
            return
        u, limit, mass = self._law
        owners = [int(i) for i in self._owners]
        speed = self._scales.impulse / self._scales.mass
        parts = (self._smoothed, self._plane, self._space)
        smoothed, plane, space = ([int(i) for i in part] for part in parts)
        if smoothed:
            sizes = ca.sqrt(_each(by_contact(self._d, u**2) + self._creep**2, owners))
            law = self._unknowns + limit * u / sizes
            name, size = f"friction_smoothed{self._tag}", self._scales.impulse
            self._mpcc.equal(name, _each(law, smoothed), scale=size)
        if plane:
            self._mpcc.box(
                f"friction{self._tag}",
                _each(self._unknowns, plane),
                _each(u, plane),
                lower=-_each(limit, plane),
                upper=_each(limit, plane),
                scale=(self._scales.impulse, speed),
                labels=[self._d.contact_names[owners[k]] for k in plane],
            )
        if space:
            first = space[::2]  # both slips of a contact are side by side
            self._mpcc.disc(
                f"friction_in_space{self._tag}",
                _each(self._unknowns, space),
                _each(u, space),
                radius=_each(limit, first),
                scale=(self._scales.impulse, speed),
                rho=ca.fmin(_each(mass, first), _each(mass, space[1::2])),
                labels=[self._d.contact_names[owners[k]] for k in first],
            )


def _resistance(T: ca.SX, M: ca.SX) -> ca.SX:
    """Return about the mass that resists each slip (ns,) [kg], of the diagonal of M alone."""
    return 1 / ca.fmax((T**2).T @ (1 / ca.diag(M)), LIGHT)


def _each(values: ca.SX, rows: list[int]) -> ca.SX:
    return ca.vertcat(ca.SX(0, 1), *(values[k] for k in rows))
