"""What contacts did by each scheme: modes, lasting force, impacts, as h is halved.

The five problems with clearance, at three step sizes and, last, at the problem's own bounds of h.
`PaperStep` takes the same h in its first rows (``finds_h=False``), and finds it in the last. Parts
of the time are of a joint: none of its contacts presses, or one does and none strikes; the rest of
it are steps with impacts. "projected" is `MoreauJean` that brings contacts back to their walls.

    python benchmarks/contact_records.py [PROBLEM] [--h 1e-4] [--end 0.5]
"""

from __future__ import annotations

from argparse import ArgumentParser

import numpy as np
from common import machine, table

from nsopt import (
    ContactAligned,
    MoreauJean,
    PaperStep,
    StepBounds,
    Variational,
    rms_loads,
    simulate,
)
from nsopt.analysis import mode_statistics
from nsopt.problem import Problem, load_problem
from nsopt.schemes import Scheme

PROBLEMS = {
    "pendulum_clearance": (1e-4, 1.0),
    "revolute_pendulum": (1e-4, 1.0),
    "cylindrical_slider": (1e-4, 0.5),
    "prismatic_slider": (1e-4, 0.5),
    "ball_joint": (2e-5, 0.1),
}
"""The largest h, and the end [s]."""

SCHEMES: dict[str, Scheme] = {
    "paper": PaperStep(finds_h=False),
    "variational": Variational(),
    "moreau-jean": MoreauJean(),
    "projected": MoreauJean(project=True),
    "contact-aligned": ContactAligned(),
}
HALVINGS = 3
HEAD = (
    *("scheme", "h [s]", "free %", "lasting %", "largest lasting [N]", "RMS [N]"),
    *("impacts", "impulse [N s]", "warned"),
)


def figures(problem: Problem, scheme: Scheme, steps: StepBounds, end: float) -> list[str]:
    """Return what is in a row after the scheme and h."""
    result = simulate(
        problem.dynamics, problem.start, end, steps=steps, scheme=scheme, check=None, progress=False
    )
    (modes,) = mode_statistics(result).values()
    largest = np.nanmax(np.linalg.norm(result["lasting_force"].values, axis=-1))
    joint = str(result["contact"].values[0]).partition("[")[0]
    rms = rms_loads({"": result})[joint, "force"].iloc[0]
    return [
        *(f"{100 * x:.2f}" for x in (modes.free, modes.lasting)),
        *(f"{x:.4g}" for x in (largest, rms)),
        str(modes.impacts),
        f"{modes.impulse:.4g}",
        str(len(result.warnings)) + ("" if result.completed else ", stopped"),
    ]


def main() -> None:
    """Print a table for each problem."""
    parser = ArgumentParser(description=__doc__)
    parser.add_argument("problem", nargs="*", default=[*PROBLEMS])
    parser.add_argument("--h", type=float, help="the largest h [s]")
    parser.add_argument("--end", type=float, help="[s]")
    given = parser.parse_args()
    print(machine())
    for name in given.problem:
        problem, (h, end) = load_problem(name), PROBLEMS[name]
        h, end = given.h or h, given.end or end
        rows = []
        for label, scheme in SCHEMES.items():
            for k in range(HALVINGS):
                steps = StepBounds(h / 2**k, h / 2**k)
                rows.append([label, f"{h / 2**k:g}", *figures(problem, scheme, steps, end)])
            own = PaperStep() if label == "paper" else scheme
            rows.append([label, "default", *figures(problem, own, problem.steps, end)])
        print(f"\n{name}, {end:g} s")
        print(table(HEAD, rows), flush=True)


if __name__ == "__main__":
    main()
