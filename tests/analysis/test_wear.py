"""Archard's wear against cases worked out by hand."""

import numpy as np
import pytest

from nsopt import (
    GROUND,
    AppliedForce,
    Body,
    Compiled,
    CompliantContact,
    ContactAligned,
    ContactLaw,
    Frame,
    KelvinVoigt,
    Mechanism,
    Planar,
    PlanarRevoluteClearance,
    PlaneContact,
    Start,
    StepBounds,
    Variational,
    assemble,
    simulate,
)
from nsopt.analysis import wear
from tests.schemes.models import G, ball

K = 1e-13
"""Coefficient over hardness [1/Pa]."""


def run(dynamics, duration, h, start=None, scheme=None, **options):
    result = simulate(
        dynamics,
        start,
        duration,
        steps=StepBounds(h, h),
        scheme=scheme or Variational(),
        solver=Compiled(chunk=100),
        progress=False,
        **options,
    )
    assert result.completed, result.stop_reason
    return result


def test_a_block_that_slides_to_rest():
    """Weight times way, v^2 / (2 mu g); a run repeated wears as many times as much."""
    block = Body("block", 2.0, point_mass=True, velocity=(1.0, 0, 0))
    law = ContactLaw(friction=0.4)
    floor = PlaneContact("floor", Frame(None), Frame(block), law=law, planar=True)
    d = assemble(Mechanism([block]), [floor], (0, 0, -G))
    way = 1.0 / (2 * 0.4 * G)
    result = run(d, 0.4, 1e-3)
    assert wear(result, "floor", K).volume == pytest.approx(K * 2 * G * way, rel=2e-3, abs=0)
    many = wear(result, "floor", K, runs=1e4)
    assert many.volume == pytest.approx(1e4 * K * 2 * G * way, rel=2e-3, abs=0)
    assert many.depth.size == 0
    kept = run(d, 0.4, 1e-3, times=np.linspace(0.004, 0.4, 100))
    assert wear(kept, "floor", K).volume == pytest.approx(K * 2 * G * way, rel=1e-2, abs=0)


@pytest.mark.slow
def test_a_compliant_floor_wears_as_much():
    """Friction, 0.4 of the normal force, is no part of it."""
    block = Body("block", 2.0, position=(0, 0, -3e-6), point_mass=True, velocity=(1.0, 0, 0))
    law = ContactLaw(friction=0.4, restitution=0.5)
    floor = PlaneContact("floor", Frame(None), Frame(block), law=law)
    soft = CompliantContact("soft", floor, KelvinVoigt(2 * G / 3e-6, damping_coefficient=1e4))
    way = 1.0 / (2 * 0.4 * G)
    result = run(assemble(Mechanism([block]), [soft], (0, 0, -G)), 0.4, 1e-4)
    assert wear(result, "soft", K).volume == pytest.approx(K * 2 * G * way, rel=1e-2, abs=0)


def test_what_only_bounces_does_not_wear():
    assert wear(run(ball(0.5, 0.05), 0.3, 1e-3, None, ContactAligned()), "floor", K).volume == 0


@pytest.mark.slow
def test_a_pin_that_turns_in_its_bore_wears_where_it_is_loaded():
    """k F R w t all at the bottom, and the clearance of a bore worn evenly by as much."""
    c, R, L, load, speed, T = 1e-4, 0.01, 0.02, 40.0, 30.0, 0.1
    sleeve = Body("sleeve", 1.0, (1e-3, 1e-3, 1e-3))
    plane = Planar("plane", Frame(GROUND), Frame(sleeve))
    pin = PlanarRevoluteClearance("pin", Frame(GROUND), Frame(sleeve), c, R)
    push = AppliedForce("push", Frame(sleeve), (0, -load, 0))
    d = assemble(Mechanism([sleeve], [plane], "relative"), [pin, push])
    result = run(d, T, 1e-4, Start(np.array([0, -c, 0]), np.array([0, 0, speed])))
    with pytest.warns(UserWarning, match=r"worn 0.0035 m deep, more than .* take runs=3e\+03"):
        found = wear(result, "pin", K, radius=R, length=L, runs=1e6, parts=36)
    volume = 1e6 * K * load * speed * (R + c) * T
    assert found.volume == pytest.approx(volume, rel=1e-3, abs=0)
    k = int(np.argmax(found.depth))
    assert found.angle[k] == pytest.approx(np.pi / 2, abs=np.pi / 36)  # top of the pin
    assert found.depth[k] == pytest.approx(volume / (R * 2 * np.pi / 36 * L), rel=1e-3, abs=0)
    assert found.clearance == c
    assert found.worn == pytest.approx(c + volume / (2 * np.pi * R * L), rel=1e-3, abs=0)
    with pytest.raises(ValueError, match="no contact in joint 'x': one of pin"):
        wear(result, "x", K)
    with pytest.raises(ValueError, match="wear coefficient must be positive"):
        wear(result, "pin", -1.0)
    with pytest.raises(ValueError, match="radius of the bore of joint 'pin' must be more than"):
        wear(result, "pin", K, radius=c, length=L)
