"""The instructions of an SX function as numbered values: each once, those that are needed alone."""

from __future__ import annotations

import struct
from dataclasses import dataclass

import casadi as ca

from nsopt.leaves.operations import COMMUTATIVE, OPERATIONS, name_of

INPUT, CONSTANT, OUTPUT = ca.OP_INPUT, ca.OP_CONST, ca.OP_OUTPUT
X = 0
"""Number of the input x; p is the next."""


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
    operation: list[int] = []
    left: list[int] = []
    right: list[int] = []
    varies: list[bool] = []
    constants: dict[int, float] = {}
    numbers: dict[int, int] = {}  # by one integer: of tuples Python would collect garbage for long
    known: dict[bytes, int] = {}
    count = function.n_instructions()
    base = max(count, int(function.nnz_in())) + 1  # beyond all values and entries
    work = [-1] * int(function.sz_w())
    outputs = [-1] * int(function.numel_out(0))

    def add(what: int, a: int, b: int, depends: bool) -> int:
        operation.append(what)
        left.append(a)
        right.append(b)
        varies.append(depends)
        return len(operation) - 1

    read_operation, read_operands = function.instruction_id, function.instruction_input
    read_place = function.instruction_output
    for k in range(count):
        what = read_operation(k)
        if what in OPERATIONS:
            operands = read_operands(k)
            a, b = work[operands[0]], work[operands[-1]]
            if a > b and what in COMMUTATIVE:
                a, b = b, a
            key = (what * base + a) * base + b
            value = numbers.get(key, -1)
            if value < 0:
                value = numbers[key] = add(what, a, b, varies[a] or varies[b])
        elif what == OUTPUT:
            outputs[read_place(k)[1]] = work[read_operands(k)[0]]
            continue
        elif what == INPUT:
            a, b = read_operands(k)
            key = (what * base + a) * base + b
            value = numbers.get(key, -1)
            if value < 0:
                value = numbers[key] = add(what, a, b, a == X)
        elif what == CONSTANT:
            number = function.instruction_constant(k)
            value = known.get(struct.pack(">d", number), -1)
            if value < 0:
                value = known[struct.pack(">d", number)] = add(what, -1, -1, False)
                constants[value] = number
        else:
            raise ValueError(_unknown(function, what))
        work[read_place(k)[0]] = value
    needed = _needed(operation, left, right, outputs)
    return Instructions(operation, left, right, constants, varies, needed, outputs)


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
