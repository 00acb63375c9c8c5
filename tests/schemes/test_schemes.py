"""Every scheme converges, rests under weight and hits without rebound."""

from functools import cache

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from nsopt import (
    Body,
    ContactAligned,
    Frame,
    Mechanism,
    MoreauJean,
    PaperStep,
    PlaneContact,
    PoissonImpact,
    Revolute,
    assemble,
)
from tests.catalog_methods import KINDS, SMOOTH_SCHEMES
from tests.states import run_compiled as run

G = 9.81


@cache
def physical_pendulum(coordinates="absolute"):
    """A body on a tilted axis, its principal axes aligned with nothing."""
    arm = Body("arm", 1.0, (0.02, 0.05, 0.06), position=(0.4, 0.0, 0.1))
    hinge = Revolute("hinge", Frame(None), Frame.at(arm, (0, 0, 0)))
    return assemble(Mechanism([arm], [hinge], coordinates), gravity=(0.0, -G, 0.0))


@pytest.mark.parametrize(
    "scheme",
    [*KINDS, PaperStep(explicit=True), MoreauJean(theta=1.0), *SMOOTH_SCHEMES],
    ids=repr,
)
def test_pendulum_converges_at_least_with_first_order(scheme):
    converges(scheme, "relative")


@pytest.mark.slow
@pytest.mark.parametrize(
    "scheme", [PaperStep(), PaperStep(renormalise=False), MoreauJean()], ids=repr
)
def test_so_it_does_in_absolute_coordinates(scheme):
    """Those of higher order, on the same pendulum: `test_orders`."""
    converges(scheme, "absolute")


def converges(scheme, coordinates):
    """Against minimal coordinates: (J + m r^2) theta'' = -m g r cos(theta), r = 0.4 m."""
    exact = solve_ivp(
        lambda _, y: [y[1], -G * 0.4 * np.cos(y[0]) / (0.06 + 0.16)],
        (0, 0.5),
        [0, 0],
        rtol=1e-11,
        atol=1e-12,
        dense_output=True,
    ).sol
    errors = []
    for h in (2e-3, 1e-3):
        result = run(physical_pendulum(coordinates), 0.5, h, scheme)
        e0, *_, e3 = result["body_quaternion"].values[:, 0].T
        theta = exact(result["time"].values)[0]
        errors.append(np.abs(2 * np.arctan2(e3, e0) - theta).max())
    fastest = np.sqrt(2 * G * 0.4 / (0.06 + 0.16))
    assert errors[1] < 1e-3 * fastest  # a step of first order lags by less than one step
    ratio = errors[1] / errors[0]
    assert ratio < 0.55 or errors[1] < 1e-9, f"halving h leaves {ratio:.2f} of the error: {errors}"


@pytest.mark.parametrize("scheme", [*KINDS, ContactAligned(impact=PoissonImpact())], ids=repr)
def test_a_dropped_ball_lies_still_under_its_weight(scheme):
    ball = Body("ball", 3.0, (0.1, 0.1, 0.1), position=(0, 0, 0.02))
    floor = PlaneContact("floor", Frame(None), Frame(ball), radius=0.01)
    data = run(assemble(Mechanism([ball]), [floor], (0, 0, -G)), 0.1, 1e-3, scheme).data
    late = data["time"].values > np.sqrt(2 * 0.01 / G) + 3e-3
    sunk = isinstance(scheme, MoreauJean) and not scheme.project
    depth = 1e-3 * np.sqrt(2 * G * 0.01) if sunk else 1e-10  # h times the impact speed
    z = data["q"].values[late, 2]
    assert np.all(np.abs(z - 0.01) < depth)
    assert np.ptp(z) < 1e-10
    assert np.all(np.abs(data["v"].values[late]) < 1e-9)
    assert data["contact_force"].values[late, 0, 2] == pytest.approx(3.0 * G, rel=1e-9)
