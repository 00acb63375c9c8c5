"""Loops over arrays, compiled by numba: elimination, Newton's method, complementarity, steps.

Kernels know neither CasADi nor mechanics: a program is the addresses of machine code that evaluates
it, and index arrays. From the outside in::

    chain         attempt after attempt: choose h, solve, judge, accept or try a smaller h
    newton        full steps on the min map of a program, else the search
    search        proximal points, each by damped steps
    steps         evaluate at x, find Newton's direction, go along it
    min_map       which alternative of a pair, box or disc holds
    elimination   the matrix assembled from terms, and eliminated in a fixed order
    plan, square  that order, and a program as arrays: made once, in Python

With NUMBA_DISABLE_JIT=1 all of it runs as Python, for a debugger.
"""

import warnings
from typing import Any

import numpy as np

from nsopt.kernels.square import Sizes, Square, make_square, pack, workspace_sizes
from nsopt.kernels.tables import ChainCode, NewtonNumbers, PackedPrograms

__all__ = [
    "ChainCode",
    "NewtonNumbers",
    "PackedPrograms",
    "Sizes",
    "Square",
    "compile_kernels",
    "make_square",
    "pack",
    "run_chain",
    "workspace_sizes",
]


_compiled: list[bool] = []
"""Filled by the first call of this process."""


def run_chain(
    chain: ChainCode,
    tables: PackedPrograms,
    options: NewtonNumbers,
    z: Any,
    parameters: Any,
    records: Any,
) -> int:
    """Make attempts at steps; see `nsopt.kernels.chain.make_attempts`."""
    from nsopt.kernels import chain as kernels  # numba takes half a second to import

    given = (chain, tables, options, z, parameters, records)
    if not _compiled:
        _compiled.append(True)
        try:
            with kernels.tell_compilation():
                return int(kernels.run_chain(*given))
        except OSError as error:  # of the disk, once they are compiled
            warnings.warn(f"the kernels cannot be kept on the disk: {error}", stacklevel=2)
            kernels.run_chain = kernels.kept_kernel(kernels.VERSION, keep=False)
    return int(kernels.run_chain(*given))


def compile_kernels() -> None:
    """Compile the kernels, or load them where this machine has them: a chain without programs."""
    none, zero = np.zeros(0, dtype=np.int64), np.zeros(1, dtype=np.int64)
    chain = ChainCode(0, 0, 0, 0, 0, 0, 0, 0, 0, 1.0, 1.0)
    options = NewtonNumbers(1e-11, 1e-8, 1, 0.0, 0.1, 0.3, 10.0, 0.01, 1, 0, 0)
    run_chain(
        *(chain, PackedPrograms(none, zero, zero, none, none), options),
        *(np.zeros(4), np.zeros(4), np.zeros((0, 1))),
    )
