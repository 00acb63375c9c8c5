"""Functions interpreted, as CasADi states their instructions: at once, without text or compiler.

So a leaf of a hundred thousand instructions can be called as soon as it is stated. The interpreter
consists of the templates of machine code: bits are the same.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from itertools import accumulate, pairwise
from typing import NamedTuple

import numpy as np

from nsopt.leaves.instructions import CONSTANT, INPUT, OUTPUT, P, X
from nsopt.leaves.machine import GOOD, QUICK, load_objects, make_object, read_object
from nsopt.leaves.operations import Operation, declare_functions, make_operations
from nsopt.leaves.structure import Records
from nsopt.leaves.turns import Turns, order_error

BEFORE = -1  # operation that reads an input that is known before the x at hand

_INTERPRET = """declare ptr @malloc(i64)
declare void @free(ptr)
declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)
define void @interpret(ptr %task, ptr %records, ptr %x, ptr %before, ptr %kept, ptr %y) nounwind {{
entry:
{fields}%bytes = shl i64 %registers, 3
%w = call ptr @malloc(i64 %bytes)
%copied = shl i64 %copies, 3
call void @llvm.memcpy.p0.p0.i64(ptr %kept, ptr %before, i64 %copied, i1 false)
%old = getelementptr double, ptr %kept, i64 %at
%taken = shl i64 %takes, 3
call void @llvm.memcpy.p0.p0.i64(ptr %w, ptr %old, i64 %taken, i1 false)
br label %next
next:
%k = phi i64 [%begin, %entry], [%after, %done]
%goes_on = icmp slt i64 %k, %end
br i1 %goes_on, label %do, label %close
do:
%after = add i64 %k, 1
%record = getelementptr [4 x i32], ptr %records, i64 %k
%what = load i32, ptr %record, align 4
{places}switch i32 %what, label %done [{labels}]
{cases}done:
br label %next
close:
%new = getelementptr double, ptr %kept, i64 %to
%left = shl i64 %leaves, 3
call void @llvm.memcpy.p0.p0.i64(ptr %new, ptr %w, i64 %left, i1 false)
call void @free(ptr %w)
ret void
}}
"""

_ROUTINE = """@task_{k} = external global i64
define void @{name}({arguments}) nounwind {{
call void @interpret(ptr @task_{k}, ptr @records, {given})
ret void
}}
"""


class _Task(NamedTuple):
    """What a routine interprets; the names are those in `_INTERPRET`."""

    begin: int  # of the records that it does, as is ``end``
    end: int
    registers: int  # how many it works on
    # How many numbers it copies first, from ``before`` to the beginning of ``kept``.
    copies: int = 0
    at: int = 0  # where in ``kept`` are the registers that it begins with; how many, ``takes``
    takes: int = 0
    to: int = 0  # where in ``kept`` it leaves them; how many, ``leaves``
    leaves: int = 0


class Interpreter:
    """Routines of functions in turn, each a stretch of the instructions of all of them.

    What a later function reads of those before it is in the registers that these leave.

    Attributes
    ----------
    kept : int
        How many numbers the routines keep for each other.

    Raises
    ------
    ValueError
        If some y_k depends on a later x than x_k.
    """

    def __init__(self, records: Records, turns: Turns) -> None:
        self._turns = turns
        n = int(records["places"][records["operation"] != OUTPUT, 0].max(initial=-1)) + 1
        # Inputs are numbered p, x_1, x_2, ... (`P`, `X`, ...). Those known before x_k are one after
        # another, the i-th from starts[i] on.
        starts, count = [*accumulate(turns.inputs, initial=0)], turns.turn_count
        # Where the n registers are kept that what is before each function leaves; 0 of none.
        states = [(starts[count] + n * (k - 1), n if k > 0 else 0) for k in range(count + 1)]
        self.kept = states[count][0]
        self._parts, self._tasks, self._length = list[Records](), list[_Task](), 0
        # What is computed before, without outputs: where its records are, and these themselves.
        before, earlier = (0, 0), list[Records]()
        for k, stretch in enumerate(_divide(records, turns)):
            state = states[max(min(k, count) - 1, 0)]  # of the function before
            inner = stretch[stretch["operation"] != OUTPUT]
            if k < count:  # tasks of prepare, evaluate and complete
                self._tasks.append(_Task(*before, n, starts[X + k], *state, *states[k]))
                begin, end = self._add(stretch, starts, X + k)
                head = turns.heads[k]  # of y_k, as many entries at every x; `complete` gives all
                ends = begin + _find_end(stretch, head), end if head < turns.outputs[k] else begin
                self._tasks += [_Task(begin, to, n, 0, *states[k]) for to in ends]
                earlier = [inner]
                before = self._add(inner, starts, P)
            else:  # at the end: all of what is before, then its own
                if k > count:
                    before = self._add(np.concatenate(earlier), starts, P)
                _, end = self._add(stretch, starts, P)  # right behind those from before[0] on
                self._tasks.append(_Task(before[0], end, n, 0, *state))
                earlier.append(inner)

    def _add(self, stretch: Records, starts: Sequence[int], own: int) -> tuple[int, int]:
        """Add records that read all inputs but x, the one numbered ``own``, from ``before``.

        With `P` for it they read all from there. Return where the records begin and end.
        """
        part = stretch.copy()
        operation, places = part["operation"], part["places"]
        known = (operation == INPUT) & ((places[:, 1] != own) | (own == P))
        operation[known] = BEFORE
        places[known, 2] += np.array(starts, dtype=np.int32)[places[known, 1]]
        self._parts.append(part)
        begin, self._length = self._length, self._length + len(part)
        return begin, self._length

    def load(self) -> list[int]:
        """Return the addresses of the routines, in the order of `Turns.routines`."""
        arrays = {f"task_{k}": np.array(task) for k, task in enumerate(self._tasks)}
        arrays["records"] = np.concatenate(self._parts).view(np.int32)
        names = self._turns.routines
        routines = _write_routines(names, self._turns.end_count)
        objects = [_make(_write_interpreter(), GOOD), _make(routines, QUICK)]
        return load_objects(objects, names, arrays)


def _find_end(stretch: Records, head: int) -> int:
    """Return behind which instruction of a function the first entries of y are known."""
    operation, places = stretch["operation"], stretch["places"]
    wanted = (operation == OUTPUT) & (places[:, 2] < head)
    return 1 + int(np.flatnonzero(wanted).max(initial=-1))


def _divide(records: Records, turns: Turns) -> list[Records]:
    """Return the instructions of each function that those before it have not.

    An output is told by its place in the y of its function.
    """
    records = records.copy()
    operation, places = records["operation"], records["places"]
    starts = np.array([*accumulate(turns.outputs, initial=0)])
    outputs, inputs = (np.flatnonzero(operation == what) for what in (OUTPUT, INPUT))
    function = np.searchsorted(starts, places[outputs, 2], side="right") - 1  # of each output
    places[outputs, 2] -= starts[function].astype(np.int32)
    ends = [1 + outputs[function <= k].max(initial=-1) for k in range(len(turns.outputs))]
    for k, end in enumerate(ends[: turns.turn_count], X):
        if (places[inputs[inputs < end], 1] > k).any():
            raise order_error(k)
    return [records[begin:end] for begin, end in pairwise([0, *ends])]


@cache
def _make(module: str, level: int) -> bytes:
    """Return the object code of a module, kept on the disk if that can be.

    If it cannot be, nothing is told: the machine code that replaces it tells the same.
    """
    return read_object(module, level) or make_object(module, level, tell=False)


@cache
def _write_interpreter() -> str:
    """Return the module of what interprets: a loop, with a case for each operation."""
    fields = "".join(
        f"%{name}_at = getelementptr i64, ptr %task, i64 {k}\n"
        f"%{name} = load i64, ptr %{name}_at, align 8\n"
        for k, name in enumerate(_Task._fields)
    )
    places = "".join(
        f"%{name}_at = getelementptr i32, ptr %record, i64 {k}\n"
        f"%{name} = load i32, ptr %{name}_at, align 4\n"
        for k, name in enumerate(("result", "one", "two"), 1)
    )
    cases = {
        INPUT: _load("x", "two", "own") + _store("%own", "w", "result"),
        BEFORE: _load("before", "two", "known") + _store("%known", "w", "result"),
        CONSTANT: "%number = load double, ptr %one_at, align 4\n"
        + _store("%number", "w", "result"),
        OUTPUT: _load("w", "one", "found") + _store("%found", "y", "two"),
        **{what: _write_case(what, operation) for what, operation in make_operations(1).items()},
    }
    labels = "".join(f"i32 {what}, label %case{what}\n" for what in cases)
    texts = "".join(f"case{what}:\n{lines}br label %done\n" for what, lines in cases.items())
    return declare_functions(1) + _INTERPRET.format(
        fields=fields, places=places, labels=labels, cases=texts
    )


def _write_case(what: int, operation: Operation) -> str:
    one, two = (f"of{what}.{name}" for name in ("one", "two"))
    names = [f"of{what}.{k}" for k in range(operation.results)]
    computed = operation.template.format(f"%{one}", f"%{two}", *names)
    operands = _load("w", "one", one) + _load("w", "two", two)
    return operands + computed + _store(f"%{names[-1]}", "w", "result")


def _load(array: str, place: str, name: str) -> str:
    at = f"%{name}.at = getelementptr double, ptr %{array}, i32 %{place}\n"
    return f"{at}%{name} = load double, ptr %{name}.at, align 8\n"


def _store(value: str, array: str, place: str) -> str:
    at = f"{value}.to = getelementptr double, ptr %{array}, i32 %{place}\n"
    return f"{at}store double {value}, ptr {value}.to, align 8\n"


def _write_routines(names: Sequence[str], end_count: int) -> str:
    """Return the module of routines, each the task of the same number; the last are of the end."""
    text = "@records = external global i32\ndeclare void @interpret(ptr, ptr, ptr, ptr, ptr, ptr)\n"
    for k, name in enumerate(names):
        if k >= len(names) - end_count:
            arguments = "ptr %p, ptr %kept, ptr %y"
            given = "ptr null, ptr %p, ptr %kept, ptr %y"
        elif k % 3 == 0:  # prepare; then evaluate and complete
            arguments, given = "ptr %p, ptr %kept", "ptr null, ptr %p, ptr %kept, ptr null"
        else:
            arguments = "ptr %x, ptr %kept, ptr %y"
            given = "ptr %x, ptr %kept, ptr %kept, ptr %y"
        text += _ROUTINE.format(k=k, name=name, arguments=arguments, given=given)
    return text
