"""Several starts of one program."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from nsopt.mpcc.statement.layout import Vector


@dataclass(frozen=True)
class MultiStart:
    """Starts besides the given one, drawn at random; the best solution of all counts.

    Unknowns with two finite bounds are drawn uniformly between them, others normally about the
    given start and moved into the bound that they have.

    Parameters
    ----------
    starts : int
        With the given one.
    spread : float
        Standard deviation of unknowns without two bounds, in scaled units.
    seed : int
        The same draws the same starts.

    Raises
    ------
    ValueError
        If starts is less than two or spread not positive.
    """

    starts: int = 10
    spread: float = 1.0
    seed: int = 0

    def __post_init__(self) -> None:
        if self.starts < 2 or not self.spread > 0:
            raise ValueError(f"starts of 2 or more and a positive spread are needed, got {self}")

    def points(self, lower: Vector, upper: Vector, start: Vector) -> Iterator[Vector]:
        """Yield the other starts, (n,).

        Parameters
        ----------
        lower, upper, start : (n,)
            Bounds and the given start, in scaled units.
        """
        rng = np.random.default_rng(self.seed)
        low, high = (np.where(np.isfinite(x), x, 0.0) for x in (lower, upper))
        both = np.isfinite(lower) & np.isfinite(upper)
        for _ in range(self.starts - 1):
            about = start + self.spread * rng.normal(size=start.size)
            between = low + (high - low) * rng.uniform(size=start.size)
            yield np.where(both, between, np.clip(about, lower, upper))
