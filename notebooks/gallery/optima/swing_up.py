"""
Swinging up with a weak motor
=============================

A motor that can hold a pendulum no higher than 24 degrees is to bring it upright. It cannot push it
up, so the least effort is to swing to and fro until the energy is enough: what the motor has given
at the end is exactly the energy of the raised pendulum, 2 m g l.
"""

import numpy as np

from nsopt import GROUND, Actuator, Body, Frame, Mechanism, Revolute, assemble
from nsopt.animation import animate
from nsopt.trajectory import ActuatorLimits, Effort, EndAt, Horizon, StartAt, Straight, optimize

MASS, LENGTH, TORQUE = 1.0, 0.5, 2.0  # kg, m, N m
weight = Body("weight", MASS, (0.01, 0.01, 0.01), position=(0.0, -LENGTH, 0.0))
hinge = Revolute("hinge", Frame(GROUND), Frame.at(weight, (0.0, 0.0, 0.0)))
motor = Actuator("hinge", effort=TORQUE)
pendulum = assemble(Mechanism([weight], [hinge], "relative", [motor]), (), (0.0, -9.81, 0.0))

best = optimize(
    pendulum,
    Horizon(3.0, steps=100),
    costs=[Effort()],
    conditions=[StartAt([0.0], [0.0]), EndAt([np.pi], [0.0]), ActuatorLimits()],
    guess=Straight([0.0], [np.pi]),
    title="swing-up",
)
fine = best.sample(1e-3)
work = np.trapezoid(fine["tau"].values[:, 0] * fine["v"].values[:, 0], fine["time"].values)  # J
print(f"the motor gives {work:.3f} J, the pendulum is raised by {2 * MASS * 9.81 * LENGTH:.3f} J")
animate(best, "swing_up.gif", fps=15)
