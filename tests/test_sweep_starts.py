"""Problems whose start depends on parameters: the speed of a driven joint can be swept."""

import numpy as np
import pytest

from nsopt import (
    GROUND,
    Body,
    Driven,
    Frame,
    Grid,
    Mechanism,
    Parameter,
    Problem,
    Revolute,
    Start,
    StepBounds,
    assemble,
)
from tests.sweeps import run

INERTIA, SPEEDS = 0.02, [3.0, 4.0, 5.0]


def rotor(start_at):
    body = Body("rotor", 1.0, (0.01, 0.01, INERTIA))
    bearing = Revolute("bearing", Frame(GROUND), Frame(body))
    motor = Driven("motor", bearing, Parameter("speed", 3.0))
    d = assemble(Mechanism([body], [bearing, motor], "relative"))
    return Problem(d, 0.01, StepBounds(1e-3, 1e-3), start_at=start_at(d))


def turning(d):
    return lambda values: Start.named(d, {}, {"bearing": values["speed"]})


def test_each_point_starts_at_its_own_speed():
    problem = rotor(turning)
    measure = {"kinetic": lambda result: result["kinetic_energy"].values[-1]}
    data = run(problem, Grid({"speed": SPEEDS}), measure=measure)
    assert np.all(data["completed"] == 1)
    assert data["kinetic"].values == pytest.approx(INERTIA * np.square(SPEEDS) / 2, rel=1e-12)


def test_stated_values_where_none_are_given():
    problem = rotor(turning)
    assert problem.at({}).start.v == [3.0]
    assert problem.at({"speed": 7.0, "h": 1.0}).start.v == [7.0]
    assert problem.at({"speed": 7.0}) is problem.at({"speed": 7.0, "h": 2.0})


def test_refusals():
    with pytest.raises(TypeError, match="start_at of a Problem must return a Start, got 3"):
        rotor(lambda d: lambda values: 3).at({})
    problem = rotor(turning)
    with pytest.raises(ValueError, match="start or start_at, got both"):
        Problem(
            problem.dynamics, 1.0, problem.steps, problem.at({}).start, start_at=problem.start_at
        )
