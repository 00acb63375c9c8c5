"""Case A against other engines, in one run: time per step, penetration, angle, energy.

How they are set up: `engines`. What is not installed is left out with a word:
``pip install 'nsopt[bench]'``.
"""

import argparse
from collections.abc import Callable
from functools import partial
from statistics import median

import numpy as np
from common import (
    IMPACT_LOSS,
    THETA,
    in_turn,
    keep,
    machine,
    off,
    per_step,
    picture,
    ratio,
    run,
    table,
    turn,
)
from engines import CLEARANCE, DURATION, MUJOCO, Figures, Peer, exudyn_peer, mujoco_peer

from nsopt import Compiled, StepBounds, Variational, load_problem
from nsopt.plots.style import COLOURS, SMALL, axis_labels

SIZES = [1e-3, 5e-4, 2.5e-4, 1.25e-4]
EXACT = 1e-10
"""Part of the clearance below which a depth is round-off."""
QUARTERS = (0.25, 0.5, 0.75)


def nsopt_peer(h: float) -> Peer:
    """Return the variational step, compiled."""
    problem, steps = load_problem("case_a"), StepBounds(h, h)
    simulated = partial(run, problem, steps, Variational(), Compiled(), DURATION)

    def figures() -> Figures:
        result = simulated()
        lost = float(result["dissipated_energy"][-1])
        return Figures(float(result["gap_violation"].max()), off(turn(result), THETA), -lost)

    return Peer(lambda: per_step(simulated()), figures)


def installed(h: float) -> dict[str, Peer]:
    """Return nsopt and what else is installed."""
    makers: dict[str, Callable[[], Peer]] = {"nsopt Variational": partial(nsopt_peer, h)}
    makers |= {name: partial(mujoco_peer, name, h) for name in MUJOCO}
    makers["Exudyn penalty"] = partial(exudyn_peer, h)
    engines = {}
    for name, make in makers.items():
        try:
            engines[name] = make()
        except ImportError as error:
            print(f"{name} is left out: {error}")
    return engines


def row(name: str, times: dict[str, list[float]], figures: Figures) -> list[str]:
    """Return one line of the table."""
    ours = times[next(iter(times))]
    part = max(figures.depth, 0.0) / CLEARANCE
    return [
        name,
        f"{1e6 * median(times[name]):.2f}",
        f"{1e6 * min(times[name]):.2f}",
        f"{ratio(times[name], ours):.2f}",
        f"{100 * part:.2g} %" if part > EXACT else "none",
        f"{abs(figures.turn):.1e}",
        f"{1e3 * figures.energy:.4f}",
        f"{1e3 * (figures.energy + IMPACT_LOSS):+.1e}",
    ]


def verdict(times: dict[str, list[float]]) -> list[str]:
    """Return how nsopt stands to its goals of speed."""
    ours = times["nsopt Variational"]
    lines = [f"nsopt: {1e6 * median(ours):.2f} us per step, goal 5"]
    for name in [n for n in MUJOCO if n in times]:
        parts = np.quantile([a / b for a, b in zip(ours, times[name], strict=True)], QUARTERS)
        least = min(ours) / min(times[name])
        lines.append(
            f"nsopt over {name}: {parts[1]:.2f} in pairs (quartiles {parts[0]:.2f}, "
            f"{parts[2]:.2f}), {least:.2f} least over least; goal 1"
        )
    return lines


def draw(points: dict[str, list[tuple[float, Figures]]]) -> None:
    """Draw error against time for all step sizes, and how deep the hinge is in its wall."""
    figure, axes = picture("Case A, 2 s, engine against engine", 2, (9.5, 4.0))
    for k, (name, figures) in enumerate(points.items()):
        style = {"color": COLOURS[k], "marker": "os^D"[k], "markersize": 5, "label": name}
        times = [t for t, _ in figures]
        axes[0, 0].loglog(times, [abs(f.turn) for _, f in figures], **style)
        depths = [max(f.depth / CLEARANCE, EXACT) for _, f in figures]
        axes[0, 1].loglog(times, depths, **style)
    axis_labels(axes[0, 0], "time per run [s]", "|angle error| after 2 s [rad]")
    axis_labels(axes[0, 1], "time per run [s]", f"depth in the wall / clearance (none: {EXACT:g})")
    axes[0, 1].legend(fontsize=SMALL, frameon=False)
    keep(figure, "peers")


def main() -> None:
    """Print a table at the largest step and what it says of nsopt's goals; draw all steps."""
    parser = argparse.ArgumentParser(description="Case A against other engines.")
    parser.add_argument("--h", type=float, nargs="+", default=SIZES, help="step sizes [s]")
    parser.add_argument("--repeats", type=int, default=25)
    options = parser.parse_args()
    print(machine())
    points: dict[str, list[tuple[float, Figures]]] = {}
    for h in options.h:
        peers = installed(h)
        figures = {name: peer.figures() for name, peer in peers.items()}
        calls = {name: peer.seconds for name, peer in peers.items()}
        times = in_turn(calls, options.repeats if h == options.h[0] else 3)
        for name in peers:
            run_time = min(times[name]) * DURATION / h
            points.setdefault(name, []).append((run_time, figures[name]))
        head = [f"h = {h:g} s: us per step", "median", "least", "over nsopt", "depth/c"]
        head += ["angle error [rad]", "energy [mJ]", "less physical"]
        print("\n" + table(head, [row(name, times, figures[name]) for name in peers]))
        if h == options.h[0]:
            print("\n" + "\n".join(verdict(times)))
    draw(points)


if __name__ == "__main__":
    main()
