"""The plane in which ideal joints let the frames of a contact move."""

from __future__ import annotations

import casadi as ca
import numpy as np
from numpy.typing import NDArray

from nsopt.algebra import null_space
from nsopt.mechanics.equations.dynamics import Dynamics
from nsopt.mechanics.equations.symbolic import SymbolicMechanism
from nsopt.mechanics.model.element import Contact

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
        normal = _normal(s, dynamics, contact)
        if normal is None or np.hypot(*normal[:2]) <= TILT:
            continue
        angle = np.degrees(np.arccos(min(abs(normal[2]), 1.0)))
        raise ValueError(
            f"z of frame a of {type(contact).__name__} {contact.name!r} is {angle:.3g} deg off the "
            "normal of the plane in which the other joints let it move: turn its axes, as by "
            "Frame(body, origin, axes)"
        )


def _normal(
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
