"""
A slider-crank with play in its guide
=====================================

The slider-crank of Flores, Leine and Glocker (2010), without friction: its guide has 1 mm of room
above and below the slider. Let go at 150 rad/s it has nothing but its own inertia. As the rod
pushes up and down in turn, the slider goes from wall to wall, and with a coefficient of restitution
of 0.4 rebounds from each. Its stroke is twice the crank, as ever.
"""

import numpy as np
from matplotlib import pyplot as plt

from nsopt import (
    GROUND,
    Body,
    ContactLaw,
    Frame,
    Mechanism,
    Parameter,
    PlanarPrismaticClearance,
    Revolute,
    StepBounds,
    assemble,
    simulate,
)

CRANK, ROD, SPEED = 0.153, 0.306, 150.0  # m, m, rad/s
SPIN, TURN = (0.0, 0.0, SPEED), (0.0, 0.0, -SPEED * CRANK / ROD)
RISE = (0.0, CRANK * SPEED / 2, 0.0)

J1, J2, J3 = 7.4e-5, 5.9e-4, 2.7e-6  # kg m^2
crank = Body("crank", 0.038, (J1, J1, J1), (CRANK / 2, 0, 0), velocity=RISE, angular_velocity=SPIN)
middle = (CRANK + ROD / 2, 0, 0)
rod = Body("rod", 0.038, (J2, J2, J2), middle, velocity=RISE, angular_velocity=TURN)
slider = Body("slider", 0.076, (J3, J3, J3), position=(CRANK + ROD, 0, 0))
knee, piston = (CRANK, 0, 0), (CRANK + ROD, 0, 0)
joints = [
    Revolute("main bearing", Frame(GROUND), Frame.at(crank, (0, 0, 0))),
    Revolute("crank pin", Frame.at(crank, knee), Frame.at(rod, knee)),
    Revolute("piston pin", Frame.at(rod, piston), Frame.at(slider, piston)),
]
law, size = ContactLaw(restitution=Parameter("e", 0.0)), {"length": 0.1, "height": 0.05}  # m
guide = PlanarPrismaticClearance(
    "guide", Frame(GROUND), Frame(slider), **size, clearance=1e-3, law=law
)
mechanism = Mechanism([crank, rod, slider], joints, "relative")
dynamics = assemble(mechanism, [guide], gravity=(0.0, -9.81, 0.0))

figure, ax = plt.subplots(figsize=(7, 4), layout="constrained")
for e in (0.0, 0.4):
    steps = StepBounds(1e-8, 2e-5)
    result = simulate(dynamics, duration=0.085, steps=steps, parameters={"e": e}, progress=False)
    x, y = result["body_position"].sel(body="slider").values[:, :2].T
    turns = result["joint_coordinate"].sel(freedom="main bearing.angle").values / (2 * np.pi)
    ax.plot(turns, 1e3 * y, label=f"e = {e}")
stroke = x.max() - x.min()  # m
print(f"the stroke is {1e3 * stroke:.1f} mm, twice the crank {2e3 * CRANK:.1f} mm")
ax.set(xlabel="turns of the crank", ylabel="slider in its guide [mm]")
ax.legend()
