"""Small programs through contact: no other short sequence of contact costs less."""

import importlib
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

FOLDER = Path(__file__).parents[2] / "benchmarks"


@pytest.fixture(scope="module")
def programs():
    sys.path.insert(0, str(FOLDER))
    yield importlib.import_module("small_contact_programs")
    sys.path.remove(str(FOLDER))


# A lift, one below a ceiling, sleds that slide and that stop, a push, and a ball between walls.
@pytest.mark.parametrize("number", [0, 1, 3, 5, 10, 11, 13])
def test_no_short_sequence_and_no_neighbour_costs_less(programs, number):
    compared, result = programs.compare(number)
    assert result.completed
    assert len(compared.costs) > 5
    assert compared.is_global
    assert compared.is_stationary
    assert result.data.attrs["resimulated_defect"] < 1e-3
