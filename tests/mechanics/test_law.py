"""Laws of contacts: which are frictionless, where their numbers and forces go, what is refused."""

import re
from dataclasses import replace

import numpy as np
import pytest

from nsopt import (
    Body,
    ContactLaw,
    Frame,
    MoreauJean,
    Parameter,
    PlaneContact,
    Revolute,
    SphericalClearance,
)
from tests.catalog import CLEARANCE, CLEARANCES, CONTACT_LAWS, CONTACTS
from tests.states import array, assembled, reactions, run

pytestmark = pytest.mark.unit

ROUGH = ContactLaw(friction=0.3)


@pytest.mark.parametrize(
    ("law", "frictionless"),
    [
        (ContactLaw(), True),
        (ContactLaw(restitution=0.5), True),
        (ContactLaw(friction=0.1), False),
        (ContactLaw(viscous=0.1), False),
        (ContactLaw(static_friction=0.1), False),
        (ContactLaw(friction=Parameter("mu", 0.0)), False),
        (ContactLaw(viscous=Parameter("c", 0.0)), False),
        (ContactLaw(restitution=Parameter("e", 0.0)), True),
    ],
)
def test_what_is_frictionless(law, frictionless):
    assert law.frictionless is frictionless
    body = Body("b", 1.0, (1, 1, 1))
    d = assembled([body], [SphericalClearance("e", Frame(None), Frame(body), 1e-3, law=law)])
    assert d.slip_contacts == (() if frictionless else (0, 0))


laws = pytest.mark.parametrize("law", CONTACT_LAWS, ids=repr)


def on_floor(law, velocity, weight):
    """A point of 1 kg on a floor, in the plane, with the numbers of its law."""
    body = Body("b", 1.0, (1, 1, 1), velocity=velocity)
    floor = PlaneContact("floor", Frame(None), Frame(body), law=law, planar=True)
    d = assembled([body], [floor], gravity=(0.0, 0.0, -weight))
    names = ("restitution", "friction", "viscous")
    return d, *(float(getattr(d, name)(d.values())) for name in names)


@laws
def test_a_body_rebounds_by_its_law(law):
    d, e, _, _ = on_floor(law, (0.0, 0.0, -1.0), 0.0)
    assert 0 <= e <= 1
    result = run(d, 2e-3, 1e-3, scheme=MoreauJean())
    assert result["v"].values[-1, 2] == pytest.approx(e, abs=1e-9)


@laws
def test_a_body_slows_down_by_its_law(law):
    """m dv/dt = -mu m g - d v from 1 m/s, to the first order of the steps."""
    d, _, mu, viscous = on_floor(law, (1.0, 0.0, 0.0), 10.0)
    t, slowing = 0.05, 10 * mu
    expected = 1 - slowing * t
    if viscous:
        expected = (1 + slowing / viscous) * np.exp(-viscous * t) - slowing / viscous
    h = 1e-3
    result = run(d, t, h, scheme=MoreauJean())
    error = h * t * viscous * (viscous + slowing)  # twice h t / 2 of the largest second derivative
    assert result["v"].values[-1, 0] == pytest.approx(expected, abs=error + 1e-9)


def jointed(law):
    """An ideal hinge, then a contact without and one with a law, from the ground to a chain."""
    a = Body("a", 1.0, (1, 1, 1))
    b = Body("b", 1.0, (1, 1, 1), position=(1, 0, 0))
    hinge = Revolute("hinge", Frame.at(None, (0, 0, 0)), Frame.at(a, (0, 0, 0)))
    smooth = SphericalClearance("smooth", Frame.at(a, (1, 0, 0)), Frame(b), CLEARANCE)
    rough = PlaneContact("rough", Frame(None), Frame(b), law=law)
    return assembled([a, b], [hinge, smooth, rough])


def test_laws_are_in_the_order_of_the_gaps():
    mu = Parameter("mu", 0.2)
    law = ContactLaw(0.6, mu, viscous=5.0, tangential_restitution=0.3, stiffness=4.0)
    d = jointed(law)
    p = d.values({"mu": 0.7})
    assert array(d.restitution(p)) == pytest.approx([0, 0.6])
    assert array(d.friction(p)) == pytest.approx([0, 0.7])
    assert array(d.viscous(p)) == pytest.approx([0, 5])
    assert array(d.tangential_restitution(p)) == pytest.approx([0, 0.3])
    assert array(d.stiffness(p)) == pytest.approx([1, 4])
    assert d.slip_contacts == (1, 1)


def test_friction_reactions_are_those_of_the_joint_that_rubs():
    d = jointed(ROUGH)
    q, _ = d.stated_start()
    wrenches = reactions(d, q, slip=[3.0, -2.0])
    assert d.joint_names == ("hinge", "smooth", "rough")
    assert np.all(wrenches[:, :2] == 0)
    assert wrenches[:, 2] == pytest.approx([3, -2, 0, 0, 0, 0])


def test_friction_on_the_ground_is_reported_at_frame_b():
    body = Body("b", 1.0, (1, 1, 1), position=(0.2, 0, 0))
    d = assembled([body], [PlaneContact("e", Frame(body, axes=(0, 0, -1)), Frame(None), law=ROUGH)])
    q, v = d.stated_start()
    directions = np.asarray(d.slip_directions(0, q, []))
    wrench = reactions(d, q, slip=[1.0, 0.5])[:, 0]
    assert wrench[:3] == pytest.approx(directions @ [1, 0.5], abs=1e-14)
    assert wrench[3:] == pytest.approx(0, abs=1e-14)
    v[:3] = directions[:, 0]  # the ground slips backwards under a body that moves on
    assert v @ np.asarray(d.slip_matrix(0, q, [])) == pytest.approx([-1, 0])


BAD = [
    ("restitution", -0.1, "between 0 and 1, got -0.1: .*without loss"),
    ("restitution", 1.01, "between 0 and 1, got 1.01"),
    ("restitution", np.nan, "finite"),
    ("friction", -0.3, "not be negative, got -0.3"),
    ("friction", np.inf, "finite"),
    ("viscous", -1.0, "not be negative, got -1"),
    ("static_friction", -0.3, "not be negative, got -0.3"),
    ("rolling", -1e-3, "not be negative, got -0.001"),
    ("spinning", -1e-3, "not be negative, got -0.001"),
    ("tangential_restitution", 1.2, "between 0 and 1, got 1.2"),
    ("stiffness", 0.0, "positive"),
    ("friction", "much", "numbers"),
]


@pytest.mark.parametrize("row", CLEARANCES + CONTACTS, ids=str)
def test_every_contact_checks_its_law(row):
    body = Body("b", 1.0, (1, 1, 1))
    element = row.build(Frame(None), Frame(body))
    says = f"friction of {type(element).__name__} 'e' must not be negative, got -0.3"
    with pytest.raises(ValueError, match=says):
        replace(element, law=ContactLaw(friction=-0.3))


@pytest.mark.parametrize(("name", "value", "says"), BAD)
def test_a_law_out_of_range_is_refused(name, value, says):
    body = Body("b", 1.0, (1, 1, 1))
    with pytest.raises(ValueError, match=rf"{name} of PlaneContact 'ground' .*{says}"):
        PlaneContact("ground", Frame(None), Frame(body), law=ContactLaw(**{name: value}))


@pytest.mark.parametrize("law", [0.3, None, {"friction": 0.3}])
def test_a_law_is_a_contact_law(law):
    says = rf"law of PlaneContact 'ground' must be a ContactLaw, got {re.escape(repr(law))}: use"
    with pytest.raises(TypeError, match=says):
        PlaneContact("ground", Frame(None), Frame(Body("b", 1.0, (1, 1, 1))), law=law)


def test_a_new_value_of_a_parameter_passes_the_checks_of_the_law():
    d = jointed(ContactLaw(restitution=Parameter("e", 0.5), friction=0.1))
    with pytest.raises(ValueError, match=r"restitution of PlaneContact 'rough' .*got 1\.5"):
        d.values({"e": 1.5})
