"""
The tone of a bending beam
==========================

A thin bar of aluminium, clamped at one end, is let go straight under its weight and rings. Cut into
rigid elements with four springs between them, it has the lowest frequency of Euler and Bernoulli's
theory of beams, 1.875² / (2 pi l²) sqrt(E I / (rho A)) = 8.9 Hz, within two hundredths.
"""

import numpy as np
from matplotlib import pyplot as plt

from nsopt import GROUND, Fixed, Frame, Mechanism, StepBounds, Tracker, assemble, simulate
from nsopt.robots import CrossSection, LinkMaterial, flexible_link

LENGTH, RADIUS = 0.8, 0.004  # m
aluminium = LinkMaterial(density=2700.0, young=7e10, shear=2.6e10, damping=2e-5)
section = CrossSection.circle(RADIUS)
bar = flexible_link("bar", (0, 0, 0), (1, 0, 0), LENGTH, section, aluminium, elements=4)
clamp = Fixed("clamp", Frame(GROUND), Frame.at(bar.bodies[0], (0, 0, 0)))
tip = Tracker("tip", Frame.at(bar.bodies[-1], (LENGTH, 0, 0)))
mechanism = Mechanism(bar.bodies, [clamp, *bar.joints], "relative")
dynamics = assemble(mechanism, [*bar.forces, tip], gravity=(0.0, 0.0, -9.81))

result = simulate(dynamics, duration=0.3, steps=StepBounds(5e-5, 5e-5), title="bar")
time, height = result["time"].values, result["tip.z"].values
swing = height - height.mean()
rises = time[:-1][(swing[:-1] < 0) & (swing[1:] >= 0)]
frequency = 1 / np.diff(rises).mean()  # Hz
print(f"it rings with {frequency:.3f} Hz")

figure, ax = plt.subplots(figsize=(7, 3.5), layout="constrained")
ax.plot(time, 1e3 * height)
ax.set(xlabel="time [s]", ylabel="height of the tip [mm]")
