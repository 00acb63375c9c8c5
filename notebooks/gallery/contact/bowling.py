"""
A bowling ball begins to roll
=============================

A ball is thrown without spin. It slides, and friction slows it down and spins it up, until it rolls
without slip: at 5/7 of its first speed, whatever the friction; friction decides only how long that
takes, 2 v / (7 mu g). From there on friction has nothing left to do.
"""

import numpy as np
from matplotlib import pyplot as plt

from nsopt import (
    GROUND,
    Body,
    ContactLaw,
    Frame,
    Mechanism,
    PlaneContact,
    StepBounds,
    assemble,
    simulate,
)

SPEED, RADIUS, FRICTION = 7.0, 0.108, 0.12  # m/s, m
J = 2 / 5 * 6.0 * RADIUS**2
ball = Body("ball", 6.0, (J, J, J), position=(0, 0, RADIUS), velocity=(SPEED, 0, 0))
law = ContactLaw(friction=FRICTION)
lane = PlaneContact("lane", Frame(GROUND), Frame(ball), radius=RADIUS, law=law)
dynamics = assemble(Mechanism([ball]), [lane], gravity=(0.0, 0.0, -9.81))

result = simulate(dynamics, duration=2.5, steps=StepBounds(1e-6, 2e-3), title="ball")
time = result["time"].values
speed = result["body_velocity"].values[:, 0, 0]
rim = RADIUS * result["body_angular_velocity"].values[:, 0, 1]
rolls = time[np.argmax(np.abs(speed - rim) < 1e-6)]  # s
print(f"it rolls after {rolls:.3f} s, at {speed[-1]:.3f} m/s")

figure, ax = plt.subplots(figsize=(6, 4), layout="constrained")
ax.plot(time, speed, label="speed of the ball")
ax.plot(time, rim, label="radius · spin")
ax.axvline(rolls, color="black", linestyle="--", linewidth=1, label="rolls from here")
ax.set(xlabel="time [s]", ylabel="[m/s]", ylim=(0, None))
ax.legend()
