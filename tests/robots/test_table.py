"""Tables of bodies against the recursion printed in [CHARMIE 2023, eqs. 1, 15-19]."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from nsopt import Fixed, Parameter, Prismatic, Revolute, Spherical
from nsopt.robots import BodyRow, mechanism_from_table, row_from_letters, zxz
from nsopt.robots.tables import X, Y, Z
from tests.robots.chains import poses, starts

pytestmark = pytest.mark.unit

ROWS = [
    row_from_letters("base", None, "P", "x", r_AB=(0.1, 0.2, 0.3), r_AC=(0, 0, 0.2), mass=9.0),
    row_from_letters("turret", "base", "R", "z", r_AB=(0, 0, 0.5), r_AC=(0.1, 0, 0.1), mass=4.0),
    row_from_letters("lift", "turret", "P", "z", r_AB=(0.2, 0, 0), r_AC=(0, 0.1, 0.3), mass=3.0),
    row_from_letters("torso", "lift", "R", "y", r_AB=(0, 0, 0.4), r_AC=(0, 0, 0.2), mass=8.0),
    # The three turns of constant angle of eqs. 2-4.
    row_from_letters(
        "left", "torso", "F", r_AB=(0, 0.2, 0.4), angles=(np.pi / 2, -np.pi / 2, np.pi)
    ),
    row_from_letters(
        "right", "torso", "F", r_AB=(0, -0.2, 0.4), angles=(np.pi / 2, np.pi / 2, 0.0)
    ),
    row_from_letters("neck", "torso", "F", r_AB=(0, 0, 0.5)),
    row_from_letters("upper_left", "left", "R", "x", r_AC=(0, 0, 0.15), mass=1.0),
    row_from_letters("fore_left", "upper_left", "R", "y", r_AB=(0, 0, 0.3), r_AC=(0, 0.01, 0.1)),
    row_from_letters("upper_right", "right", "R", "x", r_AC=(0, 0, 0.15), mass=1.0),
    row_from_letters("head", "neck", "R", "z", r_AB=(0, 0, 0.1), r_AC=(0.02, 0, 0.1), mass=2.0),
]


def of_angles(z1, x2, z3):
    """The product that (17) stands for."""
    return Rotation.from_euler("ZXZ", [z1, x2, z3]).as_matrix()


def recursion(rows, coordinates):
    """Rotations and centres of mass by (15)-(19), d of (1) being minus the coordinate."""
    R, points = {None: np.eye(3)}, {}
    place = {None: np.asarray}
    for row in rows:
        x = coordinates.get(f"{row.name}_joint", 0.0)
        A, step = np.zeros(3), np.eye(3)
        if row.joint is Prismatic:
            A = -x * np.asarray(row.axis)  # (1), O' = 0
        elif row.joint is Fixed:
            step = of_angles(*row.angles)
        else:  # (18)
            step = {
                X: lambda t: of_angles(0, t, 0),
                Y: lambda t: of_angles(np.pi / 2, t, -np.pi / 2),
                Z: lambda t: of_angles(0, 0, t),
            }[row.axis](x)
        R[row.name] = R[row.predecessor] @ step  # (16)
        B = place[row.predecessor](row.r_AB)
        place[row.name] = lambda local, T=R[row.name], B=B, A=A: T @ local + (B - T @ A)  # 15, 19
        points[row.name] = place[row.name](np.asarray(row.r_AC))
    return {name: (R[name], points[name]) for name in points}


@pytest.mark.parametrize("seed", range(5))
def test_zxz_is_three_turns(seed):
    angles = np.random.default_rng(seed).uniform(-4, 4, 3)
    assert zxz(*angles) == pytest.approx(of_angles(*angles), abs=1e-14)


def test_zxz_of_right_angles_is_exact():
    assert np.array_equal(
        zxz(np.pi / 2, -np.pi / 2, np.pi), np.round(of_angles(np.pi / 2, -np.pi / 2, np.pi))
    )


@pytest.mark.parametrize("seed", range(5))
def test_forward_kinematics_is_the_papers_recursion(seed):
    robot = mechanism_from_table(ROWS)
    rng = np.random.default_rng(seed)
    q = {j.name: rng.uniform(-2, 2) for j in robot.joints if not isinstance(j, Fixed)}
    expected = recursion(ROWS, q)
    for name, pose in poses(robot, **q).items():
        assert pose[:3, :3] == pytest.approx(expected[name][0], abs=1e-12)
        assert pose[:3, 3] == pytest.approx(expected[name][1], abs=1e-12)


def test_bodies_start_at_zero_coordinates():
    for name, pose in starts(mechanism_from_table(ROWS)).items():
        R, point = recursion(ROWS, {})[name]
        assert pose[:3, :3] == pytest.approx(R, abs=1e-12)
        assert pose[:3, 3] == pytest.approx(point, abs=1e-12)


def test_rows_may_come_in_any_order():
    there, back = mechanism_from_table(ROWS), mechanism_from_table(ROWS[::-1])
    for name, pose in starts(there).items():
        assert np.array_equal(pose, starts(back)[name])
    assert [j.name for j in back.joints] == [f"{row.name}_joint" for row in ROWS[::-1]]
    assert there.coordinates == "relative"


def test_axes_of_joints_are_permutations():
    for joint in mechanism_from_table(ROWS).joints:
        assert set(np.ravel(joint.b.axes)) <= {0.0, 1.0}


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([], "at least one row"),
        ([BodyRow("a", "b")], "parent 'b' of joint 'a_joint' is unknown"),
        ([BodyRow("a", "b"), BodyRow("b", "a")], "'a_joint', 'b_joint' hang on each other"),
        ([BodyRow("a", None), BodyRow("a", None)], "the name 'a' is used twice"),
        ([BodyRow("a", None, axis=(0, 0, 0))], "axis of body 'a' has no length"),
        ([BodyRow("a", None, Revolute, angles=(1, 0, 0))], "angles of body 'a' belong to a fixed"),
        ([BodyRow("a", None, mass=-1.0)], "mass of body 'a' must not be negative"),
        ([BodyRow("a", None, r_AB=(0, 0))], "r_AB of body 'a' must have shape"),
        ([BodyRow("a", None, r_AC=(0, 0, Parameter("c", 1.0)))], "r_AC of body 'a' must be plain"),
    ],
)
def test_bad_rows_are_refused_by_name(rows, message):
    with pytest.raises(ValueError, match=message):
        mechanism_from_table(rows)


def test_other_joints_and_letters_are_refused():
    with pytest.raises(TypeError, match="joint of body 'a' must be Revolute, Prismatic or Fixed"):
        mechanism_from_table([BodyRow("a", None, Spherical)])
    with pytest.raises(ValueError, match="joint of body 'a' must be one of P, R, F, got 'S'"):
        row_from_letters("a", None, "S")
    with pytest.raises(ValueError, match="axis of body 'a' must be one of x, y, z, got 'w'"):
        row_from_letters("a", None, "R", "w")
