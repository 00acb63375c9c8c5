"""What it costs that runs tell their errors: the default call of each named problem, and unchecked.

Each run is made in a process of its own, from the start of Python to the end of the call, with the
machine code that runs before have kept. What counts is the time of the processor, which other
programs change least. Asked for is at most 1.5 times the time of the unchecked run, or 5 s more.
"""

from __future__ import annotations

import argparse
import resource
import subprocess
import sys

from common import machine, table

from nsopt.problem import command_of, problem_files

RUN = """
from nsopt import simulate
from nsopt.problem import load_problem
x = load_problem({name!r}).at({{}})
simulate(x.dynamics, x.start, x.duration, steps=x.steps, scheme=x.scheme, progress=False{more})
"""
UNCHECKED = ", check=None"
FACTOR, MORE = 1.5, 5.0  # of the time of the unchecked run; or so many seconds more


def measure_time(name: str, more: str) -> float:
    """Return the time [s] of the processor that a process with a run takes."""
    begin = resource.getrusage(resource.RUSAGE_CHILDREN)
    command = [sys.executable, "-W", "ignore", "-c", RUN.format(name=name, more=more)]
    subprocess.run(command, check=True)
    end = resource.getrusage(resource.RUSAGE_CHILDREN)
    return end.ru_utime + end.ru_stime - begin.ru_utime - begin.ru_stime


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", help="only these")
    wanted = parser.parse_args().names
    print(machine(), flush=True)
    lines, short = [], 0
    for name, file in problem_files().items():
        if command_of(file) != "run" or (wanted and name not in wanted):
            continue
        measure_time(name, "")  # makes its code
        checked, unchecked = (measure_time(name, more) for more in ("", UNCHECKED))
        within = checked <= max(FACTOR * unchecked, unchecked + MORE)
        short += not within
        cells = [name, f"{unchecked:.2f}", f"{checked:.2f}", f"{checked / unchecked:.2f}"]
        lines.append([*cells, f"{checked - unchecked:.2f}", "yes" if within else "no"])
        print("   ", *lines[-1], flush=True)
    head = ["problem", "unchecked [s]", "checked [s]", "ratio", "more [s]", "within"]
    print("\n" + table(head, lines) + f"\n{short} of {len(lines)} beyond\n")


if __name__ == "__main__":
    main()
