"""Coulomb's cone in space: sticking without creep, sliding, spinning and rolling in closed form."""

from functools import cache

import numpy as np
import pytest

from nsopt import (
    Body,
    Compiled,
    ContactAligned,
    ContactLaw,
    Frame,
    Mechanism,
    MoreauJean,
    PlaneContact,
    Solver,
    Sqp,
    StepBounds,
    Variational,
    assemble,
    simulate,
)
from tests.schemes.models import G

SCHEMES = [Variational(), MoreauJean(), MoreauJean(project=True), ContactAligned()]
SLOPE = np.arctan(0.5)
ALONG = np.array([np.cos(0.3), np.sin(0.3), 0.0])  # no tangent of the floor is down the slope
POINT = [(0.0, 0.0, 0.0)]
FEET = [(x, y, -0.05) for x in (-0.2, 0.2) for y in (-0.1, 0.1)]  # redundant in every direction
LEGS = [(0.2 * np.cos(a), 0.2 * np.sin(a), 0.0) for a in (0.1, 2.2, 4.3)]
every_scheme = pytest.mark.parametrize("scheme", SCHEMES, ids=repr)


def on_feet(feet, mu, tilt, inertia=(0.01, 0.02, 0.025), coordinates="absolute", **motion):
    """A body of 2 kg on feet, gravity tilted instead of the floor."""
    body = Body("body", 2.0, inertia, position=(0, 0, -feet[0][2]), **motion)
    floors = [
        PlaneContact(f"foot{k}", Frame(None), Frame(body, foot), law=ContactLaw(friction=mu))
        for k, foot in enumerate(feet)
    ]
    gravity = -G * (np.sin(tilt) * ALONG + np.cos(tilt) * np.array([0, 0, 1.0]))
    return assemble(Mechanism([body], coordinates=coordinates), floors, tuple(gravity))


@cache
def ball(velocity, spin=(0.0, 0.0, 0.0), mu=0.1):
    """A ball of 1 kg and 0.1 m that touches the floor."""
    body = Body(
        "ball",
        1.0,
        (0.004, 0.004, 0.004),
        position=(0, 0, 0.1),
        velocity=velocity,
        angular_velocity=spin,
    )
    floor = PlaneContact("floor", Frame(None), Frame(body), 0.1, law=ContactLaw(friction=mu))
    return assemble(Mechanism([body]), [floor], (0, 0, -G))


def run(dynamics, duration, h, scheme, solver=None, **options):
    result = simulate(
        dynamics,
        duration=duration,
        steps=StepBounds(min(h, 1e-5), h),
        scheme=scheme,
        solver=solver or Compiled(chunk=100),
        progress=False,
        **options,
    )
    assert result.completed, result.stop_reason
    # Steps are tried again only so that they end where slip does; no attempt fails.
    tried = [text for text in result["tried"].values.tolist() if text]
    assert solver or all("after a contact changed" in text for text in tried)
    return result.data


STUCK = [
    pytest.param(scheme, coordinates, feet, id=f"{scheme!r}-{coordinates}-{len(feet)} feet")
    for scheme, coordinates, feet in zip(
        SCHEMES,
        ("relative", "absolute", "relative", "absolute"),
        (FEET, FEET, POINT, FEET),
        strict=True,
    )
]
"""Each scheme, both coordinates, both kinds of feet."""


@pytest.mark.slow
@pytest.mark.parametrize(("scheme", "coordinates", "feet"), STUCK)
def test_a_block_sticks_for_five_minutes(scheme, coordinates, feet):
    """At 98 % of what friction can hold: 2e-14 m, where 1e-9 m are allowed."""
    data = run(
        on_feet(feet, 0.51, SLOPE, coordinates=coordinates), 300.0, 1e-2, scheme, store_every=1000
    )
    assert np.ptp(data["q"].values, axis=0) == pytest.approx(np.zeros(7), abs=1e-12)
    force = data["contact_force"].values[-1].sum(axis=0)
    assert force == pytest.approx(
        2 * G * (np.sin(SLOPE) * ALONG + [0, 0, np.cos(SLOPE)]), rel=1e-9, abs=1e-9
    )


@pytest.mark.slow
@every_scheme
@pytest.mark.parametrize("feet", [POINT, FEET], ids=["point", "four feet"])
def test_a_block_slides_with_the_exact_acceleration(scheme, feet):
    data = run(on_feet(feet, 0.4, SLOPE), 1.0, 1e-2, scheme)
    t = data["time"].values[:, None]
    expected = -(t**2) / 2 * G * (np.sin(SLOPE) - 0.4 * np.cos(SLOPE)) * ALONG[:2]
    assert data["q"].values[:, :2] == pytest.approx(expected, abs=1e-12)


@pytest.mark.slow
@every_scheme
def test_a_block_that_stops_on_a_slope_stays(scheme):
    """v0^2 / (2 a) to the second order, and not a bit further."""
    data = run(on_feet(POINT, 0.8, SLOPE, velocity=tuple(0.5 * ALONG)), 0.4, 1e-3, scheme)
    a = G * (np.sin(SLOPE) + 0.8 * np.cos(SLOPE))
    assert data["q"].values[-1, :2] == pytest.approx(0.25 / (2 * a) * ALONG[:2], abs=1e-3**2 * a)
    late = data["time"].values > 0.5 / a + 2e-3
    assert np.ptp(data["q"].values[late], axis=0) == pytest.approx(np.zeros(7), abs=1e-14)


def spun(scheme, h):
    """Return the errors of the angle while a disc on three legs spins, and where it stops."""
    inertia, w0, mu = 0.05, 6.0, 0.3
    d = on_feet(LEGS, mu, 0.0, (0.03, 0.03, inertia), angular_velocity=(0, 0, w0))
    slowing = mu * 2 * G * 0.2 / inertia
    data = run(d, 0.3, h, scheme)
    t, q = data["time"].values, data["q"].values
    angle = 2 * np.arctan2(q[:, 6], q[:, 3])
    spinning = t < w0 / slowing - h
    exact = w0 * t - slowing * t**2 / 2
    assert np.abs(q[:, :2]).max() < 1e-12
    return np.abs(angle - exact)[spinning].max(), abs(angle[-1] - w0**2 / (2 * slowing))


@pytest.mark.slow
@every_scheme
def test_a_disc_on_three_legs_spins_to_rest(scheme):
    """Under mu m g r: exact but for the step in which it stops, h^2."""
    spinning, stopped = spun(scheme, 5e-4)
    assert spinning < 1e-12
    assert stopped < 1e-6


def bowled(scheme, h, velocity, spin):
    """Return the errors of a ball while it slides, and of its way and velocities as it rolls."""
    v0, w0, mu = np.array(velocity), np.array(spin), 0.1
    data = run(ball((*v0, 0.0), spin, mu), 0.5, h, scheme)
    slip = v0 + 0.1 * np.array([-w0[1], w0[0]])
    size = np.linalg.norm(slip)
    rolls = 2 * size / (7 * mu * G)
    t, q = data["time"].values, data["q"].values
    early = t < rolls - h
    slides = v0 * t[:, None] - mu * G * t[:, None] ** 2 / 2 * slip / size
    v = v0 - 2 / 7 * slip
    end = v0 * rolls - mu * G * rolls**2 / 2 * slip / size + v * (0.5 - rolls)
    turning = data["body_angular_velocity"].values[-1, 0] - [-v[1] / 0.1, v[0] / 0.1, w0[2]]
    errors = (q[:, :2] - slides)[early], q[-1, :2] - end, data["v"].values[-1, :2] - v, turning
    return np.array([np.abs(error).max() for error in errors])


@every_scheme
def test_a_bowling_ball_goes_over_from_sliding_to_rolling(scheme):
    """Slip falls by 7/2 mu g t, then w = v / r: exact, but for the step of the change, h^2."""
    assert bowled(scheme, 1e-3, (1.0, 0.0), (0.0, -5.0, 0.0)).max() < 1e-6


def test_a_ball_bowled_with_any_spin_is_as_exact():
    assert bowled(Variational(), 1e-3, (1.0, 0.3), (3.0, -5.0, 20.0)).max() < 1e-6


def test_a_ball_bowled_with_any_spin_is_of_first_order_by_moreau_jean():
    """Torques act along the axes at the start of a step, with which the ball turns."""
    coarse, fine = (bowled(MoreauJean(), h, (1.0, 0.3), (3.0, -5.0, 20.0)) for h in (1e-3, 5e-4))
    assert coarse / fine == pytest.approx(np.full(4, 2.0), rel=0.05)


@every_scheme
def test_a_ball_that_spins_upright_goes_on_spinning(scheme):
    """A point has no arm to brake it."""
    data = run(ball((0.0, 0.0, 0.0), (0.0, 0.0, 40.0)), 0.2, 1e-3, scheme)
    assert data["v"].values[-1] == pytest.approx([0, 0, 0, 0, 0, 40.0], abs=1e-12)


@pytest.mark.parametrize("scheme", SCHEMES[:-1], ids=repr)  # ContactAligned leaves it to these
@pytest.mark.parametrize("solver", [Solver(), Solver(backend=Sqp())], ids=["ipopt", "sqp"])
def test_solvers_find_what_the_chain_finds(scheme, solver):
    """Through sliding, sticking and an impact with friction."""
    d = ball((0.5, 0.2, -1.0), (0.0, 20.0, 5.0), 0.3)
    chain, solved = (run(d, 0.1, 2e-3, scheme, s) for s in (None, solver))
    for name in ("q", "v"):
        assert solved[name].values[-1] == pytest.approx(chain[name].values[-1], abs=1e-7)
