"""What a joint resists with, as one smooth function: what costs of trajectories are made of."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import casadi as ca

from nsopt.mechanics.element import Element, Force
from nsopt.mechanics.reactions import NOW

if TYPE_CHECKING:
    from nsopt.mechanics.dynamics import Dynamics

TINY = 1e-9
"""Force [N] or torque [N m] that does not count, where a size has no derivative."""


def joint_resistance(d: Dynamics, joint: str) -> ca.Function:
    """Return (t, q, v, p, vdot, mu, lam, slip) -> (resistance (6,), reaction (2,)) of one joint.

    Resistance is force [N] and torque [N m], about the origin of frame b and on its body, world
    axes, of all that resists in the joint: moments beyond its range of motion, dissipation,
    friction [RoM 2023, eq. 2]. Reaction is the size of the constraining force [N] and torque [N m].

    Parameters
    ----------
    d : Dynamics
    joint : str
        Name of an ideal joint or one with clearance.

    Raises
    ------
    ValueError
        If there is no joint of that name.

    Notes
    -----
    ``mu`` (nc,), ``lam`` (ng,) and ``slip`` (ns,) are forces of joints and contacts, impulses over
    time;
    ``vdot`` (nv,) is the acceleration, from which reactions in a tree of coordinates follow.
    """
    if joint not in d.joint_names:
        raise ValueError(f"no joint {joint!r}: one of {', '.join(d.joint_names) or 'none'}")
    sizes = {"t": 1, "q": d.nq, "v": d.nv, "p": len(d.parameters), "vdot": d.nv}
    sizes |= {"mu": len(d.closure_names), "lam": len(d.contact_names)}
    sizes |= {"slip": len(d.slip_contacts)}
    t, q, v, p, vdot, mu, lam, slip = symbols = [ca.SX.sym(name, n) for name, n in sizes.items()]
    wrenches = d.reactions(t, q, v, p, 1, vdot, mu, lam, slip)
    k = d.joint_names.index(joint)
    resistance = d.resistance(t, q, v, p, NOW, wrenches[:, list(d.rubbed)])[:, k]
    parts = (wrenches[:3, k], wrenches[3:, k])
    reaction = ca.vertcat(*(ca.sqrt(ca.sumsqr(part) + TINY**2) for part in parts))
    return ca.Function(
        "joint_resistance", symbols, [resistance, reaction], list(sizes), ["resistance", "reaction"]
    )


def resisted(force: Force, joints: Sequence[Element]) -> Element | None:
    """Return the joint whose resistance a force is part of, if any.

    Raises
    ------
    ValueError
        If the joint named is unknown, or none is named and several connect the same bodies.
    """
    if force.joint is None:
        return None
    named = [joint for joint in joints if joint.name == force.joint]
    if force.joint and not named:
        raise ValueError(
            f"{type(force).__name__} {force.name!r} names the joint {force.joint!r}, which is not "
            f"there: one of {', '.join(joint.name for joint in joints) or 'none'}"
        )
    bodies = {frame.body for frame in force.frames}
    if named and {frame.body for frame in named[0].frames} != bodies:
        raise ValueError(
            f"{type(force).__name__} {force.name!r} names the joint {force.joint!r}, which "
            "connects other bodies"
        )
    found = named or [joint for joint in joints if {frame.body for frame in joint.frames} == bodies]
    if len(found) > 1:
        raise ValueError(
            f"{type(force).__name__} {force.name!r} may resist {found[0].name!r} or "
            f"{found[1].name!r}: name one by joint=..."
        )
    return found[0] if found else None
