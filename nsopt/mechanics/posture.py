"""From stated poses and velocities of bodies to the coordinates of joints."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import casadi as ca
import numpy as np

from nsopt.algebra import from_rotation
from nsopt.mechanics.coordinates import Array
from nsopt.mechanics.freedom import Axis, Ball, back
from nsopt.mechanics.parameter import number

if TYPE_CHECKING:
    from nsopt.mechanics.bodies import Body
    from nsopt.mechanics.frame import Frame, Motion
    from nsopt.mechanics.relative import RelativeCoordinates
    from nsopt.mechanics.spanning_tree import Branch

OPEN = 1e-9
"""By how much [m, rad, m/s or rad/s] what bodies state may differ from what joints allow."""


def stated(x: object) -> ca.SX:
    """Return stated numbers as an expression without symbols, Parameters by their values."""
    return ca.SX(ca.DM(number(x)))


def posture(coordinates: RelativeCoordinates, refuse: bool) -> tuple[Array, Array]:
    """Return q (nq,) and v (nv,) of what the bodies state, or near it unless ``refuse``.

    Raises
    ------
    ValueError
        If a joint of the tree is open, or torn apart by the velocities, with its name.
    """
    q = np.concatenate([np.zeros(0), *(_coordinates(b) for b in coordinates.owners)])
    v = ca.SX.sym("v", len(coordinates.v_names))
    found = coordinates.motions(ca.SX(q), v, stated)
    for branch in coordinates.branches if refuse else ():
        motion, body = found[branch.body.name], branch.body
        off = [
            ca.evalf(motion.r) - number(body.position),
            ca.evalf(motion.A) - (np.eye(3) if body.point_mass else body.rotation),
        ]
        _refuse(branch, max(float(ca.norm_inf(ca.vec(ca.DM(x)))) for x in off), "open")
    return q, _velocities(coordinates, found, v, refuse)


def _coordinates(branch: Branch) -> Array:
    """Return the coordinates by which a body hangs."""
    R, d = _seen(branch.on, branch.to)
    if branch.joint is None:
        ball = [] if branch.body.point_mass else [number(branch.body.orientation)]
        return np.concatenate([d, *ball])
    if any(isinstance(step, Ball) for step in branch.freedom):
        return from_rotation(R)
    steps: Sequence[Axis | Ball] = branch.freedom
    if branch.on is not branch.joint.frames[0]:
        R, d, steps = R.T, -R.T @ d, back(branch.freedom)
    values = _along([step for step in steps if isinstance(step, Axis)], R, d)
    return np.array([values[step.name] for step in branch.stated if isinstance(step, Axis)])


def _along(steps: Sequence[Axis], R: Array, d: Array) -> Mapping[str, float]:
    """Return the coordinates of slides before turns, of one turn or one about x and one about y."""
    values = {}
    turning = [step for step in steps if any(step.turn)]
    for step in steps:
        slide = np.array(step.slide) + np.array(step.turn) * number(step.pitch) / (2 * np.pi)
        if np.any(slide):  # a screw may have made turns that only its advance tells
            values[step.name] = float(slide @ d / (slide @ slide))
    if len(turning) == 1 and turning[0].name not in values:
        k = turning[0].turn.index(1.0)
        i, j = (k + 1) % 3, (k + 2) % 3
        values[turning[0].name] = float(np.arctan2(R[j, i] - R[i, j], R[i, i] + R[j, j]))
    elif len(turning) == 2:
        values[turning[0].name] = float(np.arctan2(R[2, 1], R[1, 1]))
        values[turning[1].name] = float(np.arctan2(R[0, 2], R[0, 0]))
    return values


def _seen(on: Frame, to: Frame) -> tuple[Array, Array]:
    """Return axes and origin of one frame in another, as their bodies are stated."""
    (A, r), (B, s) = _placed(on), _placed(to)
    return A.T @ B, A.T @ (s - r)


def _placed(frame: Frame) -> tuple[Array, Array]:
    origin, axes = np.asarray(number(frame.origin)), np.asarray(frame.axes)
    body: Body | None = frame.body
    if body is None:
        return axes, origin
    turned = np.eye(3) if body.point_mass else body.rotation
    return turned @ axes, np.asarray(number(body.position)) + turned @ origin


def _velocities(
    coordinates: RelativeCoordinates, at: Mapping[str, Motion], v: ca.SX, refuse: bool
) -> Array:
    """Return the velocities of the joints, given motions that are linear in them."""
    stated_twists = []
    for body in coordinates.bodies:
        turned = np.eye(3) if body.point_mass else body.rotation
        stated_twists += [number(body.velocity), turned @ number(body.angular_velocity)]
    wanted = np.concatenate(stated_twists)
    if not np.any(wanted):
        return np.zeros(v.numel())
    twists = ca.vertcat(*(x for body in coordinates.bodies for x in at[body.name][2:]))
    J = np.asarray(ca.evalf(ca.jacobian(twists, v)))
    rates: Array = np.linalg.lstsq(J, wanted, rcond=None)[0]
    off = np.abs(J @ rates - wanted).reshape(-1, 6).max(axis=1)
    by_body = dict(zip((b.name for b in coordinates.bodies), off, strict=True))
    for branch in coordinates.branches if refuse else ():
        _refuse(branch, by_body[branch.body.name], "torn apart")
    return rates


def _refuse(branch: Branch, off: float, how: str) -> None:
    if off > OPEN:
        name = branch.joint.name if branch.joint else branch.body.name
        raise ValueError(
            f"the start violates joint {name!r}: it is {how} by {off:.3g} (m, rad or per second) "
            f"at body {branch.body.name!r}; correct the pose or velocity of its bodies, start "
            "from joint coordinates, Start(q, v), or give start=consistent(dynamics) to the run"
        )
