"""Bounds of the reach of the links of a mechanism, for any angles of its joints."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from nsopt.arrays import Array
from nsopt.mechanics import Axis, Ball, Branch, CoordinateMap, Dynamics, Frame
from nsopt.parameter import number, parameters_in, substitute

Range = tuple[float, float]


class Extent(NamedTuple):
    """Least and greatest distance of a point from the root of its chain of joints."""

    root: Array  # (3,) [m], at rest, world axes
    least: float  # [m]
    most: float  # [m]


def find_extents(
    dynamics: Dynamics,
    frame: Frame,
    ranges: Mapping[str, Range],
    inputs: Sequence[str],
    p: Array,
) -> list[Extent]:
    """Return bounds of the distance of the origin of a frame from the root of its chain of joints.

    Both bounds returned hold. They follow from the distances between joints alone, in one as if
    hinges could turn in any direction, in the other about their axes, along which what they carry
    stays where it is. The list is empty if inputs, Parameters that are chosen anew at every moment,
    change these distances. ``ranges`` are limits of coordinates, those left out are unlimited.
    """
    chain = _chain(dynamics, frame)
    stated = [
        frame.origin,
        *(x for b in chain for x in (b.parent_frame.origin, b.child_frame.origin, b.freedom)),
    ]
    if any(name in inputs for name in parameters_in(stated)):
        return []
    values = dict(zip((x.name for x in dynamics.parameters), p.tolist(), strict=True))
    limits = dict(ranges) if dynamics.mechanism.is_relative else {}
    extents = []
    for keep_axial in (False, True):
        r, lengths = np.asarray(number(substitute(frame.origin, values))), []
        for branch in chain:
            parent, child = (
                np.asarray(number(substitute(x.origin, values)))
                for x in (branch.parent_frame, branch.child_frame)
            )
            d = np.asarray(branch.child_frame.axes).T @ (r - child)  # (3,) [m], joint axes
            lengths += _slides(dynamics, branch, limits, values)
            fixed = _find_fixed_part(branch, d, keep_axial)
            rotating = float(np.linalg.norm(d - fixed))
            lengths.append((rotating, rotating))
            r = parent + np.asarray(branch.parent_frame.axes) @ fixed
        # Stretched out the lengths add up; folded the longest is left less all the others.
        most = sum(high for _, high in lengths)
        least = [low - (most - high) for low, high in lengths if np.isfinite(most)]
        extents.append(Extent(r, max(0.0, *least) if least else 0.0, most))
    return extents


def _chain(dynamics: Dynamics, frame: Frame) -> list[Branch]:
    """Return the branches of the spanning tree from a frame to the ground."""
    by_body = {branch.body: branch for branch in dynamics.mechanism.tree.branches}
    branches: list[Branch] = []
    body = frame.body
    while body is not None:
        branches.append(by_body[body])
        body = branches[-1].parent_frame.body
    return branches


def _find_fixed_part(branch: Branch, d: Array, keep_axial: bool) -> Array:
    """Return the component of a vector that rotations of a joint do not change, in joint axes."""
    rotations = [step for step in branch.freedom if isinstance(step, Ball) or any(step.turn)]
    if not rotations:
        return d
    if keep_axial and len(rotations) == 1 and isinstance(rotations[0], Axis):
        axis = np.array(rotations[0].turn)
        axial: Array = axis * (axis @ d)
        return axial
    return np.zeros(3)


def _slides(
    dynamics: Dynamics, branch: Branch, limits: Mapping[str, Range], values: Mapping[str, float]
) -> list[Range]:
    """Return the least and greatest length of each translation of a joint."""
    entries = dynamics.mechanism.tree.entries[branch.body.name]
    lengths = []
    for step, entry in zip(branch.freedom, entries, strict=True):
        pitch = 0.0 if isinstance(step, Ball) else float(number(substitute(step.pitch, values)))
        if isinstance(step, Axis) and (any(step.slide) or pitch):
            name = dynamics.mechanism.tree.q_names[entry.q.start]
            advance = abs(pitch) / (2 * np.pi) if pitch else 1.0  # of a screw, per radian
            lengths.append(_length(entry, limits.get(name, (-np.inf, np.inf)), advance))
    return lengths


def _length(entry: CoordinateMap, limits: Range, advance: float) -> Range:
    """Return the least and greatest length of a translation whose coordinate has limits."""
    ends = sorted(float(entry.ratio) * x + float(entry.offset) for x in limits)
    sizes = [abs(x) * advance for x in ends]
    return (0.0 if ends[0] <= 0 <= ends[1] else min(sizes)), max(sizes)
