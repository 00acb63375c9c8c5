"""
Two double pendulums that part
==============================

The same double pendulum twice, let go from almost the same place: one is a tenth of a millimetre
off. For some seconds they swing as one, then each on its own. Both keep their energy: it is the
mechanism that forgets where it began, not the simulation.
"""

import numpy as np
from matplotlib import pyplot as plt

from nsopt import (
    GROUND,
    Body,
    Frame,
    Mechanism,
    Revolute,
    Start,
    StepBounds,
    Tracker,
    assemble,
    simulate,
)

upper = Body("upper", 1.0, (1 / 12, 1 / 12, 1 / 12), position=(0.5, 0.0, 0.0))
lower = Body("lower", 1.0, (1 / 12, 1 / 12, 1 / 12), position=(1.5, 0.0, 0.0))
joints = [
    Revolute("shoulder", Frame(GROUND), Frame.at(upper, (0, 0, 0))),
    Revolute("elbow", Frame.at(upper, (1, 0, 0)), Frame.at(lower, (1, 0, 0))),
]
tip = Tracker("tip", Frame.at(lower, (2, 0, 0)))
mechanism = Mechanism([upper, lower], joints, "relative")
dynamics = assemble(mechanism, [tip], gravity=(0.0, -9.81, 0.0))

figure, (way, apart) = plt.subplots(1, 2, figsize=(9, 4), layout="constrained")
tips = []
for off in (0.0, 1e-4):
    start = Start.named(dynamics, {"shoulder": 1.5, "elbow": off})
    result = simulate(dynamics, start, 12.0, steps=StepBounds(1e-3, 1e-3), title=f"{off} rad off")
    tips.append(np.column_stack([result["tip.x"].values, result["tip.y"].values]))
    way.plot(*tips[-1].T, linewidth=0.8, label=result.name)
energy = result["total_energy"].values
drift = np.ptp(energy) / result["kinetic_energy"].values.max()
print(f"the energy varies by {drift:.1e} of the largest kinetic energy")

apart.semilogy(result["time"].values, np.linalg.norm(tips[1] - tips[0], axis=1))
apart.set(xlabel="time [s]", ylabel="distance of the tips [m]")
way.set(xlabel="x [m]", ylabel="y [m]", aspect="equal")
way.legend(loc="upper right", fontsize=8)
