"""Reactions of ideal joints against those of least norm of the Newton-Euler equations in NumPy.

Bricard's linkage, Bennett's (a spatial four-bar, over-constrained) and a Gough platform, by every
scheme, in absolute and relative coordinates; how far reactions are off, and their order in h.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from common import Array, cpu_seconds, machine, slope, table

from nsopt import (
    Compiled,
    Composition,
    ContactAligned,
    Dynamics,
    Mechanism,
    MoreauJean,
    PaperStep,
    Result,
    StepBounds,
    Variational,
    simulate,
)
from nsopt.schemes import Scheme

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from problems.bricard import bricard
from tests.schemes import loops_in_space as loops
from tests.schemes.newton_euler import NewtonEuler

SIZES = (4e-3, 2e-3, 1e-3, 5e-4)  # s
NODES = 100
SPACING, READ = 0.02, 1.0  # s: between nodes kept; where the order is read
REFERENCE = (1.25e-4, 6.25e-5)  # s: two h, from which the limit is extrapolated


@dataclass(frozen=True)
class Loop:
    """A mechanism, and what its equations in NumPy need."""

    model: Callable[[str], Dynamics]
    mechanism: Callable[[str], Mechanism]
    gravity: tuple[float, float, float]
    forces: Callable[[Array, Array], Any] | None = None

    def off(self, result: Result) -> float:
        """Return how far reactions are off, over the largest entry of their node; the worst."""
        equations = NewtonEuler(self.mechanism("absolute"), self.gravity, self.forces)
        found, (q, v) = wrenches(result), equations.states(result)
        errors = []
        for k in np.linspace(0, len(q) - 1, NODES).astype(int):
            expected = equations.wrenches(q[k], v[k])
            errors.append(np.abs(found[k] - expected).max() / np.abs(expected).max())
        return float(np.max(errors))


LOOPS = {
    "bricard": Loop(bricard.model, bricard.mechanism, bricard.GRAVITY),
    "bennett": Loop(loops.bennett, loops.bennett_mechanism, loops.DOWN),
    "gough": Loop(loops.gough, loops.gough_mechanism, loops.G, loops.gough_springs),
}
PAPER = PaperStep(finds_h=False)
SCHEMES: dict[str, Scheme] = {
    type(x).__name__: x
    for x in (Variational(), ContactAligned(), MoreauJean(), PAPER, Composition())
}


def wrenches(result: Result) -> Array:
    """Return force and torque of each joint (n, joints, 6)."""
    return np.dstack([result["joint_reaction"].values, result["joint_reaction_torque"].values])


@cache
def built(name: str, coordinates: str) -> Dynamics:
    """Return a mechanism, assembled once."""
    return LOOPS[name].model(coordinates)


def run(name: str, coordinates: str, scheme: Scheme, h: float, duration: float) -> Result:
    """Simulate a mechanism in steps of h, shorter only where that fails."""
    return simulate(
        built(name, coordinates),
        duration=duration,
        steps=StepBounds(h if scheme.chooses_h else h / 8, h),
        scheme=scheme,
        solver=Compiled(),
        store_every=max(round(SPACING / h), 1),
        check=None,
        progress=False,
    )


def at_read(result: Result) -> Array:
    """Return the reactions where the order is read."""
    k = int(np.argmin(np.abs(result["time"].values - READ)))
    if abs(result["time"].values[k] - READ) > 1e-9:
        return np.full_like(wrenches(result)[0], np.nan)
    return wrenches(result)[k]


@cache
def reference(name: str) -> Array:
    """Return the reactions of the exact motion, to fourth order, where the order is read."""
    one, half = (at_read(run(name, "relative", Variational(), h, READ)) for h in REFERENCE)
    return (4 * half - one) / 3


def rows(
    name: str, coordinates: str, scheme: Scheme, sizes: Sequence[float], duration: float
) -> list[list[str]]:
    """Return a row for each h."""
    found, errors = [], []
    for h in sizes:
        result, seconds = cpu_seconds(lambda h=h: run(name, coordinates, scheme, h, duration))
        if duration >= READ:
            errors.append(float(np.abs(at_read(result) - reference(name)).max()))
        order = "" if len(errors) < 2 else f"{slope(sizes[len(errors) - 2 :][:2], errors[-2:]):.2f}"
        found.append(
            [
                f"{name}, {coordinates}, {type(scheme).__name__}",
                f"{h:g}",
                "yes" if result.completed else result.stop_reason,
                f"{np.nansum(result['retries']):.0f} of {result.data.attrs['steps']}",
                f"{LOOPS[name].off(result):.0e}",
                f"{errors[-1]:.1e}" if errors else "",
                order,
                f"{seconds:.0f}",
            ]
        )
        print(" | ".join(found[-1]), flush=True)
    return found


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--loops", nargs="+", choices=LOOPS, default=list(LOOPS))
    parser.add_argument("--coordinates", nargs="+", default=["relative", "absolute"])
    parser.add_argument("--schemes", nargs="+", choices=SCHEMES, default=list(SCHEMES))
    parser.add_argument("--h", nargs="+", type=float, default=SIZES)
    parser.add_argument("--duration", type=float, default=10.0)
    a = parser.parse_args()
    found = [
        row
        for name in a.loops
        for coordinates in a.coordinates
        for scheme in a.schemes
        for row in rows(name, coordinates, SCHEMES[scheme], a.h, a.duration)
    ]
    print(machine())
    head = ("run", "h [s]", "completed", "retries", "off by", f"error at {READ:g} s", "order", "s")
    print(table(head, found))


if __name__ == "__main__":
    main()
