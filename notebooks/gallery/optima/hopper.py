"""
A hopper on one leg
===================

A body of 6 kg on one leg is to be 0.4 m further in 0.8 s, with its foot 5 cm up in the middle, at
least effort. Nobody says when the foot leaves the ground or where it is put down: ground and dry
friction hold it by contact alone, and the solver finds steps, push-off, flight and landing from a
guess that slides along. From rest to rest the ground must bear the weight on average.
"""

import numpy as np

from nsopt.animation import animate
from nsopt.problem import load_optimization

best = load_optimization("hopper").solve(title="hopper")
impulse = np.nan_to_num(best["impulse"].values[:, 0])  # N s, of the ground in each step
bears = impulse.sum() / best["time"].values[-1]  # N, on average
flight = np.mean(best["gap"].values[:, 0] > 1e-4)
print(f"the ground bears {bears:.2f} N on average; {100 * flight:.0f} % of the time it flies")
animate(best, "hopper.gif", fps=15, speed=0.4)
