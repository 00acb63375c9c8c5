"""Caveats of contacts: what steps do not follow of them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from nsopt.algebra import rotate
from nsopt.arrays import Array
from nsopt.blocks import blocks
from nsopt.caveats.sizes import (
    FEW,
    STILL,
    TINY,
    has_steps_with,
    is_optimum,
    measure_travel,
    suggest_following,
    suggest_shorter,
)
from nsopt.contact_modes import LASTING, count_rigid, joint_of

if TYPE_CHECKING:
    import xarray as xr

DEEP = 0.1  # depth inside a wall, over the opening of the gap, from which there is a caveat

HELD_SLIP = 0.01
"""Slip of contacts that dry friction should hold, over the way of the body that moves farthest, up
to which nothing is said."""

STRUCK = 0.1  # impulse of an impact, over the largest of its contact, from which it matters

SLIGHT = 0.01
"""The same over the largest of all contacts. It must exceed both: light bodies get less."""

REBOUND = 0.01
"""Speed at which surfaces part, over that at which they met, above which they rebound."""

ROLLED = 0.1  # angle [rad] that a pin may roll in its bore in a step, as a root mean square
TELLS = 1e-6  # way [m] that contacts may creep without a word, however little bodies move

CREEPS = 2e-3
"""Way that contacts may creep without a word, over the way of the body that moves farthest."""

STICKS = 1e-6  # slip over the speed of the wall, up to which a contact sticks

CREEP = 1.5
"""Slip over the change of the wall's velocity in a step by its rotation, up to which a contact
creeps and does not slide."""


def _tell_held_slip(data: xr.Dataset) -> Iterator[str]:
    way = data.attrs.get("held_slip", 0.0)
    if not (whole := measure_travel(data)):
        return
    if way > max(STILL, HELD_SLIP * whole):
        part = f", {100 * way / whole:.2g} % of the way of its bodies" if whole > way else ""
        remedy = suggest_shorter(data)
        if "slip_creep" in data.attrs:
            remedy = "give a smaller slip_creep, with more steps, or leave it out"
        yield f"{tell_slip(data)}{part}, where dry friction should hold it: {remedy}"


def tell_slip(data: xr.Dataset) -> str:
    """Return in words how far contacts slid that dry friction should hold; empty if none did."""
    a = data.attrs
    if not a.get("held_slip"):
        return ""
    return (
        f"contact {a['held_slip_contact']!r} slid by {a['held_slip']:.2g} m in all, at up to "
        f"{a['held_slip_speed']:.2g} m/s (t = {a['held_slip_time']:.4g} s)"
    )


def _tell_long_steps(data: xr.Dataset) -> Iterator[str]:
    """Tell of steps too long for a pin to follow its bore."""
    count, steps = data.attrs["steps_unfollowed"], data.attrs["steps"]
    if count > FEW * steps:
        yield (
            f"{count} of {steps} steps were longer than contacts in bores can follow (clearance c, "
            f"h > sqrt(c / a) at a relative acceleration a): {suggest_following(data)}, so that "
            f"steps shrink there, or {suggest_shorter(data)}"
        )


def _tell_depth_in_walls(data: xr.Dataset) -> Iterator[str]:
    if not data.sizes["contact"] or "gap_violation" not in data:
        return
    scales = np.atleast_1d(data.attrs["gap_scales"])
    deepest = np.max([np.max(x / scales, axis=0) for _, x in blocks(data["gap_violation"])], axis=0)
    k = int(np.argmax(deepest))
    if deepest[k] > DEEP:
        remedy = "smaller h"
        if data.attrs.get("allows_penetration"):
            name = data.attrs["scheme_name"]
            remedy = f"{name} holds rates only; take Variational, or smaller h"
        depth, name = deepest[k] * scales[k], data["contact"].values[k]
        yield f"bodies are inside walls by up to {depth:.2g} m, at {name}: {remedy}"


def _tell_impacts_together(data: xr.Dataset) -> Iterator[str]:
    """Tell of impacts in one step of a body with several others, which come one after the other.

    Where none of the surfaces parts again, the order does not matter: what strikes first stays in
    contact, and what comes of the next impact is the same for both at once.
    """
    rigid = count_rigid(data)
    if rigid < 2 or not {"gap", "impact_impulse"} <= {*data.data_vars}:
        return
    pairs = _find_bodies_of_contacts(data)[:rigid]
    meet = [
        (i, j)
        for i, j in combinations(range(rigid), 2)
        if pairs[i] != pairs[j] and any(body >= 0 for body in pairs[i] & pairs[j])
    ]
    if not meet:
        return
    impulse = np.nan_to_num(data["impact_impulse"].values[:, :rigid])
    least = np.maximum(STRUCK * impulse.max(axis=0), SLIGHT * impulse.max())
    counted = np.zeros(len(impulse), dtype=bool)
    rebounds = _find_rebounds(data, rigid)
    for i, j in meet:
        both = (impulse[:, i] > least[i]) & (impulse[:, j] > least[j])
        counted |= both & (rebounds[:, i] | rebounds[:, j])
    if counted.any():
        k = int(np.argmax(counted))
        names = ", ".join(
            repr(str(data["contact"].values[j])) for j in np.flatnonzero(impulse[k] > least)
        )
        yield (
            f"contacts {names} strike in one step (t = {data['time'].values[k]:.6g} s, "
            f"{int(counted.sum())} times such): they count as one impact, where one after the "
            "other may end otherwise; take ContactAligned, or h so small that each has its step"
        )


def _find_rebounds(data: xr.Dataset, rigid: int) -> NDArray[np.bool_]:
    """Return in which steps surfaces rebound, (time, rigid); true where it is not known.

    They part after the step, not slowly beside how fast any met before.
    """
    rate = np.diff(data["gap"].values[:, :rigid], axis=0) / data["h"].values[1:, None]
    rebounds = np.ones((len(rate) + 1, rigid), dtype=bool)
    rebounds[2:-1] = rate[2:] > REBOUND * np.abs(rate[:-2]).max(axis=1)[:, None]
    return rebounds


def _tell_rolling_pins(data: xr.Dataset) -> Iterator[str]:
    """Tell of pins that roll in their bores by too much a step for their forces to be followed."""
    if not has_steps_with(data, "contact_offset", "contact_mode", "body_quaternion"):
        return
    rigid = count_rigid(data)
    walls = _find_walls(data)
    for k in np.flatnonzero(np.isfinite(np.atleast_1d(data.attrs["clearances"])[:rigid])):
        name = str(data["contact"].values[k])
        lasts = data["contact_mode"].values[:, k] == LASTING
        lasts = lasts[1:] & lasts[:-1]
        if not lasts.any() or (wall := walls.get(joint_of(name))) is None:
            continue
        offset = data["contact_offset"].values[:, k]
        turn = _measure_turns_between(offset)
        if (b := wall["body"]) >= 0:  # a pin that turns with its bore does not roll
            bore = data["body_quaternion"].values[:, b] * [1, -1, -1, -1]
            turn = np.minimum(turn, _measure_turns_between(rotate(bore, offset)))
        mean = float(np.sqrt(np.mean(turn[lasts] ** 2)))
        if mean > ROLLED:
            h = data["h"].values[1:][lasts].max()
            yield (
                f"the pin of contact {name!r} rolls in its bore by {mean:.2g} rad a step: peaks of "
                f"its force are not followed; h of {h * ROLLED / mean / 2:.1g} s or less"
            )


def _measure_turns_between(x: Array) -> Array:
    """Return the angles between vectors (n, 3) and the next ones, (n - 1,) [rad]."""
    across = np.linalg.norm(np.cross(x[1:], x[:-1]), axis=1)
    return np.asarray(np.arctan2(across, np.sum(x[1:] * x[:-1], axis=1)))


def _tell_creep(data: xr.Dataset) -> Iterator[str]:
    """Tell of contacts that creep on a wall that turns: slip is zero at one end of steps alone."""
    needed = {"contact_slip", "contact_mode", "contact_point", "body_velocity", "body_position"}
    if not data.sizes["contact"] or is_optimum(data) or not needed <= {*data.data_vars}:
        return
    if not data.attrs.get("scheme_creeps"):
        return
    rigid = count_rigid(data)
    bores, h = np.isfinite(np.atleast_1d(data.attrs["clearances"])), np.nan_to_num(data["h"].values)
    walls, worst = _find_walls(data), (0.0, "", 0.0)
    for k, name in enumerate(data["contact"].values[:rigid]):
        wall = walls.get(joint_of(str(name)))
        if wall is None or wall["body"] < 0 or bores[k]:
            continue
        b = wall["body"]
        w = data["body_angular_velocity"].values[:, b]
        arm = data["contact_point"].values[:, k] - data["body_position"].values[:, b]
        speed = data["body_velocity"].values[:, b] + np.cross(w, arm)
        normal = rotate(data["body_quaternion"].values[:, b], np.asarray(wall["z"]))
        acceleration = np.cross(w, speed)  # of the wall, by its rotation
        along = acceleration - np.sum(acceleration * normal, axis=1)[:, None] * normal
        slip = np.linalg.norm(data["contact_slip"].values[:, k], axis=1)
        sticks = data["contact_mode"].values[:, k] == LASTING
        size = np.linalg.norm(along, axis=1)
        creep = CREEP * size * h
        sticks &= slip <= np.maximum(STICKS * np.linalg.norm(speed, axis=1), creep)
        way = float(np.sum(np.where(sticks, size * h**2, 0)))
        if way > worst[0]:
            worst = way, str(name), float(np.linalg.norm(w[sticks], axis=1).max())
    way, name, fastest = worst
    if way > max(TELLS, CREEPS * measure_travel(data)):
        yield (
            f"contact {name!r} sticks on what turns at up to {fastest:.2g} rad/s, and creeps there "
            f"by some {way:.2g} m in all, in proportion to h (R w^2 h): {suggest_shorter(data)}, "
            "or join the bodies while they stick"
        )


def _tell_passing_through(data: xr.Dataset) -> Iterator[str]:
    """Tell of balls that are on the other side of each other after a step, without an impact."""
    if not has_steps_with(data, "gap", "body_position", "body_quaternion"):
        return
    balls: dict[str, list[Array]] = {}
    for frame in json.loads(data.attrs["frames"]):
        if frame["kind"] == "SphereContact":
            balls.setdefault(frame["element"], []).append(_find_origins(frame, data))
    for j, name in enumerate(map(str, data["contact"].values)):
        if len(balls.get(name, ())) != 2:
            continue
        away = balls[name][1] - balls[name][0]
        distance = np.linalg.norm(away, axis=1)
        radii, way = distance - data["gap"].values[:, j], np.diff(away, axis=0)
        # On the straight way from each time to the next, the share at which they are nearest.
        share = -np.sum(way * away[:-1], axis=1) / np.maximum(np.sum(way**2, axis=1), TINY)
        nearest = np.linalg.norm(away[:-1] + np.clip(share, 0, 1)[:, None] * way, axis=1)
        through = np.flatnonzero(nearest < (1 - DEEP) * radii[1:])
        if through.size:
            k = int(through[0]) + 1
            yield (
                f"bodies of contact {name!r} passed through each other within a step "
                f"(t = {data['time'].values[k]:.4g} s), which nothing stopped: from there the "
                f"motion is wrong; h of {data['h'].values[k] / 10:.1g} s or less"
            )


def _find_origins(frame: Any, data: xr.Dataset) -> Array:
    """Return where the origin of a frame is, (time, 3), or (3,) of the ground [m]."""
    origin, b = np.asarray(frame["origin"]), frame["body"]
    if b < 0:
        return origin
    at: Array = data["body_position"].values[:, b]
    return at + rotate(data["body_quaternion"].values[:, b], origin)


def _find_walls(data: xr.Dataset) -> dict[str, Any]:
    """Return frame a of each contact, that of its wall, by name."""
    walls: dict[str, Any] = {}
    for frame in json.loads(data.attrs["frames"]):
        walls.setdefault(frame["element"], frame)
    return walls


def _find_bodies_of_contacts(data: xr.Dataset) -> list[frozenset[int]]:
    """Return the bodies of each contact, the ground as -1."""
    bodies: dict[str, set[int]] = {}
    for name in ("frames", "pressed_frames"):
        for frame in json.loads(data.attrs[name]):
            bodies.setdefault(frame["element"], set()).add(frame["body"])
    return [frozenset(bodies.get(joint_of(str(name)), ())) for name in data["contact"].values]


CHECKS = (_tell_held_slip, _tell_impacts_together, _tell_passing_through)
RULES = (_tell_long_steps, _tell_depth_in_walls, _tell_rolling_pins, _tell_creep)
