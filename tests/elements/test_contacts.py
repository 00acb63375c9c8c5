"""Gaps of contacts and clearance joints: their geometry, their forces, and what a solver sees."""

import numpy as np
import pytest

from nsopt import PrismaticClearance
from tests.catalog import CLEARANCES, CONTACTS, Row
from tests.geometry import CLEARANCE, IRREGULAR, TRIANGLE, ends, off_axis
from tests.states import (
    axes_of,
    couple,
    derivative,
    moved_together,
    near,
    reactions,
    turn,
    wrenches,
)
from tests.user_bores import BORES

pytestmark = pytest.mark.unit

contacts = pytest.mark.parametrize("row", CLEARANCES + CONTACTS + BORES, ids=str)
anywhere = pytest.mark.parametrize("seed", range(3))
CENTRED = np.zeros(6)


def beside(c, seed, k):
    """A pose in which gap k is closed, reached by a translation along its normal."""
    q = c.placed(near(seed, 1e-3, 0.03))
    return c.pushed(q, -c.at("distance", q)[k] * c.columns("contact_normals", q)[k])


@contacts
def test_all_gaps_are_open_where_the_frames_coincide(row):
    c = couple(row)
    assert c.at("distance", c.q).shape == (row.size,)
    assert np.all(c.at("distance", c.q) > 1e-3)
    assert np.all(c.at("gap", c.q) > 1e-3)


@contacts
def test_nothing_is_singular_at_the_centre(row):
    c = couple(row)
    for name in ("distance", "gap", "gap_matrix", "contact_points", "contact_normals", "slope"):
        assert np.all(np.isfinite(c.at(name, c.placed(CENTRED))))


@contacts
@anywhere
def test_distance_falls_as_the_point_moves_against_the_normal(row, seed):
    c = couple(row)
    for k in range(row.size):
        q = beside(c, seed, k)
        for depth in (-2e-4, 0.0, 3e-4):
            normal = c.columns("contact_normals", q)[k]
            assert c.at("distance", c.pushed(q, -depth * normal))[k] == pytest.approx(
                -depth, abs=1e-12
            )


@contacts
@anywhere
def test_normals_are_unit_vectors(row, seed):
    c = couple(row)
    normals = c.columns("contact_normals", c.placed(near(seed, 5e-3, 0.2)))
    assert np.linalg.norm(normals, axis=1) == pytest.approx(1, abs=1e-10)


@contacts
@anywhere
def test_function_has_the_sign_of_the_distance(row, seed):
    c = couple(row)
    q = c.placed(near(seed, 5e-3, 0.2))
    assert np.sign(c.at("gap", q)) == pytest.approx(np.sign(c.at("distance", q)))


@contacts
@anywhere
def test_function_and_distance_agree_to_first_order_in_contact(row, seed):
    c = couple(row)
    for k in range(row.size):
        q = beside(c, seed, k)
        assert c.at("gap", q)[k] == pytest.approx(0, abs=1e-14)
        assert c.at("slope", q)[k] == pytest.approx(1, abs=1e-12)
        expected = derivative(lambda x, k=k: c.at("distance", x)[[k]], q, 1e-6)[0]
        W = c.at("gap_matrix", q).reshape(12, -1)
        assert W[:, k] == pytest.approx(expected, abs=1e-6)


@contacts
@anywhere
@pytest.mark.parametrize("size", [1e-3, 0.1], ids=["in the joint", "far from it"])
def test_gap_matrix_is_the_gradient_of_the_gap(row, seed, size):
    c = couple(row)
    q = c.placed(near(seed, size, 30 * size))
    expected = derivative(lambda x: c.at("gap", x), q, 1e-6).T
    assert c.at("gap_matrix", q).reshape(12, -1) == pytest.approx(expected, rel=1e-6, abs=1e-6)


@contacts
@anywhere
def test_slope_relates_the_gradients_of_function_and_distance(row, seed):
    c = couple(row)
    q = c.placed(near(seed, 2e-3, 0.03))
    distance = derivative(lambda x: c.at("distance", x), q, 1e-6).T
    scaled = distance * c.at("slope", q)
    assert c.at("gap_matrix", q).reshape(12, -1) == pytest.approx(scaled, abs=1e-5)


@contacts
@anywhere
def test_force_at_the_contact_point_is_the_generalized_impulse(row, seed):
    c = couple(row)
    for k in range(row.size):
        q = beside(c, seed, k)
        normal, point = c.columns("contact_normals", q)[k], c.columns("contact_points", q)[k]
        on_a, on_b = wrenches(c.at("gap_matrix", q).reshape(12, -1)[:, k], q)
        assert on_b == pytest.approx([*normal, *np.cross(point, normal)], abs=1e-10)
        assert on_a == pytest.approx(-on_b, abs=1e-12)


@contacts
@anywhere
def test_action_equals_reaction_also_when_open(row, seed):
    c = couple(row)
    q = c.placed(near(seed, 0.05, 0.5))
    for generalized in c.at("gap_matrix", q).reshape(12, -1).T:
        on_a, on_b = wrenches(generalized, q)
        assert on_a == pytest.approx(-on_b, abs=1e-12 * max(1, np.abs(on_b).max()))


@contacts
def test_depends_on_the_relative_pose_alone(row):
    c = couple(row)
    q = c.placed(near(2, 3e-3, 0.05))
    together = moved_together(q, [0.3, -1.0, 0.7], turn(1.0, -0.4, 2.0))
    assert c.at("distance", together) == pytest.approx(c.at("distance", q), abs=1e-14)
    assert c.at("gap", together) == pytest.approx(c.at("gap", q), abs=1e-14)


@contacts
def test_reported_reaction_is_the_force_at_the_contact_point(row):
    c = couple(row)
    q = beside(c, 1, 0)
    lam = np.eye(row.size)[0] * 2.5
    wrench = reactions(c.dynamics, q, lam=lam)[:, 0]
    force = 2.5 * c.columns("contact_normals", q)[0]
    arm = c.columns("contact_points", q)[0] - frame_b(c, q)[0]
    assert wrench == pytest.approx([*force, *np.cross(arm, force)], abs=1e-10)


def frame_b(c, q):
    """Origin and axes of frame b in the world."""
    A = axes_of(q[10:14])
    return q[7:10] + A @ c.frames[1].origin, A @ c.frames[1].axes


@contacts
@anywhere
def test_distances_are_those_of_the_geometry(row, seed):
    c = couple(row)
    twist = near(seed, 2e-3, 0.1)
    expected = row.distances(twist[:3], turn(*twist[3:]))
    distances = c.at("distance", c.placed(twist))
    assert np.sort(distances) == pytest.approx(np.sort(expected), abs=1e-14)


@pytest.mark.parametrize("row", CLEARANCES[:2], ids=str)
@anywhere
def test_contact_point_lies_on_pin_and_bore(row, seed):
    c = couple(row)
    for k in (0, 1):
        q = beside(c, seed, k)
        origin, axes = frame_b(c, q)
        d, R = c.axes.T @ (origin - c.point), c.axes.T @ axes
        point = c.axes.T @ (c.columns("contact_points", q)[k] - c.point)
        assert off_axis(point) == pytest.approx(0.01, abs=1e-12)
        assert np.linalg.norm(point - ends(d, R)[k]) == pytest.approx(0.01 + CLEARANCE, abs=1e-12)


def test_a_polygon_may_be_listed_either_way_round():
    def listed(polygon):
        return couple(Row("", lambda a, b: PrismaticClearance("e", a, b, polygon, 0.1, CLEARANCE)))

    one, other = listed(IRREGULAR), listed(IRREGULAR[::-1])
    q = one.placed(near(1, 2e-3, 0.1))
    assert np.sort(one.at("distance", q)) == pytest.approx(
        np.sort(other.at("distance", q)), abs=1e-15
    )


def test_eight_gaps_of_a_triangular_slider_have_rank_five():
    """In the upper edge of the guide two planes are touched by two vertices each, at both ends."""
    c = couple(CLEARANCES[2])
    (x0, y0), (x1, y1), _ = TRIANGLE
    reach = CLEARANCE * np.hypot(x1 - x0, y1 - y0) / abs(x1 - x0)
    q = c.placed([0, reach, 0, 0, 0, 0])
    closed = np.abs(c.at("distance", q)) < 1e-12
    assert closed.sum() == 8
    assert np.linalg.matrix_rank(c.at("gap_matrix", q)[:, closed], tol=1e-9) == 5
