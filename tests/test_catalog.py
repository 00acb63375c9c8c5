"""Every exported class that derives from a contract has a row in the catalogue of tests."""

import inspect
from dataclasses import fields, is_dataclass

import pytest

import nsopt
from nsopt import Body, Frame, elements, mpcc, schemes, simulation, trajectory
from nsopt.trajectory import conditions, costs
from tests import catalog, catalog_methods, catalog_ranges, catalog_trajectory

pytestmark = pytest.mark.unit
DOORS = (nsopt, elements, schemes, simulation, mpcc, trajectory, costs, conditions)
CONTRACTS = (
    nsopt.mechanics.Element,
    elements.Law,
    elements.Excess,
    elements.OilFilm,
    elements.FrictionLaw,
    elements.CompliantLaw,
    elements.CompliantFriction,
    nsopt.ContactLaw,
    schemes.Scheme,
    schemes.Impact,
    schemes.Closure,
    simulation.StepControl,
    mpcc.Relaxation,
    mpcc.Backend,
    mpcc.QpSolver,
    costs.Cost,
    conditions.Condition,
)


def exported(contract):
    """The classes that keep a contract and can be made, from every door."""
    members = {x for door in DOORS for x in vars(door).values() if inspect.isclass(x)}
    concrete = (x for x in members if issubclass(x, contract) and not inspect.isabstract(x))
    return {x for x in concrete if not x.__subclasses__() and x is not contract}


def kinds(x):
    """The classes of x and of all that it is made of."""
    if isinstance(x, catalog.Row):
        bodies = [Body(name, 1.0, (0.1, 0.1, 0.1)) for name in "ab"]
        return kinds(x.build(*map(Frame, bodies)))
    if isinstance(x, list | tuple):
        return set().union(*map(kinds, x))
    inner = [getattr(x, field.name) for field in fields(x)] if is_dataclass(x) else []
    return {type(x)}.union(*map(kinds, inner))


@pytest.fixture(scope="module")
def rows():
    catalogues = (catalog, catalog_methods, catalog_ranges, catalog_trajectory)
    lists = [
        x
        for module in catalogues
        for name, x in vars(module).items()
        if name.isupper() and isinstance(x, list | catalog.Row)
    ]
    return kinds(lists)


@pytest.mark.parametrize("contract", CONTRACTS, ids=lambda x: x.__name__)
def test_what_is_exported_has_a_row(contract, rows):
    usable_itself = contract is nsopt.ContactLaw  # so no other need exist
    assert exported(contract) or usable_itself
    missing = sorted(x.__name__ for x in exported(contract) - rows)
    assert not missing, f"give {', '.join(missing)} a row in a catalogue"


def test_what_has_no_row_is_found(rows, monkeypatch):
    class Unlisted(elements.FrictionLaw):
        check = resist = None

    monkeypatch.setattr(elements, "Unlisted", Unlisted, raising=False)
    assert exported(elements.FrictionLaw) - rows == {Unlisted}
