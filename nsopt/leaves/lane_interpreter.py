"""Functions interpreted at many instances side by side: each instruction at all of them in turn.

Reading an instruction takes longer than doing it, and is done once for all instances; so this is
half as fast as machine code of long functions, and ready at once. What has no instruction of
vectors is done one by one. Bits are those of the other interpreter, and of machine code.
"""

from __future__ import annotations

import ctypes
from collections.abc import Mapping, Sequence
from functools import cache
from itertools import chain, pairwise
from typing import Any, NamedTuple

import casadi as ca
import numpy as np
from numpy.typing import NDArray

from nsopt.arrays import Array
from nsopt.leaves.instructions import CONSTANT, INPUT, OUTPUT, P, list_entries, list_starts
from nsopt.leaves.machine import GOOD, count_lanes, load_objects, make_object, read_object
from nsopt.leaves.operations import declare_functions, make_operations, name_type
from nsopt.leaves.structure import Records, read_records

Lines = NDArray[np.int32] | NDArray[np.uint16]
"""Instructions as they are done, (n, 6): the operation, the register of the result, three operands,
the bits of signs `OF_PRODUCT` and `OF_OTHER`."""

SHORT = 1 << 16  # beyond the numbers in lines of 16 bits, which take half of the memory
LINE = 64  # bytes of a line of the processor's cache

TOGETHER = 64
"""Instances that are interpreted together at most: registers of more leave the fast memory."""

ADD, SUB, MUL, NEG = ca.OP_ADD, ca.OP_SUB, ca.OP_MUL, ca.OP_NEG
PRODUCTS, SUMS = (MUL, ca.OP_SQ), (ADD, SUB, ca.OP_TWICE, NEG)
"""Operations that nearly all instructions are. They have one case, the sum of a product and another
number, each with a sign: that the processor does not know which case comes next would take longer
than to do it. Of a sum alone the product is by 1, of a product alone the other is -0."""

OF_PRODUCT, OF_OTHER = 1, 2  # bits: whether the product is taken with a minus, and the other number

_OPERANDS = {"one": ("w", "one"), "two": ("w", "two")}
_SUM = {**_OPERANDS, "other": ("w", "other")}
"""Names of operands, each by its array and what tells the row."""

_INTERPRET = """define void @interpret(i64 %count, ptr %records, i64 %width, ptr %x, ptr %w, ptr %y)
nounwind {{
entry:
br label %next
next:
%k = phi i64 [0, %entry], [%after, %done]
%goes_on = icmp slt i64 %k, %count
br i1 %goes_on, label %do, label %close
do:
%after = add i64 %k, 1
%record = getelementptr [6 x i{bits}], ptr %records, i64 %k
%operation = load i{bits}, ptr %record, align 2
%what = zext i{bits} %operation to i64
{places}switch i64 %what, label %done [{labels}]
{cases}done:
br label %next
close:
ret void
}}
"""

_SIGNS = """%one_product = shl i64 %signs, 63
%half_other = lshr i64 %signs, 1
%one_other = shl i64 %half_other, 63
"""

_ADD = """%multiplied = fmul {d} %one{what}, %two{what}
%product_bits = bitcast {d} %multiplied to {i64}
%other_bits = bitcast {d} %other{what} to {i64}
%signed_product = xor {i64} %product_bits, %product
%signed_other = xor {i64} %other_bits, %other_sign
%product_term = bitcast {i64} %signed_product to {d}
%other_term = bitcast {i64} %signed_other to {d}
%added = fadd {d} %product_term, %other_term
"""

_CASE = """case{what}:
{rows}br label %lanes{what}
lanes{what}:
%j{what} = phi i64 [0, %case{what}], [%next{what}, %lanes{what}]
{lines}%next{what} = add i64 %j{what}, {step}
%more{what} = icmp slt i64 %next{what}, %width
br i1 %more{what}, label %lanes{what}, label %done
"""
"""An instruction at all instances, in steps of so many lanes."""

_CALLED = ctypes.CFUNCTYPE(
    None, ctypes.c_int64, ctypes.c_void_p, ctypes.c_int64, *[ctypes.c_void_p] * 3
)


class LaneInterpreter:
    """A function of SX, which calls no others, at many instances.

    Parameters
    ----------
    records : Records
        Its instructions; inputs and outputs by their places among the entries of all of them.
    function : ca.Function
    own : int
        How many of its inputs, the first, each instance has for itself.
    """

    def __init__(self, records: Records, function: ca.Function, own: int) -> None:
        self._own, self._registers = own, int(function.sz_w())
        self._lines = _join_products(records, self._registers)
        # Where the entries of each input, and of each output, are among all of them.
        self._inputs, self._outputs = (
            [slice(*ends) for ends in pairwise(starts)] for starts in list_starts(function)
        )
        self._memory: _Memory | None = None

    @classmethod
    def of(cls, function: ca.Function, own: int) -> LaneInterpreter | None:
        """Return that of a function, None where its instructions are not found."""
        entries = list_entries(P, sum(function.nnz_in(i) for i in range(function.n_in())))
        records = read_records(function, entries)
        return None if records is None else cls(records, function, own)

    def evaluate(
        self, count: int, given: Sequence[memoryview], found: Sequence[memoryview | None]
    ) -> None:
        """Evaluate as `MappedLeaf.evaluate`."""
        x = [np.frombuffer(values) for values in given]
        x = [each.reshape(count if i < self._own else 1, -1) for i, each in enumerate(x)]
        y = [None if values is None else np.frombuffer(values) for values in found]
        together = -(-count // -(-count // TOGETHER))  # in groups of the same size
        memory = self._find_memory(together)
        for begin in range(0, count, together):
            n = min(together, count - begin)
            for i, (values, part) in enumerate(zip(x, self._inputs, strict=True)):
                here = values[begin : begin + n] if i < self._own else values
                memory.x[part, :n] = here.T
                memory.x[part, n:] = here[-1:].T  # lanes of no instance do what the last one does
            memory.interpret(self._lines)
            for result, part in zip(y, self._outputs, strict=True):
                if result is not None:
                    result.reshape(count, -1)[begin : begin + n] = memory.y[part, :n].T

    def _find_memory(self, count: int) -> _Memory:
        """Return memory for so many instances, that of the last call where it fits."""
        lanes = 2 if count <= 2 else count_lanes()  # of a few the narrowest registers
        width = -(-count // lanes) * lanes
        if self._memory is None or self._memory.x.shape[1] != width:
            x, y = (_make_rows(parts[-1].stop, width) for parts in (self._inputs, self._outputs))
            self._memory = _Memory(x, _make_rows(self._registers + 2, width), y, lanes)
            self._memory.registers[-2:] = [[1.0], [-0.0]]
        return self._memory


class _Memory(NamedTuple):
    """Entries of inputs, registers and entries of outputs, each of all instances side by side.

    The last two registers are 1 and -0.
    """

    x: Array
    registers: Array
    y: Array
    lanes: int

    def interpret(self, lines: Lines) -> None:
        """Do all instructions."""
        arrays = [array.ctypes.data for array in (self.x, self.registers, self.y)]
        interpret = _load_interpreter(self.lanes, 8 * lines.itemsize)
        interpret(len(lines), lines.ctypes.data, self.x.shape[1], *arrays)


def _make_rows(size: int, width: int) -> Array:
    """Return zeros whose rows begin with a line of the processor's cache, if lanes fill lines."""
    memory = np.zeros(size * width + LINE // 8)
    begin = -memory.ctypes.data % LINE // 8
    return memory[begin : begin + size * width].reshape(size, width)


def _join_products(records: Records, registers: int) -> Lines:
    """Return instructions of which a product is one with the sum behind it, its only reader."""
    what, (result, one, two) = records["operation"], records["places"].T
    is_product, is_sum = np.isin(what, PRODUCTS), np.isin(what, SUMS)
    readers = _count_readers(records)
    lines = np.zeros((len(what), 6), np.int32)
    lines[:, 0], lines[:, 1:4] = what, records["places"]
    unit, nothing = registers, registers + 1
    lines[is_product, 4] = nothing
    lines[is_sum, 3], lines[is_sum, 4] = unit, np.where(what == NEG, nothing, two)[is_sum]
    lines[what == SUB, 5], lines[what == NEG, 5] = OF_OTHER, OF_PRODUCT
    lines[is_product | is_sum, 0] = MUL
    first, second = one[1:] == result[:-1], two[1:] == result[:-1]
    joins = is_product[:-1] & (readers[:-1] == 1) & np.isin(what[1:], [ADD, SUB])
    k = np.flatnonzero(joins & (first ^ second))  # products that become part of k + 1
    lines[k + 1, 2:4] = lines[k, 2:4]
    lines[k + 1, 4] = np.where(first[k], two[k + 1], one[k + 1])
    signs = np.where(first[k], OF_OTHER, OF_PRODUCT)
    lines[k + 1, 5] = np.where(what[k + 1] == SUB, signs, 0)
    return _shorten(np.delete(lines, k, axis=0))


def _shorten(lines: Lines) -> Lines:
    """Return instructions in half of the memory, if all of their numbers are short."""
    is_constant = lines[:, 0] == CONSTANT
    if lines[~is_constant].max(initial=0) >= SHORT:
        return lines
    short = lines.astype(np.uint16)
    short[is_constant, 2:] = np.ascontiguousarray(lines[is_constant, 2:4]).view(np.uint16)
    return short


def _count_readers(records: Records) -> NDArray[np.intp]:
    """Return how many operands each instruction's result is."""
    what, (result, one, two) = records["operation"], records["places"].T.astype(np.int64)
    n, reads_any = len(what), ~np.isin(what, [INPUT, CONSTANT])
    steps = np.arange(n)
    # By register, then by instruction: before what reads a register stands what wrote it last.
    writes = np.sort((result * n + steps)[what != OUTPUT])
    of_each = (one * n + steps)[reads_any], (two * n + steps)[reads_any & (what != OUTPUT)]
    reads = np.sort(np.concatenate(of_each))  # in order they are found in a tenth of the time
    return np.bincount(writes[np.searchsorted(writes, reads) - 1] % n, minlength=n)


@cache
def _load_interpreter(lanes: int, bits: int) -> Any:
    """Return what interprets lines of numbers of so many bits, see `_INTERPRET`."""
    text = _write_interpreter(lanes, bits)
    code = read_object(text, GOOD) or make_object(text, GOOD, tell=False)
    (address,) = load_objects([code], ("interpret",))
    return _CALLED(address)


def _write_interpreter(lanes: int, bits: int) -> str:
    """Return the module of what interprets: a loop, with a case for each operation."""
    places = "".join(
        f"%{name}_at = getelementptr i{bits}, ptr %record, i64 {k}\n"
        f"%{name}_entry = load i{bits}, ptr %{name}_at, align 2\n"
        f"%{name} = zext i{bits} %{name}_entry to i64\n"
        for k, name in enumerate(("result", "one", "two", "other", "signs"), 1)
    )
    constant = "%number = load double, ptr %one_at, align 2\n"
    cases = {
        INPUT: _write_case(INPUT, lanes, {"value": ("x", "two")}),
        OUTPUT: _write_case(OUTPUT, lanes, {"value": ("w", "one")}, to=("y", "two")),
        CONSTANT: _write_case(CONSTANT, 1, {}, "%number", constant),
        MUL: _write_sum(lanes),
    }
    operations = make_operations(lanes)
    for what in operations.keys() - {*PRODUCTS, *SUMS}:
        step = 1 if operations[what].is_scalar else lanes
        template, results, _ = make_operations(step)[what]
        names = [f"of{what}.{k}" for k in range(results)]
        lines = template.format(f"%one{what}", f"%two{what}", *names)
        cases[what] = _write_case(what, step, _OPERANDS, f"%{names[-1]}", lines)
    labels = "".join(f"i64 {what}, label %case{what}\n" for what in cases)
    declared = dict.fromkeys(chain(*(declare_functions(n).splitlines(True) for n in (1, lanes))))
    return "".join(declared) + _INTERPRET.format(
        bits=bits, places=places, labels=labels, cases="".join(cases.values())
    )


def _write_sum(lanes: int) -> str:
    """Write the case of the sum of a product and another number."""
    d, i64 = (name_type(lanes, number) for number in ("double", "i64"))
    signs = _SIGNS
    for name, sign in (("product", "product"), ("other", "other_sign")):
        signs += f"%first_{name} = insertelement {i64} poison, i64 %one_{name}, i64 0\n"
        zeros = f"<{lanes} x i32> zeroinitializer"
        signs += f"%{sign} = shufflevector {i64} %first_{name}, {i64} poison, {zeros}\n"
    lines = _ADD.format(d=d, i64=i64, what=MUL)
    return _write_case(MUL, lanes, _SUM, "%added", lines, before=signs)


def _write_case(
    what: int,
    step: int,
    read: Mapping[str, tuple[str, str]],
    value: str = "",
    lines: str = "",
    to: tuple[str, str] = ("w", "result"),
    before: str = "",
) -> str:
    """Write the case of an operation, ``step`` instances side by side.

    ``read`` names its operands, each an (array, row) as ``to``, where the result goes; behind a
    name stands the operation. ``lines`` compute the ``value``, without them the only operand;
    ``before`` is done once for all instances.
    """
    kind, rows, reads = name_type(step), before, ""
    for name, (array, row) in {**read, "to": to}.items():
        rows += f"%{name}{what}.k = mul i64 %{row}, %width\n"
        rows += f"%{name}{what}.row = getelementptr double, ptr %{array}, i64 %{name}{what}.k\n"
        reads += f"%{name}{what}.at = getelementptr double, ptr %{name}{what}.row, i64 %j{what}\n"
        if name != "to":
            reads += f"%{name}{what} = load {kind}, ptr %{name}{what}.at, align 8\n"
    value = value or f"%{next(iter(read))}{what}"
    store = f"store {kind} {value}, ptr %to{what}.at, align 8\n"
    return _CASE.format(what=what, step=step, rows=rows, lines=reads + lines + store)
