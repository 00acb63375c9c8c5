"""The direction in which a contact slides in space: an angle at each point of a phase.

Friction is against the slip, so the angle is that of the slip. Where slip begins or ends it is zero
and has no direction: there the angle is that of its rate.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import NamedTuple

import casadi as ca
import numpy as np
from numpy.typing import NDArray

from nsopt.arrays import Array
from nsopt.mpcc import Bound, ConstraintBlock, constraint_block
from nsopt.trajectory.phases.modes import ContactMode, ModeForces
from nsopt.trajectory.transcription.base import zero
from nsopt.trajectory.transcription.collocation import Collocation

MOST_TURN = np.pi / 4
"""Most that a slip turns from one point to the next [rad]. One of zero has no direction: without
this a slip that stops within a phase could go on in any other."""

REVERSES = 0.9 * np.pi
"""Turn of a slip in a guess [rad] from one phase to the next, from which it stops and reverses."""

SLOW = 1e-3  # of the largest slip of a guess: less has no direction that counts


class Slip(NamedTuple):
    """The slip of the gaps of a contact in space, along and across the directions of its angles."""

    along: ca.SX  # (n,) [m/s]
    across: ca.SX


def divide_slip(slip: ca.SX, angles: ca.SX) -> Slip:
    """Return the parts of a slip (2 n,) [m/s], gap by gap, by its ``angles`` (n,) [rad]."""
    pairs = ca.reshape(slip, 2, angles.numel())
    x, y = pairs[0, :].T, pairs[1, :].T
    cos, sin = ca.cos(angles), ca.sin(angles)
    return Slip(x * cos + y * sin, y * cos - x * sin)


def find_resting(
    modes: Sequence[Mapping[str, ContactMode]],
    strikes: Sequence[Mapping[str, ContactMode]],
    *,
    is_periodic: bool,
) -> list[tuple[frozenset[str], frozenset[str]]]:
    """Return the contacts without slip at the start and at the end of each phase.

    Of ``modes`` and ``strikes`` of all phases: those that stick in the phase before or after it,
    with no impact between. What is no mode is left for each phase to refuse.
    """
    n = len(modes)
    modes = [{k: x for k, x in own.items() if isinstance(x, ContactMode)} for own in modes]
    ends = [frozenset[str]()] * (n + 1)  # where each phase begins, and where the last one ends
    for k in range(0 if is_periodic else 1, n):
        before, after = modes[k - 1], modes[k]
        is_impact = bool(strikes[k]) or any(
            x.closed and not before[name].closed for name, x in after.items() if name in before
        )
        stick = {name for own in (before, after) for name, x in own.items() if x.sticks}
        ends[k] = frozenset(() if is_impact else stick)
    if is_periodic:
        ends[n] = ends[0]
    return list(pairwise(ends))


def limit_turns(x: Collocation, forces: Sequence[ModeForces]) -> list[ConstraintBlock]:
    """Return the block by which slips turn no more from point to point than steps resolve."""
    columns = np.array([_find_column(x, name) for y in forces for name in y.slip_angles], np.intp)
    if not columns.size:
        return []
    pairs = np.arange(2 * x.horizon.steps)[:, None] + np.arange(2)
    places = (pairs[None] * x.node_size + columns[:, None, None]).reshape(-1, 2)
    w, p = ca.SX.sym("w", 2), ca.SX.sym("p", len(x.dynamics.parameters) + len(x.creep))
    most = np.array([MOST_TURN])
    bound = Bound("turn of the slip", w[1] - w[0], -most, most)
    symbols, no_costs = (w, ca.SX.sym("data"), p), ca.SX.zeros(len(x.costs))
    return [constraint_block("turns", symbols, [bound], no_costs, places)]


def find_angles(x: Collocation, forces: ModeForces) -> NDArray[np.intp]:
    """Return the indices of the angles of a contact, (gaps,), among the unknowns of a node."""
    return np.array([_find_column(x, name) for name in forces.slip_angles], np.intp)


def carry_direction(name: str, ends: tuple[Array, Array], turn: ca.SX) -> list[Bound]:
    """Return the bound by which a slip goes on, or reverses, where one phase follows another.

    A slip of zero would let two phases meet at any angle, at rest, and each step from there would
    keep it: so its ``turn`` (n,) [rad] is zero, or half a turn if it is about that in the guess
    between the ``ends`` of the phases, (n,) [rad] each. Either but for whole turns.
    """
    before, after = ends
    guessed = np.abs(np.remainder(after - before + np.pi, 2 * np.pi) - np.pi)
    stops = ca.DM(np.where(guessed > REVERSES, np.pi, 0.0))
    return [zero(f"direction of the slip of {name}", ca.sin((turn - stops) / 2))]


def with_slip_angles(
    x: Collocation, forces: Sequence[ModeForces], slips: Sequence[Array], unknowns: Array
) -> Array:
    """Return the unknowns (n,) of a guess, with the angles of its slip where it has none.

    ``slips`` are (2 gaps, points) of each of the ``forces``, which slide in space.
    """
    points = unknowns[:-1].reshape(-1, x.node_size).copy()
    for own, slip in zip(forces, slips, strict=True):
        for name, angles in zip(own.slip_angles, measure_angles(slip), strict=True):
            column = _find_column(x, name)
            if not points[:, column].any():
                points[:, column] = angles
    return np.append(points, unknowns[-1])


def measure_angles(slip: Array) -> Array:
    """Return the directions (gaps, n) [rad] of slips (2 gaps, n) at n points, without jumps.

    Where one is slow, that of the nearest points that are not.
    """
    return np.array([_measure_angle(x, y) for x, y in zip(slip[::2], slip[1::2], strict=True)])


def _find_column(x: Collocation, name: str) -> int:
    """Return the index of an input among the unknowns of a node."""
    return x.node_size - len(x.inputs) + x.inputs.index(name)


def _measure_angle(x: Array, y: Array) -> Array:
    speed = np.hypot(x, y)
    known = np.flatnonzero(speed > SLOW * speed.max(initial=0.0))
    if not known.size:
        return np.zeros_like(x)
    angles = np.unwrap(np.arctan2(y, x)[known])
    return np.asarray(np.interp(np.arange(len(x)), known, angles))
