"""Discs: z the projection of z - rho F, as rows of the min map and as equations and pairs.

Coulomb's law in space is such a projection [Alart, Curnier 1991, Comput. Methods Appl. Mech. Eng.
92(3)]: z the tangential impulse, F the slip, the radius mu times the normal impulse.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import casadi as ca
import numpy as np

from nsopt.mpcc.blocks import Discs
from nsopt.mpcc.min_row import Alternative, Holding, MinRow
from nsopt.mpcc.problem import Mpcc

TINY = 1e-60
"""Square of a length below which a vector has no direction."""


@dataclass(frozen=True, eq=False)
class Disc:
    """One disc, scaled: z and rho F (2,), the radius, zero or more."""

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
        """Whether that is not inside; where the radius is zero it never is."""
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
    """Row k of the two rows of a disc."""

    disc: Disc
    k: int

    @property
    def value(self) -> ca.SX:
        return self.disc.rows[self.k]

    @property
    def own(self) -> ca.SX:
        return self.disc.z[self.k]

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
    size = ca.SX(block.scales[0])
    for k, label in enumerate(block.labels):
        both = slice(2 * k, 2 * k + 2)
        z, F = block.z[both] / size[k], block.F[both] * block.rho[k] / size[k]
        disc = Disc(z, F, ca.fmax(block.radius[k], 0) / size[k], label)
        yield from (DiscRow(disc, 0), DiscRow(disc, 1))


def split_discs(other: Mpcc, block: Discs) -> None:
    """State discs as equations and pairs: z = radius b, F = -gamma b, 0 <= gamma _|_ 1 - b.b >= 0.

    With gamma (1 - b.b) = sigma instead b is a smooth function of F, z on the central path of
    minimizing z.F over the disc; so it is even where the radius is zero.
    """
    name, m = block.name, len(block.labels)
    b = other.variable(f"{name}_direction", 2 * m)
    gamma = other.variable(f"{name}_rate", m, lower=0, scale=block.scales[1])
    radius, rate = (ca.vertcat(*(x[k // 2] for k in range(2 * m))) for x in (block.radius, gamma))
    both = [np.repeat(np.asarray(scale), 2) for scale in block.scales]
    other.equal(f"{name}_edge", block.z - radius * b, scale=both[0])
    other.equal(f"{name}_against", block.F + rate * b, scale=both[1])
    inside = 1 - b[0::2] ** 2 - b[1::2] ** 2
    labels = block.labels
    other.complement(f"{name}_inside", gamma, inside, scale=(block.scales[1], 1.0), labels=labels)
