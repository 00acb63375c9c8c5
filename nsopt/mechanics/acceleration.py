"""Accelerations by constraints differentiated twice (index 1), for ODE integrators."""

import casadi as ca

ALPHA = BETA = 5.0
"""Gains [1/s] on the rates and on the residuals of the ideal joints."""


def stabilised_acceleration(
    M: ca.MX, C: ca.MX, F: ca.MX, force: ca.MX, closure: ca.MX, rate: ca.MX, bias: ca.MX
) -> ca.MX:
    """Return vdot (nv,), with Baumgarte's stabilisation [RoM 2023, eq. 1].

        [M  -F] [vdot]   [force                               ]
        [C   0] [ mu ] = [-bias - 2 alpha rate - beta^2 closure]

    Parameters
    ----------
    M, C, F : (nv, nv), (nc, nv), (nv, nc)
        Mass matrix, and matrices of the ideal joints: their rate is C v + drift, their force F mu.
    force : (nv,)
        Applied forces less gyroscopic and Coriolis terms.
    closure, rate, bias : (nc,)
        Residuals of the ideal joints, their rates, and their second derivatives at vdot = 0.
    """
    matrix = ca.blockcat([[M, -F], [C, ca.MX(C.size1(), C.size1())]])
    right = ca.vertcat(force, -(bias + 2 * ALPHA * rate + BETA**2 * closure))
    return ca.solve(ca.densify(matrix), right)[: M.size1()]
