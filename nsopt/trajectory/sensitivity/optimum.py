"""How an optimum changes with the parameters of its program."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import casadi as ca
import numpy as np
from numpy.typing import NDArray
from scipy.sparse import bmat, csc_matrix, diags
from scipy.sparse.linalg import splu

from nsopt.trajectory.parts import Stack

Array = NDArray[np.float64]

ACTIVE = 1e-6
"""How near to its bound a row, or an unknown, is at it."""

PRESSING = 1e-6
"""Part of the largest multiplier from which a bound counts as pressing."""

TRACE = 1e-9
"""What is taken from the zero diagonal of the rows."""

RESIDUAL = 1e-6
"""Part of its right side to which the system must be solved."""


NOT_UNIQUE = (
    "the optimum is not unique, so it has no derivatives: add a cost on what is left free, or "
    "leave out conditions that say the same"
)


class OptimumError(ValueError):
    """An optimum without derivatives; the message says which row switches, or what is left free."""


@dataclass(frozen=True, eq=False)
class OptimumDerivatives:
    """Derivatives of an optimum by all parameters of its program.

    Attributes
    ----------
    cost : (np,)
        Of the least objective.
    x : (n, np)
        Of the unknowns.
    """

    cost: Array
    x: Array


def cost_derivatives(stack: Stack, x: Array, p: Array, lam_g: Array) -> Array:
    """Return the derivative of the least objective by parameters, (np,).

    By the envelope theorem it is that of the Lagrangian at fixed x and multipliers.

    Parameters
    ----------
    stack : Stack
    x, p : (n,), (np,)
        Solution and parameters.
    lam_g : (m,)
        Multipliers of the rows, as ``nlpsol`` returns them: positive at upper bounds.
    """
    function = ca.Function("by_p", [stack.x, stack.p, stack.lam], [_by_p(stack)])
    return np.asarray(function(x, p, lam_g)).ravel()


def optimum_derivatives(
    stack: Stack,
    x: Array,
    p: Array,
    lam_x: Array,
    lam_g: Array,
    lower: Array | None = None,
    upper: Array | None = None,
    *,
    names: Sequence[str] | None = None,
) -> OptimumDerivatives:
    """Return how a solution of a program changes with its parameters.

    The derivative of the optimality conditions with the active set held: stationarity of the
    Lagrangian in the free unknowns, and the rows at their bounds.

    Parameters
    ----------
    stack : Stack
    x, p : (n,), (np,)
        A solution, to tight tolerances, and its parameters.
    lam_x, lam_g : (n,), (m,)
        Multipliers as ``nlpsol`` returns them: positive at upper bounds.
    lower, upper : (n,), optional
        Bounds of the unknowns; none by default.
    names : (n,), optional
        Of the unknowns, for messages.

    Raises
    ------
    OptimumError
        If a row or unknown is at its bound without pressing on it, where the derivative does not
        exist; or the optimum is not unique.
    """
    n = len(x)
    low = np.full(n, -np.inf) if lower is None else np.asarray(lower, dtype=float)
    high = np.full(n, np.inf) if upper is None else np.asarray(upper, dtype=float)
    H, J, by_p, g, g_p = _matrices(stack, x, p, lam_g)
    size = max(float(np.max(np.abs(np.concatenate([lam_x, lam_g])), initial=0.0)), 1e-300)
    named = names or [f"unknown {k}" for k in range(n)]
    fixed = _held(x, low, high, lam_x / size, named)
    texts = ["{} at step {}".format(*stack.label(k)) for k in range(len(g))]
    rows = _held(g, stack.lower, stack.upper, lam_g / size, texts)
    free = np.flatnonzero(~fixed)
    A = J[np.flatnonzero(rows)][:, free]
    right = -np.vstack([by_p[free], g_p[rows]])
    moved = _solved(H[free][:, free], A, right)
    found = np.zeros((n, len(p)))
    found[free] = moved[: len(free)]
    return OptimumDerivatives(cost_derivatives(stack, x, p, lam_g), found)


def _by_p(stack: Stack) -> ca.MX:
    """Return the gradient of the Lagrangian by parameters."""
    return ca.densify(ca.gradient(stack.f + ca.dot(stack.lam, stack.g), stack.p))


def _matrices(
    stack: Stack, x: Array, p: Array, lam: Array
) -> tuple[csc_matrix, csc_matrix, Array, Array, Array]:
    """Return Hessian, Jacobian, d2L/dx dp (n, np), rows (m,), dg/dp (m, np)."""
    made = stack.derivatives()
    upper = _sparse(made["hess_lag"](x, p, 1.0, lam))
    g, J = made["jac_g"](x, p)
    H = _full(upper)
    cross = ca.jacobian(_by_p(stack), stack.x)
    function = ca.Function(
        "cross", [stack.x, stack.p, stack.lam], [cross, ca.jacobian(stack.g, stack.p)]
    )
    mixed, g_p = (np.asarray(ca.densify(out)) for out in function(x, p, lam))
    return H, _sparse(J), mixed.T, np.asarray(g).ravel(), g_p


def _sparse(matrix: ca.DM) -> csc_matrix:
    return csc_matrix(matrix.sparse())


def _full(upper: csc_matrix) -> csc_matrix:
    """Return the symmetric matrix of an upper triangle."""
    strict = upper.copy()
    strict.setdiag(0)
    return csc_matrix(upper + strict.T)


def _held(
    value: Array, lower: Array, upper: Array, press: Array, names: Sequence[str]
) -> NDArray[np.bool_]:
    """Return what is at its bounds and presses on them; bounds that meet hold in any case."""
    scale = 1 + np.abs(value)
    at = (value - lower <= ACTIVE * scale) | (upper - value <= ACTIVE * scale)
    presses = np.abs(press) > PRESSING
    idle = np.flatnonzero(at & ~presses & (lower < upper))
    if idle.size:
        raise OptimumError(
            f"the derivative does not exist: {names[int(idle[0])]} is at its bound and does not "
            "press on it; move the bound a little either way"
        )
    held: NDArray[np.bool_] = at
    return held


def _solved(H: csc_matrix, A: csc_matrix, right: Array) -> Array:
    """Return the solutions of [[H, A^T], [A, 0]] y = right."""
    blocks: Any = [[H, A.T], [A, csc_matrix((A.shape[0],) * 2)]]
    K: Any = bmat(blocks).tocsc()
    # A trace of regularisation lets dependent rows solve; refinement takes its effect out.
    trace = np.concatenate([np.zeros(H.shape[0]), np.full(A.shape[0], -TRACE)])
    try:
        factors = splu((K + diags(trace)).tocsc())
    except RuntimeError:
        raise OptimumError(NOT_UNIQUE) from None
    found = np.zeros_like(right)
    for _ in range(4):
        found += factors.solve(right - K @ found)
    size = np.max(np.abs(right), initial=1e-300)
    if not np.max(np.abs(right - K @ found), initial=0.0) <= RESIDUAL * size:
        raise OptimumError(NOT_UNIQUE)
    return found
