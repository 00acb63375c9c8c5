"""
An open chain, led by its tip, with a link that bends
=====================================================

The tip of an arm is led round corners, at rest in each, by a constraint in place of a controller:
`Programmed`. Its upper link is a thin tube, of two elements, that bends by some millimetres; joints
make up for that, and the tip is on its path all the time. The picture is the bent link, seen from
its chord.
"""

import numpy as np

from nsopt import (
    GROUND,
    Body,
    CornerPath,
    Frame,
    Mechanism,
    Programmed,
    Revolute,
    RungeKutta,
    Start,
    StepBounds,
    Tracker,
    assemble,
    consistent,
    simulate,
)
from nsopt.plots import link_shapes
from nsopt.robots import CrossSection, LinkMaterial, flexible_link, replace_link

corners = [(1.2, 0.6, 0.0), (1.2, 0.8, 0.0), (1.0, 0.8, 0.0)]  # m
upper = Body("upper", 1.0, (0.01, 0.09, 0.09), position=(0.5, 0, 0))
fore = Body("fore", 1.0, (0.01, 0.09, 0.09), position=(1.5, 0, 0))
tip = Frame.at(fore, (2, 0, 0))
joints = [
    Revolute("shoulder", Frame(GROUND), Frame.at(upper, (0, 0, 0))),
    Revolute("elbow", Frame.at(upper, (1, 0, 0)), Frame.at(fore, (1, 0, 0))),
    Programmed("tip", Frame(GROUND), tip, CornerPath(corners, side=0.3), "xy"),
]
rigid = Mechanism([upper, fore], joints, "relative")

section = CrossSection.circle(0.012, hole=0.010)
aluminium = LinkMaterial(density=2700.0, young=7e10, shear=2.6e10, damping=1e-4)
tube = flexible_link("upper", (0, 0, 0), np.eye(3), 1.0, section, aluminium, elements=2)
flexible, springs = replace_link(rigid, "upper", tube)
arm = assemble(flexible, [*springs, Tracker("hand", tip)], gravity=(0.0, -9.81, 0.0))
start = consistent(arm, Start.named(arm, {"shoulder": -0.4, "elbow": 1.7}))

result = simulate(
    arm, start, 0.6, steps=StepBounds(1e-4, 1e-4), scheme=RungeKutta(), title="flexible chain"
)
hand = np.array([result[f"hand.{axis}"].values[-1] for axis in "xy"])  # m
print(f"at the end the tip is at {hand[0]:.6f}, {hand[1]:.6f} m")
link_shapes(result)
