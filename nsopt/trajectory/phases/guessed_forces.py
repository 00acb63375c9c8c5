"""Contact forces of a guess that has none: such as carry the mechanism along its motion.

Where forces start at zero, each is on the tip of its cone, and only small steps lead away.
"""

from __future__ import annotations

from collections.abc import Sequence

import casadi as ca
import numpy as np

from nsopt.arrays import Array
from nsopt.trajectory.phases.mode_conditions import ContactInMode
from nsopt.trajectory.transcription.collocation import Collocation


def with_contact_forces(
    x: Collocation, contacts: Sequence[ContactInMode], unknowns: Array, p: Array
) -> Array:
    """Return the unknowns (n,) of a guess, with normal forces of closed contacts that lack them.

    At each point the normal forces of all gaps are alike, as nearest to the equations of motion of
    what has no drive, by least squares; gaps that press against each other alone stay as they are.
    ``p`` are the parameters of the program.
    """
    points, T = unknowns[:-1].reshape(-1, x.node_size).copy(), unknowns[-1]
    first = x.node_size - len(x.inputs)
    columns = [
        first + x.inputs.index(force.name)
        for contact in contacts
        if contact.mode.closed
        for force in contact.forces.normal
    ]
    lacking = [k for k in columns if not points[:, k].any()]
    free = x.undriven_velocities
    if not lacking or not free:
        return unknowns
    w, t, share = ca.SX.sym("w", x.node_size), ca.SX.sym("t"), ca.SX.sym("share")
    with_share = ca.SX(w)
    with_share[lacking] = share
    loads = x.sample(t, with_share, ca.SX(ca.DM(p))).drive[free]
    function = ca.Function("loads", [t, w, share], [loads, ca.jacobian(loads, share)])
    times = np.linspace(0, T, len(points))
    left, by_share = (np.asarray(y) for y in function.map(len(points))(times, points.T, 0))
    size = (by_share**2).sum(axis=0)
    shares = -(left * by_share).sum(axis=0) / np.where(size > 0, size, np.inf)
    points[:, lacking] = np.maximum(shares, 0)[:, None]
    return np.append(points, T)
