"""Gaps in bores as functions of unknowns of their own, the eccentricities u = d / c.

As a function of the coordinates the gap of a bore with a clearance of 0.01 mm is nonlinear within
0.01 mm, which limits Newton's steps to that length. As a function of the eccentricity, the offset
over the clearance, it is nonlinear on the scale of 1.
"""

from __future__ import annotations

from dataclasses import dataclass

import casadi as ca
import numpy as np
from numpy.typing import NDArray

from nsopt.mechanics import Dynamics

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Lifting:
    """The eccentricities of the bores of a mechanism, three numbers each.

    Parameters
    ----------
    dynamics : Dynamics
    """

    dynamics: Dynamics

    @property
    def size(self) -> int:
        """Number of eccentricities of a node."""
        return 3 * len(self.dynamics.bores)

    def rows(self, t: ca.SX, q: ca.SX, p: ca.SX, eccentricities: ca.SX, widening: ca.SX) -> ca.SX:
        """Return the residual of the definition of the eccentricities, (size,).

        Parameters
        ----------
        eccentricities : SX (size,)
        widening : SX scalar
            Factor by which all clearances are enlarged.
        """
        d, bores = self.dynamics, list(self.dynamics.bores)
        clearances = ca.reshape(d.clearance(p)[bores], 1, len(bores))
        offsets = d.contact_offsets(t, q, p)[:, bores]
        return ca.vec(offsets / ca.repmat(clearances, 3, 1)) - widening * eccentricities

    def gap(self, t: ca.SX, q: ca.SX, p: ca.SX, eccentricities: ca.SX, widening: ca.SX) -> ca.SX:
        """Return the gaps (ng,) [m], in bores from eccentricities, others from coordinates."""
        d = self.dynamics
        gap = d.gap(t, q, p) + (widening - 1) * d.gap_scale(p)
        clearance, (inside, _) = d.clearance(p), self._inside(p, eccentricities)
        for i, k in enumerate(d.bores):
            gap[k] = widening * clearance[k] * inside[i]
        return gap

    def directions(self, t: ca.SX, q: ca.SX, p: ca.SX, eccentricities: ca.SX) -> ca.SX:
        """Return the gradients of the gaps, (nv, ng)."""
        d = self.dynamics
        W = d.gap_matrix(t, q, p)
        x = ca.SX.sym("x", d.nq)
        offsets, (_, gradient) = d.contact_offsets(t, x, p), self._inside(p, eccentricities)
        for i, k in enumerate(d.bores):
            turn = ca.jacobian(offsets[:, k], x) @ d.rate_matrix(x)
            W[:, k] = ca.substitute(turn, x, q).T @ gradient[:, i]
        return W

    def drift(self, t: ca.SX, q: ca.SX, p: ca.SX, eccentricities: ca.SX) -> ca.SX:
        """Return by which gaps open at v = 0, (ng,) [m/s]."""
        d = self.dynamics
        drift, now = d.gap_drift(t, q, p), ca.SX.sym("t")
        offsets, (_, gradient) = d.contact_offsets(now, q, p), self._inside(p, eccentricities)
        for i, k in enumerate(d.bores):
            rate = ca.substitute(ca.jacobian(offsets[:, k], now), now, t)
            drift[k] = ca.sparsify(rate.T @ gradient[:, i])
        return ca.sparsify(drift)

    def normals(self, t: ca.SX, q: ca.SX, p: ca.SX, eccentricities: ca.SX) -> ca.SX:
        """Return the normals of contacts in bores, (3, ng) in world axes.

        Gradients of gap functions, of length 1 at the wall; zero for contacts that are in no bore.
        """
        d = self.dynamics
        axes, (_, gradient) = d.bore_axes(t, q, p), self._inside(p, eccentricities)
        normals = ca.SX.zeros(3, len(d.contact_names))
        for i, k in enumerate(d.bores):
            normals[:, k] = axes[:, 3 * i : 3 * i + 3] @ gradient[:, i]
        return normals

    def guess(self, t: float, q: Array, p: Array) -> Array:
        """Return the eccentricities of coordinates, those beyond the wall moved onto it."""
        d, bores = self.dynamics, list(self.dynamics.bores)
        if not bores:
            return np.zeros(0)
        offsets = np.asarray(d.contact_offsets(t, q, p))[:, bores]
        u = offsets / np.asarray(d.clearance(p)).ravel()[bores]
        outside = np.asarray(d.bore_gap(u, p)[0]).ravel() < 0
        inside: Array = u / np.where(outside, np.maximum(1, np.linalg.norm(u, axis=0)), 1)
        return inside.ravel(order="F")

    def _inside(self, p: ca.SX, eccentricities: ca.SX) -> tuple[ca.SX, ca.SX]:
        """Return the gaps in bores over their clearance (nb,) and their gradients (3, nb)."""
        d = self.dynamics
        gap, gradient = d.bore_gap(ca.reshape(eccentricities, 3, len(d.bores)), p)
        return gap, gradient
