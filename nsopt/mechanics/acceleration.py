"""Accelerations from the constraints differentiated twice, for integrators of other libraries."""

from __future__ import annotations

from typing import TYPE_CHECKING

import casadi as ca

from nsopt.mechanics.rank import redundancy

if TYPE_CHECKING:
    from nsopt.mechanics.dynamics import Dynamics


def acceleration(d: Dynamics, alpha: float = 5.0, beta: float = 5.0) -> ca.Function:
    """Return (t, q, v, p) -> vdot (nv,), with Baumgarte's stabilisation [RoM 2023, eq. 1].

        [M  C^T] [vdot]   [applied - S                         ]
        [C   0 ] [ mu ] = [-bias - 2 alpha dPhi/dt - beta^2 Phi]

    Parameters
    ----------
    alpha, beta : float [1/s]
        Gains on the rates and on the residuals of the ideal joints.

    Raises
    ------
    ValueError
        If the mechanism has contacts, which need the step equations; or rows of its joints depend
        on each other, named by how many.

    Notes
    -----
    qdot = rate_matrix(q) v goes with it.
    """
    if d.contact_names:
        raise ValueError(
            f"contact {d.contact_names[0]!r} has no acceleration of its own: use simulate, or "
            "wrap the contact in a CompliantContact"
        )
    if d.rubbed:
        raise ValueError(
            f"friction in {d.joint_names[d.rubbed[0]]!r} is a mean over a step, under a reaction: "
            "use simulate"
        )
    if n := redundancy(d, 0.0, d.stated_start(refuse=False)[0], d.values()):
        raise ValueError(
            f"{n} rows of the ideal joints are implied by the others: leave out a joint"
        )
    t, q, v = ca.MX.sym("t"), ca.MX.sym("q", d.nq), ca.MX.sym("v", d.nv)
    p = ca.MX.sym("p", len(d.parameters))
    M, C = d.mass(q, p), d.closure_matrix(t, q, p)
    rate = C @ v + d.closure_drift(t, q, p)
    matrix = ca.blockcat([[M, C.T], [C, ca.MX(C.size1(), C.size1())]])
    pull = d.closure_bias(t, q, v, p) + 2 * alpha * rate + beta**2 * d.closure(t, q, p)
    right = ca.vertcat(d.applied(t, q, v, p) - d.bias(q, v, p), -pull)
    vdot = ca.solve(ca.densify(matrix), right)[: d.nv]
    return ca.Function("acceleration", [t, q, v, p], [vdot], ["t", "q", "v", "p"], ["vdot"])
