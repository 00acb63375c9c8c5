"""A planar four-bar linkage, crank and rocker, driven by a torque.

One closed loop: numbers chosen here so that the crank can turn over and no position is singular.
"""

import numpy as np

from nsopt import (
    GROUND,
    AppliedTorque,
    Body,
    Dynamics,
    Frame,
    Mechanism,
    PointOnLine,
    Problem,
    Revolute,
    StepBounds,
    assemble,
)

CRANK, COUPLER, ROCKER, GROUND_LINK = 0.2, 0.5, 0.4, 0.5  # m
LINE_DENSITY = 2.0  # kg/m
TORQUE = 1.5  # N m, about z, on the crank
GRAVITY = (0.0, -9.81, 0.0)


def pins() -> list[tuple[float, float]]:
    """Return the four pins at the start [m], the crank upright."""
    span = float(np.hypot(GROUND_LINK, CRANK))
    along = (span**2 + COUPLER**2 - ROCKER**2) / (2 * span)
    across = float(np.sqrt(COUPLER**2 - along**2))
    x, y = GROUND_LINK / span, -CRANK / span  # from the crank's end to the rocker's pin
    upper = (along * x - across * y, CRANK + along * y + across * x)
    return [(0.0, 0.0), (0.0, CRANK), upper, (GROUND_LINK, 0.0)]


def rod(name: str, a: tuple[float, float], b: tuple[float, float]) -> Body:
    """Return a thin rod between two points of the plane, its body x axis from a to b."""
    length, angle = float(np.hypot(b[0] - a[0], b[1] - a[1])), np.arctan2(b[1] - a[1], b[0] - a[0])
    mass = LINE_DENSITY * length
    J = mass * length**2 / 12
    return Body(
        name,
        mass,
        (J / 100, J, J),
        position=((a[0] + b[0]) / 2, (a[1] + b[1]) / 2, 0.0),
        orientation=(np.cos(angle / 2), 0.0, 0.0, np.sin(angle / 2)),
    )


def mechanism(
    coordinates: str = "absolute", closing: type[PointOnLine] | type[Revolute] = PointOnLine
) -> Mechanism:
    """Return the linkage.

    Parameters
    ----------
    coordinates
    closing : type
        Of the pin between coupler and rocker. `PointOnLine` holds what the plane leaves to hold;
        `Revolute` is what is built, and three of its rows are redundant.
    """
    places = pins()
    links = [rod(*x) for x in zip(("crank", "coupler", "rocker"), places, places[1:], strict=False)]
    crank, coupler, rocker = links

    def pin(k: int, body: Body | None) -> Frame:
        return Frame.at(body, (*places[k], 0.0))

    joints = [
        Revolute("crank pin", pin(0, GROUND), pin(0, crank)),
        Revolute("lower pin", pin(1, crank), pin(1, coupler)),
        Revolute("rocker pin", pin(3, GROUND), pin(3, rocker)),
        closing("upper pin", pin(2, coupler), pin(2, rocker)),
    ]
    return Mechanism(links, joints, coordinates=coordinates)


def model(
    coordinates: str = "absolute", closing: type[PointOnLine] | type[Revolute] = PointOnLine
) -> Dynamics:
    """Return the assembled linkage with its drive."""
    linkage = mechanism(coordinates, closing)
    crank = next(iter(linkage.bodies))
    drive = AppliedTorque("drive", Frame(crank), (0.0, 0.0, -TORQUE))
    return assemble(linkage, [drive], gravity=GRAVITY)


problem = Problem(model(), duration=1.0, steps=StepBounds(5e-4, 1e-3))
