"""How far the links of a mechanism reach, whatever the angles of its joints."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from nsopt.mechanics import Dynamics, Frame
from nsopt.mechanics.freedom import Axis, Ball
from nsopt.mechanics.links import Entry
from nsopt.mechanics.parameter import number, parameters_in, substitute
from nsopt.mechanics.spanning_tree import Branch

Array = NDArray[np.float64]
Range = tuple[float, float]


class Extent(NamedTuple):
    """A point stays at least and at most so far from another that is fixed."""

    root: Array  # (3,) [m]
    least: float  # [m]
    most: float  # [m]


def extent(
    dynamics: Dynamics,
    frame: Frame,
    ranges: Mapping[str, Range],
    inputs: Sequence[str],
    p: Array,
) -> list[Extent]:
    """Return how far the origin of a frame can be from where its chain of joints starts.

    Each holds by itself. By lengths between joints alone; none where these change by inputs.

    Parameters
    ----------
    frame : Frame
    ranges : mapping of coordinate name to (float, float)
        Limits of coordinates; those left out have none.
    inputs : names
    p : (np,)
        Values of parameters.
    """
    chain = _chain(dynamics, frame)
    stated = [frame.origin, *(x for b in chain for x in (b.on.origin, b.to.origin, b.freedom))]
    if any(name in inputs for name in parameters_in(stated)):
        return []
    values = dict(zip((x.name for x in dynamics.parameters), p.tolist(), strict=True))
    limits = dict(ranges) if dynamics.mechanism.coordinates != "absolute" else {}
    found = []
    for keep_axial in (False, True):
        r, lengths = np.asarray(number(substitute(frame.origin, values))), []
        for branch in chain:
            on, to = (
                np.asarray(number(substitute(x.origin, values))) for x in (branch.on, branch.to)
            )
            d = np.asarray(branch.to.axes).T @ (r - to)
            lengths += _slides(dynamics, branch, limits, values)
            turned = _turned(branch, d, keep_axial)
            lengths.append((turned, turned))
            d = d if turned == 0 else _kept(branch, d, keep_axial)
            r = on + np.asarray(branch.on.axes) @ d
        most = sum(high for _, high in lengths)
        least = [low - (most - high) for low, high in lengths if np.isfinite(most)]
        found.append(Extent(r, max(0.0, *least) if least else 0.0, most))
    return found


def _chain(dynamics: Dynamics, frame: Frame) -> list[Branch]:
    """Return the branches from a frame down to the ground."""
    by_body = {branch.body: branch for branch in dynamics.mechanism.tree.branches}
    found: list[Branch] = []
    body = frame.body
    while body is not None:
        found.append(by_body[body])
        body = found[-1].on.body
    return found


def _turns(branch: Branch) -> list[Axis | Ball]:
    return [step for step in branch.freedom if isinstance(step, Ball) or any(step.turn)]


def _kept(branch: Branch, d: Array, keep_axial: bool) -> Array:
    """Return the part of a vector that no turn of a joint changes, in axes of the joint."""
    turns = _turns(branch)
    if not turns:
        return d
    if keep_axial and len(turns) == 1 and isinstance(turns[0], Axis):
        axis = np.array(turns[0].turn)
        kept: Array = axis * (axis @ d)
        return kept
    return np.zeros(3)


def _turned(branch: Branch, d: Array, keep_axial: bool) -> float:
    """Return the length of the part of a vector that turns with a joint."""
    return float(np.linalg.norm(d - _kept(branch, d, keep_axial)))


def _slides(
    dynamics: Dynamics, branch: Branch, limits: Mapping[str, Range], values: Mapping[str, float]
) -> list[Range]:
    """Return the least and the most length of each slide of a joint."""
    entries = dynamics.mechanism.tree.entries[branch.body.name]
    found = []
    for step, entry in zip(branch.freedom, entries, strict=True):
        pitch = 0.0 if isinstance(step, Ball) else float(number(substitute(step.pitch, values)))
        if isinstance(step, Axis) and (any(step.slide) or pitch):
            name = dynamics.mechanism.tree.q_names[entry.q.start]
            per = abs(pitch) / (2 * np.pi) if pitch else 1.0
            found.append(_length(entry, limits.get(name, (-np.inf, np.inf)), per))
    return found


def _length(entry: Entry, limits: Range, per: float) -> Range:
    """Return the least and the most length of a slide whose coordinate has limits."""
    ends = sorted(float(entry.ratio) * x + float(entry.offset) for x in limits)
    sizes = [abs(x) * per for x in ends]
    return (0.0 if ends[0] <= 0 <= ends[1] else min(sizes)), max(sizes)
