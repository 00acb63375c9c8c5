"""Interrupts of commands at random moments: exit codes, what is kept, what runs on.

python benchmarks/interrupts.py [trials] [seed] [pairs]

Then pairs of runs that write one result, the second begun at a random moment of the first.

A command hears signals from the first line of nsopt on. In the time that Python needs to get there,
0.05 to 0.25 s, a signal is Python's: it ends with a traceback, or, where the caller ignores SIGINT
as scripts do for what they start in the background, the system drops it and nobody ever hears.
"""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from statistics import median
from typing import NamedTuple

import xarray as xr

from nsopt import Result

PATIENCE = 5.0
"""Time after which no process may be left [s]."""

COMMANDS = {
    "run": "run case_a --h-min 1e-5 --h-max 1e-5 --out run.nc --overwrite",
    "optimize": "optimize clearance_pendulum --out optimize.nc --overwrite",
    "sweep": "sweep case_a --set clearance=log:1e-4:1e-3:40 --set h=1e-3 --t-end 0.5 --solver sqp "
    "--workers 2 --out sweep",
    "view": "view seen.nc",
}
SHARED = "shared.nc"
"""The output of both runs of a pair."""
SPAN = {"run": 12.0, "optimize": 20.0, "sweep": 20.0, "view": 8.0}
"""Within which the moment lies [s]."""
REFUSED = 2
"""Exit code of a command that is told at once why it does not run."""
BETWEEN = 3.0
"""Within which the second run of a pair starts [s]."""


class Trial(NamedTuple):
    """A command that was interrupted."""

    command: str
    number: signal.Signals
    moment: float
    code: int
    seconds: float
    faults: list[str]


def hears(pid: int) -> bool:
    """Return whether a process has begun to handle SIGTERM, as Python itself does not."""
    try:
        status = Path(f"/proc/{pid}/status").read_text()
    except OSError:
        return False
    caught = next(line for line in status.splitlines() if line.startswith("SigCgt"))
    return bool(int(caught.split()[1], 16) >> (signal.SIGTERM - 1) & 1)


def processes(session: int) -> Iterator[str]:
    """Yield the commands of the processes of a session that live."""
    for folder in Path("/proc").iterdir():
        try:
            fields = (folder / "stat").read_text().rpartition(")")[2].split()
            if folder.name.isdigit() and int(fields[3]) == session and fields[0] != "Z":
                yield (folder / "cmdline").read_bytes().replace(b"\0", b" ").decode()[:200]
        except (OSError, IndexError):
            continue


def lost(folder: Path) -> Iterator[str]:
    """Yield what is left over or not whole in a folder; a damaged result is an error."""
    for path in folder.rglob("*"):
        if "partial" in path.name:
            yield f"left {path.name}"
        elif path.parent.name == "points":
            xr.load_dataset(path)
        elif path.suffix == ".nc" and path.parent == folder:
            Result.open(path).summary()
    page = folder / "seen.html"
    if page.exists() and not page.read_text().rstrip().endswith("</html>"):
        yield "a page that is not whole"


def interrupt(name: str, number: signal.Signals, moment: float, folder: Path) -> Trial | None:
    """Run a command and interrupt it at a moment [s]; None where it ended before."""
    process = subprocess.Popen(
        [sys.executable, "-P", "-m", "nsopt", *COMMANDS[name].split()],
        cwd=folder,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    begin = time.perf_counter()
    time.sleep(moment)
    while process.poll() is None and not hears(process.pid):
        time.sleep(0.001)
    moment = time.perf_counter() - begin
    if process.poll() is not None:
        return None
    if number == signal.SIGINT:
        os.killpg(process.pid, number)  # as a terminal does
    else:
        process.send_signal(number)
    begin = time.perf_counter()
    _, message = process.communicate()
    seconds = time.perf_counter() - begin
    faults = [] if process.returncode == 130 else [f"exit {process.returncode}"]
    if "Traceback" in message:
        faults.append(f"traceback: {message}")
    end = time.perf_counter() + PATIENCE
    while (left := [*processes(process.pid)]) and time.perf_counter() < end:
        time.sleep(0.05)
    faults += [f"orphan {line}" for line in left] + [*lost(folder)]
    return Trial(name, number, moment, process.returncode, seconds, faults)


class Pair(NamedTuple):
    """Two runs of different lengths on one output, and what is wrong with their end."""

    later: float
    codes: tuple[int, int]
    faults: list[str]


def pair(later: float, folder: Path) -> Pair:
    """Start a run, and ``later`` [s] another one on the same output."""
    method = "--h-min 1e-4 --h-max 1e-4 --solver sqp"
    command = f"run case_a {method} --out {SHARED} --overwrite --t-end"
    processes, lengths = [], (0.01, 0.02)
    for length in lengths:
        processes.append(
            subprocess.Popen(
                [sys.executable, "-P", "-m", "nsopt", *command.split(), str(length)],
                cwd=folder,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.PIPE,
                text=True,
            )
        )
        time.sleep(later if length == lengths[0] else 0)
    told = [process.communicate()[1] for process in processes]
    codes = processes[0].returncode, processes[1].returncode
    faults = [f"traceback: {message}" for message in told if "Traceback" in message]
    for code, message in zip(codes, told, strict=True):
        if code and not (code == REFUSED and f"{SHARED!r} is being written" in message):
            faults.append(f"exit {code}: {message}")
    if min(codes):
        faults.append("neither has a result")
    else:
        end = float(Result.open(folder / SHARED)["time"].values[-1])
        if end not in [length for length, code in zip(lengths, codes, strict=True) if not code]:
            faults.append(f"the result ends at {end} s")
    faults += lost(folder)
    return Pair(later, codes, faults)


def main(trials: int = 100, seed: int = 0, pairs: int = 50) -> None:
    """Print each trial, a table, and each pair."""
    draw, done = random.Random(seed), []
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        subprocess.run(
            [sys.executable, "-P", "-m", "nsopt", "run", "revolute_pendulum", "--out", "seen.nc"],
            cwd=folder, check=True, capture_output=True,
        )  # fmt: skip
        while len(done) < trials:
            name = [*COMMANDS][len(done) % len(COMMANDS)]
            number = draw.choice([signal.SIGINT, signal.SIGTERM])
            trial = interrupt(name, number, draw.uniform(0, SPAN[name]), folder)
            if trial is not None:
                done.append(trial)
                told = "; ".join(trial.faults) or "ok"
                print(f"{len(done):4} {name:9}{number.name:8}after {trial.moment:6.2f} s, "
                      f"ended in {trial.seconds:5.2f} s: {told}", flush=True)  # fmt: skip
    print(f"\n{'command':10}{'trials':>7}{'130':>5}{'faults':>7}{'median s':>10}{'longest s':>10}")
    for name in COMMANDS:
        mine = [x for x in done if x.command == name]
        if mine:
            codes = Counter(x.code for x in mine)
            times = [x.seconds for x in mine]
            print(f"{name:10}{len(mine):7}{codes[130]:5}{sum(bool(x.faults) for x in mine):7}"
                  f"{median(times):10.2f}{max(times):10.2f}")  # fmt: skip
    with tempfile.TemporaryDirectory() as place:
        ends = [pair(draw.uniform(0, BETWEEN), Path(place)) for _ in range(pairs)]
    for end in ends:
        print(f"{end.later:5.2f} s later: exit {end.codes}: {'; '.join(end.faults) or 'ok'}")
    refused = sum(max(end.codes) > 0 for end in ends)
    print(f"{pairs} pairs: {refused} with one told, {sum(bool(x.faults) for x in ends)} faults")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
