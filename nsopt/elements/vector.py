"""Vectors that may be functions of time."""

import casadi as ca

from nsopt.mechanics import State, Vector


def vector_now(s: State, vector: Vector, label: str) -> ca.SX:
    """Return a stated vector at the time of a state, shape (3,).

    ValueError with ``label`` if a function of time has another shape, or is not finite at t = 0.
    """
    now = s.value(vector)
    if now.shape != (3, 1):
        raise ValueError(f"{label} must return three components, got shape {now.shape}")
    at_start = ca.substitute(now, s.t, 0) if s.t.is_symbolic() else now
    if not ca.symvar(at_start) and not ca.DM(ca.evalf(at_start)).is_regular():
        raise ValueError(f"{label} must be finite, but is not at t = 0")
    return now
