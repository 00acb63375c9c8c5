"""Restitution and friction in motion, against solutions by hand."""

from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from nsopt import (
    AppliedForce,
    Body,
    Compiled,
    ContactAligned,
    ContactLaw,
    Frame,
    Ipopt,
    Mechanism,
    MoreauJean,
    NewtonImpact,
    PaperStep,
    PlaneContact,
    PoissonImpact,
    Solver,
    Sqp,
    StepBounds,
    Variational,
    assemble,
    simulate,
)
from tests.schemes.models import G, ball

GIVEN_H = PaperStep(finds_h=False)
FRICTIONAL = [
    Variational(),
    MoreauJean(),
    MoreauJean(project=True),
    ContactAligned(),
    GIVEN_H,
]
BOUNCING = [
    Variational(),
    MoreauJean(project=True),
    Variational(impact=PoissonImpact()),
    MoreauJean(project=True, impact=PoissonImpact()),
    ContactAligned(),
    GIVEN_H,
    replace(GIVEN_H, impact=PoissonImpact()),
]


def name(scheme):
    return repr(scheme)


def run(dynamics, duration, scheme, h=1e-3, solver=None):
    result = simulate(
        dynamics,
        duration=duration,
        steps=StepBounds(min(h, 1e-4), h) if h > 1e-4 else StepBounds(h, h),
        scheme=scheme,
        solver=solver or Compiled(chunk=100),
        progress=False,
    )
    assert result.completed, result.stop_reason
    return result.data


@cache
def block(friction, tilt=0.0, speed=0.0, planar=True, viscous=0.0):
    """A particle on a slope that rises along x; gravity is tilted instead of the slope."""
    body = Body("block", 2.0, position=(0, 0, 0), velocity=(speed, 0, 0), point_mass=True)
    law = ContactLaw(friction=friction, viscous=viscous)
    floor = PlaneContact("floor", Frame(None), Frame(body), planar=planar, law=law)
    gravity = (-G * np.sin(tilt), 0, -G * np.cos(tilt))
    return assemble(Mechanism([body]), [floor], gravity)


@pytest.mark.parametrize("scheme", FRICTIONAL, ids=name)
def test_a_block_slides_to_rest_and_stays(scheme):
    """v0^2 / (2 mu g), in v0 / (mu g); then it sticks, exactly in the plane."""
    data = run(block(0.4, speed=1.0), 0.4, scheme)
    rest = 1 / (0.4 * G)
    late = data["time"].values > rest + 2e-3
    x = data["q"].values[:, 0]
    assert x[-1] == pytest.approx(1 / (2 * 0.4 * G), rel=5e-3)
    assert np.ptp(x[late]) < 1e-12
    sliding = (data["time"].values > 2e-3) & (data["time"].values < rest - 2e-3)
    force = data["contact_force"].values[sliding, 0]
    assert force[:, 0] == pytest.approx(-0.4 * 2 * G, rel=1e-6)
    assert force[:, 2] == pytest.approx(2 * G, rel=1e-6)
    assert np.nansum(data["contact_loss"]) == pytest.approx(0.5 * 2 * 1.0**2, rel=1e-2)


@pytest.mark.parametrize("scheme", FRICTIONAL, ids=name)
@pytest.mark.parametrize(("friction", "sticks"), [(0.51, True), (0.49, False)])
def test_a_block_sticks_on_a_slope_within_its_cone(scheme, friction, sticks):
    slope = np.arctan(0.5)
    data = run(block(friction, tilt=slope), 0.2, scheme)
    pull = G * (np.sin(slope) - friction * np.cos(slope))
    expected = 0.0 if sticks else -pull * 0.2**2 / 2
    assert data["q"].values[-1, 0] == pytest.approx(expected, rel=2e-2, abs=1e-10)


@pytest.mark.parametrize("scheme", FRICTIONAL, ids=name)
def test_friction_in_space_points_against_the_slip(scheme):
    data = run(block(0.4, speed=1.0, planar=False), 0.2, scheme)
    force = data["contact_force"].values[20:150, 0]
    assert force[:, 0] == pytest.approx(-0.4 * 2 * G, rel=1e-4)
    assert np.abs(force[:, 1]).max() < 1e-9
    assert np.nansum(data["retries"]) == 0  # the chain alone takes it


@pytest.mark.parametrize("scheme", FRICTIONAL, ids=name)
def test_viscous_friction_decays_exponentially(scheme):
    data = run(block(0.0, speed=1.0, viscous=4.0), 0.5, scheme)
    assert data["v"].values[-1, 0] == pytest.approx(np.exp(-4.0 / 2.0 * 0.5), rel=3e-3)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("scheme", "restitution"), [*((x, 0.5) for x in BOUNCING), (BOUNCING[0], 1.0)], ids=name
)
def test_a_ball_rebounds_by_newtons_law(scheme, restitution):
    """Apex after the first impact: e^2 of the height; energy lost (1 - e^2) m g h."""
    data = run(ball(restitution, height=0.2), 0.2 + restitution * 0.25, scheme, 5e-4)
    after = data["time"].values > np.sqrt(2 * 0.2 / G) + 2e-3
    apex = data["q"].values[after, 2].max()
    assert apex == pytest.approx(0.2 * restitution**2, rel=2e-2)
    lost = np.nansum(data["contact_loss"])
    assert lost == pytest.approx((1 - restitution**2) * G * 0.2, rel=2e-2, abs=5e-3)


@pytest.mark.slow
def test_aligned_impacts_are_exact_and_end():
    """Impact times 0.45152, 1.26427, ... s of the reference ball, e = 0.9, and its Zeno time."""
    data = run(ball(), 9.0, ContactAligned(v_rest=1e-3), 1e-2)
    events = data["time"].values[["event" in text for text in data["step_reason"].values]]
    first = np.sqrt(2 / G)
    flights = 2 * first * 0.9 ** np.arange(1, 40)
    times = first + np.concatenate([[0], np.cumsum(flights)])
    assert events[:20] == pytest.approx(times[:20], abs=1e-9)
    zeno = first * (1 + 0.9) / (1 - 0.9)
    late = data["time"].values > zeno + 1e-2
    assert late.any()
    assert np.abs(data["q"].values[late, 2]).max() < 1e-9
    assert data.attrs["steps_below_h_min"] == 0


def test_a_scheme_that_knows_no_friction_over_horizons_says_so():
    d = block(0.4)
    with pytest.raises(ValueError, match=r"no friction over .*'floor'.*use Variational or Moreau"):
        ContactAligned().check_horizon(d, d.values())


def throw_obliquely(restitution, friction, speed, height, t):
    """Where a particle is that is thrown over a floor, by hand: (x, z) [m]."""
    x, z, rate, now = 0.0, height, 0.0, 0.0
    while (flight := (rate + np.sqrt(rate**2 + 2 * G * z)) / G) < t - now:
        x, z, now = x + speed * flight, 0.0, now + flight
        meets = G * flight - rate
        speed = max(speed - friction * (1 + restitution) * meets, 0)
        rate = restitution * meets
    left = t - now
    return x + speed * left, z + rate * left - G * left**2 / 2


@pytest.mark.slow
@pytest.mark.parametrize("impact", [NewtonImpact(), PoissonImpact()], ids=name)
@pytest.mark.parametrize("backend", [Ipopt(), Sqp()], ids=["IPOPT", "SQP"])
def test_the_papers_step_finds_h_with_restitution_and_friction(backend, impact):
    """Errors halve with h, which stays an unknown: a step ends where the particle lands."""
    speed, height, end, errors = 1.0, 0.1, 0.26, []
    body = Body("ball", 1.0, position=(0, 0, height), velocity=(speed, 0, 0), point_mass=True)
    law = ContactLaw(restitution=0.6, friction=0.2)
    floor = PlaneContact("floor", Frame(None), Frame(body), law=law)
    dynamics = assemble(Mechanism([body]), [floor], (0, 0, -G))
    exact = throw_obliquely(0.6, 0.2, speed, height, end)
    for h in (8e-3, 4e-3, 2e-3):
        scheme, steps = PaperStep(impact=impact), StepBounds(h / 8, h)
        result = simulate(
            *(dynamics, None, end),
            steps=steps,
            scheme=scheme,
            solver=Solver(backend),
            progress=False,
        )
        assert result.completed, result.stop_reason
        (hit,) = np.flatnonzero(result["impulse"].values[:, 0] > 1)
        assert result["gap"].values[hit, 0] == pytest.approx(0, abs=1e-6)
        assert result["h"].values[hit] < 0.99 * h
        assert result["step_reason"].values[hit] == "found by the scheme"
        errors.append(np.hypot(*(result["q"].values[-1, [0, 2]] - exact)))
    assert errors[0] < G * end * 8e-3
    assert errors[2] < 0.6 * errors[1] < 0.4 * errors[0]


@pytest.mark.slow
@pytest.mark.parametrize("scheme", FRICTIONAL, ids=name)
def test_the_solvers_find_the_same_friction_as_the_chain(scheme):
    compiled = run(block(0.4, speed=0.3), 0.1, scheme)
    solved = run(block(0.4, speed=0.3), 0.1, scheme, solver=Solver(backend=Sqp()))
    assert solved["q"].values[-1] == pytest.approx(compiled["q"].values[-1], abs=1e-8)


def rod_on_two_posts(left, right):
    """A rod that lands on two posts at once, with e of its own on each: posts at +-0.3 m."""
    rod = Body("rod", 2.0, (0.01, 0.18, 0.18), position=(0, 0, 0.05))
    contacts = [
        PlaneContact(name, Frame(None), Frame(rod, (x, 0, 0)), law=ContactLaw(restitution=e))
        for name, x, e in (("left", -0.3, left), ("right", 0.3, right))
    ]
    return assemble(Mechanism([rod]), contacts, (0, 0, -G))


@pytest.mark.slow
@pytest.mark.parametrize("impact", [NewtonImpact(), PoissonImpact()], ids=name)
def test_laws_of_impact_at_two_contacts_at_once(impact):
    """By hand: M v+ = M v- + W Lam with 2 x 2 Delassus matrix G = W^T M^-1 W."""
    left, right = 0.0, 0.8
    dynamics = rod_on_two_posts(left, right)
    data = run(dynamics, 0.11, ContactAligned(impact=impact))
    k = int(np.argmax(data["impulse"].values.sum(axis=1)[1:])) + 1
    speed = -np.sqrt(2 * G * 0.05)
    near, far = 1 / 2 + 0.09 / 0.18, 1 / 2 - 0.09 / 0.18
    delassus, e = np.array([[near, far], [far, near]]), np.array([left, right])
    blow = np.linalg.solve(delassus, np.full(2, -speed))
    if isinstance(impact, NewtonImpact):
        blow = np.linalg.solve(delassus, -(1 + e) * speed)
    else:
        blow = (1 + e) * blow
    rebound = speed + delassus @ blow
    assert data["impulse"].values[k] == pytest.approx(blow, rel=1e-9)
    v = data["v"].values[k]
    ends = np.array([v[2] + 0.3 * v[4], v[2] - 0.3 * v[4]])
    assert ends == pytest.approx(rebound, abs=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize("scheme", BOUNCING[:2], ids=name)
def test_a_ball_thrown_from_its_floor_rebounds_at_once(scheme):
    """Touching and approaching is an impact, though the contact was closed before."""
    body = Body("ball", 1.0, velocity=(0, 0, -2.0), point_mass=True)
    floor = PlaneContact("floor", Frame(None), Frame(body), law=ContactLaw(restitution=0.5))
    data = run(assemble(Mechanism([body]), [floor]), 0.01, scheme)
    assert data["v"].values[-1, 2] == pytest.approx(1.0, rel=1e-9)


@pytest.mark.parametrize("scheme", [Variational(), MoreauJean(), ContactAligned()], ids=name)
def test_a_growing_load_is_no_energy_from_nowhere(scheme):
    """F = k t from 10 m/s: no step is refused, work is k (v0 t^2 / 2 + k t^4 / 8 m)."""
    body = Body("body", 1.0, velocity=(10.0, 0, 0), point_mass=True)
    load = AppliedForce("load", Frame(body), lambda t: (50 * t, 0, 0))
    data = run(assemble(Mechanism([body]), [load]), 0.1, scheme)
    assert np.nansum(data["retries"]) == 0
    exact = 50 * (10 * 0.1**2 / 2 + 50 * 0.1**4 / 8)
    assert data["external_work"].values[-1] == pytest.approx(exact, rel=1e-3)
    assert abs(data["dissipated_energy"].values[-1]) < 1e-5
