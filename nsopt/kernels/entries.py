"""The kernels that Python calls, compiled once on a machine.

What numba keeps it finds again by the file and the closure of a function alone. So the version of
all kernels is in both.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any, NamedTuple

import numba
import numpy as np

from nsopt.kernels.chain import run_chains
from nsopt.kernels.dense import multiply_dense, solve_dense
from nsopt.kernels.newton import solve
from nsopt.kernels.tables import ChainCode, NewtonNumbers, PackedPrograms


def _hash_sources() -> str:
    """Return what changes whenever a kernel does."""
    total = sha256()
    for path in sorted(Path(__file__).parent.glob("*.py")):
        total.update(path.read_bytes())
    return total.hexdigest()[:16]


VERSION = _hash_sources()


def _make_run_chains(version: str) -> Callable[..., Any]:
    def run(chain: Any, tables: Any, options: Any, z: Any, parameters: Any, records: Any) -> int:
        _ = version
        return run_chains(chain, tables, options, z, parameters, records)

    return run


def _make_solve(version: str) -> Callable[..., Any]:
    def run(
        p: Any,
        space: Any,
        evaluate: int,
        complete: int,
        options: Any,
        last: bool,
        share: float,
        goes_on: bool,
    ) -> Any:
        _ = version
        return solve(p, space, evaluate, complete, options, last, share, goes_on)

    return run


class KernelEntries(NamedTuple):
    """The kernels that Python calls; or one thing for each, as what makes it."""

    run_chains: Any
    solve: Any


def _typical_arguments() -> KernelEntries:
    """Return arguments of each entry, of the types for which they are compiled."""
    indices, numbers = np.zeros(0, dtype=np.int64), np.zeros(0)
    table = np.zeros((0, 0))
    chain = ChainCode(0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1.0, 1.0)
    options = NewtonNumbers(1e-11, 1e-8, 1, 0.0, 0.1, 0.3, 10.0, 0.01, 1, 0, 0)
    programs = PackedPrograms(indices, indices, indices, indices, 0)
    return KernelEntries(
        (chain, programs, options, table, table, table),
        (indices, numbers, 0, 0, options, False, 1.0, False),
    )


def _begin(make: Callable[[str], Any], *, keep: bool) -> Any:
    """Return an entry, compiled at its first call, and kept where a folder can be written."""
    run = make(VERSION)
    run.__qualname__ += f"_{VERSION}"  # a file of its own, so that versions do not mix
    how: dict[str, Any] = {"nogil": True, "error_model": "numpy"}
    try:
        return numba.njit(cache=keep, **how)(run)
    except RuntimeError:  # of numba, where it finds no folder to write
        return numba.njit(**how)(run)


@cache
def compile_entries() -> KernelEntries:
    """Return the entries, compiled now, or loaded where this machine has them.

    All at once: most of the time goes to kernels that they share.
    """
    makers = KernelEntries(_make_run_chains, _make_solve)
    entries = [_begin(make, keep=True) for make in makers]
    if numba.config.DISABLE_JIT:  # type: ignore[attr-defined]
        return KernelEntries._make(entries)
    with _tell_compilation(entries[0]):
        return KernelEntries._make(map(_compile, entries, makers, _typical_arguments()))


class DenseEntries(NamedTuple):
    """`solve_dense` and `multiply_dense`, as Python calls them."""

    solve: Any
    multiply: Any


@cache
def compile_dense() -> DenseEntries:
    """Return these, compiled or loaded by themselves: optimizations need no other kernel."""

    def make_solve(version: str) -> Callable[..., Any]:
        def run(A: Any, x: Any, singular: Any) -> None:
            _ = version
            solve_dense(A, x, singular)

        return run

    def make_multiply(version: str) -> Callable[..., Any]:
        def run(A: Any, B: Any, x: Any) -> None:
            _ = version
            multiply_dense(A, B, x)

        return run

    makers = DenseEntries(make_solve, make_multiply)
    entries = [_begin(make, keep=True) for make in makers]
    if numba.config.DISABLE_JIT:  # type: ignore[attr-defined]
        return DenseEntries._make(entries)
    matrices = np.zeros((0, 0, 0))
    arguments = (matrices, matrices, np.zeros(0, dtype=bool)), (matrices, matrices, matrices)
    return DenseEntries._make(map(_compile, entries, makers, arguments))


def _compile(entry: Any, make: Callable[[str], Any], arguments: tuple[Any, ...]) -> Any:
    """Return an entry compiled for typical arguments, by another ``make`` if it cannot be kept."""
    types = tuple(map(numba.typeof, arguments))
    try:
        entry.compile(types)
    except OSError as error:  # of the disk, once it is compiled
        warnings.warn(f"the kernels cannot be kept on the disk: {error}", stacklevel=2)
        entry = _begin(make, keep=False)
        entry.compile(types)
    return entry


@contextmanager
def _tell_compilation(entry: Any) -> Iterator[None]:
    """Say on stderr that the kernels are compiled within, where this machine has not done so."""
    folder = entry.stats.cache_path
    mark = Path(folder, f"nsopt-kernels-{VERSION}") if folder else None
    if not (mark and mark.exists()):
        once = "once on this machine" if mark else "in each process, as no folder can be written"
        print(f"nsopt: compiling its kernels, half a minute, {once} ...", file=sys.stderr)
    yield
    if mark:
        with suppress(OSError):
            mark.touch()
