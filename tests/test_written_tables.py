"""Tables of pages are what their commands print, with the machine and the day."""

import datetime
import re
from pathlib import Path

import pytest

from benchmarks.write_tables import BLOCK, rewrite, written

MEASURED = Path(__file__).resolve().parents[1] / "docs" / "measured"
DAY = datetime.date(2026, 11, 30)
TABLE = "| h | error |\n|---|---|\n| 1 | 2 |"
MACHINE = "EPYC, 2 cores, load 0.5; Python 3.11"
pytestmark = pytest.mark.unit


def test_a_block_has_the_command_the_day_the_machine_and_the_tables_alone():
    block = written("python a.py", f"busy\n{MACHINE}\n\n{TABLE}\nall: 3 s\n\n{TABLE}\n", DAY)
    assert BLOCK.fullmatch(block)[1] == "python a.py"
    assert f"`python a.py`, 2026-11-30: {MACHINE}." in block
    assert block.count(TABLE) == 2
    assert "busy" not in block
    assert "all: 3 s" not in block


@pytest.mark.parametrize("printed", [MACHINE, TABLE])
def test_what_lacks_a_table_or_the_machine_is_refused(printed):
    with pytest.raises(ValueError, match=r"python a\.py prints no"):
        written("python a.py", printed, DAY)


@pytest.fixture
def page(tmp_path):
    """A page with a block of a command that prints a table, and one of another command."""
    script = tmp_path / "prints.py"
    script.write_text(f"print({MACHINE!r})\nprint({TABLE!r})\n", encoding="utf-8")
    page = tmp_path / "page.md"
    page.write_text(
        f"# One\n\n<!-- python {script} -->\nold\n<!-- end -->\n\ntext\n\n"
        "<!-- python other.py -->\nkept\n<!-- end -->\n",
        encoding="utf-8",
    )
    return page


def test_a_page_is_written_anew_where_it_is_asked(page):
    assert len(rewrite(page, only="prints")) == 1
    text = page.read_text(encoding="utf-8")
    assert TABLE in text
    assert "old" not in text
    assert "kept" in text
    assert text.startswith("# One\n")
    assert "\ntext\n" in text
    first = BLOCK.findall(text)
    rewrite(page, only="prints")
    assert BLOCK.findall(page.read_text(encoding="utf-8")) == first


@pytest.mark.parametrize(
    "page",
    [
        pytest.param(p, id=p.stem)
        for p in sorted(MEASURED.glob("*.md"))
        if "<!-- python" in p.read_text("utf-8")
    ],
)
def test_blocks_of_pages_are_closed_and_filled(page):
    text = page.read_text(encoding="utf-8")
    blocks = [m[0] for m in BLOCK.finditer(text)]
    assert len(blocks) == len(re.findall(r"^<!-- python", text, re.MULTILINE))
    assert all("\n|" in block for block in blocks)
