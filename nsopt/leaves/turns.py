"""Functions that are computed in turn: where their numbers are, and which routines compute them."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate, chain, pairwise
from typing import NamedTuple

import casadi as ca

from nsopt.leaves.instructions import Entries, Instructions, P, X, list_entries


class InTurn(NamedTuple):
    """Functions that are computed in turn, each of its own x and of all inputs before.

    Attributes
    ----------
    outputs : list of lists
        The values that each gives.
    heads : list of int
        How many of them are computed at every x; the others where they are asked for.
    last : list of lists
        The values that each function gives that is computed of all inputs at the end.
    first : list of int
        Where each input begins in the array of all of them.
    """

    outputs: list[list[int]]
    heads: list[int]
    last: list[list[int]]
    first: list[int]

    @property
    def routines(self) -> tuple[str, ...]:
        """Names of what computes them: of each once, at every x, the other values; at the end."""
        return _name_routines(len(self.outputs), len(self.last))

    @classmethod
    def of(cls, instructions: Instructions) -> InTurn:
        """Return one function alone."""
        return cls([instructions.outputs], [len(instructions.outputs)], [], [0])


class Turns(NamedTuple):
    """How long the inputs and outputs are of y_k = f_k(p, x_1, ..., x_k).

    Attributes
    ----------
    inputs : tuple of int
        Of p, x_1, x_2, ...
    outputs : tuple of int
        Of y_1, y_2, ..., and of each function of all inputs at the end, if there is any.
    order : tuple of int
        Numbers of the inputs as they are stated.
    heads : tuple of int
        How many entries of y_1, y_2, ... are computed at every x.
    """

    inputs: tuple[int, ...]
    outputs: tuple[int, ...]
    order: tuple[int, ...]
    heads: tuple[int, ...]

    @classmethod
    def alone(cls, function: ca.Function, head: int | None = None) -> Turns:
        """Return those of a function (x, p) -> y of dense columns; all of y without a ``head``."""
        y = function.nnz_out(0)
        inputs = function.nnz_in(1), function.nnz_in(0)
        return cls(inputs, (y,), (X, P), (y if head is None else head,))

    @classmethod
    def of(cls, function: ca.Function, heads: Sequence[int]) -> Turns:
        """Return those of a function (p, x_1, x_2, ...) -> (y_1, y_2, ...) of dense columns.

        What it returns beyond as many y as x are functions of all inputs at the end.
        """
        inputs = tuple(map(function.nnz_in, range(function.n_in())))
        outputs = tuple(map(function.nnz_out, range(function.n_out())))
        return cls(inputs, outputs, tuple(range(len(inputs))), tuple(heads))

    @property
    def routines(self) -> tuple[str, ...]:
        """See `InTurn`."""
        return _name_routines(len(self.outputs) - self.ends, self.ends)

    @property
    def ends(self) -> int:
        """How many functions of all inputs there are at the end."""
        return len(self.outputs) - len(self.inputs) + 1

    @property
    def once(self) -> bool:
        """Whether there is anything that is computed once; of a function without p there is not."""
        return len(self.outputs) > 1 or self.inputs[P] > 0

    @property
    def entries(self) -> Entries:
        """What the inputs are, one after another as they are stated."""
        return [*chain.from_iterable(list_entries(k, self.inputs[k]) for k in self.order)]

    def split(self, instructions: Instructions) -> InTurn:
        """Return the functions, whose outputs are those of instructions one after another.

        Raises
        ------
        ValueError
            If one of them depends on what is known after it alone.
        """
        ends, outputs = [0, *accumulate(self.outputs)], instructions.outputs
        of_each = [outputs[begin:end] for begin, end in pairwise(ends)]
        for k, values in enumerate(of_each, X):
            if any(instructions.stage[value] > k for value in values):
                raise order_error(k)
        first = [0, *accumulate(self.inputs)]
        count = len(self.inputs) - 1
        at_end = of_each[count:]
        begins = first[:-1] if at_end else first[:-2]
        return InTurn(of_each[:count], [*self.heads], at_end, begins)


def order_error(k: int) -> ValueError:
    """Return that y_k depends on what is known after it alone."""
    return ValueError(f"y_{k} depends on x_{k + 1} or a later x: state it after these")


def _name_routines(count: int, ends: int) -> tuple[str, ...]:
    numbers = ["" if k == X else str(k) for k in range(X, X + count)]
    of_each = [f"{name}{k}" for k in numbers for name in ("prepare", "evaluate", "complete")]
    return (*of_each, *(f"last{k or ''}" for k in range(ends)))
