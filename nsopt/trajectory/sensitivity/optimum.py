"""Derivatives of an optimum by the parameters of its program: `optimum_derivatives`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import casadi as ca
import numpy as np
import scipy
from numpy.typing import NDArray

from nsopt.arrays import Array
from nsopt.mpcc import StructuredNlp

ACTIVE = 1e-6
"""Distance from its bound, over 1 plus its size, within which a row or an unknown is active."""

STRONG = 1e-6  # part of the largest multiplier above which a bound is strongly active

REGULARISATION = 1e-9
"""Regularisation subtracted from the zero diagonal of the rows; refinement removes its effect."""

RESIDUAL = 1e-6  # relative residual to which the system must be solved
TINY = 1e-300  # size that keeps quotients of zeros finite

NOT_UNIQUE = (
    "the optimum is not unique, so it has no derivatives: add a cost on what is left free, or "
    "leave out conditions that say the same"
)


class OptimumError(ValueError):
    """Raised for an optimum that has no derivatives; names the weakly active row or the freedom."""


@dataclass(frozen=True, eq=False)
class OptimumDerivatives:
    """Derivatives of an optimum by all parameters of its program.

    Attributes
    ----------
    cost : (np,)
        Derivative of the optimal objective.
    x : (n, np)
        Derivatives of the unknowns.
    """

    cost: Array
    x: Array


def cost_derivatives(nlp: StructuredNlp, x: Array, p: Array, lam_g: Array) -> Array:
    """Return the derivative of the optimal objective by parameters, (np,).

    By the envelope theorem it is that of the Lagrangian at fixed x and multipliers.

    Parameters
    ----------
    nlp : StructuredNlp
    x, p : (n,), (np,)
        Solution and parameters.
    lam_g : (m,)
        Multipliers of the rows, as ``nlpsol`` returns them: positive at upper bounds.
    """
    function = ca.Function("by_p", [nlp.x, nlp.p, nlp.lam], [_lagrangian_by_p(nlp)])
    return np.asarray(function(x, p, lam_g)).ravel()


def optimum_derivatives(
    nlp: StructuredNlp,
    x: Array,
    p: Array,
    lam_x: Array,
    lam_g: Array,
    lower: Array | None = None,
    upper: Array | None = None,
    *,
    names: Sequence[str] | None = None,
) -> OptimumDerivatives:
    """Return the derivatives of a solution of a program by its parameters.

    By the implicit function theorem on the optimality conditions with a fixed active set:
    stationarity of the Lagrangian in the free unknowns, and the rows at their bounds.

    Parameters
    ----------
    nlp : StructuredNlp
    x, p : (n,), (np,)
        A solution, to tight tolerances, and its parameters.
    lam_x, lam_g : (n,), (m,)
        Multipliers as ``nlpsol`` returns them: positive at upper bounds.
    lower, upper : (n,), optional
        Bounds of the unknowns; none by default.
    names : (n,), optional
        Names of the unknowns, for messages.

    Raises
    ------
    OptimumError
        If a row or unknown is weakly active (at its bound with zero multiplier), where the
        derivative does not exist; or the optimum is not unique.
    """
    n = len(x)
    low = np.full(n, -np.inf) if lower is None else np.asarray(lower, dtype=float)
    high = np.full(n, np.inf) if upper is None else np.asarray(upper, dtype=float)
    H, J, slope_by_p, g, g_by_p = _evaluate_matrices(nlp, x, p, lam_g)
    largest = max(float(np.max(np.abs(np.concatenate([lam_x, lam_g])), initial=0.0)), TINY)
    named = names or [f"unknown {k}" for k in range(n)]
    fixed = _find_active(x, low, high, lam_x / largest, named)
    row_names = ["{} at step {}".format(*nlp.label(k)) for k in range(len(g))]
    rows = _find_active(g, nlp.lower, nlp.upper, lam_g / largest, row_names)
    free = np.flatnonzero(~fixed)
    A = J[np.flatnonzero(rows)][:, free]
    right = -np.vstack([slope_by_p[free], g_by_p[rows]])
    solution = _solve(H[free][:, free], A, right)
    dx = np.zeros((n, len(p)))
    dx[free] = solution[: len(free)]
    return OptimumDerivatives(cost_derivatives(nlp, x, p, lam_g), dx)


def _lagrangian_by_p(nlp: StructuredNlp) -> ca.MX:
    """Return the gradient of the Lagrangian by parameters, (np,)."""
    return ca.densify(ca.gradient(nlp.f + ca.dot(nlp.lam, nlp.g), nlp.p))


def _evaluate_matrices(
    nlp: StructuredNlp, x: Array, p: Array, lam: Array
) -> tuple[scipy.sparse.csc_matrix, scipy.sparse.csc_matrix, Array, Array, Array]:
    """Return Hessian, Jacobian, d2L/dx dp (n, np), rows (m,), dg/dp (m, np)."""
    derivatives = nlp.derivatives()
    g, J = derivatives.jac_g(x, p)
    upper = derivatives.hess_lag(x, p, 1.0, lam).sparse()
    H = scipy.sparse.csc_matrix(upper + scipy.sparse.triu(upper, 1).T)
    cross = ca.jacobian(_lagrangian_by_p(nlp), nlp.x)
    function = ca.Function("cross", [nlp.x, nlp.p, nlp.lam], [cross, ca.jacobian(nlp.g, nlp.p)])
    mixed, g_by_p = (np.asarray(ca.densify(out)) for out in function(x, p, lam))
    return H, scipy.sparse.csc_matrix(J.sparse()), mixed.T, np.asarray(g).ravel(), g_by_p


def _find_active(
    value: Array, lower: Array, upper: Array, multiplier: Array, names: Sequence[str]
) -> NDArray[np.bool_]:
    """Return which entries are active, as equal bounds always are; refuse weakly active ones."""
    scale = 1 + np.abs(value)
    at_bound = (value - lower <= ACTIVE * scale) | (upper - value <= ACTIVE * scale)
    strong = np.abs(multiplier) > STRONG
    weak = np.flatnonzero(at_bound & ~strong & (lower < upper))
    if weak.size:
        raise OptimumError(
            f"the derivative does not exist: {names[int(weak[0])]} is at its bound and does not "
            "press on it; move the bound a little either way"
        )
    active: NDArray[np.bool_] = at_bound
    return active


def _solve(H: scipy.sparse.csc_matrix, A: scipy.sparse.csc_matrix, right: Array) -> Array:
    """Return the solutions of [[H, A^T], [A, 0]] y = right."""
    blocks: Any = [[H, A.T], [A, scipy.sparse.csc_matrix((A.shape[0],) * 2)]]
    K: Any = scipy.sparse.bmat(blocks).tocsc()
    # Regularisation makes dependent rows solvable; iterative refinement removes its effect.
    shift = np.concatenate([np.zeros(H.shape[0]), np.full(A.shape[0], -REGULARISATION)])
    try:
        factors = scipy.sparse.linalg.splu((K + scipy.sparse.diags(shift)).tocsc())
    except RuntimeError:
        raise OptimumError(NOT_UNIQUE) from None
    y = np.zeros_like(right)
    for _ in range(4):
        y += factors.solve(right - K @ y)
    size = np.max(np.abs(right), initial=TINY)
    if not np.max(np.abs(right - K @ y), initial=0.0) <= RESIDUAL * size:
        raise OptimumError(NOT_UNIQUE)
    return y
