"""Expressions evaluated at many places, by compiled code where that is worth it."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

import casadi as ca
import numpy as np
from numpy.typing import NDArray

from nsopt.mpcc import Evaluator, compile_native

Array = NDArray[np.float64]

PLACES = 50
"""In one call."""

WORTH = 20_000
"""Places from which the seconds of a compiler are made up for."""


class Mapped:
    """Matrices of expressions at many places.

    CasADi's virtual machine evaluates the first ones, compiled code the rest if there are many.

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
        return Evaluator(self._function.map(PLACES))

    @cached_property
    def _compiled(self) -> Evaluator:
        return Evaluator(compile_native(self._function.map(PLACES)).function)

    def compile(self) -> None:
        """Make compiled code now."""
        self._done = WORTH

    def __call__(self, count: int, columns: Sequence[Array]) -> list[Array]:
        """Return the outputs at ``count`` places, each transposed: (count, columns, rows).

        Parameters
        ----------
        count : int
            At most `PLACES`.
        columns : sequence of (count, size), or (size,) where it is the same everywhere
            Of what has one entry (count,) too.
        """
        # The last place once more, where they are fewer.
        rows = np.minimum(np.arange(PLACES), count - 1)
        filled = [
            np.tile(a, PLACES) if a.shape == (size,) else a.reshape(count, size)[rows]
            for a, size in zip(columns, self._sizes, strict=True)
        ]
        call = self._compiled if self._done >= WORTH else self._virtual
        values = call(*(a.ravel() for a in filled))
        self._done += count
        return [
            value.reshape(PLACES, n, m)[:count]
            for value, (m, n) in zip(values, self._shapes, strict=True)
        ]
