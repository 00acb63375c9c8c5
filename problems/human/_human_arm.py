"""A right arm on a shoulder whose circumduction cone, rotation and elbow end and stiffen.

Columns of axes: x forward, y to the left, z up. At zero the arm hangs, its palm to the body.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from nsopt import (
    GROUND,
    Actuator,
    Body,
    Cone,
    CubicLaw,
    Dynamics,
    ExponentialLaw,
    Fixed,
    Frame,
    Mechanism,
    Parameter,
    RangeOfMotion,
    Revolute,
    TurnRange,
    assemble,
)
from nsopt.robots import resistances

Array = NDArray[np.float64]

MASS, HEIGHT = 75.0, 1.75  # kg, m


class Part(NamedTuple):
    """A part of the body: its lengths in metres, the rest as shares of mass and length."""

    share: float
    length: float
    centre: float  # from the upper end
    radii: tuple[float, float, float]  # of gyration, about x, y, z


SIZE = HEIGHT / 1.741  # over the mean man of [de Leva 1996], from whose table 4 these are
UPPER_ARM = Part(0.0271, 0.2817 * SIZE, 0.5772, (0.285, 0.269, 0.158))
FOREARM = Part(0.0162, 0.2689 * SIZE, 0.4574, (0.276, 0.265, 0.121))
HAND = Part(0.0061, 0.0862 * SIZE, 0.7900, (0.628, 0.513, 0.401))

SHOULDER = np.array([0.0, -0.2, 0.818 * HEIGHT])  # m, height by [Winter 2009]
ELBOW = SHOULDER - [0.0, 0.0, UPPER_ARM.length]
WRIST = ELBOW - [0.0, 0.0, FOREARM.length]
PALM = WRIST - [0.0, 0.0, HAND.centre * HAND.length]
FLEXING, ABDUCTING, INWARD = (0.0, -1.0, 0.0), (-1.0, 0.0, 0.0), (0.0, 0.0, 1.0)

# Ends of ranges [rad], means of men by [Boone, Azen 1979]; adduction, which they leave out: 45 deg.
FORWARD, BACKWARD, ADDUCTION = np.radians([166.7, 62.3, 45.0])
ACROSS, BEHIND = np.radians([140.7, 45.4])  # horizontal flexion and extension, from sideways
ROTATION = (np.radians(-103.7), np.radians(68.8))
BENDING = (np.radians(-0.6), np.radians(142.9))


def raised(angle: float, azimuth: float) -> Array:
    """Return the direction of an arm raised by an angle, azimuth from the right side to front."""
    level = np.sin(angle)
    return np.array([level * np.sin(azimuth), -level * np.cos(azimuth), -np.cos(angle)])


def circumduction() -> tuple[Array, Cone]:
    """Return axes of the cone, columns in those of the trunk, and the cone through five ends.

    Its axis is level, in the middle between horizontal flexion and extension; longitude counts from
    full flexion.
    """
    front = np.pi / 2
    ends = [
        raised(FORWARD, front),
        raised(front, -BEHIND),
        raised(-BACKWARD, front),
        raised(-ADDUCTION, 0.0),
        raised(front, ACROSS),
    ]
    z = raised(front, (ACROSS - BEHIND) / 2)
    x = ends[0] - z * (z @ ends[0])
    x /= np.linalg.norm(x)
    axes = np.column_stack([x, np.cross(z, x), z])
    u = np.array(ends) @ axes
    longitudes = np.unwrap(np.arctan2(u[:, 1], u[:, 0]))
    latitudes = np.arccos(u[:, 2])
    return axes, Cone([*longitudes, 2 * np.pi], [*latitudes, latitudes[0]])


def segment(name: str, top: Array, *parts: Part) -> Body:
    """Return a body of parts in line, the first from the top downwards."""
    masses, depths, inertias, length = [], [], [], 0.0
    for part in parts:
        masses.append(part.share * MASS)
        depths.append(length + part.centre * part.length)
        inertias.append(masses[-1] * (np.array(part.radii) * part.length) ** 2)
        length += part.length
    depth = float(np.average(depths, weights=masses))
    tilting = np.dot(masses, (np.array(depths) - depth) ** 2) * np.array([1.0, 1.0, 0.0])
    inertia = tuple(np.sum(inertias, axis=0) + tilting)
    bone = np.array([(0.0, 0.0, depth), (0.0, 0.0, depth - length)])
    at = (*top[:2], top[2] - depth)
    return Body(name, sum(masses), inertia, position=at, outline=[bone])


def human_arm() -> tuple[Dynamics, Frame]:
    """Return an arm of four joints, flexion, abduction, inward rotation and elbow, and its palm."""
    shoulder = tuple(SHOULDER)
    trunk = _trunk()
    crosses = [Body(name, 0.0, position=shoulder) for name in ("flexing", "abducting")]
    upper, fore = (
        segment("upper arm", SHOULDER, UPPER_ARM),
        segment("forearm", ELBOW, FOREARM, HAND),
    )
    bodies = [*crosses, upper, fore, trunk]
    hinges = [
        _hinge("flexion", trunk, crosses[0], SHOULDER, FLEXING),
        _hinge("abduction", crosses[0], crosses[1], SHOULDER, ABDUCTING),
        _hinge("rotation", crosses[1], upper, SHOULDER, INWARD),
        _hinge("elbow", upper, fore, ELBOW, FLEXING),
    ]
    drives = [
        Actuator("flexion", effort=80.0, damping=0.5),
        Actuator("abduction", effort=80.0, damping=0.5),
        Actuator("rotation", *ROTATION, effort=40.0, damping=0.2),
        Actuator("elbow", *BENDING, effort=60.0, damping=0.2),
    ]
    still = Fixed("posture", Frame(GROUND), Frame.at(trunk, (0.0, 0.0, 0.0), np.eye(3)))
    mechanism = Mechanism(bodies, [*hinges, still], "relative", drives)
    stiffens = ExponentialLaw(3.0, 12.0)
    elements = [
        *resistances(mechanism),
        shoulder_cone(trunk, upper),
        TurnRange("rotation range", hinges[2].a, hinges[2].b, *ROTATION, stiffens),
        TurnRange("elbow range", hinges[3].a, hinges[3].b, *BENDING, stiffens),
    ]
    return assemble(mechanism, elements, (0.0, 0.0, -9.81)), Frame.at(fore, PALM)


def _trunk() -> Body:
    """Return trunk and head, which stay where they are: lines from hip to neck and to shoulder."""
    turn, middle = np.linspace(0, 2 * np.pi, 25), np.array([0.0, 0.0, 0.7 * HEIGHT])
    head = np.column_stack([0.11 * np.cos(turn), 0 * turn, HEIGHT - 0.11 + 0.11 * np.sin(turn)])
    spine = np.array([(0.0, 0.0, 0.53 * HEIGHT), (0.0, 0.0, HEIGHT - 0.22)])
    girdle = np.array([(0.0, 0.0, SHOULDER[2]), SHOULDER])
    lines = [line - middle for line in (head, spine, girdle)]
    return Body("trunk", 0.0, position=tuple(middle), outline=lines)


def shoulder_cone(trunk: Body, upper_arm: Body) -> RangeOfMotion:
    """Return the cone of the shoulder, its law that of a human joint in [RoM 2023]."""
    axes, cone = circumduction()
    down_the_arm = np.diag([1.0, -1.0, -1.0])
    return RangeOfMotion(
        "shoulder",
        Frame.at(trunk, SHOULDER, axes),
        Frame.at(upper_arm, SHOULDER, down_the_arm),
        cone,
        CubicLaw(Parameter("peak", 226.0), Parameter("compliance", np.radians(11.5))),
    )


def _hinge(name: str, a: Body, b: Body, at: Array, axis: tuple[float, ...]) -> Revolute:
    return Revolute(name, Frame.at(a, at, axis), Frame.at(b, at, axis))
