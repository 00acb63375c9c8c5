"""What bounces comes to rest when it does in closed form, and then stays, however large e is."""

import numpy as np
import pytest

from nsopt import (
    GROUND,
    Body,
    Compiled,
    ContactAligned,
    ContactLaw,
    Frame,
    Mechanism,
    MoreauJean,
    Planar,
    PlanarRevoluteClearance,
    PlaneContact,
    SphereContact,
    StepBounds,
    Variational,
    assemble,
    simulate,
)
from nsopt.problem import load_problem

A, HEIGHT = 10.0, 1e-3  # m/s^2, m


def ball(law):
    """A ball above a floor, under gravity."""
    body = Body("ball", 1.0, point_mass=True, position=(0, 0, HEIGHT))
    floor = PlaneContact("floor", Frame(GROUND), Frame(body), law=law)
    return assemble(Mechanism([body]), [floor], (0, 0, -A))


def ball_met_by_a_floor(law):
    """The same as a floor sees it that is accelerated upwards, without gravity."""
    body = Body("ball", 1.0, point_mass=True, position=(0, 0, HEIGHT))
    rising = PlaneContact(
        "floor", Frame(GROUND), Frame(body), offset=lambda t: (0, 0, A * t**2 / 2), law=law
    )
    return assemble(Mechanism([body]), [rising])


def ring(law):
    """A ring about a pin, in whose middle it begins."""
    body = Body("ring", 1.0, (1e-3,) * 3)
    pin = PlanarRevoluteClearance(
        "pin", Frame(GROUND), Frame(body), clearance=HEIGHT, radius=0.01, law=law
    )
    plane = Planar("plane", Frame(GROUND), Frame(body))
    return assemble(Mechanism([body], [plane], "relative"), [pin], (0, -A, 0))


def last_impact_and_impulse(dynamics, e, h, scheme):
    """When the last impact is and the impulse of all, over those in closed form."""
    met = np.sqrt(2 * A * HEIGHT)
    rest, impulse = met / A * (1 + 2 * e / (1 - e)), met * (1 + e) / (1 - e)
    result = simulate(
        dynamics(ContactLaw(restitution=e)),
        duration=1.5 * rest,
        steps=StepBounds(1e-9, h),
        scheme=scheme,
        solver=Compiled(chunk=100),
        progress=False,
    )
    assert result.completed, result.stop_reason
    struck = result["impact_impulse"].values[:, 0]
    last = result["time"].values[np.flatnonzero(struck > 0)[-1]]
    assert result["dissipated_energy"].values[-1] > 0
    return last / rest, np.nansum(struck) / impulse


@pytest.mark.parametrize("dynamics", [ball, ball_met_by_a_floor, ring], ids=lambda x: x.__name__)
@pytest.mark.parametrize("e", [0.4, 0.65, 0.9])
def test_second_order_scheme(dynamics, e):
    found = last_impact_and_impulse(dynamics, e, 1e-4, Variational())
    assert found == pytest.approx((1, 1), rel=3e-2)


@pytest.mark.parametrize("e", [0.4, 0.65])
def test_positions_brought_to_their_walls(e):
    last, _ = last_impact_and_impulse(ball, e, 2e-5, MoreauJean(project=True))
    assert last == pytest.approx(1, rel=3e-2)


@pytest.mark.parametrize("shift", [0.0, 1e-3, 2e-3])
@pytest.mark.parametrize("e", [0.8, 1.0])
def test_rebound_from_a_sphere(e, shift):
    """Head on, wherever in its step it is met."""
    body = Body("ball", 1.0, point_mass=True, position=(0.1 + shift, 0, 0), velocity=(-3, 0, 0))
    sphere = SphereContact(
        "sphere", Frame(GROUND), Frame(body), 0.02, 0.0, law=ContactLaw(restitution=e)
    )
    result = simulate(
        assemble(Mechanism([body]), [sphere]),
        duration=0.05,
        steps=StepBounds(1e-3, 1e-3),
        scheme=Variational(),
        solver=Compiled(chunk=100),
        progress=False,
    )
    assert result.completed
    assert result["v"].values[-1, 0] == pytest.approx(3 * e, rel=1e-12)


@pytest.mark.slow
def test_steps_that_end_at_impacts():
    """However short the flights between impacts become, far below h in the end."""
    found = last_impact_and_impulse(ring, 0.9, 1e-3, ContactAligned())
    assert found == pytest.approx((1, 1), rel=1e-3)


def test_a_slider_rests_between_corners_that_push_each_other_off():
    """As it does by steps of a given size, with the same force at each corner."""
    problem, h = load_problem("prismatic_slider"), 1e-4
    forces = []
    for scheme in (Variational(), ContactAligned()):
        result = simulate(
            problem.dynamics,
            problem.start,
            0.04,
            steps=StepBounds(h, h),
            scheme=scheme,
            check=None,
            progress=False,
        )
        rests = result["time"].values > 0.035
        assert not np.any(result["impact_impulse"].values[rests])
        assert np.mean(result["h"].values[rests]) == pytest.approx(h, rel=0.02)
        forces.append(result["contact_force"].values[-1])
        weight = [0, 0.5 * 9.81, 0]
        assert forces[-1].sum(axis=0) == pytest.approx(weight, abs=1e-6)
    assert forces[1] == pytest.approx(forces[0], abs=1e-3)
