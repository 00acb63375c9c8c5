"""A man in the sagittal plane who sits on a seat, both legs as one, feet free to leave the floor.

x forward, y up; at zero he stands upright, his ankle above the origin. Flexions are positive.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from nsopt import (
    GROUND,
    Actuator,
    Body,
    ContactLaw,
    Dynamics,
    ExponentialLaw,
    Frame,
    Mechanism,
    Parameter,
    Planar,
    PlaneContact,
    Revolute,
    TurnRange,
    assemble,
)
from nsopt.robots import resistances

Array = NDArray[np.float64]

MASS, HEIGHT = 75.0, 1.75  # kg, m
# Of [Winter 2009, table 4.1]: lengths of shank, thigh and trunk, height of the ankle.
SHANK, THIGH, TRUNK, ANKLE = (share * HEIGHT for share in (0.246, 0.245, 0.288, 0.039))
KNEE, HIP = ANKLE + SHANK, ANKLE + SHANK + THIGH  # m, their heights
HEEL, BALL = -0.05, 0.14  # m, of the foot, from below the ankle
SITTING = np.radians([15.0, 105.0, 90.0])  # ankle, knee, hip: thigh level, trunk upright
STANDING = np.radians([4.0, 5.0, 5.0])
FLESH = 0.08  # m, between hip and seat
SEAT = ANKLE + SHANK * np.cos(SITTING[0]) - FLESH  # m
FRICTION = Parameter("friction", 0.7)

LEVEL = np.column_stack([(1, 0, 0), (0, 0, -1), (0, 1, 0)])
FORWARD, BACKWARD = (0.0, 0.0, -1.0), (0.0, 0.0, 1.0)


def sitter() -> Dynamics:
    """Return feet, shanks, thighs and the rest; three angles, driven, on a base that is free."""
    bodies = segments()
    ankle, knee, hip = ((0.0, y, 0.0) for y in (ANKLE, KNEE, HIP))
    feet = bodies[0]
    joints = [
        Revolute(name, Frame.at(a, at, axis), Frame.at(b, at, axis))
        for name, a, b, at, axis in (
            ("ankle", feet, bodies[1], ankle, FORWARD),
            ("knee", bodies[1], bodies[2], knee, BACKWARD),
            ("hip", bodies[2], bodies[3], hip, FORWARD),
        )
    ]
    drives = [
        _muscles("ankle", -50.0, 30.0, effort=250.0),
        _muscles("knee", 0.0, 140.0, effort=400.0),
        _muscles("hip", -20.0, 120.0, effort=400.0),
    ]
    base = Planar("base", Frame(GROUND), Frame.at(feet, (0.0, 0.0, 0.0)))
    mechanism = Mechanism(bodies, [base, *joints], "relative", drives)
    floor, seat = Frame(GROUND, axes=LEVEL), Frame(GROUND, (0.0, SEAT, 0.0), LEVEL)
    grip = ContactLaw(friction=FRICTION)
    contacts = [
        # Friction at one end of the sole alone: how both would share it, nothing decides.
        PlaneContact("heel", floor, Frame.at(feet, (HEEL, 0.0, 0.0)), law=grip, planar=True),
        PlaneContact("ball", floor, Frame.at(feet, (BALL, 0.0, 0.0))),
        PlaneContact("seat", seat, Frame.at(bodies[3], hip), radius=FLESH),
    ]
    elements = [*resistances(mechanism), *passive(joints), *contacts]
    return assemble(mechanism, elements, (0.0, -9.81, 0.0))


def segments() -> list[Body]:
    """Return feet, shanks, thighs, and head, arms and trunk as one, of a man who stands."""
    turn = np.linspace(0, 2 * np.pi, 25)
    head = np.column_stack([0.11 * np.cos(turn), HEIGHT - 0.11 + 0.11 * np.sin(turn), 0 * turn])
    toes, instep = (BALL + 0.05, 0.0, 0.0), (0.04, ANKLE + 0.02, 0.0)
    foot = np.array([(HEEL, 0.0, 0.0), toes, instep, (HEEL, ANKLE + 0.02, 0.0), (HEEL, 0.0, 0.0)])
    trunk = [_bone(HIP, HEIGHT - 0.22), head]
    return [
        _segment("feet", 0.029, 0.475 * np.hypot(BALL, ANKLE), (BALL / 2, ANKLE / 2), [foot]),
        _segment("shanks", 0.093, 0.302 * SHANK, (0, KNEE - 0.433 * SHANK), [_bone(ANKLE, KNEE)]),
        _segment("thighs", 0.2, 0.323 * THIGH, (0, HIP - 0.433 * THIGH), [_bone(KNEE, HIP)]),
        _segment("trunk", 0.678, 0.496 * TRUNK, (0, HIP + 0.626 * TRUNK), trunk),
    ]


def _segment(
    name: str, share: float, radius: float, at: tuple[float, float], outline: list[Array]
) -> Body:
    """Return a body by its share of the mass and its radius of gyration."""
    centre, inertia = (*at, 0.0), share * MASS * radius**2
    lines = [line - np.array(centre) for line in outline]
    return Body(name, share * MASS, (inertia, inertia, inertia), position=centre, outline=lines)


def _bone(lower: float, upper: float) -> Array:
    return np.array([(0.0, lower, 0.0), (0.0, upper, 0.0)])


def _muscles(joint: str, lower: float, upper: float, effort: float) -> Actuator:
    """Return those of both legs, the range in degrees."""
    return Actuator(joint, np.radians(lower), np.radians(upper), effort=effort, damping=1.0)


def passive(joints: list[Revolute]) -> list[TurnRange]:
    """Return the passive moments of both legs: two exponentials each, [Anderson, Pandy 1999]."""
    ends = [
        (-0.74, 0.52, (0.18, 12.12), (2.03, 38.11)),
        (-0.13, 2.4, (6.09, 33.94), (11.03, 11.33)),
        (-0.6981, 1.81, (1.51, 21.88), (2.44, 5.05)),
    ]
    ranges = []
    for joint, (lower, upper, *terms) in zip(joints, ends, strict=True):
        below, above = (ExponentialLaw(2 * size, rate) for size, rate in terms)
        name = f"{joint.name} range"
        ranges.append(TurnRange(name, joint.a, joint.b, lower, upper, (below, above)))
    return ranges
