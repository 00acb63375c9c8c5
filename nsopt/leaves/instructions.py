"""The instructions of an SX function as numbered values: each once, those that are needed alone."""

from __future__ import annotations

import struct
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import NamedTuple

import casadi as ca

from nsopt.leaves.operations import COMMUTATIVE, OPERATIONS, name_of, only_calls, sides_of

INPUT, CONSTANT, OUTPUT, CALL = ca.OP_INPUT, ca.OP_CONST, ca.OP_OUTPUT, ca.OP_CALL
P, X = 0, 1
"""Numbers of the inputs: x of a function that is computed after it has the next one, and so on."""

Entries = list[tuple[int, int]]
"""Entries of inputs: the number of the input, and which entry."""

BASE = 1 << 40
"""Beyond all values and entries."""

BRANCH, RESULT = -1, -2
"""Operations that CasADi has no number for: a branch, and one of the results right behind it."""


class Conditional(NamedTuple):
    """A value that is no number: where the results behind it come from.

    Attributes
    ----------
    sides : tuple of int
        Functions of `Instructions.sides`, where the condition is zero and elsewhere.
    operands : tuple of int
        The condition, and what the side is a function of.
    results : int
        How many values behind it are its results.
    """

    sides: tuple[int, int]
    operands: tuple[int, ...]
    results: int


@dataclass(frozen=True)
class Instructions:
    """Values in an order in which each comes after its operands.

    Attributes
    ----------
    operation : list of int
        Of each value, by CasADi's numbers; `BRANCH`, `RESULT`.
    left, right : list of int
        Operands: values; of an operation with one operand twice the same. For an input its number
        and its entry; for a branch its condition; for a result its branch.
    constants : dict of int to float
        The values that are constant.
    stage : list of int
        The last input that a value depends on, by its number.
    needed : list of bool
        Whether an output depends on a value.
    outputs : list of int
        The value of each entry of y.
    branches : dict of int to Conditional
        The values that are branches.
    sides : list of Instructions
        Functions of x alone, for these branches and for those within sides.
    """

    operation: list[int]
    left: list[int]
    right: list[int]
    constants: dict[int, float]
    stage: list[int]
    needed: list[bool]
    outputs: list[int]
    branches: dict[int, Conditional]
    sides: list[Instructions]


def read_function(function: ca.Function, entries: Entries, *, once: bool) -> Instructions:
    """Read a function of SX.

    Parameters
    ----------
    function : Function
    entries : Entries
        What its inputs are, one after another.
    once : bool
        Whether there is a p.

    Raises
    ------
    ValueError
        For an operation that has no machine code.
    """
    sides = _Sides()
    reader = _Reader(sides, once=once)
    return reader.instructions(reader.read_of(function, entries), sides.read)


def read_instances(function: ca.Function, own: int) -> Instructions:
    """Read y = f(x, p), where x is the entries of the first inputs, p and y all others.

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
    x, p = (sum(map(function.nnz_in, of)) for of in (range(own), range(own, function.n_in())))
    return read_function(function, list_entries(X, x) + list_entries(P, p), once=p > 0)


def number_instructions(
    operation: Sequence[int],
    left: Sequence[int],
    right: Sequence[int],
    outputs: Sequence[int],
    constants: Mapping[int, float],
    numbers: Sequence[float],
    *,
    once: bool,
) -> Instructions:
    """Return instructions from those of a program, some of which may be equal.

    Parameters
    ----------
    operation, left, right, outputs, constants
        As of `Instructions`; beyond the last instruction are operands that are numbers.
    numbers : sequence of float
        These, each a value of its own, whether equal or not; they come first.
    once : bool
        Whether there is a p.
    """
    reader = _Reader(_Sides(), once=once)
    values = reader.number(operation, left, right, outputs, constants, numbers)
    return reader.instructions(values, [])


def list_entries(number: int, count: int) -> Entries:
    """Return the entries of an input."""
    return [(number, entry) for entry in range(count)]


class _Reader:
    """Numbers the values of functions, equal ones alike.

    Parameters
    ----------
    sides : _Sides
        Where sides of branches are read.
    once : bool
        Whether what does not depend on x is computed once; where there is no p, nothing is, and
        all counts as depending on x.
    """

    def __init__(self, sides: _Sides, once: bool) -> None:
        self._sides, self._once = sides, once
        self.operation: list[int] = []
        self.left: list[int] = []
        self.right: list[int] = []
        self.stage: list[int] = []
        self.constants: dict[int, float] = {}
        self.branches: dict[int, Conditional] = {}
        # By one integer: of tuples Python would collect garbage for long.
        self._numbers: dict[int, int] = {}
        self._known: dict[bytes, int] = {}
        self._branches: dict[Conditional, int] = {}

    def read_of(self, function: ca.Function, entries: Entries) -> list[int]:
        """Return the values of all outputs of a function of entries of inputs, if it reads them."""
        return self.read(function, lambda k: self._input(*entries[k]))

    def read(self, function: ca.Function, given: Callable[[int], int]) -> list[int]:
        """Return the values of all outputs of a function, one after another.

        Parameters
        ----------
        function : Function
        given : function
            Of k: the k-th entry of all inputs, one after another.
        """
        numbers, stage = self._numbers, self.stage
        work = [-1] * int(function.sz_w())
        first_in = [0, *accumulate(function.nnz_in(i) for i in range(function.n_in()))]
        first_out = [0, *accumulate(function.nnz_out(i) for i in range(function.n_out()))]
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
                value = numbers.get(key, -1)
                if value < 0:
                    value = numbers[key] = self._add(what, a, b, max(stage[a], stage[b]))
            elif what == OUTPUT:
                output, entry = read_place(k)
                outputs[first_out[output] + entry] = work[read_operands(k)[0]]
                continue
            elif what == INPUT:
                a, b = read_operands(k)
                value = given(first_in[a] + b)
            elif what == CONSTANT:
                value = self._constant(function.instruction_constant(k))
            elif what == CALL:
                expressions = function.instructions_sx() if expressions is None else expressions
                called = expressions[k].which_function()
                found = self.call(called, [work[i] for i in read_operands(k)])
                for place, value in zip(read_place(k), found, strict=True):
                    if place >= 0:  # it is used
                        work[place] = value
                continue
            else:
                raise _operation_error(function, what)
            work[read_place(k)[0]] = value
        return outputs

    def number(
        self,
        operation: Sequence[int],
        left: Sequence[int],
        right: Sequence[int],
        outputs: Sequence[int],
        constants: Mapping[int, float],
        numbers: Sequence[float],
    ) -> list[int]:
        """Return the values of outputs, see `number_instructions`."""
        known, stage, base, square = self._numbers, self.stage, BASE, BASE * BASE
        add, add_left, add_right = self.operation.append, self.left.append, self.right.append
        add_stage, once = stage.append, self._once
        values = [-1] * len(operation)
        for number in numbers:
            values.append(self._add(CONSTANT, -1, -1, P))
            self.constants[values[-1]] = number
        for k, (what, first, second) in enumerate(zip(operation, left, right, strict=True)):
            if what == INPUT:
                values[k] = self._input(first, second)
            elif what == CONSTANT:
                values[k] = self._constant(constants[k])
            else:
                a, b = values[first], values[second]
                if a > b and what in COMMUTATIVE:
                    a, b = b, a
                key = what * square + a * base + b
                value = values[k] = known.setdefault(key, len(stage))
                if value == len(stage):  # a new one: as by `_add`, which takes half of the time
                    add(what)
                    add_left(a)
                    add_right(b)
                    add_stage(max(stage[a], stage[b]) if once else X)
        return [values[k] for k in outputs]

    def call(self, called: ca.Function, given: list[int]) -> list[int]:
        """Return the values of a function that another calls, from all its inputs."""
        if called.is_a("SXFunction"):
            return self.read(called, given.__getitem__)
        if only_calls(called):
            return self._read_calls(called, given)
        sides = sides_of(called)
        if sides is None:
            raise _call_error(called)
        where_zero, elsewhere = (self._sides.number(side) for side in sides)
        return self._branch(Conditional((where_zero, elsewhere), tuple(given), called.nnz_out()))

    def _read_calls(self, function: ca.Function, given: list[int]) -> list[int]:
        """Return the values of an MX function that does nothing but call others."""
        first_in = [0, *accumulate(function.nnz_in(i) for i in range(function.n_in()))]
        first_out = [0, *accumulate(function.nnz_out(i) for i in range(function.n_out()))]
        outputs = [-1] * first_out[-1]
        work: dict[int, list[int]] = {}
        for k in range(function.n_instructions()):
            what, places = function.instruction_id(k), function.instruction_output(k)
            operands, expression = function.instruction_input(k), function.instruction_MX(k)
            if what == CALL:
                called = expression.which_function()
                found = self.call(called, [value for i in operands for value in work[i]])
                for i, place in enumerate(places):
                    work[place], found = found[: called.nnz_out(i)], found[called.nnz_out(i) :]
            elif what == OUTPUT:
                first = first_out[places[0]] + expression.info()["offset"]  # it may be in parts
                outputs[first : first + len(work[operands[0]])] = work[operands[0]]
            elif what == INPUT:
                first = first_in[operands[0]] + expression.info()["offset"]
                work[places[0]] = given[first : first + expression.nnz()]
            else:
                entries = expression.to_DM().nonzeros()
                work[places[0]] = [self._constant(x) for x in entries]
        return outputs

    def _branch(self, branch: Conditional) -> list[int]:
        """Return the results of a branch, which come right behind it."""
        value = self._branches.get(branch, -1)
        if value < 0:
            condition, stage = branch.operands[0], max(self.stage[i] for i in branch.operands)
            value = self._branches[branch] = self._add(BRANCH, condition, condition, stage)
            self.branches[value] = branch
            for _ in range(branch.results):
                self._add(RESULT, value, value, stage)
        return [value + 1 + k for k in range(branch.results)]

    def _add(self, what: int, a: int, b: int, stage: int) -> int:
        self.operation.append(what)
        self.left.append(a)
        self.right.append(b)
        self.stage.append(stage if self._once or what == CONSTANT else X)
        return len(self.operation) - 1

    def _input(self, number: int, entry: int) -> int:
        key = (INPUT * BASE + number) * BASE + entry
        value = self._numbers.get(key, -1)
        if value < 0:
            value = self._numbers[key] = self._add(INPUT, number, entry, number)
        return value

    def _constant(self, number: float) -> int:
        bits = struct.pack(">d", number)
        value = self._known.get(bits, -1)
        if value < 0:
            value = self._known[bits] = self._add(CONSTANT, -1, -1, P)
            self.constants[value] = number
        return value

    def instructions(self, outputs: list[int], sides: list[Instructions]) -> Instructions:
        values = (self.operation, self.left, self.right)
        needed = _mark_needs(*values, self.branches, outputs)
        return Instructions(
            *values, self.constants, self.stage, needed, outputs, self.branches, sides
        )

    def of_side(self, side: ca.Function) -> Instructions:
        """Read a side of a branch: what a call of it gives, as a function of x."""
        outputs = self.call(side, [self._input(*entry) for entry in list_entries(X, side.nnz_in())])
        return self.instructions(outputs, [])


class _Sides:
    """Sides of branches, each read once."""

    def __init__(self) -> None:
        self.read: list[Instructions] = []
        self._numbers: dict[int, int] = {}
        self._functions: list[ca.Function] = []  # while they live no other has their hash

    def number(self, side: ca.Function) -> int:
        key = side.__hash__()
        if key not in self._numbers:
            instructions = _Reader(self, once=False).of_side(side)
            self._numbers[key] = len(self.read)
            self.read.append(instructions)
            self._functions.append(side)
        return self._numbers[key]


def _mark_needs(
    operation: list[int],
    left: list[int],
    right: list[int],
    branches: dict[int, Conditional],
    outputs: list[int],
) -> list[bool]:
    needed = [False] * len(operation)
    for value in outputs:
        needed[value] = True
    for value in range(len(operation) - 1, -1, -1):
        if needed[value] and operation[value] not in (INPUT, CONSTANT):
            needed[left[value]] = needed[right[value]] = True
            if operation[value] == BRANCH:
                for operand in branches[value].operands:
                    needed[operand] = True
    return needed


def _operation_error(function: ca.Function, operation: int) -> ValueError:
    return ValueError(
        f"{function.name()!r} contains the operation {name_of(operation)!r}, for which there is no"
        " machine code: state it by other operations"
    )


def _call_error(called: ca.Function) -> ValueError:
    return ValueError(
        f"{called.name()!r} is called and has no machine code: state it by SX, or as"
        " Function.if_else of two SX functions with the same inputs and outputs"
    )
