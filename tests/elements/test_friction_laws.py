"""Every friction law: it opposes sliding, is a mean over its step, and takes energy."""

import casadi as ca
import numpy as np
import pytest

from nsopt.mechanics import State
from tests.catalog import FRICTION_LAWS

laws = pytest.mark.parametrize("law", FRICTION_LAWS, ids=repr)
SPEEDS = np.array([-2.0, -0.1, -1e-3, 1e-3, 0.1, 2.0])
NORMAL, H = 3.0, 1e-3  # N, s


def of(law):
    """Return (u, normal, h, z) -> force [N], z after the step, slope of the force over u."""
    law.check("of it")
    u, normal, h, z = (
        ca.SX.sym(name, n) for name, n in (("u", 1), ("n", 1), ("h", 1), ("z", len(law.states)))
    )
    s = State(ca.SX(0), {}, {})
    force = law.resist(s, u, normal, h, z)
    after = law.advance_states(s, u, h, z)
    resist = ca.Function("law", [u, normal, h, z], [force, after, ca.gradient(force, u)])
    return lambda *x: [np.asarray(y).ravel() for y in resist(*x)]


@laws
def test_opposes_sliding_either_way_alike(law):
    f, still = of(law), np.zeros(len(law.states))
    forces = np.array([f(u, NORMAL, H, still)[0][0] for u in SPEEDS])
    assert np.all(np.sign(forces) == np.sign(SPEEDS))
    assert forces == pytest.approx(-forces[::-1], rel=1e-12)


@laws
def test_is_smooth_where_sliding_ends(law):
    f, still = of(law), np.zeros(len(law.states))
    force, after, slope = f(0.0, NORMAL, H, still)
    assert force == pytest.approx(0, abs=1e-12)
    assert after == pytest.approx(still, abs=1e-12)
    assert np.isfinite(slope).all()
    e = 1e-9
    difference = (f(e, NORMAL, H, still)[0] - f(-e, NORMAL, H, still)[0]) / (2 * e)
    assert slope == pytest.approx(difference, rel=1e-4)


@laws
@pytest.mark.parametrize("u", [1e-3, 0.1, -2.0])
def test_two_half_steps_are_one_step(law, u):
    """The force is the mean over the step, so impulses add up, and states go on."""
    f = of(law)
    z = np.zeros(len(law.states))
    whole, z_whole, _ = f(u, NORMAL, H, z)
    first, z_half, _ = f(u, NORMAL, H / 2, z)
    second, z_end, _ = f(u, NORMAL, H / 2, z_half)
    assert (first + second) / 2 == pytest.approx(whole, rel=1e-9)
    assert z_end == pytest.approx(z_whole, rel=1e-9)
