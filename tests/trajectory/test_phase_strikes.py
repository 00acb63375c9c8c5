"""Contacts that strike where phases meet, and borders of phases whose times are given."""

from dataclasses import replace

import numpy as np
import pytest

from nsopt import GROUND, Body, ContactLaw, Frame, Mechanism, PlaneContact, assemble
from nsopt.trajectory import (
    Duration,
    Horizon,
    MotionPhase,
    Open,
    Sliding,
    StartAt,
    Sticking,
    Straight,
    optimize_phases,
)

G, HEIGHT = 9.81, 0.2
FELL = np.sqrt(2 * HEIGHT / G)
START = StartAt([0.0, 0.0, HEIGHT], [0.5, 0.0, 0.0])
OPEN = {"floor": Open()}


def thrown(strikes, mu=0.0, e=0.6, after=OPEN, **more):
    """A ball thrown along the floor at 0.5 m/s from 0.2 m: until its blow, and on."""
    ball = Body("ball", 1.0, point_mass=True)
    law = ContactLaw(restitution=e, friction=mu)
    floor = PlaneContact("floor", Frame(GROUND), Frame(ball), law=law, planar=True)
    d = assemble(Mechanism([ball], coordinates="relative"), [floor], gravity=(0, 0, -G))
    down, up = Straight([0.0, 0, HEIGHT], [0.1, 0, 0]), Straight([0.1, 0, 0], [0.12, 0, 0.05])
    first = MotionPhase(d, Horizon((0.05, 1), 6), [Duration()], [START], down, modes=OPEN)
    spans = Horizon((0.1, 1.0), 6)
    second = replace(first, horizon=spans, conditions=[], guess=up, modes=after, strikes=strikes)
    return optimize_phases([first, second], **more)


@pytest.mark.parametrize("e", [0.6, 1.0])
@pytest.mark.parametrize(("mu", "mode"), [(0.1, Sliding()), (1.0, Sticking())])
def test_an_oblique_blow(mu, mode, e):
    """Newton's law along the normal; along the floor mu times its impulse, at most all of it."""
    result = thrown({"floor": mode}, mu, e)
    assert result.completed, result.stop_reason
    assert result.borders[1] == pytest.approx(FELL, rel=1e-8)
    before, after = G * FELL, result.phases[1]["v"].values[0]
    along = 0.0 if mode.sticks else 0.5 - mu * (1 + e) * before
    assert after == pytest.approx([along, 0.0, e * before], abs=1e-7)


def test_a_blow_that_cannot_stick():
    """Within its cone the impulse of mu = 0.1 does not stop 0.5 m/s."""
    assert not thrown({"floor": Sticking()}, mu=0.1).completed


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"strikes": {"floor": Open()}}, r"'floor' strikes with Open\(\): give Sliding"),
        ({"strikes": {"floor": Sliding()}, "after": {"floor": Sticking()}}, "is not Open"),
        ({"strikes": {}, "after": {"floor": Sticking()}}, "'floor' has restitution and closes"),
        ({"strikes": {"floor": Sliding()}, "borders": [1.2]}, r"borders .* are \[1.2\]: give"),
        ({"strikes": {"floor": Sliding()}, "borders": [0.2, 0.4]}, "for at most 1 ends of"),
    ],
)
def test_strikes_and_borders_that_do_not_fit_are_refused(given, says):
    with pytest.raises(ValueError, match=says):
        thrown(mu=0.1, **given)


@pytest.mark.parametrize(
    ("given", "error", "says"),
    [
        ({"strikes": {"floor": "slides"}}, ValueError, "'floor' strikes with 'slides': give"),
        ({"strikes": ["floor"]}, TypeError, "must be a mapping of contact to mode"),
        ({"strikes": {"floor": Sliding()}, "borders": 0.5}, TypeError, "numbers or None, got 0.5"),
        ({"strikes": {"floor": Sliding()}, "borders": ["a"]}, TypeError, "numbers or None, got"),
    ],
)
def test_strikes_and_borders_of_wrong_types_are_named(given, error, says):
    with pytest.raises(error, match=says):
        thrown(mu=0.1, **given)


def test_nothing_strikes_where_the_first_phase_begins():
    ball = Body("ball", 1.0, point_mass=True)
    floor = PlaneContact("floor", Frame(GROUND), Frame(ball))
    d = assemble(Mechanism([ball], coordinates="relative"), [floor])
    guess, struck = Straight(np.zeros(3), np.ones(3)), {"floor": Sliding()}
    stated = d, Horizon(0.5, 4), [Duration()], [START], guess
    with pytest.raises(ValueError, match="phase 0: no contact strikes where the first phase"):
        optimize_phases([MotionPhase(*stated, modes=OPEN, strikes=struck)])


def test_a_border_at_a_given_share():
    """The floor is met at 0.5 of the duration: the second phase takes as long as the first."""
    result = thrown({"floor": Sliding()}, borders=[0.5])
    assert result.completed, result.stop_reason
    assert result.borders == pytest.approx([0, FELL, 2 * FELL], rel=1e-7)
