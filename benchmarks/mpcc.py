"""Programs with complementarity against the least of all their branches.

Each program is solved by a Solver's own defaults from its own guess, and every point that is called
solved is tested again here, by solving the linear program of each branch of its biactive pairs.
"""

from __future__ import annotations

import argparse
import sys
from dataclasses import dataclass
from itertools import product

import casadi as ca
import numpy as np
import scipy
from common import Array, machine, table
from mpcc_families import Stated, programs

from nsopt.mpcc import STEP, Backend, Ipopt, Mpcc, Scholtes, Solution, Solver, Sqp

BACKENDS: dict[str, Backend] = {"ipopt": Ipopt(), "sqp": Sqp()}
TOLERANCE = 1e-7
"""By which a point may miss a constraint of its branch."""

ZERO = 1e-6
"""Below which a half of a pair, or the room of a limit, counts as zero."""


@dataclass(frozen=True)
class Linear:
    """A program with linear constraints: f = x P x / 2 + q x + r, A x + a = 0 and so on."""

    P: Array
    q: Array
    r: float
    equations: tuple[Array, Array]
    limits: tuple[Array, Array]
    G: tuple[Array, Array]
    H: tuple[Array, Array]
    lower: Array
    upper: Array

    @classmethod
    def of(cls, m: Mpcc) -> Linear:
        """Read a program off its expressions, in physical units."""
        x = ca.vertcat(*(v.scaled for v in m.variables))
        n = x.numel()
        hessian, _ = ca.hessian(m.objective, x)
        gradient = ca.gradient(m.objective, x)

        def rows(parts: list[ca.SX]) -> tuple[Array, Array]:
            expr = ca.vertcat(ca.SX(0, 1), *parts)
            J = ca.jacobian(expr, x)
            assert not ca.depends_on(J, x), f"{m.name}: not linear"
            at = ca.substitute(expr, x, ca.SX.zeros(n))
            return np.array(ca.DM(J)), np.array(ca.DM(at)).ravel()

        def bounds(name: str) -> Array:
            return np.concatenate([np.array(ca.DM(getattr(v, name))).ravel() for v in m.variables])

        zero = ca.SX.zeros(n)
        return cls(
            np.array(ca.DM(hessian)),
            np.array(ca.DM(ca.substitute(gradient, x, zero))).ravel(),
            float(ca.DM(ca.substitute(m.objective, x, zero))),
            rows([b.expr for b in m.equalities]),
            rows([b.expr for b in m.inequalities]),
            rows([b.G for b in m.pairs]),
            rows([b.H for b in m.pairs]),
            bounds("lower"),
            bounds("upper"),
        )

    def value(self, x: Array) -> float:
        """Return f."""
        return float(x @ self.P @ x / 2 + self.q @ x + self.r)

    def rows(self) -> tuple[Array, Array, Array]:
        """Return the rows of every branch with lower bounds, and upper ones but for pairs."""
        A = np.vstack([self.equations[0], self.limits[0], self.G[0], self.H[0]])
        lower = np.concatenate([-self.equations[1], np.full(self.limits[1].size, -np.inf)])
        upper = np.concatenate([-self.equations[1], -self.limits[1]])
        return A, lower, upper


def least(program: Linear) -> float:
    """Return the least f of all branches by a QP solver, infinite if none is feasible."""
    A, low, high = program.rows()
    sparsity = {"h": ca.Sparsity.dense(*program.P.shape), "a": ca.Sparsity.dense(*A.shape)}
    quiet = {"error_on_fail": False, "print_time": False}
    solver = ca.conic("branch", "piqp", sparsity, quiet)
    G, H = -program.G[1], -program.H[1]
    lower = np.concatenate([low, G, H])
    known = {"h": program.P, "g": program.q, "a": A, "lba": lower}
    best = np.inf
    for choice in product([True, False], repeat=G.size):
        closed = np.array(choice)
        upper = np.concatenate([high, np.where(closed, G, np.inf), np.where(closed, np.inf, H)])
        end = solver(**known, uba=upper, lbx=program.lower, ubx=program.upper)
        x = np.array(end["x"]).ravel()
        rows = np.concatenate([A @ x, x])
        off = np.maximum(
            np.append(lower, program.lower) - rows, rows - np.append(upper, program.upper)
        )
        if solver.stats()["success"] and off.max() < TOLERANCE:
            best = min(best, program.value(x))
    return best


def fall(program: Linear, x: Array) -> float:
    """Return by how much f falls per unit of the best direction over all branches at a point."""
    G, H = (A @ x + a for A, a in (program.G, program.H))
    biactive = np.flatnonzero((ZERO > G) & (ZERO > H))
    slope = program.P @ x + program.q
    limits = program.limits[0][program.limits[0] @ x + program.limits[1] > -ZERO]
    bounds = [
        (0 if value - low < ZERO else -1, 0 if high - value < ZERO else 1)
        for value, low, high in zip(x, program.lower, program.upper, strict=True)
    ]
    worst = 0.0
    for choice in product([True, False], repeat=biactive.size):
        closed = G < H
        closed[biactive] = choice
        held = np.where(closed[:, None], program.G[0], program.H[0])
        free = -np.where(closed[:, None], program.H[0], program.G[0])[biactive]
        end = scipy.optimize.linprog(
            slope,
            A_ub=np.vstack([limits, free]),
            b_ub=np.zeros(len(limits) + len(free)),
            A_eq=np.vstack([program.equations[0], held]),
            b_eq=np.zeros(len(program.equations[0]) + len(held)),
            bounds=bounds,
        )
        worst = max(worst, -float(end.fun))
    return worst / max(float(np.abs(y).max()) for y in (slope, program.q, np.array([1e-12])))


@dataclass(frozen=True)
class Row:
    """One program solved."""

    name: str
    pairs: int
    solution: Solution
    best: float
    fall: float

    @property
    def reached(self) -> bool:
        """Whether it is solved, and the least of all branches."""
        return self.solution.ok and self.solution.objective < self.best + 1e-5 * (
            1 + abs(self.best)
        )

    @property
    def false(self) -> bool:
        """Whether it is called solved, and some direction lowers f."""
        return self.solution.ok and self.fall > 1e-5


def solved(stated: Stated, backend: Backend) -> Row:
    """Solve a program."""
    mpcc = stated.program()
    linear = Linear.of(mpcc)
    solution = Solver(backend=backend).build(mpcc).solve()
    x = np.concatenate([solution[v.name] for v in mpcc.variables])
    return Row(stated.name, linear.G[1].size, solution, least(linear), fall(linear, x))


def alone(rows: list[Row], backend: Backend) -> str:
    """Return how the backend does without homotopy and phase II: G, H >= 0 and G H <= 1e-10."""
    solver = Solver(backend=backend, relaxation=Scholtes(), schedules=[(1e-10,)], retries=0)
    best = {row.name: row.best for row in rows}
    feasible = reached = 0
    time = 0.0
    for stated in programs():
        end = solver.build(stated.program(), STEP).solve()
        near = best[stated.name] + 1e-5 * (1 + abs(best[stated.name]))
        feasible += end.ok
        reached += end.ok and end.objective < near
        time += end.time
    own = sum(row.solution.time for row in rows)
    return (
        f"in one program at sigma 1e-10: {feasible} feasible, {reached} at the least of all "
        f"branches, {time:.2g} s against {own:.2g} s"
    )


def main(arguments: list[str]) -> int:
    """Run the benchmark; the exit code counts points that are falsely called solved."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--backends", nargs="+", choices=[*BACKENDS], default=[*BACKENDS])
    chosen = parser.parse_args(arguments)
    print(machine())
    false = 0
    for name in chosen.backends:
        rows = [solved(stated, BACKENDS[name]) for stated in programs()]
        lines = [
            [
                row.name,
                str(row.pairs),
                "yes" if row.solution.ok else "no",
                f"{row.solution.objective:.6g}",
                f"{row.best:.6g}",
                f"{row.fall:.1e}",
                str(row.solution.iterations),
                f"{1e3 * row.solution.time:.0f}",
            ]
            for row in rows
        ]
        head = ("program", "pairs", "solved", "f", "least", "fall", "iterations", "ms")
        print(f"\n{name}\n{table(head, lines)}")
        counts = (sum(r.solution.ok for r in rows), sum(r.reached for r in rows))
        print(f"{len(rows)} programs, {counts[0]} solved, {counts[1]} at the least of all branches")
        print(alone(rows, BACKENDS[name]))
        false += sum(row.false for row in rows)
    print(f"{false} falsely called solved")
    return min(false, 1)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
