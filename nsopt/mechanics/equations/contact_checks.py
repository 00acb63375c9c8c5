"""Checks of contacts as a mechanism is assembled: their planes, shapes and normals.

Shapes and normals are those of contacts that a user wrote, which no test of the catalogue has seen.
"""

from __future__ import annotations

from typing import Any

import casadi as ca
import numpy as np
from numpy.typing import NDArray

from nsopt.algebra import null_space
from nsopt.mechanics.equations.dynamics import Dynamics
from nsopt.mechanics.equations.symbolic import SymbolicMechanism
from nsopt.mechanics.model.element import Contact
from nsopt.mechanics.model.gap import Gap

OURS = "nsopt."
"""Before the names of modules whose contacts are not checked: the tests do."""

LENGTH = 1e-6  # by how much the length of a normal may differ from 1
SLOPE = 1e-6  # by which part the function of a gap may change otherwise than its slope says

VELOCITIES = 8
"""Number of random velocities at which the opening of a gap is compared with its normal."""


def check_shapes(s: SymbolicMechanism) -> None:
    """Refuse contacts of a user whose gaps are not of the shapes that `Gap` says.

    Raises
    ------
    TypeError, ValueError
        Naming the contact, and the field of its gap.
    """
    for contact, gaps in _list_own(s):
        _check_gaps(f"{type(contact).__name__} {contact.name!r}", gaps)


def check_normals(s: SymbolicMechanism, dynamics: Dynamics) -> None:
    """Refuse contacts of a user whose normals or slopes are not what `Gap` says.

    At the stated start: where the surfaces move apart along the normal, the gap must open, in the
    mean over random velocities, and its function must change by slope times what its distance does.

    Raises
    ------
    ValueError
        Naming the contact.
    """
    for contact, gaps in _list_own(s):
        p, (q, _) = dynamics.values(), dynamics.stated_start(refuse=False)
        name = f"{type(contact).__name__} {contact.name!r}"
        a, b = (s.state.motion(frame) for frame in (contact.frames[0], contact.frames[-1]))
        for gap in gaps:
            if gap.bore is not None:  # has no normal in its middle, where a motion may start
                continue
            apart = ca.dot(gap.normal, b.velocity_at(gap.point) - a.velocity_at(gap.point))
            stated = gap.slope * s.rate(gap.distance)
            expressions = (s.rate(gap.distance), apart, s.rate(gap.function), stated)
            values = s.function("own", "t q v p", ca.norm_2(gap.normal), *expressions)
            v = np.random.default_rng(0).normal(size=(dynamics.nv, VELOCITIES))
            size, opens, parts, rate, by_slope = (
                np.asarray(x).ravel() for x in values(0.0, q, v, p)
            )
            if np.abs(size - 1).max() > LENGTH:
                raise ValueError(
                    f"the normal of a gap of {name} is {size[0]:.6g} long at the start: "
                    "divide it by its length"
                )
            if opens @ parts < 0:
                raise ValueError(
                    f"a gap of {name} closes where its surfaces part along its normal: let the "
                    "normal point along the force on the body of the last frame, or change the "
                    "sign of distance"
                )
            if np.abs(rate - by_slope).max() > SLOPE * np.abs(rate).max():
                raise ValueError(
                    f"the function of a gap of {name} does not change by slope times what its "
                    "distance does at the start: let it depend on the distance alone, and slope be "
                    "its derivative by that"
                )


def _list_own(s: SymbolicMechanism) -> list[tuple[Contact, list[Gap]]]:
    pairs = zip(s.contacts, s.gaps, strict=True)
    return [pair for pair in pairs if not type(pair[0]).__module__.startswith(OURS)]


def _check_gaps(name: str, gaps: Any) -> None:
    if not isinstance(gaps, list | tuple) or not all(isinstance(x, Gap) for x in gaps):
        raise TypeError(f"gaps of {name} must return a list of Gap, got {gaps!r:.60}")
    if not gaps:
        raise ValueError(f"gaps of {name} returns none: a contact has one or more")
    for gap in gaps:
        k = gap.tangents.shape[1]
        shapes = {"point": (3, 1), "normal": (3, 1), "tangents": (3, k), "slip": (k, 1)}
        shapes |= dict.fromkeys(("distance", "function", "scale", "clearance", "slope"), (1, 1))
        for field, shape in shapes.items():
            if (got := ca.SX(getattr(gap, field)).shape) != shape:
                raise ValueError(f"{field} of a gap of {name} has the shape {got}, not {shape}")
        if not k and not gap.law.frictionless:
            raise ValueError(
                f"{name} has friction and a gap without tangents: give it `tangents`, such as "
                "those of nsopt.elements.tangents"
            )


TILT = 1e-6
"""Sine of the angle by which an axis may lean from the normal; also what counts as no turning."""


def check_planes(s: SymbolicMechanism, dynamics: Dynamics) -> None:
    """Refuse planar contacts whose axis is not normal to the plane of their motion.

    Where the ideal joints, at the stated start, leave frame b one axis about which it turns against
    frame a, that is the normal. Where they leave more, or none, nothing is checked.

    Raises
    ------
    ValueError
        Naming the contact and the angle.
    """
    for contact in dynamics.contacts:
        if not contact.in_plane:
            continue
        normal = _find_normal(s, dynamics, contact)
        if normal is None or np.hypot(*normal[:2]) <= TILT:
            continue
        angle = np.degrees(np.arccos(min(abs(normal[2]), 1.0)))
        raise ValueError(
            f"z of frame a of {type(contact).__name__} {contact.name!r} is {angle:.3g} deg off the "
            "normal of the plane in which the other joints let it move: turn its axes, as by "
            "Frame(body, origin, axes)"
        )


def _find_normal(
    s: SymbolicMechanism, dynamics: Dynamics, contact: Contact
) -> NDArray[np.float64] | None:
    """Return the only axis of turning, (3,) in axes of frame a; None if there is not just one."""
    a, b = (s.state.motion(frame) for frame in contact.frames)
    turning = ca.jacobian(a.A.T @ (b.w - a.w), s.v)
    p, (q, _) = dynamics.values(), dynamics.stated_start(refuse=False)
    W = np.asarray(s.function("turning", "t q p", turning)(0.0, q, p))  # (3, nv)
    C = np.asarray(dynamics.closure_matrix(0.0, q, p))
    axes, sizes, _ = np.linalg.svd(W @ null_space(C.reshape(-1, dynamics.nv)))
    if sizes.size == 0 or sizes[0] < TILT or (sizes.size > 1 and sizes[1] > TILT * sizes[0]):
        return None
    normal: NDArray[np.float64] = axes[:, 0]
    return normal
