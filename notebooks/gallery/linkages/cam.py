"""
A cam and its follower
======================

A disc that turns about a point beside its middle lifts a follower: the simplest cam. Its roller is
kept on the rim by a constraint. At 1200 rpm the follower is thrown back by up to 25 times gravity:
unless a spring presses harder than that, it leaves the rim.
"""

import numpy as np
from matplotlib import pyplot as plt

from nsopt import (
    GROUND,
    Body,
    Driven,
    Frame,
    Mechanism,
    PointOnCurve,
    Prismatic,
    Revolute,
    StepBounds,
    assemble,
    consistent,
    simulate,
)

ECCENTRICITY, RADIUS, SPEED = 0.012, 0.04, 1200 * 2 * np.pi / 60  # m, m, rad/s
up = (0.0, 1.0, 0.0)
top = (0.0, np.sqrt(RADIUS**2 - ECCENTRICITY**2), 0.0)
cam = Body("cam", 0.5, (1e-3, 1e-3, 1e-3), position=(ECCENTRICITY, 0.0, 0.0))
follower = Body("follower", 0.1, (1e-4, 1e-4, 1e-4), position=top)
bearing = Revolute("bearing", Frame(GROUND), Frame.at(cam, (0.0, 0.0, 0.0)))
guide = Prismatic("guide", Frame(GROUND, top, up), Frame(follower, axes=up))
rim = PointOnCurve("rim", Frame(cam), Frame(follower), lambda x, y: np.sqrt(x**2 + y**2) - RADIUS)
motor = Driven("motor", bearing, SPEED)
mechanism = Mechanism([cam, follower], [bearing, guide, rim, motor], "relative")
dynamics = assemble(mechanism)

start = consistent(dynamics)
result = simulate(dynamics, start, 0.1, steps=StepBounds(1e-4, 1e-4), title="cam")
angle = SPEED * result["time"].values
lift = result["body_position"].sel(body="follower", axis="y").values
acceleration = result["body_acceleration"].sel(body="follower", axis="y").values
print(f"the follower is lifted by {1e3 * np.ptp(lift):.3f} mm")

figure, axes = plt.subplots(2, 1, figsize=(6, 5), sharex=True, layout="constrained")
axes[0].plot(np.degrees(angle), 1e3 * lift)
axes[0].set(ylabel="follower [mm]")
axes[1].plot(np.degrees(angle), acceleration / 9.81)
axes[1].set(xlabel="angle of the cam [deg]", ylabel="acceleration / g")
