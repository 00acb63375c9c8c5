"""The min map: which alternative of each row holds, and the weights of its terms.

``s`` is the `Square` program, ``w`` its `Workspace`. Terms, rows and weights come in the order of
`Sizes`; a row has a weight for each of its terms, its derivative by it. Values ``w.y`` of the
machine code are the terms, then which pairs and which events are active, 0 or 1.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from nsopt.kernels.kernel import inline
from nsopt.kernels.square import BOXES, DISCS, EQUATIONS, EVENTS, FIRST_EVENTS, PAIRS, ROWS, TERMS

TINY = 1e-60
"""Square of a length below which a vector has no direction: far below round-off of scaled terms."""


@inline
def combine(s: Any, w: Any, part: float, at: Any) -> None:
    """Fill in the rows r and the weights of their terms, of the next proximal point.

    A pair is min(G, H), H where it is not active; a box mid(z - upper, z - lower, F); a disc F
    inside, on the edge z less its radius along z - F; a first event, such as the first contact that
    closes in a step and so ends it, its least active event. G and F are multiplied by ``w.share``,
    any positive number, which makes their slopes by H or z about one (`weigh_slopes`). To them is
    added ``part`` (0 or more, also above 1) times the way of H or z from the last point, the terms
    of which are ``at`` (terms,). With part 0 and ``w.share`` 1 it is the program itself.
    """
    equations, pairs, boxes, discs = (
        s.sizes[EQUATIONS],
        s.sizes[PAIRS],
        s.sizes[BOXES],
        s.sizes[DISCS],
    )
    for i in range(equations):
        w.r[i] = w.y[i]
        w.weight[i] = 1.0
    combine_pairs(s, w, part, at, pairs)
    combine_boxes(s, w, part, at, boxes)
    for k in range(discs):
        combine_disc(s, w, part, at, k)
    if s.sizes[FIRST_EVENTS]:
        combine_events(s, w)


@inline
def combine_pairs(s: Any, w: Any, part: float, at: Any, pairs: int) -> None:
    """Take the smaller of G and H, H where a pair is not active."""
    row, active = s.sizes[EQUATIONS], s.sizes[TERMS]
    for k in range(pairs):
        first, second = row + k, row + pairs + k
        G = w.share[k] * w.y[first] + part * (w.y[second] - at[second])
        H = w.y[second]
        weight = row + 2 * k
        if w.y[active + k] != 0.0 and not H < G:
            w.r[row + k] = G
            w.weight[weight] = w.share[k]
            w.weight[weight + 1] = part
        else:
            w.r[row + k] = H
            w.weight[weight] = 0.0
            w.weight[weight + 1] = 1.0


@inline
def combine_boxes(s: Any, w: Any, part: float, at: Any, boxes: int) -> None:
    """Take F, or the bound that stops it."""
    equations, pairs = s.sizes[EQUATIONS], s.sizes[PAIRS]
    row, term, weight = equations + pairs, equations + 2 * pairs, equations + 2 * pairs
    for k in range(boxes):  # weights: of z - lower, z - upper, F, z
        low, up = w.y[term + k], w.y[term + boxes + k]
        z = term + 3 * boxes + k
        F = w.share[pairs + k] * w.y[term + 2 * boxes + k] + part * (w.y[z] - at[z])
        for i in range(4):
            w.weight[weight + i] = 0.0
        inner = low if low <= F else F
        if up >= inner:
            w.r[row + k] = up
            w.weight[weight + 1] = 1.0
        elif low <= F:
            w.r[row + k] = low
            w.weight[weight] = 1.0
        else:
            w.r[row + k] = F
            w.weight[weight + 2] = w.share[pairs + k]
            w.weight[weight + 3] = part
        weight += 4


@inline
def combine_disc(s: Any, w: Any, part: float, at: Any, k: int) -> None:
    """Take F where z - F is inside, else z less its radius along z - F."""
    equations, pairs, boxes, discs = (
        s.sizes[EQUATIONS],
        s.sizes[PAIRS],
        s.sizes[BOXES],
        s.sizes[DISCS],
    )
    row = equations + pairs + boxes + 2 * k
    z = equations + 2 * pairs + 4 * boxes + 2 * k
    share = w.share[pairs + boxes + 2 * k]  # the same for both directions, to keep it a disc
    weight = equations + 2 * pairs + 4 * boxes + 10 * k
    # Terms are z of all discs, two each, then F, two each, then the radius of each.
    radius = max(w.y[z - 2 * k + 4 * discs + k], 0.0)
    # Derivative of that radius by its term.
    widens = 1.0 if w.y[z - 2 * k + 4 * discs + k] >= 0.0 else 0.0
    z0, z1 = w.y[z], w.y[z + 1]
    F0 = share * w.y[z + 2 * discs] + part * (z0 - at[z])
    F1 = share * w.y[z + 2 * discs + 1] + part * (z1 - at[z + 1])
    reach0, reach1 = z0 - F0, z1 - F1
    square = reach0 * reach0 + reach1 * reach1
    for i in range(10):  # of z0, z1, F0, F1 and the radius, in the first row, then in the second
        w.weight[weight + i] = 0.0
    if square < radius * radius:
        w.r[row], w.r[row + 1] = F0, F1
        w.weight[weight] = w.weight[weight + 6] = part
        w.weight[weight + 2] = w.weight[weight + 8] = share
        return
    length = np.sqrt(max(square, TINY))
    u0, u1 = reach0 / length, reach1 / length
    turn = radius / length if square > TINY else 0.0
    w.r[row], w.r[row + 1] = z0 - radius * u0, z1 - radius * u1
    # Derivatives d of the point on the edge by z - F; of this by z 1 - part, by F minus its share.
    d00, d01, d11 = turn * (1 - u0 * u0), -turn * u0 * u1, turn * (1 - u1 * u1)
    w.weight[weight] = 1 - d00 * (1 - part)
    w.weight[weight + 1] = -d01 * (1 - part)
    w.weight[weight + 2] = d00 * share
    w.weight[weight + 3] = d01 * share
    w.weight[weight + 4] = -u0 * widens
    w.weight[weight + 5] = -d01 * (1 - part)
    w.weight[weight + 6] = 1 - d11 * (1 - part)
    w.weight[weight + 7] = d01 * share
    w.weight[weight + 8] = d11 * share
    w.weight[weight + 9] = -u1 * widens


@inline
def combine_events(s: Any, w: Any) -> None:
    """Take the least active event of each first event; the first of them always is active."""
    terms, events, pairs = s.sizes[TERMS], s.sizes[EVENTS], s.sizes[PAIRS]
    row, weight = s.sizes[ROWS] - s.sizes[FIRST_EVENTS], len(w.weight) - events
    for i in range(events):
        w.weight[weight + i] = 0.0
    for k in range(s.sizes[FIRST_EVENTS]):
        begin, end = s.event_start[k], s.event_start[k + 1]
        least = begin
        for i in range(begin + 1, end):
            active = w.y[terms + pairs + i] != 0.0
            if active and w.y[terms - events + i] < w.y[terms - events + least]:
                least = i
        w.r[row + k] = w.y[terms - events + least]
        w.weight[weight + least] = 1.0


@inline
def norm(r: Any) -> float:
    """Return the root of the sum of squares."""
    total = 0.0
    for k in range(len(r)):
        total += r[k] * r[k]
    return float(np.sqrt(total))


@inline
def largest(r: Any) -> float:
    """Return the largest size of numbers; not a number where any is."""
    most, total = 0.0, 0.0
    for k in range(len(r)):
        most = max(most, abs(r[k]))
        total += r[k]
    return float(total) if np.isnan(total) else most
