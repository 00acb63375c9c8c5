"""The eight cases of olkc and rpsup: decay of what is off, joint loads, how the motion changes."""

from __future__ import annotations

import argparse
import time
import warnings

import numpy as np
from common import Array, machine, table

from nsopt import Compiled, Result, StepBounds, load_problem, rms_loads, simulate
from nsopt.plots.programmed import link_points

CASES = [(s, b, f) for s in (0, 1) for b in (0, 1) for f in (0, 1)]
JOINTS = {
    "olkc": ["phi_1", "psi_2", "psi_3", "x_4", "x_5"],
    "rpsup": ["psi_11", "x_12", "ball_13", "z_21", "psi_22"],
}
LINKS = {"olkc": "link_2", "rpsup": "coupler"}
DURING = {"olkc": (0.1, 1.9), "rpsup": (0.5, 3.5)}
"""When the slope of the logarithm is fitted [s]; later, olkc is at the error of its steps."""
BENT = 2.0  # s


def label(case: tuple[int, int, int]) -> str:
    """Return the name of a case, as in the paper."""
    support, link = ("fl" if x else "r" for x in case[:2])
    return f"S_{support}_L_{link}_J_{'f' if case[2] else 'nf'}"


def run(name: str, case: tuple[int, int, int], h: float, end: float) -> Result:
    """Return the motion of a case, four seconds by default."""
    keys = ("flexible_support", "flexible_link", "friction")
    problem = load_problem(name, dict(zip(keys, map(float, case), strict=True)))
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="(?s).*brings it back")
        return simulate(
            problem.dynamics,
            problem.start,
            end,
            steps=StepBounds(h, h),
            scheme=problem.scheme,
            solver=Compiled(),
            store_every=max(1, round(4e-3 / h)),
            progress=False,
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


def row(name: str, case: tuple[int, int, int], result: Result, rigid: Result) -> list[str]:
    """Return what the table says of a case."""
    t = result["time"].values
    off = result["constraint_violation"].sel(joint="tip").values
    first, last = DURING[name]
    during = (t > first) & (t < last) & (off > 1e-13)
    slope = np.polyfit(t[during], np.log(off[during]), 1)[0] if off[0] > 1e-9 else np.nan
    late = [np.max(off[t >= x], initial=0.0) for x in (1.0, 2.2)]
    loads = rms_loads({"": result}, JOINTS[name])
    forces = [f"{float(loads[(x, 'force')].iloc[0]):.3g}" for x in JOINTS[name]]
    changes = (moved(result, rigid, kind) for kind in ("angle", "distance"))
    return [
        label(case),
        f"{slope:.4f}",
        *(f"{x:.1e}" for x in late),
        f"{np.max(result['constraint_violation'].values):.1e}",
        *forces,
        *(f"{1e3 * x:.3g}" for x in changes),
        f"{1e3 * bend(result, LINKS[name]):.3g}",
    ]


def main() -> None:
    """Run the cases of a problem, one after another."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("problem", choices=list(JOINTS))
    parser.add_argument("--h", type=float, default=1e-5, help="step [s]; the paper's by default")
    parser.add_argument("--end", type=float, default=4.0, help="until when [s]")
    options = parser.parse_args()
    name, rows, rigid = options.problem, [], None
    print(machine(), f"h = {options.h} s, {options.end} s", flush=True)
    for case in CASES:
        begun = time.process_time()
        result = run(name, case, options.h, options.end)
        took = time.process_time() - begun
        if not result.completed:
            print(label(case), "stopped:", result.stop_reason, flush=True)
            continue
        rigid = rigid or result
        rows.append(row(name, case, result, rigid))
        print(" ".join(rows[-1]), f"({took:.0f} s)", flush=True)
    turned = ["change of angles [mrad]", "of distances [mm]", "bend at 2 s [mm]"]
    head = ["case", "slope [1/s]", "off from 1 s [m]", "from 2.2 s [m]", "worst joint [m]"]
    print(table([*head, *(f"RMS {x} [N]" for x in JOINTS[name]), *turned], rows))


if __name__ == "__main__":
    main()
