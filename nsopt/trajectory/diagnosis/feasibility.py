"""Conditions that no motion meets, refused before the solve: `check_feasible`.

Found without a solve, so only what is certain: limits that exclude each other, a given posture that
breaks a limit, a target out of reach, too little time.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import combinations
from typing import NamedTuple

import casadi as ca
import numpy as np

from nsopt.arrays import Array
from nsopt.mechanics import Axis, Ball, Branch, CoordinateMap, Dynamics, Frame
from nsopt.parameter import number, parameters_in, substitute
from nsopt.trajectory.conditions import (
    Apart,
    During,
    Reach,
    Touching,
)
from nsopt.trajectory.diagnosis.statement import (
    ALONG,
    END,
    START,
    TOLERATED,
    Occasion,
    Stated,
    Statement,
)
from nsopt.trajectory.horizon import Horizon
from nsopt.trajectory.returned import call_bounds, call_spans


def check_feasible(statement: Statement, horizon: Horizon) -> None:
    """Refuse conditions that no motion can meet, as far as that is certain without a solve."""
    _check_effect(statement)
    stated = statement.state_rows(horizon.steps)
    _check_bounds(statement, stated)
    _check_modes(stated)
    _check_target(statement)
    shortest, longest = horizon.bounds
    for when, node, t in (
        (START, 0, 0.0),
        (END, horizon.steps, shortest if shortest == longest else np.nan),
    ):
        here = [x if x.first <= node <= x.last else None for x in stated]
        _check_posture(statement, when, t, here)
        _check_contacts(statement, when, t)
    _check_couples(statement)
    _check_time(statement, horizon)


def _check_bounds(statement: Statement, stated: Sequence[Stated]) -> None:
    """Refuse two rows that bound the same number at the same time and exclude each other."""
    for row, _, _ in stated:
        if row.lower > row.upper + TOLERATED:
            raise ValueError(
                f"limits of {row.name} in {row.owner} are reversed: lower {row.lower:.6g} exceeds "
                f"upper {row.upper:.6g}"
            )
    for (i, x), (j, y) in combinations(enumerate(stated), 2):
        first, last = x.find_common_nodes(y)
        if statement.first_alike[i] != statement.first_alike[j] or first > last:
            continue
        a, b = x.row, y.row
        gap = max(a.lower, b.lower) - min(a.upper, b.upper)
        if gap > TOLERATED:
            raise ValueError(
                f"{a.owner} and {b.owner} exclude each other: {a.name} must be {a.wanted} {x.when} "
                f"and {b.wanted} {y.when}, which are {gap:.3g} apart: change one of the two"
            )


def _check_posture(
    statement: Statement, when: Occasion, t: float, here: Sequence[Stated | None]
) -> None:
    """Refuse a given start or end, also an incomplete one, that violates the conditions there.

    ``here`` are the rows that hold there, None for the others. ``t`` is NaN where it is free.
    """
    q, v = statement.posture(when)
    # Of the arguments behind t, q and v accelerations alone may be given.
    others = [np.full(x.numel(), np.nan) for x in statement.symbols[3:]]
    others[0][: len(v)] = statement.acceleration(when)
    numbers = [np.array([t]), q, v, *others]
    unknown = np.isnan(np.concatenate(numbers))
    pattern = ca.jacobian_sparsity(statement.values, ca.vertcat(*statement.symbols))
    rows, columns = (np.array(x, dtype=int) for x in pattern.get_triplet())
    by_unknowns, by_motion = set(rows[unknown[columns]].tolist()), set(rows.tolist())
    values = np.asarray(statement.function(*(np.nan_to_num(x) for x in numbers))).ravel()
    for k, (x, value) in enumerate(zip(here, values, strict=True)):
        if x is None or k in by_unknowns or not np.isfinite(value):
            continue
        row = x.row
        off = max(row.lower - value, value - row.upper)
        if off > TOLERATED:
            whose = f"the posture given {when} violates" if k in by_motion else "no motion meets"
            place = "start" if when is START else "end"
            remedy = f"move the {place} or change" if k in by_motion else "change"
            violation = (
                f"{row.name} is {value:.6g}, must be {row.wanted} {x.when}, off by {off:.3g}"
            )
            if isinstance(row.inner_condition, Touching):
                violation = f"its gap is {value:.3g} m, must be closed {x.when}"
            raise ValueError(f"{whose} {row.owner}: {violation}; {remedy} the condition")


def _check_contacts(statement: Statement, when: Occasion, t: float) -> None:
    """Refuse a given start or end with penetrating bodies or open joints."""
    d, q = statement.dynamics, statement.posture(when)[0]
    if np.isnan([t, *q]).any():
        return
    distance, closure = (f(t, q, statement.sample.p) for f in (d.distance, d.closure))
    for violations, names, what in (
        (-distance, d.contact_names, "has a contact below zero"),
        (ca.fabs(closure), d.closure_names, "has a joint open"),
    ):
        if not names or ca.symvar(violations):  # inputs decide
            continue
        off = np.asarray(ca.evalf(violations)).ravel()
        k = int(np.argmax(off))
        if off[k] > TOLERATED:
            raise ValueError(
                f"the posture given {when} {what}: {names[k]!r}, off by {off[k]:.3g} (m or rad); "
                "give coordinates that fit together, such as those of consistent(dynamics)"
            )


def _check_couples(statement: Statement) -> None:
    """Refuse a given start and end that violate a condition that couples them."""
    last = replace(statement)  # the same conditions, on other symbols: those of the last node
    coupled = [
        (c, b)
        for c in statement.conditions
        for b in call_bounds(c, "couple", statement.sample, last.sample)
    ]
    if not coupled:
        return
    symbols, numbers = [], []
    for x, when in ((statement, START), (last, END)):
        given = np.concatenate(x.posture(when))
        for k in np.flatnonzero(np.isfinite(given)):
            symbols.append(ca.vertcat(x.sample.q, x.sample.v)[int(k)])
            numbers.append(ca.SX(given[k]))
    for c, b in coupled:
        values = ca.substitute([b.value], symbols, numbers)[0] if symbols else b.value
        for i, value in enumerate(ca.vertsplit(values) if values.numel() else []):
            if ca.symvar(value):
                continue
            number = float(ca.evalf(value))
            off = max(b.lower[i] - number, number - b.upper[i])
            if off > TOLERATED:
                raise ValueError(
                    f"start and end as given violate {type(c).__name__}: {b.label}, entry {i}, "
                    f"is {number:.6g}, off by {off:.3g}; change one of them"
                )


def _check_time(statement: Statement, horizon: Horizon) -> None:
    """Refuse a change of a coordinate that takes longer at the largest speed than the duration."""
    d, longest = statement.dynamics, horizon.bounds[1]
    for block in d.mechanism.generalized_coordinates.blocks:
        if block.ball:
            continue
        for q, v in zip(d.q_names[block.q], d.v_names[block.v], strict=True):
            a, b = (statement.interval(q, when, ALONG) for when in (START, END))
            speed = statement.interval(v, ALONG)
            for change, limit in (
                (b.lower - a.upper, speed.upper),
                (a.lower - b.upper, -speed.lower),
            ):
                way = limit * longest * (1 + TOLERATED)
                if not 0 < change < np.inf or limit <= 0 or change <= way:
                    continue
                raise ValueError(
                    f"{q} has {change:.6g} to go at {v} of at most {limit:.6g}, which takes at "
                    f"least {change / limit:.6g} s, but the duration is at most {longest:g} s: "
                    "allow more time or speed"
                )


def _check_target(statement: Statement) -> None:
    """Refuse a target that links cannot reach, stretched out or folded."""
    names = statement.dynamics.q_names
    for stated in statement.conditions:
        condition, when = stated, [ALONG, END]
        if isinstance(stated, During):
            condition, when = stated.condition, [ALONG]
        if not isinstance(condition, Reach):
            continue
        ranges = {name: statement.interval(name, *when) for name in names}
        target = np.asarray(condition.position, dtype=float)
        extents = find_extents(
            statement.dynamics, condition.frame, ranges, statement.inputs, statement.p
        )
        aways = [float(np.linalg.norm(target - x.root)) for x in extents]
        missing = [max(r - x.most, x.least - r) for r, x in zip(aways, extents, strict=True)]
        if not missing or max(missing) <= TOLERATED:
            continue
        worst = int(np.argmax(missing))
        away, (root, least, most) = aways[worst], extents[worst]
        limit = f"at most {most:.3g}" if away > most else f"at least {least:.3g}"
        raise ValueError(
            f"the target of Reach for {condition.frame.label} is out of reach: {_point(target)} "
            f"is {away:.3g} m from {_point(root)}, from where its links get {limit} m away: move "
            f"it by {max(missing):.3g} m or more"
        )


def _point(x: Array) -> str:
    return f"({', '.join(f'{c:.6g}' for c in x)}) m"


def _check_effect(statement: Statement) -> None:
    """Refuse a `During` of a condition that states nothing of a single moment."""
    for c in statement.conditions:
        for span in call_spans(c, statement.sample):
            if any(b.value.numel() for b in span.bounds):
                continue
            what = type(c.condition if isinstance(c, During) else c).__name__
            raise ValueError(
                f"During {what} has no effect: {what} states nothing that holds all along or at "
                "the end of a motion; give Reach, EndAt, Within or another condition that does"
            )


def _check_modes(stated: Sequence[Stated]) -> None:
    """Refuse two modes of one contact at one time; one may begin at the node where another ends."""
    conditions = [(x, x.row.inner_condition) for x in stated]
    modes = [(x, c) for x, c in conditions if isinstance(c, Touching | Apart)]
    for (x, a), (y, b) in combinations(modes, 2):
        first, last = x.find_common_nodes(y)
        one_follows = first == last and (x.last == y.first or y.last == x.first)
        if type(a) is type(b) or a.contact != b.contact or first > last or one_follows:
            continue
        both = f"at step {first}" if first == last else f"from step {first} to {last}"
        raise ValueError(
            f"{x.row.owner}, {x.when}, and {y.row.owner}, {y.when}, exclude each other {both}: let "
            "one end where the other begins"
        )


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
    chain = _list_branches_to_ground(dynamics, frame)
    stated = [
        frame.origin,
        *(x for b in chain for x in (b.parent_frame.origin, b.child_frame.origin, b.freedom)),
    ]
    if any(name in inputs for name in parameters_in(stated)):
        return []
    values = dict(zip(dynamics.parameter_names, p.tolist(), strict=True))
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
            lengths += _list_slides(dynamics, branch, limits, values)
            fixed = _find_fixed_part(branch, d, keep_axial)
            rotating = float(np.linalg.norm(d - fixed))
            lengths.append((rotating, rotating))
            r = parent + np.asarray(branch.parent_frame.axes) @ fixed
        # Stretched out the lengths add up; folded the longest is left less all the others.
        most = sum(high for _, high in lengths)
        least = [low - (most - high) for low, high in lengths if np.isfinite(most)]
        extents.append(Extent(r, max(0.0, *least) if least else 0.0, most))
    return extents


def _list_branches_to_ground(dynamics: Dynamics, frame: Frame) -> list[Branch]:
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


def _list_slides(
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
            lengths.append(_limit_length(entry, limits.get(name, (-np.inf, np.inf)), advance))
    return lengths


def _limit_length(entry: CoordinateMap, limits: Range, advance: float) -> Range:
    """Return the least and greatest length of a translation whose coordinate has limits."""
    ends = sorted(float(entry.ratio) * x + float(entry.offset) for x in limits)
    sizes = [abs(x) * advance for x in ends]
    return (0.0 if ends[0] <= 0 <= ends[1] else min(sizes)), max(sizes)
