"""Flexible links against the theory of beams."""

from __future__ import annotations

from functools import cache, partial

import casadi as ca
import numpy as np
from scipy.linalg import eigh

from nsopt import (
    GROUND,
    AppliedForce,
    AppliedTorque,
    Dynamics,
    Fixed,
    Frame,
    Mechanism,
    Parameter,
    Start,
    assemble,
    equilibrium,
)
from nsopt.robots import CrossSection, FlexibleLink, LinkMaterial, flexible_link

from .figure import Figure, Subject
from .runs import Array, extrapolated

LENGTH, SECTION = 1.0, CrossSection.rectangle(0.01, 0.02)
METAL = LinkMaterial(density=2700.0, young=7e10, shear=2.6e10)
BENDING = METAL.young * SECTION.Iz
ROOTS = (1.8751040687119611, 4.694091132974174)
"""Of cos x cosh x = -1: a cantilever's wave numbers times its length."""


@cache
def cantilever(elements: int, loaded: str = "") -> tuple[FlexibleLink, Dynamics]:
    """Return a clamped beam along x, with a force along y or a moment about z at its end."""
    link = flexible_link("beam", (0, 0, 0), (1, 0, 0), LENGTH, SECTION, METAL, elements)
    clamp = Fixed("clamp", Frame(GROUND, axes=link.begin.axes), link.begin)
    size = Parameter("size", 0.0)
    load = {
        "": [],
        "force": [AppliedForce("load", link.end, (0.0, size, 0.0))],
        "moment": [AppliedTorque("load", Frame(link.bodies[-1]), (0, 0, size))],
    }[loaded]
    mechanism = Mechanism(link.bodies, [clamp, *link.joints], "relative")
    return link, assemble(mechanism, [*link.forces, *load])


def tip(link: FlexibleLink, dynamics: Dynamics, start: Start) -> Array:
    """Return where the end of the beam is [m]."""
    r, p, *_ = (np.asarray(x) for x in dynamics.poses(start.q, start.v, dynamics.values()))
    e0, e = p[0, -1], p[1:, -1]
    d = np.asarray(link.end.origin, dtype=float)
    turned = d + 2 * np.cross(e, np.cross(e, d) + e0 * d)
    return np.asarray(r[:, -1] + turned)


def bent(elements: int) -> float:
    """Return how far a force of 1 mN bends the end, over the theory."""
    link, dynamics = cantilever(elements, "force")
    values = {"size": 1e-3}
    y = tip(link, dynamics, equilibrium(dynamics, None, values))[1]
    return float(y / (1e-3 * LENGTH**3 / (3 * BENDING)))


def frequency(mode: int, elements: int) -> float:
    """Return a natural frequency in the plane of less stiffness, over the theory."""
    _, d = cantilever(elements)
    q, still, p = ca.SX.sym("q", d.nq), np.zeros(d.nv), d.values()
    stiffness = ca.Function("K", [q], [-ca.jacobian(d.applied(0, q, still, p), q)])
    straight = np.zeros(d.nq)
    K, M = np.asarray(stiffness(straight)), np.asarray(d.mass(straight, p))
    found = np.sqrt(eigh(K, M)[0])
    line = METAL.density * SECTION.area
    known = (ROOTS[mode] / LENGTH) ** 2 * np.sqrt(METAL.young * SECTION.Iz / line)
    return float(found[np.argmin(np.abs(found - known))] / known)


@cache
def rolled() -> Array:
    """Return where the end is once a moment of 2 pi E I / L has closed the beam to a ring [m]."""
    link, dynamics = cantilever(6, "moment")
    start, whole = None, 2 * np.pi * BENDING / LENGTH
    for share in (0.25, 0.5, 0.75, 1.0):
        start = equilibrium(dynamics, start, {"size": share * whole})
    return tip(link, dynamics, start)


EULER = "Euler-Bernoulli"

SUBJECT = Subject(
    "Flexible links",
    (
        *(
            Figure(
                f"cantilever under a force, {n} elements, deflection over F L³ / (3 E I)",
                "1",
                1 - 1 / (4 * n**2),
                f"{EULER}, the sum over hinges at the middle of elements",
                partial(bent, n),
                1e-6,
            )
            for n in (1, 3)
        ),
        Figure(
            "cantilever under a force, deflection, extrapolated from 2 and 4 elements",
            "1",
            1.0,
            f"{EULER}: F L³ / (3 E I)",
            lambda: extrapolated(bent(2), bent(4)),
            1e-6,
        ),
        *(
            Figure(
                f"cantilever, {name} frequency over theory, extrapolated from 6 and 12 elements",
                "1",
                1.0,
                f"{EULER}: root {ROOTS[k]:.4f} of cos x cosh x = -1",
                lambda k=k: extrapolated(frequency(k, 6), frequency(k, 12)),
                tolerance,
            )
            for k, (name, tolerance) in enumerate((("first", 1e-3), ("second", 5e-3)))
        ),
        *(
            Figure(
                f"beam rolled to a ring by 2π E I / L, {'xy'[k]} of its end",
                "m",
                0.0,
                "a circle closes",
                lambda k=k: float(rolled()[k]),
                1e-9,
            )
            for k in (0, 1)
        ),
    ),
)
