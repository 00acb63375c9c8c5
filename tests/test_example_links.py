"""Pages of the reference name the scripts and pages whose code uses a thing, and no others."""

import importlib
from pathlib import Path

import pytest

import nsopt
from nsopt import plots

FOLDER = Path(__file__).resolve().parents[1] / "docs" / "_extensions"
pytestmark = pytest.mark.unit


@pytest.fixture
def links(monkeypatch):
    monkeypatch.syspath_prepend(FOLDER)
    return importlib.import_module("example_links")


@pytest.mark.parametrize(
    ("code", "things"),
    [
        ("from nsopt import *\nBody('a', 1.0)", {nsopt.Body}),
        ("from nsopt import Body as B, Frame\nB('a', 1.0)", {nsopt.Body}),
        ("from nsopt import plots\nplots.mobility(x)", {plots.mobility}),
        ("from nsopt.mobility import mobility\nmobility(x)", {nsopt.mobility.mobility}),
        ("from numpy import *\nBody('a', 1.0)", set()),
    ],
)
def test_what_a_code_names_is_found(links, code, things):
    public = {id(x.thing): x.thing for x in links.public_names()}
    assert {public[id(x)] for x in links.used(code) if id(x) in public} == things


def test_scripts_of_the_gallery_are_named(links):
    assert "gallery/clearance/door" in links.pages_with()[id(nsopt.RevoluteClearance)]
    assert "gallery/clearance/door" not in links.pages_with()[id(nsopt.SphericalClearance)]


def test_what_no_code_uses_is_named_where_a_page_has_it(links):
    assert "theory/compliant" in links.pages_naming()["nsopt.LeeWang"]


def test_what_a_function_returns_is_shown_where_the_function_is(links):
    """Those who call it need not name the class."""
    exponents = next(x for x in links.public_names() if x.path == "nsopt.analysis.Exponents")
    assert "`lyapunov <nsopt.analysis.lyapunov>`" in links.examples(exponents)


def test_base_classes_are_shown_by_a_class_derived_from_them(links):
    """They are made by none."""
    law = next(x for x in links.public_names() if x.path == "nsopt.Hysteresis")
    shown = links.examples(law)
    assert shown.startswith("Such as :py:obj:`")
    assert issubclass(getattr(nsopt, shown.split("`")[1].split()[0]), nsopt.Hysteresis)
