"""One accepted step."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Taken:
    """One accepted step: its end state, impulses and how it was found."""

    t: float
    h: float
    q: Array
    v: Array
    impulse: Array  # (ng,) [N s]
    joint_impulse: Array  # (nc,)
    gap: Array  # (ng,) [m] the gap that complemented the impulse
    motion_residual: float  # [N, N m] largest row
    iterations: int
    tried: tuple[str, ...]  # attempts that failed before, and why
    solve_time: float  # [s]
    reason: str
