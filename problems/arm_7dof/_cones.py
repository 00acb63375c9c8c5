"""Pads and cones of the arm of seven joints: what its joints put against the ends of their ranges.

Shoulder and wrist are made of three hinges each, with axes through one point: what limits them is a
cone for the upper arm, which the base and its cables leave, and one for the hand, which the hoses
along the forearm leave. Numbers chosen here.
"""

from __future__ import annotations

import numpy as np

from nsopt import Cone, CubicLaw, Frame, Mechanism, RangeOfMotion
from nsopt.mechanics import Force
from nsopt.robots import resistances

QUADRANTS = np.radians([0.0, 90.0, 180.0, 270.0, 360.0])
LEAN = np.radians(20.0)
"""By which the axis of the shoulder's cone leans forward, to x."""
SHOULDER = np.radians([100.0, 95.0, 70.0, 95.0, 100.0])
"""How far the upper arm leans from it: forward, left, back, right."""
WRIST = np.radians([95.0, 75.0, 95.0, 75.0, 95.0])
"""How far the hand leans from the forearm, in and across the plane of the elbow."""

SHOULDER_POINT, WRIST_POINT = (0.0, 0.0, 0.333), (0.0, 0.0, 1.123)
"""With the arm stretched upward [m]."""
WIDTH = np.radians(10.0)
"""Beyond the end of a range, after which no more moment is added."""


def limits(arm: Mechanism) -> tuple[Force, ...]:
    """Return damping, pads and cones of an arm stated stretched upward."""
    pads = CubicLaw(peak=40.0, compliance=WIDTH)
    stops = {f"joint{k}": pads for k in (2, 4, 6)}  # the others turn nearly all the way round
    return (*resistances(arm, stop=stops), *cones(arm))


def cones(arm: Mechanism) -> tuple[RangeOfMotion, RangeOfMotion]:
    """Return the cone of the shoulder and that of the wrist."""
    bodies = {body.name: body for body in arm.bodies}
    forward = np.array(
        [[np.cos(LEAN), 0, np.sin(LEAN)], [0, 1, 0], [-np.sin(LEAN), 0, np.cos(LEAN)]]
    )
    shoulder = RangeOfMotion(
        "shoulder",
        Frame.at(bodies.get("base"), SHOULDER_POINT, forward),
        Frame.at(bodies["link3"], SHOULDER_POINT),
        Cone(QUADRANTS, SHOULDER),
        CubicLaw(peak=60.0, compliance=WIDTH),
    )
    wrist = RangeOfMotion(
        "wrist",
        Frame.at(bodies["link4"], WRIST_POINT, np.eye(3)),
        Frame.at(bodies["link7"], WRIST_POINT),
        Cone(QUADRANTS, WRIST),
        CubicLaw(peak=10.0, compliance=WIDTH),
    )
    return shoulder, wrist
