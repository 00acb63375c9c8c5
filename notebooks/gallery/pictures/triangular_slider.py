"""
A triangular slider tilts in its guide
======================================

A slider of triangular section, driven along its guide by a force beside its middle. The three
corners of each end stay within the triangle that the guide leaves them: the front end falls on the
lower side, the back end goes up the right one, in a few impacts. From then on it glides, with the
acceleration of the force over its mass.
"""

from nsopt import load_problem, simulate
from nsopt.plots import gaps, orbits

problem = load_problem("prismatic_slider")
result = simulate(problem.dynamics, duration=0.5, steps=problem.steps, title="slider")
acceleration = float(result["body_acceleration"].values[-1, 0, 2])  # m/s^2
print(f"it glides with {acceleration:.3f} m/s^2")

orbits(result)
gaps(result)
