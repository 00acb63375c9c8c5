"""Drives of joints: torques of a law, action and reaction, work, and what is refused."""

import re

import casadi as ca
import numpy as np
import pytest

from nsopt import (
    GROUND,
    Body,
    Cylindrical,
    Frame,
    JointDrives,
    Mechanism,
    Parameter,
    Revolute,
    Slide,
    StepBounds,
    TorsionSpringDamper,
    Turn,
    Variational,
    assemble,
    simulate,
)
from nsopt.robots import inverse_dynamics
from tests.catalog import DRIVES
from tests.schemes.models import about_z
from tests.states import array, assembled, axes_of, couple, moved, near, wrenches

drives = pytest.mark.parametrize("row", DRIVES, ids=str)
anywhere = pytest.mark.parametrize("seed", range(3))
INERTIA = (0.3, 0.4, 0.5)


def velocity(seed):
    return np.random.default_rng(seed).normal(size=12)


def outputs(c, q, v, t=0.7):
    values = c.with_velocity("outputs", q, v, t)
    return dict(zip(c.dynamics.output_names, values, strict=True))


@drives
@anywhere
def test_action_equals_reaction(row, seed):
    c = couple(row)
    q = c.placed(near(seed, 0.1, 0.4))
    on_a, on_b = wrenches(c.with_velocity("applied", q, velocity(seed), 0.7), q)
    assert on_a == pytest.approx(-on_b, abs=1e-10)
    assert np.linalg.norm(on_a) > 0.1


@anywhere
def test_a_torque_acts_about_z_of_frame_a(seed):
    """Whatever the frames, and however the axes lean."""
    c = couple(DRIVES[0])
    q, v = c.placed(near(seed, 0.1, 0.4)), velocity(seed)
    _, on_b = wrenches(c.with_velocity("applied", q, v, 0.7), q)
    z = axes_of(q[3:7]) @ c.frames[0].axes[:, 2]
    torque = outputs(c, q, v)["e.torque[0]"]
    assert on_b == pytest.approx([0, 0, 0, *(torque * z)], abs=1e-12)


@drives
@anywhere
def test_power_is_effort_times_rate_and_comes_from_outside(row, seed):
    c = couple(row)
    q, v = c.placed(near(seed, 0.1, 0.4)), velocity(seed)
    values = list(outputs(c, q, v).values())
    power = np.dot(values[1::3], values[2::3])
    assert v @ c.with_velocity("external", q, v, 0.7) == pytest.approx(power)
    assert np.all(c.with_velocity("external", q, v) == c.with_velocity("applied", q, v))
    assert c.with_velocity("potential", q, v) == 0


@drives
@anywhere
def test_coordinates_are_those_of_the_frames(row, seed):
    c = couple(row)
    q, v, eps = c.placed(near(seed, 0.1, 0.4)), velocity(seed), 1e-6
    a, b = (axes_of(p) @ f.axes for p, f in zip((q[3:7], q[10:14]), c.frames, strict=True))
    R = a.T @ b
    span = q[7:10] + axes_of(q[10:14]) @ c.frames[1].origin
    span -= q[:3] + axes_of(q[3:7]) @ c.frames[0].origin
    ahead, here, behind = (outputs(c, moved(q, v, e), v) for e in (eps, 0, -eps))
    for name, value in here.items():
        if "angle" in name:
            assert value == pytest.approx(np.arctan2(R[1, 0], R[0, 0]))
        if "distance" in name:
            assert value == pytest.approx(a[:, 2] @ span)
        if "speed" in name:
            place = name.replace("speed", "distance")
            assert value == pytest.approx((ahead[place] - behind[place]) / (2 * eps), rel=1e-6)


def test_a_rate_is_that_of_the_angle_where_the_axes_are_parallel():
    c = couple(DRIVES[0])
    q = c.placed((0.1, -0.2, 0.05, 0, 0, 2.5))
    z = c.axes[:, 2]
    spin = np.concatenate([[0] * 3, 0.3 * axes_of(q[3:7]).T @ z, [0] * 3, axes_of(q[10:14]).T @ z])
    ahead, behind = (outputs(c, moved(q, e * spin), spin)["e.angle[0]"] for e in (1e-6, -1e-6))
    rate = outputs(c, q, spin)["e.rate[0]"]
    assert rate == pytest.approx(0.7)
    assert (ahead - behind) / 2e-6 == pytest.approx(rate)


def test_a_law_of_spring_and_damper_acts_as_they_do():
    """Where axes are parallel, for the potential of a spring also acts on the lean."""
    link = Body("b", 2.0, INERTIA, orientation=about_z(0.8), angular_velocity=(0, 0, 1.3))
    ends = Frame(GROUND), Frame(link)
    law = JointDrives("d", [Turn(*ends)], lambda t, q, v: -7 * (q - 0.2) - 3 * v)
    for element in (TorsionSpringDamper("s", *ends, 7.0, free_angle=0.2, damping=3.0), law):
        hinged = Mechanism([link], [Revolute("hinge", *ends)], coordinates="relative")
        d = assemble(hinged, [element])
        torque = array(d.applied(0, *d.stated_start(), []))
        assert torque == pytest.approx([-7 * 0.6 - 3 * 1.3])


def test_gains_may_be_parameters():
    link = Body("b", 2.0, INERTIA, orientation=about_z(0.8))
    turn = Turn(Frame(GROUND), Frame(link))
    d = assembled(
        [link], [JointDrives("d", [turn], lambda t, q, v, k: -k[0] * q, [Parameter("k", 5.0)])]
    )
    for k in (5.0, 11.0):
        torque = array(d.applied(0, *d.stated_start(), d.values({"k": k})))[5]
        assert torque == pytest.approx(-k * 0.8)


def test_laws_are_written_with_numpy_or_casadi():
    link = Body("b", 2.0, INERTIA, orientation=about_z(0.8))
    hinge = Turn(Frame(GROUND), Frame(link))
    for law in (
        lambda t, q, v: np.array([np.sin(q[0]) - t]),
        lambda t, q, v: [np.sin(q[0]) - t],
        lambda t, q, v: np.sin(q) - t,
        lambda t, q, v: np.eye(1) @ np.sin(q) - t,
        lambda t, q, v: ca.sin(q).T - t,
    ):
        d = assembled([link], [JointDrives("d", [hinge], law)])
        torque = array(d.applied(0.3, *d.stated_start(), []))[5]
        assert torque == pytest.approx(np.sin(0.8) - 0.3)


@pytest.mark.slow
@pytest.mark.parametrize("coordinates", ["absolute", "relative"])
def test_computed_torque_makes_errors_decay_as_a_linear_oscillator(coordinates):
    """With the right model e'' + 20 e' + 100 e = 0: e = e0 (1 + 10 t) exp(-10 t)."""
    upper = Body("upper", 2.0, (1e-3, 0.02, 0.02), (0.2, 0, 0))
    fore = Body("fore", 1.0, (1e-3, 0.01, 0.01), (0.55, 0, 0))
    ends = [
        (Frame(GROUND), Frame(upper, (-0.2, 0, 0))),
        (Frame(upper, (0.2, 0, 0)), Frame(fore, (-0.15, 0, 0))),
    ]
    joints = [Revolute("shoulder", *ends[0]), Revolute("elbow", *ends[1])]
    gravity, goal = (0.0, -9.81, 0.0), np.array([0.5, -0.8])
    torques = inverse_dynamics(Mechanism([upper, fore], joints, coordinates="relative"), gravity)
    drives = JointDrives(
        "motors",
        [Turn(*pair) for pair in ends],
        lambda t, q, v: torques(q, v, 100 * (goal - q) - 20 * v),
    )
    d = assemble(Mechanism([upper, fore], joints, coordinates=coordinates), [drives], gravity)
    errors = []
    for h in (4e-3, 2e-3):
        options = {"steps": StepBounds(h / 10, h), "scheme": Variational(), "progress": False}
        data = simulate(d, duration=0.2, **options).data
        left = (1 + 10 * data.time) * np.exp(-10 * data.time)
        off = [data[f"motors.angle[{k}]"] - goal[k] * (1 - left) for k in range(2)]
        errors.append(float(np.abs(off).max()))
        gained = data["total_energy"] - data["total_energy"][0] - data["external_work"]
        assert float(np.abs(gained).max()) < 0.05 * h / 4e-3
    assert errors[0] / errors[1] == pytest.approx(4, abs=0.3)
    assert errors[1] < 2e-3


def test_names_and_units_of_readings():
    link = Body("b", 2.0, INERTIA)
    ends = Frame(GROUND), Frame(link)
    d = assembled(
        [link],
        [Cylindrical("j", *ends), JointDrives("d", [Slide(*ends), Turn(*ends)], lambda t, q, v: q)],
    )
    names = ["distance[0]", "speed[0]", "force[0]", "angle[1]", "rate[1]", "torque[1]"]
    assert d.output_names == tuple(f"d.{name}" for name in names)
    assert d.output_units == ("m", "m/s", "N", "rad", "rad/s", "N m")


GOOD = Body("b", 2.0, INERTIA, position=(0.1, 0, 0))
TURN = Turn(Frame(GROUND), Frame(GOOD))
PARTICLE = Body("p", 1.0, point_mass=True)


@pytest.mark.parametrize(
    ("joints", "law", "error", "says"),
    [
        ([], lambda t, q, v: q, ValueError, "joints of JointDrives 'd' are none"),
        ([Frame(GOOD)], lambda t, q, v: q, TypeError, "joint 0 of JointDrives 'd' must be a Turn"),
        (
            [TURN, Turn(Frame(GOOD), Frame(GOOD))],
            lambda t, q, v: q,
            ValueError,
            "joint 1 of JointDrives 'd' has both frames on body 'b'",
        ),
        (
            [Turn(Frame(None), GOOD)],
            lambda t, q, v: q,
            TypeError,
            "is between two frames, got Body",
        ),
        (
            [Turn(Frame(None), Frame(PARTICLE))],
            lambda t, q, v: q,
            ValueError,
            "has a frame on the point mass 'p'",
        ),
        ([TURN], lambda t, q: q, TypeError, "law of JointDrives 'd' must take (t, q, v), got"),
        ([TURN], 3.0, TypeError, "law of JointDrives 'd' must take (t, q, v), got 3.0"),
        ([TURN], lambda t, q, v: [1, 2], ValueError, "must return 1 torques, one for each joint"),
        ([TURN], lambda t, q, v: 1 / q, ValueError, "must be finite, but is [inf] at t = 0"),
        ([TURN], lambda t, q, v: [np.log(t - 1)], ValueError, "must be finite, but is [nan]"),
    ],
)
def test_bad_drives_are_refused(joints, law, error, says):
    with pytest.raises(error, match=re.escape(says)):
        JointDrives("d", joints, law)


def test_gains_must_be_finite():
    with pytest.raises(ValueError, match="gains of JointDrives 'd' must be finite"):
        JointDrives("d", [TURN], lambda t, q, v, k: k, [np.nan])
    with pytest.raises(TypeError, match=re.escape("must take (t, q, v, gains)")):
        JointDrives("d", [TURN], lambda t, q, v: q, [1.0])


def test_a_slide_may_push_a_particle():
    d = assembled(
        [PARTICLE], [JointDrives("d", [Slide(Frame(None), Frame(PARTICLE))], lambda t, q, v: [4.0])]
    )
    assert array(d.external(0, *d.stated_start(), [])) == pytest.approx([0, 0, 4])
