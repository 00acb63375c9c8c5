"""
A straight line from hinges alone
=================================

Peaucellier's inversor (1864) was the first linkage to lead a point along an exact straight line:
two long rods, a rhombus of four, and a crank as long as its distance from the fixed pin. Here the
crank swings to and fro, and the last pin of the rhombus goes up and down a line.
"""

import casadi as ca
import numpy as np

from nsopt import (
    GROUND,
    Body,
    Driven,
    Frame,
    Mechanism,
    PointOnLine,
    Revolute,
    StepBounds,
    Tracker,
    assemble,
    consistent,
    simulate,
)
from nsopt.animation import animate

LONG, SIDE, CRANK = 1.0, 0.4, 0.35  # m
O, Q, P = np.zeros(3), np.array([CRANK, 0, 0]), np.array([2 * CRANK, 0, 0])  # crank from Q to P
far = (LONG**2 - SIDE**2) / P[0]  # O P times O F is the same at all times
middle = (P[0] + far) / 2
rise = np.sqrt(SIDE**2 - ((far - P[0]) / 2) ** 2)
A, B, F = np.array([middle, rise, 0]), np.array([middle, -rise, 0]), np.array([far, 0, 0])
ways = {"crank": (Q, P), "OA": (O, A), "OB": (O, B), "PA": (P, A), "PB": (P, B), "AF": (A, F)}
ways["BF"] = (B, F)
rods = {name: Body(name, 0.1, (0.01, 0.01, 0.01), (a + b) / 2) for name, (a, b) in ways.items()}


def pin(kind, a, b, point):
    """Return a joint of two bodies at a point."""
    names = f"{a or 'ground'}-{b}"
    return kind(names, Frame.at(rods.get(a, GROUND), point), Frame.at(rods[b], point))


turning = pin(Revolute, "", "crank", Q)
tree = [pin(Revolute, *x) for x in [("", "OA", O), ("", "OB", O), ("crank", "PA", P)]]
tree += [pin(Revolute, *x) for x in [("PA", "AF", A), ("crank", "PB", P), ("PB", "BF", B)]]
loops = [pin(PointOnLine, *x) for x in [("OA", "PA", A), ("OB", "PB", B), ("AF", "BF", F)]]
motor = Driven("motor", turning, lambda t: 0.9 * ca.sin(2 * np.pi * t))
mechanism = Mechanism(rods.values(), [turning, *tree, *loops, motor], "relative")
dynamics = assemble(mechanism, [Tracker("tip", Frame.at(rods["AF"], F))])

start = consistent(dynamics)
result = simulate(dynamics, start, 1.0, steps=StepBounds(2e-3, 2e-3), title="inversor")
x, y = (result[f"tip.{axis}"].values for axis in "xy")
print(f"the pin moves by {np.ptp(y):.3f} m along y and by {np.ptp(x):.1e} m along x")
animate(result, "peaucellier.gif", fps=15, speed=0.5)
