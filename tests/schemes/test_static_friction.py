"""Static friction above the kinetic one: when a contact lets go, and that it holds again."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from nsopt import (
    GROUND,
    AppliedForce,
    Body,
    CompliantContact,
    ContactLaw,
    Driven,
    Flores,
    Frame,
    Mechanism,
    MoreauJean,
    PaperStep,
    PlaneContact,
    Revolute,
    SpringDamper,
    Start,
    StepBounds,
    Variational,
    assemble,
    simulate,
)
from nsopt.trajectory import Horizon, Quintic, Smoothness, StartAt, optimize, sensitivities

G, STIFFNESS = 9.81, 100.0  # m/s^2, N/m


def run(dynamics, duration, h, h_min=None, **options):
    steps = StepBounds(1e-6 * h if h_min is None else h_min, h)
    result = simulate(dynamics, duration=duration, steps=steps, progress=False, **options)
    assert result.completed, result.stop_reason
    return result


def on_spring(law, position=0.0, offset=(0, 0, 0), planar=False):
    """A block of 1 kg on a floor or belt along x, tied to the origin by a spring."""
    block = Body("block", 1.0, point_mass=True, position=(position, 0, 0))
    floor = PlaneContact(
        "floor", Frame(GROUND), Frame(block), law=law, offset=offset, planar=planar
    )
    spring = SpringDamper("spring", Frame(GROUND), Frame(block), STIFFNESS)
    return assemble(Mechanism([block]), [floor, spring], (0, 0, -G))


def stick_slip(t, kinetic, static, speed):
    """Where a block on a belt is that sticks at the origin at first, and then in its cycle."""
    w = np.sqrt(STIFFNESS)
    centre, reach = kinetic * G / STIFFNESS, (static - kinetic) * G / STIFFNESS
    slides = 2 * (np.pi - np.arctan(reach * w / speed)) / w  # until it is as fast as the belt
    sticks = 2 * reach / speed
    since = t - (centre + reach) / speed
    u = since % (slides + sticks)
    slid = centre + reach * np.cos(w * u) + speed / w * np.sin(w * u)
    stuck = centre - reach + speed * (u - slides)
    return np.where(since < 0, speed * t, np.where(u < slides, slid, stuck))


@pytest.mark.parametrize("planar", [False, True])
def test_stick_slip_on_a_belt_is_of_second_order(planar):
    """Three cycles, at all times: so period and amplitude are right, too."""
    kinetic, static, speed = 0.2, 0.35, 0.2
    law = ContactLaw(friction=kinetic, static_friction=static)
    dynamics = on_spring(law, offset=lambda t: (speed * t, 0, 0), planar=planar)
    carried = Start(np.zeros(3), np.array([speed, 0, 0]))
    errors = []
    for h in (1.6e-2, 8e-3, 4e-3, 2e-3, 1e-3):
        result = run(dynamics, 1.9, h, start=carried)
        t, x = result["time"].values, result["body_position"].values[:, 0, 0]
        errors.append(np.abs(x - stick_slip(t, kinetic, static, speed)).max())
    assert np.all(-np.diff(np.log2(errors)) > 1.8), errors
    reasons = [str(reason) for reason in result["step_reason"].values]
    assert any("stick or slip" in reason for reason in reasons)


def test_a_block_on_a_plane_that_tilts_lets_go_at_the_angle_of_static_friction():
    kinetic, static, w = 0.2, 0.4, 0.5
    plate = Body("plate", 5.0, (1, 1, 1.0), angular_velocity=(0, -w, 0))
    block = Body("block", 0.5, point_mass=True)
    axes = (0, -1, 0)
    hub = Revolute("hub", Frame(GROUND, (0, 0, 0), axes), Frame(plate, (0, 0, 0), axes))
    law = ContactLaw(friction=kinetic, static_friction=static)
    top = PlaneContact("top", Frame(plate), Frame(block), law=law)
    mechanism = Mechanism([plate, block], [hub, Driven("motor", hub, w)], "relative")
    dynamics = assemble(mechanism, [top], (0, 0, -G))
    begins = np.arctan(static) / w
    end = begins + 0.5

    def rates(t, x):
        pressed = G * np.cos(w * t) + 2 * w * x[1]
        return [x[1], w**2 * x[0] - G * np.sin(w * t) + kinetic * pressed]

    slid = solve_ivp(rates, (begins, end), [0, 0], rtol=1e-12, atol=1e-14).y[0, -1]
    right = slid * np.array([np.cos(w * end), np.sin(w * end)])
    errors = []
    for h in (1.6e-2, 8e-3, 4e-3, 2e-3, 1e-3):
        result = run(dynamics, end, h)
        places, t = result["body_position"].sel(body="block").values, result["time"].values
        errors.append(np.linalg.norm(places[-1, [0, 2]] - right))
        moved = np.linalg.norm(places, axis=1) > 1e-9
        assert t[np.argmax(moved) - 1] == pytest.approx(begins, abs=1e-5 * h)
    assert np.all(-np.diff(np.log2(errors)) > 1.8), errors


@pytest.mark.parametrize(("static", "holds"), [(0.3, True), (0.2, False)])
@pytest.mark.parametrize("part", [1e-6, 1.0])
def test_a_slip_that_turns_round_holds_if_static_friction_suffices(static, holds, part):
    """The block comes to a stop where the spring pulls with 0.26 times its weight."""
    kinetic, start = 0.1, 0.045
    dynamics = on_spring(ContactLaw(friction=kinetic, static_friction=static), start)
    shift = 2 * kinetic * G / STIFFNESS
    right = shift - start if holds else start - 2 * shift
    for h in (8e-3, 4e-3, 2e-3, 1e-3):
        result = run(dynamics, 1.0, h, part * h)
        off = 5e-4 * h**2 if part < 1 else G * h**2
        assert result["body_position"].values[-1, 0, 0] == pytest.approx(right, abs=off)
        assert np.abs(result["v"].values[-1]).max() < 1e-12
        assert np.all(np.diff(result["total_energy"].values) < 1e-5 * h)


@pytest.mark.parametrize("low", [0.0, 1.0])
@pytest.mark.parametrize(
    "feet", [[(-0.2, 0), (0.2, 0)], [(-0.3, -0.2), (0.2, -0.2), (-0.1, 0.2), (0.2, 0.2)]]
)
def test_feet_let_go_together(feet, low):
    """Of a box that is pulled harder and harder, at its centre or floor: what each has is open."""
    kinetic, static, ramp, height, slides = 0.2, 0.4, 2.0, 0.1, 0.3
    box = Body("box", 1.0, (0.02,) * 3, position=(0, 0, height))
    law = ContactLaw(friction=kinetic, static_friction=static)
    contacts = [
        PlaneContact(f"foot {k}", Frame(GROUND), Frame(box, (*place, -height)), law=law)
        for k, place in enumerate(feet)
    ]
    hook = Frame(box, (0, 0, -height * low))
    pull = AppliedForce("pull", hook, lambda t: (ramp * t, 0, 0))
    dynamics = assemble(Mechanism([box]), [*contacts, pull], (0, 0, -G))
    begins = static * G / ramp
    way = (static - kinetic) * G * slides**2 / 2 + ramp * slides**3 / 6
    for h in (1e-2, 4e-3):
        result = run(dynamics, begins + slides, h)
        t, x = result["time"].values, result["body_position"].values[:, 0, 0]
        assert t[np.argmax(np.abs(x) > 1e-9) - 1] == pytest.approx(begins, abs=1e-3 * h)
        assert x[-1] == pytest.approx(way, abs=0.2 * h**2)


def test_what_rests_while_others_strike_holds():
    """A block by static friction alone, beside a ball that bounces all the time."""
    law = ContactLaw(friction=0.1, static_friction=0.3)
    block = Body("block", 1.0, point_mass=True, position=(0.02, 0, 0))
    ball = Body("ball", 1.0, point_mass=True, position=(5, 0, 5e-3))
    elements = [
        PlaneContact("floor", Frame(GROUND), Frame(block), law=law),
        PlaneContact("bounce", Frame(GROUND), Frame(ball), law=ContactLaw(restitution=0.9)),
        SpringDamper("spring", Frame(GROUND), Frame(block), STIFFNESS),
    ]
    dynamics = assemble(Mechanism([block, ball]), elements, (0, 0, -G))
    result = run(dynamics, 0.6, 1e-3)
    assert np.sum(np.diff(np.sign(result["v"].values[:, 5])) > 1) > 5
    place = result["body_position"].sel(body="block").values
    assert np.abs(place - [0.02, 0, 0]).max() < 1e-12


def test_schemes_horizons_and_derivatives_that_know_no_static_friction_refuse_it():
    law = ContactLaw(friction=0.2, static_friction=0.3)
    dynamics, steps = on_spring(law), StepBounds(1e-3, 1e-3)
    for scheme in (MoreauJean(), PaperStep()):
        with pytest.raises(ValueError, match=r"no static friction above .* 'floor' .*Variational"):
            simulate(dynamics, duration=0.01, steps=steps, scheme=scheme)
    says = "contact 'floor' has static_friction, by which its force jumps"
    with pytest.raises(ValueError, match=says):
        sensitivities(dynamics, times=[0.01], steps=steps, scheme=Variational())
    rest = [0.0] * 3
    stay = {
        "costs": [Smoothness()],
        "conditions": [StartAt(rest, rest)],
        "guess": Quintic(rest, rest),
    }
    with pytest.raises(ValueError, match=says):
        optimize(dynamics, Horizon(0.1, steps=4), **stay, scheme=Variational())
    block = Body("block", 1.0, point_mass=True)
    floor = PlaneContact("floor", Frame(GROUND), Frame(block), law=replace(law, restitution=0.5))
    with pytest.raises(ValueError, match=r"static_friction of CompliantContact .*rigid contacts"):
        CompliantContact("soft", floor, Flores(stiffness=1e6))
    with pytest.raises(ValueError, match=r"static_friction .* below its friction, got 0\.1"):
        PlaneContact("floor", Frame(GROUND), Frame(block), law=ContactLaw(0, 0.2, 0, 0.1))
