"""Impacts one after another: Newton's cradle, and what they keep."""

from itertools import pairwise

import numpy as np
import pytest

from nsopt import (
    GROUND,
    Body,
    ContactAligned,
    ContactLaw,
    Frame,
    Mechanism,
    MoreauJean,
    PlaneContact,
    Prismatic,
    SequentialImpact,
    SphereContact,
    StepBounds,
    Variational,
    assemble,
    simulate,
)

RADIUS = 0.1
LAW = SequentialImpact()
SCHEMES = [Variational(impact=LAW), ContactAligned(impact=LAW), MoreauJean(impact=LAW)]


def row(speeds, masses, e, stiffness=1.0, gap=1e-3):
    """Balls in a row; those with a speed come from the left, the others touch."""
    moving = np.count_nonzero(speeds)
    places = np.arange(len(speeds)) * 2 * RADIUS
    places[:moving] -= gap
    bodies = [
        Body(f"ball {i}", m, (1e-3,) * 3, position=(x, 0, 0), velocity=(v, 0, 0))
        for i, (x, v, m) in enumerate(zip(places, speeds, masses, strict=True))
    ]
    along = (1.0, 0, 0)
    rails = [
        Prismatic(f"rail {b.name}", Frame(GROUND, (0, 0, 0), along), Frame(b, (0, 0, 0), along))
        for b in bodies
    ]
    laws = [
        ContactLaw(restitution=float(x), stiffness=float(k))
        for x, k in np.broadcast(np.broadcast_to(e, len(bodies) - 1), stiffness)
    ]
    contacts = [
        SphereContact(f"pair {i}", Frame(a), Frame(b), RADIUS, radius=RADIUS, law=law)
        for i, ((a, b), law) in enumerate(zip(pairwise(bodies), laws, strict=True))
    ]
    return assemble(Mechanism(bodies, rails, "relative"), contacts)


def struck(scheme, speeds, masses=None, e=1.0, stiffness=1.0):
    masses = np.ones(len(speeds)) if masses is None else masses
    result = simulate(
        row(speeds, masses, e, stiffness),
        duration=5e-3,
        steps=StepBounds(1e-9, 1e-3),
        scheme=scheme,
        progress=False,
    )
    assert result.completed, result.stop_reason
    assert result.data.attrs["steps_by_other_laws"] == 0
    return result["v"].values[-1]


def in_turn(speeds, masses, e):
    """The same by a loop over impacts."""
    v = np.array(speeds, dtype=float)
    while (approach := v[:-1] - v[1:]).max() > 1e-12:
        k = int(np.argmax(approach))
        push = (1 + e) * approach[k] / (1 / masses[k] + 1 / masses[k + 1])
        v[k], v[k + 1] = v[k] - push / masses[k], v[k + 1] + push / masses[k + 1]
    return v


@pytest.mark.parametrize("scheme", SCHEMES, ids=lambda scheme: type(scheme).__name__)
@pytest.mark.parametrize(("count", "moving"), [(3, 1), (5, 1), (5, 2)])
def test_as_many_balls_leave_a_cradle_as_strike_it(scheme, count, moving):
    speeds = np.where(np.arange(count) < moving, 1.0, 0.0)
    assert struck(scheme, speeds) == pytest.approx(speeds[::-1], abs=1e-8)


@pytest.mark.parametrize("seed", range(4))
def test_balls_of_other_masses_are_struck_in_turn(seed):
    chance = np.random.default_rng(seed)
    masses, e = chance.uniform(0.5, 2.0, 4), chance.uniform(0.5, 1.0)
    speeds = np.array([1.0, 0, 0, 0])
    found, right = struck(SCHEMES[0], speeds, masses, e), in_turn(speeds, masses, e)
    assert found @ masses == pytest.approx(masses[0], rel=1e-9)
    assert found**2 @ masses <= masses[0] * (1 + 1e-9)
    assert found == pytest.approx(right, abs=1e-6)


def test_friction_is_refused():
    ball = Body("ball", 1.0, point_mass=True, position=(0, 0, 1))
    law = ContactLaw(restitution=0.5, friction=0.1)
    floor = PlaneContact("floor", Frame(GROUND), Frame(ball), law=law)
    d = assemble(Mechanism([ball]), [floor])
    with pytest.raises(ValueError, match=r"'floor' has it: take PoissonImpact"):
        simulate(d, duration=0.1, steps=StepBounds(1e-3, 1e-3), scheme=SCHEMES[0])


def test_rounds_are_a_whole_number():
    with pytest.raises(ValueError, match=r"rounds of SequentialImpact .* got 0"):
        SequentialImpact(rounds=0)
