"""Redundancy of contacts counts what ideal joints carry, in both coordinates."""

import pytest

from nsopt import (
    GROUND,
    Body,
    Frame,
    Mechanism,
    PlaneContact,
    Prismatic,
    StepBounds,
    assemble,
    simulate,
)


def redundant(joint, feet, coordinates):
    """Return how many contacts of feet along x are redundant, of a body at rest on the floor."""
    body = Body("body", 1.0, (0.01,) * 3, position=(0, 0, 0.1))
    joints = [joint(Frame(GROUND, (0, 0, 0.1)), Frame(body))]
    contacts = [
        PlaneContact(f"foot{k}", Frame(GROUND), Frame(body, (x, 0, -0.1)))
        for k, x in enumerate(feet)
    ]
    d = assemble(Mechanism([body], joints, coordinates), contacts, gravity=(0, 0, -9.81))
    bounds = StepBounds(1e-3, 1e-3)
    return simulate(d, duration=3e-3, steps=bounds, progress=False).data.attrs["redundant_contacts"]


@pytest.mark.parametrize("coordinates", ["absolute", "relative"])
@pytest.mark.parametrize(("feet", "count"), [((0.0,), 0), ((-0.1, 0.1), 1)])
def test_on_a_rail_all_feet_but_one_are(coordinates, feet, count):
    assert redundant(lambda a, b: Prismatic("rail", a, b), feet, coordinates) == count
