"""
Wheels that drive sideways
==========================

A platform as that of CHARMIE on four mecanum wheels, with rollers around their rims at 45 degrees
to their axles: it goes ahead, sideways and turns, all at once, by the speeds of its wheels alone.
Three are driven; the fourth follows. The path is an arc, that of a body whose twist is constant.
"""

import numpy as np
from matplotlib import pyplot as plt

from nsopt import (
    GROUND,
    Body,
    Driven,
    Frame,
    MecanumWheel,
    Mechanism,
    Planar,
    Revolute,
    StepBounds,
    assemble,
    consistent,
    simulate,
)

AHEAD, SIDEWAYS, TURNING, RADIUS = 0.2, -0.3, 0.4, 0.1  # m/s, m/s, rad/s, m
PLACES = [(0.3, 0.2), (0.3, -0.2), (-0.3, 0.2), (-0.3, -0.2)]  # m, of wheels
base = Body("base", 60.0, (3.0, 3.0, 4.5), position=(0, 0, RADIUS))
bodies, joints, wheels = [base], [Planar("floor", Frame(GROUND, (0, 0, RADIUS)), Frame(base))], []
for k, (x, y) in enumerate(PLACES):
    place, side = (x, y, RADIUS), np.sign(x * y)
    wheel = Body(f"wheel {k}", 1.0, (3e-3, 5e-3, 3e-3), position=place)
    axle = Revolute(f"axle {k}", *(Frame.at(body, place, (0, 1, 0)) for body in (base, wheel)))
    rollers = Frame.at(wheel, place, np.eye(3))
    wheels.append(MecanumWheel(f"on {k}", Frame(GROUND), rollers, RADIUS, side * np.pi / 4))
    speed = (AHEAD - side * SIDEWAYS - np.sign(y) * 0.5 * TURNING) / RADIUS  # rad/s
    bodies.append(wheel)
    joints += [axle, Driven(f"motor {k}", axle, speed)] if k < 3 else [axle]
cart = assemble(Mechanism(bodies, joints, "relative"), wheels, gravity=(0.0, 0.0, -9.81))

result = simulate(cart, consistent(cart), 5.0, steps=StepBounds(1e-2, 1e-2), title="cart")
place = result["body_position"].values[:, 0, :2]
figure, ax = plt.subplots(figsize=(5, 4), layout="constrained")
ax.plot(*place.T)
ax.set(xlabel="x [m]", ylabel="y [m]", aspect="equal")
