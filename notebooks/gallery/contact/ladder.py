"""
A ladder that slides down a wall
================================

A ladder slides, without friction, down a wall and out along the floor. It does not follow the wall
to the bottom: when its upper end has fallen to two thirds of the height at which it began, the wall
would have to pull, and the ladder leaves it. Contacts hold by pushing alone, so the simulation
finds that moment by itself.
"""

import numpy as np

from nsopt import (
    GROUND,
    Body,
    Frame,
    Mechanism,
    Planar,
    PlaneContact,
    StepBounds,
    assemble,
    link_outline,
    simulate,
)
from nsopt.animation import animate

LENGTH, BEGIN = 3.0, np.radians(75)  # m, rad from the floor
half = LENGTH / 2 * np.array([np.cos(BEGIN), np.sin(BEGIN), 0.0])
J = 10.0 * LENGTH**2 / 12
turned = (np.cos(BEGIN / 2), 0.0, 0.0, -np.sin(BEGIN / 2))
outline = link_outline((-LENGTH / 2, 0, 0), (LENGTH / 2, 0, 0), 0.06)
ladder = Body("ladder", 10.0, (J, J, J), half, orientation=turned, outline=outline)
plane = Planar("plane", Frame(GROUND), Frame(ladder, axes=np.eye(3)))
wall = PlaneContact(
    "wall", Frame(GROUND, axes=(1, 0, 0)), Frame(ladder, (-LENGTH / 2, 0, 0)), planar=True
)
floor = PlaneContact(
    "floor", Frame(GROUND, axes=(0, 1, 0)), Frame(ladder, (LENGTH / 2, 0, 0)), planar=True
)
mechanism = Mechanism([ladder], [plane], "relative")
dynamics = assemble(mechanism, [wall, floor], gravity=(0.0, -9.81, 0.0))

result = simulate(dynamics, duration=1.15, steps=StepBounds(1e-7, 1e-3), title="ladder")
height = 2 * result["body_position"].values[:, 0, 1]  # m, of the upper end
pressed = result["impulse"].sel(contact="wall").values > 0
leaves = height[pressed][-1] / height[0]
print(f"the ladder leaves the wall at {leaves:.4f} of the height at which it began")
animate(result, "ladder.gif", fps=15, speed=0.5)
