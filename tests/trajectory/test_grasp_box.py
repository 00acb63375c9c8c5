"""Two fingers that lift a box by friction with a margin, against the best of its three phases.

The fingers close; the hand leans on the box, as friction may carry a part of its weight; both rise.
"""

import runpy
from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from scipy.optimize import minimize

from nsopt.problem import find_problem, load_optimization
from nsopt.trajectory import PLAN, ExactContacts, Quintic, Through

G = 9.81
pytestmark = pytest.mark.slow
UP, HELD = np.array([0.15, 0, 0.15, 0, 0, 0]), np.array([0, 0, 0, 0, 0.02, 0.02])
GUESSES = {
    "straight up, open": Quintic(end=UP),
    "straight up, closing": Quintic(end=UP + HELD),
    "closed, then up": Through([0 * HELD, HELD, UP + HELD], [0.0, 0.3, 1.0]),
}
FEW_TRIALS = PLAN.with_others(ExactContacts(trials=1))


def find_least_cost():
    """Return the least cost over when the fingers have closed, and how long the box rises."""
    x = runpy.run_path(str(find_problem("grasp_box")))
    alone, share = x["HAND"] + 2 * x["FINGER"], (1 - x["MARGIN"]) * x["FRICTION"]
    # What 1 N of friction of both fingers costs: each presses by 1 / (2 share).
    of_friction = 2 * (1 + x["SQUEEZE"]) / (2 * share) ** 2
    both = (alone + x["BOX"]) ** 2 + of_friction * x["BOX"] ** 2
    leaning = (alone * G) ** 2 * of_friction / (1 + of_friction)

    def cost(times):
        closing, rise = times
        closed = (alone * G) ** 2 * closing + 24 * (x["FINGER"] * x["OPEN"]) ** 2 / closing**3
        risen = both * (G**2 * rise + 12 * x["LIFT"] ** 2 / rise**3)
        return closed + leaning * (x["DURATION"] - closing - rise) + risen

    return minimize(cost, [0.1, 0.3], tol=1e-12, bounds=[(0.01, 0.5)] * 2).fun


@cache
def grasp(guess):
    return replace(load_optimization("grasp_box"), guess=GUESSES[guess], plan=FEW_TRIALS).solve()


@pytest.mark.parametrize("guess", GUESSES)
def test_it_costs_what_the_best_phases_cost_from_any_guess(guess):
    best = grasp(guess)
    assert best.completed, best.stop_reason
    assert best.objective == pytest.approx(find_least_cost(), rel=1e-6)
    assert best.data.attrs["borders"].size == 4  # each of the three phases lasts


def test_friction_stays_below_its_limit_by_the_margin():
    best = grasp("straight up, open")
    # As impulses of steps: a phase that hardly lasts has forces of round-off.
    impulse = best["contact_force"].values[1:, [0, 2]] * best["h"].values[1:, None, None]
    normal, friction = np.abs(impulse[:, :, 0]), np.abs(impulse[:, :, 2])
    assert friction == pytest.approx(0.8 * 0.5 * normal, abs=1e-6)  # it is at this limit
