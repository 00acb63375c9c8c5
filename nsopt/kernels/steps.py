"""What both full steps and proximal points are made of.

``p`` is a program, ``space`` its workspace; `Square` ``s`` and `Workspace` ``w`` are views of them.
Late rows, whose pivots are known in the solve alone, are eliminated last (`make_square`).
"""

from __future__ import annotations

from typing import Any

from nsopt.kernels.elimination import (
    LATE_SHIFT,
    assemble,
    correct_redundant,
    eliminate,
    eliminate_right_side,
    has_redundant_row,
    shift_late_pivots,
    shift_redundant,
    substitute_back,
)
from nsopt.kernels.kernel import copy, inline, kernel
from nsopt.kernels.machine import call, index
from nsopt.kernels.min_map import combine, largest
from nsopt.kernels.square import DISCS, LATE
from nsopt.kernels.views import square_of, workspace_of

SHIFT = 1e-6
"""Part of the mean pivot of a set of redundant rows that is added to each of theirs."""

SAME = 1e-3
"""Part by which residuals differ that count as the same."""


@kernel
def evaluate_at(p: Any, space: Any, evaluate: int, x: Any) -> float:
    """Evaluate the program itself at x; return the largest of its rows."""
    s, w = square_of(p), workspace_of(p, space)
    call(evaluate, x, w.kept, w.y)
    for k in range(len(w.share)):
        w.share[k] = 1.0
    combine(s, w, 0.0, w.y)
    return largest(w.r)


@kernel
def find_direction(p: Any, space: Any, complete: int, x: Any, proximal: float, part: float) -> None:
    """Solve for Newton's direction at x, which was evaluated last; the rows r are used up.

    Late pivots get ``proximal`` of their own more, those of redundant rows ``part`` of their mean.
    """
    s, w = square_of(p), workspace_of(p, space)
    call(complete, x, w.kept, w.y)
    assemble(s, w)
    late, fronts = s.sizes[LATE], len(s.plan.width)  # the first front of late rows, all fronts
    first = s.plan.first[late]  # the turn of the first late row in the elimination
    for half in range(2):  # so that the code of `eliminate` stands here once
        if half == 1:
            shift_late_pivots(s, w, first, max(proximal, w.redundant[0] * LATE_SHIFT))
            shift_redundant(s, w, part)
        eliminate(s.plan, half * late, fronts if half == 1 else late, w.A)
    if s.sizes[DISCS] > 0 and has_redundant_row(s, w, first):
        w.redundant[0] = 1.0
    substitute(s, w, first)


@kernel
def find_direction_again(p: Any, space: Any) -> None:
    """Solve for the direction of other rows r by the matrix of the last one."""
    s, w = square_of(p), workspace_of(p, space)
    for i in range(len(w.r)):
        w.A[index(s.plan.right[index(i)])] = w.r[index(i)]
    eliminate_right_side(s.plan, 0, w.A)
    substitute(s, w, s.plan.first[s.sizes[LATE]])


@inline
def substitute(s: Any, w: Any, first: int) -> None:
    """Find the direction from what elimination leaves: of rows from a turn on, then the others."""
    turns = len(s.plan.pivot)
    for half in range(2):  # so that the code of `substitute_back` stands here once
        begin, end = (0, first) if half == 1 else (first, turns)
        substitute_back(s.plan, begin, end, w.A, w.dx)
        if half == 0 and w.redundant[0]:
            correct_redundant(s, w, first)


@inline
def go(s: Any, w: Any, x: Any, new: Any, length: float) -> None:
    """Go from x to ``new`` by a length of the direction."""
    copy(x, new)
    for i in range(len(s.match)):
        new[index(s.match[index(i)])] -= length * w.dx[index(i)]


@inline
def goes_round(size: float, second: float, third: float) -> bool:
    """Tell whether full steps go round the same modes: the residual of two or three ago is back."""
    return min(abs(size - second), abs(size - third)) <= SAME * size
