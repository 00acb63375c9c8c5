"""Optima over a horizon by IPOPT and by SQP with several QP solvers: optimum, iterations, time."""

import argparse
import subprocess
import sys
from dataclasses import replace
from time import perf_counter

from common import machine, table

from nsopt import Ipopt, Solver, Sqp
from nsopt.mpcc import Backend, IpoptQp, Osqp, Proxqp, Qrqp
from nsopt.problem import load_optimization

CASES = {
    "double_integrator": 20,
    "bryson_denham": 90,
    "arm_least_resistance": 100,
    "clearance_pendulum": 100,
}
BACKENDS: dict[str, Backend] = {
    "ipopt": Ipopt(),
    "sqp, piqp": Sqp(),
    "sqp, ipopt": Sqp(qp=IpoptQp()),
    "sqp, qrqp": Sqp(qp=Qrqp(max_iter=5000)),
    "sqp, osqp": Sqp(qp=Osqp()),
    "sqp, proxqp": Sqp(qp=Proxqp()),
}


def solved(problem: str, steps: int, backend: str) -> str:
    """Return a row of the table, its cells separated by tabs."""
    stated = replace(load_optimization(problem), solver=Solver(backend=BACKENDS[backend]))
    begin = perf_counter()
    result = stated.solve(steps=steps)
    seconds, attrs = perf_counter() - begin, result.data.attrs
    optimum = f"{result.objective:.9g}" if result.completed else "none"
    return "\t".join([optimum, attrs["solver_name"].split()[-2], f"{seconds:.1f}"])


def main() -> None:
    """Print the table; each solve has a process of its own, for a QP solver may end it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=300.0, help="at most for each solve")
    parser.add_argument("--steps", type=int, help="of every problem")
    parser.add_argument("--one", nargs=3, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one:
        problem, steps, backend = options.one
        print("\n" + solved(problem, int(steps), backend))
        return
    rows = []
    for problem, steps in CASES.items():
        for backend in BACKENDS:
            n = options.steps or steps
            command = [sys.executable, __file__, "--one", problem, str(n), backend]
            rows.append([problem, str(n), backend, *_run(command, options.seconds)])
    print(f"\n{machine()}\n")
    print(table(["problem", "steps", "backend", "optimum", "iterations", "seconds"], rows))


def _run(command: list[str], seconds: float) -> list[str]:
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=seconds, check=False)
    except subprocess.TimeoutExpired:
        return [f"none in {seconds:g} s", "", ""]
    if done.returncode:
        return ["ended the process", "", ""]
    return done.stdout.splitlines()[-1].split("\t")


if __name__ == "__main__":
    main()
