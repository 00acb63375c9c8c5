"""
A robot arm with a worn elbow
=============================

An arm of two links lifts a load along a smooth path, by a controller that computes its torques and
knows nothing of the 0.1 mm of clearance in its elbow. The pin slides along a fifth of its bore and
never leaves it, and the tip comes as high as it should but for a tenth of a millimetre. At the end
the shoulder holds the weight of both links on their arms, no more.
"""

from nsopt import load_problem, simulate
from nsopt.plots import base_force, joint_torques, orbits, tracked_points

problem = load_problem("elbow_clearance")
result = simulate(problem.dynamics, duration=1.25, steps=problem.steps, title="elbow")
height = float(result["tip.z"].values[-1])  # m
print(f"the tip comes to {height:.4f} m")

orbits(result)
tracked_points(result)
joint_torques(result)
base_force(result)
