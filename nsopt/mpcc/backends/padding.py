"""Programs with more equations than unknowns, for solvers that refuse them."""

from __future__ import annotations

from dataclasses import replace

import casadi as ca
import numpy as np

from nsopt.mpcc.backends.backend import Call, Derivatives, Nlp, Outcome, Point, Vector


def pad(nlp: Nlp) -> Nlp:
    """Return ``nlp`` with as many idle unknowns as its equations exceed those that are free.

    Redundant equations can outnumber the unknowns; IPOPT refuses that, CasADi warns at each call.
    """
    excess = int(np.sum(nlp.lower == nlp.upper)) + nlp.fixed - nlp.x.shape[0]
    if excess <= 0:
        return nlp
    if nlp.derivatives is not None:
        return _structure(nlp, nlp.derivatives, excess)
    idle = ca.SX.sym("idle", excess)
    return replace(nlp, x=ca.vertcat(nlp.x, idle), f=nlp.f + ca.sumsqr(idle))


def _structure(nlp: Nlp, own: Derivatives, excess: int) -> Nlp:
    """Return a structured program with idle unknowns."""
    n, m = nlp.x.numel(), nlp.g.numel()
    x, p = ca.MX.sym("x", n + excess), ca.MX.sym("p", nlp.p.numel())
    sigma, lam, idle = ca.MX.sym("lam_f"), ca.MX.sym("lam_g", m), x[n:]
    f, g = own.f(x[:n], p) + ca.sumsqr(idle), own.g(x[:n], p)
    slope = ca.vertcat(own.grad_f(x[:n], p)[1], 2 * idle)
    J = ca.horzcat(own.jac_g(x[:n], p)[1], ca.MX(m, excess))
    H = ca.diagcat(own.hess_lag(x[:n], p, sigma, lam), 2 * sigma * ca.MX.eye(excess))
    slopes = [f, slope], [g, J]
    derivatives = Derivatives.of("padded", (x, p, sigma, lam), (f, g), slopes, H)
    return replace(nlp, x=x, p=p, f=f, g=g, derivatives=derivatives)


class PaddedCall:
    """A Call of ``nlp`` made of one of ``padded``: adds and strips the idle unknowns."""

    def __init__(self, call: Call, nlp: Nlp, padded: Nlp) -> None:
        self._call = call
        self._zeros = np.zeros(padded.x.shape[0] - nlp.x.shape[0])
        self._infinite = np.full(self._zeros.size, np.inf)

    def __call__(self, start: Point, p: Vector, lower: Vector, upper: Vector) -> Outcome:
        if not self._zeros.size:
            return self._call(start, p, lower, upper)
        n = start.x.size
        x, lam_x = np.append(start.x, self._zeros), np.append(start.lam_x, self._zeros)
        outcome = self._call(
            replace(start, x=x, lam_x=lam_x),
            p,
            np.append(lower, -self._infinite),
            np.append(upper, self._infinite),
        )
        end = outcome.point
        return replace(outcome, point=replace(end, x=end.x[:n], lam_x=end.lam_x[:n]))
