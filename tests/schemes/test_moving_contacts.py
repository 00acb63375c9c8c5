"""Walls that move with time: what lies on them is carried, and their work is on record."""

import numpy as np
import pytest

from nsopt import (
    Body,
    Compiled,
    ContactAligned,
    Frame,
    Mechanism,
    MoreauJean,
    PoissonImpact,
    Solver,
    Sqp,
    Start,
    StepBounds,
    Variational,
    assemble,
    simulate,
)
from tests.catalog import CLEARANCES, CONTACTS, RUBBING, SCHEMES
from tests.schemes.models import G, Shaken, ball_on_piston

schemes = pytest.mark.parametrize("scheme", SCHEMES, ids=repr)
MASS = 2.0
SPEED = 0.5
SHAKEN = Shaken(0.01, 50.0)  # A w^2 = 2.5 g


def run(dynamics, start, duration, h, scheme, **parameters):
    result = simulate(
        dynamics,
        start,
        duration,
        steps=StepBounds(h, h),
        scheme=scheme,
        solver=Solver(backend=Sqp()) if scheme.chooses_h else Compiled(chunk=100),
        parameters=parameters,
        progress=False,
    )
    assert result.completed, result.stop_reason
    return result


def at(z, up):
    return Start(np.array([0, 0, z]), np.array([0, 0, up]))


def sinks(scheme):
    return isinstance(scheme, MoreauJean) and not scheme.project


@pytest.mark.unit
@pytest.mark.parametrize("row", CLEARANCES + CONTACTS + RUBBING, ids=lambda row: row.name)
@pytest.mark.parametrize("coordinates", ["absolute", "relative"])
def test_walls_that_stand_still_add_nothing_to_the_equations(row, coordinates):
    """No entry that is zero only in numbers."""
    one, other = (Body(name, 1.0, (0.1, 0.2, 0.2)) for name in ("one", "other"))
    contact = row.build(Frame(one), Frame(other))
    d = assemble(Mechanism([one, other], coordinates=coordinates), [contact])
    assert d.gap_drift.nnz_out(0) == 0
    assert d.slip_drift.nnz_out(0) == 0


@schemes
def test_a_floor_that_rises_carries_the_weight(scheme):
    result = run(ball_on_piston(), at(0, SPEED), 0.2, 2e-3, scheme, speed=SPEED)
    t = result["time"].values
    assert result["q"].values[:, 2] == pytest.approx(SPEED * t, abs=1e-12)
    assert result["contact_force"].values[1:, 0, 2] == pytest.approx(MASS * G, rel=1e-9)
    assert result["external_work"].values == pytest.approx(MASS * G * SPEED * t, abs=1e-9)
    assert result["dissipated_energy"].values == pytest.approx(0, abs=1e-9)
    assert np.all(result["retries"].values[1:] == 0)


def meeting(z=1e-3):
    """Return the time at which a ball dropped from z meets the rising floor, and how fast."""
    met = (-SPEED + np.sqrt(SPEED**2 + 2 * G * z)) / G
    return met, SPEED + G * met


@schemes
def test_a_floor_that_rises_meets_a_ball_that_falls(scheme):
    """e = 0: from then on it is carried, after the loss of m u^2 / 2 at the relative speed u."""
    h = 2e-4
    result = run(ball_on_piston(), at(1e-3, 0), 0.05, h, scheme, speed=SPEED)
    met, u = meeting()
    t, z = result["time"].values, result["q"].values[:, 2]
    exact = np.where(t < met, 1e-3 - G * t**2 / 2, SPEED * t)
    assert np.abs(z - exact).max() < h * u
    late = t > met + 1e-3
    assert result["contact_force"].values[late, 0, 2] == pytest.approx(MASS * G, rel=1e-6)
    loss = np.nansum(result["contact_loss"].values)
    assert loss == pytest.approx(MASS * u**2 / 2, rel=0.03)
    assert result["dissipated_energy"].values[-1] == pytest.approx(loss, rel=0.05)


@pytest.mark.parametrize(
    "scheme",
    [
        Variational(),
        MoreauJean(),
        MoreauJean(project=True),
        ContactAligned(),
        ContactAligned(impact=PoissonImpact()),
    ],
    ids=repr,
)
def test_a_ball_rebounds_from_the_velocity_of_the_floor(scheme):
    """At the relative speed u it leaves at V + e u, with the work m (1 + e) u V of the floor."""
    e, h = 0.5, 1e-4
    result = run(ball_on_piston(), at(1e-3, 0), 8e-3, h, scheme, speed=SPEED, e=e)
    met, u = meeting()
    t, v = result["time"].values, result["v"].values[:, 2]
    k = int(np.argmax(result["impulse"].values[:, 0] > 0))
    off = 1e-9 if isinstance(scheme, ContactAligned) else 3 * G * h
    assert v[k] + G * (t[k] - met) == pytest.approx(SPEED + e * u, abs=off)
    work = result["external_work"].values[k]
    assert work == pytest.approx(MASS * (1 + e) * u * SPEED, abs=2 * MASS * off)
    loss = np.nansum(result["contact_loss"].values[: k + 1])
    assert loss == pytest.approx(MASS * (1 - e**2) * u**2 / 2, abs=2 * MASS * off)


@schemes
def test_a_shaken_floor_throws_a_ball_when_it_falls_faster(scheme):
    """The phase of take-off is arcsin(g / (A w^2)); then a parabola, until the floor is back."""
    h, exact = 5e-4 if scheme.chooses_h else 1e-4, SHAKEN
    start, T = at(0, exact.amplitude * exact.rate), 0.13
    result = run(ball_on_piston(), start, T, h, scheme, amplitude=exact.amplitude)
    t, z = result["time"].values, result["q"].values[:, 2]
    force = result["contact_force"].values[:, 0, 2]
    pressed = np.nan_to_num(force) > 1e-3
    on = pressed & (t < exact.left)
    back = t[np.argmax(pressed & (t > exact.left + 0.01))]
    aligned = isinstance(scheme, ContactAligned)
    assert t[on][-1] == pytest.approx(exact.left, abs=1e-9 if aligned else h)
    assert back == pytest.approx(exact.landed, abs=1e-9 if aligned else h)
    placed = 1e-9 if aligned else h * exact.meets if sinks(scheme) else 2e-5
    assert z == pytest.approx(exact.height(t), abs=placed)
    middle = (t - result["h"].values / 2)[on]
    pushed = MASS * (G - exact.amplitude * exact.rate**2 * np.sin(exact.rate * middle))
    assert force[on] == pytest.approx(pushed, abs=(0.1 if scheme.chooses_h else 1e-5) * MASS * G)
    loss = np.nansum(result["contact_loss"].values)
    assert loss == pytest.approx(MASS * exact.meets**2 / 2, rel=1e-6 if aligned else 3e-3)
    assert result["dissipated_energy"].values[-1] == pytest.approx(
        loss, rel=1e-6 if aligned else 2e-3
    )
    assert np.all(result["retries"].values[1:] == 0)
