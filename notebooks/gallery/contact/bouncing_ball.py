"""
A ball that comes to rest after infinitely many bounces
=======================================================

A ball dropped from 1 m rebounds with 0.7 of the speed of each impact. Bounces get shorter like a
geometric series, so that infinitely many take a finite time: the ball lies still after
sqrt(2 h / g) (1 + e) / (1 - e) = 2.559 s. `ContactAligned` ends its steps at impacts, and takes the
last, tiniest bounces as rest.
"""

from matplotlib import pyplot as plt

from nsopt import (
    GROUND,
    Body,
    ContactAligned,
    ContactLaw,
    Frame,
    Mechanism,
    PlaneContact,
    StepBounds,
    assemble,
    simulate,
)

HEIGHT, RESTITUTION = 1.0, 0.7
ball = Body("ball", 1.0, (0.1, 0.1, 0.1), position=(0.0, 0.0, HEIGHT))
law = ContactLaw(restitution=RESTITUTION)
floor = PlaneContact("floor", Frame(GROUND), Frame(ball), law=law)
dynamics = assemble(Mechanism([ball]), [floor], gravity=(0.0, 0.0, -9.81))

steps = StepBounds(1e-7, 5e-3)
result = simulate(dynamics, duration=3.0, steps=steps, scheme=ContactAligned(), title="ball")
time, speed = result["time"].values, result["body_velocity"].values[:, 0, 2]
rest = time[abs(speed) > 1e-3][-1]  # s
print(f"the ball lies still after {rest:.3f} s")

figure, ax = plt.subplots(figsize=(7, 3.5), layout="constrained")
ax.plot(time, result["body_position"].values[:, 0, 2])
ax.axvline(rest, color="black", linestyle="--", linewidth=1, label="rest")
ax.set(xlabel="time [s]", ylabel="height [m]")
ax.legend()
