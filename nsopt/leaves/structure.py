"""What an SX function computes apart from its numbers, as arrays, and those numbers.

Its constants are plain ones, as 2 or 0.5 in a formula (`PLAIN`), or numbers, as a length of a
mechanism, which others of the same structure have otherwise.

CasADi tells one instruction in a call; of a hundred thousand that takes longer than all else of a
start whose code is on the disk. They stand one after another, sixteen bytes each, in the string to
which CasADi serializes a function, and are found there by what it tells of some. Where they are
not, a function has no `Structure`, and is read instruction by instruction.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from functools import cached_property
from hashlib import sha256

import casadi as ca
import numpy as np
from numpy.typing import NDArray

from nsopt.leaves.instructions import (
    CONSTANT,
    INPUT,
    OUTPUT,
    Entries,
    InstructionReader,
    Instructions,
    list_starts,
)
from nsopt.leaves.kinds import PLAIN
from nsopt.leaves.operations import OPERATIONS
from nsopt.leaves.turns import Turns

Integers = NDArray[np.int64]

Records = NDArray[np.void]
"""Instructions: each the operation, and as ``places`` (3,) the register of its result and those of
its operands, the same twice where there is one. Of an input the last two are its number and entry,
of a constant its bits; of an output all are its number, its register and its place among all."""

RECORD = np.dtype([("operation", "<i4"), ("places", "<i4", (3,))])
"""The type of one of them."""

_COMPARED = 64
"""Instructions that are compared with what CasADi tells of them, beside the first of each kind."""


class Structure:
    """Instructions of a function that calls no others.

    Attributes
    ----------
    operation, left, right : (n,)
        All instructions but outputs and numbers. Operands are instructions; from
        n on uses of numbers. For an input its number and its entry.
    plain : dict of int to float
        The values of plain constants.
    outputs : (m,)
        What each output is, as operands are.
    numbers : (u,)
        The number at each use: uses may share one by accident, or differ by round-off.
    """

    def __init__(self, turns: Turns, records: Records) -> None:
        self.turns = turns
        operation = records["operation"].astype(np.int64)
        first, second, third = records["places"].T.astype(np.int64)
        is_constant, is_input = operation == CONSTANT, operation == INPUT
        is_output = operation == OUTPUT
        bits = np.ascontiguousarray(records["places"][:, 1:]).view("<f8").ravel()
        is_number = is_constant & ~np.isin(np.abs(bits), [*PLAIN])
        computed = ~(is_input | is_constant | is_output)
        written = np.where(is_output, -1, first)  # registers
        left = _find_sources(written, np.where(computed | is_output, second, -1))
        right = _find_sources(written, np.where(computed, third, -1))
        stays = ~(is_number | is_output)
        n = int(stays.sum())
        at = np.where(stays, np.cumsum(stays) - 1, -1)  # among those that stay
        # Uses of numbers, in order: left operands and outputs of an instruction, then right ones.
        operands = np.column_stack([left, right])
        used = (operands >= 0) & is_number[operands]
        numbered = np.where(operands >= 0, at[operands], 0)
        numbered[used] = n + np.arange(used.sum())
        self.numbers = bits[operands[used]]
        one, other = numbered.T
        self.operation = operation[stays]
        self.left = np.where(is_input, second, one)[stays]
        self.right = np.where(is_input, third, other)[stays]
        is_plain = is_constant & stays
        self.plain = dict(zip(at[is_plain].tolist(), bits[is_plain].tolist(), strict=True))
        order = np.argsort(third[is_output], kind="stable")
        self.outputs = one[is_output][order]

    @cached_property
    def key(self) -> str:
        """A hash of all but the numbers."""
        plain = np.array([*self.plain.values()], dtype=float)
        arrays = (self.operation, self.left, self.right, plain, self.outputs)
        total = sha256(repr([self.turns, *map(len, arrays)]).encode())
        for array in arrays:
            total.update(array.tobytes())
        return total.hexdigest()

    def label_numbers(self) -> Integers:
        """Return labels (u,) of uses, the same where the number is the same, by first uses."""
        return _number_labels(self.numbers.view(np.int64))

    def part_labels(self, labels: Integers) -> Integers:
        """Return labels (u,) of which those that are not of one number each are parted, by use."""
        parted = np.zeros(int(labels.max(initial=-1)) + 1, dtype=bool)
        parted[labels[~self._compare_numbers(labels)]] = True
        uses = np.arange(1, 1 + len(labels))
        return _number_labels(labels * (1 + len(labels)) + np.where(parted[labels], uses, 0))

    def has_equal_numbers(self, labels: Integers) -> bool:
        """Tell whether uses with the same label have the same number, to the bit."""
        return bool(self._compare_numbers(labels).all())

    def _compare_numbers(self, labels: Integers) -> NDArray[np.bool_]:
        """Tell of each use whether it has the number of the first use with its label."""
        bits = self.numbers.view(np.int64)
        return np.asarray(bits[_find_first(labels)][labels] == bits)

    def list_numbers(self, labels: Integers) -> tuple[float, ...]:
        """Return the numbers by label."""
        return tuple(self.numbers[_find_first(labels)].tolist())

    def number_values(self, labels: Integers) -> Instructions:
        """Return the instructions as values, of numbers those with the same label once."""
        n = len(self.operation)
        operands = np.concatenate([np.arange(n), n + labels])
        left, right = self.left.copy(), self.right.copy()
        computed = ~np.isin(self.operation, [INPUT, CONSTANT])
        left[computed], right[computed] = operands[left[computed]], operands[right[computed]]
        reader = InstructionReader(self.turns.has_stages)
        outputs = reader.number_program(
            self.operation.tolist(),
            left.tolist(),
            right.tolist(),
            operands[self.outputs].tolist(),
            self.plain,
            self.list_numbers(labels),
        )
        return reader.instructions(outputs)


def read_records(function: ca.Function, entries: Entries) -> Records | None:
    """Return the instructions of a function, None where they are not found.

    Inputs are told as ``entries`` has them, one after another.
    """
    n = function.n_instructions()
    if n == 0:
        return np.zeros(0, RECORD)
    # A letter from a to p is half a byte, the lower one first.
    text = np.frombuffer(function.serialize().encode("ascii"), np.uint8) - np.uint8(ord("a"))
    if len(text) % 2 or (text > 15).any():
        return None
    content = (text[::2] | text[1::2] << 4).tobytes()
    for begin in _find_all(content, _encode(function, 0)):
        if begin + n * RECORD.itemsize <= len(content):
            records = np.frombuffer(content, RECORD, n, begin)
            unary = _find_unary(function, records)
            if unary is not None:
                return _place(function, records, unary, entries)
    return None


def _place(function: ca.Function, records: Records, unary: set[int], entries: Entries) -> Records:
    """Return instructions that tell inputs as ``entries`` do, and outputs by their place in all."""
    first_in, first_out = map(np.array, list_starts(function))
    placed = records.copy()
    operation, places = placed["operation"], placed["places"]
    is_input, is_output = operation == INPUT, operation == OUTPUT
    _, number, entry = places[is_input].T
    given = np.array(entries, dtype=np.int32).reshape(-1, 2)
    places[is_input, 1:] = given[first_in[number] + entry]
    places[is_output, 2] += first_out[places[is_output, 0]]
    is_unary = np.isin(operation, [*unary])
    places[is_unary, 2] = places[is_unary, 1]
    return placed


def _find_unary(function: ca.Function, records: Records) -> set[int] | None:
    """Return which operations have one operand, None where records are not the function's."""
    kinds, first = np.unique(records["operation"], return_index=True)
    if not {*kinds.tolist()} <= OPERATIONS | {INPUT, CONSTANT, OUTPUT}:
        return None
    spread = np.linspace(0, len(records) - 1, _COMPARED).astype(int)
    for k in {*first.tolist(), *spread.tolist()}:
        expected = _encode(function, k)
        if records[k].tobytes()[: len(expected)] != expected:
            return None
    return {
        int(what)
        for what, k in zip(kinds, first.tolist(), strict=True)
        if what in OPERATIONS and len(function.instruction_input(k)) == 1
    }


def _encode(function: ca.Function, k: int) -> bytes:
    """Return an instruction as the bytes of its record; without the last place if it has none."""
    what, to = function.instruction_id(k), function.instruction_output(k)
    if what == CONSTANT:
        return struct.pack("<iid", what, to[0], function.instruction_constant(k))
    operands = function.instruction_input(k)
    if what == OUTPUT:
        return struct.pack("<4i", what, to[0], operands[0], to[1])
    return struct.pack(f"<{2 + len(operands)}i", what, to[0], *operands)


def _find_all(content: bytes, part: bytes) -> Iterator[int]:
    at = content.find(part)
    while at >= 0:
        yield at
        at = content.find(part, at + 1)


def _find_sources(written: Integers, read: Integers) -> Integers:
    """Return which instruction wrote last to the register that each reads; -1 if it reads none.

    ``written``, ``read`` (n,): registers by instruction, -1 for none.
    """
    n = len(written)
    steps = np.arange(n)
    writes = np.sort((written * n + steps)[written >= 0])  # by register, then by instruction
    reads = read * n + steps
    found = writes[np.searchsorted(writes, reads) - 1] % n
    return np.where(read >= 0, found, -1)


def _number_labels(labels: Integers) -> Integers:
    """Return labels counted from 0 by the order of their first places, the same where they are."""
    _, first, inverse = np.unique(labels, return_index=True, return_inverse=True)
    ranks = np.empty(len(first), dtype=np.int64)
    ranks[np.argsort(first)] = np.arange(len(first))
    return ranks[inverse]


def _find_first(labels: Integers) -> Integers:
    """Return the first place of each label."""
    return np.unique(labels, return_index=True)[1]
