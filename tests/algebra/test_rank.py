"""Independent rows, against singular values that are stated."""

import numpy as np
import pytest

from nsopt.algebra import has_independent_rows


@pytest.mark.parametrize(("least", "independent"), [(1.0, True), (1e-4, True), (1e-6, False)])
def test_rows_are_told_independent_only_where_they_clearly_are(least, independent):
    rng = np.random.default_rng(3)
    left, right = (np.linalg.qr(rng.normal(size=(n, n)))[0] for n in (4, 9))
    rows = left @ np.diag([2.0, 1.5, 1.0, least]) @ right[:4]
    assert has_independent_rows(rows) == independent
    assert not has_independent_rows(np.vstack([rows, rows.sum(axis=0)]))


def test_more_rows_than_columns_and_no_rows():
    assert not has_independent_rows(np.eye(3)[[0, 1, 2, 0]])
    assert has_independent_rows(np.zeros((0, 3)))
    assert not has_independent_rows(np.zeros((2, 3)))
