"""Scheme against scheme: error of case A after 2 s against the time of the run.

Once in its clearance hinge, with an event-driven reference, and once on an ideal hinge, with the
exact solution. A new scheme is one more line in `SCHEMES`.
"""

import argparse
from functools import partial
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from common import (
    IDEAL_THETA,
    THETA,
    Array,
    in_turn,
    keep,
    machine,
    off,
    picture,
    retried,
    run,
    slope,
    solver_seconds,
    table,
    turn,
)
from matplotlib.axes import Axes

from nsopt import (
    GROUND,
    Compiled,
    Composition,
    ContactAligned,
    Frame,
    Mechanism,
    MoreauJean,
    PaperStep,
    Problem,
    Result,
    Revolute,
    Solver,
    Sqp,
    StepBounds,
    Variational,
    assemble,
    load_problem,
)
from nsopt.plots.style import COLOURS, DASHES, GREY, SMALL, axis_labels, title
from nsopt.schemes import Scheme

DURATION = 2.0  # s
SIZES = [2e-3, 1e-3, 5e-4, 2.5e-4, 1.25e-4, 6.25e-5]
RESOLVED = 0.25
"""Part of the largest h from which order is fitted; above it the hinge's oscillation is missed."""
EXACT = 1e-11
"""Errors [rad] below this are round-off, and no part of the fit."""
MARKERS = "o^sDvP"


class Entry(NamedTuple):
    """A scheme with its solver; h_min over h; for which hinges; by what its sizes are longer."""

    scheme: Scheme
    solver: Solver | Compiled
    h_min: float = 1.0
    hinges: tuple[str, ...] = ("clearance", "ideal")
    longer: float = 1.0

    def bounds(self, h: float) -> StepBounds:
        """Return the bounds that stand for the size h [s]."""
        return StepBounds(self.h_min * self.longer * h, self.longer * h)


SCHEMES = {
    "PaperStep, sqp": Entry(PaperStep(), Solver(backend=Sqp())),
    "Variational": Entry(Variational(), Compiled()),
    "MoreauJean": Entry(MoreauJean(), Compiled()),
    "MoreauJean, project": Entry(MoreauJean(project=True), Compiled(), hinges=("clearance",)),
    "ContactAligned": Entry(ContactAligned(), Compiled(), 1e-3, ("clearance",)),
    "Composition": Entry(Composition(), Compiled(), 1.0, ("ideal",), 10.0),
}


class Point(NamedTuple):
    """One run: h [s], solver time [s], steps, error of the angle [rad], energy lost [J]."""

    h: float
    seconds: float
    steps: int
    error: float
    lost: float
    depth: float
    retried: int


def problems() -> dict[str, tuple[Problem, float]]:
    """Return case A with both hinges, and the angle where it is after 2 s."""
    real = load_problem("case_a")
    (body,) = real.dynamics.mechanism.bodies
    hinge = Revolute("hinge", Frame(GROUND), Frame.at(body, (0.0, 0.0, 0.0)))
    dynamics = assemble(Mechanism([body], [hinge]), gravity=(0.0, -9.81, 0.0))
    ideal = Problem(dynamics, DURATION, real.steps)
    return {"clearance": (real, THETA), "ideal": (ideal, IDEAL_THETA)}


def point(h: float, theta: float, results: list[Result]) -> Point:
    """Return the figures of the same run, repeated."""
    result = results[-1]
    return Point(
        h,
        min(map(solver_seconds, results)),
        result.data.sizes["time"] - 1,
        abs(off(turn(result), theta)),
        float(result["dissipated_energy"][-1]),
        float(result["gap_violation"].max()) if result["gap_violation"].size else 0.0,
        retried(result),
    )


def order(points: list[Point]) -> float:
    """Return the fitted order of the angle."""
    fine = [p for p in points if p.h <= RESOLVED * points[0].h and p.error > EXACT]
    return slope([p.h for p in fine], [p.error for p in fine]) if len(fine) > 1 else np.nan


def rows(name: str, points: list[Point]) -> list[list[str]]:
    """Return the lines of one scheme; the order is that from h to the next."""
    halves = [a.error / b.error for a, b in pairwise(points)]
    orders = [f"{np.log2(half):.2f}" for half in halves] + [f"fit {order(points):.2f}"]
    return [
        [
            name if k == 0 else "",
            f"{p.h:g}",
            str(p.steps),
            f"{p.seconds:.3g}",
            f"{1e6 * p.seconds / p.steps:.3g}",
            f"{p.error:.2e}",
            orders[k],
            f"{1e3 * p.lost:.4f}",
            f"{p.depth:.0e}",
            str(p.retried),
        ]
        for k, p in enumerate(points)
    ]


def draw(hinges: dict[str, dict[str, list[Point]]]) -> None:
    """Draw error against time, and against h with lines of the first orders."""
    figure, axes = picture("Case A after 2 s, scheme against scheme", 2, (9.5, 8.0), rows=2)
    for row, (hinge, schemes) in zip(axes, hinges.items(), strict=True):
        for name, points in schemes.items():
            k = list(SCHEMES).index(name)
            style: dict[str, Any] = {"color": COLOURS[k], "linestyle": DASHES[k % 4]}
            style |= {"marker": MARKERS[k], "markersize": 5}
            style["label"] = f"{name}: order {order(points):.1f}"
            errors = np.maximum([p.error for p in points], 0.1 * EXACT)
            row[0].loglog([p.seconds for p in points], errors, **style)
            row[1].loglog([p.h for p in points], errors, **style)
        guides(row[1], np.array(SIZES), (1, 2) if hinge == "clearance" else (2, 4))
        axis_labels(row[0], "time in the solver, per run [s]", "|angle error| [rad]")
        axis_labels(row[1], "h [s]", None)
        title(row[0], f"hinge: {hinge}")
        row[0].legend(fontsize=SMALL - 1, frameon=False)
        row[1].sharey(row[0])
    keep(figure, "work_precision")


def guides(ax: Axes, h: Array, orders: tuple[int, int]) -> None:
    """Draw the slopes of two orders."""
    for exponent, at in zip(orders, (3e-5, 3e-7), strict=True):
        y = at * (h / h[len(h) // 2]) ** exponent
        ax.loglog(h, y, color=GREY, linestyle=":", linewidth=1, zorder=0)
        words = f"h$^{exponent}$" if exponent > 1 else "h"
        ax.annotate(words, (h[-1], y[-1]), (-8, -12), textcoords="offset points", fontsize=SMALL)


def main() -> None:
    """Print a table of all schemes and sizes for both hinges, and draw them."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sizes", type=float, nargs="+", default=SIZES, help="h [s], falling")
    parser.add_argument("--repeats", type=int, default=3, help="the shortest time counts")
    options = parser.parse_args()
    print(machine())
    hinges: dict[str, dict[str, list[Point]]] = {}
    for hinge, (problem, theta) in problems().items():
        schemes = {name: e for name, e in SCHEMES.items() if hinge in e.hinges}
        hinges[hinge] = {name: [] for name in schemes}
        for h in options.sizes:
            calls = {
                name: partial(run, problem, e.bounds(h), e.scheme, e.solver, DURATION)
                for name, e in schemes.items()
            }
            for name, results in in_turn(calls, options.repeats).items():
                hinges[hinge][name].append(point(schemes[name].bounds(h).h_max, theta, results))
        head = [f"{hinge} hinge", "h [s]", "steps", "run [s]", "us per step", "error [rad]"]
        head += ["order", "lost [mJ]", "depth [m]", "retried"]
        lines = [line for name, points in hinges[hinge].items() for line in rows(name, points)]
        print("\n" + table(head, lines))
    draw(hinges)


if __name__ == "__main__":
    main()
