"""Friction in spatial hinges: a flap on two of them with clearance, solver time over that without.

The flap, 5 kg, 0.5 by 0.9 m, is let go level and swings about a level line for a second; runs
without and with friction in turn, by steps of one size and by such as contacts can follow.
"""

from __future__ import annotations

from functools import partial
from statistics import median

import numpy as np
from common import in_turn, machine, ratio, solver_seconds, table

from nsopt import (
    GROUND,
    Body,
    Compiled,
    ContactLaw,
    Dynamics,
    Frame,
    Mechanism,
    Parameter,
    Result,
    RevoluteClearance,
    StepBounds,
    Variational,
    assemble,
    simulate,
)

MASS, WIDTH, LENGTH = 5.0, 0.5, 0.9  # kg, m across the hinges and along them
ALONG_Y = np.column_stack([[1.0, 0, 0], [0, 0, -1.0], [0, 1.0, 0]])  # z of a hinge
FRICTION = 0.05
STEPS = (StepBounds(2.5e-4, 2.5e-4), StepBounds(1e-4, 1e-4), StepBounds(1e-6, 1e-3))
REPEATS = 7


def flap(friction: Parameter | float) -> Dynamics:
    """Return the flap; without friction its steps have no unknowns of friction."""
    J = [MASS / 12 * x for x in (LENGTH**2, WIDTH**2, WIDTH**2 + LENGTH**2)]
    body = Body("flap", MASS, J, position=(WIDTH / 2, 0, 0))
    hinges = [
        RevoluteClearance(
            f"hinge{k}",
            Frame(GROUND, (0, y, 0), ALONG_Y),
            Frame.at(body, (0, y, 0), ALONG_Y),
            length=0.06,
            clearance=5e-4,
            axial_clearance=1e-3,
            radius=8e-3,
            law=ContactLaw(friction=friction),
        )
        for k, y in enumerate((-0.4, 0.4))
    ]
    return assemble(Mechanism([body]), hinges, gravity=(0, 0, -9.81))


def run(dynamics: Dynamics, steps: StepBounds) -> Result:
    """Let the flap go."""
    result = simulate(
        dynamics,
        duration=1.0,
        steps=steps,
        scheme=Variational(),
        solver=Compiled(),
        check=None,
        progress=False,
    )
    if not result.completed:
        raise RuntimeError(result.stop_reason)
    return result


def main() -> None:
    """Print times and their ratio."""
    print(machine())
    models = {0.0: flap(0.0), FRICTION: flap(Parameter("mu", FRICTION))}
    rows = []
    for steps in STEPS:
        runs = in_turn({str(mu): partial(run, d, steps) for mu, d in models.items()}, 1)
        runs = in_turn({str(mu): partial(run, d, steps) for mu, d in models.items()}, REPEATS)
        seconds = {mu: [solver_seconds(r) for r in found] for mu, found in runs.items()}
        times = ratio(seconds[str(FRICTION)], seconds["0.0"])
        for mu, found in runs.items():
            last = found[-1]
            count = last.data.attrs["steps"]
            rows.append(
                [
                    f"{steps.h_min:g} ... {steps.h_max:g}",
                    mu,
                    str(count),
                    f"{np.nansum(last['iterations']) / count:.2f}",
                    str(int(np.sum(last["retries"].values[1:] > 0))),
                    f"{median(seconds[mu]):.3f}",
                    f"{times:.2f}" if float(mu) else "",
                    f"{float(last['dissipated_energy'][-1]):.4f}",
                ]
            )
    head = ["h [s]", "mu", "steps", "iterations a step", "retried", "solver [s]", "over mu = 0"]
    print(table([*head, "dissipated [J]"], rows))


if __name__ == "__main__":
    main()
