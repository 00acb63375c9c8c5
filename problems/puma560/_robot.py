"""The Puma 560 as a mechanism.

Kinematics, masses, inertias, rotors and gears are the published table of Corke and
Armstrong-Helouvry (1994) in standard Denavit-Hartenberg parameters, limits those of Wang and Chen
(1991), both as the Robotics Toolbox has them.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from nsopt import Mechanism, Revolute
from nsopt.mechanics.actuator import Actuator
from nsopt.robots import DHRow, StandardDH
from nsopt.robots.tree import HERE, Hinge, Link, build


class Row(NamedTuple):
    """A joint and the link after it; centre of mass and moments of inertia in link axes."""

    d: float  # m
    a: float  # m
    alpha: float  # deg
    mass: float  # kg
    com: tuple[float, float, float]  # m
    inertia: tuple[float, float, float]  # kg m^2, about the centre of mass
    rotor: float  # kg m^2
    gear: float
    damping: float  # N m s/rad, of the motor
    limits: tuple[float, float]  # deg


TABLE = [
    # Of link 1 only the inertia about its axis can be told from experiments.
    Row(0.672, 0, 90, 0, (0, 0, 0), (0, 0.35, 0), 2e-4, -62.6111, 1.48e-3, (-160, 160)),
    Row(
        *(0, 0.4318, 0, 17.4, (-0.3638, 0.006, 0.2275), (0.13, 0.524, 0.539)),
        *(2e-4, 107.815, 8.17e-4, (-45, 225)),
    ),
    Row(
        *(0.15005, 0.0203, -90, 4.8, (-0.0203, -0.0141, 0.07), (0.066, 0.086, 0.0125)),
        *(2e-4, -53.7063, 1.38e-3, (-225, 45)),
    ),
    Row(
        *(0.4318, 0, 90, 0.82, (0, 0.019, 0), (1.8e-3, 1.3e-3, 1.8e-3)),
        *(3.3e-5, 76.0364, 7.12e-5, (-110, 170)),
    ),
    Row(
        *(0, 0, -90, 0.34, (0, 0, 0), (3e-4, 4e-4, 3e-4)),
        *(3.3e-5, 71.923, 8.26e-5, (-100, 100)),
    ),
    Row(
        *(0, 0, 0, 0.09, (0, 0, 0.032), (1.5e-4, 1.5e-4, 4e-5)),
        *(3.3e-5, 76.686, 3.67e-5, (-266, 266)),
    ),
]
NOMINAL = (0.0, np.pi / 4, np.pi, 0.0, np.pi / 4, 0.0)
"""The Toolbox's configuration qn, above a table [rad]."""


def puma560(rotors: bool = True) -> Mechanism:
    """Return the arm on the ground, in relative coordinates, at zero joint angles.

    Parameters
    ----------
    rotors : bool
        Whether the inertia of the motors counts.

    Notes
    -----
    The damping of an `Actuator` is that of its motor times the square of the gear ratio.
    """
    links, hinges, actuators = [], [], []
    convention = StandardDH()
    for i, row in enumerate(TABLE, 1):
        # Published moments of links 1 and 3 are those of no body: taken as stated.
        links.append(Link(f"link{i}", row.mass, np.array(row.com), row.inertia, physical=False))
        frame = DHRow(a=row.a, alpha=np.radians(row.alpha), d=row.d)
        parent = f"link{i - 1}" if i > 1 else None
        at = HERE.then(convention.link(frame))
        hinges.append(
            Hinge(f"joint{i}", Revolute, parent, f"link{i}", at, convention.joint(frame))
        )
        actuators.append(
            Actuator(
                f"joint{i}",
                lower=np.radians(row.limits[0]),
                upper=np.radians(row.limits[1]),
                damping=row.damping * row.gear**2,
                rotor_inertia=row.rotor * rotors,
                gear_ratio=row.gear,
            )
        )
    bodies, joints = build(links, hinges)
    return Mechanism(bodies, joints, coordinates="relative", actuators=actuators)
