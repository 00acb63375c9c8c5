"""Steps of a motion by polynomials, reintegrated under the same forces."""

import signal
import sys
from dataclasses import dataclass
from functools import cache

import casadi as ca
import numpy as np
import pytest

from nsopt import (
    GROUND,
    Actuator,
    Body,
    Frame,
    Mechanism,
    Prismatic,
    Revolute,
    assemble,
)
from nsopt.interrupt import forget
from nsopt.mechanics import Force, Load
from nsopt.trajectory import Effort, EndAt, Horizon, Quintic, StartAt, optimize

REINTEGRATION = sys.modules["nsopt.trajectory.verification.reintegration"]


@dataclass(frozen=True, eq=False)
class Drag(Force):
    """Against the velocity, in proportion to its square."""

    name: str
    frame: Frame
    c: float

    @property
    def frames(self):
        return (self.frame,)

    def loads(self, s):
        m = s.motion(self.frame)
        return [Load(m.v, -self.c * m.v * ca.sqrt(ca.sumsqr(m.v) + 1e-18))]


@cache
def sled(length, steps, **options):
    """A sled that goes so far [m] in a second, its drag of the same part of its inertia."""
    body = Body("sled", 1.0, (0.1, 0.1, 0.1))
    rail = Prismatic("rail", Frame(GROUND), Frame(body))
    motor = [Actuator("rail")]
    drag = Drag("drag", Frame(body), 40.0 / length)
    dynamics = assemble(Mechanism([body], [rail], "relative", motor), [drag])
    ends = [StartAt([0.0], [0.0]), EndAt([length], [0.0])]
    horizon = Horizon(1.0, steps, **options)
    # Of a size of one, whatever the length.
    return optimize(dynamics, horizon, [Effort(weight=length**-2)], ends, Quintic([0.0], [length]))


@pytest.mark.parametrize("length", [1e-2, 1.0, 1.2e3])
@pytest.mark.parametrize(("steps", "resolved"), [(4, False), (24, True)])
def test_motions_that_are_alike_are_resolved_alike(length, steps, resolved):
    """The equations of one length over another are the same, whatever the lengths are."""
    result = sled(length, steps)
    assert result.completed == resolved
    if resolved:  # else with a cost of bends, by the size of the guess
        one = sled(1.0, steps).data.attrs["defect"]
        assert result.data.attrs["defect"] / length == pytest.approx(one, rel=0.1, abs=2e-6)


def test_a_limit_that_is_stated_is_one_of_metres():
    size = sled(1.2e3, 24).data.attrs["defect"]
    assert sled(1.2e3, 24, defect=2 * size).completed
    refused = sled(1.2e3, 24, defect=size / 2)
    assert not refused.completed
    assert "rail.distance" in refused.stop_reason


def pendulum(duration):
    body = Body("rod", 1.0, (0.01, 0.02, 0.02), position=(0.25, 0.0, 0.0))
    hinge = Revolute("hinge", Frame(GROUND), Frame.at(body, (0.0, 0.0, 0.0)))
    motor = [Actuator("hinge")]
    dynamics = assemble(Mechanism([body], [hinge], "relative", motor), gravity=(0.0, -9.81, 0.0))
    ends = [StartAt([-1.5], [0.0]), EndAt([1.0], [0.0])]
    return optimize(dynamics, Horizon(duration, 2), [Effort()], ends, Quintic([-1.5], [1.0]))


def test_steps_of_hours_end_the_search():
    """A duration typed in milliseconds: in one step a pendulum swings a thousand times."""
    result = pendulum(9e4)
    assert not result.completed
    assert "its steps are not resolved" in result.stop_reason


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_the_reintegration(number, monkeypatch):
    """What was found is kept, and is not said to be resolved."""
    parabola, calls = REINTEGRATION.quadratic, []

    def pressed(values, s):
        calls.append(s)
        if len(calls) == 20:
            signal.raise_signal(number)
        return parabola(values, s)

    monkeypatch.setattr(REINTEGRATION, "quadratic", pressed)
    try:
        result = pendulum(9e4)
        assert result.interrupted
        assert not result.completed
        assert len(calls) == 20
        assert np.isnan(result.data.attrs["defect"])
    finally:
        forget()
