"""Friction, damping and limits that a robot's file states act on its motion."""

import numpy as np
import pytest

from nsopt import (
    Actuator,
    Body,
    Compiled,
    CubicLaw,
    Frame,
    Mechanism,
    Prismatic,
    Revolute,
    StepBounds,
    Variational,
    assemble,
    simulate,
)
from nsopt.mechanics import Start
from nsopt.robots import resistances


def turning(**numbers):
    wheel = Body("wheel", 1.0, (0.02, 0.02, 0.02))
    joint = Revolute("axle", Frame(None), Frame(wheel))
    return Mechanism([wheel], [joint], "relative", [Actuator("axle", **numbers)])


def sliding(**numbers):
    cart = Body("cart", 2.0, (0.02, 0.02, 0.02))
    joint = Prismatic("rail", Frame(None), Frame(cart))
    return Mechanism([cart], [joint], "relative", [Actuator("rail", **numbers)])


def rates(mechanism, speed, duration, stop=None):
    d = assemble(mechanism, resistances(mechanism, stop))
    start = Start(np.zeros(1), np.array([speed]))
    data = simulate(
        d,
        start,
        duration,
        steps=StepBounds(1e-3, 1e-3),
        scheme=Variational(),
        solver=Compiled(),
        progress=False,
    ).data
    return data["time"].values, data["v"].values[:, 0], data["q"].values[:, 0]


@pytest.mark.parametrize(("robot", "inertia"), [(turning, 0.02), (sliding, 2.0)])
def test_damping_slows_by_an_exponential(robot, inertia):
    t, v, _ = rates(robot(damping=0.5 * inertia), 3.0, 1.0)
    assert v == pytest.approx(3 * np.exp(-0.5 * t), abs=1e-6)


@pytest.mark.parametrize(("robot", "inertia"), [(turning, 0.02), (sliding, 2.0)])
def test_friction_slows_evenly_and_stops(robot, inertia):
    t, v, _ = rates(robot(friction=2.0 * inertia), 1.0, 1.0)
    assert v == pytest.approx(np.maximum(1 - 2 * t, 0), abs=5e-3)


def test_rotor_adds_its_inertia_by_the_square_of_the_ratio():
    t, v, _ = rates(turning(damping=0.05, rotor_inertia=3e-6, gear_ratio=100.0), 1.0, 1.0)
    assert v == pytest.approx(np.exp(-t), abs=1e-6)  # 0.02 + 0.03 kg m^2


@pytest.mark.parametrize("robot", [turning, sliding])
def test_stops_turn_the_motion_round(robot):
    mechanism = robot(lower=-0.1, upper=0.1)
    stops = {mechanism.joints[0].name: CubicLaw(200.0, 0.1)}
    _, v, q = rates(mechanism, 1.0, 1.0, stops)
    assert -0.2 < q.min() < -0.1 < 0.1 < q.max() < 0.2
    assert np.abs(v).max() == pytest.approx(1.0, abs=1e-4)


def test_without_a_law_there_are_no_stops():
    mechanism = turning(lower=-0.1, upper=0.1, damping=1.0)
    assert [e.name for e in resistances(mechanism)] == ["axle_damping"]
    assert [e.name for e in resistances(mechanism, CubicLaw(1.0, 0.1))][-1] == "axle_stop"


def test_ranges_near_a_full_turn_have_no_stop_and_say_so():
    with pytest.warns(UserWarning, match="no stop in axle: their ranges come within"):
        found = resistances(turning(lower=-2.9, upper=2.9, damping=1.0), CubicLaw(1.0, 0.1))
    assert [type(x) for x in found] == [type(resistances(turning(damping=1.0))[0])]


def test_a_law_for_a_joint_without_limits_is_refused():
    with pytest.raises(ValueError, match="given for joint 'axle', which has no two limits"):
        resistances(turning(damping=1.0), {"axle": CubicLaw(1.0, 0.1)})
