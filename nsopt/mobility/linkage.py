"""Single loops from their joint screws."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from nsopt.checks import numbers
from nsopt.elements import Prismatic, Revolute, Screw
from nsopt.mechanics import GROUND, Body, Constraint, Frame, Mechanism, Relative

NO_PITCH = 1e-12
"""Pitch [m/rad] up to which a screw is a turn."""


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
    points = np.array([_point(name, y) for name, y in zip(names, Y, strict=True)])
    bodies = [
        Body(f"link {k + 1}", 0.0, position=(points[k] + points[k + 1]) / 2)
        for k in range(len(Y) - 1)
    ]
    chain = [GROUND, *bodies, GROUND]
    joints = [_joint(names[k], Y[k], points[k], chain[k], chain[k + 1]) for k in range(len(Y))]
    return Mechanism(bodies, joints, Relative(names[-1:]))


def _point(name: str, y: np.ndarray) -> np.ndarray:
    """Return the point of an axis nearest to the origin (3,) [m]; the origin for a slide."""
    turn, slide = y[:3], y[3:]
    length = np.linalg.norm(turn) or np.linalg.norm(slide)
    if not np.isclose(length, 1.0, rtol=0, atol=1e-9):
        raise ValueError(
            f"the screw of {name!r} must have a unit vector along its axis, got length "
            f"{length:.6g}: divide it by that"
        )
    return np.cross(turn, slide)


def _joint(
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
