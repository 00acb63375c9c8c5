"""Homotopy schedules: series of programs, each started from the solution of the one before."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

Stage = tuple[float, ...]
"""The homotopy numbers of one program, its last parameters; the first is sigma > 0.

A smooth program has none.
"""
Schedule = tuple[Stage, ...]

GRADUAL: Schedule = tuple((10.0**-k,) for k in range(9))  # sigma from 1 to 1e-8, for any start


def make_schedule(stages: Sequence[float | Stage]) -> Schedule:
    """Return a schedule from stages; a number alone is sigma.

    Raises
    ------
    ValueError
        If there is no stage, a sigma is not positive or larger than the one before, or two stages
        in a row are the same.
    """
    schedule = tuple(stage if isinstance(stage, tuple) else (float(stage),) for stage in stages)
    positive = all(stage[0] > 0 for stage in schedule if stage)
    falls = all(a[:1] >= b[:1] and a != b for a, b in pairwise(schedule))
    if not schedule or not positive or not falls:
        raise ValueError(
            f"schedule must have stages with sigma positive and descending, got {schedule}: give "
            "(1e-2, 1e-6, 1e-10) or the like"
        )
    return schedule


def find_halfway(good: Stage, failed: Stage) -> Stage:
    """Return the stage between two: the geometric mean of sigmas, the mean of other numbers."""
    if not failed:
        return failed
    others = tuple((a + b) / 2 for a, b in zip(good[1:], failed[1:], strict=True))
    return ((good[0] * failed[0]) ** 0.5, *others)
