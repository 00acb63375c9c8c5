"""A leaf's routines as text in LLVM's language."""

from __future__ import annotations

import struct
from collections.abc import Iterable, Sequence
from itertools import groupby
from typing import NamedTuple

from nsopt.leaves.guards import LEAST
from nsopt.leaves.instructions import BRANCH, RESULT, Conditional, Instructions
from nsopt.leaves.operations import (
    declare_functions,
    make_operations,
    name_type,
    write_constant,
)
from nsopt.leaves.places import Place, Single, declare_arrays
from nsopt.leaves.routines import Routine, divide_long, is_long, make_side_routine

CHOICE = """%{3} = fcmp ogt double {0}, -1.0
%{4} = fcmp olt double {0}, 1.0
%{5} = and i1 %{3}, %{4}
br i1 %{5}, label %zero{3}, label %else{3}
zero{3}:
call void @{1}(ptr %operands, ptr %results)
br label %end{3}
else{3}:
call void @{2}(ptr %operands, ptr %results)
br label %end{3}
end{3}:
"""
"""One side of a branch, {1} or {2}, by its condition {0}, which counts as zero strictly between -1
and 1. {3}, {4}, {5} are the numbers of its results; it ends in the block ``end{3}``."""

_GUARDED = """br label %at{1}
at{1}:
%{1} = fcmp une double {0}, 0.0
br i1 %{1}, label %held{1}, label %behind{1}
held{1}:
"""
"""What is computed where the condition {0} is not zero follows; it ends at ``behind``."""

_GROUPS = """br label %group
group:
%k = phi i64 [0, %entry], [%next, %group]
{lines}%beyond = add i64 %k, {lanes}
%before = icmp slt i64 %beyond, {last}
%next = select i1 %before, i64 %beyond, i64 {last}
%more = icmp slt i64 %k, {last}
br i1 %more, label %group, label %end
end:
"""


class CalledBranch(NamedTuple):
    """What calls a branch: its sides, and how many operands and results these have."""

    sides: tuple[int, int]
    operands: int
    results: int

    @classmethod
    def of(cls, branch: Conditional) -> CalledBranch:
        """Return what calls a branch."""
        return cls(branch.sides, len(branch.operands) - 1, branch.results)

    def name(self, lanes: int) -> str:
        """Return the name of what chooses in lanes, of (condition and operands, results)."""
        return "branch_{}_{}_in_{}".format(*self.sides, lanes)


class Part(NamedTuple):
    """Functions, and what they call: branches, and operations that work on one number at a time."""

    text: str
    branches: frozenset[CalledBranch] = frozenset()
    scalar: frozenset[int] = frozenset()

    @classmethod
    def merge(cls, parts: Iterable[Part]) -> Part:
        """Return the functions of some parts as one."""
        texts, branches, scalar = zip(*parts, strict=True)
        called = frozenset[CalledBranch]().union(*branches)
        return cls("".join(texts), called, frozenset[int]().union(*scalar))

    def module(self, lanes: int = 1) -> str:
        """Return the functions as a module, with what it calls declared."""
        if lanes == 1:
            names = {name_side(k) for branch in self.branches for k in branch.sides}
        else:
            names = {x.name(lanes) for x in self.branches}
            names |= {name_scalar(x, lanes) for x in self.scalar}
        declared = (f"declare void @{name}(ptr, ptr)\n" for name in sorted(names))
        return "".join([declare_functions(lanes), declare_arrays(), *declared, self.text])


def write_sides(instructions: Instructions) -> list[Part]:
    """Write the sides of branches."""
    return [
        piece
        for k, side in enumerate(instructions.sides)
        for piece in write_functions(side, make_side_routine(side, name_side(k)))
    ]


def name_side(number: int) -> str:
    """Return the name of a side of a branch, a function of (operands, results)."""
    return f"side_{number}"


def name_scalar(operation: int, lanes: int) -> str:
    """Return the name of what does an operation lane by lane, of (operands, results)."""
    return f"alone_{operation}_in_{lanes}"


def write_functions(instructions: Instructions, routine: Routine, lanes: int = 1) -> list[Part]:
    """Write one function, or its pieces and a function that calls them."""
    if not is_long(routine):
        return [write_routine(instructions, routine, lanes)]
    pieces, scratch = divide_long(instructions, routine)
    array = f"%scratch = alloca [{scratch} x {name_type(lanes)}], align 64\n"
    return [
        *(write_routine(instructions, piece, lanes) for piece in pieces),
        Part(declare_all(pieces) + define(routine, call_all(pieces), array, lanes)),
    ]


def declare_all(pieces: Sequence[Routine]) -> str:
    """Declare the pieces of a routine."""
    return "".join(f"declare void @{x.name}({_arguments(x, named=False)})\n" for x in pieces)


def call_all(pieces: Sequence[Routine]) -> str:
    """Call the pieces of a routine one after the other, with the arguments of the caller."""
    return "".join(f"call void @{piece.name}({_arguments(piece)})\n" for piece in pieces)


def write_routine(instructions: Instructions, routine: Routine, lanes: int) -> Part:
    """Write a function in which each value is as many numbers as there are lanes.

    Its results are numbered, as LLVM reads numbers faster than names.
    """
    operation, left, right = instructions.operation, instructions.left, instructions.right
    sources, targets, templates = routine.sources, routine.targets, make_operations(lanes)
    branches = [instructions.branches[v] for v in routine.values if operation[v] == BRANCH]
    used = {operation[v] for v in routine.values if operation[v] in templates}
    scalar = {what for what in used if lanes > 1 and templates[what].is_scalar}
    names: dict[int, str] = {}  # of values that are read or computed, in LLVM
    lines: list[str] = []
    n = 0  # number of the next result

    def find(value: int) -> str:
        """Return the name of a value, read at its first use."""
        if value not in names:
            if value in sources:
                names[value] = read(sources[value])
            else:
                bits = struct.pack(">d", instructions.constants[value]).hex()
                names[value] = write_constant(f"0x{bits}", lanes)
        return names[value]

    def read(place: Place) -> str:
        nonlocal n
        text, results = place.read(n, lanes)
        lines.append(text)
        n += results
        return f"%{n - 1}"

    def write(name: str, place: Place) -> None:
        nonlocal n
        text, results = place.write(name, n, lanes)
        lines.append(text)
        n += results

    def branch(branch: Conditional) -> None:
        nonlocal n
        operands = [find(x) for x in branch.operands]
        for index, name in enumerate(operands if lanes > 1 else operands[1:]):
            write(name, Single("operands", index))
        if lanes > 1:
            call(CalledBranch.of(branch).name(lanes))
        else:
            sides = map(name_side, branch.sides)
            lines.append(CHOICE.format(operands[0], *sides, n, n + 1, n + 2))
            n += 3

    def call(name: str) -> None:
        lines.append(f"call void @{name}(ptr %operands, ptr %results)\n")

    def compute(value: int) -> None:
        nonlocal n
        what = operation[value]
        if what == BRANCH:
            branch(instructions.branches[value])
            return
        if what == RESULT:
            names[value] = read(Single("results", value - left[value] - 1))
        else:
            first, second = find(left[value]), find(right[value])
            template, results, _ = templates[what]
            if what in scalar:
                write(first, Single("operands", 0))
                write(second, Single("operands", 1))
                call(name_scalar(what, lanes))
                names[value] = read(Single("results", 0))
            else:
                lines.append(template.format(first, second, *range(n, n + results)))
                n += results
                names[value] = f"%{n - 1}"
        for place in targets.get(value, ()):
            write(names[value], place)

    def compute_where(guard: int, values: list[int], read_later: list[int]) -> None:
        """Compute values where a condition holds; elsewhere they are zero to what reads them."""
        nonlocal n, names
        lines.append(_GUARDED.format(find(guard), label := n))
        n += 1
        before, names = names, names.copy()  # what is read within is not known behind
        for value in values:
            compute(value)
        lines.append(f"br label %behind{label}\nbehind{label}:\n")
        for value in read_later:
            here = f"[{names[value]}, %held{label}]"
            lines.append(f"%{n} = phi double {here}, [0.0, %at{label}]\n")
            before[value] = f"%{n}"
            n += 1
        names = before

    for guard, values, read_later in _divide_by_guards(instructions, routine):
        if guard is None:
            for value in values:
                compute(value)
        else:
            compute_where(guard, values, read_later)
    computed = set(routine.values)
    for value in targets:
        if value not in computed:
            for place in targets[value]:
                write(find(value), place)
    called = frozenset(CalledBranch.of(branch) for branch in branches)
    arrays = _write_call_arrays(branches, bool(scalar), lanes)
    return Part(define(routine, "".join(lines), arrays, lanes), called, frozenset(scalar))


def _divide_by_guards(
    instructions: Instructions, routine: Routine
) -> list[tuple[int | None, list[int], list[int]]]:
    """Return runs of values: their condition if any, the values, those that later runs read."""
    guards, last = routine.guards, dict[int, int]()  # the last run that reads a value
    runs = [(guard, [*run]) for guard, run in groupby(routine.values, guards.get)]
    for k, (_, run) in enumerate(runs):
        for value in run:
            for operand in instructions.operands_of(value):
                last[operand] = k
    return [
        (guard if len(run) >= LEAST else None, run, [x for x in run if last.get(x, -1) > k])
        for k, (guard, run) in enumerate(runs)
    ]


def _write_call_arrays(branches: list[Conditional], has_scalar: bool, lanes: int) -> str:
    """Write the arrays by which others are called; one call at a time has them."""
    if not branches and not has_scalar:
        return ""
    operands = max([len(x.operands) for x in branches] + [2 * has_scalar])
    results = max([x.results for x in branches] + [int(has_scalar)])
    number = name_type(lanes)
    return f"%operands = alloca [{operands} x {number}]\n%results = alloca [{results} x {number}]\n"


def define(routine: Routine, lines: str, arrays: str = "", lanes: int = 1) -> str:
    """Write a function of the arguments of a routine, with ``arrays`` on its stack.

    ``lines`` are those of a group of instances, where it computes more than one.
    """
    arguments = _arguments(routine).replace("ptr ", "ptr noalias ")
    if routine.instances:
        # The last group may compute again what the one before it did.
        lines = _GROUPS.format(lines=lines, lanes=lanes, last=max(routine.instances - lanes, 0))
    return (
        f"define void @{routine.name}({arguments}) nounwind {{\nentry:\n{arrays}{lines}"
        "ret void\n}\n"
    )


def _arguments(routine: Routine, named: bool = True) -> str:
    kinds = dict.fromkeys(routine.arguments, "ptr") | ({"k": "i64"} if routine.is_group else {})
    return ", ".join(f"{kind} %{name}" if named else kind for name, kind in kinds.items())
