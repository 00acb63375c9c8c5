"""Wheels that roll in phases: carts on an axle, against closed forms and against steps."""

import numpy as np
import pytest
from scipy.optimize import minimize

from nsopt import (
    GROUND,
    Actuator,
    Body,
    ContactLaw,
    Frame,
    Mechanism,
    Parameter,
    Planar,
    PlaneContact,
    PrescribedSpeed,
    Prismatic,
    Revolute,
    Turn,
    Wheel,
    assemble,
)
from nsopt.trajectory import (
    IN_STEPS,
    PLAN,
    Effort,
    EndAt,
    Horizon,
    MotionPhase,
    Open,
    Sliding,
    StartAt,
    Straight,
    Through,
    optimize,
    optimize_phases,
)

RADIUS, TRACK, MASS, WHEEL, SPIN, YAW = 0.1, 0.4, 20.0, 1.0, 5e-3, 1.5  # m, m, kg, kg, kg m^2
G = (0.0, 0.0, -9.81)
PER_WHEEL = RADIUS * (MASS / 2 + WHEEL + SPIN / RADIUS**2)
"""Torque of a wheel over the acceleration straight ahead."""


def cart(slides=True):
    """Return a cart on two driven wheels, the second of which may slip along its axle."""
    base = Body("base", MASS, (1.0, 1.0, YAW), position=(0, 0, RADIUS))
    bodies, joints, wheels = (
        [base],
        [Planar("floor", Frame(GROUND, (0, 0, RADIUS)), Frame(base))],
        [],
    )
    for k, y in enumerate((TRACK / 2, -TRACK / 2)):
        place = (0.0, y, RADIUS)
        wheel = Body(f"wheel {k}", WHEEL, (3e-3, SPIN, 3e-3), position=place)
        bodies.append(wheel)
        joints.append(
            Revolute(f"axle {k}", *(Frame.at(body, place, (0, 1, 0)) for body in (base, wheel)))
        )
        upright = Frame.at(wheel, place, np.eye(3))
        wheels.append(Wheel(f"on {k}", Frame(GROUND), upright, RADIUS, slides=slides and k > 0))
    motors = [Actuator(f"axle {k}") for k in (0, 1)]
    return assemble(Mechanism(bodies, joints, "relative", motors), wheels, gravity=G)


def park(steps, by=optimize_phases, way=((0.3, 0.25, 0.8),), to=(0.0, 0.5, 0.0), plan=PLAN):
    """Return the best motion from rest to rest, its wheels free at the end."""
    d, T, points = cart(), 3.0, np.zeros((len(way) + 2, 5))
    points[1:, :3] = [*way, to]
    ends = [StartAt([0.0] * 5, [0.0] * 5), EndAt([*to, np.nan, np.nan], [0.0] * 5)]
    guess = Through(points.tolist(), np.linspace(0, 1, len(points)))
    if by is optimize_phases:
        return by([MotionPhase(d, Horizon(T, steps), [Effort()], ends, guess)])
    return by(d, Horizon(T, steps), [Effort()], ends, guess, plan=plan)


@pytest.mark.slow
def test_straight_ahead_a_cart_is_a_mass():
    """12 D^2 / T^3 is the least integral of the square of its acceleration."""
    best = park(6, way=[], to=(1.0, 0.0, 0.0))
    assert best.completed
    assert best.objective == pytest.approx(2 * PER_WHEEL**2 * 12 / 3.0**3, rel=1e-9)
    assert best.phases[0]["q"].values[-1, 3:] == pytest.approx(1 / RADIUS, abs=1e-9)


@pytest.mark.slow
def test_a_cart_that_parks_sideways_is_of_fourth_order():
    found = [park(n).objective for n in (20, 40, 80)]
    off = np.abs(np.array(found[:2]) - found[2])
    assert off[1] < off[0] / 10
    # In steps it is of second order: h^2 is left out by two of them.
    in_steps = [park(n, optimize, plan=IN_STEPS).objective for n in (40, 80)]
    assert found[2] == pytest.approx((4 * in_steps[1] - in_steps[0]) / 3, rel=1e-4)


def carriage(e):
    """Return a carriage on a rail whose wheel rolls on the ground, before a wall at x = 0."""
    base = Body("base", MASS, (1.0, 1.0, 1.0), position=(0, 0, RADIUS))
    wheel = Body("wheel", WHEEL, (3e-3, SPIN, 3e-3), position=(0, 0, RADIUS))
    frames = (Frame.at(x, (0, 0, RADIUS), (1, 0, 0)) for x in (GROUND, base))
    axle = (Frame.at(x, (0, 0, RADIUS), (0, 1, 0)) for x in (base, wheel))
    joints = [Prismatic("rail", *frames), Revolute("axle", *axle)]
    law = ContactLaw(restitution=Parameter("e", e))
    wall = PlaneContact("wall", Frame(GROUND, axes=(1, 0, 0)), Frame(base), law=law)
    rolls = Wheel("tyre", Frame(GROUND), Frame(wheel), RADIUS, slides=True)
    mechanism = Mechanism([base, wheel], joints, "relative", [Actuator("axle")])
    return assemble(mechanism, [wall, rolls], gravity=G)


@pytest.mark.slow
@pytest.mark.parametrize("e", [1.0, 0.5])
def test_a_wheel_rolls_on_when_its_carriage_strikes(e):
    """As `bounce`, the wheel and its spin part of the mass."""

    def cost(x):
        """Return the least integral of a^2 by time and speed of the blow, cubics on both sides."""
        t, v = x
        sides = ((t, v), (2.0 - t, e * v))
        return sum(4 * u**2 / T - 12 * u / T**2 + 12 / T**3 for T, u in sides)

    least = minimize(cost, (0.9, 1.5), tol=1e-12).fun
    rest = [0.0, 0.0]
    there = Straight([1.0, 1 / RADIUS], [0.0, 0.0])
    ends = StartAt([1.0, 1 / RADIUS], rest), EndAt([1.0, np.nan], rest)
    d, parts = carriage(e), Horizon((0.2, 1.8), 10)
    approach = MotionPhase(d, parts, [Effort()], [ends[0]], there, modes={"wall": Open()})
    back = Straight([0.0, 0.0], [1.0, 1 / RADIUS])
    away = MotionPhase(
        d, parts, [Effort()], [ends[1]], back, modes={"wall": Open()}, strikes={"wall": Sliding()}
    )
    best = optimize_phases([approach, away], duration=2.0)
    assert best.completed, best.stop_reason
    mass = MASS + WHEEL + SPIN / RADIUS**2
    assert best.objective == pytest.approx((RADIUS * mass) ** 2 * least, rel=1e-6)
    for x in best.phases:
        assert x["v"].values[:, 0] == pytest.approx(RADIUS * x["v"].values[:, 1], abs=1e-9)


def test_a_given_speed_is_refused():
    """Phases have times of their own, and a drive that keeps a speed none of its own."""
    d = cart()
    paced = [*d.elements, PrescribedSpeed("pace", Turn(*d.mechanism.joints[1].frames), 1.0)]
    driven = assemble(d.mechanism, paced, gravity=G)
    guess = Straight([0.0] * 5, [1.0] * 5)
    with pytest.raises(ValueError, match="'pace' moves with time, or at a given speed"):
        optimize_phases([MotionPhase(driven, Horizon(1.0, 4), [Effort()], [], guess)])


def test_wheels_of_an_axle_that_both_keep_it_are_refused():
    """Which of them bears the side force would be anything."""
    d, guess = cart(slides=False), Straight([0.0] * 5, [1.0] * 5)
    with pytest.raises(ValueError, match="'on 1' follows from joints"):
        optimize(d, Horizon(1.0, 4), [Effort()], [], guess)
    phase = MotionPhase(d, Horizon(1.0, 4), [Effort()], [], guess)
    with pytest.raises(ValueError, match="'on 1' follows from joints"):
        optimize_phases([phase])
