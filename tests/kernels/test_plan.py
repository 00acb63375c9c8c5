"""The order of elimination: which unknowns are eliminated together, and where entries are kept."""

import numpy as np
import pytest

from nsopt.kernels.plan import plan_elimination


def pattern_of_chain(bodies):
    """Return rows of a chain: of each body 2 + 1 velocities, of each joint two forces behind."""
    n = 3 * bodies
    rows = []
    for k in range(bodies):
        forces = [n + 2 * j + i for j in (k, k + 1) if j < bodies for i in (0, 1)]
        rows += [{3 * k, 3 * k + 1, *forces}, {3 * k, 3 * k + 1, *forces}, {3 * k + 2, *forces}]
    for k in range(bodies):
        velocities = {3 * j + i for j in (k - 1, k) if j >= 0 for i in range(3)}
        rows += [velocities | {n + 2 * k}, velocities | {n + 2 * k + 1}]
    return rows, range(n, n + 2 * bodies)


def test_bodies_are_eliminated_as_wholes_before_joints():
    plan, places, first_late = plan_elimination(*pattern_of_chain(12))
    bodies, joints = places.fronts[:first_late], places.fronts[first_late:]
    assert sorted(sorted(front.early) for front in bodies) == [
        [3 * k, 3 * k + 1, 3 * k + 2] for k in range(12)
    ]
    assert sorted(k for front in joints for k in front.late) == list(range(36, 60))
    assert plan.pivot.tolist() == [k for front in places.fronts for k in front.pivots]


def test_a_short_chain_is_one_dense_matrix():
    """Nothing is then added by index, and joints still come behind all bodies."""
    plan, places, _ = plan_elimination(*pattern_of_chain(2))
    assert len(places.fronts) == 1
    assert len(plan.target) == 0
    assert sorted(plan.pivot[:6]) == list(range(6))
    assert sorted(plan.pivot[6:]) == list(range(6, 10))


@pytest.mark.parametrize("seed", range(40))
def test_an_elimination_by_the_plan_solves(seed):
    """With numpy, front by front, against a dense solution; pivots are large enough."""
    rng = np.random.default_rng(seed)
    n = 25
    matrix = np.where(rng.random((n, n)) < 0.08, rng.normal(size=(n, n)), 0.0) + 4 * np.eye(n)
    r = rng.normal(size=n)
    rows = [set(np.flatnonzero(row).tolist()) for row in matrix]
    plan, places, _ = plan_elimination(rows, late=range(20, n))
    A = np.zeros(places.size)
    for i, row in enumerate(rows):
        A[plan.right[i]] = r[i]
        for j in row:
            A[places.of(i, j)] = matrix[i, j]
    for f in range(len(plan.width)):
        for t in range(plan.first[f], plan.first[f + 1]):
            ahead = A[plan.diagonal[t] + np.arange(plan.rest[t] + 1)]
            for place in plan.row_place[plan.row_start[t] : plan.row_start[t + 1]]:
                A[place + 1 : place + len(ahead)] -= A[place] / ahead[0] * ahead[1:]
        targets = plan.target[plan.target_start[f] : plan.target_start[f + 1]]
        for k, some in enumerate(targets.reshape(-1, plan.columns[f])):
            begin = plan.border[f] + k * plan.width[f] + plan.pivots[f]
            A[some] += A[begin : begin + plan.columns[f]]
    assert A[places.nowhere] == 0
    x = np.zeros(n)
    for t in reversed(range(n)):
        i, its = plan.pivot[t], slice(plan.column_start[t], plan.column_start[t + 1])
        known = A[plan.column_place[its]] @ x[plan.column[its]]
        x[i] = (A[plan.right[i]] - known) / A[plan.diagonal[t]]
    assert x == pytest.approx(np.linalg.solve(matrix, r), rel=1e-10)
    assert np.array_equal(plan.diagonal, [places.of(k, k) for k in plan.pivot])
