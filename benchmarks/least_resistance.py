"""Ten pose pairs of an arm of seven joints from a URDF file: least joint resistance, a table.

Each pair's quintic keeps every limit and both cones itself; the optimum has the same duration.
Resistance is the integral of squared resistances of the joints [RoM 2023, eq. 2]. That of this arm
is viscous inside its cones, so no motion saves more than 3/10 of the quintic's: the straight way in
even time.
"""

from __future__ import annotations

import argparse
import importlib
import sys
from statistics import median

import numpy as np
from common import machine, table

from nsopt import Result
from nsopt.problem import problem_folder

HEAD = (
    *("seed", "resistance, quintic", "optimum", "saving", "iterations", "to state [s]"),
    *("to solve [s]", "integrated afresh [rad]", "largest use, quintic", "optimum"),
)


def shares(result: Result) -> tuple[float, float]:
    """Return the resistance of the quintic and of the optimum [N^2 m^2 s]."""
    return result.guess_cost["JointResistance"], result.detailed_cost["JointResistance"]


def main(seeds: range) -> None:
    """Print the table."""
    sys.path.insert(0, str(problem_folder() / "arm_7dof"))
    arm = importlib.import_module("_urdf_arm")
    dynamics = arm.urdf_dynamics()
    use = arm.LargestUse(dynamics)
    rows, savings, failed = [], [], 0
    for seed in seeds:
        stated = arm.least_resistance(dynamics, seed)
        duration = stated.horizon.bounds
        guess = stated.guess.trajectory(np.linspace(0, 1, 201), duration, ())
        result = stated.solve()
        attrs = result.data.attrs
        if not result.completed:
            print(f"seed {seed} is left out: {attrs['stop_reason']}")
            failed += 1
            continue
        quintic, optimum = shares(result)
        savings.append(1 - optimum / quintic)
        motion = (result[name].values for name in ("q", "v", "acceleration"))
        rows.append(
            [
                *(f"{seed}", f"{quintic:.1f}", f"{optimum:.1f}", f"{savings[-1]:.1%}"),
                f"{np.nansum(result['iterations'].values):.0f}",
                f"{attrs['compile_time']:.1f}",
                f"{np.nansum(result['solve_time'].values):.1f}",
                f"{attrs['defect']:.0e}",
                f"{use(guess.q, guess.v, guess.a):.3f}",
                f"{use(*motion):.3f}",
            ]
        )
    print(table(HEAD, rows))
    saving = f"median saving {median(savings):.1%}" if savings else "no saving"
    print(f"{saving}, {len(rows)} solved, {failed} failed, {stated.horizon.steps} steps")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--first", type=int, default=0)
    options = parser.parse_args()
    print(machine())
    main(range(options.first, options.first + options.seeds))
