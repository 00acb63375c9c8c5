"""The paper's step with restitution and friction, against `Variational` at a sixteenth of h.

The five problems with clearance, their contacts given a coefficient of restitution and one of
friction, by `PaperStep` with h in [h/2, h] found by IPOPT and by SQP, and with h given, until
impacts follow each other within a step. Differences are the largest over time: of the attitude of
the body that moves, of its place, of the energy; and of the sum of the contact impulses at the end.
The last column is the largest residual of the equations of motion over all steps.

    python benchmarks/paper_step.py [PROBLEM ...] [--restitution 0.5] [--friction 0.1]
"""

from __future__ import annotations

from argparse import ArgumentParser
from dataclasses import replace

import numpy as np
from common import machine, table

from nsopt import (
    ContactLaw,
    Dynamics,
    Ipopt,
    PaperStep,
    Result,
    Solver,
    Sqp,
    StepBounds,
    Variational,
    assemble,
    simulate,
)
from nsopt.problem import load_problem

PROBLEMS = {
    "pendulum_clearance": (1e-3, 0.2),
    "revolute_pendulum": (5e-4, 0.05),
    "cylindrical_slider": (5e-4, 0.1),
    "prismatic_slider": (1e-4, 0.01),
    "ball_joint": (1.25e-4, 0.02),
}
"""The largest h, and the end [s]."""

WAYS = {
    "IPOPT": (PaperStep(), Solver(Ipopt())),
    "SQP": (PaperStep(), Solver(Sqp())),
    "given h": (PaperStep(finds_h=False), None),
}
HALVINGS = 3
FINER = 16
HEAD = (
    *("h found by", "h [s]", "attitude [rad]", "place [m]", "energy [J]", "impulses [N s]"),
    *("steps", "below h_min", "residual [N]"),
)


def with_law(dynamics: Dynamics, law: ContactLaw) -> Dynamics:
    """Return the mechanism with that law in all joints with clearance."""
    elements = [
        replace(e, law=law) if isinstance(getattr(e, "law", None), ContactLaw) else e
        for e in dynamics.elements
    ]
    return assemble(dynamics.mechanism, elements, dynamics.gravity)


def run(dynamics: Dynamics, end: float, h: float, least: float = 0.5, **options: object) -> Result:
    """Return a run in steps from that part of h to h."""
    steps = StepBounds(least * h, h)
    return simulate(dynamics, duration=end, steps=steps, check=None, progress=False, **options)


def differences(result: Result, reference: Result) -> list[str]:
    """Return the columns that compare with the reference."""
    t = result["time"].values
    far = reference["time"].values
    q, best = result["body_quaternion"].values[:, -1], reference["body_quaternion"].values[:, -1]
    best = np.column_stack([np.interp(t, far, x) for x in best.T])
    cosine = np.abs(np.sum(q * best, axis=1)) / np.linalg.norm(best, axis=1)
    place = result["body_position"].values[:, -1]
    there = reference["body_position"].values[:, -1]
    there = np.column_stack([np.interp(t, far, x) for x in there.T])
    energies = np.interp(t, far, reference["total_energy"].values)
    pushed, expected = (np.nansum(x["impulse"].values) for x in (result, reference))
    return [
        f"{2 * np.arccos(np.minimum(cosine, 1)).max():.2e}",
        f"{np.linalg.norm(place - there, axis=1).max():.2e}",
        f"{np.abs(result['total_energy'].values - energies).max():.2e}",
        f"{pushed - expected:+.2e}",
    ]


def main() -> None:
    """Print a table for each problem."""
    parser = ArgumentParser(description=__doc__)
    parser.add_argument("problem", nargs="*", default=[*PROBLEMS])
    parser.add_argument("--restitution", type=float, default=0.5)
    parser.add_argument("--friction", type=float, default=0.1)
    given = parser.parse_args()
    law = ContactLaw(restitution=given.restitution, friction=given.friction)
    print(machine())
    for name in given.problem:
        largest, end = PROBLEMS[name]
        dynamics = with_law(load_problem(name).dynamics, law)
        finest = largest / 2 ** (HALVINGS - 1) / FINER
        reference = run(dynamics, end, finest, 1e-6, scheme=Variational())
        rows = []
        for way, (scheme, solver) in WAYS.items():
            for k in range(HALVINGS):
                h = largest / 2**k
                result = run(dynamics, end, h, scheme=scheme, solver=solver)
                below = sum("below h_min" in x for x in result["step_reason"].values)
                rows.append(
                    (
                        *(way, f"{h:g}", *differences(result, reference)),
                        str(len(result["time"]) - 1),
                        str(below) + ("" if result.completed else ", stopped"),
                        f"{np.nanmax(np.abs(result['motion_residual'].values)):.1e}",
                    )
                )
        impulse = np.nansum(reference["impulse"].values)
        print(f"\n{name}, {end:g} s, sum of impulses {impulse:.4g} N s\n")
        print(table(HEAD, rows))


if __name__ == "__main__":
    main()
