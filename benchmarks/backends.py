"""Backend against backend: the named problems by IPOPT and by SQP, in one run.

Run it with ``.venv/bin/python benchmarks/backends.py`` once ``dev.py`` has installed nsopt. Times
of a shared machine are noisy: read the ratio; each problem's pair runs in turn and is repeated.
"""

from statistics import median

import numpy as np

from nsopt import Ipopt, Problem, Result, Solver, Sqp, load_problem, simulate
from nsopt.problem import problem_files

BACKENDS = (Ipopt(), Sqp())
REPEATS = 3
DURATION = 0.5  # s


def run(problem: Problem, solver: Solver) -> Result:
    """Simulate the first part of a problem."""
    return simulate(
        problem.dynamics, duration=DURATION, steps=problem.steps, solver=solver, progress=False
    )


def row(name: str) -> str:
    """Return one line of the table: per step of each backend, and their ratio."""
    problem = load_problem(name)
    found: dict[str, list[float]] = {}
    texts = []
    for _ in range(REPEATS):
        for backend in BACKENDS:
            data = run(problem, Solver(backend=backend)).data
            kind = type(backend).__name__
            found.setdefault(kind, []).append(1e3 * float(np.nanmean(data["solve_time"])))
            iterations = float(np.nanmean(data["iterations"]))
            if len(found[kind]) == REPEATS:
                texts.append(f"{median(found[kind]):8.2f} {iterations:10.1f}")
    ratio = median(a / b for a, b in zip(*found.values(), strict=True))
    return f"{name:<20}" + "".join(texts) + f" {ratio:8.1f}"


def main() -> None:
    """Print the table."""
    head = "".join(f"{type(b).__name__:>8} {'iterations':>10}" for b in BACKENDS)
    print(f"{'ms per step':<20}{head} {'ratio':>8}")
    for name in problem_files():
        print(row(name))


if __name__ == "__main__":
    main()
