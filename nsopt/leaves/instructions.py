"""The instructions of an SX function as numbered values: each once, those that are needed alone."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate

import casadi as ca

from nsopt.leaves.operations import COMMUTATIVE, OPERATIONS, name_of

INPUT, CONSTANT, OUTPUT, CALL = ca.OP_INPUT, ca.OP_CONST, ca.OP_OUTPUT, ca.OP_CALL
X, P = 0, 1
"""Numbers of the inputs."""

BASE = 1 << 40
"""Beyond all values and entries."""

BOTH = 2
"""Sides of a branch."""


@dataclass(frozen=True)
class Instructions:
    """Values in an order in which each comes after its operands.

    Attributes
    ----------
    operation : list of int
        Of each value, by CasADi's numbers.
    left, right : list of int
        Operands: values; of an operation with one operand twice the same. For an input its number
        and its entry.
    constants : dict of int to float
        The values that are constant.
    varies : list of bool
        Whether a value depends on x.
    needed : list of bool
        Whether an output depends on a value.
    outputs : list of int
        The value of each entry of y.
    """

    operation: list[int]
    left: list[int]
    right: list[int]
    constants: dict[int, float]
    varies: list[bool]
    needed: list[bool]
    outputs: list[int]


def read_instructions(function: ca.Function) -> Instructions:
    """Read y = f(x, p), dense columns.

    Raises
    ------
    ValueError
        For an operation that has no machine code.
    """
    reader = _Reader(once=function.nnz_in(P) > 0)
    outputs = reader.read(function)
    values = (reader.operation, reader.left, reader.right)
    needed = _needed(*values, outputs)
    return Instructions(*values, reader.constants, reader.varies, needed, outputs)


class _Reader:
    """Numbers the values of functions, equal ones alike.

    Parameters
    ----------
    once : bool
        Whether what does not depend on x is computed once; where there is no p, nothing is.
    """

    def __init__(self, once: bool) -> None:
        self._once = once
        self.operation: list[int] = []
        self.left: list[int] = []
        self.right: list[int] = []
        self.varies: list[bool] = []
        self.constants: dict[int, float] = {}
        # By one integer: of tuples Python would collect garbage for long.
        self._numbers: dict[int, int] = {}
        self._known: dict[bytes, int] = {}

    def read(self, function: ca.Function, given: Sequence[int] = ()) -> list[int]:
        """Return the values of all outputs of a function, one after another.

        Parameters
        ----------
        function : Function
        given : values of all inputs, one after another
            Of a function that another calls: its instructions come in place of the call. Without
            them inputs are those of the leaf.
        """
        numbers, varies = self._numbers, self.varies
        work = [-1] * int(function.sz_w())
        first_in = [0, *accumulate(function.nnz_in(i) for i in range(function.n_in()))]
        first_out = [0, *accumulate(function.nnz_out(i) for i in range(function.n_out()))]
        outputs = [-1] * first_out[-1]
        read_operation, read_operands = function.instruction_id, function.instruction_input
        read_place = function.instruction_output
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
                    value = numbers[key] = self._add(what, a, b, varies[a] or varies[b])
            elif what == OUTPUT:
                output, entry = read_place(k)
                outputs[first_out[output] + entry] = work[read_operands(k)[0]]
                continue
            elif what == INPUT:
                a, b = read_operands(k)
                value = given[first_in[a] + b] if given else self._input(a, b)
            elif what == CONSTANT:
                value = self._constant(function.instruction_constant(k))
            elif what == CALL:
                called = function.instructions_sx()[k].which_function()
                found = self._call(called, [work[i] for i in read_operands(k)])
                for place, value in zip(read_place(k), found, strict=True):
                    work[place] = value
                continue
            else:
                raise ValueError(_unknown(function, what))
            work[read_place(k)[0]] = value
        return outputs

    def _call(self, called: ca.Function, given: list[int]) -> list[int]:
        """Return the values of a function that another calls.

        Of a branch (`Function.if_else`) both sides are evaluated, and one of them is chosen.
        """
        if called.is_a("SXFunction"):
            return self.read(called, given)
        sides = called.find_functions(0) if called.is_a("Switch") else []
        if len(sides) != BOTH or not all(side.is_a("SXFunction") for side in sides):
            raise ValueError(
                f"{called.name()!r} is called and has no machine code: state it by SX, or as "
                "Function.if_else of SX functions"
            )
        otherwise, where = (self.read(side, given[1:]) for side in sides)
        condition, not_condition = given[0], self._value(ca.OP_NOT, given[0], given[0])
        return [
            self._value(
                ca.OP_ADD,
                self._value(ca.OP_IF_ELSE_ZERO, condition, a),
                self._value(ca.OP_IF_ELSE_ZERO, not_condition, b),
            )
            for a, b in zip(where, otherwise, strict=True)
        ]

    def _value(self, what: int, a: int, b: int) -> int:
        key = (what * BASE + a) * BASE + b
        value = self._numbers.get(key, -1)
        if value < 0:
            depends = self.varies[a] or self.varies[b]
            value = self._numbers[key] = self._add(what, a, b, depends)
        return value

    def _add(self, what: int, a: int, b: int, depends: bool) -> int:
        self.operation.append(what)
        self.left.append(a)
        self.right.append(b)
        self.varies.append(depends or (what != CONSTANT and not self._once))
        return len(self.operation) - 1

    def _input(self, number: int, entry: int) -> int:
        key = (INPUT * BASE + number) * BASE + entry
        value = self._numbers.get(key, -1)
        if value < 0:
            value = self._numbers[key] = self._add(INPUT, number, entry, number == X)
        return value

    def _constant(self, number: float) -> int:
        bits = struct.pack(">d", number)
        value = self._known.get(bits, -1)
        if value < 0:
            value = self._known[bits] = self._add(CONSTANT, -1, -1, False)
            self.constants[value] = number
        return value


def _needed(
    operation: list[int], left: list[int], right: list[int], outputs: list[int]
) -> list[bool]:
    needed = [False] * len(operation)
    for value in outputs:
        needed[value] = True
    for value in range(len(operation) - 1, -1, -1):
        if needed[value] and operation[value] not in (INPUT, CONSTANT):
            needed[left[value]] = needed[right[value]] = True
    return needed


def _unknown(function: ca.Function, operation: int) -> str:
    return (
        f"{function.name()!r} contains the operation {name_of(operation)!r}, for which there is no"
        " machine code: state it by other operations"
    )
