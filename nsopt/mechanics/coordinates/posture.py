"""Joint coordinates and velocities from the stated poses and velocities of bodies."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import casadi as ca
import numpy as np

from nsopt.algebra import from_rotation
from nsopt.arrays import Array
from nsopt.mechanics.coordinates.spanning_tree import Branch
from nsopt.mechanics.model.bodies import Body
from nsopt.mechanics.model.frame import Frame, Motion
from nsopt.mechanics.model.freedom import Axis, Ball, reverse_freedom
from nsopt.parameter import number

# Tolerance [m, rad, m/s or rad/s] of stated poses and velocities against the joints: far above
# round-off, far below a clearance.
OPEN = 1e-9


def joint_coordinates(owners: Sequence[Branch]) -> Array:
    """Return q (nq,) of the poses that bodies state, given the branches that have coordinates.

    Joints that move as others do (`Mimic`) have none. Where poses open joints, q is near them.
    """
    return np.concatenate([np.zeros(0), *(_find_coordinates(branch) for branch in owners)])


def check_closed(branches: Sequence[Branch], motions: Mapping[str, Motion]) -> None:
    """Refuse joint coordinates whose motions are not in the poses that the bodies state."""
    for branch in branches:
        motion, body = motions[branch.body.name], branch.body
        errors = [
            ca.evalf(motion.r) - number(body.position),
            ca.evalf(motion.A) - (np.eye(3) if body.point_mass else body.rotation),
        ]
        _refuse(branch, max(float(ca.norm_inf(ca.vec(ca.DM(x)))) for x in errors), "open")


def _find_coordinates(branch: Branch) -> Array:
    """Return the coordinates of the joint by which a body is attached."""
    (A, r), (B, s) = _find_pose(branch.parent_frame), _find_pose(branch.child_frame)
    R, d = A.T @ B, A.T @ (s - r)  # of the child frame in that of the parent
    if branch.joint is None:
        ball = [] if branch.body.point_mass else [number(branch.body.orientation)]
        return np.concatenate([d, *ball])  # the centre of mass, then Euler parameters
    if any(isinstance(x, Ball) for x in branch.freedom):
        return from_rotation(R)  # Euler parameters
    freedoms: Sequence[Axis | Ball] = branch.freedom
    if branch.parent_frame is not branch.joint.frames[0]:
        # The parent has frame b: from here on the pose is that of frame b in frame a.
        R, d, freedoms = R.T, -R.T @ d, reverse_freedom(branch.freedom)
    values = _measure_along([x for x in freedoms if isinstance(x, Axis)], R, d)
    return np.array([values[x.name] for x in branch.freedom_a_to_b if isinstance(x, Axis)])


def _measure_along(freedoms: Sequence[Axis], R: Array, d: Array) -> Mapping[str, float]:
    """Return the coordinates of freedoms by name, for the pose R, d of frame b in frame a.

    These are slides, then one turn about x, y or z, or turns about x, y and maybe z.
    """
    values = {}
    turning = [x for x in freedoms if any(x.turn)]
    for one in freedoms:
        slide = np.array(one.slide) + np.array(one.turn) * number(one.pitch) / (2 * np.pi)
        if np.any(slide):  # only the advance of a screw shows how often it turned
            values[one.name] = float(slide @ d / (slide @ slide))
    if len(turning) == 1 and turning[0].name not in values:
        k = turning[0].turn.index(1.0)  # 0, 1 or 2: about x, y or z
        i, j = (k + 1) % 3, (k + 2) % 3
        values[turning[0].name] = float(np.arctan2(R[j, i] - R[i, j], R[i, i] + R[j, j]))
    elif len(turning) == 2:
        values[turning[0].name] = float(np.arctan2(R[2, 1], R[1, 1]))
        values[turning[1].name] = float(np.arctan2(R[0, 2], R[0, 0]))
    elif len(turning) == 3:
        first, second = (np.arctan2(-R[k], R[m]) for k, m in (((1, 2), (2, 2)), ((0, 1), (0, 0))))
        angles = first, np.arcsin(np.clip(R[0, 2], -1.0, 1.0)), second
        values |= {x.name: float(angle) for x, angle in zip(turning, angles, strict=True)}
    return values


def _find_pose(frame: Frame) -> tuple[Array, Array]:
    """Return axes (3, 3) and origin (3,) of a frame in world axes, as its body is stated."""
    origin, axes = np.asarray(number(frame.origin)), np.asarray(frame.axes)
    body = frame.body
    if body is None:
        return axes, origin
    A = np.eye(3) if body.point_mass else body.rotation
    return A @ axes, np.asarray(number(body.position)) + A @ origin


def joint_velocities(
    bodies: Sequence[Body], motions: Mapping[str, Motion], v: ca.SX
) -> tuple[Array, Array]:
    """Return v (nv,) nearest to the velocities that bodies state, and the misfit of each (nb,).

    Nearest by the kinetic energy of the difference; misfits are the largest entries of it [m/s or
    rad/s]. Motions are those of centres of mass, linear in v.
    """
    velocities = []
    for body in bodies:
        A = np.eye(3) if body.point_mass else body.rotation
        velocities += [number(body.velocity), A @ number(body.angular_velocity)]
    wanted = np.concatenate(velocities)
    if not np.any(wanted):
        return np.zeros(v.numel()), np.zeros(len(bodies))
    twists = ca.vertcat(*(x for body in bodies for x in motions[body.name][2:]))  # v, w of each
    J = np.asarray(ca.evalf(ca.jacobian(twists, v)))
    weights = _find_roots_of_inertia(bodies)
    rates: Array = np.linalg.lstsq(weights @ J, weights @ wanted, rcond=None)[0]
    return rates, np.abs(J @ rates - wanted).reshape(-1, 6).max(axis=1)


def _find_roots_of_inertia(bodies: Sequence[Body]) -> Array:
    """Return L (6 nb, 6 nb) with L.T L the inertia of all bodies, in world axes.

    What has no inertia is given a little, so that its velocities count as well: the roots in L are
    at least 1e-6 of the number of the largest mass in kg, or 1 if no body has mass.
    """
    blocks, least = [], 1e-6 * max(float(number(body.mass)) for body in bodies) or 1.0
    for body in bodies:
        A = np.eye(3) if body.point_mass else body.rotation
        J = np.zeros(3) if body.point_mass else np.asarray(number(body.inertia))
        for M in (float(number(body.mass)) * np.eye(3), np.diag(J) if J.ndim == 1 else J):
            values, vectors = np.linalg.eigh(M)
            blocks.append((A @ vectors * np.sqrt(np.maximum(values, least**2))).T)
    diagonal: Array = np.einsum("kij,kl->kilj", blocks, np.eye(len(blocks)))
    return diagonal.reshape(3 * len(blocks), -1)


def check_velocities(branches: Sequence[Branch], misfits: Mapping[str, float]) -> None:
    """Refuse stated velocities that the joints do not allow, given the misfit of each body."""
    for branch in branches:
        _refuse(branch, misfits[branch.body.name], "torn apart")


def _refuse(branch: Branch, error: float, how: str) -> None:
    if error > OPEN:
        name = branch.joint.name if branch.joint else branch.body.name
        raise ValueError(
            f"the start violates joint {name!r}: it is {how} by {error:.3g} (m, rad or per second) "
            f"at body {branch.body.name!r}; correct the pose or velocity of its bodies, start "
            "from joint coordinates, Start(q, v), or give start=consistent(dynamics) to the run"
        )
