"""Gaps as functions of unknowns of their own, the places inside bores over their clearance.

Seen from the coordinates a gap of 0.01 mm bends within 0.01 mm, and Newton's steps are of that
length. Seen from the place inside its bore, as a multiple of the clearance, it is a parabola.
"""

from __future__ import annotations

from dataclasses import dataclass

import casadi as ca
import numpy as np
from numpy.typing import NDArray

from nsopt.mechanics import Dynamics
from nsopt.trajectory.moment import Moment

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Lifting:
    """The places inside the bores of a mechanism, three numbers each.

    Parameters
    ----------
    dynamics : Dynamics
    """

    dynamics: Dynamics

    @property
    def bores(self) -> list[int]:
        """Which of the gaps are in bores; the others are behind planes."""
        d = self.dynamics
        q, p = np.ones(d.nq), d.values()
        offsets = np.asarray(d.contact_offsets(0, q, p)).reshape(3, -1)
        return [k for k in range(offsets.shape[1]) if not np.isnan(offsets[:, k]).all()]

    @property
    def size(self) -> int:
        """Number of unknowns of a node."""
        return 3 * len(self.bores)

    def rows(self, t: ca.SX, q: ca.SX, p: ca.SX, places: ca.SX, widen: ca.SX) -> ca.SX:
        """Return what vanishes where ``places`` are those of q, (size,).

        Parameters
        ----------
        places : SX (size,)
            Over the clearance.
        widen : SX scalar
            By which all clearances are taken larger than they are.
        """
        bores = self.bores
        if not bores:
            return ca.SX(0, 1)
        scale = ca.repmat(self.dynamics.gap_scale(p)[bores].T, 3, 1)
        return ca.vec(self.dynamics.contact_offsets(t, q, p)[:, bores] / scale) - widen * places

    def gap(self, t: ca.SX, q: ca.SX, p: ca.SX, places: ca.SX, widen: ca.SX) -> ca.SX:
        """Return the gaps (ng,) [m] from places, those behind planes from coordinates."""
        d = self.dynamics
        scale = d.gap_scale(p)
        found = d.gap(t, q, p) + (widen - 1) * scale
        for i, k in enumerate(self.bores):
            o = places[3 * i : 3 * i + 3]
            found[k] = widen * scale[k] * (1 - ca.sumsqr(o)) / 2
        return found

    def directions(self, t: ca.SX, q: ca.SX, p: ca.SX, places: ca.SX) -> ca.SX:
        """Return the gradients of the gaps, (nv, ng)."""
        d = self.dynamics
        W = d.gap_matrix(t, q, p)
        x = ca.SX.sym("x", d.nq)
        offsets = d.contact_offsets(t, x, p)
        for i, k in enumerate(self.bores):
            turn = ca.jacobian(offsets[:, k], x) @ d.rate_matrix(x)
            W[:, k] = -ca.substitute(turn, x, q).T @ places[3 * i : 3 * i + 3]
        return W

    def pushes(self, t: ca.SX, q: ca.SX, p: ca.SX, places: ca.SX) -> ca.SX:
        """Return along what contacts in bores push at their places, (3, ng) in world axes.

        Linear in the places, zero for contacts that are in no bore.
        """
        d = self.dynamics
        owners = {element.name: element for element in d.contacts}
        none = ca.SX.zeros(d.nv)
        m = Moment(d, t, q, none, none, p)
        found = ca.SX.zeros(3, len(d.contact_owners))
        for i, k in enumerate(self.bores):
            bore = owners[d.contact_owners[k]].frames[0]
            found[:, k] = -m.motion(bore).A @ places[3 * i : 3 * i + 3]
        return found

    def guess(self, t: float, q: Array, p: Array) -> Array:
        """Return the places of coordinates, moved inside their bores."""
        d, bores = self.dynamics, self.bores
        if not bores:
            return np.zeros(0)
        offsets = np.asarray(d.contact_offsets(t, q, p))[:, bores]
        o = offsets / np.asarray(d.gap_scale(p)).ravel()[bores]
        inside: Array = o / np.maximum(1, np.linalg.norm(o, axis=0))
        return inside.ravel(order="F")
