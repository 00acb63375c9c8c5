"""Guesses: what is known of quintics and free fall, derivatives that fit, starts beside another."""

import json
from dataclasses import dataclass

import numpy as np
import pytest
from numpy.polynomial import Polynomial

from nsopt import Body, Frame, Mechanism, Prismatic, StepBounds, Variational, assemble, simulate
from nsopt.trajectory import (
    ActuatorLimits,
    ClearOf,
    Duration,
    Earlier,
    Effort,
    EndAt,
    Guess,
    Horizon,
    Optimization,
    Perturbed,
    Quintic,
    Simulated,
    StartAt,
    Straight,
    Trajectory,
    multi_start,
    optimize,
)
from tests.trajectory.mechanisms import UNIT, ball_at, cart, gantry

BOUNDS = (2.0, 2.0)
FINE = np.linspace(0, 1, 2001)


def check_slopes(trajectory):
    """v and a are the derivatives of q."""
    t = FINE * trajectory.duration
    for x, slope in ((trajectory.q, trajectory.v), (trajectory.v, trajectory.a)):
        differences = np.gradient(x, t, axis=0)[1:-1]
        assert differences == pytest.approx(slope[1:-1], abs=1e-4)


def test_the_quintic_has_least_jerk():
    """720 way^2 / T^5; no other motion with these ends has less."""
    trajectory = Quintic([0.0, 1.0], [1.0, -1.0]).trajectory(FINE, BOUNDS, ())
    check_slopes(trajectory)
    t = 2 * FINE
    jerk = np.gradient(trajectory.a, t, axis=0, edge_order=2)
    least = np.trapezoid(jerk**2, t, axis=0)
    assert least == pytest.approx(720 * np.array([1, 4]) / 2**5, rel=1e-4)
    quintic = Polynomial([0, 0, 0, 10, -15, 6])
    for k in range(4):
        other = Polynomial([0, 1, -1]) ** 3 * Polynomial.basis(k)  # nothing at the ends
        work = (quintic.deriv(3) * other.deriv(3)).integ()
        assert work(1) - work(0) == pytest.approx(0, abs=1e-9)


def falling():
    body = Body("stone", 1.0, UNIT)
    rail = Prismatic("rail", Frame(None), Frame(body))
    return assemble(Mechanism([body], [rail], "relative"), gravity=(0, 0, -9.81))


@pytest.mark.slow
def test_a_simulation_is_a_guess():
    """Free fall, on another grid."""
    result = simulate(
        falling(), None, 1.0, steps=StepBounds(0.01, 0.01), scheme=Variational(), progress=False
    )
    share = np.linspace(0, 1, 7)
    trajectory = Simulated(result, {"load": 3.0}).trajectory(share, BOUNDS, ["load", "other"])
    assert trajectory.duration == pytest.approx(1)
    assert trajectory.q[:, 0] == pytest.approx(-9.81 / 2 * share**2, abs=1e-3)
    assert trajectory.v[:, 0] == pytest.approx(-9.81 * share, abs=0.06)
    assert trajectory.a[:, 0] == pytest.approx(-9.81, abs=1e-2)
    assert trajectory.inputs == pytest.approx(np.tile([3.0, 0.0], (7, 1)))
    with pytest.raises(ValueError, match="is no result of optimize: take Simulated"):
        Earlier(result)


def test_an_earlier_optimum_without_an_input_is_told():
    result = optimize(
        cart(),
        Horizon(1.0, 4),
        [Effort()],
        [StartAt([0], [0]), EndAt([1], [0])],
        Straight([0], [1]),
    )
    with pytest.raises(ValueError, match="has no input 'u': there are none"):
        Earlier(result).trajectory(FINE, BOUNDS, ["u"])


def test_an_earlier_optimum_is_moved_to_other_ends():
    """Least effort is a cubic; the way to other ends is added with least jerk."""
    known = [StartAt([0], [0]), EndAt([1], [0])]
    earlier = Earlier(optimize(cart(), Horizon(2.0, 50), [Effort()], known, Straight([0], [1])))
    assert earlier.placed(cart(), known, None) is earlier
    moved = earlier.placed(cart(), [StartAt([0.2], [0]), EndAt([-1], [0])], None)
    cubic, quintic = Polynomial([0, 0, 3, -2]), Polynomial([0, 0, 0, 10, -15, 6])
    q = cubic + 0.2 * (1 - quintic) - 2 * quintic
    share = np.linspace(0, 1, 51)
    trajectory = moved.trajectory(share, BOUNDS, ())
    for k, x in enumerate(trajectory[:3]):
        assert x[:, 0] == pytest.approx(q.deriv(k)(share) / 2**k, abs=1e-9)
    free = earlier.placed(cart(), [StartAt([0], [0]), EndAt(v=[0])], None)
    assert free is earlier


def test_detours_keep_the_ends_and_are_the_same_again():
    known = Quintic([0.0, 1.0], [1.0, -1.0])
    trajectory = Perturbed(known, seed=3, size=0.5).trajectory(FINE, BOUNDS, ())
    check_slopes(trajectory)
    assert trajectory.q[[0, -1]] == pytest.approx(np.array([[0, 1], [1, -1]]))
    again, other = (Perturbed(known, seed=k, size=0.5).trajectory(FINE, BOUNDS, ()) for k in (3, 4))
    assert np.array_equal(trajectory.q, again.q)
    assert np.abs(trajectory.q - other.q).max() > 0.05
    with pytest.raises(ValueError, match="size of Perturbed must be positive"):
        Perturbed(known, 0, 0.0)


@dataclass(frozen=True)
class Above(Guess):
    """Over the obstacle."""

    def trajectory(self, share, bounds, inputs):
        q = np.column_stack([share, 0.5 * np.sin(np.pi * share)])
        return Trajectory(q, 0 * q, 0 * q, np.zeros((len(share), 0)), bounds[0])


def test_several_starts_find_the_shorter_way_round():
    """A disc reaches further up than down: below is shorter, the guess is above."""
    d, hand = gantry()
    stated = Optimization(
        d,
        Horizon(1.0, 10),
        [Effort()],
        [
            StartAt([0, 0], [0, 0]),
            EndAt([1, 0], [0, 0]),
            ClearOf(hand, ball_at((0.5, 0.1, 0), 0.25)),
        ],
        Above(),
    )
    alone = stated.solve()
    assert alone["q"].values[5, 1] > 0.3
    best = multi_start(stated, starts=6, seed=0, size=1.0)
    costs = json.loads(best.data.attrs["starts"])
    assert len(costs) == 6
    assert costs[0] == pytest.approx(alone.data.attrs["objective"])
    assert best["q"].values[5, 1] < -0.1
    assert best.data.attrs["objective"] == pytest.approx(min(x for x in costs if x is not None))
    assert best.data.attrs["objective"] < 0.7 * costs[0]


def test_where_no_start_leads_to_a_solution_the_result_says_so():
    """1 m in 1 s from rest to rest takes 4 N at least."""
    stated = Optimization(
        cart(effort=2.0),
        Horizon(1.0, 4),
        [Duration()],
        [StartAt([0], [0]), EndAt([1], [0]), ActuatorLimits()],
        Straight([0], [1]),
    )
    with pytest.raises(ValueError, match="starts of multi_start must be 1 or more, got 0"):
        multi_start(stated, 0)
    result = multi_start(stated, 2)
    assert not result.completed
    assert json.loads(result.data.attrs["starts"]) == [None, None]
