"""Mechanisms restated: at another posture, and with bodies cut in place of joints."""

from __future__ import annotations

from dataclasses import replace

import casadi as ca
import numpy as np

from nsopt.algebra import from_rotation
from nsopt.elements import Fixed
from nsopt.mechanics import Constraint, Frame, Mechanism, Motion, Relative
from nsopt.parameter import exchange


def pose_bodies(mechanism: Mechanism, motions: dict[str, Motion]) -> Mechanism:
    """Return a mechanism whose bodies start at other poses, with the same spanning tree.

    Parameters
    ----------
    mechanism : Mechanism
    motions : mapping of body name to Motion
        Numbers; their velocities are not used.
    """
    in_tree = {branch.joint.name for branch in mechanism.tree.branches if branch.joint}
    tree = Relative([joint.name for joint in mechanism.joints if joint.name not in in_tree])
    moved = []
    for body in mechanism.bodies:
        r, A, *_ = (np.asarray(ca.evalf(x)) for x in motions[body.name])
        p = body.orientation if body.point_mass else tuple(from_rotation(A))
        moved.append((body, replace(body, position=tuple(r.ravel()), orientation=p)))
    bodies, joints = exchange((tuple(mechanism.bodies), tuple(mechanism.joints)), moved)
    return replace(mechanism, bodies=bodies, joints=joints, coordinates=tree)


def cut_bodies(mechanism: Mechanism) -> Mechanism:
    """Return a mechanism whose loops close by halves of bodies [mobility 2016, section 2.1].

    Each cut joint that has coordinates of its own carries one half of a body; a `Fixed` joint holds
    both halves together, so that a loop of lower pairs has six rows. Other cut joints stay. Masses
    do not matter here: each half has that of the whole body.
    """
    in_tree = {branch.joint.name for branch in mechanism.tree.branches if branch.joint}
    bodies, joints, closing = list(mechanism.bodies), list[Constraint](), []
    for joint in mechanism.joints:
        on_point = any(frame.body is not None and frame.body.point_mass for frame in joint.frames)
        if joint.name in in_tree or joint.freedom() is None or on_point:
            joints.append(joint)
            continue
        a, b = joint.frames
        frame = b if b.body is not None else a
        assert frame.body is not None
        half = replace(frame.body, name=f"{frame.body.name} at {joint.name}")
        on_half = Frame(half, frame.origin, frame.axes)
        joints.append(exchange(joint, [(frame, on_half)]))
        closing.append(Fixed(f"{joint.name} closed", Frame(frame.body), Frame(half)))
        bodies.append(half)
    tree = Relative([joint.name for joint in closing])
    return replace(mechanism, bodies=bodies, joints=(*joints, *closing), coordinates=tree)
