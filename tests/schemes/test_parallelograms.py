"""Parallelograms in a row pass where they are flat: more rows depend on each other there."""

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from nsopt import GROUND, Body, Frame, Mechanism, Revolute, StepBounds, assemble, simulate

G = 9.81


def parallelograms(k):
    """``k`` of them in a row, between cranks of 1 m, of hinges that are built as such."""
    inertia = (0.01,) * 3
    cranks = [Body(f"crank{i}", 1.0, inertia, position=(i, 0.5, 0)) for i in range(k + 1)]
    bars = [Body(f"bar{i}", 1.0, inertia, position=(i + 0.5, 1, 0)) for i in range(k)]
    places = [(GROUND, crank, (i, 0, 0)) for i, crank in enumerate(cranks)]
    for i, bar in enumerate(bars):
        places += [(cranks[i], bar, (i, 1, 0)), (bar, cranks[i + 1], (i + 1, 1, 0))]
    hinges = [
        Revolute(f"hinge{i}", Frame.at(a, point), Frame.at(b, point))
        for i, (a, b, point) in enumerate(places)
    ]
    return assemble(Mechanism([*cranks, *bars], hinges, "absolute"), gravity=(3.0, -G, 0.0))


@pytest.mark.parametrize("k", [2, 3])
def test_parallelograms_pass_where_they_are_flat_in_few_iterations(k):
    """Cranks turn as one freedom, bars stay level, where all rows of the joints are singular too.

    At 0.73 s by the angle of the cranks; redundant rows held too strongly take thousands there.
    """
    arm, inertia = (k + 1) / 2 + k, (k + 1) * (0.01 + 0.25) + k
    turn = solve_ivp(
        lambda _, y: [y[1], -arm * (3.0 * np.sin(y[0]) + G * np.cos(y[0])) / inertia],
        (0.0, 1.0),
        [np.pi / 2, 0.0],
        rtol=1e-11,
        atol=1e-11,
    )
    steps = StepBounds(1e-3 / 16, 1e-3)
    result = simulate(parallelograms(k), duration=1.0, steps=steps, check=None)
    assert result.completed, result.stop_reason
    assert np.nansum(result["retries"]) == 0
    angle = turn.y[0, -1]
    assert turn.y[0].min() < -np.pi / 4
    assert result["q"].values[-1, :2] == pytest.approx(
        [np.cos(angle) / 2, np.sin(angle) / 2], abs=2e-5
    )
    assert result["body_quaternion"].values[-1, k + 1 :, 0] == pytest.approx(1.0, abs=1e-8)
    assert np.nanmax(result["iterations"]) <= 20
