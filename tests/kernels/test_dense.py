"""Dense systems, some of which fall into parts or are singular, against numpy."""

import numpy as np

from nsopt.kernels import multiply_matrices, solve_systems


def systems(rng, n=3):
    """Return systems of parts of 3, 1 and 4 unknowns in any order, and right-hand sides."""
    A = np.zeros((n, 8, 8))
    order = rng.permutation(8)
    for part in (order[:3], order[3:4], order[4:]):
        A[:, part[:, None], part] = rng.normal(size=(n, part.size, part.size))
    b = rng.normal(size=(n, 8, 5)) * (rng.random((8, 5)) < 0.5)
    return A, b, order


def test_parts_are_solved_as_the_whole():
    A, b, _ = systems(np.random.default_rng(0))
    np.testing.assert_allclose(A @ solve_systems(A, b), b, atol=1e-12)


def test_products_are_those_of_numpy():
    A, b, _ = systems(np.random.default_rng(0))
    A = A[:, :5]
    np.testing.assert_allclose(multiply_matrices(A, b), A @ b, atol=1e-14)
    transposed = b.transpose(0, 2, 1)  # no copy, as rows of W are
    np.testing.assert_allclose(multiply_matrices(transposed, b), transposed @ b, atol=1e-14)


def test_a_part_may_be_connected_in_one_direction():
    rng = np.random.default_rng(1)
    A, b, order = systems(rng)
    A[1, order[0], order[5]] = 2.0
    np.testing.assert_allclose(A @ solve_systems(A, b), b, atol=1e-11)


def test_singular_systems_have_least_squares():
    A, b, order = systems(np.random.default_rng(2))
    A[1, order[5]] = A[1, order[4]]
    expected = [np.linalg.lstsq(A[k], b[k], rcond=None)[0] for k in range(3)]
    np.testing.assert_allclose(solve_systems(A, b), expected, atol=1e-11)


def test_what_is_not_known_stays_so():
    A, b, order = systems(np.random.default_rng(3))
    b[1, order[3], 2] = np.nan
    x = solve_systems(A, b)
    assert np.isnan(x[1, order[3], 2])
    assert np.isfinite(x[[0, 2]]).all()


def test_pivots_are_found():
    A = np.array([[[0.0, 1.0, 0.0], [0.0, 0.0, 2.0], [4.0, 0.0, 0.0]], np.diag([1e-20, 1.0, 1.0])])
    A[1, 0, 1] = A[1, 1, 0] = 1.0
    b = np.arange(6.0).reshape(2, 3, 1)
    np.testing.assert_allclose(A @ solve_systems(A, b), b, rtol=1e-15)
