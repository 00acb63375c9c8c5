"""Scheme against scheme: error of case A after 2 s against the time of the run.

The reference is event-driven, of the plane motion. A new scheme is one more line in `SCHEMES`.
"""

import argparse
from collections.abc import Callable
from functools import partial
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from common import (
    IMPACT_LOSS,
    in_turn,
    keep,
    machine,
    picture,
    retried,
    run,
    slope,
    solver_seconds,
    table,
    turn_error,
)
from matplotlib.axes import Axes

from nsopt import (
    Compiled,
    MoreauJean,
    PaperStep,
    Result,
    Solver,
    Sqp,
    StepBounds,
    Variational,
    load_problem,
)
from nsopt.plots.style import COLOURS, MARKERS, SMALL, axis_labels
from nsopt.stepping import Scheme

DURATION = 2.0  # s
SIZES = [2e-3, 1e-3, 5e-4, 2.5e-4, 1.25e-4, 6.25e-5]
FITTED = 5e-4
"""Order is fitted from this h [s] downwards; above it the hinge's oscillation is not resolved."""


class Entry(NamedTuple):
    """A scheme with its solver; bounds of h from its largest, a fixed step by default."""

    scheme: Scheme
    solver: Solver | Compiled
    bounds: Callable[[float], StepBounds] = lambda h: StepBounds(h, h)


SCHEMES = {
    "PaperStep, sqp": Entry(PaperStep(), Solver(backend=Sqp())),
    "Variational": Entry(Variational(), Compiled()),
    "MoreauJean": Entry(MoreauJean(), Compiled()),
    "MoreauJean, project": Entry(MoreauJean(project=True), Compiled()),
}


class Point(NamedTuple):
    """One run: h [s], solver time [s], error of the angle [rad], energy gained [J]."""

    h: float
    seconds: float
    turn: float
    energy: float
    depth: float
    retried: int


def point(h: float, results: list[Result]) -> Point:
    """Return the figures of the same run, repeated."""
    result = results[-1]
    return Point(
        h,
        min(map(solver_seconds, results)),
        turn_error(result),
        -float(result["dissipated_energy"][-1]),
        float(result["gap_violation"].max()),
        retried(result),
    )


def order(points: list[Point]) -> float:
    """Return the fitted order of the angle."""
    fine = [p for p in points if p.h <= FITTED]
    return slope([p.h for p in fine], [abs(p.turn) for p in fine]) if len(fine) > 1 else np.nan


def rows(name: str, points: list[Point]) -> list[list[str]]:
    """Return the lines of one scheme."""
    return [
        [
            name if k == 0 else "",
            f"{p.h:g}",
            f"{p.seconds:.3g}",
            f"{1e6 * p.seconds * p.h / DURATION:.3g}",
            f"{abs(p.turn):.2e}",
            f"{1e3 * (p.energy + IMPACT_LOSS):+.1e}",
            f"{p.depth:.0e}",
            str(p.retried),
        ]
        for k, p in enumerate(points)
    ]


def draw(found: dict[str, list[Point]]) -> None:
    """Draw error against time, and error against h beside lines of the first two orders."""
    figure, axes = picture("Case A after 2 s, scheme against scheme", 2, (9.5, 4.2))
    by_time, by_size = axes.flat
    for k, (name, points) in enumerate(found.items()):
        style = {
            "color": COLOURS[k % len(COLOURS)],
            "marker": MARKERS[k % len(MARKERS)],
            "markersize": 5,
            "label": f"{name}: order {order(points):.1f}",
        }
        errors = [abs(p.turn) for p in points]
        by_time.loglog([p.seconds for p in points], errors, **style)
        by_size.loglog([p.h for p in points], errors, **style)
    for exponent, at in ((1, 4e-4), (2, 2e-6)):
        guide(by_size, exponent, at)
    axis_labels(by_time, "time in the solver, per run [s]", "|angle error| [rad]")
    axis_labels(by_size, "h [s]", "|angle error| [rad]")
    by_time.legend(fontsize=SMALL, frameon=False)
    keep(figure, "work_precision")


def guide(ax: Axes, exponent: int, at: float) -> None:
    """Draw the slope of an order through ``at`` [rad] at the middle of the sizes."""
    h = np.array([SIZES[-1], SIZES[1]])
    y = at * (h / 2.5e-4) ** exponent
    ax.loglog(h, y, color="#9a9a9a", linestyle=":", linewidth=1)
    ax.annotate(f"h{'' if exponent == 1 else '²'}", (h[1], y[1]), fontsize=SMALL, color="#666666")


def main() -> None:
    """Print a table of all schemes and sizes, and draw it."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sizes", type=float, nargs="+", default=SIZES, help="h [s], falling")
    parser.add_argument("--repeats", type=int, default=3, help="the shortest time counts")
    options = parser.parse_args()
    problem = load_problem("case_a")
    print(machine())
    found: dict[str, list[Point]] = {name: [] for name in SCHEMES}
    for h in options.sizes:
        calls = {
            name: partial(run, problem, e.bounds(h), e.scheme, e.solver, DURATION)
            for name, e in SCHEMES.items()
        }
        for name, results in in_turn(calls, options.repeats).items():
            found[name].append(point(h, results))
    head = ["scheme", "h [s]", "run [s]", "us per step", "angle error [rad]"]
    head += ["energy less physical [mJ]", "depth [m]", "retried"]
    print(
        "\n" + table(head, [line for name, points in found.items() for line in rows(name, points)])
    )
    print(f"\norder of the angle, fitted from h = {FITTED:g} s downwards")
    for name, points in found.items():
        steps = [abs(a.turn / b.turn) for a, b in pairwise(points)]
        print(f"{name:<20} {order(points):5.2f}   error, h to next: {np.round(steps, 2).tolist()}")
    draw(found)


if __name__ == "__main__":
    main()
