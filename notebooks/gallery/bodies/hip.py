"""
A hip and its ligaments
=======================

A leg on a ball joint, thrown forward and sideways. Ligaments keep it within a cone, 110 degrees
forwards, 20 backwards and 30 to 45 to the sides: beyond it a moment grows and turns the leg back,
and part of the energy is lost. Nothing drives the leg, so its energy never rises.
"""

import numpy as np

from nsopt import (
    GROUND,
    Body,
    Cone,
    CubicLaw,
    Frame,
    Mechanism,
    RangeOfMotion,
    Spherical,
    StepBounds,
    assemble,
    simulate,
)
from nsopt.plots import range_of_motion

axes = np.array([[1.0, 0, 0], [0, -1, 0], [0, 0, -1]])  # forward, to the left, down the leg
longitudes = np.radians([0, 45, 90, 135, 180, 225, 270, 315, 360])
latitudes = np.radians([110, 80, 45, 30, 20, 20, 30, 60, 110])

thrown = {"velocity": (1.6, -1.0, 0.0), "angular_velocity": (-2.5, -4.0, 1.5)}
leg = Body("leg", mass=11.0, inertia=(0.75, 0.75, 0.06), position=(0, 0, -0.4), **thrown)
pelvis, thigh = Frame(GROUND, axes=axes), Frame.at(leg, (0, 0, 0), axes=axes)
law = CubicLaw(peak=200.0, compliance=np.radians(15))
cone = RangeOfMotion("cone", pelvis, thigh, Cone(longitudes, latitudes), law, damping=0.6)
mechanism = Mechanism([leg], [Spherical("hip", pelvis, thigh)])
dynamics = assemble(mechanism, [cone], gravity=(0.0, 0.0, -9.81))

result = simulate(dynamics, duration=3.0, steps=StepBounds(1e-4, 1e-3), title="hip")
energy = result["total_energy"].values
rises = np.diff(energy).max() / np.ptp(energy)
print(f"of {energy[0] - energy[-1]:.1f} J that are lost, at most {rises:.1e} come back in a step")
range_of_motion(result)
