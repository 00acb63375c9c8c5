"""Optima through compliant contacts that the guess does not touch, by Pontryagin's conditions."""

import json

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.optimize import root

from nsopt import (
    GROUND,
    Actuator,
    Body,
    CompliantContact,
    Frame,
    Hertz,
    Mechanism,
    Parameter,
    PlaneContact,
    Prismatic,
    assemble,
)
from nsopt.trajectory import Effort, EndAt, Horizon, Optimization, Quintic, StartAt, Through

CART, PUCK, K, GAP = 1.0, 0.5, 200.0, 0.05


def spring(a, b, stiffness):
    face = PlaneContact("face", Frame(a), Frame(b))
    return CompliantContact("spring", face, Hertz(stiffness, exponent=1.0))


def thrown(steps):
    """A driven cart that throws a free puck: after 1 s the puck is 1 m on, at 2 m/s."""
    cart, puck = Body("cart", CART, (1,) * 3), Body("puck", PUCK, (1,) * 3, position=(0, 0, GAP))
    rails = [
        Prismatic("rail", Frame(GROUND), Frame(cart)),
        Prismatic("way", Frame(GROUND, (0, 0, GAP)), Frame(puck)),
    ]
    mechanism = Mechanism([cart, puck], rails, "relative", [Actuator("rail")])
    ends = [StartAt([0, 0], [0, 0]), EndAt([np.nan, 1.0], [0.0, 2.0])]
    dynamics = assemble(mechanism, [spring(cart, puck, K)])
    return Optimization(dynamics, Horizon(1.0, steps), [Effort()], ends, Quintic([0, 0], [0.5, 1]))


def least_throw():
    """Its least effort: u = -b/(2 m), costates continuous, for the force of the spring is."""

    def rate(pressed):
        k = K * pressed

        def f(_, y):
            x, X, v, V, a, A, b, B = y[:8]
            u, F, s = -b / 2 / CART, k * (x - X - GAP), k * (b / CART - B / PUCK)
            return [v, V, (u - F) / CART, F / PUCK, s, -s, -a, -A, u**2]

        return f

    def depth(_, y):
        return y[0] - y[1] - GAP

    def end(costates):
        t, y, pressed = 0.0, np.array([0, 0, 0, 0, *costates, 0.0]), False
        depth.terminal = True
        while t < 1.0:
            depth.direction = -1 if pressed else 1
            s = solve_ivp(
                rate(pressed), (t, 1.0), y, events=depth, method="DOP853", rtol=1e-10, atol=1e-12
            )
            t, y, pressed = float(s.t[-1]), s.y[:, -1], not pressed
        return y

    def miss(costates):
        y = end(costates)
        return [y[4], y[1] - 1.0, y[2], y[3] - 2.0]

    found = root(miss, [50.0, -60.0, 7.0, -20.0], tol=1e-11)
    assert found.success
    return end(found.x)[-1]


@pytest.mark.slow
def test_a_puck_that_the_guess_does_not_touch_is_thrown_at_least_effort():
    result = thrown(100).solve()
    assert result.completed, result.stop_reason
    assert result.objective == pytest.approx(least_throw(), rel=2e-4)
    assert result["gap"].values.min() < -0.05
    assert set(json.loads(result.data.attrs["parameters"])) == set()


@pytest.mark.slow
def test_a_wall_that_the_guess_does_not_reach_is_used_where_that_costs_less():
    """Thrown at a wall and back in 1.8 s: 2.2222 without it, 0.96155 (Pontryagin) by it."""
    mass = Body("mass", 1.0, (1.0,) * 3)
    rail = Prismatic("rail", Frame(GROUND), Frame(mass))
    on_rail = Mechanism([mass], [rail], "relative", [Actuator("rail")])
    result = Optimization(
        assemble(on_rail, [spring(GROUND, mass, 100.0)]),
        Horizon(1.8, 100),
        [Effort()],
        [StartAt([1.0], [-1.0]), EndAt([1.0], [1.0])],
        Through([[1.0], [0.1], [1.0]]),
    ).solve()
    assert result.completed, result.stop_reason
    assert result.objective == pytest.approx(0.9615487, rel=1e-4)


@pytest.mark.parametrize(
    ("reach", "says"),
    [(-1e-3, "reach of .*not be negative"), (Parameter("far", 0.0), "reach of .*leave it out")],
)
def test_reach_out_of_range_is_refused(reach, says):
    face = PlaneContact("face", Frame(GROUND), Frame(Body("ball", 1.0, (1, 1, 1))))
    with pytest.raises(ValueError, match=says):
        CompliantContact("soft", face, Hertz(1e6), reach=reach)
