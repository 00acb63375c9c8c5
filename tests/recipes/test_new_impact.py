"""A law of impact, as CONTRIBUTING says: restitution that falls with the speed of the impact."""

from dataclasses import dataclass

import casadi as ca
import numpy as np
import pytest

from nsopt import ContactAligned, NewtonImpact, PoissonImpact, StepBounds, simulate
from nsopt.schemes import Impact
from tests.recipes.generic import runs
from tests.schemes import test_schemes
from tests.schemes.models import G, ball


@dataclass(frozen=True)
class ViscoelasticImpact(Impact):
    """Newton's law with e - factor |v|^(1/5), v the speed of approach (a viscoelastic sphere)."""

    factor: float

    def state(self, modes, node, restitution, *early):
        speed = ca.fmax(-node.gap_rate(node.v), 0)
        e = ca.fmax(restitution - self.factor * speed**0.2, 0)
        return NewtonImpact().state(modes, node, e, *early)


@pytest.mark.slow
@runs(test_schemes, "scheme", ContactAligned(impact=PoissonImpact()))
def test_is_an_impact_law_like_any_other(check):
    check(ContactAligned(impact=ViscoelasticImpact(0.1)))


@pytest.mark.parametrize("height", [0.1, pytest.param(0.4, marks=pytest.mark.slow)])
def test_a_ball_rises_by_its_law(height):
    dynamics = ball(restitution=0.9, height=height)
    speed = np.sqrt(2 * G * height)
    rebound = (0.9 - 0.1 * speed**0.2) * speed
    duration = speed / G + rebound / G  # to the top again
    scheme = ContactAligned(impact=ViscoelasticImpact(0.1))
    data = simulate(
        dynamics,
        duration=duration,
        steps=StepBounds(1e-6, 1e-3),
        scheme=scheme,
        progress=False,
    ).data
    assert data.attrs["completed"], data.attrs["stop_reason"]
    assert data["q"].values[-1, 2] == pytest.approx(rebound**2 / (2 * G), rel=1e-6)
