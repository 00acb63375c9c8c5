"""Lyapunov exponents of systems that have them in closed form, and of a chaotic one."""

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from nsopt import (
    GROUND,
    AppliedTorque,
    Body,
    ContactAligned,
    ContactLaw,
    Frame,
    Mechanism,
    PlaneContact,
    Revolute,
    Start,
    StepBounds,
    TorsionSpringDamper,
    assemble,
)
from nsopt.analysis import lyapunov
from tests.analysis.bouncing import DOUBLING, at_the_top, model, multipliers
from tests.analysis.bouncing import PERIOD as BOUNCE

DRAG, PUSH, RATE = 0.5, 1.5, 2 / 3
PERIOD = 2 * np.pi / RATE


def pendulum(push, up=False):
    """th'' + DRAG th' + sin(th) = push cos(RATE t); ``up``: with -sin."""
    bob = Body("bob", 1.0, (1e-9,) * 3, position=(0, 1.0 if up else -1.0, 0))
    at = Frame(GROUND), Frame.at(bob, (0, 0, 0))
    damper = TorsionSpringDamper("damper", *at, 0.0, damping=DRAG)
    drive = AppliedTorque("drive", Frame(bob), lambda t: (0, 0, push * np.cos(RATE * t)))
    pivot = Revolute("pivot", *at)
    return assemble(Mechanism([bob], [pivot], "relative"), [damper, drive], (0, -1.0, 0))


@pytest.mark.slow
def test_of_an_equilibrium_they_are_the_eigenvalues():
    rest = Start(np.zeros(1), np.zeros(1))
    h = 5e-3
    found = lyapunov(
        pendulum(0.0, up=True),
        rest,
        20.0,
        interval=2.0,
        settle=20.0,
        steps=StepBounds(h, h),
        count=2,
    )
    root = np.sqrt(DRAG**2 / 4 + 1)
    assert found.exponents == pytest.approx([-DRAG / 2 + root, -DRAG / 2 - root], rel=1e-4)
    assert found.running.shape == (10, 2)
    assert found.end.t == pytest.approx(40.0)


@pytest.mark.slow
def test_a_ball_that_bounces_without_loss_has_none():
    """Its period grows with its height, so that neighbours part in proportion to time."""
    body = Body("ball", 1.0, point_mass=True, position=(0, 0, 0.1))
    floor = PlaneContact("floor", Frame(GROUND), Frame(body), law=ContactLaw(restitution=1.0))
    d = assemble(Mechanism([body], coordinates="relative"), [floor], (0, 0, -9.81))
    start = Start(np.array([0, 0, 0.1]), np.zeros(3))
    found = lyapunov(
        d, start, 40.0, interval=0.7, steps=StepBounds(1e-2, 1e-2), scheme=ContactAligned()
    )
    assert 0 < found.exponents[0] < 2 * np.log(1 + 40.0 * 40) / 40


@pytest.mark.slow
def test_of_a_bounce_that_has_doubled_its_period():
    """The bounce of one period is unstable: its larger multiplier is above one in size."""
    amplitude = 1.1 * DOUBLING
    found = lyapunov(
        model(amplitude),
        at_the_top(amplitude),
        10 * BOUNCE,
        interval=BOUNCE,
        settle=5 * BOUNCE,
        steps=StepBounds(BOUNCE / 7, BOUNCE / 7),
        scheme=ContactAligned(),
    )
    most = np.abs(multipliers(amplitude)).max()
    assert most > 1.5
    assert found.exponents[0] == pytest.approx(np.log(most) / BOUNCE, rel=1e-3)


def by_variation(periods, settle, start):
    """Exponents by an integrator of the equations and of their variation."""

    def rates(t, y):
        th, v, a, b, c, e = y
        push = PUSH * np.cos(RATE * t)
        return [
            *(v, -DRAG * v - np.sin(th) + push),
            *(b, -DRAG * b - np.cos(th) * a, e, -DRAG * e - np.cos(th) * c),
        ]

    y, vectors, grown = np.array(start), np.eye(2), np.zeros(2)
    for k in range(settle + periods):
        begin = [*y, *vectors.T.ravel()]
        times = (k * PERIOD, (k + 1) * PERIOD)
        end = solve_ivp(rates, times, begin, "DOP853", rtol=1e-9, atol=1e-9).y[:, -1]
        y, (vectors, sizes) = end[:2], np.linalg.qr(end[2:].reshape(2, 2).T)
        if k >= settle:
            grown += np.log(np.abs(np.diag(sizes)))
    return grown / (periods * PERIOD)


@pytest.mark.slow
def test_of_the_driven_pendulum_in_chaos():
    """Their sum is the rate at which volume shrinks, exactly; each to what an average allows."""
    count, start, h = 500, [0.2, 0.0], PERIOD / 400
    found = lyapunov(
        pendulum(PUSH),
        Start(np.array(start[:1]), np.array(start[1:])),
        count * PERIOD,
        interval=PERIOD,
        settle=50 * PERIOD,
        steps=StepBounds(h, h),
        count=2,
    )
    assert found.exponents.sum() == pytest.approx(-DRAG, rel=1e-3)
    expected = by_variation(count, 50, start)
    assert found.exponents == pytest.approx(expected, abs=0.01)
    assert found.exponents[0] > 0.1


@pytest.mark.unit
def test_what_has_no_exponents_is_refused():
    body = Body("body", 1.0, (1, 1, 1))
    free, steps = assemble(Mechanism([body])), StepBounds(1e-3, 1e-3)
    with pytest.raises(ValueError, match="coordinates='relative'"):
        lyapunov(free, interval=0.1, steps=steps)
    with pytest.raises(ValueError, match="count must be from 1 to 2, got 3"):
        lyapunov(pendulum(0.0), interval=0.1, steps=steps, count=3)
    with pytest.raises(ValueError, match="interval must be above 0"):
        lyapunov(pendulum(0.0), interval=2.0, steps=steps)
