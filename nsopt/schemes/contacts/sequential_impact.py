"""Impacts one after another: how speed runs through bodies that touch."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Integral

import casadi as ca

from nsopt.mechanics import Dynamics
from nsopt.schemes.balance import Impulses
from nsopt.schemes.contacts.impact import Early, Impact, Rebound, nothing
from nsopt.schemes.contacts.modes import ContactModes, KnownModes
from nsopt.schemes.contacts.walls import respond
from nsopt.schemes.node import Node

LEAST = 1e-12  # of the largest speed of approach, one that is none
TINY = 1e-300  # instead of the mobility of a contact that nothing moves


@dataclass(frozen=True)
class SequentialImpact(Impact):
    """Impacts of single contacts, one after another, always where surfaces approach fastest.

    Each by Newton's law, dg(v+) = -e dg(v-) with the rate of the gaps dg(v) = W^T v + dg/dt, as if
    no other contact were there. Touching contacts take part, with their e: so the speed of the
    first of a row of equal balls that touch goes to the last (Newton's cradle), where laws of all
    contacts at once share it. What still approaches after all of these impacts comes to rest.

    No energy is gained, with any e up to 1 of each contact: a single impact without friction gains
    none, nor does coming to rest. Contacts with friction are refused, and horizons.

    Parameters
    ----------
    rounds : int
        At most so many impacts for each contact.
    """

    rounds: int = 4

    def __post_init__(self) -> None:
        if not isinstance(self.rounds, Integral) or self.rounds < 1:
            raise ValueError(
                f"rounds of SequentialImpact must be a whole number, 1 or more, got {self.rounds!r}"
            )

    def coefficients(self, e: ca.SX, fresh: ca.SX) -> ca.SX:
        """Return e of all: what touches is struck, too."""
        del fresh
        return e

    def state(
        self, modes: ContactModes, node: Node, restitution: ca.SX, early: Early = nothing
    ) -> Rebound:
        del early
        d, count = modes.dynamics, restitution.numel()
        none = Impulses.none(d)
        if not count:
            return Rebound.none(d)
        _refuse_friction(d)
        if not isinstance(modes, KnownModes):
            raise ValueError("SequentialImpact is of simulations: take NewtonImpact over a horizon")
        # By how much an impulse at each contact changes the rate of each gap.
        answers = node.W.T @ respond(d.mass(*node.at[1:]), d.closure_matrix(*node.at), node.W)
        rate, lam = node.gap_rate(node.v), none.lam
        least = LEAST * ca.mmax(ca.fabs(rate))
        for _ in range(self.rounds * count):
            approach = ca.if_else(modes.closed, ca.fmax(-rate, 0), 0)
            first = _find_first(approach, ca.fmax(ca.mmax(approach), least))
            push = first * (1 + restitution) * approach / ca.fmax(ca.diag(answers), TINY)
            lam, rate = lam + push, rate + answers @ push
        return Rebound(ca.SX.zeros(count), none.lam, none._replace(lam=lam))


def _find_first(values: ca.SX, limit: ca.SX) -> ca.SX:
    """Return 1 at the first of the values (n,) that are not below a limit, 0 elsewhere."""
    found, earlier = ca.SX.zeros(values.numel()), ca.SX(0)
    for k in range(values.numel()):
        reached = (values[k] >= limit) * (limit > 0)
        found[k] = reached * (1 - earlier)
        earlier = ca.fmax(earlier, reached)
    return found


def _refuse_friction(d: Dynamics) -> None:
    if d.slip_contacts:
        name = d.contact_names[d.slip_contacts[0]]
        raise ValueError(
            f"SequentialImpact knows no friction, but contact {name!r} has it: take PoissonImpact"
        )
