"""Semismooth Newton on the min map: full steps, else proximal points from the start again."""

from __future__ import annotations

from typing import Any

import numpy as np

from nsopt.kernels.kernel import copy, kernel
from nsopt.kernels.search import search
from nsopt.kernels.steps import (
    SHIFT,
    evaluate_at,
    find_direction,
    find_direction_again,
    go,
    goes_round,
)
from nsopt.kernels.views import square_of, workspace_of

ENOUGH = 5
"""Steps after which a rough residual is enough, where round-off keeps it from falling further."""

SURE = 0.1
"""A step by the matrix of the last one lowers the residual about as much as that did. It is taken
where this is expected to be within such a part of the tolerance."""

NEAR = 0.3
"""Scaled residual up to which motion seems to go on as before; after an impact it is beyond."""

SLOW = 0.1
"""Part of the residual before from which on a full step has hardly lowered it."""

SLOW_SHIFT = 1e-3
"""Part of `SHIFT` that is taken where steps are slow: joints pass a configuration in which more
rows depend on each other than elsewhere, as a parallelogram that is flat, and pivots are small."""


@kernel
def solve(
    p: Any,
    space: Any,
    evaluate: int,
    complete: int,
    o: Any,
    last: bool,
    share: float,
    goes_on: bool,
) -> tuple[float, int]:
    """Solve a square program from ``w.x``; return the largest scaled residual and the steps.

    Parameters
    ----------
    p, space : (k,), (l,)
        The program, and its workspace with x and what the machine code keeps of the parameters.
    evaluate, complete : int
        Addresses of the machine code (x, kept) -> y, of the terms, and of their derivatives at the
        same x: these are needed for a direction by a new matrix alone.
    o : NewtonNumbers
    last : bool
        Whether h cannot be smaller, so that the search has ``o.last`` points, not ``o.budget``.
    share : float
        Share of the tolerance at which full steps end at once.
    goes_on : bool
        Whether ``w.trial`` is where motion would be that goes on as before: full steps start from
        there if it is near a solution.
    """
    s, w = square_of(p), workspace_of(p, space)
    w.redundant[0] = 1.0 if len(s.redundant_row) > 0 else 0.0
    copy(w.x, w.start)
    size = evaluate_at(p, space, evaluate, w.trial) if goes_on else np.inf
    if size <= NEAR:
        copy(w.trial, w.x)
    else:
        size = evaluate_at(p, space, evaluate, w.x)
    again, shift, count = False, SHIFT, 0
    second, third = np.inf, np.inf  # residuals of two and of three steps ago
    while count < o.iterations:
        count += 1
        if again:
            find_direction_again(p, space)
        else:
            find_direction(p, space, complete, w.x, o.proximal, shift)
        go(s, w, w.x, w.x, 1.0)
        before, size = size, evaluate_at(p, space, evaluate, w.x)
        slow = size > SLOW * before
        stays = slow or count == o.iterations
        if size <= share * o.tolerance or (count >= ENOUGH and stays and size <= o.rough):
            return size, count
        if size > o.rough and goes_round(size, second, third):
            break
        second, third = before, second
        if slow and not again:
            shift = SLOW_SHIFT * SHIFT
        expected = size * size  # over ``before``: the next residual, if it falls quadratically
        again = not again and expected <= SURE * share * o.tolerance * before
    if o.last == 0:
        return size, count
    return search(p, space, evaluate, complete, o, last, count)
