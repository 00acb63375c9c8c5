"""Every named optimization by IPOPT and by SQP: optimum, iterations, time, and where SQP cannot.

``--backends`` adds SQP by other QP solvers, ``--problems`` and ``--steps`` choose.
"""

import argparse
import resource
import signal
import subprocess
import sys
from dataclasses import replace
from time import process_time

from common import machine, table

from nsopt import Ipopt, Solver, Sqp
from nsopt.mpcc import Backend, IpoptQp, Osqp, Proxqp, Qrqp
from nsopt.problem import load_optimization
from nsopt.trajectory import IN_STEPS

PROBLEMS = (
    "double_integrator",
    "bryson_denham",
    "brachistochrone",
    "arm_least_resistance",
    "urdf_least_resistance",
    "charmie_reach",
    "rom_swing_up",
    "slider_crank_peaks",
    "clearance_tolerance",
    "bounce",
    "clearance_pendulum",
)
BACKENDS: dict[str, Backend] = {
    "ipopt": Ipopt(),
    "sqp": Sqp(),
    "sqp, ipopt": Sqp(qp=IpoptQp()),
    "sqp, qrqp": Sqp(qp=Qrqp(max_iter=5000)),
    "sqp, osqp": Sqp(qp=Osqp()),
    "sqp, proxqp": Sqp(qp=Proxqp()),
}


def solved(problem: str, steps: int | None, backend: str) -> str:
    """Return a row of the table, its cells separated by tabs."""
    stated = load_optimization(problem)
    begin = process_time()
    solver = Solver(backend=BACKENDS[backend])
    result = replace(stated, solver=solver, plan=IN_STEPS).solve(steps=steps)
    seconds, attrs = process_time() - begin, result.data.attrs
    optimum = f"{result.objective:.9g}" if result.completed else result.stop_reason.split("\n")[0]
    cells = [str(steps or stated.horizon.steps), attrs["solver_name"].split()[-2]]
    return "\t".join([optimum, *cells, f"{seconds:.1f}"])


def main() -> None:
    """Print the table; each solve has a process of its own, for a QP solver may end it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--problems", nargs="+", choices=PROBLEMS, default=PROBLEMS)
    parser.add_argument("--backends", nargs="+", choices=BACKENDS, default=["ipopt", "sqp"])
    parser.add_argument("--seconds", type=int, default=600, help="of the processor, at most")
    parser.add_argument("--steps", type=int, help="of every problem")
    parser.add_argument("--one", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one:
        resource.setrlimit(resource.RLIMIT_CPU, (options.seconds, options.seconds))
        print("\n" + solved(options.problems[0], options.steps, options.backends[0]))
        return
    rows = []
    for problem in options.problems:
        for backend in options.backends:
            row = [problem, backend, *_run(problem, backend, options)]
            print("\t".join(row), file=sys.stderr, flush=True)
            rows.append(row)
    print(f"\n{machine()}\n")
    head = ["problem", "backend", "optimum, or why there is none", "steps", "iterations", "seconds"]
    print(table(head, rows))


def _run(problem: str, backend: str, options: argparse.Namespace) -> list[str]:
    command = [sys.executable, __file__, "--one", "--problems", problem, "--backends", backend]
    command += ["--seconds", str(options.seconds)]
    if options.steps is not None:
        command += ["--steps", str(options.steps)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode == -signal.SIGKILL:
        return [f"none in {options.seconds} s", "", "", ""]
    if done.returncode:
        return [f"ended the process: {done.stderr.strip()[-100:]}", "", "", ""]
    return done.stdout.splitlines()[-1].split("\t")


if __name__ == "__main__":
    main()
