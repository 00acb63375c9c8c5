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
    last : list of int
        The values that are computed of all inputs at the end.
    first : list of int
        Where each input begins in the array of all of them.
    """

    outputs: list[list[int]]
    last: list[int]
    first: list[int]

    @property
    def routines(self) -> tuple[str, ...]:
        """Names of what computes them: of each what does so once, then at every x; of the last."""
        numbers = ["" if k == X else str(k) for k in range(X, X + len(self.outputs))]
        of_each = [f"{name}{k}" for k in numbers for name in ("prepare", "evaluate")]
        return (*of_each, "last") if self.last else tuple(of_each)

    @classmethod
    def of(cls, instructions: Instructions) -> InTurn:
        """Return one function alone."""
        return cls([instructions.outputs], [], [0])


class Turns(NamedTuple):
    """How long the inputs and outputs are of y_k = f_k(x_k, (p, x_1, ..., x_k-1)).

    Attributes
    ----------
    inputs : tuple of int
        Of p, x_1, x_2, ...
    outputs : tuple of int
        Of y_1, y_2, ..., and of what follows from all inputs at the end, if anything does.
    """

    inputs: tuple[int, ...]
    outputs: tuple[int, ...]

    @classmethod
    def of(cls, functions: Sequence[ca.Function], last: ca.Function | None = None) -> Turns:
        """Return those of functions of dense columns, ``last`` of ((p, x_1, ...), ())."""
        inputs = (functions[0].nnz_in(1), *(function.nnz_in(0) for function in functions))
        every = functions if last is None else (*functions, last)
        return cls(inputs, tuple(function.nnz_out(0) for function in every))

    @property
    def ends(self) -> bool:
        """Whether something follows from all inputs at the end."""
        return len(self.outputs) == len(self.inputs)

    @property
    def once(self) -> bool:
        """Whether there is anything that is computed once; of a function without p there is not."""
        return len(self.outputs) > 1 or self.inputs[P] > 0

    @property
    def entries(self) -> list[Entries]:
        """What the inputs of each function are, x before all others, as to be read."""
        listed = [list_entries(number, size) for number, size in enumerate(self.inputs)]
        known = [[*chain.from_iterable(listed[:k])] for k in range(len(listed) + 1)]
        of_each = [listed[k] + known[k] for k in range(X, len(listed))]
        return [*of_each, known[-1]] if self.ends else of_each

    def split(self, instructions: Instructions) -> InTurn:
        """Return the functions, whose outputs are those of instructions one after another."""
        ends, outputs = [0, *accumulate(self.outputs)], instructions.outputs
        of_each = [outputs[begin:end] for begin, end in pairwise(ends)]
        first = [0, *accumulate(self.inputs)]
        if self.ends:
            return InTurn(of_each[:-1], of_each[-1], first[:-1])
        return InTurn(of_each, [], first[:-2])
