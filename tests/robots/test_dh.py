"""Denavit-Hartenberg tables against products of 4x4 matrices and a robot in closed form."""

import numpy as np
import pytest

from nsopt import GROUND, Frame, Parameter, Prismatic, Revolute, Spherical
from nsopt.robots import DHRow, ModifiedDH, StandardDH, serial_from_dh
from tests.robots.chains import homogeneous, poses, starts

pytestmark = pytest.mark.unit

CONVENTIONS = pytest.mark.parametrize("convention", [StandardDH(), ModifiedDH()], ids=repr)


def random_rows(n):
    rng = np.random.default_rng(5)
    return [
        DHRow(
            *rng.uniform(-2, 2, 4),
            joint=Prismatic if rng.random() < 0.4 else Revolute,
            mass=1.0 + i,
            com=rng.uniform(-1, 1, 3),
            inertia=(2.0, 3.0, 4.0),
        )
        for i in range(n)
    ]


def denavit_hartenberg(row, q, convention):
    """The printed 4x4 matrices, [Siciliano 2009, eq. 2.52] and [Craig, eq. 3.6]."""
    turns = row.joint is Revolute
    c, s = np.cos(row.theta + q * turns), np.sin(row.theta + q * turns)
    ca, sa = np.cos(row.alpha), np.sin(row.alpha)
    a, d = row.a, row.d + q * (not turns)
    if isinstance(convention, StandardDH):
        return np.array(
            [
                [c, -s * ca, s * sa, a * c],
                [s, c * ca, -c * sa, a * s],
                [0, sa, ca, d],
                [0, 0, 0, 1],
            ]
        )
    return np.array(
        [
            [c, -s, 0, a],
            [s * ca, c * ca, -sa, -sa * d],
            [s * sa, c * sa, ca, ca * d],
            [0, 0, 0, 1],
        ]
    )


def products(rows, q, convention):
    """Poses of the centres of mass."""
    T, matrices = np.eye(4), []
    for row, x in zip(rows, q, strict=True):
        T = T @ denavit_hartenberg(row, x, convention)
        matrices.append(T @ homogeneous(np.eye(3), row.com))
    return matrices


@CONVENTIONS
@pytest.mark.parametrize("seed", range(5))
def test_forward_kinematics_is_the_product_of_matrices(convention, seed):
    rows = random_rows(6)
    robot = serial_from_dh(rows, convention=convention)
    q = np.random.default_rng(seed).uniform(-3, 3, 6)
    computed = poses(robot, **{f"joint{i}": x for i, x in enumerate(q, 1)})
    expected = products(rows, q, convention)
    assert np.stack(list(computed.values())) == pytest.approx(np.stack(expected), abs=1e-12)


@CONVENTIONS
def test_bodies_start_at_zero_coordinates(convention):
    rows = random_rows(6)
    robot = serial_from_dh(rows, convention=convention)
    expected = products(rows, np.zeros(6), convention)
    stated = starts(robot).values()
    assert np.stack(list(stated)) == pytest.approx(np.stack(expected), abs=1e-12)


@CONVENTIONS
def test_joints_close_where_their_frames_coincide(convention):
    robot = serial_from_dh(random_rows(4), convention=convention)
    where = starts(robot)
    for joint in robot.joints:
        a, b = (
            (np.eye(4) if f.body is None else where[f.body.name]) @ homogeneous(f.axes, f.origin)
            for f in (joint.a, joint.b)
        )
        assert a == pytest.approx(b, abs=1e-12)


def test_both_conventions_state_the_same_planar_arm():
    """Two links of lengths 2 and 1 in the plane; the tip is at (2 c1 + c12, 2 s1 + s12)."""
    standard = serial_from_dh([DHRow(a=2.0), DHRow(a=1.0)])
    modified = serial_from_dh([DHRow(), DHRow(a=2.0, com=(1.0, 0, 0))], convention=ModifiedDH())
    q1, q2 = 0.4, -1.1
    tip = [2 * np.cos(q1) + np.cos(q1 + q2), 2 * np.sin(q1) + np.sin(q1 + q2), 0]
    for robot in (standard, modified):
        assert poses(robot, joint1=q1, joint2=q2)["link2"][:3, 3] == pytest.approx(tip)


def test_right_angles_are_exact():
    robot = serial_from_dh([DHRow(alpha=np.pi / 2, d=0.3), DHRow(a=0.5, theta=-np.pi / 2)])
    for joint in robot.joints:
        for frame in (joint.a, joint.b):
            assert set(np.ravel(frame.axes)) <= {0.0, 1.0, -1.0}


def test_base_turns_and_shifts_the_robot():
    base = Frame(GROUND, (1.0, 2.0, 3.0), (1.0, 0.0, 0.0))
    T = homogeneous(base.axes, base.origin)
    rows = random_rows(3)
    plain, based = serial_from_dh(rows), serial_from_dh(rows, base=base)
    for name, pose in poses(based, joint2=0.3).items():
        assert pose == pytest.approx(T @ poses(plain, joint2=0.3)[name], abs=1e-12)


def test_names_masses_and_rotors_are_kept():
    mass, rotor = Parameter("m", 2.0), Parameter("rotor", 1e-4)
    row = DHRow(mass=mass, inertia=(1, 1, 1), rotor_inertia=rotor, gear_ratio=100.0)
    robot = serial_from_dh([row, row], name="left")
    assert robot.coordinates == "relative"
    assert [body.name for body in robot.bodies] == ["left_link1", "left_link2"]
    assert [joint.name for joint in robot.joints] == ["left_joint1", "left_joint2"]
    assert robot.bodies[1].mass is mass
    drive = robot.actuators[1]
    assert (drive.joint, drive.rotor_inertia, drive.gear_ratio) == ("left_joint2", rotor, 100.0)


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([], "at least one row"),
        ([DHRow(), DHRow(alpha=np.nan)], "alpha of joint 'joint2' must be finite"),
        ([DHRow(a=Parameter("a", 1.0))], "a of joint 'joint1' must be plain numbers"),
        ([DHRow(com=(0, 0))], r"com of body 'link1' must have shape \(3,\)"),
        ([DHRow(mass=-1.0)], "mass of body 'link1' must not be negative"),
        ([DHRow(mass=1.0, inertia=(1, 1, 3))], "inertia of body 'link1' is that of no body"),
        ([DHRow(rotor_inertia=-1.0)], "rotor_inertia of the actuator of joint 'joint1'"),
    ],
)
def test_bad_rows_are_refused_by_name(rows, message):
    with pytest.raises(ValueError, match=message):
        serial_from_dh(rows)


def test_wrong_kinds_are_refused():
    with pytest.raises(TypeError, match="'joint1' must be Revolute or Prismatic"):
        serial_from_dh([DHRow(joint=Spherical)])
    with pytest.raises(TypeError, match="convention must be StandardDH"):
        serial_from_dh([DHRow()], convention="standard")
    body = serial_from_dh([DHRow()]).bodies[0]
    with pytest.raises(ValueError, match="base must be a frame on the ground, got one on body"):
        serial_from_dh([DHRow()], base=Frame(body))
