"""CHARMIE at rest: section 5.2 of [CHARMIE 2023] against work of gravity and springs in nsopt."""

import numpy as np
import pytest

from tests.robots.charmie import DYNAMICS, GRAVITY, HALVES, configuration, forms, geo, halves

pytestmark = pytest.mark.unit


def coordinates(act_4, act_5, t):
    """Coordinates of the main joints at a time, but for these lengths."""
    return forms.validation_coordinates(t) | {
        "4": forms.displacement_4(act_4),
        "5": forms.angle_5(act_5),
    }


def potential(joints):
    d = DYNAMICS
    return float(d.potential(0, configuration(joints), np.zeros(d.nv), []))


def weight(labels, at, about):
    """Loads on body ``about`` by gravity on others, as wrenches at their centres of mass."""
    centre = at[about].point(np.array(geo.LINK[about].centre))
    R = at[about].R
    wrenches = []
    for label in labels:
        link = geo.LINK[label]
        arm = R.T @ (at[label].point(np.array(link.centre)) - centre)
        wrenches.append(forms.Wrench(R.T @ GRAVITY * link.mass, np.zeros(3), arm))
    return wrenches


def turned_over(wrench, R, arm):
    """The opposite of a load, in other axes and from another centre."""
    return forms.Wrench(-R @ wrench.force, -R @ wrench.torque, arm)


def shares(joints):
    """The loads on bodies 5 and 4 at rest, and directions of the actuators in their axes."""
    at = forms.places(joints)
    link_4, link_5 = geo.LINK["4"], geo.LINK["5"]
    c_4, c_5 = np.array(link_4.centre), np.array(link_5.centre)
    R = at["4"].R.T @ at["5"].R

    def in_4(point):
        return at["4"].R.T @ (point - at["4"].origin)

    s_5 = R.T @ (in_4(at["5"].point(geo.S5)) - geo.S4)
    pull = -forms.tension(geo.SPRING_5S, np.linalg.norm(s_5)) * s_5 / np.linalg.norm(s_5)
    spring = forms.Wrench(pull, np.zeros(3), geo.S5 - c_5)
    later = [link.label for link in geo.LINKS if link.label not in ("1", "2", "3", "4", "5")]
    known = [spring, *weight(later, at, "5")]
    mass_5 = -link_5.mass * (at["5"].R.T @ GRAVITY)
    span_5 = R.T @ (in_4(at["5"].point(geo.G5)) - geo.F4)
    on_5 = forms.share_body_5(
        *forms.required(mass_5, np.zeros(3), known),
        geo.G5 - c_5,
        -c_5,
        np.arctan2(span_5[1], span_5[2]),
    )

    end = in_4(at["5"].point(geo.G5))
    back = [
        turned_over(on_5[0], R, end - c_4),  # 5d has no mass: what acts at G_5 acts on body 4
        turned_over(on_5[1], R, np.array(link_5.at) - c_4),
        turned_over(spring, R, geo.S4 - c_4),
    ]
    A = np.array([0, 0, joints["4"]])
    for half in HALVES:
        points = forms.balancing_points(half, joints["4"])
        forces = forms.balance_bar(half, points, geo.SPRING_4S)
        to_4 = points.slider - np.array(link_4.at) + A
        back.append(forms.Wrench(forces.rod_on_link_4, np.zeros(3), to_4 - c_4))
    mass_4 = -link_4.mass * (at["4"].R.T @ GRAVITY)
    span_4 = geo.E4 - A + np.array(link_4.at) - geo.D3
    need = forms.required(mass_4, np.zeros(3), back)
    on_4 = forms.share_body_4(*need, geo.E4 - c_4, A - c_4, np.arctan2(span_4[1], span_4[2]))
    return on_5, on_4, need, span_5, span_4


POSES = pytest.mark.parametrize(("act_4", "act_5", "t"), [(0.4, 0.4, 0.0), (0.385, 0.41, 2.0)])


@POSES
def test_actuators_carry_what_virtual_work_asks(act_4, act_5, t):
    """At rest: force along an actuator = d(potential)/d(its length), potential by nsopt."""
    (actuator_5, _), on_4, _, span_5, span_4 = shares(coordinates(act_4, act_5, t))
    h = 1e-4

    def slope(d4, d5):
        ahead, behind = (potential(coordinates(act_4 + s * d4, act_5 + s * d5, t)) for s in (h, -h))
        return (ahead - behind) / (2 * h)

    def axial(force, span):
        assert np.cross(span, force)[0] == pytest.approx(0, abs=1e-10)
        return (force @ span)[()] / np.hypot(*span[1:])

    across = [0, 1, 1]  # the force in the plane
    push_5 = axial(actuator_5.force * across, span_5 * across)
    push_4 = axial(on_4.actuator.force * across, span_4 * across)
    assert np.abs([push_4, push_5]).min() > 10
    assert push_5 == pytest.approx(slope(0, 1), rel=1e-6)
    assert push_4 == pytest.approx(slope(1, 0), rel=1e-6)


@POSES
def test_body_4_is_in_equilibrium_and_shares_as_assumed(act_4, act_5, t):
    on_5, on_4, (force, torque), *_ = shares(coordinates(act_4, act_5, t))
    assert on_4.actuator.force + on_4.joint.force == pytest.approx(force, abs=1e-10)
    moment = on_4.actuator.about_centre() + on_4.joint.about_centre()
    assert moment + np.array([0, 0, 2 * on_4.half_z]) == pytest.approx(torque, abs=1e-10)
    assert on_4.actuator.force[0] == on_4.joint.force[2] == on_4.joint.torque[2] == 0
    assert on_5[0].force[0] == pytest.approx(on_5[1].force[0], abs=1e-12)
    assert on_5[0].torque == pytest.approx(on_5[1].torque, abs=1e-12)
    assert on_5[0].torque[0] == 0


def test_body_5_shares_any_load():
    rng = np.random.default_rng(3)
    force, torque, first, second = rng.normal(size=(4, 3))
    actuator, joint = forms.share_body_5(force, torque, first, second, 0.3)
    assert actuator.force + joint.force == pytest.approx(force, abs=1e-12)
    assert actuator.about_centre() + joint.about_centre() == pytest.approx(torque, abs=1e-12)
    direction = actuator.force[1:] / np.hypot(*actuator.force[1:])
    assert np.abs(direction) == pytest.approx([np.sin(0.3), np.cos(0.3)])
    assert direction[0] * direction[1] > 0


@halves
@pytest.mark.parametrize("d_4", [-0.03, 0.0, 0.05])
def test_lift_of_the_balancing(half, d_4):
    """k a h / b at any height with F_0 = k L_0, and by work of any spring; the bar in balance."""
    k, a, h, b = geo.SPRING_4S.stiffness, geo.BAR_TO_SPRING, geo.ANCHOR_HEIGHT, geo.BAR
    points = forms.balancing_points(half, d_4)
    forces = forms.balance_bar(half, points, geo.SPRING_4S)
    assert forces.rod_on_link_4 == pytest.approx([0, 0, k * a * h / b])

    other = geo.Spring(900.0, 0.12, 30.0)
    forces = forms.balance_bar(half, points, other)
    total = forces.spring_on_bar + forces.rod_on_bar - forces.bar_on_link_3
    moment = np.cross(points.spring - half.pivot, forces.spring_on_bar) + np.cross(
        points.bar - half.pivot, forces.rod_on_bar
    )
    assert total == pytest.approx(np.zeros(3), abs=1e-11)
    assert moment == pytest.approx(np.zeros(3), abs=1e-12)

    def energy(d):
        x = forms.length(half.anchor, forms.balancing_points(half, d).spring) - 0.12
        return 900.0 * x**2 / 2 + 30.0 * x

    rise = (energy(d_4 + 1e-5) - energy(d_4 - 1e-5)) / 2e-5  # d_4 is the way down
    assert forces.rod_on_link_4[2] == pytest.approx(rise, rel=1e-7)
