"""Resistance and reaction of a joint as one smooth function, of which costs are made."""

from __future__ import annotations

import casadi as ca

from nsopt.checks import check_names
from nsopt.mechanics.equations.dynamics import Dynamics
from nsopt.mechanics.model.element import INSTANT

TINY = 1e-9  # force [N] or torque [N m] added in squares, so that norms have a derivative at zero


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
    ``mu`` (nm,), ``lam`` (ng,) and ``slip`` (ns,) are forces of joints and contacts and of their
    friction; ``vdot`` (nv,) is the acceleration, from which reactions of joints in a tree follow.
    """
    check_names("no joint", [joint], d.joint_names)
    sizes = {"t": 1, "q": d.nq, "v": d.nv, "p": len(d.parameters), "vdot": d.nv}
    sizes |= {"mu": len(d.multiplier_names), "lam": len(d.contact_names)}
    sizes |= {"slip": len(d.slip_contacts)}
    t, q, v, p, vdot, mu, lam, slip = symbols = [ca.SX.sym(name, n) for name, n in sizes.items()]
    wrenches = d.reactions(t, q, v, p, 1, vdot, mu, lam, slip)
    k = d.joint_names.index(joint)
    resistance = d.resistance(t, q, v, p, INSTANT, wrenches[:, list(d.friction_joints)])[:, k]
    parts = (wrenches[:3, k], wrenches[3:, k])
    reaction = ca.vertcat(*(ca.sqrt(ca.sumsqr(part) + TINY**2) for part in parts))
    return ca.Function(
        "joint_resistance", symbols, [resistance, reaction], list(sizes), ["resistance", "reaction"]
    )
