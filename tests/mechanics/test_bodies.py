"""Bodies: numbers that are no body's are refused by name; poses read back right."""

import re

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from nsopt import (
    GROUND,
    Body,
    Fixed,
    Frame,
    Mechanism,
    Parameter,
    Planar,
    Revolute,
    Spherical,
    SpringDamper,
    assemble,
)
from tests.states import array, assembled

pytestmark = pytest.mark.unit

GOOD = {"mass": 2.0, "inertia": (1.0, 1.0, 1.5)}
VECTORS = ("inertia", "position", "velocity", "angular_velocity")


def refuses(field, value, *says):
    with pytest.raises(ValueError, match=".*".join(map(re.escape, [field, "'arm'", *says]))):
        Body("arm", **GOOD | {field: value})


@pytest.mark.parametrize("kind", [Revolute, Spherical])
def test_a_point_mass_on_a_hinge_is_refused(kind):
    """It would be held in place; what slides, or hangs on a string, moves."""
    bob = Body("bob", 1.0, position=(1.0, 0.0, 0.0), point_mass=True)
    on_ground = Frame(GROUND), Frame.at(bob, (0.0, 0.0, 0.0))
    with pytest.raises(ValueError, match=r"joint 'pin' would hold 'bob' in place.*Distance"):
        Mechanism([bob], [kind("pin", *on_ground)])
    arm = Body("arm", **GOOD, position=(2.0, 0.0, 0.0))
    carried = kind("pin", Frame(bob), Frame.at(arm, (1.0, 0.0, 0.0)))
    assert len(Mechanism([bob, arm], [Planar("floor", *on_ground), carried]).joints) == 2


def test_a_joint_beside_the_centre_of_a_point_mass_is_refused():
    """Its lever would keep its direction in the world, whatever the other body does."""
    bob = Body("bob", 1.0, position=(1.0, 0.0, 0.0), point_mass=True)
    arm = Body("arm", **GOOD, position=(2.0, 0.0, 0.0))
    beside = Spherical("pin", Frame.at(bob, (1.1, 0.0, 0.0)), Frame.at(arm, (1.1, 0.0, 0.0)))
    with pytest.raises(ValueError, match=r"'pin' would hold 'bob' on a lever.*put the joint at"):
        Mechanism([bob, arm], [beside])


def test_a_body_fixed_to_a_point_mass_is_refused():
    """It would not turn any more; a ball joint at the centre of the mass lets it."""
    bob = Body("bob", 1.0, position=(1.0, 0.0, 0.0), point_mass=True)
    arm = Body("arm", **GOOD, position=(2.0, 0.0, 0.0))
    at = Frame(bob), Frame.at(arm, (1.0, 0.0, 0.0))
    with pytest.raises(ValueError, match=r"'weld' would keep 'arm' from turning.*Spherical"):
        Mechanism([bob, arm], [Fixed("weld", *at)])
    assert Mechanism([bob, arm], [Spherical("weld", *at)]).joints
    assert Mechanism([bob], [Fixed("weld", Frame(GROUND, (1.0, 0.0, 0.0)), Frame(bob))]).joints


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("field", ["mass", *VECTORS])
def test_numbers_must_be_finite(field, bad):
    refuses(field, bad if field == "mass" else (1.0, bad, 1.0), "finite", f"{bad}")


@pytest.mark.parametrize("bad", [np.nan, np.inf])
@pytest.mark.parametrize("entries", [4, 9])
def test_orientation_must_be_finite(entries, bad):
    value = [bad, 0.0, 0.0, 0.0] if entries == 4 else [[bad, 0.0, 0.0], [0, 1, 0], [0, 0, 1]]
    refuses("orientation", value, "finite")


@pytest.mark.parametrize("field", VECTORS)
@pytest.mark.parametrize("value", [(1.0, 2.0), 3.0, ((1.0,), (2.0,), (3.0,))])
def test_vectors_have_three_entries(field, value):
    refuses(field, value, "shape")


@pytest.mark.parametrize("field", ["mass", *VECTORS, "orientation"])
def test_text_is_no_number(field):
    refuses(field, "heavy", "heavy")


def test_ragged_inertia_is_refused():
    refuses("inertia", ((1, 0, 0), (0, 1)), "(0, 1)")


def test_mass_must_not_be_negative():
    refuses("mass", -1.5, "-1.5")


@pytest.mark.parametrize(
    ("inertia", "says"),
    [
        (((1, 0.1, 0), (0, 1, 0), (0, 0, 1)), "symmetric"),
        (((1, 2, 0), (2, 1, 0), (0, 0, 3)), "positive semidefinite"),
        ((-1, 1, 1), "positive semidefinite"),
        ((1, 1, 2.001), "2.001"),
        ((0, 0, 1), "no body"),
        (((2, -1, 0), (-1, 2, 0), (0, 0, 0.5)), "0.5"),
    ],
)
def test_inertia_must_be_that_of_a_body(inertia, says):
    refuses("inertia", inertia, says)


@pytest.mark.parametrize(
    "inertia", [(1, 1, 2), (1, 1, 0), (0, 0, 0), ((2, 1, 0), (1, 2, 0), (0, 0, 4))]
)
def test_limits_of_the_triangle_inequality_are_accepted(inertia):
    assert Body("plate", 1.0, inertia).inertia == inertia


@pytest.mark.parametrize("p", [(1, 1, 0, 0), (0, 0, 0, 0), (0.5, 0, 0, 0)])
def test_euler_parameters_have_norm_one(p):
    refuses("orientation", p, "norm", f"{np.linalg.norm(p):.6g}")


@pytest.mark.parametrize(
    "A", [-np.eye(3), 2 * np.eye(3), np.diag([1.0, 1.0, -1.0]), np.ones((3, 3))]
)
def test_orientation_is_a_rotation_matrix(A):
    refuses("orientation", A, "rotation matrix")


@pytest.mark.parametrize("value", [(1.0, 0.0), (1.0,) * 5, 1.0])
def test_orientation_has_four_or_nine_entries(value):
    refuses("orientation", value)


def test_orientation_by_parameters_or_by_matrix_is_the_same():
    A = Rotation.from_rotvec([0.3, -2.0, 1.0])
    p = np.roll(A.as_quat(canonical=True), 1)
    by_matrix = Body("b", 1.0, orientation=A.as_matrix())
    assert by_matrix.orientation == pytest.approx(p, abs=1e-15)
    assert Body("b", 1.0, orientation=p).rotation == pytest.approx(A.as_matrix(), abs=1e-15)


def test_a_body_needs_a_name():
    with pytest.raises(ValueError, match="name"):
        Body("", 1.0)


def test_point_mass_has_no_inertia():
    with pytest.raises(ValueError, match=r"inertia of body 'bead'.*point mass"):
        Body("bead", 1.0, (1, 1, 1), point_mass=True)


@pytest.mark.parametrize(
    "turning", [{"orientation": (0, 1, 0, 0)}, {"angular_velocity": (1, 0, 0)}]
)
def test_point_mass_does_not_turn(turning):
    with pytest.raises(ValueError, match="'bead'"):
        Body("bead", 1.0, point_mass=True, **turning)


def test_point_mass_has_three_coordinates():
    bead = Body("bead", 2.0, position=(1, 2, 3), velocity=(4, 5, 6), point_mass=True)
    d = assembled([bead], [])
    q, v = d.stated_start()
    assert (d.nq, d.nv) == (3, 3)
    assert q == pytest.approx([1, 2, 3])
    assert v == pytest.approx([4, 5, 6])
    assert array(d.mass(q, [])) == pytest.approx(2 * np.eye(3))


def test_orientation_may_be_a_parameter():
    b = Body("b", 1.0, (1, 1, 1), orientation=(Parameter("e0", 1.0), 0, 0, 0))
    assert [p.name for p in assembled([b], []).parameters] == ["e0"]


@pytest.mark.parametrize(
    ("outline", "says"),
    [
        ([[0.0, 0.0, 0.0], [1.0, 0.0, 0.0]], r"outline\[0\] of body 'b' must be a polyline"),
        ([np.zeros((1, 3))], "two points or more"),
        ([np.zeros((2, 3)), np.full((2, 3), np.nan)], r"outline\[1\] of body 'b' .*finite"),
    ],
)
def test_an_outline_is_a_sequence_of_polylines(outline, says):
    with pytest.raises(ValueError, match=says):
        Body("b", 1.0, (1.0, 1.0, 1.0), outline=outline)


def test_numbers_may_be_arrays_without_axes_but_no_truths():
    ball = Body("ball", np.array(1.5), (0.01, 0.01, 0.01), position=(0.5, 0, 0))
    spring = SpringDamper("spring", Frame(GROUND), Frame(ball), np.array(4.0))
    dynamics = assemble(Mechanism([ball]), [spring], gravity=(0, 0, 0))
    q = np.array([0.5, 0, 0, 1, 0, 0, 0])
    assert float(dynamics.mass(q, [])[0, 0]) == 1.5
    assert float(dynamics.potential(0, q, np.zeros(6), [])) == pytest.approx(4.0 * 0.5**2 / 2)
    with pytest.raises(ValueError, match="mass of body 'ball' must be numbers, got True"):
        Body("ball", True, (0.01, 0.01, 0.01))
