"""Gaps in bores as functions of unknowns of their own, the eccentricities: `Lifting`.

As a function of the coordinates the gap of a bore with a clearance of 0.01 mm is nonlinear within
0.01 mm, which limits Newton's steps to that length. As a function of the eccentricity, the offset
over the clearance, it is nonlinear on the scale of 1.
"""

from __future__ import annotations

from dataclasses import dataclass

import casadi as ca
import numpy as np

from nsopt.arrays import Array
from nsopt.mechanics import Dynamics


@dataclass(frozen=True, eq=False)
class Lifting:
    """The eccentricities of the bores of a mechanism, three numbers each."""

    dynamics: Dynamics

    @property
    def size(self) -> int:
        """Number of eccentricities of a node."""
        return 3 * len(self.dynamics.bores)

    def rows(self, t: ca.SX, q: ca.SX, p: ca.SX, eccentricities: ca.SX, widening: ca.SX) -> ca.SX:
        """Return offsets over clearances minus widening times eccentricities, (size,): zero.

        ``widening`` is a factor on all clearances, above 1 in early stages of a homotopy.
        """
        d, bores = self.dynamics, list(self.dynamics.bores)
        clearances = ca.reshape(d.clearance(p)[bores], 1, len(bores))
        offsets = d.contact_offsets(t, q, p)[:, bores]
        return ca.vec(offsets / ca.repmat(clearances, 3, 1)) - widening * eccentricities

    def gap(self, t: ca.SX, q: ca.SX, p: ca.SX, eccentricities: ca.SX, widening: ca.SX) -> ca.SX:
        """Return the gaps (ng,) [m], in bores from eccentricities, others from coordinates."""
        d = self.dynamics
        gap = d.gap(t, q, p) + (widening - 1) * d.gap_scale(p)
        clearance, (relative, _) = d.clearance(p), self._relative_gap(p, eccentricities)
        for i, k in enumerate(d.bores):
            gap[k] = widening * clearance[k] * relative[i]
        return gap

    def directions(self, t: ca.SX, q: ca.SX, p: ca.SX, eccentricities: ca.SX) -> ca.SX:
        """Return the matrix W (nv, ng), by which gaps open at the rate W^T v + `drift`."""
        d = self.dynamics
        W = d.gap_matrix(t, q, p)
        symbol = ca.SX.sym("x", d.nq)  # CasADi differentiates by symbols, q may be an expression
        offsets = d.contact_offsets(t, symbol, p)
        gradient = self._relative_gap(p, eccentricities)[1]
        for i, k in enumerate(d.bores):
            offset_by_v = ca.jacobian(offsets[:, k], symbol) @ d.rate_matrix(symbol)
            W[:, k] = ca.substitute(offset_by_v, symbol, q).T @ gradient[:, i]
        return W

    def drift(self, t: ca.SX, q: ca.SX, p: ca.SX, eccentricities: ca.SX) -> ca.SX:
        """Return the speeds at which gaps open at v = 0, (ng,) [m/s]."""
        d = self.dynamics
        drift, symbol = d.gap_drift(t, q, p), ca.SX.sym("t")
        offsets = d.contact_offsets(symbol, q, p)
        gradient = self._relative_gap(p, eccentricities)[1]
        for i, k in enumerate(d.bores):
            rate = ca.substitute(ca.jacobian(offsets[:, k], symbol), symbol, t)
            drift[k] = ca.sparsify(rate.T @ gradient[:, i])
        return ca.sparsify(drift)

    def normals(self, t: ca.SX, q: ca.SX, p: ca.SX, eccentricities: ca.SX) -> ca.SX:
        """Return the normals of contacts in bores, (3, ng) in world axes.

        Gradients of gap functions, of length 1 at the wall; zero for contacts outside of bores.
        """
        d = self.dynamics
        axes, (_, gradient) = d.bore_axes(t, q, p), self._relative_gap(p, eccentricities)
        normals = ca.SX.zeros(3, len(d.contact_names))
        for i, k in enumerate(d.bores):
            normals[:, k] = axes[:, 3 * i : 3 * i + 3] @ gradient[:, i]
        return normals

    def guess(self, t: float, q: Array, p: Array) -> Array:
        """Return the eccentricities (size,) of a posture, at most as far out as the wall."""
        d, bores = self.dynamics, list(self.dynamics.bores)
        if not bores:
            return np.zeros(0)
        offsets = np.asarray(d.contact_offsets(t, q, p))[:, bores]
        u = offsets / np.asarray(d.clearance(p)).ravel()[bores]
        outside = np.asarray(d.bore_gap(u, p)[0]).ravel() < 0
        inside: Array = u / np.where(outside, np.maximum(1, np.linalg.norm(u, axis=0)), 1)
        return inside.ravel(order="F")

    def _relative_gap(self, p: ca.SX, eccentricities: ca.SX) -> tuple[ca.SX, ca.SX]:
        """Return the gaps in bores over their clearances (nb,), and their gradients (3, nb)."""
        d = self.dynamics
        gap, gradient = d.bore_gap(ca.reshape(eccentricities, 3, len(d.bores)), p)
        return gap, gradient
