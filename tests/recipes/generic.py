"""The generic tests of a module, for a row that is not in the catalogue."""

from functools import partial
from itertools import product

import pytest


def checks(module, argument, like):
    """Return the tests of a module on all rows of a kind, as functions of a row.

    Parameters
    ----------
    module : module
    argument : str
        Their argument that is the row.
    like : object
        A row of the catalogue, of the kind.
    """
    tests = []
    for name, function in vars(module).items():
        marks = [m for m in getattr(function, "pytestmark", []) if m.name == "parametrize"]
        rows = [list(m.args[1]) for m in marks if m.args[0] == argument]
        if not name.startswith("test_") or not rows or like not in rows[0]:
            continue
        others = {m.args[0]: list(m.args[1]) for m in marks if m.args[0] != argument}
        for made in product(*([_parameter(x) for x in values] for values in others.values())):
            values = [x.values[0] for x in made]
            options = dict(zip(others, values, strict=True))
            label = "-".join([name, *map(_label, values)])
            marked = [mark for x in made for mark in x.marks]
            tests.append(pytest.param(partial(function, **options), id=label, marks=marked))
    assert tests, f"no test of {module.__name__} is on rows like {like}"
    return tests


def runs(module, argument, like):
    """Mark a test to run with each of `checks` as its argument ``check``."""
    return pytest.mark.parametrize("check", checks(module, argument, like))


def _parameter(x):
    """Return a value with its marks, none if it is stated alone."""
    return x if isinstance(x, type(pytest.param())) else pytest.param(x)


def _label(value):
    """Return the same text in every process, which a repr with an address is not."""
    plain = isinstance(value, str | int | float)
    return str(value) if plain else str(getattr(value, "name", type(value).__name__))
