"""Damping, friction and stops of joints as elements, from what their actuators state."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from nsopt.elements.friction_laws import FrictionLaw, StribeckLaw, ViscousLaw
from nsopt.elements.joint_friction import SlideFriction, TurnFriction
from nsopt.elements.joints import Prismatic
from nsopt.elements.limits import SlideRange, TurnRange
from nsopt.elements.range_of_motion import Law
from nsopt.mechanics.actuator import Actuator
from nsopt.mechanics.element import Constraint, Force
from nsopt.mechanics.mechanism import Mechanism
from nsopt.mechanics.parameter import Scalar, number


def resistances(
    mechanism: Mechanism, stop: Law | None = None, creep: float = 1e-3
) -> tuple[Force, ...]:
    """Return what resists in the joints of a robot, for `assemble`.

    Parameters
    ----------
    mechanism : Mechanism
        With actuators, as `load_urdf` returns it.
    stop : Law, optional
        Of the moment or force beyond the limits of every joint that has both; by default there are
        no stops.
    creep : float [rad/s or m/s]
        Speed below which dry friction is slow sliding, `StribeckLaw`.

    Returns
    -------
    tuple of Force
        Named after the joint: ``<joint>_damping``, ``<joint>_friction``, ``<joint>_stop``.
    """
    joints = {joint.name: joint for joint in mechanism.joints}
    found: list[Force] = []
    for actuator in mechanism.actuators:
        found += _of(actuator, joints[actuator.joint], stop, creep)
    return tuple(found)


def _of(actuator: Actuator, joint: Constraint, stop: Law | None, creep: float) -> Iterator[Force]:
    if number(actuator.damping):
        yield _rubbing(joint, "damping", ViscousLaw(actuator.damping), 0.0)
    if number(actuator.friction):
        yield _rubbing(joint, "friction", StribeckLaw(1.0, creep=creep), actuator.friction)
    if stop is not None and np.all(np.isfinite([actuator.lower, actuator.upper])):
        kind = SlideRange if isinstance(joint, Prismatic) else TurnRange
        a, b = joint.frames
        yield kind(
            f"{joint.name}_stop", a, b, actuator.lower, actuator.upper, stop, joint=joint.name
        )


def _rubbing(joint: Constraint, what: str, law: FrictionLaw, load: Scalar) -> Force:
    """Return friction under a given load, at a lever of one."""
    (a, b), name = joint.frames, f"{joint.name}_{what}"
    if isinstance(joint, Prismatic):
        return SlideFriction(name, a, b, law, load, joint=joint.name)
    return TurnFriction(name, a, b, law, load, radius=1.0, joint=joint.name)
