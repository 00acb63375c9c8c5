"""How tight must each joint of an arm be: clearances at least cost within a tolerance of the tip.

An arm of two links in a vertical plane, with clearance in both joints. Encoders measure the angles
and do not see the clearances; the arm moves from pose to pose with least torque, and its tip must
end within `TOLERANCE` of where an ideal arm would have it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import casadi as ca
import numpy as np
from _chain import ARM, Array, Chain, Hanging, HungAt, TurnedTo, chain

from nsopt.trajectory import IN_STEPS, Bound, Condition, Horizon, NodeSample, Optimization

TOLERANCE = 0.5e-3  # m, of the tip
PRICES = (4.0e-4, 1.0e-4)  # m, times the price of one unit: what c costs is price / c
FROM, TO = np.radians([-70.0, 40.0]), np.radians([-10.0, 95.0])
DURATION = 1.0  # s


def allotment(prices: Sequence[float], tolerance: float) -> Array:
    """Return the clearances (n,) [m] of least total price that together keep a tolerance [m].

    With angles measured, a bushing off the middle of its pin moves all that it carries by the same:
    at worst errors add up. The least of sum p_i / c_i with sum c_i = t has p_i / c_i^2 alike.
    """
    root = np.sqrt(np.asarray(prices, dtype=float))
    share: Array = root / root.sum()
    return tolerance * share


def ideal_tip(x: Chain, m: NodeSample) -> ca.SX:
    """Return where the tip would be if every bushing sat in the middle of its pin, (3,)."""
    off = (m.motion(b).r - m.motion(a).r for a, b in zip(x.pins, x.bushings, strict=True))
    return m.motion(x.tip).r - sum(off, ca.SX(3, 1))


@dataclass(frozen=True, eq=False)
class TipWithin(Condition):
    """At the end the tip is within a distance [m] of where an ideal arm would have it."""

    chain: Chain
    most: float

    def end(self, m: NodeSample) -> list[Bound]:
        off = (m.motion(self.chain.tip).r - ideal_tip(self.chain, m)) / self.most
        return [Bound("tip within tolerance", ca.sumsqr(off), np.zeros(1), np.ones(1))]


def statement(arm: Chain, steps: int = 50) -> Optimization:
    """Return the motion of least torque."""
    conditions: list[Condition] = [HungAt(arm, FROM), TurnedTo(arm, TO)]
    if arm.clearances.any():
        conditions.append(TipWithin(arm, TOLERANCE))
    return Optimization(
        arm.dynamics,
        Horizon(DURATION, steps),
        arm.effort(),
        conditions,
        Hanging(arm, FROM, TO),
        inputs=arm.inputs,
        # They damp how a bushing without friction swings on its pin; phases do not resolve that.
        plan=IN_STEPS,
    )


optimization = statement(chain(ARM, allotment(PRICES, TOLERANCE)))
