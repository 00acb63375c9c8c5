"""
A Gough platform with one worn joint
====================================

A platform on six legs; the ball joint on top of the first leg has 0.2 mm of clearance. A force that
goes round pulls and presses that leg in turn, and the platform goes to and fro along the one twist
that is left to it. How far it goes follows from the lengths of the six legs alone: 0.2 mm more or
less in leg 1 are a known shift and turn of the platform.
"""

import casadi as ca
import numpy as np
from matplotlib import pyplot as plt

from nsopt import (
    GROUND,
    AppliedForce,
    Body,
    Distance,
    Frame,
    Mechanism,
    Spherical,
    SphericalClearance,
    StepBounds,
    assemble,
    simulate,
)

CLEARANCE, HEIGHT = 2e-4, 1.0  # m
feet = [(np.cos(x), np.sin(x), 0.0) for x in np.radians([10, 110, 130, 230, 250, 350])]
tops = [(np.cos(x) / 2, np.sin(x) / 2, HEIGHT) for x in np.radians([50, 70, 170, 190, 290, 310])]
platform = Body("platform", 20.0, (1.2, 1.2, 2.4), position=(0.0, 0.0, HEIGHT))
foot, top = np.array(feet[0]), np.array(tops[0])
leg = Body("leg 1", 1.0, (0.1, 0.1, 0.1), position=(foot + top) / 2)
joints = [Spherical("foot 1", Frame(GROUND, foot), Frame.at(leg, foot))]
for k in range(1, 6):
    length = np.linalg.norm(np.subtract(tops[k], feet[k]))
    ends = Frame(GROUND, feet[k]), Frame.at(platform, tops[k])
    joints.append(Distance(f"leg {k + 1}", *ends, length))
worn = SphericalClearance("top 1", Frame.at(leg, top), Frame.at(platform, top), CLEARANCE)


def shaking(t):
    """Return a force that grows and goes round [N]."""
    return 600 * ca.vertcat(ca.cos(20 * t), ca.sin(20 * t), 0)


push = AppliedForce("push", Frame(platform), shaking)
dynamics = assemble(Mechanism([platform, leg], joints), [worn, push], gravity=(0.0, 0.0, -9.81))
result = simulate(dynamics, duration=1.0, steps=StepBounds(1e-6, 1e-3), title="platform")
place = result["body_position"].sel(body="platform").values - [0, 0, HEIGHT]  # m
moved = np.linalg.norm(np.ptp(place, axis=0))
print(f"the platform moves by {1e3 * moved:.3f} mm")

figure, ax = plt.subplots(figsize=(7, 4), layout="constrained")
ax.plot(result["time"].values, 1e6 * place, linewidth=1, label=["x", "y", "z"])
ax.set(xlabel="time [s]", ylabel="centre of the platform [µm]")
figure.legend(loc="outside right upper")
