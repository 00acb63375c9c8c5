"""The cone of dry friction as inequalities: |friction| up to a limit, its tip rounded in space."""

from __future__ import annotations

import casadi as ca

from nsopt.trajectory.node_sample import NodeSample

LEAST_OF_WEIGHT = 1e-3
"""Limit of friction, over the weight of all bodies, below which the tip of its cone in space is
rounded. At a limit well above it |friction| may exceed that by (least / limit)^2 / 8 of it: by
1.3e-5 of it where it is a tenth of the weight."""

LEAST_OF_MASS = 1e-6
"""The same without gravity [N/kg]: friction that gives all bodies 1e-6 m/s^2 moves none by more
than half a millimetre in half a minute."""


def find_least_limit(m: NodeSample) -> ca.SX:
    """Return the limit of friction [N] below which the tip of a cone is rounded."""
    g = m.state.value(m.dynamics.gravity)
    part = ca.sqrt(LEAST_OF_WEIGHT**2 * ca.sumsqr(g) + LEAST_OF_MASS**2)
    return part * ca.sum1(m.dynamics.masses(m.p))


def measure_margins(most: ca.SX, friction: ca.SX, least: ca.SX) -> ca.SX:
    """Return what must not be negative for |friction| <= most: (2,) in the plane, (1,) in space.

    ``friction`` has one component in the plane, two in space; ``most`` is its limit. In space the
    tip of the cone is rounded where ``most`` is below ``least``. All are forces [N].
    """
    if friction.numel() == 1:
        return ca.vertcat(most - friction, most + friction)
    # |f|^2 over the limit has a gradient at f = 0, where |f| has none; the divisor is well above
    # zero even where the limit is negative, as between nodes it may be.
    positive = (most + ca.sqrt(most**2 + least**2)) / 2
    return most - ca.sumsqr(friction) / positive
