"""
Andrews' squeezer
=================

Seven small bodies in three loops, a benchmark of multibody programs for fifty years: a motor brings
the crank to 1100 rad/s within 30 ms, and the other six are thrown about. The angle of the crank at
the end is known to twelve digits: 15.81077 rad.
"""

import numpy as np

from nsopt import StepBounds, load_problem, simulate
from nsopt.animation import animate

squeezer = load_problem("andrews_squeezer")
steps = StepBounds(1e-5, 1e-5)
result = simulate(squeezer.dynamics, duration=0.03, steps=steps, title="Andrews' squeezer")
half = result["body_quaternion"].sel(body="K1").values
turned = np.unwrap(2 * np.arctan2(half[:, 3], half[:, 0]), period=2 * np.pi)
crank = turned[-1]  # rad
print(f"the crank ends at {crank:.5f} rad")
animate(result, "squeezer.gif", fps=15, speed=0.01)
