"""
Stick and slip on a conveyor belt
=================================

A block lies on a belt and hangs on a spring. The belt carries it along until the spring overcomes
the static friction; then the block slips back, is caught, and is carried along again: a bowed
string, a squealing brake. Stribeck's law of friction, which falls from static to kinetic, does it;
with one coefficient for both the block would come to rest.
"""

import numpy as np
from matplotlib import pyplot as plt

from nsopt import (
    GROUND,
    Body,
    Driven,
    Frame,
    Mechanism,
    Prismatic,
    SlideFriction,
    SpringDamper,
    Start,
    StepBounds,
    StribeckLaw,
    assemble,
    simulate,
)

MASS, STIFFNESS, BELT, STATIC, KINETIC = 1.0, 50.0, 0.1, 0.5, 0.3  # kg, N/m, m/s
ALONG = (1.0, 0.0, 0.0)
belt, block = Body("belt", 1.0, (1, 1, 1)), Body("block", MASS, (1, 1, 1))
rollers = Prismatic("rollers", Frame(GROUND, axes=ALONG), Frame(belt, axes=ALONG))
on_belt = Prismatic("on belt", Frame(belt, axes=ALONG), Frame(block, axes=ALONG))
motor = Driven("motor", rollers, BELT)
law = StribeckLaw(kinetic=KINETIC, static=STATIC, stribeck=0.02, creep=1e-5)
rubs = SlideFriction("rubs", *on_belt.frames, law, load=MASS * 9.81)
spring = SpringDamper("spring", Frame(GROUND, (-1, 0, 0)), Frame(block), STIFFNESS, free_length=1.0)
mechanism = Mechanism([belt, block], [rollers, on_belt, motor], "relative")
dynamics = assemble(mechanism, [rubs, spring])

moving = Start.named(dynamics, {}, {"rollers": BELT})
result = simulate(dynamics, moving, 10.0, steps=StepBounds(1e-5, 1e-3), title="block")
time = result["time"].values
force = STIFFNESS * result["body_position"].sel(body="block", axis="x").values  # N
slips = force[np.argmax(result["joint_rate"].sel(freedom="on belt.distance").values < -1e-4)]  # N
print(f"the block slips at {slips:.3f} N, static friction is {STATIC * MASS * 9.81:.3f} N")

figure, ax = plt.subplots(figsize=(7, 3.5), layout="constrained")
ax.plot(time, force, label="force of the spring")
for name, mu in [("static", STATIC), ("kinetic", KINETIC)]:
    ax.axhline(mu * MASS * 9.81, color="grey", linestyle="--", linewidth=1)
    ax.annotate(name, (10.1, mu * MASS * 9.81), va="bottom")
ax.set(xlabel="time [s]", ylabel="[N]", xlim=(0, 11.5), ylim=(0, 6))
ax.legend(loc="upper left")
