"""What each strategy of the plan of search gains: named optimizations, without each in turn.

A row for each problem by the whole plan, and for each strategy that ran without it: cost by the
exact sign of dry friction, iterations, seconds.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from dataclasses import replace

import numpy as np
from common import machine, table

from nsopt.problem import load_optimization
from nsopt.trajectory import PLAN, Optimization
from nsopt.trajectory.search import FromGuess

NAMES = (
    *("bryson_denham", "brachistochrone", "arm_least_resistance", "arm_raise", "charmie_reach"),
    *("rom_swing_up", "hopper", "push_block", "sit_to_stand", "slider_crank_peaks", "biped_step"),
)
HEAD = ("problem", "without", "cost", "iterations", "s", "solved")


def row(name: str, without: str, stated: Optimization, steps: int | None) -> tuple[list[str], set]:
    """Return one line of the table, and the strategies that ran."""
    begin = time.perf_counter()
    result = stated.solve(steps=steps)
    seconds, attrs = time.perf_counter() - begin, result.data.attrs
    costs = json.loads(attrs.get("exact_cost", attrs["detailed_cost"]))
    count = float(np.nansum(result["iterations"].values))
    cells = [f"{sum(costs.values()):.8g}", f"{count:.0f}", f"{seconds:.1f}"]
    ran = {x["strategy"] for x in json.loads(attrs["search"])}
    return [name, without, *cells, "yes" if result.completed else "no"], ran


def main(arguments: list[str]) -> int:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", default=NAMES, help="also NAME:STEPS")
    rows = []
    for name in parser.parse_args(arguments).names:
        problem, _, steps = name.partition(":")
        stated, count = load_optimization(problem), int(steps) if steps else None
        whole, ran = row(name, "", stated, count)
        rows.append(whole)
        for strategy in PLAN.strategies:
            kind = type(strategy)
            if kind.__name__ in ran and kind is not FromGuess:
                other = replace(stated, plan=PLAN.without(kind))
                rows.append(row(name, kind.__name__, other, count)[0])
    print(f"{machine()}\n{table(HEAD, rows)}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
