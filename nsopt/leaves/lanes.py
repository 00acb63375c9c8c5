"""A function at many instances as text in LLVM's language: several side by side, in lanes.

Arrays of ``evaluate`` have the numbers of an entry for all lanes side by side, so that each
instruction is one of whole vectors. What has no such instruction, as the functions of libm, and
sides of branches are done lane by lane, so that bits are those of one instance alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import accumulate
from typing import NamedTuple

from nsopt.leaves.instructions import Instructions
from nsopt.leaves.operations import declare_functions, make_operations, name_operation
from nsopt.leaves.routines import Routine, divide_long, divide_values, is_long, place_values
from nsopt.leaves.text import (
    CHOICE,
    CalledBranch,
    Part,
    call_all,
    declare_all,
    define,
    name_scalar,
    name_side,
    write_functions,
    write_routine,
    write_sides,
)
from nsopt.leaves.turns import Turns

_ALIGNED = 8  # numbers to which the arrays in ``work`` are aligned

_LOOP = """br label %lane
lane:
%lane.k = phi i64 [0, %entry], [%lane.next, %{last}]
{lines}%lane.next = add i64 %lane.k, 1
%lane.more = icmp slt i64 %lane.next, {lanes}
br i1 %lane.more, label %lane, label %end
end:
ret void
"""

_STRIDED = """define internal void @{name}(ptr noalias %from, i64 %n, ptr noalias %to) nounwind {{
entry:
%any = icmp sgt i64 %n, 0
br i1 %any, label %one, label %end
one:
%k = phi i64 [0, %entry], [%next, %one]
%far = mul i64 %k, {lanes}
%a = getelementptr double, ptr %from, i64 %{of}
%x = load double, ptr %a
%b = getelementptr double, ptr %to, i64 %{into}
store double %x, ptr %b
%next = add i64 %k, 1
%more = icmp slt i64 %next, %n
br i1 %more, label %one, label %end
end:
ret void
}}
"""
"""Copies n numbers between an array of all lanes, where those of one lane are as far apart as there
are lanes, and one where they are side by side: to the latter as ``pick``, back as ``place``."""


class InstanceSizes(NamedTuple):
    """Entries of each input that instances have for themselves or in common, and of outputs."""

    own: tuple[int, ...]
    common: tuple[int, ...]
    outputs: tuple[int, ...]


class LanesText(NamedTuple):
    """Modules that make ``map``, the first of loops alone, and the numbers of its ``work``.

    ``map(count, in, out, work)`` evaluates a function at so many instances: ``in`` and ``out`` are
    arrays of pointers to arrays in which the numbers of each instance are side by side; those of
    outputs that nobody asks for are null. ``work`` is aligned to 64 bytes.
    """

    modules: tuple[str, ...]
    work: int


def write_lanes_text(instructions: Instructions, sizes: InstanceSizes, lanes: int) -> LanesText:
    """Write ``map`` and all that it calls.

    ``instructions`` are those of a function (x, p) -> y of columns: x are the inputs that instances
    have for themselves, p those in common, y the outputs, each joined in the order of ``sizes``.
    """
    plans = divide_values(instructions, Turns.of_whole(instructions))
    # Nothing is left to the third routine, which completes functions in turn.
    (prepare, evaluate, _), kept = place_values(plans)
    parts, scratch = _write_in_lanes(instructions, evaluate, lanes)
    scalar = [*write_functions(instructions, prepare), *write_sides(instructions)]
    work = _Work.of(sizes, kept, scratch, lanes)
    lane_by_lane = write_lane_by_lane(Part.merge(parts), lanes)
    loops = _write_map(sizes, kept, work, lanes) + lane_by_lane
    modules = (loops, *(x.module() for x in scalar), *(x.module(lanes) for x in parts))
    return LanesText(modules, work.length)


def _write_in_lanes(
    instructions: Instructions, routine: Routine, lanes: int
) -> tuple[list[Part], int]:
    """Write a routine in lanes, and its pieces; return the length of the scratch array it gets."""
    with_scratch = routine._replace(arguments=(*routine.arguments, "scratch"))
    if not is_long(routine):
        return [write_routine(instructions, with_scratch, lanes)], 0
    pieces, scratch = divide_long(instructions, routine)
    written = [write_routine(instructions, piece, lanes) for piece in pieces]
    return [*written, Part(declare_all(pieces) + define(with_scratch, call_all(pieces)))], scratch


class _Work(NamedTuple):
    """Where arrays begin in ``work``, and its length.

    What is common to all instances and kept of it comes first, then arrays of a group, in lanes.
    """

    p: int  # inputs in common
    once: int  # what ``prepare`` computes of these, once
    x: int  # inputs of a group
    kept: int  # the numbers of ``once``, each repeated in all lanes
    y: int  # outputs of a group
    scratch: int  # between the pieces of a long ``evaluate``
    length: int

    @classmethod
    def of(cls, sizes: InstanceSizes, kept: int, scratch: int, lanes: int) -> _Work:
        many = (sum(sizes.own), kept, sum(sizes.outputs), scratch)
        begins, length = [], 0
        for size in (sum(sizes.common), kept, *(lanes * n for n in many)):
            begins.append(length)
            length += -(-size // _ALIGNED) * _ALIGNED
        return cls._make([*begins, length])


def _write_map(sizes: InstanceSizes, kept: int, work: _Work, lanes: int) -> str:
    """Write ``map``, a loop over groups; lanes behind the last instance compute it again."""
    lines = [
        f"%{name} = getelementptr double, ptr %work, i64 {begin}\n"
        for name, begin in zip(_Work._fields[:-1], work[:-1], strict=True)
    ]
    lines.append("%last = sub i64 %count, 1\n")
    lines += [_load_pointer("in", i) for i in range(len(sizes.own) + len(sizes.common))]
    lines += [
        _load_pointer("out", i) + f"%asked{i} = icmp ne ptr %out{i}, null\n"
        for i in range(len(sizes.outputs))
    ]
    own = [
        f"%to{i} = getelementptr double, ptr %x, i64 {first * lanes}\n"
        f"call void @gather(ptr %in{i}, i64 {size}, i64 %k, i64 %last, ptr %to{i})\n"
        for i, (size, first) in enumerate(_pair_with_starts(sizes.own))
    ]
    common = [
        f"%to{i} = getelementptr double, ptr %p, i64 {first}\n"
        f"call void @llvm.memcpy.p0.p0.i64(ptr %to{i}, ptr %in{i}, i64 {8 * size}, i1 false)\n"
        for i, (size, first) in enumerate(_pair_with_starts(sizes.common), len(sizes.own))
    ]
    results = [
        f"br i1 %asked{i}, label %write{i}, label %written{i}\nwrite{i}:\n"
        f"%from{i} = getelementptr double, ptr %y, i64 {first * lanes}\n"
        f"call void @scatter(ptr %from{i}, i64 {size}, i64 %k, i64 %last, ptr %out{i})\n"
        f"br label %written{i}\nwritten{i}:\n"
        for i, (size, first) in enumerate(_pair_with_starts(sizes.outputs))
    ]
    end = f"written{len(sizes.outputs) - 1}"
    return "".join(
        [
            "declare void @prepare(ptr, ptr)\ndeclare void @evaluate(ptr, ptr, ptr, ptr)\n",
            "declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)\n",
            _write_moves("gather", lanes),
            _write_moves("scatter", lanes),
            "define void @map(i64 %count, ptr %in, ptr %out, ptr %work) nounwind {\nentry:\n",
            *lines,
            *common,
            "call void @prepare(ptr %p, ptr %once)\n",
            f"call void @gather(ptr %once, i64 {kept}, i64 0, i64 0, ptr %kept)\n",
            "br label %group\ngroup:\n",
            f"%k = phi i64 [0, %entry], [%next, %{end}]\n",
            *own,
            "call void @evaluate(ptr %x, ptr %kept, ptr %y, ptr %scratch)\n",
            *results,
            f"%next = add i64 %k, {lanes}\n%more = icmp slt i64 %next, %count\n",
            "br i1 %more, label %group, label %end\nend:\nret void\n}\n",
        ]
    )


def _pair_with_starts(sizes: Sequence[int]) -> Iterator[tuple[int, int]]:
    """Return each size, and the sum of those before it."""
    return zip(sizes, accumulate(sizes, initial=0), strict=False)


def _load_pointer(array: str, i: int) -> str:
    """Read a pointer from an array of them."""
    at = f"%at.{array}{i}"
    return f"{at} = getelementptr ptr, ptr %{array}, i64 {i}\n%{array}{i} = load ptr, ptr {at}\n"


def _write_moves(name: str, lanes: int) -> str:
    """Write what moves numbers of instances into lanes, ``gather``, or back, ``scatter``."""
    apart, together = ("from", "to") if name == "gather" else ("to", "from")
    known, moved = [], []
    for lane in range(lanes):
        known += [
            f"%i{lane} = add i64 %first, {lane}",
            f"%known{lane} = icmp slt i64 %i{lane}, %last",
            f"%k{lane} = select i1 %known{lane}, i64 %i{lane}, i64 %last",
            f"%begin{lane} = mul i64 %k{lane}, %n",
            f"%of{lane} = getelementptr double, ptr %{apart}, i64 %begin{lane}",
        ]
        places = [f"%apart{lane}", f"%side{lane}"]
        read, written = places if name == "gather" else places[::-1]
        moved += [
            f"%apart{lane} = getelementptr double, ptr %of{lane}, i64 %j",
            f"%side{lane} = getelementptr double, ptr %side, i64 {lane}",
            f"%value{lane} = load double, ptr {read}",
            f"store double %value{lane}, ptr {written}",
        ]
    given = "ptr noalias %from, i64 %n, i64 %first, i64 %last, ptr noalias %to"
    lines = [
        f"define internal void @{name}({given}) nounwind {{\nentry:",
        *known,
        "%any = icmp sgt i64 %n, 0\nbr i1 %any, label %entries, label %end\nentries:",
        "%j = phi i64 [0, %entry], [%next, %entries]",
        f"%far = mul i64 %j, {lanes}\n%side = getelementptr double, ptr %{together}, i64 %far",
        *moved,
        "%next = add i64 %j, 1\n%more = icmp slt i64 %next, %n",
        "br i1 %more, label %entries, label %end\nend:\nret void\n}\n",
    ]
    return "\n".join(lines)


def write_lane_by_lane(callers: Part, lanes: int) -> str:
    """Write the operations and branches that functions in lanes call, lane by lane."""
    branches = sorted(callers.branches)
    sides = sorted({k for branch in branches for k in branch.sides})
    texts = [declare_functions(1), *(f"declare void @{name_side(k)}(ptr, ptr)\n" for k in sides)]
    if branches:
        texts.append(_STRIDED.format(name="pick", lanes=lanes, of="far", into="k"))
        texts.append(_STRIDED.format(name="place", lanes=lanes, of="k", into="far"))
    texts += [_write_operation(number, lanes) for number in sorted(callers.scalar)]
    texts += [_write_branch(branch, lanes) for branch in branches]
    return "".join(texts)


def _write_operation(number: int, lanes: int) -> str:
    """Write an operation, by its number in CasADi, on the array of its operands.

    These are always two: of one the same twice.
    """
    # Its instructions are numbered from 0 on; the last one gives the result.
    template, results, _ = make_operations(1)[number]
    lines = [
        "%a = getelementptr double, ptr %operands, i64 %lane.k\n%x = load double, ptr %a\n",
        f"%b = getelementptr double, ptr %a, i64 {lanes}\n%y = load double, ptr %b\n",
        template.format("%x", "%y", *range(results)),
        "%c = getelementptr double, ptr %results, i64 %lane.k\n",
        f"store double %{results - 1}, ptr %c\n",
    ]
    return f"; {name_operation(number)}\n" + _write_each_lane(
        name_scalar(number, lanes), "", lines, "lane", lanes
    )


def _write_branch(branch: CalledBranch, lanes: int) -> str:
    """Write what calls one side or the other in each lane, by the condition in that lane.

    Sides have arrays of one lane: ``given`` to read, ``found`` to write.
    """
    n, m = branch.operands, branch.results
    lines = [
        "%a = getelementptr double, ptr %operands, i64 %lane.k\n%x = load double, ptr %a\n",
        f"%b = getelementptr double, ptr %a, i64 {lanes}\n",
        f"call void @pick(ptr %b, i64 {n}, ptr %given)\n",
        # Its results are numbered from 0 to 2, so that it ends in a block of the name end0.
        CHOICE.replace("%operands", "%given")
        .replace("%results", "%found")
        .format("%x", *map(name_side, branch.sides), 0, 1, 2),
        "%c = getelementptr double, ptr %results, i64 %lane.k\n",
        f"call void @place(ptr %found, i64 {m}, ptr %c)\n",
    ]
    arrays = f"%given = alloca [{n} x double]\n%found = alloca [{m} x double]\n"
    return _write_each_lane(branch.name(lanes), arrays, lines, "end0", lanes)


def _write_each_lane(name: str, arrays: str, lines: Sequence[str], last: str, lanes: int) -> str:
    """Write a function that does the same in each lane, ending in the block ``last``."""
    loop = _LOOP.format(last=last, lines="".join(lines), lanes=lanes)
    given = "ptr noalias %operands, ptr noalias %results"
    return f"define void @{name}({given}) nounwind {{\nentry:\n{arrays}{loop}}}\n"
