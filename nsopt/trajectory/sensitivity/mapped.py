"""Expressions evaluated at many points, by compiled code where the compiler pays off."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

import casadi as ca
import numpy as np
from numpy.typing import NDArray

from nsopt.mpcc import Evaluator, compile_native

Array = NDArray[np.float64]

BATCH = 50
"""Points evaluated in one call."""

WORTH_COMPILING = 20_000
"""Points from which compiled code saves more time than the compiler takes."""


class Mapped:
    """Matrices of expressions, evaluated at many points.

    CasADi's virtual machine evaluates the first `WORTH_COMPILING` points, compiled code the rest.

    Parameters
    ----------
    name : str
    symbols : list of SX
        Columns.
    outputs : list of SX
    """

    def __init__(self, name: str, symbols: list[ca.SX], outputs: list[ca.SX]) -> None:
        # A C compiler takes far longer for one large function than for several small ones.
        parts = [
            ca.Function(f"{name}_{k}", symbols, [ca.densify(y)], {"cse": True})
            for k, y in enumerate(outputs)
        ]
        given = [ca.MX.sym(f"in_{k}", x.numel()) for k, x in enumerate(symbols)]
        self._function = ca.Function(name, given, [part(*given) for part in parts])
        self._shapes = [y.shape for y in outputs]
        self._sizes = [x.numel() for x in symbols]
        self._done = 0

    @cached_property
    def _virtual(self) -> Evaluator:
        return Evaluator(self._function.map(BATCH))

    @cached_property
    def _compiled(self) -> Evaluator:
        return Evaluator(compile_native(self._function.map(BATCH)).function)

    def compile(self) -> None:
        """Use compiled code from now on."""
        self._done = WORTH_COMPILING

    def __call__(self, count: int, columns: Sequence[Array]) -> list[Array]:
        """Return the outputs at ``count`` points, each transposed: (count, columns, rows).

        Parameters
        ----------
        count : int
            At most `BATCH`.
        columns : sequence of (count, size), or (size,) where it is the same at all
            (count,) for a single number that varies.
        """
        # A batch of fewer points is filled up with the last one.
        rows = np.minimum(np.arange(BATCH), count - 1)
        filled = [
            np.tile(a, BATCH) if a.shape == (size,) else a.reshape(count, size)[rows]
            for a, size in zip(columns, self._sizes, strict=True)
        ]
        call = self._compiled if self._done >= WORTH_COMPILING else self._virtual
        values = call(*(a.ravel() for a in filled))
        self._done += count
        return [
            value.reshape(BATCH, n, m)[:count]
            for value, (m, n) in zip(values, self._shapes, strict=True)
        ]
