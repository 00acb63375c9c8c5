"""Vectors that a matrix takes to zero from the left, of numbers and of symbols."""

import casadi as ca
import numpy as np
import pytest

from nsopt.algebra import left_null_arrays, left_null_vectors

pytestmark = pytest.mark.unit


def test_null_vectors_are_orthonormal_and_zero_where_there_are_too_many():
    rng = np.random.default_rng(1)
    C = np.array([rng.normal(size=(7, r)) @ rng.normal(size=(r, 6)) for r in (4, 5)])
    U = left_null_arrays(C, 3)
    assert pytest.approx(0, abs=1e-7) == C.transpose(0, 2, 1) @ U
    for found, rank in zip(U, (4, 5), strict=True):
        assert np.trace(found.T @ found) == pytest.approx(7 - rank)
        projection = np.eye(7) - C[rank - 4] @ np.linalg.pinv(C[rank - 4], rcond=1e-9)
        assert found @ found.T == pytest.approx(projection, abs=1e-7)


def test_symbols_give_the_same_vectors():
    C = np.random.default_rng(2).normal(size=(6, 3)) @ np.ones((3, 4))
    x = ca.SX.sym("C", *C.shape)
    U = np.array(ca.Function("U", [x], [left_null_vectors(x, 2)])(C))
    (found,) = left_null_arrays(C[None], 2)
    assert found @ found.T == pytest.approx(U @ U.T, abs=1e-7)


def test_of_rows_that_are_all_zero_each_combination_is():
    x = ca.SX.sym("C", 5, 1)
    U = np.array(ca.Function("U", [x], [left_null_vectors(x, 5)])(np.zeros((5, 1))))
    (found,) = left_null_arrays(np.zeros((1, 5, 1)), 5)
    for vectors in (U, found):
        assert vectors @ vectors.T == pytest.approx(np.eye(5))
