"""
How worn is this hinge? Look at its motion
==========================================

A pendulum on a worn hinge was filmed, and the angle was measured 100 times within a second, with a
noise of 0.01 mrad. How large is the clearance? The answer is found by its gradient through the
simulated impacts: the clearance of the mechanism that was filmed is 1 mm.
"""

import numpy as np
from matplotlib import pyplot as plt

from nsopt import (
    GROUND,
    Body,
    Frame,
    Mechanism,
    Parameter,
    Planar,
    PlanarRevoluteClearance,
    StepBounds,
    assemble,
)
from nsopt.trajectory import Measured, Unknown, fit, sensitivities

rod = Body("rod", 1.0, (0.01, 0.09, 0.09), position=(0.5, 0.0, 0.0))
pin, bushing = Frame(GROUND), Frame.at(rod, (0.0, 0.0, 0.0))
worn = PlanarRevoluteClearance("hinge", pin, bushing, clearance=Parameter("clearance", 1e-3))
plane = Mechanism([rod], [Planar("plane", pin, bushing)], "relative")  # x, y, angle
pendulum = assemble(plane, [worn], gravity=(0.0, -9.81, 0.0))
times, steps, noise = np.linspace(0.01, 1.0, 100), StepBounds(1e-6, 1e-3), 1e-5


def angle(_t, q, _v, _p):
    """Return what the camera sees [rad]."""
    return q[2]


found = sensitivities(
    pendulum, times=times, steps=steps, outputs=angle, by=["clearance"], by_start=False
)
filmed = found.value + noise * np.random.default_rng(1).normal(size=found.value.shape)
unknown = Unknown("clearance", guess=6e-4, lower=1e-4, upper=3e-3)
answer = fit(pendulum, Measured(times, filmed, angle, deviation=noise), [unknown], steps=steps)
clearance = answer.parameters["clearance"]  # m
print(f"the clearance is {1e3 * clearance:.4f} mm, within {1e3 * answer.errors[0]:.4f}")

figure, axes = plt.subplots(2, 1, figsize=(6, 5), sharex=True, layout="constrained")
axes[0].plot(times, filmed, ".", markersize=4)
axes[0].set(ylabel="angle measured [rad]")
axes[1].plot(times, found.forward().parameters[:, 0, 0])
axes[1].set(xlabel="time [s]", ylabel="its derivative\nby the clearance [rad/m]")
