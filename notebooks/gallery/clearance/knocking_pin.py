"""
A piston pin that knocks at 5000 rpm
====================================

A crank turns at constant 5000 rpm; the piston hangs on a pin with 0.5 mm of clearance, drawn twenty
times larger. At each dead centre the force on the piston changes its sign, and the pin crosses to
the other side of its bore. Because of that the stroke is longer than twice the crank, by the
clearance at each end.
"""

import numpy as np

from nsopt import (
    GROUND,
    Body,
    Driven,
    Frame,
    Mechanism,
    PlanarRevoluteClearance,
    Prismatic,
    Revolute,
    Start,
    StepBounds,
    assemble,
    simulate,
)
from nsopt.animation import animate

CRANK, ROD, CLEARANCE = 0.05, 0.12, 5e-4  # m
SPEED = 5000 * 2 * np.pi / 60  # rad/s
ALONG_X = (1.0, 0.0, 0.0)

crank = Body("crank", 0.30, (1e-4, 1e-4, 1e-4))
rod = Body("rod", 0.21, (2.5e-4, 2.5e-4, 2.5e-4), position=(CRANK + ROD / 2, 0, 0))
piston = Body("piston", 0.14, (1e-4, 1e-4, 1e-4), position=(CRANK + ROD, 0, 0))
bearing = Revolute("main bearing", Frame(GROUND), Frame(crank))
joints = [
    bearing,
    Revolute("crank pin", Frame.at(crank, (CRANK, 0, 0)), Frame.at(rod, (CRANK, 0, 0))),
    Prismatic("guide", Frame(GROUND, axes=ALONG_X), Frame(piston, axes=ALONG_X)),
    Driven("motor", bearing, SPEED),
]
ends = Frame(piston), Frame.at(rod, (CRANK + ROD, 0, 0))
pin = PlanarRevoluteClearance("piston pin", *ends, clearance=CLEARANCE, radius=0.01)
dynamics = assemble(Mechanism([crank, rod, piston], joints, "relative"), [pin])
moving = {"main bearing": SPEED, "crank pin": -SPEED * (1 + CRANK / ROD)}
start = Start.named(dynamics, {}, moving)

result = simulate(dynamics, start, 0.024, steps=StepBounds(1e-8, 1e-5), title="piston pin")
x = result["body_position"].sel(body="piston", axis="x").values
stroke = x.max() - x.min()  # m
print(f"the stroke is {1e3 * stroke:.2f} mm, with an ideal pin {2e3 * CRANK:.2f} mm")
animate(result, "knocking_pin.gif", fps=15, speed=0.01, magnify=20)
