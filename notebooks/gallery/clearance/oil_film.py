"""
A shaft in its oil film
=======================

A shaft of 1 kg bears 200 N and turns at 3000 rpm in a short bearing with 50 µm of clearance. Let go
at the centre it sinks, is carried aside by the oil that it drags along, and stays below and beside
the centre, where the film is thin enough to carry it. Ocvirk's formula for short bearings gives the
same eccentricity.
"""

import numpy as np
from matplotlib import pyplot as plt

from nsopt import (
    GROUND,
    AppliedForce,
    Body,
    Driven,
    Frame,
    JournalBearing,
    Mechanism,
    Planar,
    StepBounds,
    Turn,
    assemble,
    simulate,
)

CLEARANCE, RADIUS, LENGTH, VISCOSITY = 5e-5, 0.02, 0.02, 0.02  # m, m, m, Pa s
SPEED, LOAD = 3000 * 2 * np.pi / 60, 200.0  # rad/s, N
shaft = Body("shaft", 1.0, (2e-4, 2e-4, 2e-4), angular_velocity=(0.0, 0.0, SPEED))
plane = Planar("plane", Frame(GROUND), Frame(shaft))
turning = Driven("motor", Turn(Frame(GROUND), Frame(shaft)), SPEED)
numbers = {"clearance": CLEARANCE, "radius": RADIUS, "length": LENGTH, "viscosity": VISCOSITY}
film = JournalBearing("film", Frame(shaft), Frame(GROUND), **numbers)
load = AppliedForce("load", Frame(shaft), (0.0, -LOAD, 0.0))
dynamics = assemble(Mechanism([shaft], [plane, turning], "relative"), [film, load])

result = simulate(dynamics, duration=0.2, steps=StepBounds(1e-5, 1e-5), title="shaft")
eccentricity = float(result["film.eccentricity"].values[-1])
print(f"the eccentricity settles at {eccentricity:.4f} of the clearance")

figure, ax = plt.subplots(figsize=(5, 5), layout="constrained")
angle = np.linspace(0, 2 * np.pi, 181)
ax.plot(np.cos(angle), np.sin(angle), color="black", linewidth=1)
x, y = result["body_position"].values[:, 0, :2].T / CLEARANCE
ax.plot(x, y, label="centre of the shaft")
ax.plot(x[-1], y[-1], "o", color="black", label="where it stays")
ax.set(xlabel="x / clearance", ylabel="y / clearance", aspect="equal")
figure.legend(loc="outside lower center", ncols=2)
