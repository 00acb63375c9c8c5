"""Rebound from compliant contact: that of its law, and the time that Hertz has for it."""

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.optimize import brentq

from nsopt import (
    Body,
    CompliantContact,
    ContactLaw,
    Frame,
    Hertz,
    LankaraniNikravesh,
    PlaneContact,
    SphereContact,
    SphericalClearance,
)
from tests.states import array, assembled

MASS, RADIUS, SPEED, STIFFNESS = 2.0, 0.1, 0.8, 1e7


def on_plane(frame, law):
    return PlaneContact("e", Frame(None, axes=(1, 0, 0)), frame, RADIUS, law=law)


def outside(frame, law):
    return SphereContact("e", Frame(None, (-0.4, 0, 0)), frame, 0.4, RADIUS, law=law)


def in_socket(frame, law):
    return SphericalClearance("e", Frame(None, (RADIUS, 0, 0)), frame, RADIUS, law=law)


STARTS = {on_plane: (RADIUS, 0, 0), outside: (RADIUS, 0, 0), in_socket: (0, 0, 0)}


def flight(dynamics, p, duration, event, rtol=1e-10):
    """The motion by an integrator of ordinary differential equations."""
    d = dynamics

    def rate(t, x):
        q, v = x[: d.nq], x[d.nq :]
        push = array(d.applied(t, q, v, p)) - array(d.bias(q, v, p))
        return [
            *array(d.rate_matrix(q)) @ v,
            *np.linalg.solve(np.asarray(d.mass(q, p)), push),
        ]

    x = np.concatenate(d.stated_start())
    return solve_ivp(rate, (0, duration), x, "DOP853", events=event, rtol=rtol, atol=1e-12)


def rebound(contact, e, exponent=1.5, stated=SPEED):
    """Speed after over speed before the impact of a particle."""
    ball = Body("ball", MASS, position=STARTS[contact], velocity=(-SPEED, 0, 0), point_mass=True)
    law = LankaraniNikravesh(STIFFNESS, exponent, impact_speed=stated)
    soft = CompliantContact("soft", contact(Frame(ball), ContactLaw(restitution=e)), law)
    d = assembled([ball], [soft], (0, 0, 0))

    def parted(t, x):
        return x[0] - STARTS[contact][0] - 1e-9

    parted.terminal, parted.direction = True, 1
    motion = flight(d, d.values(), 0.1, parted)
    assert motion.status == 1
    return motion.y[3, -1] / SPEED


def implied(k):
    """Restitution of m x'' = -K x^n (1 + k x' / v), by separation of variables.

    du u / (1 + k u) over u = x' / v from 1 to 0 and from 0 to -e take the same work of K x^n.
    """
    if k == 0:
        return 1.0
    return brentq(lambda e: k * (1 + e) - np.log((1 + k) / (1 - k * e)), 1e-9, 1 + 1e-9)


@pytest.mark.parametrize("contact", STARTS)
@pytest.mark.parametrize("e", [1.0, 0.98, 0.9, 0.5, 0.0])
def test_rebound_is_that_of_the_law(contact, e):
    assert rebound(contact, e) == pytest.approx(implied(3 * (1 - e**2) / 4), abs=1e-6)


@pytest.mark.parametrize("exponent", [1.0, 2.0, 3.0])
def test_rebound_does_not_depend_on_the_exponent(exponent):
    assert rebound(on_plane, 0.9, exponent) == pytest.approx(implied(3 * 0.19 / 4), abs=1e-6)


@pytest.mark.parametrize("e", [0.95, 0.98, 0.99])
def test_near_one_rebound_and_loss_are_those_stated(e):
    ratio = rebound(on_plane, e)
    assert ratio == pytest.approx(e, abs=1.5 * (1 - e) ** 2)
    assert 1 - ratio**2 == pytest.approx(1 - e**2, rel=0.1)


@pytest.mark.slow
def test_an_impact_faster_than_stated_loses_more():
    k = 3 * (1 - 0.9**2) / 4
    for stated in (SPEED / 2, 2 * SPEED):
        assert rebound(on_plane, 0.9, stated=stated) == pytest.approx(
            implied(k * SPEED / stated), abs=1e-6
        )
    assert rebound(on_plane, 0.9, stated=SPEED / 2) < rebound(on_plane, 0.9, stated=2 * SPEED)


def test_an_elastic_impact_lasts_as_long_as_that_of_hertz():
    """Time in contact 2.9433 delta_max / v, delta_max = (5 m v^2 / (4 K))^(2/5)."""
    ball = Body("ball", MASS, position=(RADIUS, 0, 0), velocity=(-SPEED, 0, 0), point_mass=True)
    inside = on_plane(Frame(ball), ContactLaw())
    d = assembled([ball], [CompliantContact("s", inside, Hertz(STIFFNESS))], (0, 0, 0))

    def parted(t, x):
        return x[0] - RADIUS - 1e-12

    parted.terminal, parted.direction = True, 1
    depth = (5 * MASS * SPEED**2 / (4 * STIFFNESS)) ** 0.4
    motion = flight(d, [], 0.1, parted)
    assert motion.t[-1] == pytest.approx(2.94327 * depth / SPEED, rel=1e-5)
