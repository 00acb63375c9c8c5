"""States of a horizon, and what steps between them tell: for programs over many steps at once."""

from __future__ import annotations

from dataclasses import dataclass

import casadi as ca

from nsopt.mechanics import Dynamics

PUSHED = 0.1
"""Of a typical impulse, what contacts press with in a guess."""


@dataclass(frozen=True)
class Node:
    """A state of a horizon, as unknowns.

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
    z_before : SX (nz,)
        Internal states of friction at the node before.
    sharp : SX scalar
        How sharply contacts become active that do so by where they are, as the inverse of a part of
        a step; it grows along a homotopy, to 1000.
    """

    t: ca.SX
    q: ca.SX
    v: ca.SX
    p: ca.SX
    drive: ca.SX
    gap: ca.SX
    W: ca.SX
    z_before: ca.SX
    sharp: ca.SX

    @property
    def at(self) -> tuple[ca.SX, ca.SX, ca.SX]:
        """Time, coordinates, parameters."""
        return self.t, self.q, self.p


@dataclass(frozen=True)
class Passage:
    """What happens at a node and in the step that follows, as expressions.

    Attributes
    ----------
    at_node : SX (nv,)
        Velocity that counts as that of the node.
    change : SX (nv,)
        Of the velocity over ``h`` by forces and impulses, blows left out.
    impulse, joint_impulse, slip_impulse : SX (ng,), (nc,), (ns,)
        Of what acts over ``h``.
    loss : SX (ng,) [J]
        Energy that contacts take by these.
    work : SX scalar [J]
        Of drives and applied loads.
    h : SX scalar [s]
        Over which all that acts.
    share : SX scalar [s]
        Of the duration, for which the node stands in costs.
    blow : SX (ng,)
        Impulses that act at once at the node, at the end of the step before.
    blow_loss : SX (ng,) [J]
    """

    at_node: ca.SX
    change: ca.SX
    impulse: ca.SX
    joint_impulse: ca.SX
    slip_impulse: ca.SX
    loss: ca.SX
    work: ca.SX
    h: ca.SX
    share: ca.SX
    blow: ca.SX
    blow_loss: ca.SX

    @classmethod
    def still(cls, d: Dynamics, v: ca.SX, h: ca.SX) -> Passage:
        """Return that nothing acts at the end, after a step of h."""
        none = ca.SX.zeros(len(d.contact_names))
        joint, slip = (ca.SX.zeros(len(x)) for x in (d.closure_names, d.slip_contacts))
        zero = ca.SX(0)
        return cls(v, ca.SX.zeros(d.nv), none, joint, slip, none, zero, h, zero, none, none)
