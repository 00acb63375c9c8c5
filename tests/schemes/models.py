"""Mechanisms with a known answer, that several test files run."""

from dataclasses import dataclass
from functools import cache

import casadi as ca
import numpy as np
from scipy.optimize import brentq

from nsopt import (
    Body,
    ContactLaw,
    Frame,
    Mechanism,
    Parameter,
    PlaneContact,
    SpringDamper,
    assemble,
    load_problem,
)
from nsopt.mechanics import ContactPair, Gap, State
from nsopt.parameter import Scalar

G = 9.81
UPRIGHT = np.column_stack([[1.0, 0, 0], [0, 0, -1.0], [0, 1.0, 0]])  # z of the frame along world y


def about_z(angle):
    return (np.cos(angle / 2), 0.0, 0.0, np.sin(angle / 2))


def turned(q):
    """Return the rotation about z of the first body [rad], modulo 2 pi, times (..., nq)."""
    return 2 * np.arctan2(q[..., 6], q[..., 3])


def wrapped(angle):
    return (angle + np.pi) % (2 * np.pi) - np.pi


@cache
def case_a_dynamics():
    """The reference case, assembled and its steps compiled once in a process."""
    return load_problem("case_a").dynamics


@cache
def ball(restitution=0.9, height=1.0):
    """A particle above a floor."""
    body = Body("ball", 1.0, position=(0, 0, height), point_mass=True)
    law = ContactLaw(restitution=restitution)
    floor = PlaneContact("floor", Frame(None), Frame(body), law=law)
    return assemble(Mechanism([body]), [floor], (0, 0, -G))


def impacting_stick():
    """A rod that drops on a floor with e = 1 and mu = 0.01, in the plane."""
    angle = np.pi / 4
    rod = Body(
        "rod",
        1.0,
        (1 / 12, 1 / 12, 1 / 12),
        position=(np.sin(angle) / 2, np.cos(angle) / 2 + 0.01, 0),
        orientation=about_z(angle),
        velocity=(-0.5, 0.1, 0),
        angular_velocity=(0, 0, 0.1),
    )
    law = ContactLaw(restitution=1.0, friction=0.01)
    floor = PlaneContact(
        "floor", Frame(None, (0, 0, 0), UPRIGHT), Frame(rod, (0, -0.5, 0)), planar=True, law=law
    )
    return assemble(Mechanism([rod]), [floor], (0, -10, 0))


@dataclass(frozen=True, eq=False)
class Piston(ContactPair):
    """A floor under a point at height speed t + amplitude sin(rate t), as a user states it."""

    speed: Scalar
    amplitude: Scalar
    rate: Scalar

    def gaps(self, s: State) -> list[Gap]:
        speed, amplitude, rate = (s.value(x) for x in (self.speed, self.amplitude, self.rate))
        point = s.motion(self.b).r
        gap = point[2] - speed * s.t - amplitude * ca.sin(rate * s.t)
        up = ca.SX([0, 0, 1])
        return self.with_law(s, [Gap(gap, gap, point, up, ca.SX(1e-3))])


@cache
def ball_on_piston(coordinates="absolute", stiffness=0.0, **values):
    """A ball of 2 kg on a piston, at rest unless Parameters get other values.

    ``stiffness`` [N/m] is of a spring that pulls it to the origin.
    """
    numbers = {"speed": 0.0, "amplitude": 0.0, "rate": 50.0, "e": 0.0} | values
    speed, amplitude, rate, e = (Parameter(*x) for x in numbers.items())
    body = Body("ball", 2.0, point_mass=True)
    law = ContactLaw(restitution=e)
    piston = Piston("piston", Frame(None), Frame(body), speed, amplitude, rate, law=law)
    spring = [SpringDamper("spring", Frame(None), Frame(body), stiffness)] if stiffness else []
    return assemble(Mechanism([body], coordinates=coordinates), [piston, *spring], (0, 0, -G))


class Shaken:
    """A ball that a floor at A sin(w t) throws once, with e = 0, in closed form.

    It leaves at the phase arcsin(g / (A w^2)), where the floor begins to fall faster.
    """

    def __init__(self, amplitude, rate):
        self.amplitude, self.rate = amplitude, rate
        self.left = np.arcsin(G / (amplitude * rate**2)) / rate
        self._up = amplitude * rate * np.cos(rate * self.left)
        self.landed = brentq(
            lambda t: self._thrown(t) - self.floor(t), self.left + 0.2 / rate, self.left + 6 / rate
        )
        speeds = self._up - G * (self.landed - self.left), np.cos(rate * self.landed)
        self.meets = amplitude * rate * speeds[1] - speeds[0]  # of both, as it lands [m/s]

    def floor(self, t):
        return self.amplitude * np.sin(self.rate * t)

    def _thrown(self, t):
        late = t - self.left
        return self.floor(self.left) + self._up * late - G * late**2 / 2

    def height(self, t):
        """Height of the ball until it is thrown again [m]."""
        flies = (t > self.left) & (t < self.landed)
        return np.where(flies, self._thrown(t), self.floor(t))
