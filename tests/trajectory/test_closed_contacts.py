"""Modes of contacts of an optimum, against motions of which they are known."""

import numpy as np
import pytest

from nsopt import (
    GROUND,
    AppliedForce,
    Body,
    Frame,
    Mechanism,
    Parameter,
    PlaneContact,
    Variational,
    assemble,
)
from nsopt.trajectory import EndAt, Horizon, InputEffort, StartAt, Through, optimize

G, T, STEPS = 9.81, 0.5, 20


@pytest.mark.slow
@pytest.mark.parametrize("light", [1e-1, 1e-3, 1e-4])
def test_light_contacts_are_not_judged_by_a_heavy_one(light):
    """Beside 100 kg that are pushed, a light body rests and one as light flies in a parabola."""
    names = ("heavy", "light", "flying")
    bodies = [Body(x, m, point_mass=True) for x, m in zip(names, (100, light, light), strict=True)]
    floors = [
        PlaneContact(f"under {x.name}", Frame(GROUND), Frame(x), planar=True, scale=0.1)
        for x in bodies
    ]
    push = AppliedForce("push", Frame(bodies[0]), (Parameter("force", 0.0), 0.0, 0.0))
    mechanism = Mechanism(bodies, coordinates="relative")
    d = assemble(mechanism, [*floors, push], gravity=(0, 0, -G))
    begin, v = np.zeros(9), np.zeros(9)
    begin[[3, 6, 8]], v[8] = (1.0, 2.0, 0.1), G * T / 2
    end, free = begin.copy(), np.full(9, np.nan)
    end[0], end[8], free[:6] = 0.5, np.nan, 0.0
    middle = (begin + np.nan_to_num(end, nan=0.1)) / 2
    middle[8] = 0.1 + G * T**2 / 8
    guess = Through([begin, middle, np.nan_to_num(end, nan=0.1)], [0.0, 0.5, 1.0])
    ends, cost = [StartAt(begin, v), EndAt(end, free)], [InputEffort(input="force")]
    result = optimize(
        d, Horizon(T, STEPS), cost, ends, guess, inputs=["force"], scheme=Variational()
    )
    assert result.completed, result.stop_reason
    assert result["q"].values[-1, 8] == pytest.approx(0.1, abs=5e-3)
    assert result["contact_mode"].values[1:].tolist() == [[1, 1, 0]] * STEPS
