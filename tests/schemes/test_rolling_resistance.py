"""Moments by which contacts resist rolling and spinning: closed forms of balls."""

import numpy as np
import pytest

from nsopt import (
    GROUND,
    Body,
    CompliantContact,
    ContactLaw,
    Cylindrical,
    Flores,
    Frame,
    Mechanism,
    MoreauJean,
    PaperStep,
    Parameter,
    PlaneContact,
    SphereContact,
    StepBounds,
    Variational,
    assemble,
    simulate,
)
from nsopt.trajectory import Horizon, Quintic, Smoothness, StartAt, optimize, sensitivities

G, RADIUS, MASS = 9.81, 0.1, 2.0  # m/s^2, m, kg
INERTIA = 0.4 * MASS * RADIUS**2
ROLLING, SPINNING = 2e-3, 1e-3  # m
PULL = 5 / 7 * ROLLING * G / RADIUS  # m/s^2, by which a ball that rolls slows down


def run(dynamics, duration, h, h_min=None, **options):
    steps = StepBounds(1e-6 * h if h_min is None else h_min, h)
    result = simulate(dynamics, duration=duration, steps=steps, progress=False, **options)
    assert result.completed, result.stop_reason
    return result


def ball(law, velocity=(0, 0, 0), spin=0.0, gravity=(0, 0, -G), planar=False):
    """A ball that rolls on a floor, and spins about its normal."""
    body = Body(
        "ball",
        MASS,
        (INERTIA,) * 3,
        position=(0, 0, RADIUS),
        velocity=velocity,
        angular_velocity=(-velocity[1] / RADIUS, velocity[0] / RADIUS, spin),
    )
    floor = PlaneContact("floor", Frame(GROUND), Frame(body), radius=RADIUS, law=law, planar=planar)
    return assemble(Mechanism([body]), [floor], gravity)


@pytest.mark.parametrize("planar", [True, False])
def test_a_ball_that_rolls_stops_after_its_way_and_stays(planar):
    speed = 0.5
    along = np.array([1.0, 0, 0] if planar else [0.6, 0.8, 0])
    dynamics = ball(ContactLaw(friction=0.3, rolling=ROLLING), tuple(speed * along), planar=planar)
    for h in (1.6e-2, 4e-3):
        result = run(dynamics, speed / PULL + 1, h)
        t, v = result["time"].values, result["v"].values
        assert v[:, :3] @ along == pytest.approx(np.maximum(speed - PULL * t, 0), abs=1e-5 * h)
        way = result["body_position"].values[-1, 0] - [0, 0, RADIUS]
        assert way == pytest.approx(speed**2 / (2 * PULL) * along, abs=1e-10)
        assert np.abs(v[-1]).max() < 1e-12
        # What it takes is on record as a loss of the contact.
        taken = np.nansum(result["contact_loss"].values)
        assert taken == pytest.approx(0.7 * MASS * speed**2, rel=1e-9)


@pytest.mark.parametrize("scheme", [Variational(), MoreauJean(project=True), PaperStep()])
def test_a_ball_that_spins_stops_in_its_time(scheme):
    spin, h = 30.0, 5e-2
    time = INERTIA * spin / (SPINNING * MASS * G)
    dynamics = ball(ContactLaw(friction=0.3, spinning=SPINNING), spin=spin)
    result = run(dynamics, time + 0.1, h, h, scheme=scheme)
    t, w = result["time"].values, result["v"].values[:, 5]
    off = h * spin / time  # of the step in which it stops
    assert w == pytest.approx(np.maximum(spin * (1 - t / time), 0), abs=off)
    assert w[-1] == pytest.approx(0, abs=1e-9)
    assert w[: len(t) // 2] == pytest.approx(spin * (1 - t[: len(t) // 2] / time), abs=1e-8)


def test_rolling_and_spinning_are_resisted_apart():
    speed, spin, duration = 0.5, 30.0, 1.0
    law = ContactLaw(friction=0.3, rolling=ROLLING, spinning=SPINNING)
    result = run(ball(law, (speed, 0, 0), spin), duration, 4e-3)
    w = result["body_angular_velocity"].values[-1, 0]
    assert w[1] * RADIUS == pytest.approx(speed - PULL * duration, abs=1e-9)
    assert w[2] == pytest.approx(spin - SPINNING * MASS * G / INERTIA * duration, abs=1e-9)


@pytest.mark.parametrize("steep", [0.75, 1.25, 5.0])
def test_a_ball_on_a_slope_stays_up_to_the_angle_of_rolling_resistance(steep):
    angle = np.arctan(steep * ROLLING / RADIUS)
    gravity = G * np.array([np.sin(angle), 0, -np.cos(angle)])
    dynamics = ball(ContactLaw(friction=0.5, rolling=ROLLING), gravity=tuple(gravity))
    result = run(dynamics, 1.0, 1e-2)
    pull = max(gravity[0] + gravity[2] * ROLLING / RADIUS, 0)
    assert result["body_position"].values[-1, 0, 0] == pytest.approx(5 / 14 * pull, abs=1e-11)


def test_two_balls_on_top_of_each_other_come_to_spin_alike():
    """Without friction at the floor the angular momentum about the vertical is kept."""
    spin, small = 40.0, 0.05
    low = Body("low", MASS, (INERTIA,) * 3, position=(0, 0, RADIUS))
    top = Body(
        "top",
        1.0,
        (0.4 * small**2,) * 3,
        position=(0, 0, 2 * RADIUS + small),
        angular_velocity=(0, 0, spin),
    )
    joints = [
        Cylindrical(f"axis of {b.name}", Frame(GROUND), Frame.at(b, (0, 0, 0))) for b in (low, top)
    ]
    law = ContactLaw(friction=0.2, spinning=SPINNING)
    contacts = [
        PlaneContact("floor", Frame(GROUND), Frame(low), radius=RADIUS),
        SphereContact("balls", Frame(low), Frame(top), RADIUS, radius=small, law=law),
    ]
    dynamics = assemble(Mechanism([low, top], joints, "absolute"), contacts, (0, 0, -G))
    pull, inertia = SPINNING * G, 0.4 * small**2
    meets = spin / (pull * (1 / inertia + 1 / INERTIA))
    result = run(dynamics, 1.5 * meets, meets / 40.3)
    t, w = result["time"].values, result["v"].values[:, [5, 11]]
    until = np.minimum(t, meets)
    right = np.column_stack([pull / INERTIA * until, spin - pull / inertia * until])
    assert w == pytest.approx(right, abs=1e-6 * spin)


def test_the_way_of_a_ball_has_its_derivative_by_the_lever_arm():
    speed, duration = 0.5, 1.0
    law = ContactLaw(friction=0.3, rolling=Parameter("rho", ROLLING))
    derivatives = sensitivities(
        ball(law, (speed, 0, 0)),
        times=[duration],
        steps=StepBounds(1e-2, 1e-2),
        outputs=lambda t, q, v, p: q[0],
        by=["rho"],
        by_start=False,
    )
    found = np.ravel(derivatives.forward().parameters)
    assert found == pytest.approx(-5 / 14 * G / RADIUS * duration**2, rel=1e-9)


def test_what_does_not_know_resistance_to_rolling_refuses_it():
    rest = [0.0] * 6
    dynamics = ball(ContactLaw(friction=0.3, spinning=SPINNING))
    q = dynamics.stated_start()[0]
    with pytest.raises(ValueError, match="'floor' resists rolling or spinning, which horizons"):
        optimize(
            dynamics,
            Horizon(0.1, steps=4),
            costs=[Smoothness()],
            conditions=[StartAt(q, rest)],
            guess=Quintic(q, q),
            scheme=Variational(),
        )
    body = Body("ball", MASS, (INERTIA,) * 3)
    floor = PlaneContact("floor", Frame(GROUND), Frame(body), law=ContactLaw(0.5, rolling=ROLLING))
    with pytest.raises(ValueError, match=r"rolling of CompliantContact .*rigid contacts"):
        CompliantContact("soft", floor, Flores(stiffness=1e6))
