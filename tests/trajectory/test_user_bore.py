"""A bore with a gap function of a user's own: simulated and optimized, it is one motion."""

import numpy as np
import pytest

from nsopt import Variational
from tests.trajectory.test_any_dynamics import KNOWN, RUB, apart, both, hung
from tests.user_bores import BORES

bores = pytest.mark.parametrize("row", BORES, ids=str)
DURATION, STEPS, MASS, WEIGHT = 0.02, 10, 1.0, np.array([1.0, -2.0, -9.81])
VELOCITY = np.array([0.3, 0.4, -0.5, 1.0, -1.0, 2.0])


def let_go(row, law, scheme, solver=None):
    """The motion of a body let go in the middle of its bore, simulated and optimized."""
    d = hung(row, **RUB[law])
    return both(d, (d.stated_start()[0], VELOCITY), DURATION, STEPS, scheme, solver=solver)


@bores
@pytest.mark.parametrize("law", [pytest.param("dry and viscous", marks=pytest.mark.slow), "smooth"])
def test_it_simulates_and_optimizes_to_the_same_motion(row, law):
    """It meets the wall; impacts are placed to a step, as in every contact."""
    simulated, optimum = let_go(row, law, Variational(), KNOWN)
    assert apart(simulated, optimum) < 5e-4
    for result in (simulated, optimum):
        assert result["gap"].values.min() == pytest.approx(0, abs=1e-10)
    free = int(np.argmax(simulated["impulse"].values[1:, 0] > 0))
    assert 2 < free < 6
    before = slice(0, free + 1)
    assert optimum["q"].values[before] == pytest.approx(simulated["q"].values[before], abs=1e-8)


@bores
@pytest.mark.parametrize("implicit", [0.0, 0.5])
def test_recorded_forces_are_what_changes_the_momentum(row, implicit):
    """Along normals that turn within steps too."""
    _, optimum = let_go(row, "smooth", Variational(normal_implicitness=implicit))
    force, h = optimum["contact_force"].values[1:, 0], optimum["h"].values[1:, None]
    taken = MASS * (optimum["v"].values[-1, :3] - VELOCITY[:3]) - DURATION * MASS * WEIGHT
    assert np.sum(force * h, axis=0) == pytest.approx(taken, abs=1e-6)
    assert np.linalg.norm(taken) > 0.1
