"""
The fastest wire
================

Along which wire does a bead fall fastest to a point 2 m aside and 2 m below? Bernoulli's question
of 1696, asked of `optimize`: how fast the wire turns is what may be chosen at each node. The answer
is a cycloid, along which the bead takes 0.8243 s; down a straight wire it takes 0.903 s.
"""

import numpy as np
from matplotlib import pyplot as plt
from scipy.optimize import brentq

from nsopt.problem import load_optimization

best = load_optimization("brachistochrone").solve(title="bead")
duration = float(best["time"].values[-1])  # s
print(f"the bead takes {duration:.4f} s")

end = brentq(lambda a: (a - np.sin(a)) / (1 - np.cos(a)) - 1, 1.0, 4.0)  # of the cycloid
angle = np.linspace(0.0, end, 100)
size = 2.0 / (1 - np.cos(end))
figure, ax = plt.subplots(figsize=(5, 5), layout="constrained")
cycloid = size * (angle - np.sin(angle)), size * (np.cos(angle) - 1)
ax.plot(*cycloid, color="grey", linewidth=4, alpha=0.5, label="cycloid")
ax.plot(*best["q"].values[:, :2].T, ".-", label="found")
ax.plot([0, 2], [0, -2], color="grey", linestyle="--", linewidth=1, label="straight")
ax.set(xlabel="x [m]", ylabel="y [m]", aspect="equal")
ax.legend()
