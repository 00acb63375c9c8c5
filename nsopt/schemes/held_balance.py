"""Balances of the halves of a step in which contacts that press stay closed."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import NamedTuple, Self

import casadi as ca

from nsopt.mechanics import Dynamics
from nsopt.schemes.balance import Balance
from nsopt.schemes.node import Node
from nsopt.schemes.terms import coordinates_after


class Rates(NamedTuple):
    """Rates at v = 0, of what moves with time."""

    gaps: ca.SX  # (ng,) [m/s]
    joints: ca.SX  # (nm,) of the rows of ideal joints, then of rolling

    @classmethod
    def at(cls, d: Dynamics, t: ca.SX, q: ca.SX, p: ca.SX) -> Rates:
        """Return those at a time and coordinates."""
        return cls(d.gap_drift(t, q, p), d.multiplier_drift(t, q, p))

    @classmethod
    def between(cls, d: Dynamics, first: Node, second: Node, v: tuple[ca.SX, ca.SX, ca.SX]) -> Self:
        """Return those in the middle of a step, seen from both ends alike.

        Parameters
        ----------
        v : SX (nv,), SX (nv,), SX (nv,)
            Velocities at the start, of the move and at the end.
        """
        (before, move, after), h = v, second.t - first.t
        early = coordinates_after(d, first, h / 2, (before + move) / 2)
        late = coordinates_after(d, second, -h / 2, (move + after) / 2)
        seen = (cls.at(d, (first.t + second.t) / 2, q, first.p) for q in (early, late))
        return cls(*((a + b) / 2 for a, b in zip(*seen, strict=True)))


def _nothing_moves() -> Rates:
    return Rates(ca.SX(0, 1), ca.SX(0, 1))


@dataclass(frozen=True)
class HeldBalance(Balance):
    """Half of a step; each contact that presses is held closed, without friction.

    Such a contact takes no energy, and what moves with time does its work on its own way. Positions
    weigh a force over the step by 1 - t/h in the impulse of the first half, by t/h in that of the
    second, so that with rates u at the ends and in the middle, at v = 0,

        work = -lam u_n - lam' u_n+1 - 2/3 (lam + lam') (u_m - (u_n + u_n+1) / 2)

    is of fourth order in h where the other forces and the directions are steady. Else it is of
    second order, as what the halves take for the impulse of the forces is.

    Attributes
    ----------
    rates : Rates
        By which the impulses of this half are multiplied there.
    """

    rates: Rates = field(kw_only=True, default_factory=_nothing_moves)

    def moving(self, other: Node, between: Rates) -> Self:
        """Return this half with its rates, from those at the other end and in the middle."""
        here, there = (Rates.at(self.dynamics, *node.at) for node in (self.node, other))
        triples = zip(here, there, between, strict=True)
        return replace(self, rates=Rates(*(a + 2 / 3 * (m - (a + b) / 2) for a, b, m in triples)))

    @property
    def loss(self) -> ca.SX:
        """Energy that each contact takes, (ng,) [J]: none."""
        return ca.SX.zeros(self.impulses.lam.numel())

    @property
    def contact_work(self) -> ca.SX:
        return -ca.sum1(super().loss)

    @property
    def wall_work(self) -> ca.SX:
        return -ca.dot(self.impulses.lam, self.rates.gaps)

    @property
    def driver_work(self) -> ca.SX:
        """Of joints that move with time [J]; of those kept by drives on the mean velocity."""
        d, mu = self.dynamics, self.impulses.mu
        if not d.working_rows:
            return ca.SX(0)
        pushed = self.F @ (d.driven * mu)
        own = ca.dot((1 - d.driven) * mu, self.rates.joints)
        return ca.dot(pushed, (self.before + self.after) / 2) - own
