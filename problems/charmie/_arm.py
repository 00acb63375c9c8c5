"""The left arm of CHARMIE alone, its torso held in the reference position.

Bodies and joints are those of the whole robot (`_robot.py`), the claw shut. Ranges, damping and
cone are chosen here.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from _geometry import LINK, LINKS, Array
from _robot import _Build

from nsopt import Actuator, Cone, CubicLaw, Dynamics, Frame, Mechanism, RangeOfMotion, assemble
from nsopt.robots import resistances

TRUNK = ("1", "2", "3", "4", "5")
ARM = ("6a", "7a", "8a", "9a", "10a", "11a", "12a", "13a")
CLAW = np.array([0.0, 0.0, 0.08])
"""Where the claw grasps, in its own axes [m]."""

# Of the six joints from the shoulder on: range either way [deg], damping [N m s/rad].
RANGES = (110.0, 110.0, 160.0, 130.0, 160.0, 100.0)
DAMPING = (3.0, 3.0, 2.0, 2.0, 1.0, 1.0)

QUADRANTS = np.radians([0.0, 90.0, 180.0, 270.0, 360.0])
SHOULDER = np.radians([55.0, 100.0, 110.0, 90.0, 55.0])
"""How far the upper arm leans from straight out to the side: back, up, forward, down."""


def left_arm() -> tuple[Dynamics, Frame]:
    """Return the arm with what resists in its joints, and the frame of its claw."""
    build = _Build()
    for label in TRUNK:
        build.link(LINK[label])
    shoulder = build.world("5", LINK["6a"].at)
    build = _Build()
    x, y, z = (float(part) for part in shoulder)
    build.link(replace(LINK["6a"], before="", at=(x, y, z)))
    for link in (link for link in LINKS if link.label in ARM[1:]):
        build.link(replace(link, kind="F", axis="") if link.label == "13a" else link)
    arm = Mechanism(build.bodies.values(), build.joints, "relative", _drives())
    upper, claw = build.bodies["body_9a"], build.bodies["body_13a"]
    cone = RangeOfMotion(
        "shoulder",
        Frame(build.bodies["body_6a"]),
        Frame(upper),
        Cone(QUADRANTS, SHOULDER),
        CubicLaw(peak=15.0, compliance=np.radians(10.0)),
    )
    tip: Array = CLAW - np.asarray(LINK["13a"].centre)
    elements = (*resistances(arm), cone)
    return assemble(arm, elements, gravity=(0.0, 0.0, -9.81)), Frame(claw, tip, np.eye(3))


def _drives() -> list[Actuator]:
    return [
        Actuator(
            f"joint_{k}a",
            lower=-np.radians(wide),
            upper=np.radians(wide),
            velocity=3.0,
            effort=40.0,
            damping=damping,
        )
        for k, (wide, damping) in enumerate(zip(RANGES, DAMPING, strict=True), 7)
    ]
