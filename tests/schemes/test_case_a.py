"""The reference case: one impact, then lasting contact, against its event-driven solution."""

import numpy as np
import pytest

from nsopt import (
    Body,
    Compiled,
    ContactAligned,
    Frame,
    Mechanism,
    Planar,
    PlanarRevoluteClearance,
    StepBounds,
    Variational,
    assemble,
    simulate,
)
from tests.schemes.models import G, case_a_dynamics, turned, wrapped

IMPACT, LOSS = 0.014278431, 2.59676e-3  # s, J
ANGLE_2, SPEED_2, ANGLE_10 = -0.0137398064, -0.6619807182, -0.3765733367  # rad, rad/s, rad


def run(h, scheme, duration=2.0, dynamics=None, **options):
    result = simulate(
        dynamics or case_a_dynamics(),
        duration=duration,
        steps=StepBounds(h, h),
        scheme=scheme,
        solver=Compiled(),
        progress=False,
        **options,
    )
    assert result.completed, result.stop_reason
    return result.data


def angle_error(data, exact=ANGLE_2):
    return abs(wrapped(turned(data["q"].values[-1]) - exact))


@pytest.mark.slow
@pytest.mark.parametrize(
    "scheme", [Variational(), ContactAligned()], ids=lambda s: type(s).__name__
)
def test_angle_energy_and_gap_at_two_seconds(scheme):
    """At smaller steps the angle is off by less to second order: `test_orders`."""
    data = run(1e-3, scheme)
    assert angle_error(data) <= 5e-5
    energy = data["total_energy"].values
    assert energy[0] - energy[-1] == pytest.approx(LOSS, rel=5e-3)
    assert data["gap"].min() >= -1e-10
    assert np.nansum(data["retries"]) == 0
    assert data["motion_residual"].max() < 1e-9


def test_the_speed_converges_too():
    assert run(1e-4, Variational())["v"].values[-1, 5] == pytest.approx(SPEED_2, abs=2e-5)


@pytest.mark.slow
def test_aligned_steps_hit_the_impact():
    data = run(1e-3, ContactAligned(), 0.05)
    events = data["time"].values[["event" in text for text in data["step_reason"].values]]
    assert events == pytest.approx([IMPACT], abs=1e-8)
    assert np.nansum(data["contact_loss"]) == pytest.approx(LOSS, rel=1e-5)


@pytest.mark.slow
def test_ten_seconds_in_the_plane():
    """No drift of energy. In space a tilt of 1e-11 grows to order one within 4 s, whatever h."""
    body = Body("pendulum", 1.0, (0.01, 0.09, 0.09), position=(0.5, 0, 0))
    plane = Planar("plane", Frame(None), Frame(body))
    hinge = PlanarRevoluteClearance("hinge", Frame(None), Frame.at(body, (0, 0, 0)), 1e-3, 0.01)
    dynamics = assemble(Mechanism([body], [plane], "absolute"), [hinge], (0, -G, 0))
    data = run(1e-4, Variational(), 10.0, dynamics, store_every=10)
    assert angle_error(data, ANGLE_10) < 2e-6
    energy = data["total_energy"].values
    assert energy[0] - energy[-1] == pytest.approx(LOSS, rel=1e-3)
    assert data["constraint_violation"].max() < 1e-12
    assert data["euler_norm_error"].max() < 1e-15
