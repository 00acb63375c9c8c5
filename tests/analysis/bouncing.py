"""A ball that bounces on a table A sin(w t), once a period, and what theory says of it."""

import numpy as np

from nsopt import Body, ContactLaw, Frame, Mechanism, Parameter, Start, assemble
from tests.schemes.models import G, Piston

E, RATE = 0.7, 60.0
PERIOD = 2 * np.pi / RATE
WEIGHT = np.pi * G * (1 - E) / (1 + E)
"""A w^2 cos(phase) of a bounce that lasts a period: the ball meets the table at (1 - e) / (1 + e)
of its own speed g T / 2."""
STEEP = 2 * G * (1 + E**2) / (1 + E) ** 2
"""A w^2 sin(phase) where its multipliers, of product e^2 and sum 1 + e^2 - (1 + e)^2 A w^2
sin(phase) / g, reach -1."""
DOUBLING = np.hypot(WEIGHT, STEEP) / RATE**2


def phase(amplitude):
    """Phase w t [rad] of the bounces that last a period."""
    return np.arccos(WEIGHT / (amplitude * RATE**2))


def model(amplitude):
    numbers = {"speed": 0.0, "amplitude": amplitude, "rate": RATE}
    speed, A, rate = (Parameter(*x) for x in numbers.items())
    body = Body("ball", 1.0, point_mass=True)
    law = ContactLaw(restitution=E)
    table = Piston("table", Frame(None), Frame(body), speed, A, rate, law=law)
    return assemble(Mechanism([body], coordinates="relative"), [table], (0, 0, -G))


def at_the_top(amplitude):
    """Half way between two bounces that last a period."""
    at = phase(amplitude)
    height = amplitude * np.sin(at) + G * PERIOD**2 / 8
    return Start(np.array([0, 0, height]), np.zeros(3), at / RATE + PERIOD / 2)


def multipliers(amplitude):
    """Of the bounce that lasts a period, over a period, (2,)."""
    steep = amplitude * RATE**2 * np.sin(phase(amplitude))
    return np.roots([1, (1 + E) ** 2 * steep / G - 1 - E**2, E**2])
