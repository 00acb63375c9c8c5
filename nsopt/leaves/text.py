"""A leaf's routines as text in LLVM's language."""

from __future__ import annotations

import struct
from typing import NamedTuple

from nsopt.leaves import routines
from nsopt.leaves.instructions import Instructions
from nsopt.leaves.operations import DECLARATIONS, OPERATIONS
from nsopt.leaves.routines import Routine, divide, divide_long


class Text(NamedTuple):
    """Modules that make ``prepare`` and ``evaluate`` together, and the numbers that are kept."""

    modules: tuple[str, ...]
    kept: int


def write_text(instructions: Instructions) -> Text:
    """Write ``prepare`` and ``evaluate``: as one module, or of long ones each piece as its own."""
    prepare, evaluate, kept = divide(instructions)
    functions = [*_functions(instructions, prepare), *_functions(instructions, evaluate)]
    if len(functions) == 2:
        functions = ["".join(functions)]
    return Text(tuple(DECLARATIONS + text for text in functions), kept)


def _functions(instructions: Instructions, routine: Routine) -> list[str]:
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
        declared + _define(routine, array + calls),
    ]


def _write(instructions: Instructions, routine: Routine) -> str:
    """Write a function; its results are numbered, as LLVM reads numbers faster than names."""
    operation, left, right = instructions.operation, instructions.left, instructions.right
    given, wanted = routine.given, routine.wanted
    names: dict[int, str] = {}
    lines: list[str] = []
    n = 0  # of the next result

    def fetch(value: int) -> str:
        nonlocal n
        if value in instructions.constants:
            name = f"0x{struct.pack('>d', instructions.constants[value]).hex()}"
        else:
            array, index = given[value]
            lines.append(
                f"%{n} = getelementptr double, ptr %{array}, i64 {index}\n"
                f"%{n + 1} = load double, ptr %{n}\n"
            )
            name = f"%{n + 1}"
            n += 2
        names[value] = name
        return name

    def store(value: int) -> None:
        nonlocal n
        name = names.get(value) or fetch(value)
        for array, index in wanted[value]:
            lines.append(
                f"%{n} = getelementptr double, ptr %{array}, i64 {index}\n"
                f"store double {name}, ptr %{n}\n"
            )
            n += 1

    for value in routine.values:
        a, b = left[value], right[value]
        first = names.get(a) or fetch(a)
        second = names.get(b) or fetch(b)
        template, results = OPERATIONS[operation[value]]
        lines.append(template.format(first, second, *range(n, n + results)))
        n += results
        names[value] = f"%{n - 1}"
        if value in wanted:
            store(value)
    computed = set(routine.values)
    for value in wanted:
        if value not in computed:
            store(value)
    return _define(routine, "".join(lines))


def _define(routine: Routine, lines: str) -> str:
    arguments = ", ".join(f"ptr noalias %{array}" for array in routine.arrays)
    return f"define void @{routine.name}({arguments}) nounwind {{\nentry:\n{lines}ret void\n}}\n"
