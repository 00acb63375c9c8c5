"""Contacts that slide in space: the direction of their slip is found with the motion."""

import json
from itertools import pairwise

import numpy as np
import pytest
from scipy.integrate import simpson, solve_bvp

from nsopt import (
    GROUND,
    Actuator,
    AppliedForce,
    Body,
    ContactLaw,
    Frame,
    Mechanism,
    Parameter,
    PlaneContact,
    Prismatic,
    assemble,
)
from nsopt.mpcc import Bound
from nsopt.trajectory import (
    Effort,
    EndAt,
    Horizon,
    InputEffort,
    MotionPhase,
    Open,
    Periodic,
    Quintic,
    Sliding,
    StartAt,
    Sticking,
    optimize,
    optimize_phases,
)
from nsopt.trajectory.conditions import Condition

G, MU, MASS, LIGHT = 9.81, 0.1, 2.0, 1e-9
WAY = np.array([0.3, 0.4, 0.0])


def puck():
    """A puck that two motors draw along the floor, free to rise."""
    carts = [Body(f"cart {k}", LIGHT, (LIGHT,) * 3) for k in range(2)]
    body = Body("puck", MASS, (1.0, 1.0, 1.0))
    links = [None, *carts, body]
    joints = [
        Prismatic(f"slide {k}", Frame(links[k], axes=axis), Frame(links[k + 1], axes=axis))
        for k, axis in enumerate(np.eye(3).tolist())
    ]
    floor = PlaneContact("floor", Frame(GROUND), Frame(body), law=ContactLaw(friction=MU))
    drives = [Actuator("slide 0"), Actuator("slide 1")]
    mechanism = Mechanism([*carts, body], joints, "relative", drives)
    return assemble(mechanism, [floor], (0.0, 0.0, -G))


def solve_least_turn(off, guess, duration=1.0):
    """Return the least effort of a slip in a time [s], by Pontryagin, and the position, half of it.

    Of the Hamiltonian |f|^2 + p u + r (f / m - mu g u / |u|), whose least has f = -r / (2 m).
    ``off`` is of ends, ``guess`` of places and velocities at times over the duration.
    """

    def rates(t, y):
        u, p, r = y[2:4], y[4:6], y[6:8]
        speed = np.hypot(*u)
        e = u / speed
        pull = -r / (2 * MASS**2) - MU * G * e
        return np.vstack([u, pull, 0 * p, -p + MU * G / speed * (r - e * (e * r).sum(0))])

    t = np.linspace(0, duration, 41)
    y = np.zeros((8, 41))
    y[:4] = guess(t / duration)
    found = solve_bvp(rates, off, t, y, tol=1e-10, max_nodes=100000)
    assert found.success
    fine = np.linspace(0, duration, 4001)
    effort = simpson((found.sol(fine)[6:8] ** 2).sum(0) / (4 * MASS**2), x=fine)
    return effort, np.append(found.sol(duration / 2)[:2], 0.0)


def compute_least_turn(end):
    """Return the same from (1, 0) to (0, 1) m/s within 1 s."""

    def off(a, b):
        return np.concatenate([a[:4] - [0, 0, 1, 0], b[:4] - [*end, 0, 1]])

    return solve_least_turn(
        off, lambda t: (end[0] * t, end[1] * t, np.maximum(1 - t, 0.01), np.maximum(t, 0.01))
    )


def compute_least_round(radius, quarter):
    """Return the least effort to go through four places on a circle, each quarter in a time [s]."""
    turn = np.array([[0, -1], [1, 0]])

    def off(a, b):
        turned = b[2:4] - turn @ a[2:4], b[6:8] - turn @ a[6:8]
        return np.concatenate([a[:2] - [radius, 0], b[:2] - [0, radius], *turned])

    def go_round(t):
        angle, speed = np.pi / 2 * t, np.pi / 2 * radius / quarter
        x, y = np.cos(angle), np.sin(angle)
        return radius * x, radius * y, -speed * y, speed * x

    return 4 * solve_least_turn(off, go_round, quarter)[0]


def test_a_slip_that_turns_is_of_fourth_order():
    end, d = (0.6, 0.6), puck()
    (least, _), off = compute_least_turn(end), []
    for steps in (10, 20):
        start = StartAt(np.zeros(3), [1.0, 0.0, 0.0])
        ends = [start, EndAt([*end, 0.0], [0.0, 1.0, 0.0])]
        guess = Quintic(np.zeros(3), [*end, 0.0])
        slide = MotionPhase(
            d, Horizon(1.0, steps), [Effort()], ends, guess, modes={"floor": Sliding()}
        )
        result = optimize_phases([slide])
        assert result.completed, result.stop_reason
        off.append(abs(result.objective - least) / least)
    assert off[0] < 1e-6
    assert off[0] > 12 * off[1]
    angle = result.phases[0]["input"].sel(input_name="floor_slip_angle").values
    slip = result.phases[0]["v"].values
    assert angle == pytest.approx(np.arctan2(slip[:, 1], slip[:, 0]), abs=1e-8)


def test_a_slip_goes_on_where_a_guess_stops_between_phases():
    """At rest two phases could meet at any angle: a motion that stops there costs more."""
    end, steps = np.array([0.6, 0.6, 0.0]), 10
    least, half = compute_least_turn(end[:2])
    parts = (
        ([StartAt(np.zeros(3), [1.0, 0.0, 0.0])], np.zeros(3), half),
        ([StartAt(half), EndAt(end, [0.0, 1.0, 0.0])], half, end),
    )
    phases = [
        MotionPhase(
            puck(),
            Horizon(0.5, steps),
            [Effort()],
            conditions,
            Quintic(*ends),
            modes={"floor": Sliding()},
        )
        for conditions, *ends in parts
    ]
    result = optimize_phases(phases)
    assert result.completed, result.stop_reason
    assert result.objective == pytest.approx(least, rel=1e-6)


@pytest.mark.parametrize("is_stated", [True, False])
def test_a_slip_that_reverses_between_phases_stops(is_stated):
    """There and back, two cubic polynomials: exact with the rest stated, else in fine steps."""
    rest = np.zeros(3)
    there = EndAt(WAY, rest) if is_stated else EndAt(WAY)
    parts = ([StartAt(rest, rest), there], rest, WAY), ([EndAt(rest, rest)], WAY, rest)
    phases = [
        MotionPhase(
            puck(), Horizon(1.0, 8), [Effort()], own, Quintic(*way), modes={"floor": Sliding()}
        )
        for own, *way in parts
    ]
    result = optimize_phases(phases)
    assert result.completed, result.stop_reason
    least = 24 * (MASS * 0.5) ** 2 + 2 * (MU * MASS * G) ** 2
    assert result.objective == pytest.approx(least, abs=1.5 * result.objective_error)
    assert result.objective_error < (1e-6 if is_stated else 3e-3) * least
    assert result.phases[1]["v"].values[0] == pytest.approx(rest, abs=1e-6)


def test_a_circle_goes_on_at_the_end_of_its_period():
    """Through four places in a square, again and again, from a guess that stops at each."""
    quarter, d = 0.7, puck()
    places = 0.5 * np.array([[1, 0, 0], [0, 1, 0], [-1, 0, 0], [0, -1, 0], [1, 0, 0]])
    phases = [
        MotionPhase(
            d,
            Horizon(quarter, 10),
            [Effort()],
            [StartAt(way[0])],
            Quintic(*way),
            modes={"floor": Sliding()},
        )
        for way in pairwise(places)
    ]
    result = optimize_phases(phases, periodic=Periodic())
    assert result.completed, result.stop_reason
    assert result.objective == pytest.approx(compute_least_round(0.5, quarter), rel=1e-6)


class AtRest(Condition):
    """The same as velocities of zero in `StartAt`, by a condition of a user's own."""

    def start(self, m):
        return [Bound("at rest", m.v, np.zeros(3), np.zeros(3))]


def test_a_rest_by_any_condition_has_the_direction_of_its_rate():
    rest, end = np.zeros(3), np.array([0.6, 0.6, 0.0])
    costs = []
    for starts in ([StartAt(rest, rest)], [StartAt(rest), AtRest()]):
        ends = [*starts, EndAt(end, [0.0, 1.0, 0.0])]
        slide = MotionPhase(
            puck(),
            Horizon(1.0, 10),
            [Effort()],
            ends,
            Quintic(rest, end),
            modes={"floor": Sliding()},
        )
        result = optimize_phases([slide])
        assert result.completed, result.stop_reason
        costs.append(result.objective)
        motion = result.phases[0]
        angle = motion["input"].sel(input_name="floor_slip_angle").values[0]
        a = motion["acceleration"].values[0]
        assert angle == pytest.approx(np.arctan2(a[1], a[0]), abs=1e-6)
    assert costs[1] == pytest.approx(costs[0], rel=1e-8)


def test_a_puck_waits_and_slides_by_the_plain_call():
    """Effort is least if it slides for sqrt(6 d / (mu g)), whenever that is."""
    slides = np.sqrt(6 * 0.5 / (MU * G))
    least = 4 / 3 * slides * (MU * MASS * G) ** 2
    ends = [StartAt(np.zeros(3), np.zeros(3)), EndAt(WAY, np.zeros(3))]
    result = optimize(puck(), Horizon(2.5, 20), [Effort()], ends, Quintic(np.zeros(3), WAY))
    assert result.completed, result.stop_reason
    assert result.data.attrs["objective"] == pytest.approx(least, rel=1e-8)
    assert result.data.attrs["contact_sequence"] == "floor sticks; floor slides; floor sticks"
    assert np.diff(result.data.attrs["borders"])[1] == pytest.approx(slides, rel=1e-4)


def test_an_impact_takes_friction_against_the_slip_after_it():
    """From 0.2 m with 0.6 of the speed down along (0.6, 0.8), of which friction takes 0.1."""
    d, height, direction = puck(), 0.2, np.array([0.6, 0.8, 0.0])
    fall, speed = np.sqrt(2 * height / G), np.sqrt(2 * height * G)
    along = 0.6 * speed * direction
    landed, top = along * fall, np.array([0.0, 0.0, height])
    air = MotionPhase(
        d,
        Horizon((0.05, 1.0), 10),
        [Effort()],
        [StartAt(top, along)],
        Quintic(top, landed),
        modes={"floor": Open()},
    )
    later = Quintic(None, landed + 0.1 * direction)
    on_floor = MotionPhase(d, Horizon(0.1, 5), [Effort()], [], later, modes={"floor": Sliding()})
    result = optimize_phases([air, on_floor])
    assert result.completed, result.stop_reason
    normal, angle = json.loads(result.phases[1].data.attrs["impact"])["floor"]
    assert normal == pytest.approx(MASS * speed, rel=1e-6)
    assert angle == pytest.approx(np.arctan2(0.8, 0.6), rel=1e-6)
    after = along - MU * speed * direction
    assert result.phases[1]["v"].values[0] == pytest.approx(after, rel=1e-6, abs=1e-9)
    # Friction goes on where nothing pulls, so no effort is needed.
    assert result.objective == pytest.approx(0.0, abs=1e-6)
    lost = after - MU * G * 0.1 * direction
    assert result.phases[1]["v"].values[-1] == pytest.approx(lost, rel=1e-6, abs=1e-9)


def test_a_slip_begins_where_a_contact_no_longer_sticks():
    """Its direction is then that of its rate: a given sequence costs as the plain call finds."""
    d, rest = puck(), np.zeros(3)
    stands = MotionPhase(
        d,
        Horizon((0.01, 2.5), 6),
        [Effort()],
        [StartAt(rest, rest)],
        Quintic(rest, rest),
        modes={"floor": Sticking()},
    )
    slides = MotionPhase(
        d,
        Horizon((0.01, 2.5), 15),
        [Effort()],
        [EndAt(WAY, rest)],
        Quintic(rest, WAY),
        modes={"floor": Sliding()},
    )
    result = optimize_phases([stands, slides], duration=2.5)
    assert result.completed, result.stop_reason
    time = np.sqrt(6 * 0.5 / (MU * G))
    assert result.objective == pytest.approx(4 / 3 * time * (MU * MASS * G) ** 2, rel=1e-8)
    assert result.borders[1] == pytest.approx(2.5 - time, rel=1e-5)
    assert result.phases[1]["input"].sel(input_name="floor_slip_angle").values == pytest.approx(
        np.arctan2(0.4, 0.3), rel=1e-6
    )


def bowl(steps):
    """Return errors of when a ball of any spin rolls, and of where it is and how fast after 0.6 s.

    Its slip falls by 7/2 mu g t; a push that costs does nothing.
    """
    mass, radius, friction, T = 6.0, 0.1, 0.2, 0.6
    ball = Body("ball", mass, (0.4 * mass * radius**2,) * 3, position=(0, 0, radius))
    law = ContactLaw(friction=friction)
    floor = PlaneContact("floor", Frame(GROUND), Frame(ball), radius=radius, law=law)
    inputs = ["push_x", "push_y"]
    push = AppliedForce("push", Frame(ball), (*(Parameter(x, 0.0) for x in inputs), 0.0))
    d = assemble(Mechanism([ball]), [floor, push], (0.0, 0.0, -G))
    v, w, r = np.array([1.0, 0.3]), np.array([3.0, -5.0, 20.0]), radius
    slip = v + r * np.array([-w[1], w[0]])
    slides = 2 * np.hypot(*slip) / (7 * friction * G)
    brake = friction * G * slip / np.hypot(*slip)
    rolling = v - slides * brake
    there = slides * v - slides**2 / 2 * brake
    end = there + (T - slides) * rolling
    places = [[*x, r, 1.0, 0.0, 0.0, 0.0] for x in ((0.0, 0.0), there, end)]
    start, costs = StartAt(places[0], [*v, 0.0, *w]), [InputEffort(input=x) for x in inputs]
    phases = [
        MotionPhase(
            d,
            Horizon((0.02, T), steps),
            costs,
            conditions,
            Quintic(*ends),
            inputs,
            modes={"floor": mode},
        )
        for mode, conditions, ends in (
            (Sliding(), [start], places[:2]),
            (Sticking(), [], (None, places[2])),
        )
    ]
    result = optimize_phases(phases, duration=T)
    assert result.completed, result.stop_reason
    last = result.phases[1]
    off = last["q"].values[-1, :2] - end, last["v"].values[-1, :2] - rolling
    return np.array([abs(result.borders[1] - slides), *(np.abs(x).max() for x in off)])


def test_a_ball_that_spins_slides_until_it_rolls():
    coarse, fine = bowl(6), bowl(12)
    assert (coarse < 1e-3).all()
    assert (coarse > 12 * fine).all()
