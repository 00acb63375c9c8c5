"""Walls that move with time, over a horizon and in derivatives."""

from functools import cache

import numpy as np
import pytest

from nsopt import (
    ContactAligned,
    MoreauJean,
    PaperStep,
    Start,
    StepBounds,
    Variational,
    simulate,
)
from nsopt.trajectory import (
    IN_STEPS,
    Duration,
    Horizon,
    Simulated,
    StartAt,
    optimize,
    sensitivities,
)
from tests.schemes.models import G, Shaken, ball_on_piston
from tests.trajectory.differences import TIGHT, difference, named

MASS = 2.0
SPEED = 0.5
SHAKEN = Shaken(0.01, 50.0)
SCHEMES = [Variational(), PaperStep(), MoreauJean(), MoreauJean(project=True), ContactAligned()]
schemes = pytest.mark.parametrize("scheme", SCHEMES, ids=repr)


@cache
def simulated(up, duration, n, **values):
    """Return the ball, pressed at a speed, and a simulation of it."""
    d, steps = ball_on_piston("relative", **values), StepBounds(duration / n, duration / n)
    start = np.zeros(3), np.array([0, 0, up])
    options = {"steps": steps, "scheme": Variational(), "progress": False}
    return d, StartAt(*start), Simulated(simulate(d, Start(*start), duration, **options))


def horizon(scheme, up, duration, n, **values):
    """Return the only motion from a start, found from a simulation by another scheme."""
    d, start, guess = simulated(up, duration, n, **values)
    result = optimize(
        d, Horizon(duration, n), [Duration()], [start], guess, scheme=scheme, plan=IN_STEPS
    )
    assert result.completed, result.stop_reason
    return result


@schemes
def test_a_floor_that_rises_carries_the_weight(scheme):
    result = horizon(scheme, SPEED, 0.1, 10, speed=SPEED)
    t = result["time"].values
    assert result["q"].values[:, 2] == pytest.approx(SPEED * t, abs=1e-5)
    force = result["contact_force"].values[1:, 0, 2]
    assert force == pytest.approx(MASS * G, rel=1e-3)
    assert result["external_work"].values == pytest.approx(MASS * G * SPEED * t, abs=1e-4)


@pytest.mark.parametrize(
    "scheme", [*SCHEMES[:-1], pytest.param(SCHEMES[-1], marks=pytest.mark.slow)], ids=repr
)
def test_a_shaken_floor_throws_a_ball_when_it_falls_faster(scheme):
    """By then on a parabola; before that pressed with m (g - A w^2 sin(w t))."""
    h, up = 2e-3, SHAKEN.amplitude * SHAKEN.rate
    result = horizon(scheme, up, 0.1, 50, amplitude=SHAKEN.amplitude)
    t, z = result["time"].values, result["q"].values[:, 2]
    assert z == pytest.approx(SHAKEN.height(t), abs=1e-4)
    force, middle = result["contact_force"].values[1:, 0, 2], t[1:] - h / 2
    pushed = MASS * (G - up * SHAKEN.rate * np.sin(SHAKEN.rate * middle))
    on, off = t[1:] < SHAKEN.left, t[1:] > SHAKEN.left + 2 * h
    assert force[on] == pytest.approx(pushed[on], abs=0.15 * MASS * G)
    assert force[off] == pytest.approx(0, abs=1e-4)
    gained = np.diff(result["total_energy"].values[[0, -1]])
    first_order = 0.03 if isinstance(scheme, PaperStep) else 5e-4
    assert result["external_work"].values[-1] == pytest.approx(gained, abs=first_order)


@pytest.mark.parametrize(
    "scheme",
    [
        MoreauJean(),
        pytest.param(Variational(), marks=pytest.mark.slow),
        pytest.param(ContactAligned(), marks=pytest.mark.slow),
    ],
    ids=named,
)
def test_derivatives_by_how_the_floor_moves(scheme):
    """Pressed, in flight and landed again: as finite differences of the motion say."""
    times = [0.004, 0.05, 0.11]
    names = "speed", "amplitude", "rate"
    d, values = ball_on_piston(), {"speed": 0.1, "amplitude": 0.01, "rate": 50.0}

    def run(numbers):
        return sensitivities(
            d,
            Start(np.zeros(3), np.array([0, 0, 0.6])),
            times,
            steps=StepBounds(1e-3, 1e-3),
            scheme=scheme,
            by=names,
            by_start=False,
            parameters=numbers,
            newton=TIGHT,
        )

    prepared = run(values)
    forward = prepared.forward().parameters
    for k, name in enumerate(names):
        step = 1e-5 * values[name]
        exact = difference(lambda x, n=name: run(values | {n: x}).value, values[name], step)
        assert forward[:, :, k] == pytest.approx(exact, rel=1e-5, abs=1e-6 * np.abs(exact).max())
    weights = np.arange(1.0, 1 + prepared.value.size).reshape(prepared.value.shape)
    backward = prepared.adjoint(weights).parameters
    assert backward == pytest.approx(np.einsum("nm,nmp->p", weights, forward), rel=1e-9)


@pytest.mark.slow
def test_the_time_of_take_off_moves_along():
    """Height in flight by amplitude and rate of the floor, in closed form."""
    up = SHAKEN.amplitude * SHAKEN.rate
    prepared = sensitivities(
        ball_on_piston(),
        Start(np.zeros(3), np.array([0, 0, up])),
        0.05,
        steps=StepBounds(1e-4, 1e-4),
        scheme=ContactAligned(),
        by=("amplitude", "rate"),
        by_start=False,
        parameters={"amplitude": SHAKEN.amplitude},
    )
    assert prepared.value[0, 2] == pytest.approx(SHAKEN.height(0.05), abs=1e-9)
    by_amplitude = difference(lambda x: Shaken(x, SHAKEN.rate).height(0.05), 0.01, 1e-5)
    by_rate = difference(lambda x: Shaken(SHAKEN.amplitude, x).height(0.05), 50.0, 1e-3)
    known = np.array([by_amplitude, by_rate])
    assert prepared.forward().parameters[0, 2] == pytest.approx(known, rel=1e-6)
