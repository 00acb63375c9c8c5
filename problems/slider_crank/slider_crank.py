"""A slider-crank mechanism with ideal joints, fast enough for gravity not to matter.

Crank, rod and slider of [Flores, Leine, Glocker 2010], whose guide has play in `with_play` alone.
"""

from nsopt import (
    GROUND,
    Body,
    ContactLaw,
    Dynamics,
    Frame,
    Mechanism,
    PlanarPrismaticClearance,
    PointOnLine,
    Prismatic,
    Problem,
    Revolute,
    StepBounds,
    assemble,
    box_outline,
    link_outline,
)
from nsopt.parameter import Scalar

CRANK, ROD = 0.153, 0.306  # m
WIDTH = 0.02  # m, of crank and rod in pictures; the slider is 0.1 m long and 0.05 m high
MASSES = (0.038, 0.038, 0.076)  # kg: crank, rod, slider
INERTIAS = (7.4e-5, 5.9e-4, 2.7e-6)  # kg m^2, about z
SPEED = 150.0  # rad/s of the crank at the start; the rod turns at half of it the other way
GRAVITY = (0.0, -9.81, 0.0)
ALONG_X = (1.0, 0.0, 0.0)


def members() -> tuple[Body, Body, Body]:
    """Return crank, rod and slider, stretched out along x; centres of mass in the middle."""
    J1, J2, J3 = INERTIAS
    m1, m2, m3 = MASSES
    speed, turn = CRANK * SPEED, -SPEED * CRANK / ROD
    return (
        Body(
            "crank",
            m1,
            (J1, J1, J1),
            position=(CRANK / 2, 0.0, 0.0),
            velocity=(0.0, speed / 2, 0.0),
            angular_velocity=(0.0, 0.0, SPEED),
            outline=link_outline((-CRANK / 2, 0.0, 0.0), (CRANK / 2, 0.0, 0.0), WIDTH),
        ),
        Body(
            "rod",
            m2,
            (J2, J2, J2),
            position=(CRANK + ROD / 2, 0.0, 0.0),
            velocity=(0.0, speed / 2, 0.0),
            angular_velocity=(0.0, 0.0, turn),
            outline=link_outline((-ROD / 2, 0.0, 0.0), (ROD / 2, 0.0, 0.0), WIDTH),
        ),
        Body(
            "slider",
            m3,
            (J3, J3, J3),
            position=(CRANK + ROD, 0.0, 0.0),
            outline=box_outline(0.1, 0.05),
        ),
    )


def mechanism(
    coordinates: str = "absolute", closing: type[PointOnLine] | type[Revolute] = PointOnLine
) -> Mechanism:
    """Return the mechanism.

    Parameters
    ----------
    coordinates
    closing : type
        Of the piston pin. `PointOnLine` holds what the plane leaves to hold; `Revolute` is what is
        built, and three of its rows are redundant.
    """
    crank, rod, slider = members()
    knee, piston = (CRANK, 0.0, 0.0), (CRANK + ROD, 0.0, 0.0)
    joints = [
        Revolute("main bearing", Frame(GROUND), Frame.at(crank, (0.0, 0.0, 0.0))),
        Revolute("crank pin", Frame.at(crank, knee), Frame.at(rod, knee)),
        Prismatic("guide", Frame(GROUND, axes=ALONG_X), Frame.at(slider, piston, ALONG_X)),
        closing("piston pin", Frame.at(slider, piston), Frame.at(rod, piston)),
    ]
    return Mechanism([crank, rod, slider], joints, coordinates=coordinates)


def model(
    coordinates: str = "absolute", closing: type[PointOnLine] | type[Revolute] = PointOnLine
) -> Dynamics:
    """Return the assembled mechanism."""
    return assemble(mechanism(coordinates, closing), gravity=GRAVITY)


def with_play(restitution: Scalar = 0.0, coordinates: str = "absolute") -> Dynamics:
    """Return the mechanism of the publication, whose slider has 1 mm of play in its guide.

    Parameters
    ----------
    restitution : float or Parameter
        Of the four corners; there is no friction.
    coordinates
    """
    crank, rod, slider = members()
    knee, piston = (CRANK, 0.0, 0.0), (CRANK + ROD, 0.0, 0.0)
    joints = [
        Revolute("main bearing", Frame(GROUND), Frame.at(crank, (0.0, 0.0, 0.0))),
        Revolute("crank pin", Frame.at(crank, knee), Frame.at(rod, knee)),
        Revolute("piston pin", Frame.at(rod, piston), Frame.at(slider, piston)),
    ]
    law = ContactLaw(restitution=restitution)
    guide = PlanarPrismaticClearance(
        "guide", Frame(GROUND), Frame(slider), length=0.1, height=0.05, clearance=1e-3, law=law
    )
    mechanism = Mechanism([crank, rod, slider], joints, coordinates=coordinates)
    return assemble(mechanism, [guide], GRAVITY)


problem = Problem(model(), duration=0.1, steps=StepBounds(5e-6, 1e-5))
