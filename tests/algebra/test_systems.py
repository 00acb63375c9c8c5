"""Parts of a matrix that no entry couples."""

import numpy as np
import pytest

from nsopt.algebra import find_parts

pytestmark = pytest.mark.unit


def test_parts_are_those_that_paths_connect():
    rng = np.random.default_rng(5)
    for n in range(12):
        coupled = rng.uniform(size=(n, n)) < 0.12
        paths = np.linalg.matrix_power((coupled | coupled.T | np.eye(n, dtype=bool)) * 1.0, n) > 0
        expected = {tuple(np.flatnonzero(row)) for row in paths}
        parts = [tuple(part) for part in find_parts(coupled)]
        assert set(parts) == expected
        assert parts == sorted(parts)
