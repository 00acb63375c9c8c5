"""A mechanism of revolute, prismatic, spherical, universal and prismatic joints, its coupler led.

[CoPCoD 2023, section 3.2]: a loop of two freedoms; the coupler may bend, the base be elastic. Its
tables are not available: all but the inclination and the origin of the path is chosen here.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from _parts import GRAVITY, RIGID, Case, Point, X, Z, base, friction, support, weld
from numpy.typing import NDArray

from nsopt import (
    GROUND,
    Body,
    CornerPath,
    Driven,
    Dynamics,
    Fixed,
    Frame,
    Mechanism,
    Prismatic,
    Problem,
    Programmed,
    Relative,
    Revolute,
    RungeKutta,
    Spherical,
    Start,
    StepBounds,
    Variants,
    assemble,
    equilibrium,
    robots,
)
from nsopt.mechanics import Constraint, Element
from nsopt.robots import CrossSection, LinkMaterial

Array = NDArray[np.float64]

ALPHA = np.radians(45.0)
ORIGIN = (0.0384, 0.2335, 0.0)  # m, of the frame {P} of the path
HALF, HEIGHT, BOTTOM, BASE = 0.2, 0.15, -0.25, 20.0  # m, m, m, kg
RAIL = (0.18, 0.32)  # m, x and y of the rail along z
CRANK, LENGTH = 0.15, 0.40  # m, of crank and coupler
STEEL = LinkMaterial(density=7850.0, young=2.1e11, shear=8.0e10, damping=5.0e-5)
WIRE = CrossSection.circle(0.95e-3)
ELEMENTS = 2
EFFECTOR = 0.4  # kg, in the middle of the coupler
CORNERS = ((-0.025, 0.085), (0.025, 0.085), (0.025, 0.120), (-0.025, 0.120))
"""A, B, C, D [m], y and z in {P}."""
SIDE = 1.0  # s
GAINS = {"alpha": 500.0, "beta": 50.0}


class Posture(NamedTuple):
    """Where the loop is closed."""

    ball: Array  # (3,) [m] of the spherical joint
    cross: Array  # (3,) [m] of the universal joint
    axes: Array  # (3, 3) of the coupler, x along it


def plane() -> Array:
    """Return the axes of {P}: the plane of its y and z is inclined to that of x and z."""
    c, s = np.cos(ALPHA), np.sin(ALPHA)
    return np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])


def posture(y: float, z: float) -> Posture:
    """Return the posture with the middle of the coupler at y, z of {P}, whatever its x."""
    A, rail = plane(), np.array([*RAIL, 0.0])
    apart = np.sqrt(LENGTH**2 - (2 * z) ** 2)  # of both joints, seen along z
    # In the plane of x and y the ball is at 2 E - rail, on a circle about the rail.
    known = np.asarray(ORIGIN) + A @ [0.0, y, 0.0] - rail
    along, across = float(A[:, 0] @ known), float(A[:, 1] @ known)
    x = -along - np.sqrt((apart / 2) ** 2 - across**2)
    middle = np.asarray(ORIGIN) + A @ [x, y, 0.0]
    ball, cross = 2 * middle - rail, np.array([*RAIL, 2 * z])
    d = (cross - ball) / LENGTH
    side = np.array([0.0, d[2], -d[1]]) / np.hypot(d[1], d[2])
    return Posture(ball, cross, np.column_stack([d, side, np.cross(d, side)]))


def model(
    how: Case = RIGID,
    held: bool = False,
    axes: str = "yz",
) -> Dynamics:
    """Return the mechanism, stated with the middle of its coupler at A.

    Parameters
    ----------
    how : Case
    held : bool
        Whether crank and its slider are held where they are, in place of the programme.
    axes : str
        Of {P}, what is programmed. The rigid mechanism has two freedoms.
    """
    block = base(BASE, HALF, HEIGHT, BOTTOM)
    bodies, joints = _links(block)
    middle = bodies[4]
    at = posture(*CORNERS[0])
    center = Frame.at(middle, middle.position, plane())
    elements: list[Element] = friction(joints) if how.friction else []
    holds: list[Constraint] = [] if how.flexible_support else [weld(block)]
    if held:
        holds += [Driven("held_1", joints[0], 0.0), Driven("held_2", joints[1], 0.0)]
    else:
        told = Programmed("tip", Frame(GROUND, ORIGIN, plane()), center, path(), axes)
        holds.append(told)
    cut = ["cut_r", *(["base"] if not how.flexible_support else [])]
    mechanism = Mechanism([block, *bodies], [*holds, *joints], Relative(cut=cut))
    if how.flexible_support:
        elements += support(block, HALF, HEIGHT, BOTTOM)
    if how.flexible_link:
        wire = robots.flexible_link("coupler", at.ball, at.axes, LENGTH, WIRE, STEEL, ELEMENTS)
        mechanism, moved = robots.replace_link(mechanism, "coupler", wire, elements)
        elements = list(moved)
    return assemble(mechanism, elements, GRAVITY)


def _links(block: Body) -> tuple[list[Body], list[Constraint]]:
    """Return links and joints, closed with the middle of the coupler at A."""
    at = posture(*CORNERS[0])
    turn = np.arctan2(at.ball[1], at.ball[0])
    out = np.array([np.cos(turn), np.sin(turn), 0.0])
    turned = np.column_stack([out, [-out[1], out[0], 0.0], Z])
    mass = STEEL.density * WIRE.area * LENGTH
    line, small = mass * LENGTH**2 / 12, 2e-5
    middle = (at.ball + at.cross) / 2
    crank = Body("crank", 0.15, (2e-5, 3e-4, 3e-4), tuple(CRANK / 2 * out), turned)
    slider = Body("slider_1", 0.1, (small,) * 3, tuple(at.ball), turned)
    coupler = Body("coupler", mass, (1e-7, line, line), tuple(middle), at.axes)
    effector = Body("effector", EFFECTOR, (1e-4,) * 3, tuple(middle))
    carriage = Body("slider_2", 0.2, (1e-4,) * 3, tuple(at.cross))
    cross = Body("cross", 0.05, (small,) * 3, tuple(at.cross))
    side = at.axes[:, 1]

    def pair(on: Body, to: Body, point: Array, axis: Array | Point) -> tuple[Frame, Frame]:
        return Frame.at(on, tuple(point), axis), Frame.at(to, tuple(point), axis)

    joints: list[Constraint] = [
        Revolute("psi_11", *pair(block, crank, np.zeros(3), Z)),
        Prismatic("x_12", *pair(crank, slider, at.ball, out)),
        Spherical("ball_13", *pair(slider, coupler, at.ball, Z)),
        Fixed("grip", *pair(coupler, effector, middle, Z)),
        Prismatic("z_21", *pair(block, carriage, at.cross, Z)),
        Revolute("psi_22", *pair(carriage, cross, at.cross, X)),
        Revolute("cut_r", *pair(cross, coupler, at.cross, side)),
    ]
    return [crank, slider, coupler, carriage, effector, cross], joints


def path() -> CornerPath:
    """Return the rectangle ABCDA in {P}, a second a side, at rest in the corners."""
    return CornerPath([(0.0, y, z) for y, z in (*CORNERS, CORNERS[0])], side=SIDE)


def start(how: Case) -> Start:
    """Return the start: at rest with crank and slider held where A is reached by what is rigid."""
    return equilibrium(model(how, held=True))


def build(flexible_support: float = 0, flexible_link: float = 0, friction: float = 0) -> Problem:
    """Return one of the eight cases."""
    how = Case(bool(flexible_support), bool(flexible_link), bool(friction))
    scheme, steps = RungeKutta(**GAINS), StepBounds(1e-5, 1e-5)
    return Problem(model(how), 4 * SIDE, steps, start(how), scheme)


problem = Variants(build)
