"""Elements refuse numbers that describe nothing; the message names the element and the value."""

import re

import numpy as np
import pytest

from nsopt import (
    AppliedForce,
    AppliedTorque,
    Body,
    CylinderContact,
    CylindricalClearance,
    Frame,
    PlanarPrismaticClearance,
    PlanarRevoluteClearance,
    PlaneContact,
    PrismaticClearance,
    RevoluteClearance,
    Screw,
    SphereContact,
    SphericalClearance,
    SpringDamper,
    TorsionSpringDamper,
)
from tests.catalog import CLEARANCES, CONTACTS, JOINTS, SPRINGS
from tests.states import assembled

pytestmark = pytest.mark.unit

BODY = Body("body", 1.0, (1, 1, 1))
PAIR = (Frame(None), Frame(BODY))
SQUARE = ((0, 0), (1, 0), (1, 1), (0, 1))

GOOD = {
    Screw: {"pitch": 0.1},
    CylindricalClearance: {"length": 0.1, "pin_length": 1.0, "clearance": 1e-3, "radius": 0.01},
    RevoluteClearance: {"length": 0.1, "clearance": 1e-3, "axial_clearance": 1e-3, "radius": 0.01},
    PrismaticClearance: {"polygon": SQUARE, "length": 0.1, "clearance": 1e-3},
    SphericalClearance: {"clearance": 1e-3, "radius": 0.01},
    PlanarRevoluteClearance: {"clearance": 1e-3, "radius": 0.01},
    PlanarPrismaticClearance: {"length": 0.1, "height": 0.1, "clearance": 1e-3},
    PlaneContact: {"radius": 0.1, "scale": 1e-3},
    SphereContact: {"body_radius": 0.3, "radius": 0.1, "scale": 1e-3},
    CylinderContact: {"body_radius": 0.3, "radius": 0.1, "scale": 1e-3},
    SpringDamper: {"stiffness": 10.0, "free_length": 0.1, "damping": 1.0},
    TorsionSpringDamper: {"stiffness": 10.0, "free_angle": 0.1, "damping": 1.0},
}
MAY_BE_ZERO = {"radius", "stiffness", "free_length", "damping", "free_angle"}
MAY_BE_NEGATIVE = {"pitch", "free_angle"}
scalars = [(kind, name) for kind, good in GOOD.items() for name in good if name != "polygon"]


def refuses(kind, name, value, *says):
    pattern = ".*".join(map(re.escape, [name, kind.__name__, "'e'", *says]))
    with pytest.raises(ValueError, match=pattern):
        kind("e", *PAIR, **GOOD[kind] | {name: value})


@pytest.mark.parametrize(("kind", "name"), scalars)
@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_numbers_must_be_finite(kind, name, bad):
    refuses(kind, name, bad, f"finite, got {bad}")


@pytest.mark.parametrize(("kind", "name"), [s for s in scalars if s[1] not in MAY_BE_NEGATIVE])
def test_sizes_must_not_be_negative(kind, name):
    refuses(kind, name, -0.5, "-0.5")


@pytest.mark.parametrize(("kind", "name"), [s for s in scalars if s[1] not in MAY_BE_ZERO])
def test_sizes_must_not_be_zero(kind, name):
    refuses(kind, name, 0.0)


@pytest.mark.parametrize("name", ["radius", "damping"])
def test_what_may_be_zero_is_accepted(name):
    for kind, good in GOOD.items():
        if name in good:
            assert getattr(kind("e", *PAIR, **good | {name: 0.0}), name) == 0


@pytest.mark.parametrize(
    ("polygon", "says"),
    [
        (SQUARE[:2], "at least three"),
        ([], "at least three"),
        (((0, 0), (2, 0), (1, 0.2), (1, 2)), "convex"),
        (((0, 0), (1, 1), (1, 0), (0, 1)), "convex"),
        (((0, 0), (1, 0), (1, 0), (0, 1)), "convex"),
        (((0, 0), (1, 0), (2, 0), (1, 1)), "[1.0, 0.0]"),
        (((0, 0), (1, 0), (2, 0)), "convex"),
        (((0, 0), (1, 0), (0, np.nan)), "finite"),
        (((0, 0, 0), (1, 0, 0), (0, 1, 0)), "shape"),
        (((0, 0), (1, 0), (1,)), "numbers"),
    ],
    ids=str,
)
def test_a_section_is_a_convex_polygon(polygon, says):
    refuses(PrismaticClearance, "polygon", polygon, says)


def test_a_pentagram_is_no_convex_polygon():
    angles = np.deg2rad(90 + 144 * np.arange(5))
    refuses(
        PrismaticClearance, "polygon", np.column_stack([np.cos(angles), np.sin(angles)]), "convex"
    )


@pytest.mark.parametrize("name", ["SQUARE", "clockwise"])
def test_either_sense_is_accepted(name):
    polygon = SQUARE if name == "SQUARE" else SQUARE[::-1]
    d = assembled([BODY], [PrismaticClearance("e", *PAIR, polygon, 0.1, 1e-3)])
    assert np.ravel(np.asarray(d.distance(0, d.stated_start()[0], []))) == pytest.approx(1e-3)


def test_a_bushing_is_no_longer_than_its_pin():
    with pytest.raises(ValueError, match=r"'e' is longer than its pin.*0\.3.*0\.2"):
        CylindricalClearance("e", *PAIR, length=0.3, pin_length=0.2, clearance=1e-3)
    with pytest.raises(ValueError, match=r"axial_clearance.*'e'.*0\.1 m long.*shorter.*0\.098"):
        RevoluteClearance("e", *PAIR, length=0.1, clearance=1e-3, axial_clearance=-1e-3)


@pytest.mark.parametrize("row", JOINTS + CLEARANCES + CONTACTS + SPRINGS, ids=str)
@pytest.mark.parametrize("body", [BODY, None])
def test_two_frames_on_one_body_are_refused(row, body):
    place = "the ground" if body is None else "body 'body'"
    with pytest.raises(ValueError, match=f"'e' has both frames on {place}"):
        row.build(Frame(body, (1, 0, 0)), Frame(body))


@pytest.mark.parametrize("kind", [AppliedForce, AppliedTorque])
def test_a_load_acts_on_a_body(kind):
    with pytest.raises(ValueError, match=rf"{kind.__name__} 'e' acts on the ground"):
        kind("e", Frame(None), (1, 0, 0))


@pytest.mark.parametrize("kind", [AppliedForce, AppliedTorque])
@pytest.mark.parametrize(
    "vector", [(1, np.nan, 0), (1, 2), 5.0, ((1, 2, 3), (1, 2, 3)), "up"], ids=str
)
def test_a_load_is_three_finite_numbers(kind, vector):
    with pytest.raises(ValueError, match=f"vector of {kind.__name__} 'e'"):
        kind("e", Frame(BODY), vector)


@pytest.mark.parametrize("vector", [lambda t: (t, 1), lambda t: 5.0, lambda t: (np.nan, t, t)])
def test_a_load_over_time_has_three_finite_components(vector):
    with pytest.raises(ValueError, match="'e'"):
        assembled([BODY], [AppliedForce("e", Frame(BODY), vector)])
