"""Steps that end where contacts close, and where slip stops or turns round: closed forms."""

from functools import cache
from itertools import pairwise

import casadi as ca
import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.optimize import brentq

from nsopt import (
    GROUND,
    Body,
    ContactAligned,
    ContactLaw,
    Driven,
    Frame,
    JointDrives,
    Mechanism,
    Planar,
    PlanarRevoluteClearance,
    PlaneContact,
    Prismatic,
    Revolute,
    Slide,
    SphereContact,
    SpringDamper,
    Start,
    StepBounds,
    Variational,
    assemble,
    simulate,
)

G = 9.81  # m/s^2
ALONG_X = (1.0, 0, 0)

both = pytest.mark.parametrize(
    "scheme", [Variational(), ContactAligned()], ids=lambda x: type(x).__name__
)


def run(dynamics, duration, h, h_min=None, **options):
    steps = StepBounds(1e-6 * h if h_min is None else h_min, h)
    result = simulate(dynamics, duration=duration, steps=steps, progress=False, **options)
    assert result.completed, result.stop_reason
    return result


def on_floor(friction, *forces, mass=1.0, position=(0, 0, 0), velocity=(0, 0, 0)):
    """A particle that lies on a floor."""
    block = Body("block", mass, point_mass=True, position=position, velocity=velocity)
    floor = PlaneContact("floor", Frame(GROUND), Frame(block), law=ContactLaw(friction=friction))
    springs = [SpringDamper("spring", Frame(GROUND), Frame(block), k) for k in forces]
    return assemble(Mechanism([block]), [floor, *springs], (0, 0, -G))


def rails(*bodies):
    return [
        Prismatic(f"rail {b.name}", Frame(GROUND, (0, 0, 0), ALONG_X), Frame(b, (0, 0, 0), ALONG_X))
        for b in bodies
    ]


@cache
def oscillator():
    """A mass on a spring, driven, that strikes a stop at 0.1 m once a period with e = 0.6."""
    w, s, phase, v = 2.2, 0.1, 2.713175414699495, -0.714023071494247
    body = Body("mass", 1.0, (1.0,) * 3, position=(s - 1e-9, 0, 0), velocity=(1.02 * v, 0, 0))
    (rail,) = rails(body)
    drive = JointDrives(
        "drive", [Slide(rail.a, rail.b)], lambda t, q, _: ca.cos(w * t + phase) - q[0]
    )
    wall = Frame(GROUND, (s, 0, 0), (-1.0, 0, 0))
    stop = PlaneContact("stop", wall, Frame(body), law=ContactLaw(restitution=0.6))
    dynamics = assemble(Mechanism([body], [rail], "relative"), [stop, drive])
    return dynamics, 80 * 2 * np.pi / w, v


@both
def test_driven_impacts_are_of_second_order(scheme):
    dynamics, duration, exact = oscillator()
    errors = []
    for h in (2e-2, 1e-2, 5e-3):
        result = run(dynamics, duration, h, scheme=scheme)
        hits = np.flatnonzero(result["impulse"].values[:, 0] > 1e-3)[-30:]
        errors.append(np.abs(result["v"].values[hits, 0] - exact).max())
    assert errors[1] < 1e-4
    assert errors[2] < errors[0] / 12, errors


@both
@pytest.mark.parametrize("gap", [1e-2, 1e-4, 1e-6])
def test_a_small_ball_on_a_large_one_leaves_with_twice_the_speed(gap, scheme):
    large, small, fall = 0.1, 0.05, 0.5
    big = Body("big", 3.0, (0.01,) * 3, position=(0, 0, large + fall))
    top = Body("top", 1.0, (1e-3,) * 3, position=(0, 0, 2 * large + small + fall + gap))
    joints = [Prismatic(f"rail {b.name}", Frame(GROUND, b.position), Frame(b)) for b in (big, top)]
    law = ContactLaw(restitution=1.0)
    floor = PlaneContact("floor", Frame(GROUND), Frame(big), radius=large, law=law)
    balls = SphereContact("balls", Frame(big), Frame(top), large, radius=small, law=law)
    mechanism = Mechanism([big, top], joints, "relative")
    dynamics = assemble(mechanism, [floor, balls], (0, 0, -G))
    after = 5e-3
    result = run(dynamics, np.sqrt(2 * fall / G) + after, 5e-4, scheme=scheme)
    speed = np.sqrt(2 * G * fall)
    # The large one is at rest and lies on the floor, but for what it rose in the gap.
    assert result["v"].values[-1, 1] + G * after == pytest.approx(2 * speed, rel=2 * gap + 1e-6)
    assert abs(result["v"].values[-1, 0]) < 3 * G * after


def row_of_balls(count, gap, way=0.01, radius=0.1):
    """Balls on rails, of which the first comes at 1 m/s; e = 1."""
    bodies = [
        Body(
            f"ball {i}",
            0.3,
            (1e-3,) * 3,
            position=(i * (2 * radius + gap) - way * (i == 0), 0, 0),
            velocity=(float(i == 0), 0, 0),
        )
        for i in range(count)
    ]
    law = ContactLaw(restitution=1.0)
    contacts = [
        SphereContact(f"pair {i}", Frame(a), Frame(b), radius, radius=radius, law=law)
        for i, (a, b) in enumerate(pairwise(bodies))
    ]
    return assemble(Mechanism(bodies, rails(*bodies), "relative"), contacts)


@both
@pytest.mark.parametrize("count", [3, 5, 10])
@pytest.mark.parametrize("gap", [1e-3, 1e-5, 1e-7])
def test_the_last_ball_of_a_row_takes_all_of_the_speed(count, gap, scheme):
    result = run(row_of_balls(count, gap), 0.04, 1e-3, h_min=1e-11, scheme=scheme)
    assert result["v"].values[-1] == pytest.approx([0.0] * (count - 1) + [1.0], abs=1e-9)


@pytest.mark.parametrize("count", [3, 5, 10])
def test_balls_that_touch_are_struck_as_one(count):
    """By Newton's law of all contacts at once; they go on side by side, without more events."""
    result = run(row_of_balls(count, 0.0), 0.02, 1e-3, scheme=ContactAligned())
    together = 2 / count
    expected = [together - 1.0] + [together] * (count - 1)
    assert result["v"].values[-1] == pytest.approx(expected, abs=1e-9)
    assert result.data.attrs["steps"] < 25


@both
@pytest.mark.parametrize("h", [4e-3, 1e-3])
def test_a_block_that_sticks_on_a_turntable_does_not_creep(h, scheme):
    radius, w = 0.4, 2.0
    plate = Body("plate", 5.0, (1, 1, 1.0), angular_velocity=(0, 0, w))
    block = Body(
        "block", 0.5, point_mass=True, position=(radius, 0, 0), velocity=(0, w * radius, 0)
    )
    hub = Revolute("hub", Frame(GROUND), Frame(plate))
    top = PlaneContact("top", Frame(plate), Frame(block), law=ContactLaw(friction=0.5))
    mechanism = Mechanism([plate, block], [hub, Driven("motor", hub, w)], "relative")
    result = run(assemble(mechanism, [top], (0, 0, -G)), 10.0, h, scheme=scheme)
    place = result["body_position"].sel(body="block").values[-1]
    right = radius * np.array([np.cos(10 * w), np.sin(10 * w)])
    assert np.linalg.norm(place[:2] - right) < 1e-9


def sway(t, amplitude, w, shift):
    """Where a mass on a spring is under dry friction, let go at rest; shift = mu g / w^2."""
    while amplitude > shift and t > np.pi / w:
        t, amplitude = t - np.pi / w, -(amplitude - 2 * shift)
        if amplitude > 0:
            return amplitude
        return -sway(t, -amplitude, w, shift)
    return amplitude if amplitude <= shift else shift + (amplitude - shift) * np.cos(w * t)


@both
def test_slip_that_turns_round_and_sticks_is_of_second_order(scheme):
    stiffness, mu, start, duration = 100.0, 0.25, 0.31, 1.1
    dynamics = on_floor(mu, stiffness, position=(start, 0, 0))
    exact = sway(duration, start, np.sqrt(stiffness), mu * G / stiffness)
    errors = [
        abs(run(dynamics, duration, h, scheme=scheme)["body_position"].values[-1, 0, 0] - exact)
        for h in (8e-3, 4e-3, 2e-3)
    ]
    orders = -np.diff(np.log2(errors))
    assert np.all(orders > 1.8), errors
    # To its end: 6 times it turns round, then it sticks.
    rest = run(dynamics, 3.0, 2e-3, scheme=scheme)
    stays = sway(3.0, start, np.sqrt(stiffness), mu * G / stiffness)
    assert rest["body_position"].values[-1, 0, 0] == pytest.approx(stays, abs=2e-4)
    assert np.abs(rest["v"].values[-1]).max() < 1e-12


def on_belt(friction, stiffness, speed, place):
    """A particle of 1 kg at rest on a belt, held by a spring."""
    belt = Body("belt", 50.0, (1.0,) * 3, velocity=(speed, 0, 0))
    block = Body("block", 1.0, point_mass=True, position=(place, 0, 0))
    (rail,) = rails(belt)
    top = PlaneContact("top", Frame(belt), Frame(block), law=ContactLaw(friction=friction))
    spring = SpringDamper("spring", Frame(GROUND), Frame(block), stiffness)
    joints = [rail, Driven("motor", rail, speed)]
    return assemble(Mechanism([belt, block], joints, "relative"), [top, spring], (0, 0, -G))


@both
def test_stick_slip_on_a_belt_is_of_second_order(scheme):
    """It slides, is carried as far as friction holds it, then swings about that place."""
    mu, stiffness, speed, beyond = 0.3, 100.0, 0.2, 0.05
    w, held = np.sqrt(stiffness), mu * G / stiffness
    sticks = brentq(lambda t: -beyond * w * np.sin(w * t) - speed, 1.01 * np.pi / w, 0.45)
    slides = sticks - beyond * np.cos(w * sticks) / speed
    dynamics, start = on_belt(mu, stiffness, speed, held + beyond), held + beyond
    for t, place, rate in (
        (slides - 0.02, held - 0.02 * speed, speed),
        (
            slides + 0.2,
            held + speed / w * np.sin(w * 0.2),
            speed * np.cos(w * 0.2),
        ),
    ):
        gained = (rate**2 + stiffness * (place**2 - start**2)) / 2
        errors = []
        for h in (8e-3, 4e-3, 2e-3):
            data = run(dynamics, t, h, scheme=scheme).data
            energy = data["total_energy"].values
            found = data["body_position"].sel(body="block").values[-1, 0]
            errors.append([abs(found - place), abs(energy[-1] - energy[0] - gained)])
        orders = np.log2(np.divide(errors[0], errors[-1])) / 2
        assert np.all(orders > 1.8), errors


@both
def test_a_block_slides_to_rest_in_its_way(scheme):
    mu, v = 0.3, np.array([1.0, 0.3])
    dynamics = on_floor(mu, velocity=(*v, 0))
    way = v * np.linalg.norm(v) / (2 * mu * G)
    for h in (8e-3, 3e-3):
        place = run(dynamics, 0.5, h, scheme=scheme)["body_position"].values[-1, 0, :2]
        assert place == pytest.approx(way, abs=1e-10)


@both
def test_a_bowling_ball_rolls_from_where_its_slip_ends(scheme):
    radius, mu, v, duration = 0.1, 0.2, 3.0, 1.0
    ball = Body("ball", 1.0, (0.4 * radius**2,) * 3, position=(0, 0, radius), velocity=(v, 0, 0))
    floor = PlaneContact(
        "floor", Frame(GROUND), Frame(ball), radius=radius, law=ContactLaw(friction=mu)
    )
    dynamics = assemble(Mechanism([ball]), [floor], (0, 0, -G))
    rolls = 2 * v / (7 * mu * G)
    way = v * rolls - mu * G * rolls**2 / 2 + 5 / 7 * v * (duration - rolls)
    result = run(dynamics, duration, 7e-3, scheme=scheme)
    assert result["body_position"].values[-1, 0, 0] == pytest.approx(way, abs=1e-9)


def check_second_order(dynamics, duration, right, scheme, sizes=(8e-3, 4e-3, 2e-3)):
    places = [
        run(dynamics, duration, h, scheme=scheme)["body_position"].values[-1, 0, :2] for h in sizes
    ]
    errors = [np.linalg.norm(place - right) for place in places]
    orders = -np.diff(np.log2(errors))
    assert np.all(orders > 1.8), errors


@both
def test_slip_whose_direction_turns_is_of_second_order(scheme):
    """A block on a spring, thrown across it: it slides all the time."""
    stiffness, mu = 100.0, 0.1

    def rates(_, x):
        return [*x[2:], *(-stiffness * x[:2] - mu * G * x[2:] / np.linalg.norm(x[2:]))]

    exact = solve_ivp(rates, (0, 0.5), [0.3, 0, 0, 2.0], rtol=1e-12, atol=1e-13).y[:2, -1]
    thrown = on_floor(mu, stiffness, position=(0.3, 0, 0), velocity=(0, 2.0, 0))
    check_second_order(thrown, 0.5, exact, scheme)


@both
def test_a_disc_that_rolls_in_a_bore_is_of_second_order(scheme):
    """Without slip: 3/2 of its mass counts, as it turns."""
    hole, radius, angle, duration = 0.1, 0.05, 0.8, 0.7
    arm = hole - radius
    start = arm * np.array([np.sin(angle), -np.cos(angle), 0])
    disc = Body("disc", 1.0, (1.0, 1.0, 0.5 * radius**2), position=tuple(start))
    frames = Frame(disc), Frame(GROUND)
    law = ContactLaw(friction=0.5)
    bore = PlanarRevoluteClearance("bore", *frames, clearance=arm, radius=radius, law=law)
    mechanism = Mechanism([disc], [Planar("plane", *frames[::-1])], "relative")
    rolls = solve_ivp(
        lambda _, x: [x[1], -2 * G / (3 * arm) * np.sin(x[0])],
        *((0, duration), [angle, 0.0]),
        rtol=1e-12,
        atol=1e-13,
    )
    end = rolls.y[0, -1]
    right = arm * np.array([np.sin(end), -np.cos(end)])
    check_second_order(assemble(mechanism, [bore], (0, -G, 0)), duration, right, scheme)


def rebound(result, contact, rate):
    """Return the speed of separation over that of approach, where a contact first closes."""
    k = int(np.flatnonzero(result["contact_mode"].values[:, contact] > 0)[0])
    before, after = (rate(result["v"].values[row]) for row in (k - 1, k))
    return -after / before


@both
@pytest.mark.parametrize("part", [1e-6, 1e-3, 1.0])
@pytest.mark.parametrize("way", [2e-4, 5e-4, 8e-4])
def test_a_box_rebounds_from_a_wall_while_its_feet_press(way, part, scheme):
    """Off its centre: the impact turns it onto one foot, which answers at once."""
    box = Body("box", 1.0, (0.02,) * 3, position=(0, 0, 0.1), velocity=(1.0, 0, 0))
    law = ContactLaw(restitution=0.5)
    feet = [
        PlaneContact(f"foot {x}", Frame(GROUND), Frame(box, (x, 0, -0.1)), law=law)
        for x in (-0.2, 0.2)
    ]
    wall = Frame(GROUND, (0.3 + way, 0, 0), (-1.0, 0, 0))
    met = PlaneContact("wall", wall, Frame(box, (0.2, 0, 0.08)), law=law)
    dynamics = assemble(Mechanism([box]), [*feet, met], (0, 0, -G))
    result = run(dynamics, 0.12, 1e-3, 1e-3 * part, scheme=scheme)
    found = rebound(result, 2, lambda v: v[0] + 0.08 * v[4])
    assert found == pytest.approx(0.5, abs=1e-6 if part < 1 else 1e-3)


def test_a_box_that_tips_onto_its_other_foot_rebounds():
    box = Body("box", 1.0, (0.02,) * 3, position=(0, 0, 0.1))
    law = ContactLaw(restitution=0.3, friction=0.4)
    feet = [
        PlaneContact(f"foot {x}", Frame(GROUND), Frame(box, (x, 0, -0.1)), law=law)
        for x in (-0.2, 0.2)
    ]
    dynamics = assemble(Mechanism([box]), feet, (0, 0, -G))
    for part, off in ((1e-3, 1e-5), (0.1, 2e-3)):
        for angle in np.linspace(0.3, 0.6, 8):
            c, s = np.cos(angle), np.sin(angle)
            place = [-0.2 * c + 0.1 * s, 0, 0.2 * s + 0.1 * c]
            start = Start(
                np.array([*place, np.cos(angle / 2), 0, np.sin(angle / 2), 0]), np.zeros(6)
            )
            result = run(dynamics, 0.6, 1e-3, 1e-3 * part, start=start)
            assert rebound(result, 0, lambda v: v[2] + 0.2 * v[4]) == pytest.approx(0.3, abs=off)


def test_what_changes_too_often_stays_in_longer_steps():
    """Twelve balls that bounce for ten steps each: more impacts than steps."""
    h, law = 1e-3, ContactLaw(restitution=1.0)
    falls = G * (h * np.linspace(4, 6, 12)) ** 2 / 2
    balls = [
        Body(f"ball {i}", 1.0, point_mass=True, position=(0, 0, fall))
        for i, fall in enumerate(falls)
    ]
    floors = [PlaneContact(f"floor of {b.name}", Frame(GROUND), Frame(b), law=law) for b in balls]
    joints = [Prismatic(f"rail {b.name}", Frame(GROUND, b.position), Frame(b)) for b in balls]
    result = run(assemble(Mechanism(balls, joints, "relative"), floors, (0, 0, -G)), 0.3, h)
    data = result.data
    impacts = int(np.sum(data["impulse"].values[1:] > 0))
    assert impacts > 250
    assert data.attrs["steps"] + data["retries"].sum() < 2 * 300 + 40
    assert data.attrs["time_past_changes"] > 0.1
    assert np.all(np.diff(data["total_energy"].values) < 1e-12)
