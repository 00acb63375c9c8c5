"""Designs by gradient, against closed forms, and simulated again."""

import re
import sys

import casadi as ca
import numpy as np
import pytest

from nsopt import (
    GROUND,
    Body,
    Distance,
    Frame,
    Mechanism,
    Parameter,
    PlanarRevoluteClearance,
    Prismatic,
    Revolute,
    SpringDamper,
    StepBounds,
    Variational,
    assemble,
    simulate,
)
from nsopt.simulation import Compiled
from nsopt.trajectory import Limit, SensitivityError, Unknown, design, sensitivities
from tests.schemes.models import G


@pytest.fixture(scope="module")
def chain():
    """Two links that hang one from the other, each in a pin with clearance."""
    first = Body("first", 1.0, (0.01, 0.01, 0.01), (0, -0.1, 0))
    second = Body("second", 1.0, (0.01, 0.01, 0.01), (0, -0.3, 0))
    pins = [
        PlanarRevoluteClearance(
            "upper", Frame(GROUND), Frame.at(first, (0, 0, 0)), Parameter("c1", 4e-4), 0.01
        ),
        PlanarRevoluteClearance(
            "lower",
            Frame.at(first, (0, -0.2, 0)),
            Frame.at(second, (0, -0.2, 0)),
            Parameter("c2", 4e-4),
            0.01,
        ),
    ]
    return assemble(Mechanism([first, second]), pins, gravity=(0, -G, 0))


def sag(t, q, v, p):
    return -0.3 - q[8]


@pytest.mark.slow
def test_clearances_are_allotted_at_least_cost(chain):
    """Cost a1/c1 + a2/c2 with c1 + c2 <= 1 mm: the clearances go by the roots of a1 and a2."""
    steps, most = StepBounds(1e-6, 1e-3), 1e-3
    best = design(
        chain,
        [Unknown("c1", 3e-4, 5e-5, 2e-3), Unknown("c2", 3e-4, 5e-5, 2e-3)],
        lambda y, p: 4e-4 / p["c1"] + 1e-4 / p["c2"],
        [Limit("sag", lambda y, p: y, most)],
        times=[0.06, 0.08],
        outputs=sag,
        steps=steps,
    )
    assert best.converged, best.message
    assert best.values == pytest.approx([most * 2 / 3, most / 3], rel=1e-4)
    assert best.limits["sag"] == pytest.approx(most, rel=1e-6)
    assert best.resimulated["sag"] == pytest.approx(most, rel=1e-3)
    again = simulate(
        chain,
        None,
        0.08,
        steps=steps,
        scheme=Variational(),
        solver=Compiled(),
        parameters=best.parameters,
        progress=False,
    )
    assert -0.3 - again["q"].values[-1, 8] <= most * (1 + 1e-5)


@pytest.fixture(scope="module")
def oscillator():
    mass = Body("mass", 2.0, (0.1, 0.1, 0.1), (0, 0, 1.0))
    guide = Prismatic("guide", Frame(GROUND), Frame.at(mass, (0, 0, 0)))
    spring = SpringDamper("spring", Frame(GROUND), Frame(mass), Parameter("stiffness", 30.0))
    return assemble(Mechanism([mass], [guide], "relative"), [spring])


def place(t, q, v, p):
    return 1 + q[0]


def test_a_spring_constant(oscillator):
    """The softest spring that brings the mass from 1 m to 0.2 m within half a second."""
    best = design(
        oscillator,
        [Unknown("stiffness", 30.0, 1.0, 40.0)],
        lambda y, p: p["stiffness"],
        [Limit("end", lambda y, p: y[-1], 0.2)],
        times=[0.25, 0.5],
        outputs=place,
        steps=StepBounds(1e-3, 1e-3),
    )
    assert best.converged, best.message
    assert best.values[0] == pytest.approx(2.0 * (np.arccos(0.2) / 0.5) ** 2, rel=1e-4)
    assert best.cost == best.values[0]


def test_a_cost_of_the_motion(oscillator):
    """The spring that is at rest furthest below: half a period in half a second."""
    best = design(
        oscillator,
        [Unknown("stiffness", 50.0, 20.0, 120.0)],
        lambda y, p: ca.sum1(y),
        times=0.5,
        outputs=place,
        steps=StepBounds(1e-3, 1e-3),
    )
    assert best.converged, best.message
    assert best.values[0] == pytest.approx(2.0 * (np.pi / 0.5) ** 2, rel=1e-3)


@pytest.mark.slow
def test_what_cannot_be_met_is_told(oscillator):
    best = design(
        oscillator,
        [Unknown("stiffness", 30.0, 1.0, 40.0)],
        lambda y, p: p["stiffness"],
        [Limit("end", lambda y, p: y[-1], -2.0)],
        times=0.5,
        outputs=place,
        steps=StepBounds(1e-3, 1e-3),
    )
    assert not best.converged
    assert np.all(np.isnan(best.values))
    assert np.isnan(best.step_errors).tolist() == [True]
    assert "'end' is -0.6" in best.message


def designed(oscillator, cost, limits=()):
    """The design of a stiffness between 1 and 40 N/m, sought from 30 N/m."""
    unknowns, steps = [Unknown("stiffness", 30.0, 1.0, 40.0)], StepBounds(1e-3, 1e-3)
    return design(oscillator, unknowns, cost, limits, times=0.5, outputs=place, steps=steps)


def test_half_the_step_that_fails_is_told(oscillator, monkeypatch):
    """A motion without derivatives there is an answer, not an error."""

    def failing(*given, **options):
        if options["steps"].h_max < 1e-3:
            raise SensitivityError(0.25, "no step was solved")
        return sensitivities(*given, **options)

    monkeypatch.setattr(sys.modules[design.__module__], "sensitivities", failing)
    end = Limit("end", lambda y, p: y[-1], 0.2)
    best = designed(oscillator, lambda y, p: p["stiffness"], [end])
    assert not best.converged
    assert np.all(np.isnan(best.values))
    assert "half the step at t = 0.25 s" in best.message


@pytest.mark.parametrize("locked", [15.0, 19.9])
def test_it_goes_on_nearer_where_a_motion_locks(oscillator, monkeypatch, locked):
    """The first step from 30 to the optimum at 20 N/m ends at the bound, 1 N/m."""
    tried = []

    def locking(*given, **options):
        tried.append(options["parameters"]["stiffness"])
        if tried[-1] < locked:
            raise SensitivityError(0.25, "no step was solved")
        return sensitivities(*given, **options)

    monkeypatch.setattr(sys.modules[design.__module__], "sensitivities", locking)
    best = designed(oscillator, lambda y, p: (p["stiffness"] - 20) ** 2)
    assert min(tried) < locked
    assert best.converged, best.message
    assert best.values == pytest.approx([20.0], rel=1e-4)


@pytest.mark.slow
def test_values_that_open_the_start_are_told():
    """A rod from the ground to a mass on a guide: the start is closed for one length alone."""
    along_x = ((0, 0, 1), (0, 1, 0), (-1, 0, 0))
    mass = Body("mass", 1.0, (0.01, 0.01, 0.01), position=(0.8, 0, 0))
    crank = Body("crank", 1.0, (0.01, 0.01, 0.01), position=(0, 0.6, 0))
    hinge = Revolute("hinge", Frame(GROUND), Frame.at(crank, (0, 0, 0)))
    guide = Prismatic("guide", Frame(GROUND, axes=along_x), Frame(mass, axes=along_x))
    rod = Distance("rod", Frame(crank), Frame(mass), Parameter("length", 1.0))
    dynamics = assemble(Mechanism([mass, crank], [hinge, guide, rod], "relative"))
    with pytest.warns(UserWarning, match="opens joint 'rod' as parameter 'length' changes"):
        best = design(
            dynamics,
            [Unknown("length", 1.0, 0.9, 1.1)],
            lambda y, p: p["length"],
            times=0.01,
            outputs=place,
            steps=StepBounds(1e-3, 1e-3),
        )
    found = re.search(
        r"'rod': it is open by (\S+) .*, with length = (\S+) \(simulation 2", best.message
    )
    assert found
    opened, length = map(float, found.groups())
    # A Distance states half of what its square is off, over the length.
    assert opened == pytest.approx((1 - length**2) / (2 * length), rel=5e-3)
    assert not best.converged
    assert np.all(np.isnan(best.values))


def test_bad_input_is_told(oscillator):
    options = {"times": 0.5, "outputs": place, "steps": StepBounds(1e-3, 1e-3)}
    known = [Unknown("stiffness", 30.0, 1.0, 40.0)]
    with pytest.raises(ValueError, match=r"unknown 'mass' is no parameter: one of stiffness"):
        design(oscillator, [Unknown("mass", 1, 0, 2)], lambda y, p: 1, **options)
    with pytest.raises(ValueError, match=r"cost must be one number, got shape \(2, 1\): sum"):
        design(oscillator, known, lambda y, p: ca.vertcat(y, y), **options)
    with pytest.raises(ValueError, match="given a value in parameters: leave it out"):
        design(oscillator, known, lambda y, p: 1, parameters={"stiffness": 2.0}, **options)
    with pytest.raises(ValueError, match="give at least one Unknown"):
        design(oscillator, [], lambda y, p: 1, **options)
    with pytest.raises(ValueError, match="guess of unknown 'k' must be within its bounds 1 and 2"):
        Unknown("k", 3.0, 1.0, 2.0)
    with pytest.raises(ValueError, match="bounds of unknown 'k' must be finite, lower below"):
        Unknown("k", 1.0, 2.0, 1.0)
    with pytest.raises(ValueError, match="most of limit 'end' must be finite, got inf"):
        Limit("end", lambda y, p: y, np.inf)
