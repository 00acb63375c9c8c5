"""The instructions of an SX function as numbered values: equal ones once."""

from __future__ import annotations

import struct
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import NamedTuple

import casadi as ca

from nsopt.leaves.operations import (
    COMMUTATIVE,
    OPERATIONS,
    find_sides,
    has_only_calls,
    name_operation,
)

INPUT, CONSTANT, OUTPUT, CALL = ca.OP_INPUT, ca.OP_CONST, ca.OP_OUTPUT, ca.OP_CALL
P, X = 0, 1
"""Numbers of the inputs of f(x, p); of functions in turn x_1, x_2, ... have X, X + 1, ..."""

Entries = list[tuple[int, int]]
"""Entries of inputs: the number of the input, and which entry."""

BASE = 1 << 40
"""Beyond all values and entries: three of them are one integer to these bases. Of tuples Python
would collect garbage for long."""

BRANCH, RESULT = -1, -2
"""Operations that CasADi has no number for: a branch, and one of the results right behind it."""


class Conditional(NamedTuple):
    """A branch, a value that is no number: where the results behind it come from."""

    # Functions of `Instructions.sides`, where the condition is zero and elsewhere.
    sides: tuple[int, int]
    operands: tuple[int, ...]  # the condition, and what the side is a function of
    results: int  # how many values behind it are its results


@dataclass(frozen=True)
class Instructions:
    """Values in an order in which each comes after its operands."""

    operation: list[int]  # of each value, by CasADi's numbers; `BRANCH`, `RESULT`
    # Operands: values; of an operation with one operand twice the same. For an input its number and
    # its entry; for a branch its condition, for a result its branch, twice.
    left: list[int]
    right: list[int]
    constants: dict[int, float]  # the values that are constant
    stage: list[int]  # the last input that a value depends on, by its number: `P`, `X`, ...
    needed: list[bool]  # whether an output depends on a value
    outputs: list[int]  # the value of each entry of y
    branches: dict[int, Conditional]  # the values that are branches
    sides: list[Instructions]  # functions of x alone, for these branches and for those within sides

    def operands_of(self, value: int) -> tuple[int, ...]:
        """Return the values that one, no input and no constant, is computed from."""
        if value in self.branches:
            return self.branches[value].operands
        return (self.left[value], self.right[value])


def read_function(function: ca.Function, entries: Entries, *, has_stages: bool) -> Instructions:
    """Read a function of SX.

    Parameters
    ----------
    function : Function
    entries : Entries
        What its inputs are, one after another.
    has_stages : bool
        Whether `Instructions.stage` tells values apart; else it is `X` of all but constants.

    Raises
    ------
    ValueError
        For an operation that has no machine code.
    """
    sides = _Sides()
    reader = InstructionReader(has_stages, sides)
    outputs = reader.read(function, lambda k: reader.number_input(*entries[k]))
    return reader.instructions(outputs, sides.functions)


def read_instances(function: ca.Function, own: int) -> Instructions:
    """Read f(x, p), where x is the first inputs one after another, p the others.

    Parameters
    ----------
    function : Function
        Of SX.
    own : int
        How many inputs x is; entries of matrices are those of their patterns.

    Raises
    ------
    ValueError
        For an operation that has no machine code.
    """
    starts = list_starts(function)[0]
    entries = list_entries(X, starts[own]) + list_entries(P, starts[-1] - starts[own])
    return read_function(function, entries, has_stages=starts[-1] > starts[own])


def list_entries(number: int, count: int) -> Entries:
    """Return the entries of an input."""
    return [(number, entry) for entry in range(count)]


def list_starts(function: ca.Function) -> tuple[list[int], list[int]]:
    """Return where each input and output begins among the entries of all of them, and the ends."""
    inputs = (int(function.nnz_in(i)) for i in range(function.n_in()))
    outputs = (int(function.nnz_out(i)) for i in range(function.n_out()))
    return [*accumulate(inputs, initial=0)], [*accumulate(outputs, initial=0)]


class InstructionReader:
    """Numbers the values of functions, equal ones alike.

    Parameters
    ----------
    has_stages : bool
        As of `read_function`.
    sides : _Sides, optional
        Where sides of branches are read.
    """

    def __init__(self, has_stages: bool, sides: _Sides | None = None) -> None:
        self._has_stages, self._sides = has_stages, sides or _Sides()
        self.operation: list[int] = []
        self.left: list[int] = []
        self.right: list[int] = []
        self.stage: list[int] = []
        self.constants: dict[int, float] = {}
        self.branches: dict[int, Conditional] = {}
        # Values that there are, to find equal ones:
        self._values: dict[int, int] = {}  # inputs and operations, by (operation, left, right)
        self._constants: dict[bytes, int] = {}  # by their bits
        self._branches: dict[Conditional, int] = {}

    def read(self, function: ca.Function, given: Callable[[int], int]) -> list[int]:
        """Return the values of all outputs of a function, one after another.

        Parameters
        ----------
        function : Function
        given : function
            Of k: the value of the k-th entry of all inputs, one after another.
        """
        known, stage = self._values, self.stage
        work = [-1] * int(function.sz_w())  # the value in each register
        first_in, first_out = list_starts(function)
        outputs = [-1] * first_out[-1]
        read_operation, read_operands = function.instruction_id, function.instruction_input
        read_place = function.instruction_output
        expressions = None
        for k in range(function.n_instructions()):
            what = read_operation(k)
            if what in OPERATIONS:
                operands = read_operands(k)
                a, b = work[operands[0]], work[operands[-1]]
                if a > b and what in COMMUTATIVE:
                    a, b = b, a
                key = (what * BASE + a) * BASE + b
                value = known.get(key, -1)
                if value < 0:
                    value = known[key] = self._append(what, a, b, max(stage[a], stage[b]))
            elif what == OUTPUT:
                output, entry = read_place(k)
                outputs[first_out[output] + entry] = work[read_operands(k)[0]]
                continue
            elif what == INPUT:
                a, b = read_operands(k)
                value = given(first_in[a] + b)
            elif what == CONSTANT:
                value = self._number_constant(function.instruction_constant(k))
            elif what == CALL:
                expressions = function.instructions_sx() if expressions is None else expressions
                called = expressions[k].which_function()
                found = self.call(called, [work[i] for i in read_operands(k)])
                for place, value in zip(read_place(k), found, strict=True):
                    if place >= 0:  # else nothing reads it
                        work[place] = value
                continue
            else:
                raise ValueError(
                    f"{function.name()!r} contains the operation {name_operation(what)!r}, for"
                    " which there is no machine code: state it by other operations"
                )
            work[read_place(k)[0]] = value
        return outputs

    def number_program(
        self,
        operation: Sequence[int],
        left: Sequence[int],
        right: Sequence[int],
        outputs: Sequence[int],
        constants: Mapping[int, float],
        numbers: Sequence[float],
    ) -> list[int]:
        """Return the values of outputs of a program, whose instructions may be equal.

        Its parts are as of `Instructions`, but that operands beyond the last instruction are
        ``numbers``: each becomes a value of its own, equal or not; they come first.
        """
        known, stage, base, square = self._values, self.stage, BASE, BASE * BASE
        add, add_left, add_right = self.operation.append, self.left.append, self.right.append
        add_stage, has_stages = stage.append, self._has_stages
        values = [-1] * len(operation)
        for number in numbers:
            values.append(self._append(CONSTANT, -1, -1, P))
            self.constants[values[-1]] = number
        for k, (what, first, second) in enumerate(zip(operation, left, right, strict=True)):
            if what == INPUT:
                values[k] = self.number_input(first, second)
            elif what == CONSTANT:
                values[k] = self._number_constant(constants[k])
            else:
                a, b = values[first], values[second]
                if a > b and what in COMMUTATIVE:
                    a, b = b, a
                key = what * square + a * base + b
                value = values[k] = known.setdefault(key, len(stage))
                if value == len(stage):  # a new one, as by `_append`, in half of the time
                    add(what)
                    add_left(a)
                    add_right(b)
                    add_stage(max(stage[a], stage[b]) if has_stages else X)
        return [values[k] for k in outputs]

    def call(self, called: ca.Function, given: list[int]) -> list[int]:
        """Return the values of a function that another calls, from all its inputs."""
        if called.is_a("SXFunction"):
            return self.read(called, given.__getitem__)
        if has_only_calls(called):
            return self._read_calls(called, given)
        sides = find_sides(called)
        if sides is None:
            raise ValueError(
                f"{called.name()!r} is called and has no machine code: state it by SX, or as"
                " Function.if_else of two SX functions with the same inputs and outputs"
            )
        where_zero, elsewhere = (self._sides.number(side) for side in sides)
        branch = Conditional((where_zero, elsewhere), tuple(given), called.nnz_out())
        return self._number_branch(branch)

    def _read_calls(self, function: ca.Function, given: list[int]) -> list[int]:
        """Return the values of an MX function that does nothing but call others."""
        first_in, first_out = list_starts(function)
        outputs = [-1] * first_out[-1]
        work: dict[int, list[int]] = {}  # the values of each matrix
        for k in range(function.n_instructions()):
            what, places = function.instruction_id(k), function.instruction_output(k)
            operands, expression = function.instruction_input(k), function.instruction_MX(k)
            if what == CALL:
                called = expression.which_function()
                found = self.call(called, [value for i in operands for value in work[i]])
                for i, place in enumerate(places):
                    work[place], found = found[: called.nnz_out(i)], found[called.nnz_out(i) :]
            elif what == OUTPUT:
                # An output may be written in parts, each from its offset on.
                first = first_out[places[0]] + expression.info()["offset"]
                outputs[first : first + len(work[operands[0]])] = work[operands[0]]
            elif what == INPUT:
                first = first_in[operands[0]] + expression.info()["offset"]
                work[places[0]] = given[first : first + expression.nnz()]
            else:
                entries = expression.to_DM().nonzeros()
                work[places[0]] = [self._number_constant(x) for x in entries]
        return outputs

    def _number_branch(self, branch: Conditional) -> list[int]:
        """Return the results of a branch, which come right behind it."""
        value = self._branches.get(branch, -1)
        if value < 0:
            condition, stage = branch.operands[0], max(self.stage[i] for i in branch.operands)
            value = self._branches[branch] = self._append(BRANCH, condition, condition, stage)
            self.branches[value] = branch
            for _ in range(branch.results):
                self._append(RESULT, value, value, stage)
        return [value + 1 + k for k in range(branch.results)]

    def _append(self, what: int, a: int, b: int, stage: int) -> int:
        self.operation.append(what)
        self.left.append(a)
        self.right.append(b)
        self.stage.append(stage if self._has_stages or what == CONSTANT else X)
        return len(self.operation) - 1

    def number_input(self, number: int, entry: int) -> int:
        """Return the value that is an entry of an input."""
        key = (INPUT * BASE + number) * BASE + entry
        value = self._values.get(key, -1)
        if value < 0:
            value = self._values[key] = self._append(INPUT, number, entry, number)
        return value

    def _number_constant(self, number: float) -> int:
        bits = struct.pack(">d", number)
        value = self._constants.get(bits, -1)
        if value < 0:
            value = self._constants[bits] = self._append(CONSTANT, -1, -1, P)
            self.constants[value] = number
        return value

    def instructions(self, outputs: list[int], sides: Sequence[Instructions] = ()) -> Instructions:
        """Return what was read."""
        needed = [False] * len(self.operation)
        found = Instructions(
            *(self.operation, self.left, self.right, self.constants, self.stage),
            *(needed, outputs, self.branches, [*sides]),
        )
        for value in outputs:
            needed[value] = True
        for value in range(len(needed) - 1, -1, -1):
            if needed[value] and self.operation[value] not in (INPUT, CONSTANT):
                for operand in found.operands_of(value):
                    needed[operand] = True
        return found


class _Sides:
    """Sides of branches, each read once."""

    def __init__(self) -> None:
        self.functions: list[Instructions] = []
        self._numbers: dict[int, int] = {}  # by the hash of a side
        self._stated: list[ca.Function] = []  # while they live no other has their hash

    def number(self, side: ca.Function) -> int:
        """Return the number of a side: what a call of it gives, as a function of x."""
        key = side.__hash__()
        if key not in self._numbers:
            reader = InstructionReader(has_stages=False, sides=self)
            outputs = reader.call(side, [reader.number_input(X, k) for k in range(side.nnz_in())])
            self._numbers[key] = len(self.functions)
            self.functions.append(reader.instructions(outputs))
            self._stated.append(side)
        return self._numbers[key]
