"""States between steps, with all that a step needs to know there: `Node`, `StepStart`."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial

import casadi as ca

from nsopt.mechanics import Dynamics

At = tuple[ca.SX, ca.SX, ca.SX]  # time, coordinates, parameters of the mechanism
_none = partial(ca.SX, 0, 1)


@dataclass(frozen=True)
class Node:
    """A state between two steps.

    Attributes
    ----------
    t : SX scalar [s]
    q : SX (nq,)
    v : SX (nv,)
        Velocity with which the step before arrives; what acts at the node is still to come.
    p : SX (np,)
        Parameters of the mechanism, inputs at the node among them.
    drive : SX (nv,) [N, N m]
        Forces of actuators at the node.
    gap : SX (ng,) [m]
    W : SX (nv, ng)
        Gradients of the gaps.
    drift : SX (ng,) [m/s]
        By which gaps open at v = 0, as surfaces move with time.
    slip_drift : SX (ns,) [m/s]
        Slip at v = 0.
    z_before : SX (nz,)
        Over a horizon: internal states of friction at the node before.
    sharp : SX scalar
        Over a horizon: how sharply modes switch with the gap (`ReachedGaps`); it grows along a
        homotopy, to 1000.
    at_rest : bool
        Over a horizon: whether conditions give that all bodies leave it with no velocity.
    """

    t: ca.SX
    q: ca.SX
    v: ca.SX
    p: ca.SX
    drive: ca.SX
    gap: ca.SX
    W: ca.SX
    drift: ca.SX
    slip_drift: ca.SX
    z_before: ca.SX = field(default_factory=lambda: ca.SX(0, 1))
    sharp: ca.SX = field(default_factory=lambda: ca.SX(0))
    at_rest: bool = False

    @property
    def at(self) -> At:
        """Time, coordinates, parameters."""
        return self.t, self.q, self.p

    def gap_rate(self, v: ca.SX) -> ca.SX:
        """Return the rates of the gaps at a velocity (nv,), those of moving walls too, (ng,)."""
        return self.W.T @ v + self.drift

    @classmethod
    def without_drives(cls, d: Dynamics, t: ca.SX, q: ca.SX, p: ca.SX, v: ca.SX) -> Node:
        """Return the node of a simulation, where drives are among the loads."""
        at, none = (t, q, p), ca.SX(d.nv, 1)
        contacts = d.gap(*at), d.gap_matrix(*at), d.gap_drift(*at), d.slip_drift(*at)
        return cls(t, q, v, p, none, *contacts)


@dataclass(frozen=True)
class ContactsAtStart:
    """What contacts do as a step begins."""

    pressing: ca.SX = field(default_factory=_none)  # (ng,) 0 or 1: which contacts press
    sticking: ca.SX = field(default_factory=_none)  # (nd,) 0 or 1: which of their drags stick
    # (ns,) unit vectors of the slips of the others, as they begin.
    directions: ca.SX = field(default_factory=_none)
    force: ca.SX = field(default_factory=_none)  # (ng,) [N] normal; ``friction`` (ns,) [N]
    friction: ca.SX = field(default_factory=_none)


@dataclass(frozen=True)
class StepStart:
    """The state a step starts from, as blocks of parameters of a program.

    Attributes
    ----------
    t : SX scalar [s]
    q, v : SX (nq,), (nv,)
    p : SX (np,)
        Parameters of the mechanism.
    held : ContactsAtStart
        Closed and sticking contacts, for schemes that find them before the step.
    """

    t: ca.SX
    q: ca.SX
    v: ca.SX
    p: ca.SX
    held: ContactsAtStart = field(default_factory=ContactsAtStart)

    @property
    def at(self) -> At:
        """Time, coordinates, parameters."""
        return self.t, self.q, self.p

    def node(self, d: Dynamics) -> Node:
        """Return this state as a node, with the gaps there."""
        return Node.without_drives(d, *self.at, self.v)
