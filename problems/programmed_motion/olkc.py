"""A manipulator of five joints whose tip runs along a rectangle, on a base that may be elastic.

[CoPCoD 2023, section 3.1]: joints phi, psi, psi, x, x; link 2 may bend. Its tables are not
available: all numbers of bodies, support, friction and path are chosen here.
"""

from __future__ import annotations

import numpy as np
from _parts import GRAVITY, RIGID, Case, Point, X, Y, Z, base, friction, rod, support, weld

from nsopt import (
    GROUND,
    Body,
    CornerPath,
    Dynamics,
    Frame,
    Mechanism,
    Prismatic,
    Problem,
    Programmed,
    Relative,
    Revolute,
    RungeKutta,
    Start,
    StepBounds,
    Variants,
    assemble,
    equilibrium,
    robots,
)
from nsopt.mechanics import Constraint, Element
from nsopt.robots import CrossSection, LinkMaterial

HALF, HEIGHT, BASE = 0.2, 0.2, 25.0  # m, m, kg
SHOULDER, ELBOW = (0.0, 1.0, 0.0), (0.6, 1.0, 0.0)  # m, links stretched out along x
WRIST, TIP = (0.8, 1.0, 0.0), (0.8, 0.9, 0.0)
TUBE = CrossSection.circle(0.008, hole=0.007)
ALUMINIUM = LinkMaterial(density=2700.0, young=7.0e10, shear=2.6e10, damping=3.0e-6)
ELEMENTS = 2
CORNERS = ((0.75, 0.60, -0.15), (0.75, 0.80, -0.15), (0.75, 0.80, 0.15), (0.75, 0.60, 0.15))
"""A, B, C, D [m]; the plane of the rectangle is that of y and z."""
OFF = (0.0, -0.018, 0.024)
"""From A to where the tip starts [m], 30 mm, in the plane of the rectangle."""
SIDE = 1.0  # s
GAINS = {"alpha": 1.0e3, "beta": 1.0e2}


def links() -> tuple[list[Body], list[Constraint]]:
    """Return base and links, stretched out, and the joints phi, psi, psi, x, x."""
    block = base(BASE, HALF, HEIGHT)
    column = rod("link_1", (0.0, HEIGHT, 0.0), SHOULDER, 4.0, 0.09)
    line = ALUMINIUM.density * TUBE.area * 0.6
    upper = rod("link_2", SHOULDER, ELBOW, line, 0.008)
    fore = rod("link_3", ELBOW, WRIST, 0.5, 0.015)
    slider = Body("link_4", 0.4, (3e-4, 3e-4, 3e-4), position=WRIST)
    hand = rod("link_5", WRIST, TIP, 0.3, 0.01)

    def joint(
        kind: type[Revolute] | type[Prismatic],
        name: str,
        on: Body,
        to: Body,
        point: Point,
        axis: Point,
    ) -> Constraint:
        return kind(name, Frame.at(on, point, axis), Frame.at(to, point, axis))

    joints = [
        joint(Revolute, "phi_1", block, column, (0.0, HEIGHT, 0.0), Y),
        joint(Revolute, "psi_2", column, upper, SHOULDER, Z),
        joint(Revolute, "psi_3", upper, fore, ELBOW, Z),
        joint(Prismatic, "x_4", fore, slider, WRIST, X),
        joint(Prismatic, "x_5", slider, hand, WRIST, Y),
    ]
    return [block, column, upper, fore, slider, hand], joints


def path() -> CornerPath:
    """Return the rectangle ABCDA, a second a side, at rest in the corners."""
    return CornerPath([*CORNERS, CORNERS[0]], side=SIDE)


def model(
    how: Case = RIGID,
    told: CornerPath | Point | None = None,
    cut: bool = True,
) -> Dynamics:
    """Return the manipulator.

    Parameters
    ----------
    how : Case
    told : CornerPath or point, optional
        Of the tip; the rectangle by default.
    cut : bool
        Whether a rigid support is the constraint of the paper, else the base is part of the ground.
    """
    bodies, joints = links()
    elements: list[Element] = friction(joints) if how.friction else []
    tip = Programmed("tip", Frame(GROUND), Frame.at(bodies[-1], TIP), told or path())
    holds = [] if how.flexible_support else [weld(bodies[0])]
    coordinates = Relative(cut=["base"] if holds and cut else [])
    mechanism = Mechanism(bodies, [*holds, *joints, tip], coordinates)
    if how.flexible_support:
        elements += support(bodies[0], HALF, HEIGHT)
    if how.flexible_link:
        bar = robots.flexible_link("link_2", SHOULDER, X, 0.6, TUBE, ALUMINIUM, ELEMENTS)
        mechanism, moved = robots.replace_link(mechanism, "link_2", bar, elements)
        elements = list(moved)
    return assemble(mechanism, elements, GRAVITY)


POSTURE = {"phi_1": 0.2, "psi_2": -1.8, "psi_3": 1.1, "x_4": 0.37, "x_5": 0.86}
"""About where it hangs."""


def near(dynamics: Dynamics) -> Start:
    """Return the hanging posture with the base where it stands."""
    return Start.named(dynamics, POSTURE)


def start(how: Case) -> Start:
    """Return the start: hanging at rest with the tip 30 mm off A."""
    x, y, z = np.add(CORNERS[0], OFF).tolist()
    held = model(how, told=(x, y, z))
    return equilibrium(held, near(held))


def build(flexible_support: float = 0, flexible_link: float = 0, friction: float = 0) -> Problem:
    """Return one of the eight cases."""
    how = Case(bool(flexible_support), bool(flexible_link), bool(friction))
    return Problem(
        model(how),
        4 * SIDE,
        StepBounds(1e-5, 1e-5),
        start(how),
        RungeKutta(**GAINS),
    )


problem = Variants(build)
