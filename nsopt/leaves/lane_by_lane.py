"""What has no instruction of vectors, done lane by lane: functions of libm, and sides of branches.

So bits are those of one number alone.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from nsopt.leaves.operations import declarations, name_of, operations_in
from nsopt.leaves.text import CHOICE, CalledBranch, name_alone, name_side

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
"""Copies numbers that are as far from each other as there are lanes, or are to be."""


def write_lane_by_lane(branches: Iterable[CalledBranch], alone: Iterable[int], lanes: int) -> str:
    """Write what does operations and branches lane by lane."""
    chosen = sorted(branches)
    sides = sorted({k for branch in chosen for k in branch.sides})
    texts = [declarations(1), *(f"declare void @{name_side(k)}(ptr, ptr)\n" for k in sides)]
    if chosen:
        texts.append(_STRIDED.format(name="pick", lanes=lanes, of="far", into="k"))
        texts.append(_STRIDED.format(name="place", lanes=lanes, of="k", into="far"))
    texts += [_write_operation(what, lanes) for what in sorted(alone)]
    texts += [_write_branch(branch, lanes) for branch in chosen]
    return "".join(texts)


def _write_operation(what: int, lanes: int) -> str:
    template, results, _ = operations_in(1)[what]
    lines = [
        "%a = getelementptr double, ptr %operands, i64 %lane.k\n%x = load double, ptr %a\n",
        f"%b = getelementptr double, ptr %a, i64 {lanes}\n%y = load double, ptr %b\n",
        template.format("%x", "%y", *range(results)),
        "%c = getelementptr double, ptr %results, i64 %lane.k\n",
        f"store double %{results - 1}, ptr %c\n",
    ]
    return f"; {name_of(what)}\n" + _write_each_lane(
        name_alone(what, lanes), "", lines, "lane", lanes
    )


def _write_branch(branch: CalledBranch, lanes: int) -> str:
    n, m = branch.operands, branch.results
    lines = [
        "%a = getelementptr double, ptr %operands, i64 %lane.k\n%x = load double, ptr %a\n",
        f"%b = getelementptr double, ptr %a, i64 {lanes}\n",
        f"call void @pick(ptr %b, i64 {n}, ptr %given)\n",
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
