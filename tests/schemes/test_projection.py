"""What projections add to the energy is on record, so that the balance closes without it."""

import numpy as np
import pytest

from nsopt import Compiled, MoreauJean, StepBounds, simulate
from nsopt.problem import load_problem


@pytest.mark.parametrize("h", [1e-3, 2e-4])
def test_energy_of_projection_closes_the_balance(h):
    problem = load_problem("case_a")
    result = simulate(
        problem.dynamics,
        problem.start,
        1.0,
        steps=StepBounds(h, h),
        scheme=MoreauJean(project=True),
        solver=Compiled(),
        progress=False,
    )
    taken = np.nansum(result["contact_loss"].values, axis=1).cumsum()
    lost, added = (result[x].values for x in ("dissipated_energy", "projection_work"))
    assert added[-1] > 1e-3
    assert lost + added == pytest.approx(taken, abs=1e-12)
