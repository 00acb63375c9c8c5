"""The proximal point algorithm [Rockafellar 1976, SIAM J. Control Optim. 14(5)] on the min map.

Each point is the solution of the program with some part of the way from the last point added, which
is regular where the program is not; damped steps find it. ``s`` is the `Square` program, ``w`` its
`Workspace`, ``o`` the `NewtonNumbers`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from nsopt.kernels.kernel import copy, inline, kernel
from nsopt.kernels.machine import call
from nsopt.kernels.min_map import combine, largest, norm
from nsopt.kernels.square import BOXES, DISCS, EQUATIONS, EVENTS, PAIRS, TERMS
from nsopt.kernels.steps import SHIFT, evaluate_at, find_direction, go, goes_round
from nsopt.kernels.views import square_of, workspace_of

LENGTHS = (0.5, 0.25, 0.06)
"""Of steps, about 1/2, 1/4 and 1/16, where full ones do not lower the residual: the first that does
is taken."""

SIDESTEP = 0.3
"""Length of every second step where none does; the others are full: full steps alone may go to and
fro between two pieces of the min map."""

SUFFICIENT = 0.1
"""A step is to lower the residual by this times its length, of that before. Far from
critical: thirty runs of random rough chains and four-bars took as many steps and attempts, within
4 %, by 1e-4."""

TRIES = 6
"""Full steps of the program itself from each point: on its own piece Newton's method takes two or
three. By 2 and by 20 the same runs took as many steps and attempts, within 6 %."""

LOST = 1e100
"""Scaled residual from which on a point is given up."""

FLAT = 1e-12
"""The least slope that counts, over the largest."""

NONE = 1e-300
"""The least slope where all are zero."""


@kernel
def search(
    p: Any, space: Any, evaluate: int, complete: int, o: Any, last: bool, total: int
) -> tuple[float, int]:
    """Find proximal points from ``w.start`` until one solves the program itself.

    Return the largest scaled residual, and ``total`` plus the steps.

    Damped steps lead to each point, full ones of the program itself on from there. A point that is
    found is the next to start from, with less part of the way back to it; from one that is not
    found in time the search returns to the last, with more.
    """
    s, w = square_of(p), workspace_of(p, space)
    copy(w.start, w.x)
    copy(w.start, w.last)
    evaluate_at(p, space, evaluate, w.x)
    call(complete, w.x, w.kept, w.y)
    weigh_slopes(p, space)
    store_terms(w)
    part, steps = o.first, 0
    for _ in range(o.last if last else o.budget):
        before, _ = evaluate_near(p, space, evaluate, w.x, part)
        find_direction(p, space, complete, w.x, o.proximal, SHIFT)
        length = choose_length(p, space, evaluate, part, before, SIDESTEP if steps % 2 else 1.0)
        go(s, w, w.x, w.trial, length)
        _, size = evaluate_near(p, space, evaluate, w.trial, part)
        total += 1
        if size <= o.inexact * part:
            copy(w.trial, w.best)
            size, more = try_full_steps(p, space, evaluate, complete, o)
            total += more
            if size <= o.rough:
                copy(w.best, w.x)
                return size, total
            copy(w.trial, w.x)
            part, steps = part * o.shrink, 0
        elif steps + 1 >= o.steps or not size <= LOST:
            copy(w.last, w.x)
            part, steps = part * o.grow, 0
        else:
            copy(w.trial, w.x)
            steps += 1
            continue
        copy(w.x, w.last)
        call(evaluate, w.x, w.kept, w.y)
        store_terms(w)
    return evaluate_at(p, space, evaluate, w.x), total


@inline
def store_terms(w: Any) -> None:
    """Take the terms at hand as those of the last point."""
    for k in range(len(w.at)):
        w.at[k] = w.y[k]


@kernel
def evaluate_near(p: Any, space: Any, evaluate: int, x: Any, part: float) -> tuple[float, float]:
    """Evaluate the next proximal point at x; return the norm of its rows and the largest."""
    s, w = square_of(p), workspace_of(p, space)
    call(evaluate, x, w.kept, w.y)
    copy(w.slopes, w.share)
    combine(s, w, part, w.at)
    return norm(w.r), largest(w.r)


@kernel
def choose_length(
    p: Any, space: Any, evaluate: int, part: float, before: float, otherwise: float
) -> float:
    """Return the first length of the direction that lowers the norm of the rows enough."""
    s, w = square_of(p), workspace_of(p, space)
    go(s, w, w.x, w.trial, 1.0)
    if evaluate_near(p, space, evaluate, w.trial, part)[0] < (1 - SUFFICIENT) * before:
        return 1.0
    for length in LENGTHS:
        go(s, w, w.x, w.trial, length)
        lower = (1 - SUFFICIENT * length) * before
        if evaluate_near(p, space, evaluate, w.trial, part)[0] < lower:
            return length
    return otherwise


@kernel
def try_full_steps(p: Any, space: Any, evaluate: int, complete: int, o: Any) -> tuple[float, int]:
    """Take full steps of the program itself from ``w.best``; return the residual, and how many."""
    s, w = square_of(p), workspace_of(p, space)
    size = evaluate_at(p, space, evaluate, w.best)
    one, two, three = np.inf, np.inf, np.inf  # residuals of so many steps ago
    for count in range(TRIES):
        if size <= o.tolerance or (size > o.rough and goes_round(size, two, three)):
            return size, count
        one, two, three = size, one, two
        find_direction(p, space, complete, w.best, o.proximal, SHIFT)
        go(s, w, w.best, w.best, 1.0)
        size = evaluate_at(p, space, evaluate, w.best)
    return size, TRIES


@kernel
def weigh_slopes(p: Any, space: Any) -> None:
    """Put into ``w.slopes`` about 1 / (dF/dz) of each projection.

    Each equation is solved for its own unknown by that derivative alone, as in Jacobi's method: of
    the mass matrix M only the diagonal counts.
    """
    s, w = square_of(p), workspace_of(p, space)
    equations, pairs, boxes = s.sizes[EQUATIONS], s.sizes[PAIRS], s.sizes[BOXES]
    low, bounded = equations + 2 * pairs, pairs + boxes
    disc = low + 4 * boxes
    along = np.zeros(len(s.match))
    row_of = np.full(len(s.match), -1)
    for i in range(equations):
        row_of[s.match[i]] = i
    for k in range(len(w.slopes)):
        if k < pairs:
            z, F = equations + pairs + k, equations + k
        elif k < bounded:
            z, F = low + 3 * boxes + k - pairs, low + 2 * boxes + k - pairs
        else:
            z, F = disc + k - bounded, disc + 2 * s.sizes[DISCS] + k - bounded
        w.slopes[k] = abs(find_slope(s, w, z, F, row_of, along))
    for k in range(bounded, len(w.slopes), 2):  # of a disc a bound of the larger eigenvalue
        both = w.slopes[k] + w.slopes[k + 1]
        w.slopes[k], w.slopes[k + 1] = both, both
    least = FLAT * largest(w.slopes) + NONE
    for k in range(len(w.slopes)):
        w.slopes[k] = 1 / max(w.slopes[k], least)


@kernel
def find_slope(s: Any, w: Any, z: int, F: int, row_of: Any, along: Any) -> float:
    """Return dF/dz of two terms, once each equation has given the unknown that it is for.

    Parameters
    ----------
    z, F : int
        Terms.
    row_of : (n,)
        The equation of each unknown, -1 for none.
    along : (n,)
        Zeros, for the direction in which z grows by one.
    """
    first = s.sizes[TERMS] + s.sizes[PAIRS] + s.sizes[EVENTS]  # of the derivatives in y
    square, slope = 0.0, 0.0
    for e in range(s.term_start[z], s.term_start[z + 1]):
        square += w.y[first + e] ** 2
    for e in range(s.term_start[z], s.term_start[z + 1]):
        along[s.term_column[e]] = w.y[first + e] / square
    for e in range(s.term_start[F], s.term_start[F + 1]):
        j, value = s.term_column[e], w.y[first + e]
        slope += value * along[j]
        if row_of[j] >= 0:
            slope -= value * find_change(s, w, first, row_of[j], j, along)
    for e in range(s.term_start[z], s.term_start[z + 1]):
        along[s.term_column[e]] = 0.0
    return slope


@kernel
def find_change(s: Any, w: Any, first: int, i: int, j: int, along: Any) -> float:
    """Return minus the change of unknown j by which equation i is kept along a direction."""
    change, own = 0.0, 0.0
    for e in range(s.term_start[i], s.term_start[i + 1]):
        change += along[s.term_column[e]] * w.y[first + e]
        if s.term_column[e] == j:
            own = w.y[first + e]
    return change / own if own != 0.0 else 0.0  # it is for j, but does not see it here
