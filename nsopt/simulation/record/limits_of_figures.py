"""What warnings of a result have to know of its mechanism."""

from __future__ import annotations

import json
from functools import lru_cache
from typing import Any

import casadi as ca
import numpy as np

from nsopt.mechanics import Dynamics
from nsopt.parameter import number


@lru_cache(maxsize=16)
def limits_of_figures(d: Dynamics) -> dict[str, Any]:
    """Return what warnings have to know of a mechanism.

    Whether contacts, friction or forces may take energy, and whether anything but rigid contacts
    may; bodies that ideal joints turn about points off their centres in absolute coordinates, whose
    phase is off.
    """
    losing = forces_dissipate(d)
    return {
        "dissipates": int(losing or bool(d.contact_names)),
        "forces_dissipate": int(losing),
        "phase_bodies": json.dumps(_list_turned_by_joints(d)),
    }


def forces_dissipate(d: Dynamics) -> bool:
    """Return whether anything but rigid contacts may take energy."""
    sizes = {"t": 1, "q": d.nq, "v": d.nv, "p": len(d.parameters)}
    t, q, v, p = (ca.SX.sym(name, size) for name, size in sizes.items())
    surfaces = d.pressed_names or d.friction_joints
    return bool(surfaces) or bool(ca.depends_on(d.applied(t, q, v, p), v))


def _list_turned_by_joints(d: Dynamics) -> list[str]:
    """Return bodies that ideal joints hold off their centres, unless nothing is free to move."""
    rows = len(d.closure_names) - d.redundant + len(d.nonholonomic_names)
    if d.mechanism.is_relative or rows >= d.nv:
        return []
    frames = [frame for joint in d.mechanism.joints for frame in joint.frames]
    held = {x.body.name for x in frames if x.body is not None and np.any(number(x.origin))}
    return sorted(held)
