"""What both mechanisms are made of: base and support, friction, numbers of ours."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from nsopt import (
    GROUND,
    Body,
    Bushing,
    Fixed,
    Frame,
    LuGreLaw,
    Prismatic,
    Revolute,
    SlideFriction,
    TurnFriction,
)
from nsopt.mechanics import Constraint, Element

Point = tuple[float, float, float]
GRAVITY = (0.0, -9.81, 0.0)  # m/s^2, y is up, as in the paper
X, Y, Z = (1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)

RUBBER = (3.0e3, 4.5e3, 3.0e3)  # N/m of each spring along x, y, z
DAMPED = (40.0, 60.0, 40.0)  # N s/m
JOURNAL = 0.01  # m, radius of all journals
BRISTLES = {"stiffness": 1.0e3, "damping": 1.0, "viscous": 0.02}
"""sigma_0, sigma_1, sigma_2 of LuGre's law, of a coefficient of friction over rad or m."""
KINETIC, STATIC, STRIBECK = 0.08, 0.12, 0.1
"""Coefficients of friction, and the speed [rad/s, m/s] at which it falls from one to the other."""


class Case(NamedTuple):
    """One of the eight cases, S_r/fl _ L_r/fl _ J_nf/f in the notation of the paper."""

    flexible_support: bool = False
    flexible_link: bool = False
    friction: bool = False

    @property
    def label(self) -> str:
        """The name of the case."""
        support, link = ("fl" if x else "r" for x in self[:2])
        return f"S_{support}_L_{link}_J_{'f' if self.friction else 'nf'}"


RIGID = Case()
CASES = tuple(Case(s, b, f) for s in (False, True) for b in (False, True) for f in (False, True))


def base(mass: float, half: float, height: float, bottom: float = 0.0) -> Body:
    """Return the base, a block with sides 2 half, height, 2 half that stands on y = bottom."""
    side = (2 * half) ** 2
    inertia = (mass / 12) * np.array([side + height**2, 2 * side, side + height**2])
    return Body("pedestal", mass, tuple(inertia), position=(0.0, bottom + height / 2, 0.0))


def weld(block: Body) -> Fixed:
    """Return the joint that holds the base to the ground [CoPCoD 2023, eq. 32]."""
    return Fixed("base", Frame(GROUND, block.position), Frame(block))


def support(block: Body, half: float, height: float, bottom: float = 0.0) -> list[Bushing]:
    """Return two layers of four springs under and around the base [CoPCoD 2023, eqs. 15, 16]."""
    layers = [
        (f"support_{layer}{corner}", (x * half, y, z * half))
        for layer, y in enumerate((bottom, bottom + height))
        for corner, (x, z) in enumerate(((-1, -1), (-1, 1), (1, 1), (1, -1)))
    ]
    return [
        Bushing(name, Frame(GROUND, point), Frame.at(block, point), RUBBER, DAMPED)
        for name, point in layers
    ]


def friction(joints: Iterable[Constraint]) -> list[Element]:
    """Return LuGre friction in joints under their reactions [CoPCoD 2023, eqs. 19-22].

    Forces along the axes of hinges are left out, as there.
    """
    law = LuGreLaw(**BRISTLES, kinetic=KINETIC, static=STATIC, stribeck=STRIBECK)
    found: list[Element] = []
    for joint in joints:
        name, (a, b) = f"friction_{joint.name}", joint.frames
        if isinstance(joint, Revolute):
            journal = {"radius": JOURNAL, "collar": 0.0}
            found.append(TurnFriction(name, a, b, law, **journal, joint=joint.name))
        elif isinstance(joint, Prismatic):
            found.append(SlideFriction(name, a, b, law, joint=joint.name))
    return found


def rod(name: str, begin: Point, end: Point, mass: float, radius: float) -> Body:
    """Return a round rod between two points along x, y or z."""
    way = np.subtract(end, begin)
    length, across = float(np.linalg.norm(way)), mass * radius**2 / 2
    inertia = np.where(np.abs(way) > 0, across, mass * length**2 / 12 + across / 2)
    middle = tuple(float(x) for x in np.add(begin, end) / 2)
    return Body(name, mass, tuple(inertia), position=middle)
