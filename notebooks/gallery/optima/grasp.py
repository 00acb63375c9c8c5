"""
CHARMIE reaches for something
=============================

The left arm of a mobile manipulator, CHARMIE, from straight out to a grasp in front of its chest:
the claw is to be at a point and to point forward and down; in which posture is left open. What is
least is the resistance of the joints, damping and a cone about the shoulder; two fifths of it are
saved over a polynomial motion.
"""

from nsopt.animation import animate
from nsopt.problem import load_optimization

task = load_optimization("charmie_reach")
best = task.solve(title="CHARMIE's left arm")
saved = 1 - best.detailed_cost["JointResistance"] / best.guess_cost["JointResistance"]
print(f"{100 * saved:.0f} % of the resistance is saved")
animate(best, "grasp.gif", fps=15, speed=0.5)
