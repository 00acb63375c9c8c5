"""
A crane that leaves its load at rest
====================================

A trolley of 2 kg carries a load of 1 kg on a rope of 1 m by 2 m to the side, as fast as a force of
10 N allows, so that nothing swings at the end. The force is at its limit nearly all the time: it
pulls, brakes for a moment to let the load swing ahead, and so on, and the load hangs still when it
arrives.
"""

from nsopt import (
    GROUND,
    Actuator,
    Body,
    Frame,
    Mechanism,
    Prismatic,
    Revolute,
    assemble,
    box_outline,
)
from nsopt.animation import animate
from nsopt.trajectory import (
    ActuatorLimits,
    Duration,
    EndAt,
    Horizon,
    Smoothness,
    StartAt,
    Straight,
    optimize,
)

ALONG, FORCE, DISTANCE = (1.0, 0.0, 0.0), 10.0, 2.0  # N, m
trolley = Body("trolley", 2.0, (0.1, 0.1, 0.1), outline=box_outline(0.3, 0.15))
load = Body("load", 1.0, (0.01, 0.01, 0.01), position=(0.0, -1.0, 0.0))
joints = [
    Prismatic("rail", Frame(GROUND, axes=ALONG), Frame(trolley, axes=ALONG)),
    Revolute("rope", Frame(trolley), Frame.at(load, (0.0, 0.0, 0.0))),
]
motor = Actuator("rail", effort=FORCE)
mechanism = Mechanism([trolley, load], joints, "relative", [motor])
crane = assemble(mechanism, gravity=(0.0, -9.81, 0.0))

best = optimize(
    crane,
    Horizon((1.0, 5.0), steps=80),
    costs=[Duration(), Smoothness(weight=1e-5)],
    conditions=[StartAt((0, 0), (0, 0)), EndAt((DISTANCE, 0), (0, 0)), ActuatorLimits()],
    guess=Straight((0, 0), (DISTANCE, 0), duration=2.5),
    title="crane",
)
duration = float(best["time"].values[-1])  # s
print(f"the load arrives after {duration:.3f} s")
animate(best, "crane.gif", fps=15)
