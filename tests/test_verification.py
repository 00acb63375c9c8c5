"""The page of verification: its figures hold, and it is that of the script."""

import math
from pathlib import Path

import pytest

from benchmarks.verification.figure import Comparison, Figure, available, compare
from benchmarks.verification.page import HEAD, line, markdown, stated
from benchmarks.verification.subjects import SUBJECTS

PAGE = Path(__file__).parents[1] / "docs" / "measured" / "verification.md"
KNOWN = Figure("length", "m", 2.0, "a rule", lambda: 2.1, 0.2)


@pytest.mark.slow
@pytest.mark.parametrize("subject", SUBJECTS, ids=lambda x: x.title)
def test_no_figure_falls_short(subject):
    compared = [compare(figure) for figure in subject.figures if available(figure)]
    assert [line(x, colour=False) for x in compared if not x.holds] == []


def tables(text):
    """Rows of the tables of a page by the heading above them."""
    found, title = {}, None
    for row in text.splitlines():
        if row.startswith("## "):
            title = row[3:]
            found[title] = []
        elif row.startswith("| ") and not row.startswith("| ---"):
            found[title].append(tuple(cell.strip() for cell in row.strip("|").split(" | ")))
    return found


@pytest.mark.unit
def test_the_page_has_the_figures_of_the_script():
    """Their names, units, sources, references and claims; not what was computed."""
    found = tables(PAGE.read_text(encoding="utf-8"))
    assert list(found) == [subject.title for subject in SUBJECTS]
    for subject in SUBJECTS:
        head, *rows = found[subject.title]
        assert head == HEAD
        columns = [HEAD.index(x) for x in ("figure", "unit", "source", "reference", "claimed")]
        listed = [tuple(row[k] for k in columns) for row in rows]
        assert listed == [stated(figure) for figure in subject.figures]


@pytest.mark.unit
def test_there_are_sixty_figures_or_more_of_different_names():
    names = [figure.what for subject in SUBJECTS for figure in subject.figures]
    assert len(set(names)) == len(names) >= 60


@pytest.mark.unit
@pytest.mark.parametrize(
    ("value", "holds"), [(2.1, True), (1.9, True), (2.3, False), (math.nan, False)]
)
def test_what_falls_short_is_marked(value, holds):
    compared = Comparison(KNOWN, value)
    assert compared.holds == holds
    assert ("falls-short" in markdown({"Lengths": [compared]})) == (not holds)
    assert line(compared, colour=True).startswith("\033[31m") == (not holds)
    assert "\033" not in line(compared, colour=False)


@pytest.mark.unit
def test_a_figure_that_cannot_be_computed_falls_short_and_says_why(capsys):
    def fails():
        raise RuntimeError("out of reach")

    compared = compare(Figure("length", "m", 2.0, "a rule", fails, 0.2))
    assert not compared.holds
    assert "length: RuntimeError: out of reach" in capsys.readouterr().err


@pytest.mark.unit
def test_figures_left_out_are_counted():
    needy = Figure("length", "m", 2.0, "a rule", lambda: 2.0, 0.1, needs="no_such_package")
    assert not available(needy)
    assert "`no_such_package` is not installed: 1." in markdown({"Lengths": []}, [needy])
