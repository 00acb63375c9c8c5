"""CONTRIBUTING shows the whole tree, and each of its recipes is followed by a test."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
TEXT = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
TREE = TEXT.split("```\n")[1]
pytestmark = pytest.mark.unit


def test_its_tree_has_every_package():
    packages = {x.parent.name for x in (ROOT / "nsopt").glob("*/__init__.py")}
    assert packages == set(re.findall(r"^nsopt/(\w+) {2,}", TREE, re.M)) - {"checks"}


def test_its_tree_has_every_module_beside_them():
    modules = {x.stem for x in (ROOT / "nsopt").glob("[a-z]*.py")}
    named = set(re.findall(r"\w+", TREE))
    assert not modules - named


def test_its_links_lead_somewhere():
    links = re.findall(r"\]\(([\w./]+)\)", TEXT)
    assert links
    assert not [x for x in links if not (ROOT / x).is_file()]


def test_each_recipe_is_followed():
    tests = {x.name for x in Path(__file__).parent.glob("test_new_*.py")}
    assert tests == {Path(x).name for x in re.findall(r"\((tests/recipes/\S+)\)", TEXT)}


def test_its_files_exist():
    rows = re.findall(r"^\| [\w ]+ \| (.*?) \| \[test", TEXT, re.M)
    assert len(rows) >= 9
    for path in re.findall(r"`([\w/.]+/[\w/.]*)`", " ".join(rows)):
        assert any((ROOT / base / path).exists() for base in ("nsopt", ".")), path


def test_the_tests_it_names_exist():
    rows = re.findall(r"^\| [\w ]+ \| .* \| (`[\w/`., ]+) \|$", TEXT, re.M)
    assert len(rows) >= 9
    for path in re.findall(r"`(.*?)`", " ".join(rows)):
        assert (ROOT / "tests" / path).is_file(), path
