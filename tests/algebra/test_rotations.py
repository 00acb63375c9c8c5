"""Euler parameters and rotations against SciPy and their defining properties."""

import casadi as ca
import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from nsopt.algebra import (
    angular_velocity_over,
    axes_from_z,
    body_rate_matrix,
    from_rotation,
    normalise,
    rotation_matrix,
    rotation_vector,
    turn_jacobian,
    turn_over,
)
from tests.states import array

pytestmark = pytest.mark.unit

anywhere = pytest.mark.parametrize("seed", range(4))


def number(expression):
    return array(ca.evalf(expression))


def random_parameters(seed):
    return np.random.default_rng(seed).normal(size=4)


@anywhere
def test_rotation_matrix_is_that_of_the_unit_quaternion(seed):
    p = random_parameters(seed)
    expected = Rotation.from_quat(np.roll(p, -1)).as_matrix()
    assert number(rotation_matrix(ca.SX(p))) == pytest.approx(expected, abs=1e-14)


@pytest.mark.parametrize("angle", [0.0, 1e-9, 1e-3, 0.00999, 0.01001, 1.5, 2.0, 3.1])
def test_rotation_vector_is_that_of_the_turn_and_smooth(angle):
    axis = np.array([0.6, -0.48, 0.64])
    x = ca.SX.sym("x", 3)
    size = ca.sqrt(ca.sumsqr(x) + 1e-40)
    K = ca.skew(x / size)
    turned = ca.SX.eye(3) + ca.sin(size) * K + (1 - ca.cos(size)) * K @ K
    vector = rotation_vector(turned)
    both = ca.Function("f", [x], [vector, ca.jacobian(vector, x)])
    value, slope = both(angle * axis)
    assert array(value) == pytest.approx(angle * axis, abs=1e-12)
    if angle > 1e-6:  # nearer to none the rotation above has no derivative in numbers
        assert array(slope) == pytest.approx(np.eye(3), abs=1e-9)


@anywhere
def test_from_rotation_inverts_rotation_matrix(seed):
    A = Rotation.random(rng=np.random.default_rng(seed)).as_matrix()
    p = from_rotation(A)
    assert number(rotation_matrix(ca.SX(p))) == pytest.approx(A, abs=1e-14)
    assert np.linalg.norm(p) == pytest.approx(1, abs=1e-15)
    assert p[0] >= 0


@pytest.mark.parametrize(
    "axis", [(1, 0, 0), (0, 1, 0), (0, 0, 1), (1, 1, 1), (1, -2, 3), (-1, 0, 1)]
)
@pytest.mark.parametrize("angle", [np.pi, np.pi - 1e-7, 1e-9, 0.0, 2.0])
def test_from_rotation_near_half_a_turn_and_near_none(axis, angle):
    w = angle * np.array(axis) / np.linalg.norm(axis)
    A = Rotation.from_rotvec(w).as_matrix()
    assert number(rotation_matrix(ca.SX(from_rotation(A)))) == pytest.approx(A, abs=1e-14)


@pytest.mark.parametrize(
    "A", [-np.eye(3), 1.001 * np.eye(3), np.ones((3, 3)), np.eye(4), np.full((3, 3), np.nan)]
)
def test_from_rotation_refuses_other_matrices(A):
    with pytest.raises(ValueError, match="not a rotation matrix"):
        from_rotation(A)


@anywhere
def test_rates_are_those_of_a_body_fixed_angular_velocity(seed):
    """w = 2 G pdot, where A(p(t)) = A exp(t w): by finite differences of SciPy's rotations."""
    rng, eps = np.random.default_rng(seed), 1e-6
    A, w = Rotation.random(rng=rng), rng.normal(size=3)
    ahead, behind = (np.roll((A * Rotation.from_rotvec(s * eps * w)).as_quat(), 1) for s in (1, -1))
    p = np.roll(A.as_quat(), 1)
    pdot = (ahead * np.sign(ahead @ p) - behind * np.sign(behind @ p)) / (2 * eps)
    G = number(body_rate_matrix(ca.SX(p)))
    assert 2 * G @ pdot == pytest.approx(w, abs=1e-8)
    assert G.T @ w / 2 == pytest.approx(pdot, abs=1e-8)


@anywhere
def test_rate_matrix_annihilates_the_parameters(seed):
    p = random_parameters(seed)
    G = number(body_rate_matrix(ca.SX(p)))
    assert G @ p == pytest.approx(0, abs=1e-15)
    gram = G @ G.T
    assert gram == pytest.approx(p @ p * np.eye(3), abs=1e-14)


@pytest.mark.parametrize("h", [0.0, 1e-12, 1e-3, 1.0, -1.0])
@pytest.mark.parametrize("speed", [0.0, 1e-9, 0.3, 2.0])
def test_turns_over_a_time_are_those_of_scipy_and_back(speed, h):
    w = speed * np.array([2.0, -1.0, 2.0]) / 3
    e0, e = (number(x) for x in turn_over(ca.SX(w), ca.SX(h)))
    assert np.append(h * e, e0) == pytest.approx(Rotation.from_rotvec(h * w).as_quat(), abs=1e-15)
    back = number(angular_velocity_over(ca.SX(e0), ca.SX(e), ca.SX(h)))
    assert back == pytest.approx(w, rel=1e-14, abs=1e-15)


@anywhere
def test_normalise(seed):
    p = random_parameters(seed)
    assert number(normalise(ca.SX(p))) == pytest.approx(p / np.linalg.norm(p), abs=1e-15)


@pytest.mark.parametrize(
    "z", [(0, 0, 1), (0, 0, -2), (1, 0, 0), (3, 4, 0), (1, 1, 1), (1e-9, 0, 0), (-1, 2, -3)]
)
def test_axes_from_z(z):
    axes = axes_from_z(z)
    assert axes[:, 2] == pytest.approx(np.array(z) / np.linalg.norm(z), abs=1e-15)
    assert axes.T @ axes == pytest.approx(np.eye(3), abs=1e-15)
    assert np.linalg.det(axes) == pytest.approx(1)


def test_axes_along_z_are_the_identity():
    assert np.all(axes_from_z((0, 0, 5)) == np.eye(3))


@pytest.mark.parametrize("z", [(0, 0, 0), (np.nan, 0, 1), (np.inf, 0, 0), (1, 0), 3.0])
def test_axes_from_z_refuses_what_is_no_direction(z):
    with pytest.raises(ValueError, match="three finite numbers"):
        axes_from_z(z)


@pytest.mark.parametrize("angle", [0.0, 1e-9, 1e-3, 0.3, 2.0])
def test_a_longer_turn_is_turned_on_by_its_matrix(angle):
    """exp(w + dw) = exp(w) exp(T dw), by central differences of SciPy's rotations."""
    w, step = angle * np.array([0.6, -0.48, 0.64]), 1e-5
    columns = []
    for dw in step * np.eye(3):
        ahead, behind = (Rotation.from_rotvec(w + sign * dw) for sign in (1, -1))
        columns.append((behind.inv() * ahead).as_rotvec() / (2 * step))
    assert number(turn_jacobian(ca.SX(w))) == pytest.approx(np.transpose(columns), abs=1e-9)
