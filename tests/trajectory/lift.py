"""A lift from a floor whose least effort is known in closed form, for tests of exact optima."""

import numpy as np

from nsopt import GROUND, Actuator, Body, Frame, Mechanism, PlaneContact, Prismatic, assemble
from nsopt.trajectory import (
    PLAN,
    ContactPhase,
    Effort,
    EndAt,
    ExactContacts,
    Horizon,
    Open,
    Quintic,
    StartAt,
    optimize,
)

G = 9.81
FLIGHT = [ContactPhase({"floor": Open()}, 2.0)]


def with_sequence(**options):
    return PLAN.with_others(ExactContacts(**options))


def lift_dynamics():
    """1 kg with a drive along the vertical, above a floor."""
    mass = Body("mass", 1.0, (1.0, 1.0, 1.0))
    rail = Prismatic("rail", Frame(GROUND), Frame(mass))
    floor = PlaneContact("floor", Frame(GROUND), Frame(mass))
    mechanism = Mechanism([mass], [rail], "relative", [Actuator("rail")])
    return assemble(mechanism, [floor], gravity=(0, 0, -G))


def lift(steps=25, plan=PLAN, conditions=(), costs=()):
    """1 kg at rest on a floor, lifted to 1 m within 2 s; the floor bears it until it goes."""
    d = lift_dynamics()
    stated = [StartAt([0.0], [0.0]), EndAt([1.0], [np.nan]), *conditions]
    guess, costs = Quintic([0.0], [1.0]), [Effort(), *costs]
    return optimize(d, Horizon(2.0, steps), costs, stated, guess, plan=plan)
