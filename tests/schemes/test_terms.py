"""Terms of the equations of a step."""

import casadi as ca
import numpy as np
import pytest

from nsopt.schemes.terms import metric, squares

pytestmark = pytest.mark.unit


@pytest.mark.parametrize("massless", [False, True])
def test_the_energy_of_an_impulse_is_that_by_numpy(massless):
    """Of a full matrix, and of one in two parts, a motion without mass between them."""
    rng = np.random.default_rng(1)
    A = rng.normal(size=(7, 7))
    M, impulse = A @ A.T + np.eye(7), rng.normal(size=7)
    if massless:
        M[:3, 4:] = M[4:, :3] = M[3] = M[:, 3] = 0.0
    stated = ca.sparsify(ca.DM(M))
    symbols = ca.SX.sym("M", stated.sparsity())
    function = ca.Function(
        "energy", [symbols], [*squares(symbols, ca.SX(impulse)), metric(symbols)]
    )
    energy, filled = (np.asarray(x) for x in function(stated))
    assert np.all(np.diag(filled) > 0)
    assert energy.item() == pytest.approx(impulse @ np.linalg.solve(filled, impulse), rel=1e-12)
