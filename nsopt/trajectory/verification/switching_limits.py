"""Which limits of an optimum hold it for a part of the time: where they begin and end is a node."""

from __future__ import annotations

import numpy as np

from nsopt.arrays import Array
from nsopt.mpcc import HorizonPlace, StructuredNlp

ACTIVE = 1e-6  # multiplier of a row, over the largest of all, from which a limit holds the motion

PLACES = (HorizonPlace.NODES, HorizonPlace.MIDDLES, HorizonPlace.STEPS)


def find_switching_limits(nlp: StructuredNlp, multipliers: Array) -> tuple[str, ...]:
    """Return the labels of limits that hold a motion at some of their nodes, and not at others.

    ``multipliers`` (m,) are those of the rows.
    """
    sizes = np.abs(multipliers)
    least = ACTIVE * sizes.max(initial=0.0)
    found: dict[str, bool] = {}
    for block, size in zip(nlp.blocks, nlp.split_rows(sizes), strict=True):
        if block.place not in PLACES:
            continue
        pairs = block.parts or (None,) * block.rows  # contacts are no limits
        for i, (label, part) in enumerate(zip(block.labels, pairs, strict=True)):
            limited = block.lower[:, i] < block.upper[:, i]
            active = size[limited, i] > least
            if part is None and active.any() and not active.all():
                found[label] = True
    return tuple(found)
