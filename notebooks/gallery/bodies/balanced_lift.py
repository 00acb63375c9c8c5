"""
A lift that springs balance
===========================

CHARMIE's lift carries 28 kg. Two springs, one on either side, help its motor by bars that turn as
it rises, and take the same share of the weight at every height [CHARMIE 2023, section 5.2]. How
stiff must they be to take all of it? A fit over heights finds it; the motor then holds nothing.
"""

import importlib
import sys
from dataclasses import replace

import numpy as np
from matplotlib import pyplot as plt

from nsopt import ExtensionSpring, Parameter, Relative, assemble
from nsopt.problem import problem_folder
from nsopt.robots import ClosedLoops, fit_springs

sys.path.insert(0, str(problem_folder() / "charmie"))
robot = importlib.import_module("_robot")

stated, elements = robot.charmie(Relative(robot.CUTS))
springs = [x for x in elements if isinstance(x, ExtensionSpring)]
k, down = Parameter("k", springs[-1].stiffness), (0.0, 0.0, -9.81)
free = {"stiffness": k, "free_length": 0.0, "pretension": 0.0}  # as long as the force is k L
balancing = [replace(x, **free) if x.name.startswith("spring_4") else x for x in springs]

loops = ClosedLoops(assemble(stated, balancing, down), robot.ACTUATED)
lengths = np.linspace(0.38, 0.42, 9)  # m, of the motor that lifts
still, rest = np.zeros(21), [0.4 if name in robot.LENGTHS else 0.0 for name in robot.ACTUATED]
lift = robot.ACTUATED.index("length_4d")
heights = [[*rest[:lift], length, *rest[lift + 1 :]] for length in lengths]
postures = [loops.motion(x, still, still).q for x in heights]
options = {"postures": postures, "joints": robot.ACTUATED, "bounds": {"k": (0.0, 1e4)}}
balanced = fit_springs(stated, balancing, down, **options)
before, after = (x[:, lift] for x in (balanced.before, balanced.after))
print(
    f"k from {k.value:.0f} to {balanced.parameters['k']:.0f} N/m: {np.abs(after).max():.1e} N left"
)

figure, ax = plt.subplots(figsize=(6, 4), layout="constrained")
ax.plot(lengths, before, "o-", label=f"{k.value:.0f} N/m")
ax.plot(lengths, after, "o-", label=f"{balanced.parameters['k']:.0f} N/m")
ax.set(xlabel="length of the motor [m]", ylabel="force of the motor [N]")
ax.legend()
