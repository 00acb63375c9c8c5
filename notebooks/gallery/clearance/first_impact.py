"""
The first impact in a worn hinge
================================

A rod of 1 kg on a worn hinge is let go level, its pin in the middle of the bore. The end in the
hinge falls freely until it meets the wall, and the wider the clearance, the harder it hits. The
impulse grows with the square root of the clearance: what hits is the mass that the rod has at its
end, m J / (J + m a²), at the speed of a fall through the clearance.
"""

import numpy as np
from matplotlib import pyplot as plt

from nsopt import (
    GROUND,
    Body,
    ContactAligned,
    Frame,
    Mechanism,
    Parameter,
    Planar,
    PlanarRevoluteClearance,
    StepBounds,
    assemble,
    simulate,
)

ARM = 0.5  # m, from the hinge to the centre of mass
rod = Body("rod", 1.0, (0.01, 0.09, 0.09), position=(ARM, 0.0, 0.0))
pin, bushing = Frame(GROUND), Frame.at(rod, (0.0, 0.0, 0.0))
hinge = PlanarRevoluteClearance("hinge", pin, bushing, clearance=Parameter("clearance", 1e-3))
plane = Mechanism([rod], [Planar("plane", pin, bushing)], "relative")
pendulum = assemble(plane, [hinge], gravity=(0.0, -9.81, 0.0))


def first_impulse(clearance):
    """Return the impulse of the first impact [N s]."""
    result = simulate(
        pendulum,
        duration=0.04,
        steps=StepBounds(1e-7, 1e-4),
        scheme=ContactAligned(),
        parameters={"clearance": clearance},
        progress=False,
    )
    hits = result["impact_impulse"].values[:, 0]
    return hits[np.nonzero(hits > 0)[0][0]]


clearances = np.geomspace(5e-5, 2e-3, 9)  # m
impulses = np.array([first_impulse(clearance) for clearance in clearances])
print(f"0.05 mm: {impulses[0]:.4f} N s, 2 mm: {impulses[-1]:.4f} N s")

figure, ax = plt.subplots(figsize=(6, 4), layout="constrained")
fine = np.linspace(0.0, 2e-3, 100)
struck = 0.09 / (0.09 + ARM**2) * np.sqrt(2 * 9.81 * fine)
ax.plot(1e3 * fine, struck, color="grey", label="m J / (J + m a²) · sqrt(2 g c)")
ax.plot(1e3 * clearances, impulses, "o", label="simulated")
ax.set(xlabel="clearance [mm]", ylabel="first impulse [N s]", ylim=(0, None))
ax.legend()
