"""A mass lifted from a floor to 1 m in 2 s, the size of every step an unknown.

It waits, then rises for sqrt(6 / g) = 0.782 s: cost 48 (g / 6)^1.5 = 100.3501 in closed form. In
steps alone (``--in-steps``) they end where the floor is left, by cross complementarity.
"""

from nsopt import (
    GROUND,
    Actuator,
    Body,
    ContactAligned,
    Dynamics,
    Frame,
    Mechanism,
    PlaneContact,
    Prismatic,
    StepBounds,
    assemble,
)
from nsopt.trajectory import Effort, EndAt, Horizon, Optimization, Quintic, StartAt

DURATION, STEPS, G = 2.0, 20, 9.81  # s, m/s^2
MEAN = DURATION / STEPS


def floor_and_mass() -> Dynamics:
    """Return 1 kg on a vertical rail, driven, above a floor."""
    mass = Body("mass", 1.0, (1.0, 1.0, 1.0))
    rail = Prismatic("rail", Frame(GROUND), Frame(mass))
    floor = PlaneContact("floor", Frame(GROUND), Frame(mass))
    mechanism = Mechanism([mass], [rail], "relative", [Actuator("rail")])
    return assemble(mechanism, [floor], gravity=(0.0, 0.0, -G))


optimization = Optimization(
    floor_and_mass(),
    Horizon(DURATION, STEPS, StepBounds(0.2 * MEAN, 5 * MEAN)),
    [Effort()],
    [StartAt([0.0], [0.0]), EndAt([1.0], [float("nan")])],
    Quintic([0.0], [1.0]),
    scheme=ContactAligned(),
)
