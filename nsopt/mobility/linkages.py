"""Mechanisms made for their mobility: loops of given screws, other postures, cut bodies."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import casadi as ca
import numpy as np
from numpy.typing import ArrayLike

from nsopt.algebra import from_rotation
from nsopt.checks import numbers
from nsopt.elements import Fixed, Prismatic, Revolute, Screw
from nsopt.mechanics import GROUND, Body, Constraint, Frame, Mechanism, Motion, Relative
from nsopt.parameter import exchange

NO_PITCH = 1e-12  # pitch [m/rad] up to which a screw is a turn


def linkage(screws: ArrayLike, names: Sequence[str] = ()) -> Mechanism:
    """Return the closed loop of joints with given screws, on bodies without mass.

    Parameters
    ----------
    screws : (n, 6)
        Of each joint at the posture, from the ground through the loop and back: a unit vector e
        along the axis and s x e + h e, with s a point of the axis [m] and h the pitch [m/rad]; or
        zeros and a unit vector, for a joint that slides [mobility 2016, eq. 1].
    names : sequence of str, optional
        Of the joints; ``joint 1`` and so on by default. The last one is cut.

    Raises
    ------
    ValueError
        If there are fewer than two screws, or one has no unit vector along its axis.
    """
    Y = numbers("screws", screws)
    if Y.ndim != 2 or Y.shape[1] != 6 or len(Y) < 2:
        raise ValueError(f"screws of a loop must have shape (2 or more, 6), got shape {Y.shape}")
    names = tuple(names) or tuple(f"joint {k + 1}" for k in range(len(Y)))
    if len(names) != len(Y):
        raise ValueError(f"names must be those of {len(Y)} joints, got {len(names)}")
    points = np.array([_find_point(name, y) for name, y in zip(names, Y, strict=True)])
    bodies = [
        Body(f"link {k + 1}", 0.0, position=(points[k] + points[k + 1]) / 2)
        for k in range(len(Y) - 1)
    ]
    chain = [GROUND, *bodies, GROUND]
    joints = [_make_joint(names[k], Y[k], points[k], chain[k], chain[k + 1]) for k in range(len(Y))]
    return Mechanism(bodies, joints, Relative(names[-1:]))


def _find_point(name: str, y: np.ndarray) -> np.ndarray:
    """Return the point of an axis nearest to the origin (3,) [m]; the origin for a slide."""
    turn, slide = y[:3], y[3:]
    length = np.linalg.norm(turn) or np.linalg.norm(slide)
    if not np.isclose(length, 1.0, rtol=0, atol=1e-9):
        raise ValueError(
            f"the screw of {name!r} must have a unit vector along its axis, got length "
            f"{length:.6g}: divide it by that"
        )
    return np.cross(turn, slide)


def _make_joint(
    name: str, y: np.ndarray, point: np.ndarray, before: Body | None, after: Body | None
) -> Constraint:
    turn, slide = y[:3], y[3:]
    axis = turn if turn.any() else slide
    frames = Frame.at(before, point, axis), Frame.at(after, point, axis)
    pitch = float(turn @ slide)
    if not turn.any():
        return Prismatic(name, *frames)
    if abs(pitch) <= NO_PITCH:
        return Revolute(name, *frames)
    return Screw(name, *frames, 2 * np.pi * pitch)


def pose_bodies(mechanism: Mechanism, motions: dict[str, Motion]) -> Mechanism:
    """Return a mechanism whose bodies start at other poses, with the same spanning tree."""
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
