"""Orders of convergence across changes of contact, by `Variational` and `Composition`.

Motions whose contacts close, open, slip, stop and stick, in steps that are halved four times. Their
ends are compared with closed forms, with DOP853 from event to event, and those of the slider-crank
with `Composition` in steps of a quarter of the smallest.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import numpy as np
from common import machine, table

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from nsopt import Composition, Result, Variational
from nsopt.schemes import Scheme
from tests.schemes.contact_motions import MOTIONS, Motion, crank, find_errors, fit_orders, run

SCHEMES: tuple[Scheme, ...] = (Variational(), Composition())
HALVINGS = 4
FINER = 4  # times shorter than the smallest steps, those of a reference by steps
CASES = MOTIONS | {f"crank-{t:g}": lambda t=t: crank(t) for t in (0.1, 0.2, 0.4)}


def find_share(result: Result) -> float:
    """Return the part of the time in steps that do not end where contact changes."""
    a = result.data.attrs
    return (a.get("time_past_changes", 0.0) + a["time_by_other_schemes"]) / result["time"].values[
        -1
    ]


def measure(motion: Motion) -> list[list[str]]:
    """Return the rows of a motion, one of each scheme."""
    sizes = motion.largest * 0.5 ** np.arange(HALVINGS + 1)
    exact = motion.exact or motion.find_end(run(motion, Composition(), sizes[-1] / FINER))
    rows = []
    for scheme in SCHEMES:
        runs = [run(motion, scheme, h) for h in sizes]
        errors = find_errors([motion.find_end(x) for x in runs], exact)
        orders = fit_orders(sizes, errors, exact.energy)
        told = [
            text
            for off, order in zip(errors, orders, strict=True)
            for text in (" ".join(f"{x:.1e}" for x in off), f"{order:.2f}".replace("inf", "exact"))
        ]
        share = max(find_share(x) for x in runs)
        rows.append([motion.name, type(scheme).__name__, *told, f"{100 * share:.2g} %"])
    return rows


def main() -> None:
    """Print the tables of the cases that are named, by default of all."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("cases", nargs="*", default=list(CASES), metavar="CASE")
    head = [
        "",
        "scheme",
        "place off by [m]",
        "order",
        "energy off by [J]",
        "order",
        "without events",
    ]
    rows = [row for name in parser.parse_args().cases for row in measure(CASES[name]())]
    print(machine(), table(head, rows), sep="\n\n")


if __name__ == "__main__":
    main()
