"""Which mechanisms move by polynomials: those whose accelerations are independent."""

from __future__ import annotations

from nsopt.mechanics import Dynamics


def why_no_accelerations(d: Dynamics) -> str:
    """Return the reason why a mechanism has no independent accelerations; empty if it has."""
    if d.contact_names:
        return f"contact {d.contact_names[0]!r} has no acceleration"
    if d.closure_names:
        return f"joint {d.closure_names[0]!r} is a constraint on the coordinates"
    if d.nonholonomic_names:
        return f"{d.nonholonomic_names[0]!r} is a constraint on velocities"
    if d.internal_names:
        return "bristles have coordinates of another kind"
    return ""


def why_not_by_default(d: Dynamics) -> str:
    """Return why a mechanism does not move by polynomials unless in phases; empty if it does."""
    if reason := why_no_accelerations(d):
        return reason
    if d.nq != d.nv:
        return "free bodies that turn and ball joints have coordinates of another kind"
    return ""
