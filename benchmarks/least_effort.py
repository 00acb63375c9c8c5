"""A mass moved 1 m in 1 s from rest to rest with least effort, by nsopt and by Moco, in turn.

True optimum, the integral of the squared force: 12 N^2 s. Both take 50 intervals and their
defaults; no limit binds. ``pip install opensim``, or ``--moco PYTHON`` for a Python that has it.
"""

import argparse
import json
import subprocess
import sys
from functools import partial
from pathlib import Path
from statistics import median
from time import process_time
from typing import NamedTuple

import numpy as np
from common import in_turn, machine, ratio, table

from nsopt import GROUND, Actuator, Body, Frame, Mechanism, Prismatic, assemble
from nsopt.trajectory import Effort, EndAt, Horizon, Optimization, StartAt, Straight

OPTIMUM, STEPS = 12.0, 50


class Found(NamedTuple):
    """Processor's seconds from the statement on, optimum, iterations, what the solver said."""

    seconds: float
    optimum: float
    iterations: int
    said: str


def by_nsopt() -> Found:
    """Return the motion by nsopt."""
    begin = process_time()
    cart = Body("cart", 1.0, (1.0, 1.0, 1.0))
    rail = Prismatic("rail", Frame(GROUND), Frame(cart))
    stated = Optimization(
        assemble(Mechanism([cart], [rail], "relative", [Actuator("rail")])),
        Horizon(1.0, STEPS),
        [Effort()],
        [StartAt([0.0], [0.0]), EndAt([1.0], [0.0])],
        Straight([0.0], [1.0]),
    )
    result = stated.solve()
    a, count = result.data.attrs, int(np.sum(result["iterations"]))
    return Found(process_time() - begin, float(a["objective"]), count, str(a["status"]))


def by_moco(python: str) -> Found:
    """Return the motion by Moco."""
    command = [python, str(Path(__file__).with_name("least_effort_moco.py"))]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return Found(**json.loads(done.stdout.splitlines()[-1]))


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--moco", default=sys.executable, metavar="PYTHON")
    options = parser.parse_args()
    print(machine())
    ways = {"nsopt": by_nsopt, "Moco": partial(by_moco, options.moco)}
    runs = in_turn(ways, options.repeats)
    first = [x.seconds for x in runs["nsopt"]]
    rows = []
    for name, many in runs.items():
        seconds, last = [x.seconds for x in many], many[-1]
        off = last.optimum / OPTIMUM - 1
        times = [f"{median(seconds):.2f}", f"{ratio(seconds, first):.1f}"]
        rows.append([name, *times, str(last.iterations), f"{off:+.1e}", last.said])
    head = ["least effort over 1 m", "processor s", "ratio", "iterations", "over the true", "said"]
    print("\n" + table(head, rows))


if __name__ == "__main__":
    main()
