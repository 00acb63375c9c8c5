"""A box on its corners, pushed along the ground with friction in space: iterations by grid.

Four corners share weight and friction as nothing decides, three share friction alone. From a plain
`Quintic` by the default schedules, along `FROM_AFAR_SLOWLY`, and from the motion on half as many
steps.
"""

from __future__ import annotations

import argparse
import sys

import numpy as np
from common import machine, table

from nsopt import (
    GROUND,
    AppliedForce,
    Body,
    ContactLaw,
    Dynamics,
    Frame,
    Mechanism,
    Parameter,
    PlaneContact,
    Result,
    Solver,
    assemble,
)
from nsopt.trajectory import (
    FROM_AFAR_SLOWLY,
    Earlier,
    EndAt,
    Guess,
    Horizon,
    InputEffort,
    Quintic,
    StartAt,
    optimize,
)

MASS, SIDE, HEIGHT, FRICTION = 2.0, 0.2, 0.1, 0.4  # kg, m, m
FOUR = ((1, 1), (1, -1), (-1, 1), (-1, -1))
THREE = ((1, 1), (1, -1), (-1, 0))
START = np.array([0, 0, HEIGHT / 2, 1, 0, 0, 0])
END = START + np.array([0.3, 0, 0, 0, 0, 0, 0])


def box(corners: tuple[tuple[int, int], ...]) -> Dynamics:
    """Return a box that a force at its centre pushes along x."""
    tall = MASS / 12 * (SIDE**2 + HEIGHT**2)
    inertia = (tall, tall, MASS / 6 * SIDE**2)
    body = Body("box", MASS, inertia, position=(0, 0, HEIGHT / 2))
    law = ContactLaw(friction=FRICTION)
    places = [(x * SIDE / 2, y * SIDE / 2, -HEIGHT / 2) for x, y in corners]
    feet = [
        PlaneContact(f"corner{k}", Frame(GROUND), Frame(body, place), law=law)
        for k, place in enumerate(places)
    ]
    push = AppliedForce("hand", Frame(body), (Parameter("push", 0.0), 0.0, 0.0))
    return assemble(Mechanism([body], []), [*feet, push], gravity=(0, 0, -9.81))


def pushed(d: Dynamics, steps: int, guess: Guess, solver: Solver | None = None) -> Result:
    """Return the motion of least effort over 0.3 m in 1 s, from rest to rest."""
    ends = [StartAt(START, np.zeros(6)), EndAt(END, np.zeros(6))]
    costs = [InputEffort(input="push")]
    return optimize(d, Horizon(1.0, steps), costs, ends, guess, inputs=["push"], solver=solver)


def main(arguments: list[str]) -> int:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steps", type=int, default=20, help="of the coarse grid")
    n = parser.parse_args(arguments).steps
    plain, lines = Quintic(START, END), []
    for name, corners in (("four", FOUR), ("three", THREE)):
        d = box(corners)
        coarse = pushed(d, n, plain)
        slow = Solver(schedules=[FROM_AFAR_SLOWLY])
        found = {
            f"{n} steps": coarse,
            f"{2 * n} steps": pushed(d, 2 * n, plain),
            f"{n} steps, FROM_AFAR_SLOWLY": pushed(d, n, plain, slow),
            f"{2 * n} steps, FROM_AFAR_SLOWLY": pushed(d, 2 * n, plain, slow),
            f"{2 * n} steps, from {n}": pushed(d, 2 * n, Earlier(coarse)),
        }
        for way, result in found.items():
            iterations = np.nansum(result["iterations"].values)
            cost = f"{result.objective:.4f}" if result.completed else "no solution"
            lines.append([f"{name} corners, {way}", f"{iterations:.0f}", cost])
            print(*lines[-1], flush=True)
    print(f"{machine()}\n{table(('box', 'iterations', 'cost'), lines)}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
