"""Redundancy of contacts counts what ideal joints carry, in both coordinates."""

import numpy as np
import pytest

from nsopt import (
    GROUND,
    Body,
    ContactLaw,
    Frame,
    Mechanism,
    PlaneContact,
    Prismatic,
    PrismaticClearance,
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


WEIGHT = np.array([3.0, -9.81, 0.0])  # of 1 kg, towards an edge of the guide
SECTION = ((0.02, 0.015), (-0.02, 0.015), (-0.02, -0.015), (0.02, -0.015))


@pytest.mark.slow
@pytest.mark.parametrize("friction", [0.1, 0.2, 0.3])
def test_a_prism_comes_to_rest_on_two_walls(friction):
    """Its corners stick by many more rows than it has velocities, which contradict by round-off.

    Every step is of Newton's method, contacts carry the weight, and at rest no energy changes.
    """
    body = Body("body", 1.0, (0.01, 0.02, 0.02), position=(0.1, 0, 0))
    guide = PrismaticClearance(
        "guide",
        Frame(GROUND),
        Frame.at(body, (0, 0, 0)),
        SECTION,
        length=0.1,
        clearance=1e-3,
        law=ContactLaw(friction=friction),
    )
    d = assemble(Mechanism([body]), [guide], gravity=tuple(WEIGHT))
    h = 2.5e-4
    result = simulate(d, duration=400 * h, steps=StepBounds(h, h), progress=False, check=None)
    assert result.data.sizes["time"] == 401
    assert not result["retries"].values[1:].any()
    rest = result.data.isel(time=slice(-100, None))
    assert np.abs(rest["v"].values).max() < 1e-9
    forces = rest["contact_force"].sum("contact").values
    assert forces == pytest.approx(np.tile(-WEIGHT, (100, 1)), abs=1e-7)
    assert np.ptp(rest["total_energy"].values) < 1e-12
    assert np.diff(result["total_energy"].values).max() < 1e-12
    assert result["gap"].values.min() > -1e-10
    assert np.nanmax(result["motion_residual"].values) < 1e-9
