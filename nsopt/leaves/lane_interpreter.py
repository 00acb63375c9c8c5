"""Functions interpreted at many instances side by side: each instruction at all of them in turn.

Reading an instruction takes longer than doing it, and is done once for all instances; so this is
half as fast as machine code of long functions, and ready at once. What has no instruction of
vectors is done one by one. Bits are those of the other interpreter, and of machine code.
"""

from __future__ import annotations

import ctypes
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from itertools import accumulate, chain, pairwise
from typing import Any, NamedTuple

import casadi as ca
import numpy as np
from numpy.typing import NDArray

from nsopt.leaves.instructions import CONSTANT, INPUT, OUTPUT, P, list_entries
from nsopt.leaves.machine import GOOD, lanes, load_objects, make_object, read_object
from nsopt.leaves.operations import declarations, operations_in, type_of
from nsopt.leaves.structure import Records, read_records

Array = NDArray[np.float64]

TOGETHER = 64
"""Instances that are interpreted together at most: registers of more leave the fast memory."""

MUL, COMMON = ca.OP_MUL, frozenset((ca.OP_ADD, ca.OP_SUB, ca.OP_MUL))
"""Operations that nearly all instructions are. They have one case, which chooses by bits: that the
processor does not know which one comes next would take longer than to do it."""

SAME = {ca.OP_TWICE: ca.OP_ADD, ca.OP_SQ: ca.OP_MUL}
"""Operations on one operand that are others on that operand twice."""

_OPERANDS = {"one": ("w", "one"), "two": ("w", "two")}

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
%record = getelementptr [4 x i32], ptr %records, i64 %k
%what = load i32, ptr %record, align 4
{places}switch i32 %what, label %done [{labels}]
{cases}done:
br label %next
close:
ret void
}}
"""

_CHOOSE = """%is_product = icmp eq i32 %what, {product}
%product = sext i1 %is_product to i64
%sum = xor i64 %product, -1
%is_difference = icmp eq i32 %what, {difference}
%sign = select i1 %is_difference, i64 {sign}, i64 0
"""
"""Bits of what chooses: all or none for a product and for a sum, the sign for a difference."""

_EITHER = """%bits = bitcast {d} %two{what} to {i64}
%signed = xor {i64} %bits, %signs
%term = bitcast {i64} %signed to {d}
%added = fadd {d} %one{what}, %term
%multiplied = fmul {d} %one{what}, %two{what}
%of_sum = bitcast {d} %added to {i64}
%of_product = bitcast {d} %multiplied to {i64}
%if_sum = and {i64} %of_sum, %sums
%if_product = and {i64} %of_product, %products
%either = or {i64} %if_sum, %if_product
%chosen = bitcast {i64} %either to {d}
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
        self._records, self._own = records, own
        self._registers = int(function.sz_w())
        self._inputs = _parts(function.nnz_in(i) for i in range(function.n_in()))
        self._outputs = _parts(function.nnz_out(i) for i in range(function.n_out()))
        self._memory: _Memory | None = None

    @classmethod
    def of(cls, function: ca.Function, own: int) -> LaneInterpreter | None:
        """Return that of a function, None where its instructions are not found."""
        entries = list_entries(P, sum(function.nnz_in(i) for i in range(function.n_in())))
        records = read_records(function, entries)
        if records is None:
            return None
        for one, other in SAME.items():
            records["operation"][records["operation"] == one] = other
        return cls(records, function, own)

    def evaluate(
        self, count: int, given: Sequence[memoryview], found: Sequence[memoryview | None]
    ) -> None:
        """Evaluate as `MappedLeaf.evaluate`."""
        x = [np.frombuffer(values) for values in given]
        x = [each.reshape(count if i < self._own else 1, -1) for i, each in enumerate(x)]
        y = [None if values is None else np.frombuffer(values) for values in found]
        for begin in range(0, count, TOGETHER):
            n = min(TOGETHER, count - begin)
            memory = self._remember(-(-n // lanes()) * lanes())
            for i, (values, part) in enumerate(zip(x, self._inputs, strict=True)):
                here = values[begin : begin + n] if i < self._own else values
                memory.x[part, :n] = here.T
                memory.x[part, n:] = here[-1:].T
            memory.interpret(self._records)
            for result, part in zip(y, self._outputs, strict=True):
                if result is not None:
                    result.reshape(count, -1)[begin : begin + n] = memory.y[part, :n].T

    def _remember(self, width: int) -> _Memory:
        """Return memory for so many instances, that of the last call where it fits."""
        if self._memory is None or self._memory.x.shape[1] != width:
            sizes = self._inputs[-1].stop, self._registers, self._outputs[-1].stop
            self._memory = _Memory(*(np.zeros((size, width)) for size in sizes))
        return self._memory


class _Memory(NamedTuple):
    """Entries of inputs, registers and entries of outputs, each of all instances side by side."""

    x: Array
    registers: Array
    y: Array

    def interpret(self, records: Records) -> None:
        """Do all instructions."""
        arrays = [array.ctypes.data for array in self]
        _interpreter(lanes())(len(records), records.ctypes.data, self.x.shape[1], *arrays)


def _parts(sizes: Iterable[int]) -> list[slice]:
    return [slice(*ends) for ends in pairwise([0, *accumulate(sizes)])]


@cache
def _interpreter(side_by_side: int) -> Any:
    """Return what interprets, as a function of numbers and addresses."""
    text = _write_interpreter(side_by_side)
    made = read_object(text, GOOD) or make_object(text, GOOD, tell=False)
    (address,) = load_objects([made], ("interpret",))
    return _CALLED(address)


def _write_interpreter(side_by_side: int) -> str:
    """Return the module of what interprets: a loop, with a case for each operation."""
    places = "".join(
        f"%{name}_at = getelementptr i32, ptr %record, i64 {k}\n"
        f"%{name}_entry = load i32, ptr %{name}_at, align 4\n"
        f"%{name} = sext i32 %{name}_entry to i64\n"
        for k, name in enumerate(("result", "one", "two"), 1)
    )
    constant = "%number = load double, ptr %one_at, align 4\n"
    cases = {
        INPUT: _write_case(INPUT, side_by_side, {"value": ("x", "two")}),
        OUTPUT: _write_case(OUTPUT, side_by_side, {"value": ("w", "one")}, to=("y", "two")),
        CONSTANT: _write_case(CONSTANT, 1, {}, "%number", constant),
        MUL: _write_common(side_by_side),
    }
    in_lanes, alone = operations_in(side_by_side), operations_in(1)
    for what in in_lanes.keys() - COMMON:
        step = 1 if in_lanes[what].alone else side_by_side
        template, results, _ = (alone if step == 1 else in_lanes)[what]
        names = [f"of{what}.{k}" for k in range(results)]
        lines = template.format(f"%one{what}", f"%two{what}", *names)
        cases[what] = _write_case(what, step, _OPERANDS, f"%{names[-1]}", lines)
    case_of = {**{what: what for what in cases}, **dict.fromkeys(COMMON, MUL)}
    labels = "".join(f"i32 {what}, label %case{of}\n" for what, of in case_of.items())
    called = dict.fromkeys(chain(*(declarations(n).splitlines(True) for n in (1, side_by_side))))
    return "".join(called) + _INTERPRET.format(
        places=places, labels=labels, cases="".join(cases.values())
    )


def _write_common(side_by_side: int) -> str:
    """Write the case of sums, differences and products, in which nothing is decided by a jump."""
    d, i64 = (type_of(side_by_side, of) for of in ("double", "i64"))
    choose = _CHOOSE.format(product=MUL, difference=ca.OP_SUB, sign=-(2**63))
    for name in ("product", "sum", "sign"):
        choose += f"%one_{name} = insertelement {i64} poison, i64 %{name}, i64 0\n"
        zeros = f"<{side_by_side} x i32> zeroinitializer"
        choose += f"%{name}s = shufflevector {i64} %one_{name}, {i64} poison, {zeros}\n"
    lines = _EITHER.format(d=d, i64=i64, what=MUL)
    return _write_case(MUL, side_by_side, _OPERANDS, "%chosen", lines, before=choose)


def _write_case(
    what: int,
    step: int,
    read: Mapping[str, tuple[str, str]],
    value: str = "",
    lines: str = "",
    to: tuple[str, str] = ("w", "result"),
    before: str = "",
) -> str:
    """Write an instruction.

    Parameters
    ----------
    what : int
        The operation.
    step : int
        Instances side by side.
    read : dict of names of operands to (array, row)
        The name is followed by that of the operation.
    value : str
        What it computes; the only operand if it is empty.
    lines : str
        What computes it.
    to : (array, row)
        Where the value goes.
    before : str
        What is computed once for all instances.
    """
    kind, rows, reads = type_of(step), before, ""
    for name, (array, row) in {**read, "to": to}.items():
        rows += f"%{name}{what}.k = mul i64 %{row}, %width\n"
        rows += f"%{name}{what}.row = getelementptr double, ptr %{array}, i64 %{name}{what}.k\n"
        reads += f"%{name}{what}.at = getelementptr double, ptr %{name}{what}.row, i64 %j{what}\n"
        if name != "to":
            reads += f"%{name}{what} = load {kind}, ptr %{name}{what}.at, align 8\n"
    value = value or f"%{next(iter(read))}{what}"
    store = f"store {kind} {value}, ptr %to{what}.at, align 8\n"
    return _CASE.format(what=what, step=step, rows=rows, lines=reads + lines + store)
