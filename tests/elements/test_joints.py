"""Ideal joints: what they hold, what they leave free, and that they act equally on both bodies."""

import numpy as np
import pytest
from scipy.linalg import null_space, orth

from tests.catalog import FIRST_ORDER, JOINTS
from tests.states import couple, derivative, moved_together, near, reactions, turn, wrenches

pytestmark = pytest.mark.unit

joints = pytest.mark.parametrize("row", [*JOINTS, *FIRST_ORDER], ids=str)


@joints
def test_is_closed_where_its_frames_coincide(row):
    c = couple(row)
    assert c.at("closure", c.q).shape == (row.size,)
    assert c.at("closure", c.q) == pytest.approx(0, abs=1e-15)


@joints
def test_rows_and_freedoms_add_up(row):
    c = couple(row)
    C = c.at("closure_matrix", c.q)
    assert np.linalg.matrix_rank(C, tol=1e-9) == row.size == 6 - len(row.freedoms)


@pytest.mark.parametrize("row", JOINTS, ids=str)
@pytest.mark.parametrize("seed", range(3))
def test_stays_closed_along_its_freedoms(row, seed):
    c = couple(row)
    amounts = np.random.default_rng(seed).uniform(-1.2, 1.2, len(row.freedoms))
    q = c.placed(amounts @ np.reshape(row.freedoms, (-1, 6)))
    assert c.at("closure", q) == pytest.approx(0, abs=1e-12)


@joints
def test_is_opened_by_every_other_motion(row):
    c = couple(row)
    free = np.reshape(row.freedoms, (-1, 6))
    held = null_space(free) if len(free) else np.eye(6)
    directions = [
        *held.T,
        *-held.T,
        *(held @ x for x in np.random.default_rng(0).normal(size=(20, held.shape[1]))),
    ]
    for direction in directions:
        size = 1e-3 / np.linalg.norm(direction)
        opening = np.linalg.norm(c.at("closure", c.placed(size * direction)))
        assert opening > 1e-4 * np.linalg.norm(c.at("closure_matrix", c.q), 2)


@joints
def test_freedoms_are_the_null_space_of_the_closure_matrix(row):
    c = couple(row)
    # Body b moves by a freedom about frame a: its centre of mass and its body axes feel that.
    arm = c.q[7:10] - c.point
    Ab = c.axes @ c.frames[1].axes.T
    motions = []
    for freedom in np.reshape(row.freedoms, (-1, 6)):
        w = c.axes @ freedom[3:]
        motions.append([*np.zeros(6), *(c.axes @ freedom[:3] + np.cross(w, arm)), *(Ab.T @ w)])
    assert c.at("closure_matrix", c.q) @ np.reshape(motions, (-1, 12)).T == pytest.approx(
        0, abs=1e-12
    )


@joints
@pytest.mark.parametrize("size", [0.0, 0.3], ids=["closed", "torn apart"])
def test_closure_matrix_is_the_gradient_of_the_closure(row, size):
    c = couple(row)
    q = c.placed(near(1, size, 3 * size))
    expected = derivative(lambda x: c.at("closure", x), q, 1e-6)
    assert c.at("closure_matrix", q) == pytest.approx(expected, abs=1e-8)


@joints
def test_depends_on_the_relative_pose_alone(row):
    c = couple(row)
    q = c.placed(near(2, 0.2, 0.5))
    together = moved_together(q, [0.3, -1.0, 0.7], turn(1.0, -0.4, 2.0))
    assert c.at("closure", together) == pytest.approx(c.at("closure", q), abs=1e-13)


@joints
@pytest.mark.parametrize("size", [0.0, 0.2], ids=["closed", "torn apart"])
def test_action_equals_reaction(row, size):
    c = couple(row)
    q = c.placed(near(3, size, size))
    for generalized in c.at("closure_matrix", q):
        on_a, on_b = wrenches(generalized, q)
        assert on_a == pytest.approx(-on_b, abs=1e-12)


@joints
def test_reported_reaction_balances_the_generalized_impulse(row):
    c = couple(row)
    mu = np.random.default_rng(4).normal(size=row.size)
    wrench = reactions(c.dynamics, c.q, mu)[:, 0]
    _, (*force, mx, my, mz) = wrenches(c.at("closure_matrix", c.q).T @ mu, c.q)
    assert wrench[:3] == pytest.approx(force, abs=1e-12)
    assert wrench[3:] == pytest.approx([mx, my, mz] - np.cross(c.point, force), abs=1e-12)


@joints
def test_reaction_does_no_work_on_the_freedoms(row):
    c = couple(row)
    mu = np.random.default_rng(4).normal(size=row.size)
    wrench = reactions(c.dynamics, c.q, mu)[:, 0]
    in_axes = np.concatenate([c.axes.T @ wrench[:3], c.axes.T @ wrench[3:]])
    free = np.reshape(row.freedoms, (-1, 6))
    assert orth(free.T).shape[1] == len(free)
    assert free @ in_axes == pytest.approx(0, abs=1e-12)
