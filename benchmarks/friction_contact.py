"""Published friction-contact problems by kind: how many are solved, to which residual, how fast.

python benchmarks/friction_contact.py FOLDER [--most 1000] [--newton 60]

Reads the files that Siconos tests its solvers with (folder numerics/src/FrictionContact/test/data
of its sources: steps of rovers, capsules, confetti, spheres, towers, from its own runs and from the
collection FCLIB), ``*.dat`` and ``*.hdf5``, as W, q and mu of

    u = W r + q,  0 <= u_n _|_ r_n >= 0,  |r_t| <= mu r_n,  r_t = -mu r_n u_t / |u_t|.

As in the retries of a simulation: `Newton` of compiled steps, where it is not too
large to be eliminated by straight-line code; where it fails, `Ipopt` by Scholtes' relaxation. The
residual is that of both projections [Acary, Bremond, Huber 2018], over the size of r.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from time import process_time
from typing import NamedTuple

import casadi as ca
import h5py
import numpy as np
import scipy
from common import Array, machine, table

from nsopt.mpcc import Ipopt, Mpcc, Newton, Scholtes, Solver, SquareSolver
from nsopt.simulation.retry import GRADUAL

SOLVED = 1e-8
OTHERS = ("GFC", "RFC", "rfc", "FC2D", "FrictionContactProblem", "ACinputs")
"""Files with mass matrices, rolling, of the plane, or no problem at all."""

DENSE, BLOCKS = 0, 1
"""How a file holds its matrix."""


class Problem(NamedTuple):
    """One problem: W (3n, 3n), q (3n,), mu (n,); entries of a contact: normal, two tangents."""

    name: str
    W: Array
    q: Array
    mu: Array

    @property
    def kind(self) -> str:
        """The mechanism it is a step of."""
        return re.split(r"\d|[-_](?=i?\d)|-ex", self.name)[0]


def read(path: Path) -> Problem | None:
    """Return the problem of a file; None where it is of the plane or of another form."""
    if path.suffix == ".hdf5":
        return _fclib(path)
    numbers = Numbers(path)
    try:
        dimension, contacts, storage = numbers.whole(3)
        n, m = numbers.whole(2)
        if dimension != 3 or storage not in (DENSE, BLOCKS) or not n == m == 3 * contacts:
            return None
        W = _dense(numbers) if storage == DENSE else _blocks(numbers, n)
        return Problem(path.stem.removesuffix(".hdf5"), W, numbers.real(n), numbers.real(contacts))
    except (StopIteration, ValueError):
        return None


class Numbers:
    """The numbers of a file, one after another."""

    def __init__(self, path: Path) -> None:
        self._words = iter(path.read_text().split())

    def whole(self, count: int = 1) -> list[int]:
        """Return the next whole numbers."""
        return [int(next(self._words)) for _ in range(count)]

    def real(self, count: int) -> Array:
        """Return the next numbers, (count,)."""
        words = [next(self._words) for _ in range(count)]
        return np.array([float(word) for word in words])


def _dense(numbers: Numbers) -> Array:
    rows, columns = numbers.whole(2)
    values: Array = numbers.real(rows * columns).reshape(rows, columns)
    return values


def _blocks(numbers: Numbers, n: int) -> Array:
    W = np.zeros((n, n))
    _, rows, columns = numbers.whole(3)
    ends = [[0, *numbers.whole(k)] for k in (rows, columns)]
    filled = numbers.whole(2)
    starts, where = numbers.whole(filled[0]), numbers.whole(filled[1])
    for i in range(len(starts) - 1):
        for k in range(starts[i], starts[i + 1]):
            j = where[k]
            row, column = (slice(ends[a][x], ends[a][x + 1]) for a, x in ((0, i), (1, j)))
            size = row.stop - row.start, column.stop - column.start
            if numbers.whole() != [k]:
                raise ValueError(f"block {k} is not where it should be")
            W[row, column] = numbers.real(size[0] * size[1]).reshape(size, order="F")
    return W


def _fclib(path: Path) -> Problem:
    """Return a problem of FCLIB; a global one, M v = H r + f, u = H^T v + w, is reduced."""
    with h5py.File(path) as file:
        if "fclib_local" in file:
            local = file["fclib_local"]
            W, q = _sparse(local["W"]).toarray(), local["vectors/q"][:]
        else:
            local = file["fclib_global"]
            M, H = _sparse(local["M"]), _sparse(local["H"])
            by = scipy.sparse.linalg.spsolve(M.tocsc(), H.tocsc())
            W = (H.T @ by).toarray()
            q = by.T @ local["vectors/f"][:] + local["vectors/w"][:]
        return Problem(path.stem, W, np.asarray(q), local["vectors/mu"][:])


def _sparse(group: h5py.Group) -> scipy.sparse.spmatrix:
    """Return a matrix: by columns, by rows, or entry by entry."""
    columns, rows, count = -1, -2, int(group["nz"][0])
    shape = int(group["m"][0]), int(group["n"][0])
    x, i, p = (group[name][:] for name in ("x", "i", "p"))
    if count == columns:
        return scipy.sparse.csc_matrix((x, i, p), shape)
    if count == rows:
        return scipy.sparse.csr_matrix((x, i, p), shape)
    return scipy.sparse.coo_matrix((x[:count], (i[:count], p[:count])), shape)


def stated(problem: Problem) -> Mpcc:
    """Return the program, whose scales make impulses and slips about one."""
    n = problem.mu.size
    diagonal = np.maximum(np.diag(problem.W), 1e-12)
    speed = np.abs(problem.q).max() or 1.0
    push = speed / diagonal.mean()
    m = Mpcc("contacts")
    normal = m.variable("normal", n, scale=push)
    tangent = m.variable("tangent", 2 * n, scale=push)
    r = ca.SX.zeros(3 * n)
    r[0::3] = normal
    for k in (0, 1):
        r[1 + k :: 3] = tangent[k::2]
    u = ca.DM(problem.W) @ r + ca.DM(problem.q)
    slip = ca.vertcat(*(u[3 * i + 1 + k] for i in range(n) for k in (0, 1)))
    rho = 1 / np.maximum(diagonal[1::3], diagonal[2::3])
    m.complement("press", u[0::3], normal, scale=(speed, push))
    sizes = (push, speed)
    m.disc("rub", tangent, slip, radius=ca.DM(problem.mu) * normal, scale=sizes, rho=ca.DM(rho))
    return m


def residual(problem: Problem, x: Array) -> float:
    """Return by how far r is from its projections, over its size."""
    n, W = problem.mu.size, problem.W
    r = np.zeros(3 * n)
    r[0::3], r[1::3], r[2::3] = x[:n], x[n::2], x[n + 1 :: 2]
    u = W @ r + problem.q
    rho = 1 / np.maximum(np.diag(W), 1e-12)
    off = [np.minimum(r[0::3], rho[0::3] * u[0::3])]
    ahead = np.column_stack([r[k::3] - rho[1::3] * u[k::3] for k in (1, 2)])
    limit = problem.mu * np.maximum(r[0::3], 0)
    size = np.linalg.norm(ahead, axis=1)
    held = ahead * np.minimum(1, limit / np.maximum(size, 1e-300))[:, None]
    off += [r[k::3] - held[:, k - 1] for k in (1, 2)]
    largest = np.max(np.abs(r)) or 1.0
    return float(np.abs(np.concatenate(off)).max() / largest)


def by_newton(problem: Problem) -> Array:
    """Return what Newton finds from zero, at last by proximal points."""
    program = stated(problem)
    x, _, _ = SquareSolver(program, Newton())(np.zeros(3 * problem.mu.size), [])
    return x * float(program.variables[0].scale[0])


def by_ipopt(problem: Problem) -> Array:
    """Return what IPOPT finds."""
    solver = Solver(relaxation=Scholtes(), backend=Ipopt(), schedules=(GRADUAL,))
    solution = solver.build(stated(problem)).solve()
    return np.concatenate([solution["normal"], solution["tangent"]])


SOLVERS = {"Newton": by_newton, "Ipopt": by_ipopt}


class Trial(NamedTuple):
    """What solved a problem, to which residual, in how many seconds of the processor in all."""

    contacts: int
    by: str
    residual: float
    seconds: float


def solved(problem: Problem, newton: int) -> Trial:
    """Return the end of the solvers in turn, that of least residual where none solves."""
    n, best, begin = problem.mu.size, ("none", np.inf), process_time()
    for name, solver in SOLVERS.items():
        if name == "Newton" and n > newton:
            continue
        off = residual(problem, solver(problem))
        if off < SOLVED:
            return Trial(n, name, off, process_time() - begin)
        best = "none", min(best[1], off)
    return Trial(n, *best, process_time() - begin)


def problems(folder: Path, most: int) -> Iterator[Problem]:
    """Yield the problems of a folder with at most ``most`` contacts."""
    for path in sorted(x for x in folder.iterdir() if x.suffix in (".dat", ".hdf5")):
        if path.name.startswith(OTHERS):
            continue
        problem = read(path)
        if problem is None:
            print(f"{path.name}: of another form", file=sys.stderr)
        elif problem.mu.size > most:
            print(f"{path.name}: {problem.mu.size} contacts", file=sys.stderr)
        else:
            yield problem


def main(arguments: list[str]) -> int:
    """Run the benchmark; the exit code tells whether all was solved."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--most", type=int, default=1000, help="contacts (default 1000)")
    parser.add_argument("--newton", type=int, default=60, help="contacts that Newton gets at most")
    chosen = parser.parse_args(arguments)
    print(machine())
    rows: dict[str, list[Trial]] = {}
    for problem in problems(chosen.folder, chosen.most):
        x = solved(problem, chosen.newton)
        rows.setdefault(problem.kind, []).append(x)
        print(f"{problem.name}: {x.contacts} contacts, {x.by}, {x.residual:.1e}, "
              f"{x.seconds:.2g} s", file=sys.stderr, flush=True)  # fmt: skip
    lines = [
        [
            *(kind, str(len(part)), f"{min(x[0] for x in part)} ... {max(x[0] for x in part)}"),
            *(str(sum(x.by == by for x in part)) for by in SOLVERS),
            f"{max(x.residual for x in part):.1e}",
            f"{np.median([x.seconds for x in part]):.2g}",
        ]
        for kind, part in rows.items()
    ]
    names = (f"by {name}" for name in SOLVERS)
    head = ("kind", "problems", "contacts", *names, "largest residual", "median time [s]")
    print(table(head, lines))
    return int(any(x.by == "none" for part in rows.values() for x in part))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
