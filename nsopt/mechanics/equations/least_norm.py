"""Impulses of over-constrained joints whose reactions are of least norm."""

from __future__ import annotations

import casadi as ca

from nsopt.algebra import left_null_vectors

PASSES = 3
"""Where joints that are constraints have friction, which depends on their reactions and loads the
joints of the tree: it is taken from the pass before. Errors shrink by mu, the coefficient, a pass.
"""


def self_stresses(closure_matrix: ca.Function, count: int) -> ca.Function:
    """Return (t, q, p) -> U (nc, count): orthonormal impulses of joints without any effect."""
    t, q, p = (ca.SX.sym(name, closure_matrix.numel_in(name)) for name in ("t", "q", "p"))
    return ca.Function(
        "self_stresses", [t, q, p], [left_null_vectors(closure_matrix(t, q, p), count)]
    )


def least_norm_impulses(
    stresses: ca.Function, reactions: ca.Function, internal: int, passes: int
) -> ca.Function:
    """Return (arguments of `Dynamics.reactions`) -> mu (nm,) of the same effect and least norm.

    Of all mu with the same C^T mu those whose `Dynamics.reactions` have the least sum of squares
    over all joints: forces in N, and torques, about the origin of frame b, in N m. Joints in a tree
    of coordinates and those that are constraints count alike, so that it is the same in all
    coordinates.

    Parameters
    ----------
    stresses : Function
        By `self_stresses`.
    reactions : Function
        Of a `Dynamics`.
    internal : int
        Number of internal states, the last coordinates.
    passes : int
        `Dynamics.least_norm_passes`.
    """
    names, symbols = reactions.name_in(), _make_symbols(reactions)
    t, q, p, mu = (symbols[name] for name in ("t", "q", "p", "mu"))
    U = stresses(t, q, p)
    U = ca.vertcat(U, ca.SX(mu.numel() - U.size1(), U.size2()))  # constraints on v have none
    R = transmission(reactions, internal)(*symbols.values()) @ U
    # Ones on the diagonal for columns of U that are zero, so that S is regular.
    S = R.T @ R + ca.diag(1 - ca.sum1(U**2).T)
    for _ in range(passes):
        wrenches = ca.vec(reactions(*(symbols | {"mu": mu}).values()))
        mu = mu - U @ ca.solve(S, R.T @ wrenches)
    return ca.Function("least_norm", [*symbols.values()], [ca.densify(mu)], names, ["least"])


def transmission(reactions: ca.Function, internal: int) -> ca.Function:
    """Return (arguments of `Dynamics.reactions`) -> d(reactions)/d(mu) (6 nj, nm).

    Without that of friction, a load that depends on reactions: taken at rest and at zero internal
    states, where nothing rubs.
    """
    at = _make_symbols(reactions)
    mu, q = at["mu"], at["q"]
    rest = {name: ca.SX.zeros(x.numel()) for name, x in at.items()}
    rest |= {name: at[name] for name in ("t", "p", "mu")} | {"h": ca.SX(1)}
    rest["q"] = ca.vertcat(q[: q.numel() - internal], ca.SX.zeros(internal))
    J = ca.jacobian(ca.vec(reactions(*rest.values())), mu)
    J = ca.substitute(J, mu, ca.SX.zeros(mu.numel()))
    return ca.Function("transmission", [*at.values()], [J])


def _make_symbols(reactions: ca.Function) -> dict[str, ca.SX]:
    return {name: ca.SX.sym(name, reactions.numel_in(name)) for name in reactions.name_in()}
