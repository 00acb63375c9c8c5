"""A sweep of 1,000 runs of case A on more and more processes, also where some of them are killed.

In one process, on dask clusters of separate processes: undisturbed, with a worker killed on the
way, with the scheduler killed and started again; and in two processes after the sweep itself was
killed and called again. Ten points fail on purpose. Each dataset is compared bit by bit with
that of one process; so are the starts of a `multi_start`. Last, what 10,000 points would take.
"""

import argparse
import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Thread
from typing import NamedTuple

import joblib
import numpy as np
import xarray as xr
from common import machine, table
from distributed import Client

from nsopt import Compiled, Grid, Result, Variational, sweep
from nsopt.problem import load_optimization
from nsopt.trajectory import multi_start

TIMES = ["solve_time", "run_time"]
PLANNED = 10_000
STARTS = 8
UNLUCKY = 1.2345e-3  # m


def angle(result: Result) -> float:
    """Return where the pendulum is at the end [rad], failing on purpose for one clearance."""
    if json.loads(result.data.attrs["parameters"])["clearance"] == UNLUCKY:
        raise ArithmeticError("on purpose")
    q = result["q"].isel(time=-1)
    return float(2 * np.arctan2(q[6], q[3]))


def grid(points: int) -> Grid:
    """Return clearances by ten step sizes, at the last clearance all runs fail."""
    clearances = np.geomspace(1e-4, 2e-3, points // 10)
    clearances[-1] = UNLUCKY
    return Grid({"clearance": clearances, "h": np.geomspace(2.5e-4, 2e-3, 10)})


def run(points: int, duration: float, workers: int | None, folder: Path) -> xr.Dataset:
    """Sweep case A."""
    return sweep(
        "case_a",
        grid(points),
        measure={"angle": angle},
        duration=duration,
        scheme=Variational(),
        solver=Compiled(),
        workers=workers,
        folder=folder,
        progress=False,
    )


# A cluster of separate processes


class Cluster:
    """A dask scheduler and workers, each a process of this machine."""

    def __init__(self, workers: int) -> None:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        self.address = f"tcp://127.0.0.1:{self.port}"
        self.count = workers
        self.start()

    def start(self) -> None:
        """Start a scheduler at the cluster's address, and workers."""
        options = ("--nworkers", self.count, "--nthreads", 1)
        self.scheduler = self._start("scheduler", "--port", self.port, "--dashboard-address", ":0")
        self.workers = self._start("worker", self.address, *options)

    def restart_scheduler(self) -> None:
        """Kill the scheduler, with which workers end, and start anew."""
        self.scheduler.kill()
        self.scheduler.wait()
        self.workers.terminate()
        self.workers.wait()
        self.start()

    def close(self) -> None:
        """End all processes."""
        for process in (self.workers, self.scheduler):
            process.terminate()
            process.wait()

    @staticmethod
    def _start(kind: str, *arguments: object) -> subprocess.Popen[bytes]:
        command = [sys.executable, "-m", f"distributed.cli.dask_{kind}", *map(str, arguments)]
        environment = os.environ | {f"{x}_NUM_THREADS": "1" for x in ("OMP", "OPENBLAS")}
        return subprocess.Popen(command, stderr=subprocess.DEVNULL, env=environment)


@contextmanager
def on_dask(workers: int) -> Iterator[tuple[Cluster, Client]]:
    """Have runs within go to a new cluster, which is ready."""
    cluster = Cluster(workers)
    try:
        with Client(cluster.address, timeout=600) as client, joblib.parallel_config("dask"):
            client.wait_for_workers(workers, 120)
            yield cluster, client
    finally:
        cluster.close()


def kill_a_worker(_: Cluster, client: Client) -> None:
    """Kill the process of one worker, which its nanny starts again."""
    os.kill(next(iter(client.run(os.getpid).values())), signal.SIGKILL)


def restart_scheduler(cluster: Cluster, _: Client) -> None:
    """Kill the scheduler and start another one."""
    cluster.restart_scheduler()


def half_way(folder: Path, points: int, call: Callable[[], None]) -> None:
    """Call once half of the points are kept."""
    while len([*folder.glob("points/*.nc")]) < points / 2:
        time.sleep(0.02)
    call()


# What is compared


class Row(NamedTuple):
    """A sweep: by what, its time [s], what came."""

    name: str
    seconds: float
    data: xr.Dataset


def timed(
    name: str, args: argparse.Namespace, workers: int | None, disturb: Callable[[], None] | None
) -> Row:
    """Run the sweep, all being started and compiled; it is disturbed half way."""
    with TemporaryDirectory() as folder:
        run(20, args.t_end, workers, Path(folder, "0"))
        watched = (Path(folder, "1"), args.points, disturb)
        watch = Thread(target=half_way, args=watched, daemon=True)
        begin = time.perf_counter()
        if disturb:
            watch.start()
        data = run(args.points, args.t_end, workers, Path(folder, "1"))
        seconds = time.perf_counter() - begin
        if disturb:
            watch.join()
        files = [x.stat().st_size for x in Path(folder, "1", "points").glob("*.nc")]
        data.attrs["bytes"] = sum(files) / max(len(files), 1)
        data.attrs["file"] = Path(folder, "1", "sweep.nc").stat().st_size
    return Row(name, seconds, data)


def resumed(args: argparse.Namespace) -> Row:
    """Kill a sweep half way, call it again, and return that."""
    with TemporaryDirectory() as folder:
        command = [sys.executable, *sys.argv, "--only", folder]
        process = subprocess.Popen(command, stderr=subprocess.DEVNULL)
        half_way(Path(folder), args.points, process.kill)
        process.wait()
        had = len([*Path(folder, "points").glob("*.nc")])
        begin = time.perf_counter()
        data = run(args.points, args.t_end, 2, Path(folder))
        name = f"2 processes, all killed with {had} points kept, called again"
        return Row(name, time.perf_counter() - begin, data)


def rows(args: argparse.Namespace) -> Iterator[Row]:
    """Yield all ways, that of one process first."""
    yield timed("1 process", args, 1, None)
    for count in args.workers:
        with on_dask(count):
            yield timed(f"dask, {count} workers", args, None, None)
    for name, what in (
        ("a worker killed", kill_a_worker),
        ("scheduler killed and started again", restart_scheduler),
    ):
        with on_dask(2) as (cluster, client):
            disturb = partial(what, cluster, client)
            yield timed(f"dask, 2 workers, {name}", args, None, disturb)
    yield resumed(args)


def same(one: xr.Dataset, other: xr.Dataset) -> str:
    """Say whether two sweeps agree to the last bit, but for times."""
    a, b = (x.drop_vars(TIMES).drop_attrs(deep=False) for x in (one, other))
    return "same bits" if a.identical(b) else "DIFFERENT"


def line(row: Row, first: Row) -> list[str]:
    """Return a line of the table."""
    count = row.data["completed"].size
    return [
        row.name,
        f"{row.seconds:.1f}",
        f"{count / row.seconds:.1f}",
        f"{first.seconds / row.seconds:.2f}",
        str(int((row.data["completed"] == 0).sum())),
        "" if row is first else same(row.data, first.data),
    ]


def plan(row: Row) -> str:
    """Return what more points would take, by those of one process."""
    count, data = row.data["completed"].size, row.data
    seconds = float(data["run_time"].mean())
    own = row.seconds / count - seconds
    disk = (data.attrs["bytes"] + data.attrs["file"] / count) * PLANNED / 1e6
    return (
        f"A point: {1e3 * seconds:.1f} ms of its run, {1e3 * own:.1f} ms of the sweep around it, "
        f"{data.attrs['bytes']:.0f} bytes in its file and {data.attrs['file'] / count:.0f} in "
        f"sweep.nc.\n{PLANNED:,} points on P processes: {PLANNED * seconds:.0f} s / P, at least "
        f"{PLANNED * own:.0f} s for the sweep; {disk:.0f} MB in {PLANNED:,} files."
    )


def starts() -> str:
    """Return how `multi_start` compares on this process, two, and a cluster."""
    stated = load_optimization("brachistochrone")
    begin = time.perf_counter()
    alone = multi_start(stated, STARTS)
    times = [time.perf_counter() - begin]
    begin = time.perf_counter()
    others = [multi_start(stated, STARTS, workers=2)]
    times.append(time.perf_counter() - begin)
    with on_dask(2):
        begin = time.perf_counter()
        others.append(multi_start(stated, STARTS, workers=None))
        times.append(time.perf_counter() - begin)
    agree = all(
        alone.data.drop_vars("solve_time").equals(x.data.drop_vars("solve_time"))
        and alone.data.attrs["starts"] == x.data.attrs["starts"]
        for x in others
    )
    return (
        f"multi_start, {STARTS} starts of brachistochrone: {times[0]:.1f} s in one process, "
        f"{times[1]:.1f} s in two, {times[2]:.1f} s on two workers of dask, statement and start of "
        f"processes included: {'same bits' if agree else 'DIFFERENT'}"
    )


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--points", type=int, default=1000)
    parser.add_argument("--t-end", type=float, default=0.3, help="duration of each run [s]")
    parser.add_argument("--workers", type=int, nargs="+", default=[1, 2, 4], help="of dask")
    parser.add_argument("--only", type=Path, help="only the sweep, into this folder")
    args = parser.parse_args()
    if args.only:
        run(args.points, args.t_end, 2, args.only)
        return
    print(machine())
    done: list[Row] = []
    for row in rows(args):
        done.append(row)
        print(" ".join(line(row, done[0])), file=sys.stderr, flush=True)
    head = [f"{args.points} points", "s", "points/s", "speed-up", "failed", "dataset"]
    print("\n" + table(head, [line(row, done[0]) for row in done]))
    print("\n" + plan(done[0]) + "\n\n" + starts())


if __name__ == "__main__":
    main()
