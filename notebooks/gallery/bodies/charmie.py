"""
CHARMIE's validation motion
===========================

A mobile manipulator of 40 bodies and seven closed loops, 21 joints of which are driven: for 2.5 s
they accelerate one way, for as long the other [CHARMIE 2023, section 6]. As Figs. 12 and 13 of the
paper: the path of a point of the claw, on that of the paper's closed form; the force of the floor
on the base, on weight and masses times accelerations. Masses and lengths are chosen here.
"""

import importlib
import sys

import numpy as np

from nsopt.plots import Recorded, Vector, draw_vectors
from nsopt.problem import problem_folder

sys.path.insert(0, str(problem_folder() / "charmie"))
robot = importlib.import_module("_validation")

times = np.linspace(0.0, 5.0, 101)
path, force, needed = robot.study(times)
exact = np.array([robot.end_effector(t) for t in times])
print(f"path within {np.abs(path - exact).max():.1e} m, force {np.abs(force - needed).max():.1e} N")
vectors = [Vector("point of the claw", "r", "m"), Vector("force on the base", "F", "N")]
pairs = {"nsopt": (path, force), "closed form": (exact, needed)}
recorded = [Recorded(name, times, np.stack(pair, axis=1)) for name, pair in pairs.items()]
draw_vectors("CHARMIE", vectors, recorded)
