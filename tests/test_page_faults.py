"""The build of the documentation tells what a page would fetch from the network."""

import importlib
from pathlib import Path

import pytest

FOLDER = Path(__file__).resolve().parents[1] / "docs" / "_extensions"
MATHJAX = "https://cdn.jsdelivr.net/npm/mathjax@3/es5/tex-chtml.js"
pytestmark = pytest.mark.unit


@pytest.fixture
def faults(monkeypatch):
    monkeypatch.syspath_prepend(FOLDER)
    return importlib.import_module("page_faults").faults


@pytest.mark.parametrize(
    ("name", "text", "told"),
    [
        ("a.html", '<script src="tex-chtml.js"></script>', []),
        ("a.html", f'<a href="{MATHJAX}">MathJax</a>', []),
        (
            "a.html",
            f'<script defer src="{MATHJAX}"></script>',
            [f"a.html would fetch {MATHJAX} from the network"],
        ),
        (
            "a.html",
            '<link rel="stylesheet" href="//fonts.org/a.css">',
            ["a.html would fetch //fonts.org/a.css from the network"],
        ),
        ("a.html", '<a href="b.html">b</a>', ["a.html links to b.html, which is not there"]),
        ("a.css", 'a { src: url("fonts/a.woff") }', []),
        (
            "a.css",
            "a { src: url('https://fonts.org/a.woff') }",
            ["a.css would fetch from the network"],
        ),
        ("a.css", '@import "//fonts.org/a.css";', ["a.css would fetch from the network"]),
    ],
)
def test_what_is_fetched_from_elsewhere_is_told(faults, tmp_path, name, text, told):
    (tmp_path / "tex-chtml.js").touch()
    (tmp_path / name).write_text(text, encoding="utf-8")
    assert list(faults(tmp_path)) == told
