"""A search that ends without a motion begins anew from other starts."""

import numpy as np
import pytest

from nsopt import GROUND, Actuator, Body, Frame, Mechanism, Revolute, assemble
from nsopt.trajectory import (
    ActuatorLimits,
    Duration,
    EndAt,
    Horizon,
    Quintic,
    Smoothness,
    StartAt,
    optimize,
)

WEIGHT, ARM, G = 1.0, 1.0, 9.81


def swung_up(effort, duration):
    """A pendulum brought upright: the weight alone asks for WEIGHT G ARM = 9.81 N m."""
    ball = Body("ball", WEIGHT, (1e-9,) * 3, position=(0, -ARM, 0))
    hinge = Revolute("h", Frame(GROUND), Frame.at(ball, (0, 0, 0)))
    mechanism = Mechanism([ball], [hinge], "relative", [Actuator("h", effort=effort)])
    ends = [StartAt([0.0], [0.0]), EndAt([np.pi], [0.0])]
    return optimize(
        assemble(mechanism, gravity=(0, -G, 0)),
        Horizon(duration, 60),
        [Duration(), Smoothness(weight=1e-5)],
        [*ends, ActuatorLimits()],
        Quintic([0.0], [np.pi]),
    )


@pytest.mark.slow
@pytest.mark.parametrize("effort", [1.3, 2.0, 3.5])
def test_a_weak_drive_swings_a_pendulum_up(effort):
    """The work of its drive on the whole way is at least the energy 2 m g l that is gained."""
    best = swung_up(effort, (0.5, 12.0))
    assert best.completed, best.stop_reason
    assert "other_start" in best.data.attrs
    assert np.sum(np.abs(np.diff(best["q"].values[:, 0]))) > 2 * WEIGHT * G * ARM / effort
    assert best["q"].values[-1, 0] == pytest.approx(np.pi, abs=1e-6)


@pytest.mark.slow
def test_what_cannot_be_is_found_from_no_start():
    """2 N m and the weight, at most 9.81 N m, turn 1 kg m^2 by less than pi and stop it in 1 s."""
    best = swung_up(2.0, (0.5, 1.0))
    assert not best.completed
    assert "other_start" not in best.data.attrs
