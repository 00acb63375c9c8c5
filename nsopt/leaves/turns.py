"""Functions y_k = f_k(p, x_1, ..., x_k) that are computed in turn, and functions of all at the end.

Three routines compute each: ``prepare`` once for what is before its x, ``evaluate`` the first
entries of y at every x, ``complete`` the others where they are asked for; one, ``last``, each at
the end.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate, chain, pairwise
from typing import NamedTuple

import casadi as ca

from nsopt.leaves.instructions import Entries, Instructions, P, X, list_entries


class Turns(NamedTuple):
    """How long the inputs and outputs of functions in turn are."""

    inputs: tuple[int, ...]  # entries of p, x_1, x_2, ...
    outputs: tuple[int, ...]  # entries of y_1, y_2, ..., then of each function at the end
    # Numbers of the inputs (`P`, `X`, ...) in the order in which CasADi's function has them.
    order: tuple[int, ...]
    heads: tuple[int, ...]  # how many entries of y_1, y_2, ... are computed at every x

    @classmethod
    def alone(cls, function: ca.Function, head: int | None = None) -> Turns:
        """Return those of a function (x, p) -> y of dense columns; all of y without a ``head``."""
        y = function.nnz_out(0)
        inputs = function.nnz_in(1), function.nnz_in(0)
        return cls(inputs, (y,), (X, P), (y if head is None else head,))

    @classmethod
    def of(cls, function: ca.Function, heads: Sequence[int]) -> Turns:
        """Return those of a function (p, x_1, x_2, ...) -> (y_1, y_2, ...) of dense columns.

        Outputs beyond as many as there are x are functions at the end.
        """
        inputs = tuple(map(function.nnz_in, range(function.n_in())))
        outputs = tuple(map(function.nnz_out, range(function.n_out())))
        return cls(inputs, outputs, tuple(range(len(inputs))), tuple(heads))

    @classmethod
    def of_whole(cls, instructions: Instructions) -> Turns:
        """Return those of instructions that are one function, all of it computed at every x."""
        y = len(instructions.outputs)
        return cls((0, 0), (y,), (X, P), (y,))  # of one alone nothing asks how long x and p are

    @property
    def turn_count(self) -> int:
        """How many functions there are before the end: as many as x."""
        return len(self.inputs) - 1

    @property
    def end_count(self) -> int:
        """How many functions there are at the end."""
        return len(self.outputs) - self.turn_count

    @property
    def routines(self) -> tuple[str, ...]:
        """Names of the routines."""
        numbers = ["" if k == X else str(k) for k in range(X, X + self.turn_count)]
        of_each = [f"{name}{k}" for k in numbers for name in ("prepare", "evaluate", "complete")]
        return (*of_each, *(f"last{k or ''}" for k in range(self.end_count)))

    @property
    def has_stages(self) -> bool:
        """Whether anything may be computed once; of a single function without p nothing is."""
        return len(self.outputs) > 1 or self.inputs[P] > 0

    @property
    def entries(self) -> Entries:
        """The entries of all inputs in the order in which CasADi's function has them."""
        return [*chain.from_iterable(list_entries(k, self.inputs[k]) for k in self.order)]

    @property
    def input_starts(self) -> list[int]:
        """Where each input begins in the array of all, but the last x if nothing reads it there."""
        inputs = self.inputs if self.end_count else self.inputs[:-1]
        return [*accumulate(inputs, initial=0)][:-1]

    def split(self, instructions: Instructions) -> list[list[int]]:
        """Return the values of each output, those of instructions being one after another.

        Raises
        ------
        ValueError
            If some y_k depends on a later x than x_k.
        """
        starts, outputs = accumulate(self.outputs, initial=0), instructions.outputs
        of_each = [outputs[begin:end] for begin, end in pairwise(starts)]
        for k, values in enumerate(of_each, X):
            if any(instructions.stage[value] > k for value in values):
                raise order_error(k)
        return of_each


def order_error(k: int) -> ValueError:
    """Return that y_k depends on a later x than x_k."""
    return ValueError(f"y_{k} depends on x_{k + 1} or a later x: state it after these")
