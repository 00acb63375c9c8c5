"""What cannot be, told before anything is solved: conflicts, bad postures, targets too far away."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations

import casadi as ca
import numpy as np
from numpy.typing import NDArray

from nsopt.mechanics import Dynamics
from nsopt.trajectory.conditions import (
    ClearOf,
    ClearOfCapsule,
    Condition,
    LinkClearOf,
    Reach,
    Touching,
)
from nsopt.trajectory.diagnosis.extent import Extent, extent
from nsopt.trajectory.diagnosis.parts import check_effect, check_modes
from nsopt.trajectory.diagnosis.statement import ALONG, END, OFF, START, Stated, Statement
from nsopt.trajectory.horizon import Horizon

Array = NDArray[np.float64]


def check_feasible(
    dynamics: Dynamics,
    horizon: Horizon,
    conditions: Sequence[Condition],
    inputs: Sequence[str],
    p: Array,
) -> None:
    """Refuse conditions that no motion keeps, as far as that is sure without a solve.

    Parameters
    ----------
    dynamics, horizon, conditions, inputs
        As for `optimize`.
    p : (np,)
        Values of parameters.

    Raises
    ------
    ValueError
        If bounds of one number or modes of one contact exclude each other, a given start or end
        violates what must hold there or has bodies inside others or joints open, a target is
        farther away than the links reach, or a coordinate cannot get to its end in time; it names
        the conditions, the values and the remedy.
    """
    told = Statement(dynamics, conditions, inputs, p)
    check_effect(told)
    stated = told.stated(horizon.steps)
    _check_bounds(told, stated)
    check_modes(stated)
    _check_target(told)
    for when, t in ((START, 0.0), (END, horizon.bounds[0])):
        known = when == START or horizon.bounds[0] == horizon.bounds[1]
        node = 0 if when == START else horizon.steps
        here = [x if x.first <= node <= x.last else None for x in stated]
        _check_posture(told, when, t if known else np.nan, here)
        _check_contacts(told, when, t if known else np.nan)
    _check_couples(told)
    _check_time(told, horizon)


def _check_bounds(told: Statement, stated: Sequence[Stated]) -> None:
    """Refuse two rows of one number, at one time, that exclude each other."""
    for row, _, _ in stated:
        if row.lower > row.upper + OFF:
            raise ValueError(
                f"limits of {row.name} in {row.owner} are reversed: lower {row.lower:.6g} exceeds "
                f"upper {row.upper:.6g}"
            )
    for (i, x), (j, y) in combinations(enumerate(stated), 2):
        first, last = x.common(y)
        if told.same[i] != told.same[j] or first > last:
            continue
        a, b = x.row, y.row
        gap = max(a.lower, b.lower) - min(a.upper, b.upper)
        if gap > OFF:
            raise ValueError(
                f"{a.owner} and {b.owner} exclude each other: {a.name} must be {a.wanted} {x.when} "
                f"and {b.wanted} {y.when}, which are {gap:.3g} apart: change one of the two"
            )


def _check_posture(told: Statement, when: str, t: float, here: Sequence[Stated | None]) -> None:
    """Refuse a start or end, as far as it is given, that violates what must hold there.

    ``here`` are the rows that hold there, None in place of the others.
    """
    q, v = told.posture(when)
    free = [np.full(x.numel(), np.nan) for x in told.symbols[3:]]
    numbers = [np.array([t]), q, v, *free]
    unknown = np.isnan(np.concatenate(numbers))
    pattern = ca.jacobian_sparsity(told.values, ca.vertcat(*told.symbols))
    rows, columns = (np.array(x, dtype=int) for x in pattern.get_triplet())
    open_rows, moving = set(rows[unknown[columns]].tolist()), set(rows.tolist())
    values = np.asarray(told.function(*(np.nan_to_num(x) for x in numbers))).ravel()
    for k, (x, value) in enumerate(zip(here, values, strict=True)):
        if x is None or k in open_rows or not np.isfinite(value):
            continue
        row = x.row
        off = max(row.lower - value, value - row.upper)
        if off > OFF:
            whose = f"the posture given {when} violates" if k in moving else "no motion meets"
            remedy = f"move {when.removeprefix('at ')} or change" if k in moving else "change"
            found = _found(x, value, off)
            raise ValueError(f"{whose} {row.owner}: {found}; {remedy} the condition")


def _check_contacts(told: Statement, when: str, t: float) -> None:
    """Refuse a given start or end with bodies inside others, or joints open."""
    d, q = told.dynamics, told.posture(when)[0]
    if np.isnan([t, *q]).any():
        return
    for values, names, what, sign in (
        (d.distance(t, q, told.moment.p), d.contact_names, "has a contact below zero", -1),
        (d.closure(t, q, told.moment.p), d.closure_names, "has a joint open", 0),
    ):
        if not names or ca.symvar(values):  # inputs decide
            continue
        x = np.asarray(ca.evalf(values)).ravel()
        off = np.abs(x) if sign == 0 else sign * x
        k = int(np.argmax(off))
        if off[k] > OFF:
            raise ValueError(
                f"the posture given {when} {what}: {names[k]!r}, off by {off[k]:.3g} (m or rad); "
                "give coordinates that fit together, such as those of consistent(dynamics)"
            )


def _found(x: Stated, value: float, off: float) -> str:
    """Return what a posture has in place of what is wanted."""
    row, c = x.row, x.row.demand
    if isinstance(c, Touching):
        return f"its gap is {value:.3g} m, must be closed {x.when}"
    if isinstance(c, ClearOf | ClearOfCapsule | LinkClearOf):
        # What is bounded is smooth at the centre, a length only at the surface.
        R = c.radius + (c.thickness if isinstance(c, LinkClearOf) else 0.0)
        inside = R - np.sqrt(max(R * (R - 2 * off), 0.0))
        return f"it is {inside:.3g} m inside the obstacle of radius {c.radius:g} m"
    return f"{row.name} is {value:.6g}, must be {row.wanted} {x.when}, off by {off:.3g}"


def _check_couples(told: Statement) -> None:
    """Refuse a given start and a given end that do not belong together."""
    last = replace(told)  # with symbols of its own
    symbols, numbers = [], []
    for x, when in ((told, START), (last, END)):
        given = np.concatenate(x.posture(when))
        for k in np.flatnonzero(np.isfinite(given)):
            symbols.append(ca.vertcat(x.moment.q, x.moment.v)[int(k)])
            numbers.append(ca.SX(given[k]))
    for c in told.conditions:
        for b in c.couple(told.moment, last.moment):
            values = ca.substitute([b.value], symbols, numbers)[0] if symbols else b.value
            for i, value in enumerate(ca.vertsplit(values) if values.numel() else []):
                if ca.symvar(value):
                    continue
                found = float(ca.evalf(value))
                off = max(b.lower[i] - found, found - b.upper[i])
                if off > OFF:
                    raise ValueError(
                        f"start and end as given violate {type(c).__name__}: {b.label}, entry {i}, "
                        f"is {found:.6g}, off by {off:.3g}; change one of them"
                    )


def _check_time(told: Statement, horizon: Horizon) -> None:
    """Refuse a way that takes longer at the most speed than there is time."""
    d, most = told.dynamics, horizon.bounds[1]
    for block in d.mechanism.described.blocks:
        if block.ball:
            continue
        for q, v in zip(d.q_names[block.q], d.v_names[block.v], strict=True):
            a, b = (told.interval(q, when, ALONG) for when in (START, END))
            speed = told.interval(v, ALONG)
            for way, limit in ((b.lower - a.upper, speed.upper), (a.lower - b.upper, -speed.lower)):
                if not 0 < way < np.inf or limit <= 0 or way <= limit * most * (1 + OFF):
                    continue
                raise ValueError(
                    f"{q} has {way:.6g} to go at {v} of at most {limit:.6g}, which takes at least "
                    f"{way / limit:.6g} s, but the duration is at most {most:g} s: allow "
                    "more time or speed"
                )


def _check_target(told: Statement) -> None:
    """Refuse a target that links cannot reach, stretched out or folded."""
    ranges = {name: told.interval(name, ALONG, END) for name in told.dynamics.q_names}
    for condition in told.conditions:
        if not isinstance(condition, Reach):
            continue
        target = np.asarray(condition.position, dtype=float)
        found = extent(told.dynamics, condition.frame, ranges, told.inputs, told.p)
        missing = [_missing(target, x) for x in found]
        if not missing or max(missing) <= OFF:
            continue
        root, least, most = found[int(np.argmax(missing))]
        away = float(np.linalg.norm(target - root))
        limit = f"at most {most:.3g}" if away > most else f"at least {least:.3g}"
        raise ValueError(
            f"the target of Reach for {condition.frame.place} is out of reach: {_point(target)} "
            f"is {away:.3g} m from {_point(root)}, from where its links get {limit} m away: move "
            f"it by {max(missing):.3g} m or more"
        )


def _missing(target: Array, x: Extent) -> float:
    """Return how far a target is outside what links reach [m]."""
    away = float(np.linalg.norm(target - x.root))
    return max(away - x.most, x.least - away)


def _point(x: Array) -> str:
    return f"({', '.join(f'{c:.6g}' for c in x)}) m"
