"""Typical losses of drives whose file states none."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from nsopt.checks import not_negative
from nsopt.mechanics import Actuator, Mechanism
from nsopt.parameter import number


def typical_resistance(
    mechanism: Mechanism, friction: float = 0.03, damping: float = 0.1
) -> Mechanism:
    """Return a mechanism whose actuators have losses in proportion to what they can do.

    Actuators that state damping or friction keep them as they are. The defaults are those of the
    arm z1 (Unitree; 30 and 60 N m, 3.14 rad/s: 1 and 2 N m, 1 and 2 N m s/rad, by the file in
    example-robot-data).

    Parameters
    ----------
    mechanism : Mechanism
    friction : float
        Dry friction over the largest force of the actuator.
    damping : float
        Force of damping at the largest speed, over the largest force.

    Raises
    ------
    ValueError
        If an actuator without losses states no largest force or speed, or a share is negative.
    """
    not_negative("friction of typical_resistance", friction)
    not_negative("damping of typical_resistance", damping)
    return replace(
        mechanism, actuators=[_with_losses(x, friction, damping) for x in mechanism.actuators]
    )


def _with_losses(actuator: Actuator, friction: float, damping: float) -> Actuator:
    if number(actuator.damping) or number(actuator.friction):
        return actuator
    for name in ("effort", "velocity"):
        if not np.isfinite(getattr(actuator, name)):
            raise ValueError(
                f"typical_resistance needs the {name} of joint {actuator.joint!r}, which its "
                f"Actuator does not state: give Actuator({actuator.joint!r}, {name}=...)"
            )
    viscous = actuator.effort / actuator.velocity if actuator.velocity > 0 else 0.0
    return replace(actuator, friction=friction * actuator.effort, damping=damping * viscous)
