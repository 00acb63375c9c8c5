"""Vectors and numbers that may be functions of time."""

from collections.abc import Callable

import casadi as ca

from nsopt.mechanics import State, TimeFunction, Vector
from nsopt.parameter import Scalar


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


def number_now(
    s: State, number: Scalar | TimeFunction, label: str, check: Callable[[str, float], object]
) -> ca.SX:
    """Return a stated number at the time of a state, checked at t = 0 unless by Parameters."""
    now = s.value(number)
    if not now.is_scalar():
        raise ValueError(f"{label} must return one number, got shape {now.shape}")
    begin = ca.substitute(now, s.t, 0)
    if not ca.symvar(begin):
        check(f"{label} at t = 0", float(ca.evalf(begin)))
    return now
