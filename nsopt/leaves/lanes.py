"""A function at many instances as text in LLVM's language: several side by side, in lanes.

Arrays of ``evaluate`` have the numbers of an entry for all lanes side by side, so that each
instruction is one of whole vectors. What has no such instruction, as the functions of libm, and
sides of branches are done lane by lane, so that bits are those of one instance alone.
"""

from __future__ import annotations

from typing import NamedTuple

from nsopt.leaves.instructions import Instructions
from nsopt.leaves.lane_by_lane import write_lane_by_lane
from nsopt.leaves.routines import Routine, divide_long, divide_values, is_long, place_values
from nsopt.leaves.text import (
    Part,
    call_all,
    declare_all,
    define,
    write_functions,
    write_routine,
    write_sides,
)
from nsopt.leaves.turns import InTurn

_ALIGNED = 8
"""Numbers to which arrays of the scratch memory are aligned."""


class InstanceSizes(NamedTuple):
    """Entries of all inputs of a function, and of its outputs."""

    own: tuple[int, ...]
    common: tuple[int, ...]
    outputs: tuple[int, ...]


class LanesText(NamedTuple):
    """Modules that make ``map``, how many of them hold loops alone, and numbers it works on.

    ``map(count, in, out, work)`` evaluates a function at so many instances: ``in`` and ``out`` are
    arrays of pointers to arrays in which the numbers of each instance are side by side; those of
    outputs that nobody asks for are null. ``work`` is aligned to 64 bytes.
    """

    modules: tuple[str, ...]
    loops: int
    work: int


def write_lanes_text(instructions: Instructions, sizes: InstanceSizes, lanes: int) -> LanesText:
    """Write ``map`` and all that it calls; modules that hold loops alone come first."""
    shares = divide_values(instructions, InTurn.of(instructions))
    (prepare, evaluate, _), kept = place_values(shares)
    evaluate = evaluate._replace(arrays=(*evaluate.arrays, "scratch"))
    parts, scratch = _write_in_lanes(instructions, evaluate, lanes)
    scalar = [*write_functions(instructions, prepare), *write_sides(instructions)]
    branches = {branch for part in parts for branch in part.branches}
    alone = {what for part in parts for what in part.alone}
    work = _Work.of(sizes, kept, scratch, lanes)
    loops = _write_map(sizes, kept, work, lanes) + write_lane_by_lane(branches, alone, lanes)
    modules = [loops, *(x.module() for x in scalar), *(x.module(lanes) for x in parts)]
    return LanesText(tuple(modules), 1, work.length)


def _write_in_lanes(
    instructions: Instructions, routine: Routine, lanes: int
) -> tuple[list[Part], int]:
    """Write a routine in lanes; return its pieces and the length of their scratch array."""
    if not is_long(routine):
        return [write_routine(instructions, routine, lanes)], 0
    whole = routine._replace(arrays=routine.arrays[:-1])
    pieces, scratch = divide_long(instructions, whole)
    written = [write_routine(instructions, piece, lanes) for piece in pieces]
    return [*written, Part(declare_all(pieces) + define(routine, call_all(pieces)))], scratch


class _Work(NamedTuple):
    """Where arrays begin in the scratch memory, and its length."""

    p: int
    once: int
    x: int
    kept: int
    y: int
    scratch: int
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
    """Write the loop over instances, so many at a time; behind the last one that again."""
    arrays = work._asdict().items()
    lines = [
        f"%{name} = getelementptr double, ptr %work, i64 {begin}\n"
        for name, begin in arrays
        if name != "length"
    ]
    lines.append("%last = sub i64 %count, 1\n")
    own, common, results = [], [], []
    first = 0
    for i, size in enumerate((*sizes.own, *sizes.common)):
        lines.append(_load_pointer("in", i))
        if i == len(sizes.own):
            first = 0
        if i < len(sizes.own):
            own.append(f"%to{i} = getelementptr double, ptr %x, i64 {first * lanes}\n")
            own.append(
                f"call void @gather(ptr %in{i}, i64 {size}, i64 %k, i64 %last, ptr %to{i})\n"
            )
        else:
            common.append(f"%to{i} = getelementptr double, ptr %p, i64 {first}\n")
            moved = f"ptr %to{i}, ptr %in{i}, i64 {8 * size}, i1 false"
            common.append(f"call void @llvm.memcpy.p0.p0.i64({moved})\n")
        first += size
    first = 0
    for i, size in enumerate(sizes.outputs):
        lines.append(_load_pointer("out", i) + f"%asked{i} = icmp ne ptr %out{i}, null\n")
        results.append(
            f"br i1 %asked{i}, label %write{i}, label %written{i}\nwrite{i}:\n"
            f"%from{i} = getelementptr double, ptr %y, i64 {first * lanes}\n"
            f"call void @scatter(ptr %from{i}, i64 {size}, i64 %k, i64 %last, ptr %out{i})\n"
            f"br label %written{i}\nwritten{i}:\n"
        )
        first += size
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
