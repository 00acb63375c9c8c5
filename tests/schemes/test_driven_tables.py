"""A table that a joint shakes: its driver's work in impacts, when bodies leave it and land."""

from functools import cache

import numpy as np
import pytest
from scipy.optimize import brentq

from nsopt import (
    GROUND,
    Acceptance,
    Body,
    Compiled,
    ContactAligned,
    Distance,
    Frame,
    Mechanism,
    MoreauJean,
    PlaneContact,
    Prismatic,
    Start,
    StepBounds,
    Variational,
    assemble,
    simulate,
)
from problems.slider_crank import slider_crank
from tests.schemes.models import G, Shaken, ball_on_piston

EXACT = Shaken(0.01, 50.0)
BALL, TABLE = 1.0, 5.0


@cache
def ball_on_table():
    """Return a ball on a table that an actuator of given length lifts and lowers."""
    up = EXACT.amplitude * EXACT.rate
    ball = Body("ball", BALL, point_mass=True, velocity=(0, 0, up))
    table = Body("table", TABLE, (1, 1, 1), velocity=(0, 0, up))
    top = Frame.at(table, (0, 0, 0))
    joints = [
        Prismatic("guide", Frame(GROUND), top),
        Distance("actuator", Frame(GROUND, (0, 0, -1)), top, lambda t: 1 + EXACT.floor(t)),
    ]
    floor = PlaneContact("floor", top, Frame(ball))
    return assemble(Mechanism([ball, table], joints, "relative"), [floor], (0, 0, -G))


def run(dynamics, duration, steps, scheme, start=None, **options):
    result = simulate(
        dynamics,
        start,
        duration,
        steps=steps,
        scheme=scheme,
        solver=Compiled(chunk=100),
        progress=False,
        **options,
    )
    assert result.completed, result.stop_reason
    return result


def heights(result):
    """Return the height of the ball over time."""
    return result["body_position"].sel(body="ball", axis="z").values


def test_the_ball_leaves_and_lands_when_it_does_in_closed_form():
    """Nothing is lost but in the impact, and none of the driver's work either."""
    result = run(ball_on_table(), 0.13, StepBounds(1e-4, 1e-4), ContactAligned())
    t, reason = result["time"].values, result["step_reason"].values
    left = t[np.flatnonzero(reason == "contact event: opening")[0]]
    landed = t[np.flatnonzero(reason == "contact event: closing")[0]]
    assert [left, landed] == pytest.approx([EXACT.left, EXACT.landed], abs=1e-8)
    assert heights(result) == pytest.approx(EXACT.height(t), abs=1e-9)
    loss = np.nansum(result["contact_loss"].values)
    assert loss == pytest.approx(BALL * EXACT.meets**2 / 2, rel=1e-8)
    assert np.all(result["retries"].values[1:] == 0)


@pytest.mark.slow
@pytest.mark.parametrize("scheme", [ContactAligned(), Variational(), MoreauJean()], ids=repr)
def test_energies_of_a_driven_mechanism_balance(scheme):
    """The motion of the table is given: what is left over falls with h^2, of MoreauJean with h.

    `ContactAligned` has the work of what moves with time to fourth order, where forces are steady.
    """
    order = {ContactAligned: 4, Variational: 2, MoreauJean: 1}[type(scheme)]
    off = []
    for h in (1e-3, 5e-4):
        result = run(ball_on_table(), 0.08, StepBounds(h, h), scheme)
        off.append(float(result["dissipated_energy"][-1]))
        assert np.all(result["retries"].values[1:] == 0)
    assert abs(off[0]) < {1: 6e-2, 2: 1e-4, 4: 1e-8}[order]
    assert abs(off[1]) < abs(off[0]) / 2**order * 1.3


def bounces(amplitude, rate, e, start, duration):
    """Return times of impact and energies lost per kilogram, of a ball thrown from a floor."""
    t, z, v = start

    def floor(x):
        return amplitude * np.sin(rate * x)

    def gap(x):
        return z + v * (x - t) - G * (x - t) ** 2 / 2 - floor(x)

    times, losses = [], []
    while True:
        grid = t + np.linspace(1e-6, 1.0, 20_001)
        k = int(np.argmax(gap(grid) < 0))
        hit = brentq(gap, grid[k - 1], grid[k], xtol=1e-15, rtol=1e-14)
        if hit > duration:
            return np.array(times), np.array(losses)
        z, v, t = floor(hit), v - G * (hit - t), hit
        wall = amplitude * rate * np.cos(rate * t)
        losses.append((1 - e**2) * (wall - v) ** 2 / 2)
        v = wall + e * (wall - v)
        times.append(t)


def test_a_bouncing_ball_loses_what_its_impacts_take():
    """Flights are exact, so times of impacts are to round-off, and energies balance to 1e-12 J."""
    A, w, e = 4e-3, 50.0, 0.6
    dynamics = ball_on_piston(amplitude=A, rate=w, e=e)
    start = Start(np.array([0, 0, 0.05]), np.zeros(3))
    result = run(dynamics, 1.0, StepBounds(1e-3, 1e-3), ContactAligned(), start=start)
    hits = result["step_reason"].values == "contact event: closing"
    times, losses = bounces(A, w, e, (0.0, 0.05, 0.0), 1.0)
    assert len(times) > 5
    assert result["time"].values[hits] == pytest.approx(times, abs=1e-10)
    lost = result["contact_loss"].values[hits, 0]
    assert lost == pytest.approx(2.0 * losses, rel=1e-8)
    balance = result["dissipated_energy"].values[-1] - np.nansum(result["contact_loss"].values)
    assert abs(balance) < 1e-12


@pytest.mark.parametrize("guide", ["floor", "driven"])
def test_energies_of_a_ball_on_a_shaken_table_balance_to_1e_12(guide):
    """All the way: carried, in flight, at the impact, carried again."""
    if guide == "floor":
        start = Start(np.zeros(3), np.array([0, 0, EXACT.amplitude * EXACT.rate]))
        dynamics = ball_on_piston(amplitude=EXACT.amplitude, rate=EXACT.rate)
        mass, h = 2.0, 1e-4
    else:
        dynamics, start, mass, h = ball_on_table(), None, BALL, 1e-4
    result = run(dynamics, 0.13, StepBounds(h, h), ContactAligned(), start=start)
    t, reason = result["time"].values, result["step_reason"].values
    left = int(np.flatnonzero(reason == "contact event: opening")[0])
    landed = int(np.flatnonzero(reason == "contact event: closing")[0])
    assert t[[left, landed]] == pytest.approx([EXACT.left, EXACT.landed], abs=1e-12)
    taken = np.nancumsum(result["contact_loss"].values[:, 0])
    assert result["dissipated_energy"].values == pytest.approx(taken, abs=1e-12)
    assert taken[landed:] == pytest.approx(mass * EXACT.meets**2 / 2, rel=1e-9)


@pytest.mark.slow
def test_where_forces_are_not_steady_energies_balance_to_second_order():
    """A spring pulls the ball to the floor: the halves of a step take its impulse to that order."""
    start = Start(np.zeros(3), np.array([0, 0, 0.005 * EXACT.rate]))
    off = []
    for h in (1e-3, 5e-4):
        dynamics = ball_on_piston(stiffness=2000.0, amplitude=0.005, rate=EXACT.rate)
        result = run(dynamics, 0.05, StepBounds(h, h), ContactAligned(), start=start)
        assert np.all(result["impulse"].values[1:] > 0)
        off.append(float(result["dissipated_energy"][-1]))
    assert abs(off[0]) < 1e-5
    assert off[0] / off[1] == pytest.approx(4, abs=0.1)


@pytest.mark.parametrize("e", [0.0, 0.8])
@pytest.mark.parametrize("rising", [0.0, 0.5])
def test_a_run_that_begins_with_an_impact(e, rising):
    """The ball comes at 1 m/s, or rests where the floor rises; it takes off with e of that."""
    d = ball_on_piston(amplitude=rising / EXACT.rate, rate=EXACT.rate, e=e)
    met = rising or 1.0
    start = Start(np.zeros(3), np.array([0, 0, rising - met]))
    result = run(d, 1e-3, StepBounds(1e-7, 1e-4), ContactAligned(), start=start)
    assert result["v"].values[1, 2] == pytest.approx(rising + e * met, abs=1e-5)
    lost = 2.0 * (1 - e**2) * met**2 / 2
    assert np.nansum(result["contact_loss"].values) == pytest.approx(lost, abs=1e-5)
    assert result["dissipated_energy"].values[-1] == pytest.approx(lost, abs=1e-5)


@pytest.mark.slow
def test_a_gain_of_the_step_equations_that_matters_to_nobody_is_taken():
    """Both the gain and its estimate fall with h^3: no h would help where the estimate is low."""
    strict, crank = Acceptance(energy=1e-6), slider_crank.model("relative")
    result = run(crank, 2e-3, StepBounds(1e-9, 1e-4), Variational(), acceptance=strict)
    assert result["h"].values[1:-1].min() > 3e-6
