"""The names that users build on: none appears, changes or goes without a decision.

After one: ``python -m tests.test_public_names`` writes the list anew; review its difference, give
CHANGELOG a line, and commit both.
"""

import importlib
import pkgutil
from pathlib import Path

import pytest

import nsopt
from nsopt import elements, trajectory

LIST = Path(__file__).with_name("public_names.txt")


def packages():
    """Return nsopt and its packages that state what is public."""
    inside = [f"nsopt.{m.name}" for m in pkgutil.iter_modules(nsopt.__path__) if m.ispkg]
    return [importlib.import_module(name) for name in ("nsopt", *inside)]


def public_names():
    return sorted(
        f"{package.__name__}.{name}" for package in packages() for name in package.__all__
    )


def test_public_names_are_those_decided_on():
    now, decided = set(public_names()), set(LIST.read_text(encoding="utf-8").split())
    remedy = "on purpose? python -m tests.test_public_names"
    assert not now - decided, f"new: {', '.join(sorted(now - decided))}; {remedy}"
    assert not decided - now, f"gone: {', '.join(sorted(decided - now))}; {remedy}"


def test_public_names_are_there_and_stated_once():
    for package in packages():
        assert all(hasattr(package, name) for name in package.__all__), package.__name__
        assert len({*package.__all__}) == len(package.__all__), package.__name__


@pytest.mark.parametrize(
    ("whole", "part"),
    [
        (nsopt, elements),
        (trajectory, trajectory.conditions),
        (trajectory, trajectory.costs),
        (trajectory, trajectory.guesses),
    ],
)
def test_users_see_all_elements_costs_conditions_and_guesses(whole, part):
    assert {*part.__all__} <= {*whole.__all__}, f"add them to {whole.__file__}, twice"


if __name__ == "__main__":
    LIST.write_text("\n".join([*public_names(), ""]), encoding="utf-8")
