"""Impacts by compression in space: slip that turns round, that turns, and that comes back."""

from functools import cache

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from nsopt import (
    GROUND,
    Body,
    Compiled,
    ContactLaw,
    EnergeticImpact,
    Frame,
    Mechanism,
    MoreauJean,
    Parameter,
    PlaneContact,
    StepBounds,
    Variational,
    assemble,
    simulate,
)
from tests.schemes.test_energetic_impact import SPHERE, hit

SCHEMES = [kind(impact=EnergeticImpact()) for kind in (Variational, MoreauJean)]


@cache
def ball(inertia):
    """A ball of 1 kg and 1 m at rest on a floor, in space."""
    body = Body("ball", 1.0, (inertia,) * 3, position=(0, 0, 1.0))
    law = ContactLaw(
        Parameter("e", 0.5), Parameter("mu", 0.5), tangential_restitution=Parameter("back", 0.0)
    )
    return assemble(
        Mechanism([body]), [PlaneContact("floor", Frame(GROUND), Frame(body), radius=1.0, law=law)]
    )


@pytest.mark.parametrize("inertia", [SPHERE, 2 / 3])
def test_a_ball_leaves_as_spheres_of_glass_do(inertia):
    """The law to which Foerster et al. [1994] fit theirs: it slides, or its slip is turned round.

    Their glass on glass: e = 0.97, mu = 0.092, tangential restitution 0.44; beside that a superball
    [Garwin 1969], e = 1 and all of the slip turned round, and one that only sticks.
    """
    rng = np.random.default_rng(3)
    n, which = 60, np.arange(60) % 3
    e, mu, back = np.array([[0.97, 1.0, 0.6], [0.092, 5.0, 0.3], [0.44, 1.0, 0.0]])[:, which]
    v = rng.normal(size=(n, 6))
    v[:, 2] = -rng.uniform(0.3, 2, n)
    q = np.tile([0, 0, 1.0, 1, 0, 0, 0], (n, 1))
    after = hit(ball(inertia), q, v, EnergeticImpact(), e=e, mu=mu, back=back)

    def slip(v):
        return v[:, :2] + np.cross(v[:, 3:], [0, 0, -1.0])[:, :2]

    assert after[:, 2] == pytest.approx(-e * v[:, 2], abs=1e-6)
    before, size = slip(v), np.linalg.norm(slip(v), axis=1)
    mass = 1 / (1 + 1 / inertia)
    turned = np.minimum(mu * (1 + e) * -v[:, 2], mass * (1 + back) * size)
    sticks = turned > mass * size
    assert 0.2 < sticks.mean() < 0.95
    expected = before * (1 - turned / mass / size)[:, None]
    assert slip(after) == pytest.approx(expected, abs=1e-6)


def test_resistance_to_rolling_and_spinning_does_not_act_within():
    """The velocity after an impact is that without it."""
    v, after = np.array([[0.5, 0.2, -1.0, 1.0, -2.0, 3.0]]), []
    for moments in ({}, {"rolling": 0.01, "spinning": 0.02}):
        law = ContactLaw(0.6, 0.2, tangential_restitution=0.3, **moments)
        body = Body("ball", 1.0, (SPHERE,) * 3, position=(0, 0, 1.0))
        floor = PlaneContact("floor", Frame(GROUND), Frame(body), radius=1.0, law=law)
        d = assemble(Mechanism([body]), [floor])
        after.append(hit(d, [[0, 0, 1.0, 1, 0, 0, 0]], v, EnergeticImpact()))
    assert after[1] == pytest.approx(after[0], abs=1e-9)
    assert np.abs(after[0] - v).max() > 1


@cache
def stone():
    """A body in space that strikes a floor with a point off its axes."""
    body = Body("stone", 1.0, (0.1, 0.2, 0.25), position=(0, 0, 0))
    law = ContactLaw(Parameter("e", 0.5), Parameter("mu", 0.5))
    point = (0.3, 0.2, -0.4)
    floor = Frame(GROUND, (0, 0, -0.4))
    return assemble(Mechanism([body]), [PlaneContact("floor", floor, Frame(body, point), law=law)])


@pytest.mark.parametrize("seed", range(3))
def test_slip_turns_in_space_as_by_its_differential_equation(seed):
    """Against du/dp = G (1, -mu u / |u|) by scipy [Stronge], while the point slips."""
    rng, d, e, mu = np.random.default_rng(seed), stone(), 0.6, 0.15
    q = np.array([0, 0, 0, 1.0, 0, 0, 0])
    v = rng.normal(size=6)
    turning = np.array([np.cross(axis, (0.3, 0.2, -0.4)) for axis in np.eye(3)]).T
    J = np.hstack([np.eye(3), turning])  # of the point
    v[2] -= (J @ v)[2] + 1
    G = J @ np.diag(1 / np.array([1, 1, 1, 0.1, 0.2, 0.25])) @ J.T

    def rates(_, z):
        u, slip = z[:3], z[:2]
        force = np.append(-mu * slip / np.linalg.norm(slip), 1)
        return np.append(G @ force, -u[2] / (e**2 if u[2] > 0 else 1))

    def emptied(p, z):
        return z[3] if p > 1e-3 else 1.0

    emptied.terminal = True
    found = solve_ivp(rates, (0, 10), [*(J @ v), 0], events=emptied, rtol=1e-10, atol=1e-12)
    (after,) = hit(d, [q], [v], EnergeticImpact(steps=200), e=e, mu=mu)
    assert J @ after == pytest.approx(found.y[:3, -1], abs=1e-4)


@pytest.mark.parametrize("scheme", SCHEMES[:2], ids=lambda scheme: type(scheme).__name__)
def test_a_superball_bounces_to_and_fro(scheme):
    """Thrown without spin its slip is turned round, and round again [Garwin 1969]."""
    g, speed, along = 10.0, 2.0, 1.0
    body = Body("ball", 1.0, (SPHERE,) * 3, position=(0, 0, 1.0), velocity=(along, 0, speed))
    law = ContactLaw(restitution=1.0, friction=10.0, tangential_restitution=1.0)
    floor = PlaneContact("floor", Frame(GROUND), Frame(body), radius=1.0, law=law)
    d = assemble(Mechanism([body]), [floor], (0, 0, -g))
    flight = 2 * speed / g
    result = simulate(
        d,
        duration=2.5 * flight,
        steps=StepBounds(1e-9, 1e-3),
        scheme=scheme,
        solver=Compiled(),
        progress=False,
    )
    assert result.completed, result.stop_reason
    v = result.data["v"].values[:, 0]
    t = result.data["time"].values
    for k, expected in enumerate([1.0, 1 - 2 * 2 / 7, 1.0]):
        assert v[np.argmin(abs(t - (k + 0.5) * flight))] == pytest.approx(expected, abs=1e-6)
