"""A push against dry friction, against the best of its three phases in closed form."""

from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from scipy.optimize import minimize

from nsopt.problem import load_optimization
from nsopt.trajectory import IN_STEPS

BLOCK, FINGER, FRICTION, G = 1.0, 0.5, 0.3, 9.81
DRAG = FRICTION * BLOCK * G  # N
STEPS = 100

pytestmark = pytest.mark.slow


@cache
def push():
    return replace(load_optimization("push_block"), plan=IN_STEPS).solve(verify=True)


def least(mass, drag, way, before, after, time):
    """Least integral of F^2 over a way, between two speeds: F is linear in time."""
    A = np.array([[time, time**2 / 2], [time**2 / 2, time**3 / 6]])
    c = np.linalg.solve(A, [after - before, way - before * time])
    first, last = mass * c[0] + drag, mass * (c[0] + c[1] * time) + drag
    return time * (first**2 + first * last + last**2) / 3


def phases(x):
    """Run-up, push and release, by the time of each, the speed at impact and at release."""
    run, pushed, impact, release = x
    both = BLOCK + FINGER
    slid = release**2 / (2 * DRAG / BLOCK)
    rest = 1.0 - run - pushed
    ahead = max(release * rest - slid, 0.0)  # of the block, what the finger must fall back
    cost = least(FINGER, 0.0, 0.1, 0.0, impact, run)
    cost += least(both, DRAG, 0.3 - slid, FINGER / both * impact, release, pushed)
    return cost + 3 * (FINGER * ahead) ** 2 / rest**3


def test_it_costs_what_the_best_phases_cost():
    result = push()
    assert result.completed, result.stop_reason
    in_time = {"type": "ineq", "fun": lambda x: 1 - x[0] - x[1] - x[3] / (DRAG / BLOCK)}
    bounds = [(0.1, 0.8), (0.1, 0.8), (0.1, 5.0), (1e-3, 2.0)]
    guess = [0.25, 0.7, 1.2, 0.1]
    best = minimize(phases, guess, bounds=bounds, constraints=[in_time], method="SLSQP")
    assert best.success
    assert result.objective == pytest.approx(best.fun, rel=0.02)
    t, force = result["time"].values, result["contact_force"].values[:, 1, 0]
    assert t[np.argmax(np.abs(force) > 1e-3)] == pytest.approx(best.x[0], abs=0.02)


def test_momentum_and_rest():
    result = push()
    h = 1 / STEPS
    ground, tip = (result["contact_force"].values[1:, k, 0] for k in range(2))
    x, rail = result["q"].values[:, 0], result["q"].values[:, 3]
    first = np.argmax(np.abs(tip) > 1e-3)
    assert np.abs(x[: first + 1]).max() < 1e-9  # it waits for the finger
    gained = BLOCK * np.diff(x, 2) / h
    assert gained == pytest.approx((ground - tip)[1:] * h, abs=1e-9)
    assert np.all(np.abs(ground) <= DRAG + 1e-9)
    moves = np.diff(x) > 1e-6
    assert ground[moves] == pytest.approx(-DRAG, abs=1e-6)
    assert np.all(rail - x - 0.1 < 1e-9)  # the finger stays behind


def test_its_simulation_arrives():
    attrs = push().data.attrs
    assert attrs["resimulated_until"] == pytest.approx(1.0)
    assert attrs["resimulated_defect"] < 0.01
