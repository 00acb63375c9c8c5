"""The explicit midpoint rule: two accelerations a step."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from nsopt.schemes.runge_kutta import RungeKutta


@dataclass(frozen=True)
class ExplicitMidpoint(RungeKutta):
    """Runge's step of two stages on the equations of `RungeKutta`, of second order.

    ==============  ==================================================================
    end             (q, v)_n+1 = (q, v)_n + h k_2,   k_2 at (q, v)_n + h/2 k_1
    ==============  ==================================================================

    The quickest step of a tree in free motion, for a given h. For a given error, `RungeKutta` takes
    less time. What swings without damping at w grows by (w h)^4 / 8 a step. The estimate of the
    local error is that of Euler's step, far above its own.
    """

    order: ClassVar[int] = 2
    weights: ClassVar[tuple[float, ...]] = (0.0, 1.0)
    reaches: ClassVar[tuple[float, ...]] = (0.0, 1 / 2)
    uneven: ClassVar[tuple[float, ...]] = (-1.0, 1.0)

    @property
    def error_order(self) -> int:
        return 1
