"""Trajectory optimization: the smooth arm in plain CasADi, a compliant wall in nosnoc, sizes.

All in one run and in turn, so that ratios hold on a busy machine. The wall is stated in `wall`;
nosnoc is left out with a word if it is not installed: ``pip install 'nsopt[bench]'``. The arm is
that of ``arm_7dof`` with its brakes and pads, without the cones of ``arm_least_resistance``, whose
nearest points would be most of the work of either side; their construction is told beside.
"""

import argparse
import json
import resource
import subprocess
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import NamedTuple

import casadi as ca
import numpy as np
from common import Array, in_turn, keep, machine, picture, ratio, table
from wall import NOSNOC, OURS, Answer, nosnoc_way, nsopt_way, true_optimum

from nsopt import CubicLaw, assemble, load_problem
from nsopt.plots.style import COLOURS, SMALL, axis_labels
from nsopt.problem import load_optimization
from nsopt.robots import resistances
from nsopt.trajectory import (
    ActuatorLimits,
    EndAt,
    Horizon,
    HorizonSolver,
    JointResistance,
    Moment,
    Optimization,
    Quintic,
    Smoothness,
    StartAt,
)

FROM = (0.3, 0.6, -0.2, -1.4, 0.1, 0.9, 0.0)  # rad
TO = (-1.1, 1.2, 0.5, -0.7, 0.9, -0.3, 0.6)  # rad
CONES = "arm_least_resistance"
TOLERANCE = HorizonSolver().tolerance
SIZES, FEW = [100, 200, 400, 800, 1600], [100]
MORE = 4
"""Iterations by which the time of one is told, those after the first."""
LONG = 1000  # steps whose construction has a goal
GOAL = 5.0  # s


class Solved(NamedTuple):
    """An optimum and what it took [s]; ``more`` is what optimize adds to be sure of it."""

    build: float
    solve: float
    iterations: int
    optimum: float
    status: str
    more: float = 0.0

    @property
    def total(self) -> float:
        """Time for the optimum, without verification."""
        return self.build + self.solve


def arm(steps: int = 100) -> Optimization:
    """Return the arm from pose to pose in 2 s with least resistance, smoothly."""
    robot, still = load_problem("arm_7dof").dynamics.mechanism, np.zeros(7)
    pads = CubicLaw(peak=40.0, compliance=np.radians(10.0))
    stops = {f"joint{k}": pads for k in (2, 4, 6)}
    return Optimization(
        assemble(robot, resistances(robot, stop=stops), gravity=(0.0, 0.0, -9.81)),
        Horizon(2.0, steps),
        [JointResistance(), Smoothness(weight=0.02)],
        [StartAt(FROM, still), EndAt(TO, still), ActuatorLimits()],
        Quintic(FROM, TO),
    )


def ours(task: Optimization) -> Solved:
    """Return the optimum by `nsopt.trajectory.optimize`."""
    begin = perf_counter()
    result = task.solve()
    wall, a = perf_counter() - begin, result.data.attrs
    build, solve = float(a["compile_time"]), float(result["solve_time"].sum())
    count = round(float(result["iterations"].sum()))
    return Solved(build, solve, count, a["objective"], a["status"], wall - build - solve)


# The same in plain CasADi


@dataclass(frozen=True)
class Plain:
    """Hermite-Simpson collocation in ca.Opti, its stage function in SX, mapped.

    Of what was tried this was the fastest: middles are unknowns of their own (as expressions they
    took more than twice the time), the mass matrix is inverted by Cholesky's factors in SX (the
    linear solve of ``dynamics.acceleration`` took a fifth longer). Derivatives are CasADi's.

    Parameters
    ----------
    inverse : bool
        Unknown are accelerations, and forces are expressions of them; or the other way round.
    expand : bool
        Whether the program is expanded to SX before it is differentiated.
    """

    inverse: bool = False
    expand: bool = False

    def __call__(self, task: Optimization) -> Solved:
        """Return the optimum from the same start with the same tolerance."""
        begin = perf_counter()
        opti = self._program(task)
        opti.solver("ipopt")  # its bounds and start are known from here on
        start = opti.value(opti.x, opti.initial())
        bounds = {"lbg": opti.value(opti.lbg), "ubg": opti.value(opti.ubg)}
        quiet = {"print_level": 0, "sb": "yes", "max_iter": 500}
        ipopt = {**quiet, "tol": TOLERANCE, "constr_viol_tol": TOLERANCE}
        options = {"expand": self.expand, "print_time": False, "ipopt": ipopt}
        solver = ca.nlpsol("plain", "ipopt", {"x": opti.x, "f": opti.f, "g": opti.g}, options)
        built = perf_counter()
        found = solver(x0=start, **bounds)
        done, stats = perf_counter(), solver.stats()
        return Solved(
            built - begin,
            done - built,
            stats["iter_count"],
            float(found["f"]),
            stats["return_status"],
        )

    def _stage(self, task: Optimization) -> ca.Function:
        """Return (q, v, unknown) -> (acceleration, force, cost per second)."""
        d, p = task.dynamics, ca.SX(0, 1)
        q, v, w = (ca.SX.sym(name, d.nv) for name in "qvw")
        M, rest = d.mass(q, p), d.bias(q, v, p) - d.applied(0, q, v, p)
        if self.inverse:
            a, force = w, M @ w + rest
        else:
            R = ca.chol(M)
            a, force = ca.solve(R, ca.solve(R.T, w - rest)), w
        moment = Moment(d, ca.SX(0), q, v, a, p)
        rate = sum(cost.weight * cost.rate(moment) for cost in task.costs)
        return ca.Function("stage", [q, v, w], [a, force, rate], {"cse": True})

    def _program(self, task: Optimization) -> ca.Opti:
        """Return variables, equations, limits and start."""
        n, nv, duration = task.horizon.steps, task.dynamics.nv, task.horizon.bounds[0]
        h, opti, stage = duration / n, ca.Opti(), self._stage(task)
        x, w = opti.variable(2 * nv, n + 1), opti.variable(nv, n + 1)
        xm, wm = opti.variable(2 * nv, n), opti.variable(nv, n)
        a, force, rate = stage.map(n + 1)(x[:nv, :], x[nv:, :], w)
        am, forcem, ratem = stage.map(n)(xm[:nv, :], xm[nv:, :], wm)
        f, fm = ca.vertcat(x[nv:, :], a), ca.vertcat(xm[nv:, :], am)
        x0, x1, f0, f1 = x[:, :-1], x[:, 1:], f[:, :-1], f[:, 1:]
        opti.subject_to(ca.vec(xm - (x0 + x1) / 2 - h / 8 * (f0 - f1)) == 0)
        opti.subject_to(ca.vec(x1 - x0 - h / 6 * (f0 + 4 * fm + f1)) == 0)
        opti.minimize(h / 6 * (ca.sum2(rate[:-1] + rate[1:]) + 4 * ca.sum2(ratem)))
        self._limits(opti, task, ca.vertcat(x, force))
        self._limits(opti, task, ca.vertcat(xm, forcem))
        first, last = task.conditions[:2]
        opti.subject_to(x[:, 0] == np.concatenate([first.q, first.v]))
        opti.subject_to(x[:, -1] == np.concatenate([last.q, last.v]))
        motion = task.guess.course(np.linspace(0, 1, 2 * n + 1), (duration, duration), ())
        unknown = motion.a.T if self.inverse else _forces(task, motion.q, motion.v, motion.a)
        guess = np.vstack([motion.q.T, motion.v.T, unknown])
        for variable, start in ((x, guess[: 2 * nv, ::2]), (w, guess[2 * nv :, ::2])):
            opti.set_initial(variable, start)
        for variable, start in ((xm, guess[: 2 * nv, 1::2]), (wm, guess[2 * nv :, 1::2])):
            opti.set_initial(variable, start)
        return opti

    def _limits(self, opti: ca.Opti, task: Optimization, values: ca.MX) -> None:
        """Keep range, speed and force of the actuators."""
        drives = task.dynamics.mechanism.actuators
        high = [x.upper for x in drives] + [x.velocity for x in drives] + [x.effort for x in drives]
        low = [x.lower for x in drives] + [-y for y in high[len(drives) :]]
        many = values.shape[1]
        opti.subject_to(opti.bounded(np.tile(low, many), ca.vec(values), np.tile(high, many)))


def _forces(task: Optimization, q: Array, v: Array, a: Array) -> Array:
    """Return the forces that a motion takes, a column for each time."""
    stage = Plain(inverse=True)._stage(task)
    return np.asarray(stage.map(len(q))(q.T, v.T, a.T)[1])


def against_casadi(repeats: int, all_ways: bool) -> None:
    """Print the arm by nsopt and in plain CasADi."""
    task = arm()
    ways: dict[str, Callable[[], Solved]] = {
        "nsopt": partial(ours, task),
        "Opti, forward dynamics": partial(Plain(), task),
    }
    if all_ways:
        ways["Opti, inverse dynamics"] = partial(Plain(inverse=True), task)
    found = in_turn(ways, repeats)
    if all_ways:  # too slow to build for a turn of its own
        found["Opti, forward, expanded"] = [Plain(expand=True)(task)]
    base = found["nsopt"]
    rows = [_arm_row(name, runs, base) for name, runs in found.items()]
    head = [f"7-DOF arm, N = {task.horizon.steps}", "build [s]", "solve [s]", "total [s]"]
    head += ["total, ratio", "solve, ratio", "iterations", "optimum", "over nsopt's"]
    print("\n" + table(head, rows))
    print(f"\nnsopt then verifies each step by integration: {median(x.more for x in base):.2f} s")


def _arm_row(name: str, runs: list[Solved], base: list[Solved]) -> list[str]:
    last, paired = runs[-1], base[: len(runs)]
    return [
        name if last.status == "Solve_Succeeded" else f"{name} ({last.status})",
        *(f"{median(getattr(x, y) for x in runs):.2f}" for y in ("build", "solve", "total")),
        f"{ratio([x.total for x in runs], [x.total for x in paired]):.2f}",
        f"{ratio([x.solve for x in runs], [x.solve for x in paired]):.2f}",
        str(last.iterations),
        f"{last.optimum:.4f}",
        f"{last.optimum / base[-1].optimum - 1:+.0e}",
    ]


# A mass thrown at a compliant wall


def against_nosnoc(repeats: int, ours_at: list[int], nosnoc_at: list[tuple[int, int, int]]) -> None:
    """Print the wall by nsopt and nosnoc, from starts that touch it and that do not."""
    true = true_optimum()
    for touching in (True, False):
        ways: dict[str, Callable[[], Answer]] = {
            f"nsopt, {n} steps": partial(nsopt_way, n, touching) for n in ours_at
        }
        try:
            for n, elements, order in nosnoc_at:
                way = nosnoc_way(n, elements, order, touching)
                ways[f"nosnoc, {n} x {elements} elements of order {2 * order - 1}"] = way
        except ImportError as error:
            print(f"\nnosnoc is left out: {error}")
        found = in_turn(ways, repeats)
        base = found[f"nsopt, {OURS[1]} steps"]
        start = "touches the wall" if touching else "turns before the wall"
        head = [f"start that {start}", "build [s]", "solve [s]", "total, ratio", "iterations"]
        head += ["optimum", f"over the true {true:.6f}", "end error, simulated", "said"]
        print("\n" + table(head, [_wall_row(x, found[x], base, true) for x in found]))


def _wall_row(name: str, runs: list[Answer], base: list[Answer], true: float) -> list[str]:
    last = runs[-1]
    return [
        name,
        f"{median(x.build for x in runs):.3f}",
        f"{median(x.solve for x in runs):.3f}",
        f"{ratio([x.total for x in runs], [x.total for x in base]):.1f}",
        str(last.iterations),
        f"{last.optimum:.6f}",
        f"{last.optimum / true - 1:+.1e}",
        f"{last.end_error:.1e}",
        last.said,
    ]


# Sizes, each in a process of its own


def sized(steps: int, iterations: int, cones: bool) -> dict[str, float]:
    """Return what an arm over many steps takes in this process."""
    task = load_optimization(CONES) if cones else arm()
    before = _peak()
    horizon, solver = replace(task.horizon, steps=steps), HorizonSolver(max_iter=iterations)
    solved = ours(replace(task, horizon=horizon, solver=solver))
    return {**solved._asdict(), "before": before, "peak": _peak()}


def _peak() -> float:
    """Return the most memory that this process has had [MB]; rusage counts its parent's in."""
    status = Path("/proc/self/status")
    if not status.exists():
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    line = next(x for x in status.read_text().splitlines() if x.startswith("VmHWM"))
    return float(line.split()[1]) / 1024


def sizes(steps: list[int], with_cones: bool) -> None:
    """Print construction, memory and time an iteration against the number of steps.

    Once is what comes before the first iteration, mostly MUMPS' analysis of the pattern.
    """
    found = {}
    for n in steps:
        one, more = _fresh(n, 1), _fresh(n, 1 + MORE)
        each = (more["solve"] - one["solve"]) / MORE
        found[n] = {**more, "each": each, "once": one["solve"] - each}
    rows = [_size_row(n, x, found[steps[0]], steps[0]) for n, x in found.items()]
    head = ["7-DOF arm, steps", "build [s]", "once [s]", "ms an iteration"]
    head += [
        "us an iteration and step",
        f"over N = {steps[0]}",
        "verify [s]",
        "peak RSS [MB]",
    ]
    print("\n" + table(head, rows))
    for cones in (False, True)[: 1 + with_cones]:
        x = _fresh(LONG, 1, cones)
        word = "met" if x["build"] <= GOAL else "MISSED"
        print(
            f"\nconstruction for N = {LONG}{', with cones' if cones else ''}: {x['build']:.2f} s, "
            f"goal {GOAL:g} s: {word}; peak RSS {x['peak']:.0f} MB, {x['before']:.0f} MB before"
        )
    _draw(found)


def _fresh(steps: int, iterations: int, cones: bool = False) -> dict[str, float]:
    """Return `sized` of a fresh process."""
    call = [sys.executable, __file__, "--size", *(str(x) for x in (steps, iterations, int(cones)))]
    done = subprocess.run(call, capture_output=True, text=True, check=True)
    return json.loads(done.stdout.splitlines()[-1])


def _size_row(n: int, x: Mapping[str, float], first: Mapping[str, float], n0: int) -> list[str]:
    each, each0 = x["each"] / n, first["each"] / n0
    return [
        str(n),
        f"{x['build']:.2f}",
        f"{x['once']:.2f}",
        f"{1e3 * each * n:.0f}",
        f"{1e6 * each:.0f}",
        f"{each / each0:.2f}",
        f"{x['more']:.1f}",
        f"{x['peak']:.0f}",
    ]


def _draw(found: Mapping[int, Mapping[str, float]]) -> None:
    """Draw time an iteration, construction and memory against the number of steps."""
    figure, axes = picture("The 7-DOF arm over N steps", 2, (9.0, 3.8))
    n = np.array(list(found))
    each = np.array([x["each"] for x in found.values()])
    build = [x["build"] for x in found.values()]
    axes[0, 0].loglog(n, each, marker="o", color=COLOURS[0], label="an iteration")
    axes[0, 0].loglog(n, build, marker="s", color=COLOURS[1], label="construction")
    axes[0, 0].loglog(n, each[0] * n / n[0], ":", color="grey", label="in proportion to N")
    axes[0, 0].legend(fontsize=SMALL, frameon=False)
    axis_labels(axes[0, 0], "steps N", "time [s]")
    axes[0, 1].plot(n, [x["peak"] for x in found.values()], marker="o", color=COLOURS[2])
    axes[0, 1].set_ylim(bottom=0)
    axis_labels(axes[0, 1], "steps N", "peak memory of the process [MB]")
    keep(figure, "trajectory")


def main() -> None:
    """Print the three tables; draw the sizes."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("parts", nargs="*", choices=[*PARTS, []], help="by default all of them")
    parser.add_argument("--quick", action="store_true", help="once each, small sizes")
    parser.add_argument("--size", type=int, nargs=3, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.size:
        steps, iterations, cones = options.size
        print(json.dumps(sized(steps, iterations, bool(cones))))
        return
    for name in options.parts or PARTS:
        print(f"\n{machine()}")
        PARTS[name](options.quick)


PARTS: dict[str, Callable[[bool], None]] = {
    "arm": lambda quick: against_casadi(1 if quick else 2, all_ways=not quick),
    "wall": lambda quick: against_nosnoc(
        1 if quick else 2, OURS[:2] if quick else OURS, NOSNOC[:1] if quick else NOSNOC
    ),
    "sizes": lambda quick: sizes(FEW if quick else SIZES, not quick),
}

if __name__ == "__main__":
    main()
