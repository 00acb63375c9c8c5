"""A leaf's routines as text in LLVM's language."""

from __future__ import annotations

import struct
from typing import NamedTuple

from nsopt.leaves import routines
from nsopt.leaves.instructions import BRANCH, RESULT, Conditional, Instructions
from nsopt.leaves.operations import DECLARATIONS, OPERATIONS
from nsopt.leaves.routines import Routine, divide, divide_long, routine_of_side

_BRANCH = """%{3} = fcmp ogt double {0}, -1.0
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


class Text(NamedTuple):
    """Modules that make ``prepare`` and ``evaluate`` together, and the numbers that are kept."""

    modules: tuple[str, ...]
    kept: int


class _Piece(NamedTuple):
    """Functions, and the numbers of the sides of branches that they call."""

    text: str
    sides: frozenset[int]

    @property
    def module(self) -> str:
        declared = (f"declare void @{_name_side(k)}(ptr, ptr)\n" for k in sorted(self.sides))
        return "".join([DECLARATIONS, *declared, self.text])


def write_text(instructions: Instructions) -> Text:
    """Write ``prepare`` and ``evaluate``: as one module, or of long ones each piece as its own.

    Sides of branches are modules of their own, or several.
    """
    prepare, evaluate, kept = divide(instructions)
    parts = [*_functions(instructions, prepare), *_functions(instructions, evaluate)]
    if len(parts) == 2:
        parts = [_Piece(parts[0].text + parts[1].text, parts[0].sides | parts[1].sides)]
    for k, side in enumerate(instructions.sides):
        parts += _functions(side, routine_of_side(side, _name_side(k)))
    return Text(tuple(part.module for part in parts), kept)


def _name_side(number: int) -> str:
    return f"side_{number}"


def _functions(instructions: Instructions, routine: Routine) -> list[_Piece]:
    """Write one function, or its pieces and a function that calls them."""
    if len(routine.values) <= routines.PIECE:
        return [_write(instructions, routine)]
    pieces, scratch = divide_long(instructions, routine)
    types = ", ".join("ptr" for _ in pieces[0].arrays)
    arguments = ", ".join(f"ptr %{array}" for array in pieces[0].arrays)
    declared = "".join(f"declare void @{piece.name}({types})\n" for piece in pieces)
    calls = "".join(f"call void @{piece.name}({arguments})\n" for piece in pieces)
    array = f"%scratch = alloca [{scratch} x double], align 64\n"
    return [
        *(_write(instructions, piece) for piece in pieces),
        _Piece(declared + _define(routine, array + calls), frozenset()),
    ]


def _write(instructions: Instructions, routine: Routine) -> _Piece:
    """Write a function; its results are numbered, as LLVM reads numbers faster than names."""
    operation, left, right = instructions.operation, instructions.left, instructions.right
    given, wanted = routine.given, routine.wanted
    branches = [instructions.branches[v] for v in routine.values if operation[v] == BRANCH]
    names: dict[int, str] = {}
    lines = [_arrays(branches)] if branches else []
    n = 0  # of the next result

    def fetch(value: int) -> str:
        nonlocal n
        if value in instructions.constants:
            name = f"0x{struct.pack('>d', instructions.constants[value]).hex()}"
        else:
            name = load(*given[value])
        names[value] = name
        return name

    def load(array: str, index: int) -> str:
        nonlocal n
        lines.append(
            f"%{n} = getelementptr double, ptr %{array}, i64 {index}\n"
            f"%{n + 1} = load double, ptr %{n}\n"
        )
        n += 2
        return f"%{n - 1}"

    def store(name: str, array: str, index: int) -> None:
        nonlocal n
        lines.append(
            f"%{n} = getelementptr double, ptr %{array}, i64 {index}\n"
            f"store double {name}, ptr %{n}\n"
        )
        n += 1

    def branch(branch: Conditional) -> None:
        nonlocal n
        condition, *operands = [names.get(x) or fetch(x) for x in branch.operands]
        for index, name in enumerate(operands):
            store(name, "operands", index)
        lines.append(_BRANCH.format(condition, *map(_name_side, branch.sides), n, n + 1, n + 2))
        n += 3

    for value in routine.values:
        a, b = left[value], right[value]
        what = operation[value]
        if what == BRANCH:
            branch(instructions.branches[value])
            continue
        if what == RESULT:
            names[value] = load("results", value - a - 1)
        else:
            first = names.get(a) or fetch(a)
            second = names.get(b) or fetch(b)
            template, results = OPERATIONS[what]
            lines.append(template.format(first, second, *range(n, n + results)))
            n += results
            names[value] = f"%{n - 1}"
        for place in wanted.get(value, ()):
            store(names[value], *place)
    computed = set(routine.values)
    for value in wanted:
        if value not in computed:
            name = names.get(value) or fetch(value)
            for place in wanted[value]:
                store(name, *place)
    sides = frozenset(side for branch in branches for side in branch.sides)
    return _Piece(_define(routine, "".join(lines)), sides)


def _arrays(branches: list[Conditional]) -> str:
    """Write the arrays by which sides of branches are called; a branch at a time has them."""
    operands = max(len(branch.operands) - 1 for branch in branches)
    results = max(branch.results for branch in branches)
    return f"%operands = alloca [{operands} x double]\n%results = alloca [{results} x double]\n"


def _define(routine: Routine, lines: str) -> str:
    arguments = ", ".join(f"ptr noalias %{array}" for array in routine.arrays)
    return f"define void @{routine.name}({arguments}) nounwind {{\nentry:\n{lines}ret void\n}}\n"
