"""A program and its workspace as parts of one array each.

Kernels hand over these two arrays, not the forty that they look at: numbers of an array are handed
over by value, which would take longer than the work of a small program.
"""

from __future__ import annotations

from typing import Any

from nsopt.kernels.kernel import inline
from nsopt.kernels.machine import view
from nsopt.kernels.plan import Elimination
from nsopt.kernels.square import Square, Workspace


@inline
def square_of(p: Any) -> Any:
    """Return the arrays of a program from its numbers, which begin with where each begins."""
    return Square(
        view(p, p[0], p[1]),
        view(p, p[1], p[2]),
        view(p, p[2], p[3]),
        view(p, p[3], p[4]),
        view(p, p[4], p[5]),
        view(p, p[5], p[6]),
        view(p, p[6], p[7]),
        view(p, p[7], p[8]),
        view(p, p[8], p[9]),
        view(p, p[9], p[10]),
        view(p, p[10], p[11]),
        view(p, p[11], p[12]),
        Elimination(
            view(p, p[12], p[13]),
            view(p, p[13], p[14]),
            view(p, p[14], p[15]),
            view(p, p[15], p[16]),
            view(p, p[16], p[17]),
            view(p, p[17], p[18]),
            view(p, p[18], p[19]),
            view(p, p[19], p[20]),
            view(p, p[20], p[21]),
            view(p, p[21], p[22]),
            view(p, p[22], p[23]),
            view(p, p[23], p[24]),
            view(p, p[24], p[25]),
            view(p, p[25], p[26]),
            view(p, p[26], p[27]),
            view(p, p[27], p[28]),
            view(p, p[28], p[29]),
            view(p, p[29], p[30]),
        ),
    )


@inline
def workspace_of(p: Any, space: Any) -> Any:
    """Return the arrays of a workspace from the numbers of its program and its own."""
    return Workspace(
        view(space, p[31], p[32]),
        view(space, p[32], p[33]),
        view(space, p[33], p[34]),
        view(space, p[34], p[35]),
        view(space, p[35], p[36]),
        view(space, p[36], p[37]),
        view(space, p[37], p[38]),
        view(space, p[38], p[39]),
        view(space, p[39], p[40]),
        view(space, p[40], p[41]),
        view(space, p[41], p[42]),
        view(space, p[42], p[43]),
        view(space, p[43], p[44]),
        view(space, p[44], p[45]),
        view(space, p[45], p[46]),
        view(space, p[46], p[47]),
        view(space, p[47], p[48]),
    )
