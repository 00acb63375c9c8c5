"""The ball of `dropped_ball` by Siconos: height, gravity, step and duration to seconds and heights.

Nothing of nsopt is imported, for Debian's python3-siconos is for Debian's Python and NumPy.
"""

import json
import sys
from time import process_time

import numpy as np
import siconos.kernel as sk


def fall(drop: float, gravity: float, h: float, duration: float) -> dict[str, object]:
    """Return seconds a step and the height at the end of each step [m]."""
    ball = sk.LagrangianLinearTIDS([drop], [0.0], np.eye(1))
    ball.setFExtPtr(np.array([-gravity]))
    floor = sk.Interaction(sk.NewtonImpactNSL(0.0), sk.LagrangianLinearTIR(np.eye(1)))
    model = sk.NonSmoothDynamicalSystem(0.0, duration + 0.5 * h)
    model.insertDynamicalSystem(ball)
    model.link(floor, ball)
    grid = sk.TimeDiscretisation(0.0, h)
    steps = sk.TimeStepping(model, grid, sk.MoreauJeanOSI(0.5), sk.LCP())
    heights, count = [], round(duration / h)
    begin = process_time()
    for _ in range(count):
        steps.computeOneStep()
        heights.append(float(ball.q()[0]))
        steps.nextStep()
    return {"seconds": (process_time() - begin) / count, "heights": heights}


if __name__ == "__main__":
    print(json.dumps(fall(*map(float, sys.argv[1:]))))
