"""
Soft impacts: how high does a ball rebound?
===========================================

Compliant laws of contact are given a coefficient of restitution e, but do not all rebound with it.
A ball hits a plate at 1 m/s. By the law of Hunt and Crossley, made for e near one, it rebounds with
half of its speed at least; by that of Gonthier and others it rebounds with what is stated.
"""

import numpy as np
from matplotlib import pyplot as plt

from nsopt import (
    GROUND,
    Body,
    CompliantContact,
    ContactLaw,
    Frame,
    Gonthier,
    HuntCrossley,
    Mechanism,
    Parameter,
    PlaneContact,
    StepBounds,
    assemble,
    simulate,
)

ball = Body("ball", 1.0, (0.1, 0.1, 0.1), velocity=(0.0, 0.0, -1.0))
law = ContactLaw(restitution=Parameter("e", 0.5))
plate = PlaneContact("plate", Frame(GROUND), Frame(ball), law=law)


def rebound(compliant, e):
    """Return the speed after the impact over that before."""
    dynamics = assemble(Mechanism([ball]), [CompliantContact("plate", plate, compliant)])
    steps = StepBounds(2e-6, 2e-6)  # the contact lasts for about a millisecond
    result = simulate(dynamics, duration=5e-3, steps=steps, parameters={"e": e}, progress=False)
    return float(result["body_velocity"].values[-1, 0, 2])


stated = np.array([0.1, 0.5, 0.9])
laws = {"Hunt, Crossley": HuntCrossley(1e9), "Gonthier": Gonthier(1e9)}
rebounds = {name: np.array([rebound(law, e) for e in stated]) for name, law in laws.items()}
print(f"for e = 0.1: {rebounds['Hunt, Crossley'][0]:.4f} and {rebounds['Gonthier'][0]:.4f}")

figure, ax = plt.subplots(figsize=(5, 5), layout="constrained")
ax.plot([0, 1], [0, 1], color="grey", linewidth=1)
for name, found in rebounds.items():
    ax.plot(stated, found, "o-", label=name)
ax.set(xlabel="e stated", ylabel="e found", xlim=(0, 1), ylim=(0, 1), aspect="equal")
ax.legend()
