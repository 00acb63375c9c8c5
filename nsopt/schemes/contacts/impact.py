"""Laws of impact: how velocities jump when contacts close."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

import casadi as ca
import numpy as np
from numpy.typing import NDArray

from nsopt.checks import whole
from nsopt.mechanics import Dynamics
from nsopt.schemes.balance import Balance, Impulses
from nsopt.schemes.contacts.friction import Friction
from nsopt.schemes.contacts.modes import ContactModes, KnownModes, find_rate_scales
from nsopt.schemes.contacts.walls import respond
from nsopt.schemes.node import Node
from nsopt.schemes.terms import rolling

Early = Callable[[ca.SX], ca.SX]
"""Returns the impulse (nv,) of all else before the rebound, of v at greatest compression."""


def nothing(v: ca.SX) -> ca.SX:
    """Return the impulse (nv,) of all else where a step ends at the impact: zero."""
    return ca.SX(v.numel(), 1)


@dataclass(frozen=True)
class Rebound:
    """What a law of impact asks of the last phase of an impact, at whose end velocities are v+.

        0 <= dg(v+) + rate _|_ more >= 0,    impulses  spent + given + more

    In a step that has its impacts at its end, all else acts in that phase too.
    """

    rate: ca.SX  # (ng,) [m/s]
    given: ca.SX  # (ng,) [N s] impulse of the last phase at least
    spent: Impulses  # of the phases before
    # (ng,) [m/s] at which contacts without impulse so far still approach; they get none later.
    approach: ca.SX | None = None

    @classmethod
    def zero(cls, d: Dynamics) -> Rebound:
        """Return a rebound by which everything comes to rest."""
        none = Impulses.zero(d)
        return cls(none.lam, none.lam, none)

    def press(self, name: str, modes: ContactModes, rate: ca.SX, more: ca.SX) -> None:
        """State the condition of the last phase, of its rate dg(v+) and ``more``, (ng,) each."""
        modes.press(name, rate + self.rate, more)
        if self.approach is None:
            return
        sizes, labels = find_rate_scales(modes.scales), modes.dynamics.contact_names
        modes.mpcc.complement("approaching", self.approach, more, scale=sizes, labels=labels)

    def complete_rate(self, rate: ca.SX, more: ca.SX) -> ca.SX:
        """Return the rate (ng,) [m/s] to which the whole impulse is complementary."""
        if self.given.is_zero() and self.spent.lam.is_zero():
            return rate + self.rate
        whole = self.spent.lam + self.given + more
        part = ca.if_else(whole > 0, more / whole, 1)
        return self.rate + ca.fmin(rate, 0) + part * ca.fmax(rate, 0)


class Impact(ABC):
    """A law of impact of all closed contacts at once, with friction.

    The same statement serves steps that end at impacts (`ContactAligned`) and steps that have
    impacts at their end (`Variational`, `MoreauJean`), which add what else acts in the step.
    """

    takes_compression: ClassVar[bool] = False
    """Whether `ContactLaw.tangential_restitution` and ``stiffness`` count."""

    strikes_lasting: ClassVar[bool] = False
    """Whether contacts that last rebound too, struck by an impact elsewhere."""

    @abstractmethod
    def state(
        self, modes: ContactModes, node: Node, restitution: ca.SX, early: Early = nothing
    ) -> Rebound:
        """State all phases of an impact but the last; return what the last one has to meet.

        Parameters
        ----------
        modes : ContactModes
            Contacts that take part, and the program.
        node : Node
            Before the impact.
        restitution : SX (ng,)
            e of each contact.
        early : callable
            Half of all else that acts in a step with its impacts at its end: what lies on a floor
            is then compressed by half of its weight, and given back less than it needs afterwards.
        """

    def coefficients(self, e: ca.SX, fresh: ca.SX) -> ca.SX:
        """Return e (ng,) in a step: of all contacts, or only of those that close.

        Parameters
        ----------
        e : SX (ng,)
            As stated.
        fresh : SX (ng,), 0 or 1
            Contacts that were open before, and approached.
        """
        return e if self.strikes_lasting else e * fresh

    @property
    def fallback(self) -> Impact | None:
        """The law that takes an impact in which this one gives energy; none by default."""
        return None

    def gain_remedy(self, d: Dynamics, p: NDArray[np.float64]) -> str:
        """Return what to do where contacts give energy; by default nothing."""
        del d, p
        return ""

    def jump(self, modes: ContactModes, node: Node, restitution: ca.SX) -> Balance:
        """State an impact in which nothing else acts; return its balance of momentum."""
        rebound = self.state(modes, node, restitution)
        phase = Phase(modes, node, "impact")
        more = phase.impulse()
        balance = phase.state(rebound, more)
        rebound.press("rebound", modes, node.gap_rate(balance.after), more)
        return balance


@dataclass(frozen=True)
class NewtonImpact(Impact):
    """Newton's law: 0 <= dg(v+) + e dg(v-) _|_ Lam >= 0, dg(v) = W^T v + dg/dt.

    With friction, with several contacts at once, or e that differ, energy may be gained: such an
    impact is taken by Poisson's law.
    """

    @property
    def fallback(self) -> Impact:
        return PoissonImpact()

    def gain_remedy(self, d: Dynamics, p: NDArray[np.float64]) -> str:
        if not np.any(np.asarray(d.restitution(p)) > 0):
            return ""
        return (
            "By Newton's law of impact contacts with friction, or several at once, can give "
            "energy: take a scheme with impact=PoissonImpact()"
        )

    def state(
        self, modes: ContactModes, node: Node, restitution: ca.SX, early: Early = nothing
    ) -> Rebound:
        del early
        none = Impulses.zero(modes.dynamics)
        return Rebound(restitution * node.gap_rate(node.v), none.lam, none)


@dataclass(frozen=True)
class PoissonImpact(Impact):
    """Poisson's law: compression without rebound, then e times its impulses given back.

    0 <= dg(v_c) _|_ Lam_c >= 0, then 0 <= dg(v+) _|_ Lam_x >= 0 for what is needed beyond e Lam_c
    so that nothing penetrates, with the rate of the gaps dg(v) = W^T v + dg/dt. Each phase has
    Coulomb friction of its own, under its own impulses and of the slip at its end [Pfeiffer,
    Glocker 1996, Multibody Dynamics with Unilateral Contacts, ch. 8, without their tangential
    restitution].

    Notes
    -----
    No energy is gained where e <= 1 is the same for all contacts that meet at once, whatever their
    number and friction. With a = v_c - v-, b = v+ - v_c in the metric of the mass and relative
    velocities dg (normal), u (tangential),

        dE = Lam_c.dg_c + T_c.u_c - |a|^2/2 + Lam_e.dg+ + T_e.u+ - |b|^2/2.

    The first term is zero, the second at most zero. Lam_e.dg+ = e Lam_c.dg+ = e (a.v+ - T_c.u+), of
    which a.v+ = Lam_c.dg_c + T_c.u_c + a.b is at most a.b, and -T_c.u+ at most mu Lam_c.|u+|. But
    T_e.u+ = -mu Lam_e.|u+| is at most -e mu Lam_c.|u+|, for Lam_e >= e Lam_c. So
    dE <= -|a|^2/2 - |b|^2/2 + e a.b <= 0. Without friction e may differ. For contacts with friction
    whose e differ see [Glocker 2013, Multibody Syst. Dyn. 29].
    """

    strikes_lasting = True

    def state(
        self, modes: ContactModes, node: Node, restitution: ca.SX, early: Early = nothing
    ) -> Rebound:
        d = modes.dynamics
        if restitution.is_zero():
            return Rebound.zero(d)
        with modes.before("compression") as earlier:
            phase = Phase(earlier, node, "compression")
            lam = phase.impulse()
            balance = phase.state(Rebound.zero(d), lam, early)
            approach = earlier.press("compressed", node.gap_rate(balance.after), lam)
        spent, none = balance.impulses, ca.SX.zeros(lam.numel())
        return Rebound(none, restitution * lam, spent, approach)


class Phase:
    """A phase of an impact: its unknowns, then its balance."""

    def __init__(self, modes: ContactModes, node: Node, name: str) -> None:
        self._modes, self._node, self._name = modes, node, name
        d, mpcc, size = modes.dynamics, modes.mpcc, modes.scales.impulse
        self._v = mpcc.variable(f"v_{name}", d.nv, guess=node.v)
        self._mu = mpcc.variable(f"joint_{name}", len(d.multiplier_names), scale=size)
        self._friction = Friction(mpcc, d, modes.scales, f"_{name}")

    def impulse(self) -> ca.SX:
        """Add impulses of the contacts, (ng,) [N s]."""
        d, mpcc, size = self._modes.dynamics, self._modes.mpcc, self._modes.scales.impulse
        lam = mpcc.variable(self._name, len(d.contact_names), scale=size)
        self._friction.add()
        return lam

    def state(self, rebound: Rebound, more: ca.SX, early: Early = nothing) -> Balance:
        """State how impulses change the velocity, that joints hold and that friction resists."""
        d, node, mpcc, v = self._modes.dynamics, self._node, self._modes.mpcc, self._v
        none, lam, spent = ca.SX.zeros(more.numel()), rebound.given + more, rebound.spent
        slip = self._friction.impulse(node, v, lam, none, ca.SX(0))
        impulses = Impulses(self._mu, spent.lam + lam, spent.slip + slip)
        jump = Balance.of(d, node, (node.v, v), ca.SX(0), ca.SX(d.nv, 1), impulses)
        motion = jump.residual - early(v)
        mpcc.equal(f"{self._name}_motion", motion, scale=self._modes.scales.impulse)
        rate = jump.C @ v + d.closure_drift(*node.at)
        mpcc.equal(f"{self._name}_joint_rate", rate)
        mpcc.equal(f"{self._name}_rolling", rolling(d, node.at, v))
        self._friction.state()
        mpcc.least_norm((self._name, f"joint_{self._name}"))
        return jump


class IncrementalImpact(Impact):
    """A law that follows an impact from impulse to impulse, all of them before the last phase.

    Contacts that are closed must be known; over horizons they are unknown, and it is refused there.
    """

    strikes_lasting = True

    @abstractmethod
    def integrate(self, d: Dynamics, node: Node, closed: ca.SX, restitution: ca.SX) -> Impulses:
        """Return the impulses of contacts that are ``closed``, (ng,) 0 or 1, on bodies at a node.

        There is one contact at least; ``restitution`` is as for `Impact.state`.
        """

    def state(
        self, modes: ContactModes, node: Node, restitution: ca.SX, early: Early = nothing
    ) -> Rebound:
        del early
        d, count = modes.dynamics, restitution.numel()
        if not count:
            return Rebound.zero(d)
        if not isinstance(modes, KnownModes):
            name = type(self).__name__
            raise ValueError(f"{name} is of simulations: take NewtonImpact over a horizon")
        spent = self.integrate(d, node, modes.closed, restitution)
        return Rebound(ca.SX.zeros(count), Impulses.zero(d).lam, spent)


# Of the largest rate of a gap, the speed of approach that counts as none: above the round-off of
# rates, 1e-16 of the largest, after hundreds of impacts.
SLOWEST = 1e-12
TINY = 1e-300  # for the compliance of a contact that nothing moves


@dataclass(frozen=True)
class SequentialImpact(IncrementalImpact):
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
        At most so many impacts for each contact. In a row of n equal balls with e = 1 each impact
        exchanges two velocities: n / 2 for each contact put all of them in order, so that 4 are
        enough for 8 balls however they move.
    """

    rounds: int = 4

    def __post_init__(self) -> None:
        whole("rounds of SequentialImpact", self.rounds)

    def integrate(self, d: Dynamics, node: Node, closed: ca.SX, restitution: ca.SX) -> Impulses:
        _refuse_friction(d)
        none = Impulses.zero(d)
        # (ng, ng) [1/kg] by how much an impulse at each contact changes the rate of each gap.
        compliance = node.W.T @ respond(d.mass(*node.at[1:]), d.closure_matrix(*node.at), node.W)
        rate, lam = node.gap_rate(node.v), none.lam
        least = SLOWEST * ca.mmax(ca.fabs(rate))
        for _ in range(self.rounds * restitution.numel()):
            approach = ca.if_else(closed, ca.fmax(-rate, 0), 0)
            first = _find_first(approach, ca.fmax(ca.mmax(approach), least))
            push = first * (1 + restitution) * approach / ca.fmax(ca.diag(compliance), TINY)
            lam, rate = lam + push, rate + compliance @ push
        return none._replace(lam=lam)


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
