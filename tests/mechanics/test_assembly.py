"""Elements that belong to a mechanism assemble; others are refused, and messages say why."""

from dataclasses import replace

import numpy as np
import pytest

from nsopt import (
    AppliedForce,
    Body,
    CompliantContact,
    Frame,
    Hertz,
    Mechanism,
    Revolute,
    Spherical,
    SphericalClearance,
    assemble,
)

pytestmark = pytest.mark.unit

A = Body("a", 1.0, (1, 1, 1))
B = Body("b", 1.0, (1, 1, 1), position=(1, 0, 0))
STRANGER = Body("c", 1.0, (1, 1, 1))


def hinge(name="hinge", a=A, b=B):
    return Revolute(name, Frame(a), Frame(b))


def test_a_mechanism_has_bodies():
    with pytest.raises(ValueError, match="at least one body"):
        Mechanism([])


@pytest.mark.parametrize(
    ("bodies", "joints", "twice"),
    [
        ([A, Body("a", 2.0)], [], "a"),
        ([A, A], [], "a"),
        ([A, B], [hinge(), hinge()], "hinge"),
        ([A, B], [hinge("b")], "b"),
    ],
)
def test_names_are_unique(bodies, joints, twice):
    with pytest.raises(ValueError, match=f"{twice!r} is used twice"):
        Mechanism(bodies, joints)


def test_names_of_joints_and_elements_are_unique_together():
    push = AppliedForce("hinge", Frame(A), (1, 0, 0))
    with pytest.raises(ValueError, match="'hinge' is used twice"):
        assemble(Mechanism([A, B], [hinge()]), [push])


def test_a_joint_uses_known_bodies():
    with pytest.raises(ValueError, match=r"Revolute 'hinge' uses body 'c'"):
        Mechanism([A, B], [hinge(b=STRANGER)])


def test_an_element_uses_known_bodies():
    push = AppliedForce("push", Frame(STRANGER), (1, 0, 0))
    with pytest.raises(ValueError, match=r"AppliedForce 'push' uses body 'c'"):
        assemble(Mechanism([A, B]), [push])


@pytest.mark.parametrize("letter", ["\0", "\udc80"])
def test_names_that_no_file_can_hold_are_refused(letter):
    """Else the whole run would be lost where its result is saved."""
    name = f"a{letter}b"
    body = Body(name, 1.0, (1, 1, 1))
    at = Frame(None), Frame(A)
    for bodies, elements in (
        ([body], []),
        ([A], [SphericalClearance(name, *at, clearance=1e-3)]),
        ([A], [AppliedForce(name, Frame(A), (1.0, 0.0, 0.0))]),
    ):
        with pytest.raises(ValueError, match=r"must be text that files can hold, got 'a\\.*b'"):
            assemble(Mechanism(bodies), elements)


def test_names_of_variables_take_no_slash():
    at = Frame(None), Frame(A)
    contact = SphericalClearance("ball/1", *at, clearance=1e-3)
    law = CompliantContact("ball/1", replace(contact, name="x"), Hertz(1e6))
    for element in (contact, law):
        with pytest.raises(ValueError, match=r"takes no '/', got 'ball/1': rename it, as 'ball_1'"):
            assemble(Mechanism([A]), [element])
    # Labels of bodies and of joints take any letter, as files of robots have them.
    ground = Revolute("world/hinge", Frame(None), Frame(Body("arm/1", 1.0, (1, 1, 1))))
    assert assemble(Mechanism([ground.b.body], [ground])).joint_names == ("world/hinge",)


def test_names_are_not_empty():
    contact = SphericalClearance("", Frame(None), Frame(A), clearance=1e-3)
    with pytest.raises(ValueError, match="a SphericalClearance needs a name"):
        assemble(Mechanism([A]), [contact])


def test_a_body_of_the_same_name_is_another_body():
    with pytest.raises(ValueError, match=r"'hinge' uses body 'a'"):
        Mechanism([A, B], [hinge(a=Body("a", 1.0, (1, 1, 1)))])


@pytest.mark.parametrize("body", [A, None])
def test_both_frames_on_one_body_are_refused(body):
    place = "the ground" if body is None else "body 'a'"
    with pytest.raises(ValueError, match=f"Revolute 'hinge' has both frames on {place}"):
        hinge(a=body, b=body)


def test_an_ideal_joint_is_no_element():
    with pytest.raises(TypeError, match=r"Revolute 'hinge'.*Mechanism"):
        assemble(Mechanism([A, B]), [hinge()])


def test_a_contact_is_no_ideal_joint():
    with pytest.raises(TypeError, match=r"SphericalClearance 'ball'.*assemble"):
        Mechanism([A, B], [SphericalClearance("ball", Frame(A), Frame(B), 1e-3)])


def test_a_body_is_no_joint_and_a_joint_no_body():
    with pytest.raises(TypeError, match="Body 'b'"):
        Mechanism([A], [B])
    with pytest.raises(TypeError, match="Revolute"):
        Mechanism([hinge()])


@pytest.mark.parametrize("gravity", [(0, 0), (0, 0, np.nan), 9.81, (0, 0, np.inf)])
def test_gravity_is_three_finite_numbers(gravity):
    with pytest.raises(ValueError, match="gravity"):
        assemble(Mechanism([A]), gravity=gravity)


def at(point, body, other=None, kind=Revolute):
    return kind(f"{point}", Frame.at(other, point, (0, 1, 0)), Frame.at(body, point, (0, 1, 0)))


ROD = (0.0, 0.1, 0.1)  # turning about its own axis x takes no inertia


@pytest.mark.parametrize(
    ("mass", "inertia", "position", "joint", "component"),
    [
        (0.0, (0, 0, 0), (0, 0, 0), None, "v.|w."),
        (1.0, (0, 0, 0), (0, 0, 0), None, "w."),
        (1.0, ROD, (0, 0, 0), None, "wx"),
        (1.0, (0, 0, 0), (1, 0, 0), Spherical, "wx"),
        (0.0, (0, 0, 0), (1, 0, 0), Revolute, "v.|w."),
        (1.0, (0, 0, 0), (0, 0, 0), Revolute, "wy"),
    ],
)
def test_free_motion_without_inertia_is_refused(mass, inertia, position, joint, component):
    body = Body("link", mass, inertia, position=position)
    joints = [at((0, 0, 0), body, kind=joint)] if joint else []
    with pytest.raises(ValueError, match=rf"'link' can move \(({component})\) without any inertia"):
        assemble(Mechanism([body], joints))


@pytest.mark.parametrize(
    ("mass", "inertia", "position", "joint"),
    [
        (1.0, (0, 0, 0), (1, 0, 0), Revolute),
        (1.0, ROD, (0, 0, 0), Revolute),
        (0.0, (0.1, 0.1, 0.1), (1, 0, 0), Revolute),
        (1.0, ROD, (0, 0.5, 0), Spherical),
    ],
)
def test_joints_may_hold_what_has_no_inertia(mass, inertia, position, joint):
    body = Body("link", mass, inertia, position=position)
    assert assemble(Mechanism([body], [at((0, 0, 0), body, kind=joint)])).nv == 6


def test_a_light_body_beside_a_heavy_one_is_no_massless_body():
    """A grain of 1 mg and 1 mm beside a tonne: 4e-13 kg m^2 is little, but not nothing."""
    grain, rock = Body("grain", 1e-6, (4e-13,) * 3), Body("rock", 1e3, (100.0,) * 3)
    assert assemble(Mechanism([grain, rock])).nv == 12
