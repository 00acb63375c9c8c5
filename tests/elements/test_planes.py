"""Planar joints with clearance, in the plane of their motion or refused."""

import numpy as np
import pytest

from nsopt import (
    GROUND,
    Body,
    Frame,
    Mechanism,
    Planar,
    PlanarPrismaticClearance,
    PlanarRevoluteClearance,
    Revolute,
    assemble,
)

LEVEL = np.eye(3)
UPRIGHT = np.array([[1.0, 0, 0], [0, 0, -1], [0, 1, 0]])  # z lies in the plane, along -y
HALF = np.sqrt(0.5)
LEANING = np.array([[1.0, 0, 0], [0, HALF, -HALF], [0, HALF, HALF]])


def mechanism(pin, joints, coordinates="absolute"):
    """A rod in the xy plane, its bushing on a pin with these axes."""
    rod = Body("rod", 1.0, (0.01, 0.09, 0.09), position=(0.5, 0.0, 0.0))
    place = Frame(GROUND), Frame.at(rod, (0.0, 0.0, 0.0))
    held = [Planar("plane", *place)] if joints else []
    a, b = Frame(GROUND, axes=pin), Frame.at(rod, (0.0, 0.0, 0.0), axes=pin)
    hinge = PlanarRevoluteClearance("hinge", a, b, clearance=1e-3)
    return assemble(Mechanism([rod], held, coordinates), [hinge])


@pytest.mark.parametrize("coordinates", ["absolute", "relative"])
@pytest.mark.parametrize(("pin", "angle"), [(UPRIGHT, "90"), (LEANING, "45")])
def test_a_bore_in_the_plane_of_motion_is_refused(pin, angle, coordinates):
    """It would hold the rod in one direction only, and let it slide along the pin."""
    message = f"z of frame a of PlanarRevoluteClearance 'hinge' is {angle} deg off the normal"
    with pytest.raises(ValueError, match=message):
        mechanism(pin, True, coordinates)


@pytest.mark.parametrize("coordinates", ["absolute", "relative"])
def test_a_bore_across_the_plane_of_motion_is_right(coordinates):
    for axes in (LEVEL, np.diag([1.0, -1.0, -1.0])):
        assert mechanism(axes, True, coordinates).contact_names == ("hinge",)


def test_without_a_plane_there_is_nothing_to_compare_with():
    assert mechanism(UPRIGHT, False).contact_names == ("hinge",)


def test_a_guide_in_the_plane_of_motion_is_refused():
    """The block turns on a hinge along z, its guide is seen from the side."""
    block = Body("block", 1.0, (1, 1, 1))
    hinge = Revolute("hinge", Frame(GROUND), Frame(block))
    for axes, right in ((LEVEL, True), (UPRIGHT, False)):
        guide = Frame(GROUND, axes=axes), Frame(block, axes=axes)
        slider = PlanarPrismaticClearance("guide", *guide, length=0.1, height=0.05, clearance=1e-3)
        if right:
            assemble(Mechanism([block], [hinge]), [slider])
            continue
        with pytest.raises(ValueError, match="PlanarPrismaticClearance 'guide' is 90 deg off"):
            assemble(Mechanism([block], [hinge]), [slider])
