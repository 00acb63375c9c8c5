# %% [markdown]
"""
# An arm that is told its path, and what its joints carry

The tip of an arm of two links goes round corners: first with rigid links, then with one that bends.
What changes is not the path but the load of the joints. The first run compiles for some seconds.

As a notebook it shows its pictures; as a script it leaves them in `results/`.
"""

# %%
import numpy as np
from matplotlib import pyplot as plt

from nsopt import (
    GROUND,
    Body,
    Compiled,
    CornerPath,
    Frame,
    Mechanism,
    Programmed,
    Revolute,
    RungeKutta,
    Start,
    StepBounds,
    assemble,
    consistent,
    rms_loads,
    simulate,
)
from nsopt.plots import joint_forces, joint_rms, link_shapes, programmed_paths, save
from nsopt.robots import CrossSection, LinkMaterial, flexible_link, replace_link

# %% [markdown]
"""
## The programme

Three corners, 0.3 s a side, at rest in each. `Programmed` keeps x and y of the tip. The rigid arm
has no other freedom: its motion is given, and reactions are what is asked for.
"""

# %%
PATH = CornerPath([(1.2, 0.6, 0.0), (1.2, 0.8, 0.0), (1.0, 0.8, 0.0)], side=0.3)
upper = Body("upper", 1.0, (0.01, 0.09, 0.09), position=(0.5, 0, 0))
fore = Body("fore", 1.0, (0.01, 0.09, 0.09), position=(1.5, 0, 0))
joints = [
    Revolute("shoulder", Frame(GROUND), Frame.at(upper, (0, 0, 0))),
    Revolute("elbow", Frame.at(upper, (1, 0, 0)), Frame.at(fore, (1, 0, 0))),
    Programmed("tip", Frame(GROUND), Frame.at(fore, (2, 0, 0)), PATH, "xy"),
]
rigid = Mechanism([upper, fore], joints, "relative")

# %% [markdown]
"""
## The link that bends

A tube of aluminium, cut into two parts: a joint with a spring in the middle of each.
"""

# %%
TUBE = CrossSection.circle(0.012, hole=0.010)
METAL = LinkMaterial(density=2700.0, young=7.0e10, shear=2.6e10, damping=1e-4)
tube = flexible_link("upper", (0, 0, 0), np.eye(3), 1.0, TUBE, METAL, elements=2)
flexible, springs = replace_link(rigid, "upper", tube)


def run(mechanism, forces, title):
    """Simulate from a start on the path."""
    arm = assemble(mechanism, forces, gravity=(0.0, -9.81, 0.0))
    start = consistent(arm, Start.named(arm, {"shoulder": -0.4, "elbow": 1.7}))
    return simulate(
        arm,
        start,
        0.6,
        steps=StepBounds(1e-4, 1e-4),
        scheme=RungeKutta(),
        solver=Compiled(),
        title=title,
        progress=False,
    )


cases = [run(rigid, (), "rigid"), run(flexible, springs, "bends")]

# %%
programmed_paths(*cases)

# %% [markdown]
"""
Both tips are on the path: the programme is a constraint, whatever bends.

## Loads

Root mean squares over the motion, along and across the axes of the joints. The flexible link starts
straight, out of its equilibrium, and swings.
"""

# %%
print(rms_loads({case.name: case for case in cases}, ["shoulder", "elbow"]).round(2).to_string())

# %%
joint_forces(*cases, joints=["shoulder", "elbow"])

# %%
joint_rms(*cases, joints=["shoulder", "elbow"])

# %%
link_shapes(*cases)

# %%
# What a script has drawn; a notebook has shown it by now.
for k in plt.get_fignums():
    save(plt.figure(k), f"results/programmed_motion_{k}.png")
