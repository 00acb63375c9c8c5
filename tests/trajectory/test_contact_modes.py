"""Conditions on a part of a motion that cannot hold are refused before the solve."""

import numpy as np
import pytest

from nsopt import Body, Frame, Mechanism, PlaneContact, assemble
from nsopt.problem import load_optimization
from nsopt.trajectory import (
    Apart,
    ClearOf,
    Condition,
    During,
    EndAt,
    Horizon,
    Periodic,
    StartAt,
    Touching,
    Within,
)
from nsopt.trajectory.diagnosis import Statement, check_feasible
from tests.trajectory.mechanisms import ball_at

pytestmark = pytest.mark.unit

BALL = Body("ball", 1.0, point_mass=True)
FLOOR = PlaneContact("floor", Frame(None, (0, 0, 0.1)), Frame(BALL))
WALL = PlaneContact("wall", Frame(None, (2.0, 0, 0), (-1, 0, 0)), Frame(BALL))
GROUND = PlaneContact("ground", Frame(None), Frame(BALL))
D = assemble(Mechanism([BALL], coordinates="relative"), [FLOOR, WALL, GROUND])
STEPS = 20


def check(*conditions, duration=1.0):
    for condition in conditions:
        condition.check(D)
    check_feasible(Statement(D, conditions, (), D.values()), Horizon(duration, STEPS))


def refused(message, *conditions, **options):
    with pytest.raises(ValueError, match=message):
        check(*conditions, **options)


def test_two_modes_of_a_contact_at_once():
    shut = During(Touching("floor"), 0.2, 0.6)
    refused(
        "During Touching of contact 'floor', from step 4 to 12, and During Apart of contact "
        "'floor', from step 10 to 20, exclude each other from step 10 to 12: let one end where",
        shut,
        During(Apart("floor"), 0.5, 1.0),
    )
    refused(
        "^Apart of contact 'floor', all along, and During Touching .* from step 4 to 12: let",
        shut,
        Apart("floor"),
    )
    met = During(Touching("floor"), 0.5, 0.5)
    refused("at step 10, .* exclude each other at step 10: let", met, During(Apart("floor"), 0, 1))


def test_modes_that_follow_each_other():
    """At the node between it touches without pressing: what lifts off does."""
    check(During(Touching("floor"), 0.2, 0.6), During(Apart("floor"), 0.6, 1.0))
    met = During(Touching("floor"), 0.5, 0.5)
    check(During(Apart("floor"), 0, 0.5), met, During(Apart("floor"), 0.5, 1))
    check(During(Touching("floor"), 0.0, 0.6), During(Apart("wall"), 0.0, 1.0))
    check(During(Touching("floor"), 0.0, 0.6), During(Touching("floor"), 0.3, 1.0))


@pytest.mark.parametrize("duration", [1.0, (1.0, 2.0)])
def test_a_start_that_is_off_what_it_touches(duration):
    high = StartAt([0, 0, 0.5])
    refused(
        "the posture given at the start violates During Touching of contact 'floor': its gap is "
        "0.4 m, must be closed from step 0 to 4; move the start or change the condition",
        high,
        During(Touching("floor"), 0.0, 0.2),
        duration=duration,
    )
    refused("Touching of contact 'floor': .* closed all along", high, Touching("floor"))
    check(high, During(Touching("floor"), 0.05, 0.2), duration=duration)
    check(StartAt([1.0, 0, 0.1]), During(Touching("floor"), 0.0, 0.2), duration=duration)
    # One number, the height of a plane through the origin: statement as one.
    zero = During(Touching("ground"), 0.0, 0.0)
    refused("must be 0.5 at the start and 0 at step 0, which are 0.5 apart", high, zero)
    # The height alone decides on the floor, the way along on the wall.
    above = StartAt([np.nan, np.nan, 0.5])
    refused("its gap is 0.4 m", above, During(Touching("floor"), 0.0, 0.0), duration=duration)
    check(above, During(Touching("wall"), 0.0, 0.0), duration=duration)


def test_an_end_that_is_off_what_it_touches():
    far = EndAt([0.5, 0, 1.0])
    refused(
        "given at the end violates During Touching of contact 'wall': its gap is 1.5 m, must be "
        "closed at step 20; move the end",
        far,
        During(Touching("wall"), 1.0, 1.0),
    )
    check(far, During(Touching("wall"), 0.5, 0.95))
    check(EndAt([2.0, 0, 1.0]), During(Touching("wall"), 0.5, 1.0))


def test_limits_of_one_number_for_parts():
    x, _, z = D.q_names
    low, high = During(Within(z, 0.0, 0.2), 0.0, 0.5), During(Within(z, 0.5, 1.0), 0.45, 1.0)
    refused(
        f"During Within and During Within exclude each other: {z} must be at least 0 and at most "
        "0.2 from step 0 to 10 and at least 0.5 and at most 1 from step 9 to 20, which are 0.3",
        low,
        high,
    )
    check(low, During(Within(z, 0.5, 1.0), 0.55, 1.0))
    check(low, During(Within(x, 0.5, 1.0), 0.45, 1.0))
    refused("must be 0.7 at the start and .* from step 0 to 10", StartAt([0, 0, 0.7]), low)
    refused("must be 0.1 at the end and .* from step 9 to 20", EndAt([0, 0, 0.1]), high)
    check(StartAt([0, 0, 0.1]), EndAt([0, 0, 0.7]), low, During(Within(z, 0.5, 1.0), 0.55, 1.0))
    refused(f"{z} must be .* all along and", Within(z, 0.3, 0.4), low)


def test_an_obstacle_for_a_part():
    ball = ClearOf(Frame(BALL), ball_at((0, 0, 1.0), 0.5))
    refused(
        "given at the end violates During ClearOf of body 'ball': distance from the sphere is -0.2",
        EndAt([0, 0, 0.7]),
        During(ball, 0.5, 1.0),
    )
    check(EndAt([0, 0, 0.7]), During(ball, 0.5, 0.9))


def test_what_states_nothing_of_a_moment_has_no_effect_for_a_part():
    for inner in (
        StartAt([0, 0, 0]),
        Periodic(),
        During(Touching("wall"), 0, 1),
    ):
        what = type(inner).__name__
        refused(f"During {what} has no effect: {what} states nothing", During(inner, 0.5, 0.5))


def test_gaps_are_those_of_the_coordinates():
    """Of a bore too, whose gap is a number of its own in the program."""
    stated = load_optimization("clearance_pendulum")
    d = stated.dynamics
    statement = Statement(d, [Touching(name) for name in d.contact_names], (), d.values())
    q = np.asarray(d.stated_start()[0])
    values = statement.function(0, q, *(np.zeros(x.numel()) for x in statement.symbols[2:]))
    assert np.asarray(values) == pytest.approx(np.asarray(d.gap(0, q, d.values())), abs=1e-15)
    assert isinstance(statement.rows[0].inner_condition, Condition)
