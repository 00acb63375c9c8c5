"""Two bodies over a horizon: a cart that throws a puck by a spring, a pendulum of two links."""

import numpy as np

from nsopt import (
    GROUND,
    Actuator,
    Body,
    CompliantContact,
    Frame,
    Hertz,
    Mechanism,
    PlaneContact,
    Prismatic,
    Revolute,
    assemble,
)
from nsopt.trajectory import Effort, EndAt, Horizon, Optimization, Quintic, StartAt

STIFFNESS = 200.0  # N/m
GAP = 0.05  # m, at the start


def thrown_puck(steps: int, duration: float = 1.0) -> Optimization:
    """Return a driven cart that throws a free puck: at the end the puck is 1 m on, at 2 m/s.

    Cart and puck, of 1 and 0.5 kg, slide along z. The cart pushes by a spring, and starts and ends
    at rest.
    """
    cart, puck = Body("cart", 1.0, (1.0,) * 3), Body("puck", 0.5, (1.0,) * 3, position=(0, 0, GAP))
    rails = [
        Prismatic("rail", Frame(GROUND), Frame(cart)),
        Prismatic("way", Frame(GROUND, (0, 0, GAP)), Frame(puck)),
    ]
    face = PlaneContact("face", Frame(cart), Frame(puck))
    spring = CompliantContact("spring", face, Hertz(STIFFNESS, exponent=1.0))
    mechanism = Mechanism([cart, puck], rails, "relative", [Actuator("rail")])
    start, still, free = np.zeros(2), np.zeros(2), np.nan
    return Optimization(
        assemble(mechanism, [spring]),
        Horizon(duration, steps),
        [Effort()],
        [StartAt(start, still), EndAt([free, 1.0], [0.0, 2.0])],
        Quintic(start, [0.5, 1.0]),
    )


def double_pendulum(steps: int) -> Optimization:
    """Return a pendulum of two driven links, swung by a quarter and back up in 2 s."""
    links = [
        Body(name, 1.0, (0.01, 0.09, 0.09), position=(x, 0, 0))
        for name, x in (("upper", 0.5), ("lower", 1.5))
    ]
    joints = [
        Revolute("shoulder", Frame(GROUND), Frame.at(links[0], (0, 0, 0))),
        Revolute("elbow", Frame.at(links[0], (1, 0, 0)), Frame.at(links[1], (1, 0, 0))),
    ]
    drives = [Actuator("shoulder"), Actuator("elbow")]
    start, end, still = (-np.pi / 2, 0.0), (0.0, np.pi / 2), np.zeros(2)
    return Optimization(
        assemble(Mechanism(links, joints, "relative", drives), gravity=(0, -9.81, 0)),
        Horizon(2.0, steps),
        [Effort()],
        [StartAt(start, still), EndAt(end, still)],
        Quintic(start, end),
    )
