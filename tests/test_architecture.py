"""docs/architecture.md: each function is in the file that the page names."""

import ast
import re

import pytest

from tests.test_layers import ROOT

pytestmark = pytest.mark.unit

PAGE = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
STATED = re.compile(r"((?:`[\w.]+`(?:, )?)+) \((nsopt/[\w/]+\.py)\)")


def defined(file):
    """Return the names of functions and methods in a file."""
    names = set()
    for node in ast.parse((ROOT / file).read_text(encoding="utf-8")).body:
        if isinstance(node, ast.FunctionDef):
            names.add(node.name)
        elif isinstance(node, ast.ClassDef):
            names |= {f"{node.name}.{x.name}" for x in node.body if isinstance(x, ast.FunctionDef)}
    return names


def test_each_line_names_a_function():
    lines = re.split(r"\n(?=\d+\. )", PAGE)[1:]
    assert len(lines) >= 40
    assert len(re.findall(r"\n## From ", PAGE)) == 3
    assert [line for line in lines if not STATED.search(line)] == []
    assert len(re.findall(r"\.py\)", PAGE)) == len(STATED.findall(PAGE))


@pytest.mark.parametrize(("names", "file"), STATED.findall(PAGE))
def test_each_function_is_where_the_page_says(names, file):
    assert set(re.findall(r"[\w.]+", names)) <= defined(file)
