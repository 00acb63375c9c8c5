"""The joint that a spring, damper or friction element resists."""

from collections.abc import Sequence

from nsopt.checks import NOT_IN_MECHANISM, check_names
from nsopt.mechanics.model.element import Element, Force


def resisted_joint(force: Force, joints: Sequence[Element]) -> Element | None:
    """Return the joint that a spring, damper or friction element resists, None if there is none.

    It is the one that `Force.joint` names, or else, where that is "", the only one between the same
    two bodies.

    Raises
    ------
    ValueError
        If the joint named is unknown or connects other bodies, or none is named and several connect
        the same bodies.
    """
    if force.joint is None:  # no part of the resistance of any joint
        return None
    named = [joint for joint in joints if joint.name == force.joint]
    what, wanted = f"{type(force).__name__} {force.name!r}", [force.joint] if force.joint else []
    names = (joint.name for joint in joints)
    check_names(f"{what} names the joint", wanted, names, NOT_IN_MECHANISM)
    bodies = {frame.body for frame in force.frames}
    if named and {frame.body for frame in named[0].frames} != bodies:
        raise ValueError(f"{what} names the joint {force.joint!r}, which connects other bodies")
    # A constraint with `Constraint.drives` is kept by drives in other joints, which alone push: it
    # connects no bodies of its own, and nothing resists it.
    candidates = named or [
        joint
        for joint in joints
        if {frame.body for frame in joint.frames} == bodies and not getattr(joint, "drives", ())
    ]
    if len(candidates) > 1:
        one, other, *_ = candidates
        raise ValueError(f"{what} may resist {one.name!r} or {other.name!r}: name one by joint=...")
    return candidates[0] if candidates else None
