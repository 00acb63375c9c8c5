"""CHARMIE: its mechanism against the closed forms of [CHARMIE 2023], and those against numerics."""

from collections import Counter
from itertools import pairwise

import numpy as np
import pytest
from scipy.optimize import brentq, fsolve

from nsopt import Fixed, Prismatic, Revolute, assemble
from nsopt.algebra.rank import TOLERANCE
from nsopt.mechanics import redundancy
from tests.robots.charmie import (
    DYNAMICS,
    HALVES,
    ROBOT,
    configuration,
    forms,
    geo,
    halves,
    model,
)
from tests.states import array

TIMES = [0.0, 1.3, 2.5, 3.7, 5.0]  # s
LENGTHS = [0.4, 0.395, 0.38125, 0.41, 0.43]  # m

during = pytest.mark.parametrize("t", TIMES)
at_lengths = pytest.mark.parametrize("act", LENGTHS)


# Topology


def test_forty_bodies_and_forty_seven_joints():
    mechanism = ROBOT.mechanism
    kinds = Counter(type(joint) for joint in mechanism.joints)
    assert kinds == {Revolute: 34, Prismatic: 10, Fixed: 3}
    assert len(mechanism.bodies) == 40
    names = {body.name: body.mass for body in mechanism.bodies}
    assert sum(name.startswith("body_") for name in names) == 24
    assert sum(name.startswith("aux_") and mass == 0 for name, mass in names.items()) == 16
    assert sum(names.values()) == pytest.approx(60.0)


def test_every_joint_is_closed_at_the_start():
    d = DYNAMICS
    q, _ = d.stated_start()
    names, residuals = np.array(d.closure_names), array(d.closure(0, q, []))
    assert len(set(names)) == 47
    for name in set(names):
        assert np.abs(residuals[names == name]).max() < 1e-12, name
    assert array(d.alignment(0, q, [])).min() > 1 - 1e-12


def freedoms(q, dynamics=DYNAMICS):
    C = array(dynamics.closure_matrix(0, q, []))
    singular = np.linalg.svd(C, compute_uv=False)
    return C.shape[1] - np.sum(singular > TOLERANCE * singular[0]), singular


def test_degrees_of_freedom_and_redundancy():
    """Each plane loop implies 3 rows; the one over a slider that holds a turn, 2."""
    d = DYNAMICS
    q, _ = d.stated_start()
    assert freedoms(q)[0] == 21
    assert len(model.ACTUATED) == 21
    implied = redundancy(d, 0.0, q, d.values())
    print(f"redundant rows: {implied} of {len(d.closure_names)}")
    assert implied == 3 * 3 + 2 * (3 + 2)


def test_degrees_of_freedom_with_rods_that_turn_about_themselves(monkeypatch):
    monkeypatch.setattr(model, "ROD_AXIS", "z")
    robot = model.charmie()
    d = assemble(robot.mechanism, robot.elements)
    assert freedoms(d.stated_start()[0], d)[0] == 21


def test_without_the_cuts_the_joints_are_a_tree():
    joints = ROBOT.mechanism.joints
    left = [joint for joint in joints if joint.name not in model.CUTS]
    assert len(joints) - len(left) == 7
    place = {None: None}
    waiting = list(left)
    while waiting:
        ready = [j for j in waiting if (j.a.body in place) != (j.b.body in place)]
        assert ready, "a loop, or a part without a joint to the rest"
        joint = ready[0]
        place |= {joint.a.body: joint, joint.b.body: joint}
        waiting.remove(joint)
    assert len(place) == 41


def test_actuators_name_joints_of_one_freedom():
    mechanism = ROBOT.mechanism
    kinds = {joint.name: type(joint) for joint in mechanism.joints}
    counts = Counter(kinds[actuator.joint] for actuator in mechanism.actuators)
    assert counts == {Revolute: 17, Prismatic: 4}


# The mechanism follows the closed forms


def outputs(joints):
    d, q = DYNAMICS, configuration(joints)
    values = array(d.outputs(0, q, np.zeros(d.nv), []))
    return dict(zip(d.output_names, values, strict=True))


@during
def test_closed_forms_close_every_joint_of_the_mechanism(t):
    q = configuration(forms.validation_coordinates(t))
    assert np.abs(array(DYNAMICS.closure(0, q, []))).max() < 1e-12
    assert array(DYNAMICS.alignment(0, q, [])).min() > 1 - 1e-12


@during
def test_the_motion_meets_no_singularity(t):
    count, singular = freedoms(configuration(forms.validation_coordinates(t)))
    assert count == 21
    assert singular[218] > 1e-2


@during
def test_the_end_effector_is_where_the_closed_form_has_it(t):
    values = outputs(forms.validation_coordinates(t))
    path = [values[f"D_12a.{axis}"] for axis in "xyz"]
    assert path == pytest.approx(forms.end_effector(t), abs=1e-12)


@during
def test_lengths_and_pulls_of_springs(t):
    joints = forms.validation_coordinates(t)
    values, at = outputs(joints), forms.places(joints)
    length = forms.length(at["4"].point(geo.S4), at["5"].point(geo.S5))
    assert values["spring_5s.length"] == pytest.approx(length, abs=1e-12)
    assert values["spring_5s.tension"] == pytest.approx(forms.tension(geo.SPRING_5S, length))
    for half in HALVES:
        points = forms.balancing_points(half, joints["4"])
        name, length = f"spring_{half.label}b", forms.length(points.spring, half.anchor)
        assert values[f"{name}.length"] == pytest.approx(length, abs=1e-12)
        assert values[f"{name}.tension"] == pytest.approx(forms.tension(geo.SPRING_4S, length))
        assert length > geo.SPRING_4S.free_length  # coils are open


# The closed forms themselves


def test_the_motion_ends_at_rest_where_the_accelerations_lead():
    """-(a/2) (T/2)^2 twice: -125 deg, -18.75 mm, -187.5 mm."""
    end = [
        forms.validation_motion(5.0, a)
        for a in (geo.TURN_ACCELERATION, geo.LENGTH_ACCELERATION, geo.SLIDE_ACCELERATION)
    ]
    assert [m.value for m in end] == pytest.approx([-np.radians(125), -18.75e-3, -187.5e-3])
    assert [m.rate for m in end] == [0, 0, 0]
    assert forms.places(forms.validation_coordinates(5.0))["2"].origin == pytest.approx(
        [-0.1875, -0.1875, 0]
    )


def test_the_motion_is_continuous_and_slow_first():
    before, after = (forms.validation_motion(t, 2.0) for t in (2.5, 2.5 + 1e-12))
    assert before[:2] == pytest.approx(after[:2], abs=1e-10)
    assert (before.acceleration, after.acceleration) == (-2.0, 2.0)
    steps = [forms.validation_motion(t, 2.0).value for t in np.linspace(0, 5, 11)]
    assert all(b < a for a, b in pairwise(steps))


def test_all_is_zero_at_the_start():
    assert forms.displacement_4(geo.REFERENCE_LENGTH) == pytest.approx(0, abs=1e-15)
    assert forms.angle_5(geo.REFERENCE_LENGTH) == pytest.approx(0, abs=1e-15)


@at_lengths
def test_d_4_against_numeric_closure(act):
    def error(d):
        end = np.array(geo.LINK["4"].at) + geo.E4 - [0, 0, d]
        return np.linalg.norm(end - geo.D3) - act

    assert forms.displacement_4(act) == pytest.approx(
        brentq(error, -0.1, 0.1, xtol=1e-15), abs=1e-10
    )


@at_lengths
def test_theta_5_against_numeric_closure(act):
    hinge = np.array(geo.LINK["5"].at)

    def error(theta):
        R = forms.joint_rotation(geo.LINK["5"], theta)
        return np.linalg.norm(hinge + R @ geo.G5 - geo.F4) - act

    assert forms.angle_5(act) == pytest.approx(brentq(error, -0.8, 0.8, xtol=1e-15), abs=1e-10)


@halves
@pytest.mark.parametrize("d_4", [-0.03, 0.0, 0.0196, 0.1])
def test_balancing_points_against_numeric_closure(half, d_4):
    slider_z = geo.LINK["4"].at[2] + geo.H4 - d_4

    def errors(u):
        bar, spring, slider = np.reshape(u, (3, 2))
        pivot = half.pivot[[0, 2]]
        return [
            np.linalg.norm(bar - pivot) - geo.BAR,
            np.linalg.norm(spring - pivot) - geo.BAR_TO_SPRING,
            np.cross([*(bar - pivot), 0], [*(spring - pivot), 0])[2],
            slider[0] - bar[0],
            np.linalg.norm(slider - bar) - geo.ROD,
            slider[1] - slider_z,
        ]

    x, _, z = half.pivot
    out = half.side
    rise = slider_z - 0.04 - z  # off by 1 cm
    guess = [x + 0.2 * out, z + rise, x + 0.1 * out, z + rise / 2, x + 0.2 * out, slider_z]
    numeric = np.reshape(fsolve(errors, guess, xtol=1e-12), (3, 2))
    points = np.array(forms.balancing_points(half, d_4))
    assert points[:, [0, 2]] == pytest.approx(numeric, abs=1e-10)
    assert np.all(points[:, 1] == half.pivot[1])


@pytest.mark.parametrize(
    ("rates", "value"), [("rates_4", "displacement_4"), ("rates_5", "angle_5")]
)
@during
def test_rates_against_differences(rates, value, t):
    function, act = getattr(forms, value), forms.validation_lengths(min(max(t, 0.1), 4.9))
    act = act._replace(rate=act.rate - 0.02)

    def at(dt):
        return function(act.value + act.rate * dt + act.acceleration * dt**2 / 2)

    closed_form, h = getattr(forms, rates)(act), 1e-2
    assert closed_form.value == at(0)
    four = np.array([at(-2 * h), at(-h), at(h), at(2 * h)])
    assert closed_form.rate == pytest.approx([1, -8, 8, -1] @ four / (12 * h), rel=1e-8)
    second = ([-1, 16, 16, -1] @ four - 30 * at(0)) / (12 * h**2)
    assert closed_form.acceleration == pytest.approx(second, rel=1e-6, abs=1e-9)


@during
def test_angle_of_an_actuator_by_the_law_of_cosines(t):
    at = forms.places(forms.validation_coordinates(t))
    start, end = at["3"].point(geo.D3), at["4"].point(geo.E4)
    angle = forms.angle(start, end, start + 0.3 * at["3"].R[:, 2])
    span = at["3"].R.T @ (end - start)
    assert angle == pytest.approx(np.arctan2(span[1], span[2]), abs=1e-10)
    assert forms.length(start, end) == pytest.approx(forms.validation_lengths(t).value, abs=1e-12)
