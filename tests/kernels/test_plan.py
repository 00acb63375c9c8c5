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


def test_bodies_and_joints_are_eliminated_as_wholes():
    plan, places, first_late = plan_elimination(*pattern_of_chain(5))
    bodies, joints = places.fronts[:first_late], places.fronts[first_late:]
    assert sorted(sorted(front.pivots) for front in bodies) == [
        [3 * k, 3 * k + 1, 3 * k + 2] for k in range(5)
    ]
    # What is left at last is one dense matrix.
    assert sorted(sorted(front.pivots) for front in joints[:-1]) == [
        [k, k + 1] for front in joints[:-1] for k in [min(front.pivots)]
    ]
    assert sum(len(front.pivots) for front in joints) == 10
    assert plan.pivot.tolist() == [k for front in places.fronts for k in front.pivots]


@pytest.mark.parametrize("seed", range(5))
def test_an_elimination_by_the_plan_solves(seed):
    """With numpy, front by front, against a dense solution; pivots are large enough."""
    rng = np.random.default_rng(seed)
    n = 25
    matrix = np.where(rng.random((n, n)) < 0.08, rng.normal(size=(n, n)), 0.0) + 4 * np.eye(n)
    r = rng.normal(size=n)
    rows = [set(np.flatnonzero(row).tolist()) for row in matrix]
    plan, places, _ = plan_elimination(rows, late=range(20, n))
    A = np.zeros(plan.place[-1])
    for i, row in enumerate(rows):
        A[plan.right[i]] = r[i]
        for j in row:
            A[places.of(i, j)] = matrix[i, j]
    solved = []
    for f, front in enumerate(places.fronts):
        m, k = len(front.pivots), len(front.columns) + 1
        F = A[plan.place[f] : plan.place[f + 1]].reshape(-1, plan.width[f])
        X = np.linalg.solve(F[:m, :m], F[:m, m : m + k])
        changes = -F[m:, :m] @ X
        np.add.at(A, plan.target[plan.target_start[f] : plan.target_start[f + 1]], changes.ravel())
        solved.append((front, X))
    x = np.zeros(n)
    for front, X in reversed(solved):
        x[front.pivots] = X[:, -1] - X[:, :-1] @ x[front.columns]
    assert x == pytest.approx(np.linalg.solve(matrix, r), rel=1e-10)
    assert np.array_equal(plan.diagonal, [places.of(k, k) for k in plan.pivot])
