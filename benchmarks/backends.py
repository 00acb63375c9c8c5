"""Backend against backend: the named problems by IPOPT, by SQP and by the chain, in one run.

Run it with ``.venv/bin/python benchmarks/backends.py`` once ``dev.py`` has installed nsopt. Times
of a shared machine are noisy: read the ratios; the backends of a problem run in turn, repeatedly.
"""

import argparse
from functools import partial
from statistics import median

import matplotlib.pyplot as plt
import numpy as np
from common import in_turn, keep, machine, per_step, picture, ratio, retried, run, table

from nsopt import Compiled, Ipopt, PaperStep, Result, Solver, Sqp, Variational, load_problem
from nsopt.plots.style import COLOURS, SMALL, axis_labels, title
from nsopt.problem import problem_files
from nsopt.schemes import Scheme

SCHEMES: dict[str, Scheme] = {"paper": PaperStep(), "variational": Variational()}
BACKENDS: dict[str, Solver | Compiled] = {
    "ipopt": Solver(backend=Ipopt()),
    "sqp": Solver(backend=Sqp()),
}
CHAINED: dict[str, Solver | Compiled] = {"compiled": Compiled()}
"""Of schemes that are given h."""


def backends(scheme: Scheme) -> dict[str, Solver | Compiled]:
    """Return the backends of a scheme by name."""
    return BACKENDS if scheme.chooses_h else {**BACKENDS, **CHAINED}


def measured(name: str, scheme: Scheme, repeats: int, duration: float) -> dict[str, list[Result]]:
    """Return the runs of a problem by each backend; compiling is not in a run's solver time."""
    problem = load_problem(name)
    calls = {
        kind: partial(run, problem, problem.steps, scheme, solver, duration)
        for kind, solver in backends(scheme).items()
    }
    return in_turn(calls, repeats)


def row(label: str, runs: dict[str, list[Result]]) -> list[str]:
    """Return one line: time and iterations a step of each backend, ratios, retried steps."""
    times = {kind: [1e6 * per_step(r) for r in results] for kind, results in runs.items()}
    cells = [label]
    for kind, results in runs.items():
        iterations = float(np.nanmean(results[-1]["iterations"]))
        cells += [f"{median(times[kind]):.3g}", f"{iterations:.1f}"]
    others = [kind for kind in runs if kind != "ipopt"]
    cells += [f"{ratio(times['ipopt'], times[kind]):.3g}" for kind in others]
    return [*cells, "/".join(str(retried(results[-1])) for results in runs.values())]


def draw(times: dict[str, dict[str, list[float]]]) -> None:
    """Draw microseconds a step, problem by problem."""
    figure, axes = picture("Time per step in the solver, by backend", len(times), (9.5, 3.8))
    for ax, (name, of) in zip(axes.flat, times.items(), strict=True):
        places = np.arange(len(problem_files()))
        for k, (kind, values) in enumerate(of.items()):
            ax.bar(places + 0.27 * (k - 1), values, 0.25, color=COLOURS[k], label=kind)
        ax.set_yscale("log")
        names = [p.replace("_", "\n") if len(p) > 8 else p for p in problem_files()]
        ax.set_xticks(places, names, fontsize=SMALL - 1.5)
        title(ax, type(SCHEMES[name]).__name__)
        axis_labels(ax, None, "µs")
    low, high = (f(ax.get_ylim()[k] for ax in axes.flat) for k, f in enumerate((min, max)))
    plt.setp(axes, ylim=(low, high))
    axes.flat[-1].legend(fontsize=SMALL, frameon=False)
    keep(figure, "backends")


def main() -> None:
    """Print a table for each scheme, and draw both."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--duration", type=float, default=0.5, help="of each run [s]")
    options = parser.parse_args()
    print(machine())
    times: dict[str, dict[str, list[float]]] = {}
    for scheme, stated in SCHEMES.items():
        runs_by_backend = {
            name: measured(name, stated, options.repeats, options.duration)
            for name in problem_files()
        }
        head = [f"{scheme}: us per step"]
        kinds = list(backends(stated))
        head += [text for kind in kinds for text in (kind, "iterations")]
        head += [*(f"ipopt/{kind}" for kind in kinds if kind != "ipopt"), "retried"]
        print("\n" + table(head, [row(name, runs) for name, runs in runs_by_backend.items()]))
        times[scheme] = {
            kind: [1e6 * median(map(per_step, runs[kind])) for runs in runs_by_backend.values()]
            for kind in kinds
        }
    draw(times)


if __name__ == "__main__":
    main()
