"""Every public thing has a docstring, its own or that of the contract it fulfils."""

import importlib
import inspect
import pkgutil

import pytest

import nsopt

MODULES = sorted(
    m.name
    for m in pkgutil.walk_packages(nsopt.__path__, "nsopt.")
    if not m.name.endswith("__main__")
)


def public_members(module):
    for name, thing in vars(module).items():
        if name.startswith("_") or getattr(thing, "__module__", "") != module.__name__:
            continue
        if inspect.isfunction(thing) or inspect.isclass(thing):
            yield name, thing
        if inspect.isclass(thing):
            for attribute, member in vars(thing).items():
                if not attribute.startswith("_") and (
                    inspect.isfunction(member) or isinstance(member, property)
                ):
                    yield f"{name}.{attribute}", getattr(thing, attribute)


@pytest.mark.parametrize("name", MODULES)
def test_public_members_are_documented(name):
    module = importlib.import_module(name)
    assert module.__doc__
    bare = [member for member, thing in public_members(module) if not inspect.getdoc(thing)]
    assert not bare
