"""
A man rises from a seat
=======================

The body of a man of 75 kg, with foot, shank, thigh and trunk, rises within 2 s at least effort.
Feet and seat bear by contact alone, so when he leaves the seat follows from the solve: first the
trunk leans forward, until its weight is above the feet. From rest to rest, floor and seat together
bear his weight on average.
"""

import numpy as np

from nsopt.animation import animate
from nsopt.problem import load_optimization

best = load_optimization("sit_to_stand").solve(title="sit to stand")
time, impulse = best["time"].values, np.nan_to_num(best["impulse"].values)  # s, N s in each step
bears = impulse.sum() / time[-1]  # N, on average
left = time[impulse[:, 2] > 1e-4][-1]  # s; contacts are heel, ball of the foot, seat
print(f"floor and seat bear {bears:.1f} N on average; the seat is left after {left:.2f} s")
animate(best, "sit_to_stand.gif", fps=15)
