"""States of a horizon, and what steps between them tell: for programs over many steps at once."""

from __future__ import annotations

from dataclasses import dataclass

import casadi as ca
import numpy as np
from numpy.typing import NDArray

from nsopt.mechanics import Dynamics

Array = NDArray[np.float64]


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
    """

    t: ca.SX
    q: ca.SX
    v: ca.SX
    p: ca.SX
    drive: ca.SX
    gap: ca.SX
    W: ca.SX

    @property
    def at(self) -> tuple[ca.SX, ca.SX, ca.SX]:
        """Time, coordinates, parameters."""
        return self.t, self.q, self.p


@dataclass(frozen=True)
class Passage:
    """What happens at a node, as expressions.

    Attributes
    ----------
    v : SX (nv,)
        Velocity with which the motion goes on.
    at_node : SX (nv,)
        Velocity that counts as that of the node.
    impulse, joint_impulse, slip_impulse : SX (ng,), (nc,), (ns,)
        Of what acts there, or over the step that follows.
    blow : SX (ng,)
        Impulses at the node that belong to the step before, its contacts being closed by that.
    loss : SX (ng,) [J]
        Energy that each contact takes.
    work : SX scalar [J]
        Of drives and applied loads.
    h : SX scalar [s]
        Over which it acts.
    share : SX scalar [s]
        Of the duration, for which the node stands.
    """

    v: ca.SX
    at_node: ca.SX
    impulse: ca.SX
    joint_impulse: ca.SX
    slip_impulse: ca.SX
    blow: ca.SX
    loss: ca.SX
    work: ca.SX
    h: ca.SX
    share: ca.SX


def check_plain(dynamics: Dynamics, p: Array) -> None:
    """Refuse friction that has no equations over a horizon.

    Raises
    ------
    ValueError
        Naming the joint or contact.
    """
    if dynamics.rubbed:
        name = dynamics.joint_names[dynamics.rubbed[0]]
        raise ValueError(
            f"the friction of {name!r} depends on its reaction or has internal states, which has "
            "no equations over a horizon: state it as damping, or leave it out"
        )
    viscous = np.asarray(dynamics.viscous(p)).ravel()
    if np.any(viscous > 0):
        name = dynamics.contact_names[int(np.argmax(viscous))]
        raise ValueError(
            f"contact {name!r} has viscous friction {viscous.max():g} N s/m, which has no "
            "equations over a horizon: set it to zero"
        )
