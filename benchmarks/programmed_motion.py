"""The eight cases of olkc and rpsup: decay of what is off, joint loads, how the motion changes."""

from __future__ import annotations

import argparse
import time
import warnings
from pathlib import Path
from typing import NamedTuple

import casadi as ca
import numpy as np
import pandas as pd
from common import Array, machine, table

from nsopt import (
    Compiled,
    Dynamics,
    Problem,
    Result,
    StepBounds,
    load_problem,
    rms_loads,
    simulate,
)
from nsopt.mechanics import INSTANT
from nsopt.plots.figures.programmed import link_points

CASES = [(s, b, f) for s in (0, 1) for b in (0, 1) for f in (0, 1)]
JOINTS = {
    "olkc": ["phi_1", "psi_2", "psi_3", "x_4", "x_5"],
    "rpsup": ["psi_11", "x_12", "ball_13", "z_21", "psi_22"],
}
LINKS = {"olkc": "link_2", "rpsup": "coupler"}
DURING = {"olkc": (0.1, 1.9), "rpsup": (0.5, 3.5)}
"""When the slope of the logarithm is fitted [s]; later, olkc is at the error of its steps."""
BENT = 2.0  # s
NOTHING = 1e-9  # N, round-off
STORED = 2e-4
"""How far apart states are kept [s]: a start off the path is a pulse of 0.5 ms."""


def label(case: tuple[int, int, int]) -> str:
    """Return the name of a case, as in the paper."""
    support, link = ("fl" if x else "r" for x in case[:2])
    return f"S_{support}_L_{link}_J_{'f' if case[2] else 'nf'}"


def stated(name: str, case: tuple[int, int, int]) -> Problem:
    """Return the problem of a case."""
    keys = ("flexible_support", "flexible_link", "friction")
    return load_problem(name, dict(zip(keys, map(float, case), strict=True)))


def run(name: str, case: tuple[int, int, int], h: float, end: float) -> Result:
    """Return the motion of a case, four seconds by default."""
    problem = stated(name, case)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="(?s).*brings it back")
        return simulate(
            problem.dynamics,
            problem.start,
            end,
            steps=StepBounds(h, h),
            scheme=problem.scheme,
            solver=Compiled(),
            store_every=max(1, round(STORED / h)),
            check=None,
            progress=False,
            title=label(case),
        )


def moved(result: Result, rigid: Result, kind: str) -> float:
    """Return the largest change of angles or distances against the rigid case [rad, m]."""
    return float(np.max(np.abs(course(result, kind) - course(rigid, kind))))


def course(result: Result, kind: str) -> Array:
    """Return the angles or the distances of joints of one coordinate, (steps, k)."""
    at = [k for k, x in enumerate(result["q_name"].values) if str(x).endswith(f".{kind}")]
    return np.asarray(result["q"].values)[:, at]


def bend(result: Result, link: str, at: float = BENT) -> float:
    """Return how far a link is off its chord at a time [m]; nan where it is rigid."""
    points = link_points(result, link)
    if points is None:
        return float("nan")
    k = int(np.argmin(np.abs(result["time"].values - at)))
    p = np.asarray(points)[k]
    way = (p[-1] - p[0]) / np.linalg.norm(p[-1] - p[0])
    off = p - p[0]
    return float(np.max(np.linalg.norm(off - np.outer(off @ way, way), axis=1)))


class Balance(NamedTuple):
    """What became of the energy over a motion [J]."""

    gained: float  # kinetic, and of springs
    programme: float  # work
    gravity: float  # work
    dampers: float  # lost, a quadrature over what is stored
    friction: float  # the same

    @property
    def left(self) -> float:
        """What is not accounted for."""
        return self.gained - self.programme - self.gravity + self.dampers + self.friction


def balance(d: Dynamics, result: Result) -> Balance:
    """Return the balance of energy, losses from the forces at the stored states."""
    data = result.data
    t, q, v = (data[name].values.T for name in ("time", "q", "v"))
    p = d.values()
    wrench = np.concatenate(
        [data["joint_reaction"].values, data["joint_reaction_torque"].values], 2
    )
    at = [d.joint_names[k] for k in d.friction_joints]
    found = [list(data["joint"].values).index(name) for name in at]
    damped, rubbed = np.zeros(len(t)), np.zeros(len(t))
    for k in range(len(t)):
        now, u = (t[k], q[:, k]), v[:, k]
        damped[k] = u @ array(d.applied(*now, 0 * u, p) - d.applied(*now, u, p))
        if found:
            z = q[d.nq - len(d.internal_names) :, k]
            rub = d.joint_friction(*now, u, p, INSTANT, z, wrench[k, found].T)
            rubbed[k] = -u @ array(rub)
    height = data["body_position"].values[:, :, 1] @ array(d.masses(p))
    gravity = 9.81 * (height[0] - height[-1])
    energy = data["total_energy"].values
    return Balance(
        energy[-1] - energy[0] + gravity,
        float(data["external_work"].values[-1]),
        gravity,
        float(np.trapezoid(damped, t)),
        float(np.trapezoid(rubbed, t)),
    )


def array(x: ca.DM) -> Array:
    """Return a vector of NumPy."""
    return np.asarray(x).ravel()


def motion(name: str, case: tuple[int, int, int], result: Result, rigid: Result) -> list[str]:
    """Return what the first table says of a case."""
    t = result["time"].values
    off = result["constraint_violation"].sel(joint="tip").values
    first, last = DURING[name]
    during = (t > first) & (t < last) & (off > 1e-13)
    slope = np.polyfit(t[during], np.log(off[during]), 1)[0] if off[0] > 1e-9 else np.nan
    late = [np.max(off[t >= x], initial=0.0) for x in (1.0, 2.2)]
    changes = (moved(result, rigid, kind) for kind in ("angle", "distance"))
    return [
        label(case),
        f"{slope:.4f}",
        *(f"{x:.1e}" for x in late),
        f"{np.max(np.delete(result['constraint_violation'].values, tip(result), 1)):.1e}",
        *(f"{1e3 * x:.3g}" for x in changes),
        f"{1e3 * bend(result, LINKS[name]):.3g}",
    ]


def tip(result: Result) -> int:
    """Return the place of the programme among the joints."""
    return [str(x) for x in result["joint"].values].index("tip")


def loads(name: str, case: tuple[int, int, int], result: Result) -> list[str]:
    """Return what the second table says of a case: RMS along and across the axes of joints [N]."""
    rms = rms_loads({"": result}, JOINTS[name]).iloc[0]
    return [
        label(case),
        *(", ".join(parts(rms[x])) for x in JOINTS[name]),
    ]


def parts(rms: pd.Series) -> list[str]:
    """Return forces along and across the axis, zero where they are round-off."""
    return [f"{x if x > NOTHING else 0:.3g}" for x in (rms["axial"], rms["normal"])]


def energies(case: tuple[int, int, int], found: Balance) -> list[str]:
    """Return what the third table says of a case [mJ]."""
    return [label(case), *(f"{1e3 * x:.4g}" for x in (*found, found.left))]


def main() -> None:
    """Run the cases of a problem, one after another."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("problem", choices=list(JOINTS))
    parser.add_argument("--h", type=float, default=1e-5, help="step [s]; the paper's by default")
    parser.add_argument("--end", type=float, default=4.0, help="until when [s]")
    parser.add_argument("--keep", type=Path, help="folder of results, read again where they stand")
    options = parser.parse_args()
    name, rigid = options.problem, None
    tables: list[list[list[str]]] = [[], [], []]
    print(machine(), f"h = {options.h} s, {options.end} s", flush=True)
    for case in CASES:
        begun = time.process_time()
        result = kept(options.keep, name, case, options.h, options.end)
        took = time.process_time() - begun
        if not result.completed:
            print(label(case), "stopped:", result.stop_reason, flush=True)
            continue
        rigid = rigid or result
        found = balance(stated(name, case).dynamics, result)
        lines = motion(name, case, result, rigid), loads(name, case, result), energies(case, found)
        for rows, line in zip(tables, lines, strict=True):
            rows.append(line)
        print(*lines, f"({took:.0f} s)", flush=True)
    turned = ["change of angles [mrad]", "of distances [mm]", "bend at 2 s [mm]"]
    head = ["case", "slope [1/s]", "off from 1 s [m]", "from 2.2 s [m]", "worst joint [m]", *turned]
    terms = ["gained", "programme", "gravity", "dampers", "friction", "left"]
    heads = (
        head,
        ["RMS along, across", *(f"{x} [N]" for x in JOINTS[name])],
        ["case", *(f"{x} [mJ]" for x in terms)],
    )
    print("\n\n".join(table(h, rows) for h, rows in zip(heads, tables, strict=True)))


def kept(
    folder: Path | None, name: str, case: tuple[int, int, int], h: float, end: float
) -> Result:
    """Return the motion of a case, from a folder if it stands there, else it is left there."""
    if folder is None:
        return run(name, case, h, end)
    file = folder / f"{name}_{label(case)}.nc"
    if not file.exists():
        run(name, case, h, end).save(file)
    return Result.open(file)


if __name__ == "__main__":
    main()
