"""Pictures of tables have the numbers of their cells."""

import importlib
from pathlib import Path

import pytest

FOLDER = Path(__file__).resolve().parents[1] / "docs" / "_extensions"
HEAD = ["bodies", "first [us]", "second [us]"]
ROWS = [["1", "2.27", "17.8"], ["5", "11.1", "1,240"], ["50", "117", ""]]
pytestmark = pytest.mark.unit


@pytest.fixture
def drawn(monkeypatch):
    monkeypatch.syspath_prepend(FOLDER)
    return importlib.import_module("drawn_tables")


def test_lines_have_the_numbers_of_the_cells(drawn):
    first, second = drawn.lines(HEAD, ROWS, "bodies", HEAD[1:])
    assert first == ("first [us]", [1.0, 5.0, 50.0], [2.27, 11.1, 117.0])
    assert second == ("second [us]", [1.0, 5.0], [17.8, 1240.0])


def test_a_column_that_the_table_has_not_is_refused(drawn):
    with pytest.raises(ValueError, match="third"):
        drawn.lines(HEAD, ROWS, "bodies", ["third"])
