"""Every block of code of README and of the documentation runs as it stands there."""

import inspect
import re
import shlex
from importlib import metadata
from pathlib import Path

import pytest
from typer.main import get_command

from nsopt import Result
from nsopt.cli import app
from nsopt.problem import problem_folder

ROOT = Path(__file__).resolve().parents[1]
DOCS = ROOT / "docs"
COPIES = {DOCS / "contributing.md", DOCS / "changelog.md"}  # which a build leaves there
FOLDERS = (DOCS, DOCS / "howto", DOCS / "theory", DOCS / "measured")
PAGES = [ROOT / "README.md", *sorted({p for f in FOLDERS for p in f.glob("*.md")} - COPIES)]
LONGEST = {"docs": 800, "howto": 800, "theory": 2500}  # words of a page, by its folder
LISTS = {
    "architecture.md",
    "comparison.md",
    "examples.md",
    "words.md",
}  # to look up in, not to read
BLOCK = re.compile(r"^( *)```(\w*)\n(.*?)^\1```$", re.DOTALL | re.MULTILINE)


def blocks(page, language):
    """Return the blocks of a page in a language, each with the number of its first line."""
    text = page.read_text(encoding="utf-8")
    found = [(m, text[: m.start(3)].count("\n")) for m in BLOCK.finditer(text)]
    return [(inspect.cleandoc(m[3]), line) for m, line in found if m[2] == language]


def commands(page):
    """Return the calls of a page's blocks and within its sentences, as words."""
    lines = [line for text, _ in blocks(page, "") for line in text.splitlines()]
    within = re.findall(r"(?<!`)`([^`]+)`(?!`)", page.read_text(encoding="utf-8"))
    calls = [x for x in [*lines, *within] if x.startswith(("nsopt ", "python3 dev.py "))]
    return [shlex.split(call, comments=True) for call in calls]


def having(found):
    return [pytest.param(p, id=str(p.relative_to(ROOT))) for p in PAGES if found(p)]


@pytest.mark.unit
@pytest.mark.parametrize("page", having(lambda page: page.parent.name in LONGEST))
def test_a_page_is_as_short_as_its_kind(page):
    words = len(page.read_text(encoding="utf-8").split())
    assert page.name in LISTS or words <= LONGEST[page.parent.name]


@pytest.fixture
def robot_files(tmp_path, monkeypatch):
    """A folder with the robots' files that the pages read."""
    stored = metadata.files("example-robot-data")
    for name in ("ur5_robot.urdf", "panda.urdf"):
        (tmp_path / name).symlink_to(next(x for x in stored if x.name == name).locate())
    (tmp_path / "arm.urdf").symlink_to(problem_folder() / "arm_7dof" / "arm_7dof.urdf")
    monkeypatch.chdir(tmp_path)


@pytest.mark.slow
@pytest.mark.filterwarnings(r"ignore:\w+.urdf. ignored:UserWarning")  # of simulators
@pytest.mark.parametrize("page", having(lambda page: blocks(page, "python")))
def test_the_blocks_of_a_page_run_as_typed(page, robot_files):
    """One after the other; figures of robots and optima are tested elsewhere."""
    names = {}
    for text, line in blocks(page, "python"):
        exec(compile("\n" * line + text, page, "exec"), names)
        assert all(x.completed for x in names.values() if isinstance(x, Result))
    if page.name == "README.md":
        assert names["result"].completed
        lift = 48 / (6 / 9.81) ** 1.5  # a mass lifted by 1 m, in closed form
        assert names["best"].objective == pytest.approx(lift, rel=1e-6)


@pytest.fixture(scope="module")
def parsers():
    """The commands of the command line by name."""
    return get_command(app).commands


@pytest.mark.unit
@pytest.mark.parametrize("page", having(commands))
def test_the_commands_of_a_page_are_understood(page, parsers):
    """Each has a command that there is, and options and values that it takes."""
    tools = (ROOT / "dev.py").read_text(encoding="utf-8")
    for program, *words in commands(page):
        if program == "python3":
            assert f"\npython3 dev.py {words[1]} " in tools, words
            program, *words = words[1:]
        if program == "nsopt":
            name, *options = words
            parser = parsers[name]
            if options:  # a name alone, within a sentence, is a name
                parser.make_context(name, options)


MOST_WORDS = {"howto": 800, "theory": 2500}
"""Words of a page, by its folder: a guide answers one question, theory has one subject."""


@pytest.mark.unit
@pytest.mark.parametrize("folder", MOST_WORDS)
def test_pages_are_short_enough_to_be_read_at_once(folder):
    """Code that a page shows does not count."""
    words = {}
    for page in sorted((DOCS / folder).glob("*.md")):
        words[page.name] = len(BLOCK.sub("", page.read_text(encoding="utf-8")).split())
    assert {name: n for name, n in words.items() if n > MOST_WORDS[folder]} == {}
