"""A leaf's routines as text in LLVM's language."""

from __future__ import annotations

import struct
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from nsopt.leaves import routines
from nsopt.leaves.instructions import BRANCH, RESULT, Conditional, Instructions
from nsopt.leaves.operations import constant, declarations, operations_in, type_of
from nsopt.leaves.routines import Routine, divide, divide_long, routine_of_side

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
"""One side of a branch, from operands to results."""


PLAIN = {0.0, 0.5, 1.0, 2.0}
"""Sizes of constants that formulas have; others are numbers of a mechanism, and no part of texts:
mechanisms that differ in numbers alone have the same code."""

NUMBERS = "numbers"
"""Name of the array of these."""


class Text(NamedTuple):
    """Modules that make ``prepare`` and ``evaluate`` together.

    Attributes
    ----------
    modules : tuple of str
    kept : int
        How many numbers ``prepare`` keeps.
    numbers : tuple of float
        The array that the modules read as `NUMBERS`.
    """

    modules: tuple[str, ...]
    kept: int
    numbers: tuple[float, ...]


class CalledBranch(NamedTuple):
    """What calls a branch: its sides, and how many operands and results these have."""

    sides: tuple[int, int]
    operands: int
    results: int

    @classmethod
    def of(cls, branch: Conditional) -> CalledBranch:
        """Return what calls a branch."""
        return cls(branch.sides, len(branch.operands) - 1, branch.results)

    @property
    def name(self) -> str:
        """Name of the function of (condition and operands, results) that chooses, in lanes."""
        return "branch_{}_{}".format(*self.sides)


class Part(NamedTuple):
    """Functions, and what they call: operations of one number alone, and branches."""

    text: str
    branches: frozenset[CalledBranch] = frozenset()
    alone: frozenset[int] = frozenset()

    def module(self, lanes: int = 1) -> str:
        """Return the functions as a module, with what it calls declared."""
        if lanes == 1:
            names = {name_side(k) for branch in self.branches for k in branch.sides}
        else:
            names = {x.name for x in self.branches} | {name_alone(x) for x in self.alone}
        declared = (f"declare void @{name}(ptr, ptr)\n" for name in sorted(names))
        numbers = f"@{NUMBERS} = external global double\n"
        return "".join([declarations(lanes), numbers, *declared, self.text])


def write_text(instructions: Instructions) -> Text:
    """Write ``prepare`` and ``evaluate``: as one module, or of long ones each piece as its own.

    Sides of branches are modules of their own, or several.
    """
    prepare, evaluate, kept = divide(instructions)
    of_mechanism = {
        value: number
        for value, number in instructions.constants.items()
        if abs(number) not in PLAIN
    }
    places = {value: place for place, value in enumerate(of_mechanism)}
    routines_of = (write_functions(instructions, x, places) for x in (prepare, evaluate))
    parts = [part for parts in routines_of for part in parts]
    if len(parts) == 2:
        parts = [Part(parts[0].text + parts[1].text, parts[0].branches | parts[1].branches)]
    modules = tuple(x.module() for x in [*parts, *write_sides(instructions)])
    return Text(modules, kept, tuple(of_mechanism.values()))


def write_sides(instructions: Instructions) -> list[Part]:
    """Write the sides of branches."""
    return [
        piece
        for k, side in enumerate(instructions.sides)
        for piece in write_functions(side, routine_of_side(side, name_side(k)))
    ]


def name_side(number: int) -> str:
    """Return the name of a side of a branch, a function of (operands, results)."""
    return f"side_{number}"


def name_alone(operation: int) -> str:
    """Return the name of what does an operation lane by lane, of (operands, results)."""
    return f"alone_{operation}"


def write_functions(
    instructions: Instructions, routine: Routine, places: Mapping[int, int] | None = None
) -> list[Part]:
    """Write one function, or its pieces and a function that calls them.

    ``places`` as for `write_routine`.
    """
    if len(routine.values) <= routines.PIECE:
        return [write_routine(instructions, routine, 1, places)]
    pieces, scratch = divide_long(instructions, routine)
    array = f"%scratch = alloca [{scratch} x double], align 64\n"
    return [
        *(write_routine(instructions, piece, 1, places) for piece in pieces),
        Part(declare_all(pieces) + define(routine, array + call_all(pieces))),
    ]


def declare_all(pieces: Sequence[Routine]) -> str:
    """Declare the pieces of a routine."""
    types = ", ".join("ptr" for _ in pieces[0].arrays)
    return "".join(f"declare void @{piece.name}({types})\n" for piece in pieces)


def call_all(pieces: Sequence[Routine]) -> str:
    """Call the pieces of a routine, one after the other."""
    arguments = ", ".join(f"ptr %{array}" for array in pieces[0].arrays)
    return "".join(f"call void @{piece.name}({arguments})\n" for piece in pieces)


def write_routine(
    instructions: Instructions,
    routine: Routine,
    lanes: int,
    places: Mapping[int, int] | None = None,
) -> Part:
    """Write a function; its results are numbered, as LLVM reads numbers faster than names.

    Parameters
    ----------
    instructions : Instructions
    routine : Routine
    lanes : int
        How many numbers each value is; arrays have those of an entry side by side.
    places : mapping of value to int, optional
        Where in the array of `NUMBERS` constants are; others are part of the text.
    """
    places = places or {}
    operation, left, right = instructions.operation, instructions.left, instructions.right
    given, wanted, templates = routine.given, routine.wanted, operations_in(lanes)
    branches = [instructions.branches[v] for v in routine.values if operation[v] == BRANCH]
    alone = {operation[v] for v in routine.values if operation[v] in templates}
    alone = {what for what in alone if lanes > 1 and templates[what].alone}
    number = type_of(lanes)
    names: dict[int, str] = {}
    lines = [_arrays(branches, bool(alone), lanes)]
    n = 0  # of the next result

    def fetch(value: int) -> str:
        nonlocal n
        if value in places:
            name = load(f"@{NUMBERS}", places[value])
        elif value in instructions.constants:
            bits = struct.pack(">d", instructions.constants[value]).hex()
            name = constant(f"0x{bits}", lanes)
        else:
            name = load(f"%{given[value].array}", given[value].entry)
        names[value] = name
        return name

    def load(array: str, index: int) -> str:
        nonlocal n
        lines.append(
            f"%{n} = getelementptr {number}, ptr {array}, i64 {index}\n"
            f"%{n + 1} = load {number}, ptr %{n}, align 8\n"
        )
        n += 2
        return f"%{n - 1}"

    def store(name: str, array: str, index: int) -> None:
        nonlocal n
        lines.append(
            f"%{n} = getelementptr {number}, ptr %{array}, i64 {index}\n"
            f"store {number} {name}, ptr %{n}, align 8\n"
        )
        n += 1

    def branch(branch: Conditional) -> None:
        nonlocal n
        operands = [names.get(x) or fetch(x) for x in branch.operands]
        for index, name in enumerate(operands if lanes > 1 else operands[1:]):
            store(name, "operands", index)
        if lanes > 1:
            call(CalledBranch.of(branch).name)
        else:
            sides = map(name_side, branch.sides)
            lines.append(CHOICE.format(operands[0], *sides, n, n + 1, n + 2))
            n += 3

    def call(name: str) -> None:
        lines.append(f"call void @{name}(ptr %operands, ptr %results)\n")

    for value in routine.values:
        a, b = left[value], right[value]
        what = operation[value]
        if what == BRANCH:
            branch(instructions.branches[value])
            continue
        if what == RESULT:
            names[value] = load("%results", value - a - 1)
        else:
            first = names.get(a) or fetch(a)
            second = names.get(b) or fetch(b)
            template, results, _ = templates[what]
            if what in alone:
                store(first, "operands", 0)
                store(second, "operands", 1)
                call(name_alone(what))
                names[value] = load("%results", 0)
            else:
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
    called = frozenset(CalledBranch.of(branch) for branch in branches)
    return Part(define(routine, "".join(lines)), called, frozenset(alone))


def _arrays(branches: list[Conditional], alone: bool, lanes: int) -> str:
    """Write the arrays by which others are called; one call at a time has them."""
    if not branches and not alone:
        return ""
    operands = max([len(x.operands) for x in branches] + [2 * alone])
    results = max([x.results for x in branches] + [int(alone)])
    number = type_of(lanes)
    return f"%operands = alloca [{operands} x {number}]\n%results = alloca [{results} x {number}]\n"


def define(routine: Routine, lines: str) -> str:
    """Write a function of the arrays of a routine."""
    arguments = ", ".join(f"ptr noalias %{array}" for array in routine.arrays)
    return f"define void @{routine.name}({arguments}) nounwind {{\nentry:\n{lines}ret void\n}}\n"
