"""Loops over arrays, compiled by numba: elimination, Newton's method, complementarity, steps.

Kernels know neither CasADi nor mechanics: a program is the addresses of machine code that evaluates
it, and index arrays. From the outside in::

    entries       what Python calls, compiled once on a machine
    chain         attempt after attempt: choose h, solve, judge, accept or try a smaller h
    newton        full steps on the min map of a program, else the search
    search        proximal points, each by damped steps
    steps         evaluate at x, find Newton's direction, go along it
    min_map       which alternative of a pair, box or disc holds
    elimination   the matrix assembled from terms, and eliminated in a fixed order
    dense         small systems by themselves, with pivots found in each; products
    plan, square  that order, and a program as arrays: made once, in Python

With NUMBA_DISABLE_JIT=1 all of it runs as Python, for a debugger.
"""

from typing import Any

import numpy as np

from nsopt.arrays import Array
from nsopt.kernels.square import (
    Sizes,
    Square,
    Workspace,
    make_square,
    own_terms,
    pack,
    terms_of_rows,
    workspace_sizes,
)
from nsopt.kernels.tables import ChainCode, NewtonNumbers, PackedPrograms

__all__ = [
    "ChainCode",
    "NewtonNumbers",
    "PackedPrograms",
    "Sizes",
    "Square",
    "Workspace",
    "compile_kernels",
    "make_square",
    "multiply_matrices",
    "own_terms",
    "pack",
    "run_chains",
    "solve_square",
    "solve_systems",
    "terms_of_rows",
    "workspace_sizes",
]


def run_chains(
    chain: ChainCode,
    tables: PackedPrograms,
    options: NewtonNumbers,
    z: Any,
    parameters: Any,
    records: Any,
) -> int:
    """Run chains of steps; see `nsopt.kernels.chain.run_chains`."""
    from nsopt.kernels.entries import compile_entries  # numba takes half a second to import

    run = compile_entries().run_chains
    return int(run(chain, tables, options, z, parameters, records))


def solve_square(
    p: Any,
    space: Any,
    evaluate: int,
    complete: int,
    options: NewtonNumbers,
    last: bool,
    share: float,
) -> tuple[float, int]:
    """Solve a square program; see `nsopt.kernels.newton.solve`."""
    from nsopt.kernels.entries import compile_entries

    run = compile_entries().solve
    residual, steps = run(p, space, evaluate, complete, options, last, share, False)
    return float(residual), int(steps)


def solve_systems(A: Array, b: Array) -> Array:
    """Return x with A x = b, by least squares where A is singular; NaN where b has a NaN.

    Parameters
    ----------
    A : (n, m, m)
    b : (n, m, k)

    Returns
    -------
    (n, m, k)
    """
    from nsopt.kernels.entries import compile_dense

    x, singular = np.array(b, dtype=float, order="C"), np.zeros(len(b), dtype=bool)
    compile_dense().solve(np.ascontiguousarray(A), x, singular)
    for s in np.flatnonzero(singular):
        known = np.isfinite(b[s]).all(axis=0)
        x[s][:, known] = np.linalg.lstsq(A[s], b[s][:, known], rcond=None)[0]
        x[s][:, ~known] = np.nan
    return x


def multiply_matrices(A: Array, B: Array) -> Array:
    """Return A B of matrices at many nodes; a zero of A counts for nothing, of a NaN of B too.

    By the calling thread alone: threads of BLAS wait for each other on a busy machine, for a
    hundred times as long as a small product takes, and its bits depend on their number.

    Parameters
    ----------
    A : (n, m, k)
    B : (n, k, l)

    Returns
    -------
    (n, m, l)
    """
    from nsopt.kernels.entries import compile_dense

    x = np.zeros((*A.shape[:2], B.shape[2]))
    compile_dense().multiply(np.ascontiguousarray(A), np.ascontiguousarray(B), x)
    return x


def compile_kernels() -> None:
    """Compile the kernels, or load them where this machine has them."""
    from nsopt.kernels.entries import compile_dense, compile_entries

    compile_entries()
    compile_dense()
