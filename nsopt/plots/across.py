"""What is across in pictures over time: the time, or the angle of a joint such as a crank."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from nsopt.analysis import freedom_of, quantity, unit
from nsopt.result import Result

TIME = "time [s]"
"""Label of the axis where the time is across."""


def across(
    results: Sequence[Result], over: str | None, *, one_way: bool = False
) -> tuple[tuple[Result, ...], str]:
    """Return results whose ``time`` is what is to be across, and its name with the unit.

    ``over`` is a joint, or a freedom on record such as ``crank.angle``; the time where None. A
    ValueError tells of a result that has no angle or length of that joint on record, of one that
    stands, or of one that turns back in a picture of bars or shades, which goes ``one_way``.
    """
    if over is None:
        return tuple(results), TIME
    names = [freedom_of(result, over) for result in results]
    values = [quantity(result, name) for result, name in zip(results, names, strict=True)]
    for result, name, x in zip(results, names, values, strict=True):
        moves = np.diff(x)
        if not moves.any():
            raise ValueError(f"{name} of {result.name} does not move: leave out over")
        turns = np.flatnonzero(moves * moves[np.flatnonzero(moves)[0]] < 0)  # against the first
        if one_way and len(turns):
            raise ValueError(
                f"{name} of {result.name} turns back at t = {result['time'].values[turns[0]]:.6g} "
                "s, which this picture cannot show: leave out over, or draw a part of the run"
            )
    moved = tuple(
        Result(result.data.assign_coords(time=("time", x)))
        for result, x in zip(results, values, strict=True)
    )
    return moved, f"{names[0]} [{unit(results[0], names[0])}]"
