"""Compliant contact: its potential, its losses in an impact, its friction."""

from dataclasses import replace

import casadi as ca
import numpy as np
import pytest

from nsopt import (
    GROUND,
    AmbrosioFriction,
    Body,
    CompliantContact,
    ContactLaw,
    Driven,
    Flores,
    Frame,
    Gonthier,
    Hertz,
    LankaraniNikravesh,
    Mechanism,
    Parameter,
    PinInSlot,
    PlanarPrismaticClearance,
    PlanarRevoluteClearance,
    PlaneContact,
    Prismatic,
    Revolute,
    SmoothCoulomb,
    Start,
    StepBounds,
    Variational,
    assemble,
    simulate,
)
from tests.catalog import CLEARANCES, COMPLIANT, CONTACTS
from tests.elements.test_compliant_rebound import flight
from tests.states import array, assembled, axes_of, couple, derivative, moved, near, wrenches

compliant = pytest.mark.parametrize("row", COMPLIANT, ids=str)
anywhere = pytest.mark.parametrize("seed", range(3))
AT_REST, G = np.zeros(12), 9.81
MASS, RADIUS, SPEED, STIFFNESS = 2.0, 0.1, 0.8, 1e7


RIGID = dict(zip(COMPLIANT, CLEARANCES + CONTACTS, strict=True))


def distances(row, q):
    """Gaps (n,) and normals (n, 3) of the contact inside, assembled as a rigid one."""
    rigid = couple(RIGID[row])
    return rigid.at("distance", q), rigid.columns("contact_normals", q)


def pressed(row, seed):
    """A pose in which one gap, and perhaps others, is closed by 0.3 mm."""
    c = couple(row)
    q = c.placed(near(seed, 1e-3, 0.03))
    distance, normals = distances(row, q)
    return c.pushed(q, -(distance[0] + 3e-4) * normals[0])


@compliant
@anywhere
def test_force_is_the_negative_gradient_of_the_energy(row, seed):
    c, q = couple(row), pressed(row, seed)
    energy = derivative(lambda x: c.with_velocity("potential", x, AT_REST), q, 1e-7)[0]
    force = c.with_velocity("applied", q, AT_REST)
    assert force == pytest.approx(-energy, rel=1e-6, abs=1e-6)
    assert np.abs(force).max() > 1e-2


@pytest.mark.parametrize("row", COMPLIANT[::4], ids=str)
def test_force_that_reaches_farther_has_a_potential_too(row):
    farther = replace(row, build=lambda a, b: replace(row.build(a, b), reach=0.03))
    c, q = couple(farther), couple(row).placed(near(0, 1e-3, 0.03))
    energy = derivative(lambda x: c.with_velocity("potential", x, AT_REST), q, 1e-7)[0]
    force = c.with_velocity("applied", q, AT_REST)
    assert force == pytest.approx(-energy, rel=1e-5, abs=1e-4)
    assert np.abs(force).max() > 1e-2


@compliant
@anywhere
def test_at_rest_it_is_the_law_of_hertz_along_the_normals(row, seed):
    c, q = couple(row), pressed(row, seed)
    distance, normals = distances(row, q)
    size = c.element.law.stiffness * np.maximum(-distance, 0) ** 1.5
    on_a, on_b = wrenches(c.with_velocity("applied", q, AT_REST), q)
    assert on_b[:3] == pytest.approx(size @ normals, rel=1e-10)
    assert on_a == pytest.approx(-on_b, abs=1e-10)


@compliant
@anywhere
def test_it_takes_the_energy_of_the_law(row, seed):
    c, q = couple(row), pressed(row, seed)
    v, eps = np.random.default_rng(seed).normal(size=12) / 20, 1e-6
    ahead, behind = (moved(q, v, sign * eps) for sign in (1, -1))
    rates = (distances(row, ahead)[0] - distances(row, behind)[0]) / (2 * eps)
    stored = c.with_velocity("potential", ahead, v) - c.with_velocity("potential", behind, v)
    lost = -(v @ c.with_velocity("applied", q, v) + stored[0] / (2 * eps))
    pressure = c.element.law.stiffness * np.maximum(-distances(row, q)[0], 0) ** 1.5
    assert lost == pytest.approx(
        0.75 / c.element.law.impact_speed * pressure @ rates**2, rel=1e-6, abs=1e-7
    )
    assert lost > 1e-5
    assert np.all(c.with_velocity("external", q, v) == 0)


@compliant
def test_nothing_acts_while_all_gaps_are_open(row):
    c = couple(row)
    v = np.random.default_rng(0).normal(size=12)
    for q in (c.q, c.placed(np.zeros(6))):  # at the centre of a bore distances have no gradient
        assert np.all(c.with_velocity("applied", q, v) == 0)
        assert c.with_velocity("potential", q, v) == 0


@compliant
def test_its_second_derivatives_are_finite_and_zero_while_open(row):
    c = couple(row)
    q, v = ca.SX.sym("q", 14), np.random.default_rng(0).normal(size=12)
    total = ca.sum1(c.dynamics.applied(0, q, v, c.dynamics.values()))
    second = ca.Function("second", [q], [ca.hessian(total, q)[0]])
    for place in (c.q, c.placed(np.zeros(6)), c.placed(near(1, 1e-4, 1e-3))):
        assert np.all(np.asarray(second(place)) == 0)


@compliant
@anywhere
def test_it_never_pulls(row, seed):
    """Far faster apart than the stated speed of impact, the law as printed would."""
    c, q = couple(row), pressed(row, seed)
    apart = np.concatenate([np.zeros(6), 50 * distances(row, q)[1][0], np.zeros(3)])
    for speed in (apart, -apart, AT_REST):
        on_b = wrenches(c.with_velocity("applied", q, speed), q)[1]
        assert on_b[:3] @ distances(row, q)[1][0] >= -1e-12


def sliding(contact, law, u, creep=1e-4):
    """A ball that rests on the plane by its weight and moves along it."""
    depth = (MASS * G / STIFFNESS) ** (2 / 3)
    ball = Body(
        "ball",
        MASS,
        (0.008, 0.008, 0.008),
        position=(0, 0, RADIUS - depth),
        velocity=u,
    )
    inside = contact("e", Frame(None), Frame(ball), RADIUS, law=law)
    friction = SmoothCoulomb(creep)
    soft = CompliantContact("soft", inside, Hertz(STIFFNESS), friction=friction)
    return assembled([ball], [soft], (0, 0, -G))


def test_sliding_friction_is_mu_times_the_weight():
    d = sliding(PlaneContact, ContactLaw(friction=0.3), (0.6, -0.8, 0), 1e-8)
    q, v = d.stated_start()
    weight = MASS * G
    force = array(d.applied(0, q, v, []))
    depth = RADIUS - q[2]
    expected = 0.3 * weight * np.array([-0.6, 0.8])
    assert force[:2] == pytest.approx(expected, rel=1e-9)
    assert force[2] == pytest.approx(0, abs=1e-9)
    arm = [0, 0, -RADIUS]
    assert depth < 1e-3
    assert force[3:] == pytest.approx(np.cross(arm, [*expected, 0]), rel=1e-9, abs=1e-12)


def test_creep_is_the_speed_at_which_friction_is_0_7_of_the_whole():
    creep = Parameter("creep", 1e-3)
    d = sliding(PlaneContact, ContactLaw(friction=0.3), (1e-3, 0, 0), creep)
    q, v = d.stated_start()
    friction = array(d.applied(0, q, v, d.values()))[0]
    assert friction == pytest.approx(-0.3 * MASS * G / np.sqrt(2), rel=1e-9)


def test_viscous_friction_is_proportional_to_the_slip():
    d = sliding(PlaneContact, ContactLaw(viscous=4.0), (0.5, 0, 0))
    q, v = d.stated_start()
    assert array(d.applied(0, q, v, []))[0] == pytest.approx(-2.0)
    q[2] += 1e-3
    assert array(d.applied(0, q, v, []))[:2] == pytest.approx(0, abs=0)


def test_a_ball_goes_over_from_sliding_to_rolling():
    """A sphere of inertia J set sliding ends at u m r^2 / (m r^2 + J), whatever mu is."""
    d = sliding(PlaneContact, ContactLaw(friction=0.3), (1.0, 0, 0), 1e-2)
    motion = flight(d, [], 0.25, None, rtol=1e-7)
    q, v = motion.y[: d.nq, -1], motion.y[d.nq :, -1]
    share = MASS * RADIUS**2 / (MASS * RADIUS**2 + 0.008)
    assert v[0] == pytest.approx(share, rel=1e-3)
    assert (axes_of(q[3:7]) @ v[3:6])[1] == pytest.approx(v[0] / RADIUS, rel=1e-3)


def test_parameters_inside_the_contact_are_parameters_of_the_mechanism():
    block = Body("block", 1.0, (1, 1, 1), position=(0, 3e-3, 0))
    law = ContactLaw(restitution=Parameter("e", 0.5))
    guide = PlanarPrismaticClearance(
        "guide", Frame(None), Frame(block), 0.2, 0.1, Parameter("c", 2e-3), law=law
    )
    soft_law = LankaraniNikravesh(Parameter("K", 1e6), impact_speed=Parameter("u", 0.1))
    soft = CompliantContact("soft", guide, soft_law)
    d = assembled([block], [soft], (0, 0, 0))
    q, v = d.stated_start()
    assert array(d.applied(0, q, v, d.values()))[1] == pytest.approx(-2 * 1e6 * 1e-3**1.5)
    assert np.all(array(d.applied(0, q, v, d.values({"c": 4e-3}))) == 0)
    with pytest.raises(ValueError, match=r"restitution of PlanarPrismaticClearance 'guide'"):
        d.values({"e": -1.0})
    with pytest.raises(ValueError, match=r"stiffness of CompliantContact 'soft'.*-5"):
        d.values({"K": -5.0})


def test_it_is_no_rigid_contact():
    c = couple(COMPLIANT[0])
    assert c.dynamics.contacts == ()
    assert c.dynamics.contact_names == ()


BALL = Body("ball", 1.0, (1, 1, 1))
INSIDE = PlaneContact("ground", Frame(None), Frame(BALL))


@pytest.mark.parametrize(
    ("numbers", "says"),
    [
        ({"stiffness": 0.0}, "stiffness of .*positive, got 0"),
        ({"stiffness": np.nan}, "stiffness of .*finite"),
        ({"impact_speed": -1.0}, "impact_speed of .*positive, got -1: .*typical impact"),
        ({"slowest": 0.0}, "slowest impact of .*positive, got 0"),
        ({"exponent": 0.9}, r"exponent of .*at least 1, got 0\.9"),
        ({"exponent": np.inf}, "exponent of .*finite"),
    ],
)
def test_numbers_out_of_range_are_refused(numbers, says):
    law = LankaraniNikravesh(**{"stiffness": 1e6} | numbers)
    with pytest.raises(ValueError, match=says) as error:
        CompliantContact("soft", INSIDE, law)
    assert "CompliantContact 'soft'" in str(error.value)


@pytest.mark.parametrize(
    ("friction", "says"),
    [
        (SmoothCoulomb(0.0), "creep of .*positive, got 0: .*m/s"),
        (AmbrosioFriction(-1.0), "v0 of friction of .*not be negative"),
        (AmbrosioFriction(0.2, 0.1), "v1 of friction of .* must be above v0"),
    ],
)
def test_friction_out_of_range_is_refused(friction, says):
    with pytest.raises(ValueError, match=says):
        CompliantContact("soft", INSIDE, Hertz(1e6), friction=friction)


def test_inside_is_a_contact_with_a_law():
    with pytest.raises(TypeError, match=r"contact of CompliantContact 'soft' .*got Frame: use"):
        CompliantContact("soft", Frame(BALL), Hertz(1e6))
    with pytest.raises(TypeError, match=r"law of CompliantContact 'soft' must be a CompliantLaw"):
        CompliantContact("soft", INSIDE, 1e6)


@pytest.mark.parametrize("law", [Flores(1e6), Gonthier(1e6)])
def test_no_rebound_at_all_is_refused_where_the_law_has_none(law):
    with pytest.raises(ValueError, match=r"restitution of CompliantContact 'soft' .*above 0"):
        CompliantContact("soft", INSIDE, law)


@pytest.mark.slow
def test_a_driven_loop_with_redundant_rows_flies_freely():
    """A quick-return motion: the pin of the crank, free in its block, has no part in the pivots."""
    y, x = ((1, 0, 0), (0, 0, 1), (0, -1, 0)), ((0, 0, 1), (1, 0, 0), (0, 1, 0))
    slot = ((0, -1, 0), (1, 0, 0), (0, 0, 1))
    crank = Body("crank", 0.5, (1e-4, 1e-4, 2e-4))
    block = Body("block", 0.1, (2e-5, 2e-5, 2e-5), position=(0, 0.05, 0))
    rocker = Body("rocker", 1.0, (8e-3, 1e-4, 8e-3))
    ram = Body("ram", 2.0, (1e-3, 1e-3, 1e-3), position=(0, 0.15, 0))
    bearing = Revolute("bearing", Frame(GROUND), Frame(crank))
    foot, pin, tip = (0, -0.15, 0), (0, 0.05, 0), (0, 0.15, 0)
    joints = [
        bearing,
        Revolute("pivot", Frame(GROUND, foot), Frame.at(rocker, foot)),
        Prismatic("slide", Frame.at(rocker, pin, y), Frame.at(block, pin, y)),
        Prismatic("guide", Frame(GROUND, tip, x), Frame.at(ram, tip, x)),
        PinInSlot("slot", Frame.at(ram, tip, slot), Frame.at(rocker, tip, slot)),
        Driven("motor", bearing, Parameter("speed", 30.0)),
    ]
    ends = Frame.at(crank, pin), Frame.at(block, pin)
    worn = PlanarRevoluteClearance("worn", *ends, clearance=2e-4, law=ContactLaw(0.5))
    soft = CompliantContact("worn", worn, Flores(1e9))
    d = assemble(Mechanism([crank, block, rocker, ram], joints, "relative"), [soft], (0, -9.81, 0))
    start = Start.named(d, {}, {"bearing": 30.0, "pivot": 7.5, "guide": -2.25})
    steps = StepBounds(1e-5, 1e-5)
    result = simulate(d, start, 2e-4, steps=steps, scheme=Variational(), progress=False)
    assert result["gap"].values.max() < 2e-4
    assert np.nansum(result["impulse"].values) == 0
    assert np.nansum(result["retries"].values) == 0


@pytest.mark.parametrize("name", ["tangential_restitution", "stiffness"])
@pytest.mark.parametrize("value", [0.5, Parameter("number", 0.5)], ids=["number", "parameter"])
def test_numbers_of_rigid_impacts_are_refused(name, value):
    floor = PlaneContact(
        "plane", Frame(GROUND), Frame(Body("b", 1.0)), law=ContactLaw(**{name: value})
    )
    with pytest.raises(ValueError, match=f"{name} of CompliantContact 'floor' is of rigid"):
        CompliantContact("floor", floor, Hertz(1e7))
