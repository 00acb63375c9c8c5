"""Tangential impulses of contacts: dry friction, exact in the plane and regularised in space."""

from __future__ import annotations

import casadi as ca
import numpy as np
from numpy.typing import NDArray

from nsopt.mechanics import Dynamics
from nsopt.mpcc import Mpcc
from nsopt.schemes.node import Node
from nsopt.schemes.scales import Scales


class Friction:
    """The friction of one program: its unknowns, then its law.

    With slip u = T^T v + drift and normal impulse lam, for each contact:

    =========  ================================================================
    plane      -mu lam <= lam_t <= mu lam, lam_t against u, any value where u = 0
    space      lam_t sqrt(|u|^2 + creep^2) = -mu lam u, so in the plane with ``least_creep``
    viscous    -h d u more, while closed
    =========  ================================================================

    The first is the polyhedral cone of the plane, exact; the second smooths the edge of the
    second-order cone, so that sticking is creeping.

    Parameters
    ----------
    mpcc : Mpcc
    dynamics : Dynamics
    scales : Scales
    tag : str
        Ends the names of unknowns and rows, where a program has friction twice.
    least_creep : float [m/s]
        By which the law is smoothed at least; zero leaves it as it is.
    """

    def __init__(
        self,
        mpcc: Mpcc,
        dynamics: Dynamics,
        scales: Scales,
        tag: str = "",
        least_creep: float = 0.0,
    ) -> None:
        self._mpcc, self._d, self._scales, self._tag = mpcc, dynamics, scales, tag
        self._least_creep = least_creep
        owners = np.array(dynamics.slip_contacts, dtype=int)
        alone = np.array([np.sum(owners == i) == 1 for i in owners], dtype=bool)
        mu = dynamics.friction(ca.SX.sym("p", len(dynamics.parameters)))
        dry = np.array([not mu[int(i)].is_zero() for i in owners], dtype=bool)
        exact = alone & (least_creep == 0)
        self._owners, self._plane = owners, np.flatnonzero(exact & dry)
        self._space = np.flatnonzero(~exact & dry)
        self._unknowns = ca.SX.zeros(owners.size)
        self._law: tuple[ca.SX, ca.SX, ca.SX] | None = None

    def add_space(self) -> None:
        """Make the unknowns that are given by equations."""
        self._add("slip_space", self._space)

    def add_plane(self) -> None:
        """Make the unknowns that lie in boxes."""
        self._add("slip_plane", self._plane)

    def _add(self, name: str, columns: NDArray[np.intp]) -> None:
        if columns.size:
            size = self._scales.impulse
            unknowns = self._mpcc.variable(name + self._tag, columns.size, scale=size)
            for k, column in enumerate(columns):
                self._unknowns[int(column)] = unknowns[k]

    def impulse(self, node: Node, v: ca.SX, lam: ca.SX, closed: ca.SX, h: ca.SX) -> ca.SX:
        """Return the tangential impulses (ns,) [N s], to be followed by `state`.

        Parameters
        ----------
        node : Node
            Where contacts and directions are taken.
        v : SX (nv,)
            At which slip is judged.
        lam : SX (ng,) [N s]
            Contact impulses; times the slope of the gap function they are the normal ones.
        closed : SX (ng,), from 0 to 1
            Where the viscous part acts.
        h : SX scalar [s]
            Over which it acts.
        """
        owners = [int(i) for i in self._owners]
        if not owners:
            return ca.SX(0, 1)
        d, at, p = self._d, node.at, node.p
        u = d.slip_matrix(*at).T @ v + node.slip_drift
        limit = _each(d.friction(p) * d.slope(*at) * lam, owners)
        least = self._least_creep
        self._law = (u, limit, ca.fmax(d.creep(p), least) if least else d.creep(p))
        return self._unknowns - h * _each(d.viscous(p) * closed, owners) * u

    def state(self) -> None:
        """State the law."""
        if self._law is None:
            return
        u, limit, creep = self._law
        owners = [int(i) for i in self._owners]
        speed = self._scales.impulse / self._scales.mass
        plane, space = ([int(i) for i in part] for part in (self._plane, self._space))
        if space:
            squares = by_contact(self._d, u**2)
            sizes = ca.sqrt(_each(squares + creep**2, owners))
            law = self._unknowns + limit * u / sizes
            name, size = f"friction_in_space{self._tag}", self._scales.impulse
            self._mpcc.equal(name, _each(law, space), scale=size)
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


def by_contact(d: Dynamics, values: ca.SX) -> ca.SX:
    """Return sums over the slips (ns,) of each contact, (ng,)."""
    sums = ca.SX.zeros(len(d.contact_names))
    for k, i in enumerate(d.slip_contacts):
        sums[int(i)] += values[k]
    return sums


def _each(values: ca.SX, rows: list[int]) -> ca.SX:
    return ca.vertcat(ca.SX(0, 1), *(values[k] for k in rows))
