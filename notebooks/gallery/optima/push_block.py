"""
A finger pushes a block
=======================

A block of 1 kg lies 0.1 m ahead of a finger and is to be 0.3 m further within a second, at rest.
Only dry friction holds it, and only contact moves it: with the least force the finger goes to it
and pushes it to the very end, also while it slows down: friction alone would stop it too soon. All
momentum that the finger gives is taken by friction, mu m g at all times.
"""

import numpy as np
from matplotlib import pyplot as plt

from nsopt import (
    GROUND,
    Actuator,
    Body,
    ContactLaw,
    Frame,
    Mechanism,
    PlaneContact,
    Prismatic,
    assemble,
)
from nsopt.trajectory import ActuatorLimits, Effort, EndAt, Horizon, Quintic, StartAt, optimize

BEHIND, DISTANCE, FRICTION, ALONG = 0.1, 0.3, 0.3, (1.0, 0.0, 0.0)  # m, m
block = Body("block", 1.0, point_mass=True)
finger = Body("finger", 0.5, (1e-3, 1e-3, 1e-3), position=(-BEHIND, 0, 0))
rail = Prismatic("rail", Frame.at(GROUND, (-BEHIND, 0, 0), ALONG), Frame(finger, axes=ALONG))
law = ContactLaw(friction=FRICTION)
ground = PlaneContact("ground", Frame(GROUND), Frame(block), law=law, planar=True)
tip = PlaneContact("tip", Frame(block, axes=(-1.0, 0, 0)), Frame(finger))
motor = Actuator("rail", effort=50.0)
mechanism = Mechanism([block, finger], [rail], "relative", [motor])
dynamics = assemble(mechanism, [ground, tip], (0.0, 0.0, -9.81))

rest, there, still = np.zeros(4), (DISTANCE, 0, 0, np.nan), (0, 0, 0, np.nan)
best = optimize(
    dynamics,
    Horizon(1.0, steps=100),
    costs=[Effort()],
    conditions=[StartAt(rest, rest), EndAt(there, still), ActuatorLimits()],
    guess=Quintic(),
    title="push",
)
time = best["time"].values
positions = best["body_position"].values[:, :, 0]
pushes = np.nan_to_num(best["impulse"].sel(contact="tip").values)  # N s, on the block
moving = time[-1] - time[np.argmax(pushes > 1e-3)]  # s
print(f"pushes add up to {pushes.sum():.3f} N s, friction to {FRICTION * 9.81 * moving:.3f} N s")

figure, ax = plt.subplots(figsize=(6, 4), layout="constrained")
ax.plot(time, positions, label=["block", "finger"])
ax.set(xlabel="time [s]", ylabel="position [m]")
ax.legend()
