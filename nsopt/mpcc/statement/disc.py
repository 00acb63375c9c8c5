"""Discs: z the projection of z - rho F, as rows of the min map, smooth equations, inequalities.

Coulomb's law in space is such a projection [Alart, Curnier 1991, Comput. Methods Appl. Mech. Eng.
92(3)]: z the tangential impulse, F the slip, the radius mu times the normal impulse.
"""

from __future__ import annotations

from collections.abc import Iterator
from copy import copy
from dataclasses import dataclass, replace
from functools import cached_property

import casadi as ca
import numpy as np

from nsopt.mpcc.statement.blocks import Discs, Rows, stack
from nsopt.mpcc.statement.min_row import Alternative, Holding, MinRow
from nsopt.mpcc.statement.problem import Mpcc

TINY = 1e-60  # squared length below which a vector has no direction
ROUND = 0.1  # times sqrt(sigma): the length over which `relax_discs` rounds |z| and |F| at zero
NO_RADIUS = 1e-11  # scaled radius that round-off leaves of none, as where a contact is open
NO_REACH = 1e-7  # scaled length of z - rho F that has no direction there
BLUNT = 1e-2  # times sigma: its square, over which `smooth_discs` rounds |y|


@dataclass(frozen=True, eq=False)
class Disc:
    """One disc, divided by the scale of z."""

    z: ca.SX  # (2,)
    F: ca.SX  # (2,) rho F of the program
    radius: ca.SX
    label: str

    @cached_property
    def reach(self) -> ca.SX:
        """The point z - rho F that is projected on the disc, (2,)."""
        return self.z - self.F

    @cached_property
    def on_edge(self) -> ca.SX:
        """Whether ``reach`` is not inside the disc; a radius of zero has no inside."""
        return ca.sumsqr(self.reach) >= self.radius**2

    @cached_property
    def rows(self) -> ca.SX:
        """What is zero at a solution, (2,)."""
        # Inside that is z - (z - rho F) = rho F, without the round-off of z.
        edge = self.z - self.radius * self.reach / ca.sqrt(ca.fmax(ca.sumsqr(self.reach), TINY))
        return ca.if_else(self.on_edge, edge, self.F)

    @cached_property
    def depth(self) -> ca.SX:
        """Distance of z from the edge, positive inside."""
        return self.radius - ca.sqrt(ca.sumsqr(self.z))


@dataclass(frozen=True, eq=False)
class DiscRow(MinRow):
    """One of the two rows of a disc, whose radius is zero or more."""

    disc: Disc
    k: int  # 0 or 1

    @property
    def value(self) -> ca.SX:
        return self.disc.rows[self.k]

    @property
    def holding(self) -> Holding:
        """Both rows switch at once: inside to the edge, on the edge to F = 0.

        Where the radius is zero, z = 0 whatever F is: no row switches. Nor where that is so but for
        round-off, which else would put z inside, or give the edge a direction.
        """
        disc, inside = self.disc, ca.logic_not(self.disc.on_edge)
        shrunk = ca.logic_and(disc.radius <= NO_RADIUS, ca.sumsqr(disc.reach) <= NO_REACH**2)
        edge = (ca.sumsqr(disc.z) - disc.radius**2) / (2 * ca.fmax(disc.radius, TINY))
        near = disc.depth if self.k == 0 else ca.inf
        other = ca.if_else(inside, edge, disc.F[self.k])
        margin = ca.if_else(shrunk, ca.inf, ca.if_else(inside, near, ca.sqrt(ca.sumsqr(disc.F))))
        row = ca.if_else(shrunk, disc.z[self.k], self.value)
        return Holding(row, (Alternative(other, margin, disc.label),))


def make_disc_rows(block: Discs) -> Iterator[DiscRow]:
    """Yield the rows of a block."""
    for k in range(len(block.labels)):
        disc = _make_disc(block, k)
        # Not fmax, whose derivative is a half where the radius is zero.
        disc = replace(disc, radius=ca.if_else(disc.radius < 0, 0, disc.radius))
        yield from (DiscRow(disc, 0), DiscRow(disc, 1))


def _make_disc(block: Discs, k: int) -> Disc:
    size, both = ca.SX(block.scales[0])[k], slice(2 * k, 2 * k + 2)
    z, F = block.z[both] / size, block.F[both] * block.rho[k] / size
    return Disc(z, F, block.radius[k] / size, block.labels[k])


def split_discs(mpcc: Mpcc) -> Mpcc:
    """Return the program with equations and pairs in place of its discs.

    z = radius s and F = -gamma s with 0 <= 1 - |s|^2 _|_ gamma >= 0, in new unknowns s (2m,) and
    gamma (m,) of each block, after all others: where the radius is zero, F stays free.
    """
    other = copy(mpcc)
    other.discs = ()
    x = mpcc.x
    guess = stack(v.guess / ca.SX(v.scale) for v in mpcc.variables)
    for block in _clip_radii(mpcc):
        name, m = block.name, len(block.labels)
        sizes = [ca.SX(scale) for scale in block.scales]
        F = _split_vectors(ca.substitute(block.F, x, guess)) / ca.repmat(sizes[1], 1, 2)
        speed = ca.sqrt(ca.sum2(F**2))
        toward = -F / ca.repmat(1 + speed, 1, 2)  # inside the disc, and defined where F = 0
        s = other.variable(f"{name}_direction", 2 * m, guess=ca.vec(toward.T))
        gamma = other.variable(
            f"{name}_size", m, lower=0, scale=block.scales[1], guess=speed * sizes[1]
        )
        scales = [np.repeat(np.asarray(scale), 2) for scale in block.scales]
        other.equal(f"{name}_place", block.z - _repeat_each(block.radius) * s, scale=scales[0])
        other.equal(f"{name}_against", block.F + _repeat_each(gamma) * s, scale=scales[1])
        inside = 1 - ca.sum2(_split_vectors(s) ** 2)
        other.complement(name, inside, gamma, scale=(1.0, block.scales[1]), labels=block.labels)
    return other


def _split_vectors(values: ca.SX) -> ca.SX:
    """Return vectors stacked as (2m,) as rows (m, 2)."""
    return ca.reshape(values, 2, values.numel() // 2).T


def _repeat_each(values: ca.SX) -> ca.SX:
    """Return numbers (m,) twice each, (2m,): for both entries of vectors."""
    return ca.vec(ca.repmat(values.T, 2, 1))


def smooth_discs(mpcc: Mpcc, sigma: ca.SX) -> Mpcc:
    """Return the program with its discs as smooth equations, exact as ``sigma`` goes to 0.

    z - radius y / m = 0 for y = z - rho F, where m, the larger of radius and |y|, is smoothed by
    (m - radius)(m - |y|) = sigma: as `NaturalResidual` smooths the smaller of two. A radius of
    unknowns must be zero or more at a solution, by a condition of its own, as that of friction is.

    Parameters
    ----------
    mpcc : Mpcc
    sigma : SX scalar
        In scaled units squared.
    """
    other = copy(mpcc)
    other.discs = ()
    for block in _clip_radii(mpcc):
        discs = (_make_disc(block, k) for k in range(len(block.labels)))
        rows = [row for disc in discs for row in _smooth(disc, sigma)]
        scale = np.repeat(np.asarray(block.scales[0]), 2)
        other.equalities += (Rows(block.name, ca.vertcat(*rows) * ca.SX(scale), scale),)
    return other


def relax_discs(mpcc: Mpcc, sigma: ca.SX) -> Mpcc:
    """Return the program with inequalities in place of its discs, exact as ``sigma`` goes to 0.

    |z| <= radius and radius |F| + z^T F <= sigma, both lengths rounded at zero over
    sqrt(sigma) / 10: no other z of the disc makes z^T F less than this one by more than sigma.
    Unlike in `smooth_discs` F may be zero for any z, so what sticks does not creep, but z is not
    determined by F: for programs with more unknowns than equations.

    Parameters
    ----------
    mpcc : Mpcc
    sigma : SX scalar
        In scaled units squared.
    """
    other = copy(mpcc)
    other.discs = ()
    for block in _clip_radii(mpcc):
        name, m = block.name, len(block.labels)
        size, speed = (np.asarray(scale) for scale in block.scales)
        z, F = _split_vectors(block.z) / size, _split_vectors(block.F) / speed
        radius = block.radius / size
        tip = ROUND * ca.sqrt(sigma)
        length, reach = (ca.sqrt(ca.sum2(x**2) + tip**2) - tip for x in (F, z))
        missed = radius * length + ca.sum2(z * F) - sigma  # of the least z^T F of the disc
        one = np.ones(m)
        other.inequalities += (Rows(f"{name}_reach", reach - radius, one), Rows(name, missed, one))
    return other


def _clip_radii(mpcc: Mpcc) -> Iterator[Discs]:
    """Yield the discs; radii that depend on no unknown are raised to zero at least."""
    for block in mpcc.discs:
        given = not ca.depends_on(block.radius, mpcc.x)
        yield replace(block, radius=ca.fmax(block.radius, 0)) if given else block


def _smooth(disc: Disc, sigma: ca.SX) -> list[ca.SX]:
    """Return the two equations of a smoothed disc."""
    reach = ca.sqrt(ca.sumsqr(disc.reach) + BLUNT * sigma)
    gap = disc.radius - reach
    larger = (disc.radius + reach + ca.sqrt(gap**2 + 4 * sigma)) / 2
    return ca.vertsplit(disc.z - disc.radius * disc.reach / larger)
