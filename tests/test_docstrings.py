"""Every public method has a docstring, its own or that of its contract; ruff has the rest."""

import importlib
import inspect
import pkgutil
from functools import cached_property

import pytest

import nsopt

pytestmark = pytest.mark.unit
MODULES = sorted(
    m.name
    for m in pkgutil.walk_packages(nsopt.__path__, "nsopt.")
    if not m.name.endswith("__main__")
)


def public_methods(module):
    """Yield names of methods and properties of public classes; whether they are documented."""
    for name, thing in vars(module).items():
        own = getattr(thing, "__module__", "") == module.__name__
        if name.startswith("_") or not own or not inspect.isclass(thing):
            continue
        for attribute, member in vars(thing).items():
            if not attribute.startswith("_") and (
                inspect.isfunction(member) or isinstance(member, property | cached_property)
            ):
                stated = [getattr(vars(c).get(attribute), "__doc__", None) for c in thing.__mro__]
                yield f"{module.__name__}.{name}.{attribute}", any(stated)


def test_public_methods_are_documented():
    methods = [x for name in MODULES for x in public_methods(importlib.import_module(name))]
    assert len(methods) > 500
    assert [name for name, documented in methods if not documented] == []
