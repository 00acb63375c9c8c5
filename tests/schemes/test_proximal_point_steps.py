"""Whole steps by proximal points: impacts by hand, by Poisson, in a redundant loop."""

from functools import cache

import numpy as np
import pytest

from nsopt import (
    GROUND,
    Acceptance,
    Compiled,
    ContactLaw,
    Frame,
    MoreauJean,
    NewtonImpact,
    Parameter,
    PlaneContact,
    PoissonImpact,
    StepBounds,
    Variational,
    assemble,
    simulate,
)
from nsopt.mechanics import Start
from nsopt.mpcc import Newton, SquareSolver
from nsopt.schemes import Scales
from nsopt.simulation import StepProgram
from tests.schemes.loops_in_space import DOWN, bennett_mechanism
from tests.schemes.test_impact_laws import INERTIA, by_hand, planar, poses, rod

H = 1e-7
"""Step [s], in which bodies move by next to nothing."""

SCHEMES = [Variational, MoreauJean]


def stepped(dynamics, start, scheme, values):
    """Return the velocity after a step whose programs proximal points alone have solved."""
    p = dynamics.values(values)
    scales = Scales.of(dynamics, start, p, H, H)
    program = StepProgram(dynamics, scheme, Acceptance(), scales)
    numbers = program.numbers(start, p, StepBounds(H, H))
    known, unknowns = np.concatenate([*numbers.values()]), []
    for part, n in zip(program.parts, program.sizes, strict=True):
        x, residual, _ = SquareSolver(part, Newton(iterations=1))(np.zeros(n), known)
        assert residual < 1e-8
        unknowns.append(x)
        known = np.concatenate([known, x])
    return program.judge(unknowns, numbers, scales.force)[0].v


@pytest.mark.slow
@pytest.mark.parametrize("kind", SCHEMES)
def test_a_rod_strikes_a_rough_floor_by_poissons_law(kind):
    """Compression and restitution, each with friction of its own."""
    rng = np.random.default_rng(5)
    inverse = np.linalg.inv(INERTIA)
    for q, v, J in poses(8, 1):
        e, mu = rng.uniform(0, 0.6), rng.uniform(0, 1)
        expected = planar(v) + inverse @ J.T @ by_hand(J @ inverse @ J.T, J @ planar(v), e, mu)
        scheme = kind(impact=PoissonImpact())
        after = stepped(rod(), Start(q, v), scheme, {"e": e, "mu": mu})
        assert planar(after) == pytest.approx(expected, abs=1e-5)


@cache
def moving(coordinates):
    """Bennett's linkage on its way, and the place and velocity of a link in it."""
    result = simulate(
        assemble(bennett_mechanism(coordinates), gravity=DOWN),
        duration=0.3,
        steps=StepBounds(1e-3, 1e-3),
        scheme=Variational(),
        solver=Compiled(),
        progress=False,
    )
    last = {name: result[name].values[-1] for name in ("q", "v", "body_position", "body_velocity")}
    return Start(last["q"], last["v"]), last["body_position"][1], last["body_velocity"][1]


@pytest.mark.parametrize(
    ("coordinates", "kind", "impact"),
    [
        ("relative", MoreauJean, NewtonImpact()),
        pytest.param("relative", Variational, PoissonImpact(), marks=pytest.mark.slow),
        pytest.param("absolute", Variational, NewtonImpact(), marks=pytest.mark.slow),
        pytest.param("absolute", MoreauJean, PoissonImpact(), marks=pytest.mark.slow),
    ],
)
def test_an_over_constrained_loop_of_one_freedom_turns_back(coordinates, kind, impact):
    """With e times its velocity: it has one motion alone, and three rows too many."""
    start, place, velocity = moving(coordinates)
    assert np.linalg.norm(velocity) > 0.5
    mechanism = bennett_mechanism(coordinates)
    away = -velocity / np.linalg.norm(velocity)
    across = np.linalg.svd(away[None])[2][1:]
    axes = np.column_stack([across[0], np.cross(away, across[0]), away])
    law = ContactLaw(restitution=Parameter("e", 0.5))
    wall = PlaneContact("wall", Frame(GROUND, place, axes), Frame(mechanism.bodies[1]), law=law)
    dynamics = assemble(mechanism, [wall], gravity=DOWN)
    for e in (0.0, 0.6):
        after = stepped(dynamics, start, kind(impact=impact), {"e": e})
        assert after == pytest.approx(-e * start.v, abs=1e-5)
