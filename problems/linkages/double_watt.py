"""Two of Watt's linkages, mirrored, whose couplers a rod joins: it moves through a cusp.

The middle of Watt's coupler leaves a straight line by l^2 s^5 / (8 h) at the angle s of its cranks,
so that the rod lets both go on in one direction only [Connelly and Servatius 1994].
"""

import numpy as np

from nsopt import GROUND, Body, Frame, Mechanism, Relative, Revolute

CRANK, COUPLER, ROD = 1.0, 1.0, 1.0  # m


def watt(name: str, x: float, side: int) -> tuple[Body, list[Body], list[Revolute]]:
    """Return coupler, bodies and hinges of a linkage whose coupler stands upright at x."""
    half = COUPLER / 2
    left = Body(f"{name} left", 0.0, position=(x - side * CRANK / 2, half, 0))
    right = Body(f"{name} right", 0.0, position=(x + side * CRANK / 2, -half, 0))
    coupler = Body(f"{name} coupler", 0.0, position=(x, 0, 0))
    places = [
        (GROUND, left, (x - side * CRANK, half, 0)),
        (left, coupler, (x, half, 0)),
        (coupler, right, (x, -half, 0)),
        (GROUND, right, (x + side * CRANK, -half, 0)),
    ]
    joints = [
        Revolute(f"{name} {k}", Frame.at(a, point), Frame.at(b, point))
        for k, (a, b, point) in enumerate(places, 1)
    ]
    return coupler, [left, coupler, right], joints


def model(mirrored: bool = True) -> Mechanism:
    """Return the linkage with both couplers upright, the second mirrored or like the first."""
    first, one, hinges = watt("first", 0.0, 1)
    second, other, more = watt("second", ROD, -1 if mirrored else 1)
    rod = Body("rod", 0.0, position=(ROD / 2, 0, 0))
    ends = [
        Revolute("rod start", Frame.at(first, np.zeros(3)), Frame.at(rod, np.zeros(3))),
        Revolute("rod end", Frame.at(rod, (ROD, 0, 0)), Frame.at(second, (ROD, 0, 0))),
    ]
    cut = ["first 3", "second 3", "rod end"]
    return Mechanism([*one, *other, rod], [*hinges, *more, *ends], Relative(cut))


mechanism = model()
