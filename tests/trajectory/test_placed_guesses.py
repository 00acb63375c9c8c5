"""Guesses by name, between the postures that conditions ask for, and along rotations."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation, Slerp

from nsopt import Actuator, Body, Frame, Mechanism, Revolute, assemble
from nsopt.robots import forward_kinematics
from nsopt.trajectory import (
    ActuatorLimits,
    Effort,
    EndAt,
    Horizon,
    Perturbed,
    Quintic,
    Reach,
    StartAt,
    Straight,
    Through,
    optimize,
)
from tests.catalog_trajectory import ARM, hand

ARM_DYNAMICS = assemble(ARM)
ZERO = np.zeros(2)
SHARES = np.linspace(0, 1, 7)
BOUNDS = (2.0, 2.0)


def motion(guess, conditions=(), d=ARM_DYNAMICS):
    return guess.placed(d, conditions, None).trajectory(SHARES, BOUNDS, ())


@pytest.mark.unit
@pytest.mark.parametrize("kind", [Quintic, Straight])
def test_coordinates_by_name_are_those_in_order(kind):
    named = kind({"elbow": 0.3, "shoulder.angle": -0.2}, {"shoulder": 0.5, "elbow": 1.0})
    for x, y in zip(motion(named)[:3], motion(kind([-0.2, 0.3], [0.5, 1.0]))[:3], strict=True):
        assert np.array_equal(x, y)


@pytest.mark.unit
def test_poses_by_name_are_those_in_order():
    poses = [{"elbow": 0.0, "shoulder": 0.1}, {"shoulder": 0.5, "elbow": 1.0}]
    assert np.array_equal(motion(Through(poses)).q, motion(Through([[0.1, 0], [0.5, 1]])).q)
    with pytest.raises(ValueError, match=r"pose 1 of Through lacks shoulder\.angle: give all"):
        motion(Through([poses[0], {"elbow": 1.0}]))


@pytest.mark.unit
def test_what_is_left_out_is_that_of_the_conditions():
    conditions = [StartAt({"elbow": 0.4}), EndAt([0.3, np.nan])]
    q = motion(Quintic({"shoulder": 0.2}), conditions).q
    assert q[[0, -1]] == pytest.approx(np.array([[0.2, 0.4], [0.3, 0.4]]))
    assert motion(Perturbed(Quintic(), 0), conditions).q[-1] == pytest.approx([0.3, 0.4])


def test_a_guess_to_a_task_ends_in_a_posture_that_meets_it():
    """By forward kinematics; the optimum takes no posture from its user."""
    pose = forward_kinematics(ARM, [hand()])
    target = np.asarray(pose([0.9, 0.8], ZERO, ZERO)[0]).ravel()
    task = [StartAt([0.1, 0.4], ZERO), EndAt(v=ZERO), Reach(hand(), target), ActuatorLimits()]
    end = motion(Quintic(), task).q[-1]
    assert np.asarray(pose(end, ZERO, ZERO)[0]).ravel() == pytest.approx(target, abs=1e-6)
    result = optimize(ARM_DYNAMICS, Horizon(1.5, 10), [Effort()], task, Quintic())
    assert result.completed, result.stop_reason
    at = np.asarray(pose(result["q"].values[-1], ZERO, ZERO)[0]).ravel()
    assert at == pytest.approx(target, abs=1e-6)


def free_body():
    """A body that flies, its wheel driven."""
    base, wheel = Body("base", 2.0, (0.1, 0.2, 0.3)), Body("wheel", 1.0, (0.1, 0.1, 0.1))
    hinge = Revolute("hinge", Frame(base), Frame(wheel))
    return assemble(Mechanism([base, wheel], [hinge], "relative", [Actuator("hinge")]))


@pytest.mark.parametrize("kind", [Quintic, Straight, Through])
def test_rotations_go_about_an_axis_that_rests(kind):
    """Against SciPy's interpolation; angular velocities, body axes, are their rates."""
    d = free_body()
    first, last = (Rotation.from_rotvec(x) for x in ([0.4, -1.0, 0.3], [-0.9, 0.5, 1.2]))
    at = list(d.q_names).index("base.e0")
    ends = np.zeros((2, d.nq))
    for end, R, sign in zip(ends, (first, last), (1, -1), strict=True):
        end[at : at + 4] = sign * R.as_quat(scalar_first=True)  # both signs are one rotation
    ends[1, -1], ends[1, :at] = 0.7, 0.5
    x = motion(Through(ends) if kind is Through else kind(*ends), d=d)
    s = (x.q[:, -1] / 0.7) if kind is not Through else SHARES
    expected = Slerp([0, 1], Rotation.concatenate([first, last]))(s)
    turned = Rotation.from_quat(x.q[:, at : at + 4], scalar_first=True)
    assert (turned.inv() * expected).magnitude() == pytest.approx(0, abs=1e-9)
    assert np.linalg.norm(x.q[:, at : at + 4], axis=1) == pytest.approx(1)
    rate = np.gradient(s, SHARES * BOUNDS[0])
    axis = (first.inv() * last).as_rotvec()
    where = [k for k, name in enumerate(d.v_names) if name.startswith("base.w")]
    assert len(where) == 3
    assert x.v[:, where] == pytest.approx(np.outer(x.v[:, -1] / 0.7, axis), abs=1e-9)
    assert x.v[3, where] == pytest.approx(rate[3] * axis, rel=0.2)


@pytest.mark.unit
def test_what_is_not_placed_and_what_cannot_be_is_refused():
    with pytest.raises(ValueError, match="Quintic is not yet a motion: placed"):
        Quintic({"elbow": 1.0}).trajectory(SHARES, BOUNDS, ())
    with pytest.raises(ValueError, match="end of Quintic: 'wrist' is no coordinate: name one of"):
        motion(Quintic(None, {"wrist": 1.0}))
    with pytest.raises(ValueError, match="end of Quintic, 'elbow', must be finite"):
        Quintic(None, {"elbow": np.nan})


def test_a_task_that_no_posture_meets_is_told():
    with pytest.raises(ValueError, match="Quintic is given no end, and no posture meets all cond"):
        motion(Quintic(), [Reach(hand(), (2.0, 0, 0))])
