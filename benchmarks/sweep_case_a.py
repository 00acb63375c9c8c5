"""A sweep of 200 runs of case A over clearance and step size, on one and on more workers.

Run it with ``.venv/bin/python benchmarks/sweep_case_a.py --scheme variational --solver compiled``;
``--dask`` runs the points on a dask LocalCluster by the same call. One point fails on purpose; at
the end a sweep is killed half way and resumed. Times of a shared machine are noisy.
"""

import argparse
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory

import joblib
import numpy as np
import xarray as xr
from distributed import Client, LocalCluster

from nsopt import Grid, Result, sweep
from nsopt.cli.common import SCHEMES, SOLVERS

CLEARANCES = np.geomspace(1e-4, 2e-3, 20)
STEPS = np.geomspace(2.5e-4, 2e-3, 10)
GRID = Grid({"clearance": CLEARANCES, "h": STEPS})
TIMES = ["solve_time", "run_time"]


def angle(result: Result) -> float:
    """Return where the pendulum is at the end [rad], failing on purpose at one point."""
    clearance = json.loads(result.data.attrs["parameters"])["clearance"]
    if clearance == CLEARANCES[7] and result.data.attrs["h_max"] == STEPS[3]:
        raise ArithmeticError("on purpose")
    q = result["q"].isel(time=-1)
    return float(2 * np.arctan2(q[6], q[3]))


def run(args: argparse.Namespace, over: Grid, workers: int | None, folder: Path) -> xr.Dataset:
    """Sweep case A."""
    return sweep(
        "case_a",
        over,
        measure={"angle": angle},
        duration=args.t_end,
        scheme=SCHEMES[args.scheme](),
        solver=SOLVERS[args.solver](),
        workers=workers,
        folder=folder,
    )


def timed(args: argparse.Namespace, workers: int | None) -> tuple[float, xr.Dataset]:
    """Return the time of the whole sweep, all being started and compiled, and what came."""
    with TemporaryDirectory() as folder:
        # Starting up is not what is compared.
        run(args, Grid({"clearance": CLEARANCES[:2], "h": STEPS[-2:]}), workers, Path(folder, "0"))
        begin = time.perf_counter()
        data = run(args, GRID, workers, Path(folder, "1"))
        return time.perf_counter() - begin, data


def killed(args: argparse.Namespace, workers: int) -> tuple[int, xr.Dataset]:
    """Return how many points a sweep had when it was killed half way, and what it resumed to."""
    with TemporaryDirectory() as folder:
        command = [sys.executable, *sys.argv, "--only", folder, "--workers", str(workers)]
        process = subprocess.Popen(command, stderr=subprocess.DEVNULL)
        points = Path(folder, "points")
        while process.poll() is None and len(list(points.glob("*.nc"))) < 100:
            time.sleep(0.05)
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
        return len(list(points.glob("*.nc"))), run(args, GRID, workers, Path(folder))


def same(one: xr.Dataset, other: xr.Dataset) -> str:
    """Say whether two sweeps agree to the last bit, but for times."""
    return "same" if one.drop_vars(TIMES).identical(other.drop_vars(TIMES)) else "DIFFERENT"


def row(workers: str, seconds: float, alone: float, verdict: str) -> str:
    """Return one line of the table."""
    speed_up = alone / seconds
    rate = len(GRID.rows()) / seconds
    return f"{workers:<18} {seconds:8.1f} {rate:8.2f} {speed_up:9.2f}  {verdict}"


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--scheme", choices=SCHEMES, default="paper")
    parser.add_argument("--solver", choices=SOLVERS, default="sqp")
    parser.add_argument("--t-end", type=float, default=2.0, help="duration of each run [s]")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--dask", action="store_true", help="also on a dask LocalCluster")
    parser.add_argument("--only", type=Path, help="only the sweep, into this folder")
    args = parser.parse_args()
    if args.only:
        run(args, GRID, args.workers, args.only)
        return
    alone, reference = timed(args, 1)
    many, data = timed(args, args.workers)
    rows = [row("1", alone, alone, ""), row(str(args.workers), many, alone, same(data, reference))]
    if args.dask:
        with (
            LocalCluster(n_workers=args.workers, threads_per_worker=1) as cluster,
            Client(cluster),
            joblib.parallel_config("dask"),
        ):
            many, data = timed(args, None)
        rows.append(row(f"{args.workers} of dask", many, alone, same(data, reference)))
    points, data = killed(args, args.workers)
    failed = int((reference["completed"] == 0).sum())
    print(f"case A, {args.scheme}, {args.solver}: {len(GRID.rows())} runs of {args.t_end} s,")
    print(f"{int(reference['steps'].sum())} steps, {failed} run failed on purpose")
    print(f"{'workers':<18} {'s':>8} {'runs/s':>8} {'speed-up':>9}  results")
    print("\n".join(rows))
    print(f"killed when {points} points were there, and resumed: {same(data, reference)}")


if __name__ == "__main__":
    main()
