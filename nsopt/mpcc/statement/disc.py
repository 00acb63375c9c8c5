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

TINY = 1e-60  # square of a length below which a vector has no direction
ROUND = 0.1  # of the root of sigma, the length over which the tip of a relaxed length is rounded
BLUNT = 1e-2  # of sigma, the square of a length over which the tip of a smoothed length is rounded


@dataclass(frozen=True, eq=False)
class Disc:
    """One disc, scaled: z and rho F (2,), the radius."""

    z: ca.SX
    F: ca.SX
    radius: ca.SX
    label: str

    @cached_property
    def reach(self) -> ca.SX:
        """Where z would go against F, (2,)."""
        return self.z - self.F

    @cached_property
    def on_edge(self) -> ca.SX:
        """Whether that is not inside; a radius of zero has no inside."""
        return ca.sumsqr(self.reach) >= self.radius**2

    @cached_property
    def rows(self) -> ca.SX:
        """What is zero at a solution, (2,)."""
        # The part inside is rho F itself: of z - (z - rho F) the round-off of z would be left.
        edge = self.z - self.radius * self.reach / ca.sqrt(ca.fmax(ca.sumsqr(self.reach), TINY))
        return ca.if_else(self.on_edge, edge, self.F)

    @cached_property
    def depth(self) -> ca.SX:
        """By how much z is inside."""
        return self.radius - ca.sqrt(ca.sumsqr(self.z))


@dataclass(frozen=True, eq=False)
class DiscRow(MinRow):
    """Row k of the two rows of a disc, whose radius is zero or more."""

    disc: Disc
    k: int

    @property
    def value(self) -> ca.SX:
        return self.disc.rows[self.k]

    @property
    def holding(self) -> Holding:
        """Both rows switch at once: inside to the edge, on the edge to F = 0."""
        disc, inside = self.disc, ca.logic_not(self.disc.on_edge)
        edge = (ca.sumsqr(disc.z) - disc.radius**2) / (2 * ca.fmax(disc.radius, TINY))
        near = disc.depth if self.k == 0 else ca.inf
        # Where the radius is zero, that is what holds, whatever F is.
        slow = ca.if_else(disc.radius > 0, ca.sqrt(ca.sumsqr(disc.F)), ca.inf)
        other = ca.if_else(inside, edge, disc.F[self.k])
        margin = ca.if_else(inside, near, slow)
        return Holding(self.value, (Alternative(other, margin, disc.label),))


def rows_of_discs(block: Discs) -> Iterator[DiscRow]:
    """Yield the rows of a block."""
    for k in range(len(block.labels)):
        disc = _disc(block, k)
        disc = replace(disc, radius=ca.fmax(disc.radius, 0))
        yield from (DiscRow(disc, 0), DiscRow(disc, 1))


def _disc(block: Discs, k: int) -> Disc:
    size, both = ca.SX(block.scales[0])[k], slice(2 * k, 2 * k + 2)
    z, F = block.z[both] / size, block.F[both] * block.rho[k] / size
    return Disc(z, F, block.radius[k] / size, block.labels[k])


def split_discs(mpcc: Mpcc) -> Mpcc:
    """Return the program with equations and pairs in place of discs, (m,).

    z = radius s and F = -gamma s with 0 <= 1 - |s|^2 _|_ gamma >= 0, in new unknowns s (2m,) and
    gamma (m,): also where the radius is zero, with F free. They come after all others.
    """
    other = copy(mpcc)
    other.discs = ()
    x = mpcc.x
    guess = stack(v.guess / ca.SX(v.scale) for v in mpcc.variables)
    for block in mpcc.discs:
        name, m = block.name, len(block.labels)
        radius = block.radius if ca.depends_on(block.radius, x) else ca.fmax(block.radius, 0)
        sizes = [ca.SX(scale) for scale in block.scales]
        start = _by_two(ca.substitute(block.F, x, guess)) / ca.repmat(sizes[1], 1, 2)
        speed = ca.sqrt(ca.sum2(start**2))
        toward = -start / ca.repmat(1 + speed, 1, 2)
        s = other.variable(f"{name}_direction", 2 * m, guess=ca.vec(toward.T))
        gamma = other.variable(
            f"{name}_size", m, lower=0, scale=block.scales[1], guess=speed * sizes[1]
        )
        scales = [np.repeat(np.asarray(scale), 2) for scale in block.scales]
        other.equal(f"{name}_place", block.z - _twice(radius) * s, scale=scales[0])
        other.equal(f"{name}_against", block.F + _twice(gamma) * s, scale=scales[1])
        inside = 1 - ca.sum2(_by_two(s) ** 2)
        other.complement(name, inside, gamma, scale=(1.0, block.scales[1]), labels=block.labels)
    return other


def _by_two(values: ca.SX) -> ca.SX:
    """Return entries (2m,) of vectors as rows (m, 2)."""
    return ca.reshape(values, 2, values.numel() // 2).T


def _twice(values: ca.SX) -> ca.SX:
    """Return numbers (m,) for both entries of each vector, (2m,)."""
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
    for block in _with_radius(mpcc):
        size = ca.SX(block.scales[0])
        rows = [row for k in range(len(block.labels)) for row in _smooth(_disc(block, k), sigma)]
        scale = np.repeat(np.asarray(block.scales[0]), 2)
        sizes = ca.vertcat(*(size[k // 2] for k in range(len(rows))))
        other.equalities += (Rows(block.name, ca.vertcat(*rows) * sizes, scale),)
    return other


def relax_discs(mpcc: Mpcc, sigma: ca.SX) -> Mpcc:
    """Return the program with inequalities in place of its discs, exact as ``sigma`` goes to 0.

    |z| <= radius and radius |F| + z^T F <= sigma, the tips of both lengths rounded over
    sqrt(sigma) / 10: no other z of the disc makes z^T F less than this one by more than sigma.
    Unlike by `smooth_discs` F may be zero for any z: what sticks does not creep. So z is not
    determined by F; these are for programs with more unknowns than equations.

    Parameters
    ----------
    mpcc : Mpcc
    sigma : SX scalar
        In scaled units squared.
    """
    other = copy(mpcc)
    other.discs = ()
    for block in _with_radius(mpcc):
        name, m = block.name, len(block.labels)
        size, speed = (np.asarray(scale) for scale in block.scales)
        z, F = _by_two(block.z) / size, _by_two(block.F) / speed
        radius = block.radius / size
        tip = ROUND * ca.sqrt(sigma)
        length, reach = (ca.sqrt(ca.sum2(x**2) + tip**2) - tip for x in (F, z))
        lost = radius * length + ca.sum2(z * F) - sigma
        one = np.ones(m)
        other.inequalities += (Rows(f"{name}_reach", reach - radius, one), Rows(name, lost, one))
    return other


def _with_radius(mpcc: Mpcc) -> Iterator[Discs]:
    """Yield the discs, radii that depend on no unknown zero at least."""
    x = mpcc.x
    for block in mpcc.discs:
        given = not ca.depends_on(block.radius, x)
        yield replace(block, radius=ca.fmax(block.radius, 0)) if given else block


def _smooth(disc: Disc, sigma: ca.SX) -> list[ca.SX]:
    reach = ca.sqrt(ca.sumsqr(disc.reach) + BLUNT * sigma)
    gap = disc.radius - reach
    larger = (disc.radius + reach + ca.sqrt(gap**2 + 4 * sigma)) / 2
    return ca.vertsplit(disc.z - disc.radius * disc.reach / larger)
