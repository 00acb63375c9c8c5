"""Why a solve failed: what is violated most, where, and what numbers say of the reason."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import casadi as ca
import numpy as np

from nsopt.mechanics.freedom import Axis
from nsopt.trajectory.conditions import Reach
from nsopt.trajectory.diagnosis.scaling import Scaling
from nsopt.trajectory.diagnosis.statement import ALONG, END, OFF, START, Row, Statement
from nsopt.trajectory.guesses import Course
from nsopt.trajectory.horizon import Horizon
from nsopt.trajectory.moment import Moment
from nsopt.trajectory.parts import Array, Part, Stack

SHOWN = 4
"""Conditions that are told."""
MORE = "HorizonSolver(max_iter=...)"


@dataclass(frozen=True, eq=False)
class Ending:
    """How a solve ended.

    Parameters
    ----------
    told : Statement
        What was asked for.
    horizon : Horizon
    t : (n + 1,) [s]
        Times of the nodes.
    course : Course
        The last motion tried, at the nodes.
    solved : bool
        Whether the solver believes in it.
    word : str
        Of the solver.
    iterations : int
    remedy : str
        What else to try; may be empty.
    """

    told: Statement
    horizon: Horizon
    t: Array
    course: Course
    solved: bool
    word: str
    iterations: int
    remedy: str = ""


class _Place(NamedTuple):
    """Where a row is."""

    part: Part
    row: int  # in the part
    node: int

    @property
    def label(self) -> str:
        return self.part.labels[self.row]

    @property
    def name(self) -> str:
        """The name of the part."""
        return str(self.part.function.name())

    def time(self, t: Array) -> float:
        """Return when it holds [s]."""
        return float(t[{"start": 0, "end": -1}.get(self.name, self.node)])

    def step(self, t: Array) -> int:
        return len(t) - 1 if self.name == "end" else self.node


def explain(stack: Stack, g: Array, ending: Ending, limit: float, sizes: Scaling | None) -> str:
    """Return why a motion is no solution; nothing where it is one.

    Parameters
    ----------
    stack : Stack
    g : (m,)
        Its rows, evaluated at the motion.
    ending : Ending
    limit : float
        Largest violation of a row that counts as none.
    sizes : Scaling, optional
        Of the program at the motion.
    """
    off = stack.violations(g)
    if not off.size or off.max() <= limit:
        return "" if ending.solved else _not_least(ending, sizes)
    groups = list(_groups(stack, off, limit))
    told = [_line(stack, g, off, rows, ending) for rows in groups[:SHOWN]]
    left = len(groups) - len(told)
    head = (
        f"conditions are violated after {ending.iterations} iterations ({ending.word}), most of "
        f"all: {told[0]}"
    )
    tail = [f"and {left} more kinds of rows"] if left > 0 else []
    causes = list(_causes(_locate(stack, groups[0][0]).time(ending.t), ending))
    remedies = _remedies(ending, sizes)
    if not causes and not remedies:
        remedies = [
            "check that they can be met together, allow more time or iterations, "
            f"{MORE}, or start from a better guess"
        ]
    # Many read the first line alone.
    return "\n- ".join([*causes, head, *told[1:], *tail, *remedies])


def _not_least(ending: Ending, sizes: Scaling | None) -> str:
    head = (
        f"all conditions are met, but the cost may not be least: {ending.word} after "
        f"{ending.iterations} iterations"
    )
    remedies = _remedies(ending, sizes)
    if not ending.told.dynamics.contact_names:
        remedies = [f"allow more, {MORE}", *(remedies or ["or scale the costs to about one"])]
    return "; ".join([head, *remedies])


def _remedies(ending: Ending, sizes: Scaling | None) -> list[str]:
    """Return what to try: where contacts make it hard, and where scales do."""
    found = []
    if ending.told.dynamics.contact_names:
        found.append(
            "a motion through contacts takes a good start: try more steps, a guess by Through, or "
            "Earlier of a result with fewer steps or larger clearances, several guesses by "
            f"multi_start, or more iterations per stage, {MORE}"
        )
    if ending.remedy:
        found.append(ending.remedy)
    return found + ([sizes.advice] if sizes is not None and sizes.advice else [])


# Rows


def _locate(stack: Stack, row: int) -> _Place:
    part, at, _ = stack.locate(row)
    return _Place(part, at, stack.label(row)[1])


def _groups(stack: Stack, off: Array, limit: float) -> Iterator[list[int]]:
    """Return violated rows by label and part, the worst of each and the worst group first."""
    found: dict[tuple[str, str], list[int]] = {}
    for row in np.argsort(-off, kind="stable"):
        if off[row] > limit:
            place = _locate(stack, int(row))
            found.setdefault((place.label, place.name), []).append(int(row))
    yield from found.values()


def _line(stack: Stack, g: Array, off: Array, rows: list[int], ending: Ending) -> str:
    """Return what is violated in a group of rows."""
    k, t = rows[0], ending.t
    place = _locate(stack, k)
    times = [_locate(stack, row).time(t) for row in rows]
    stated = _stated(place, ending)
    what, wanted = _named(place, ending.told), ""
    if stated is not None:
        what = f"{stated.owner}: {stated.name}"
        wanted = f" ({g[k]:.4g}, must be {stated.wanted})"
    more = ""
    if len(rows) > 1 and min(times) < max(times):
        more = f", and {len(rows) - 1} times more from t = {min(times):.4g} to {max(times):.4g} s"
    elif len(rows) > 1:
        more = f", and {len(rows) - 1} more of its rows"
    return (
        f"{what} is off by {off[k]:.3g}{wanted} at step {place.step(t)}, t = {place.time(t):.4g} s"
        f"{more}"
    )


def _stated(place: _Place, ending: Ending) -> Row | None:
    """Return the row of a condition that stands at a place; None if it is an equation of motion."""
    rows = [row for row in _rows_of(place.name, ending) if row.label == place.label]
    return rows[_before(place) % len(rows)] if rows else None


def _rows_of(name: str, ending: Ending) -> list[Row]:
    """Return the rows of conditions that a part states."""
    told, n = ending.told, ending.horizon.steps
    kind, _, number = name.partition("_")
    if kind == "during":
        return list(told.spans[int(number)][1])
    occasions = {"start": (START,), "end": (ALONG, END)}.get(kind, (ALONG,))
    found = [row for when in occasions for row in told.rows if row.when == when]
    if kind == "end":
        # The last node of a motion in steps states what holds up to it as well.
        found += [row for span, rows in told.spans if span.of(n).last == n for row in rows]
    return found


def _before(place: _Place) -> int:
    """Return how many rows of the same label come before."""
    return place.part.labels[: place.row].count(place.label)


def _named(place: _Place, told: Statement) -> str:
    """Return the name of a row that is no condition; links of polynomials with a coordinate."""
    if place.name != "link":
        return place.label
    d = told.dynamics
    return f"{place.label} ({[*d.q_names, *d.v_names][_before(place)]})"


# Causes


def _causes(when: float, ending: Ending) -> Iterator[str]:
    """Return what numbers say of the reason, the likeliest first."""
    finite = bool(np.isfinite(ending.course.q).all())
    if finite:
        yield from _holding(when, ending)
    low, high = ending.horizon.bounds
    if low < high and abs(ending.t[-1] - high) < 1e-4 * high:
        yield f"the duration is the longest allowed, {high:g} s: allow more"
    if finite:
        yield from _reaching(ending)


def _holding(when: float, ending: Ending) -> Iterator[str]:
    """Return which drives cannot hold a posture against gravity, at ``when``, start and end.

    The drive that lacks the largest part of its limit comes first.
    """
    told = ending.told
    d, m = told.dynamics, told.moment
    if m.acting is not None:
        return  # contacts may hold it
    limits = {row.value.element_hash(): row for row in told.rows if row.when == ALONG}
    still = Moment(d, m.t, m.q, ca.SX.zeros(d.nv), ca.SX.zeros(d.nv), m.p)
    symbols = [m.t, m.q, told.symbols[-1]]
    hold = ca.Function("hold", symbols, [still.drive], {"cse": True})
    postures = list(_postures(when, ending))
    forces = [np.asarray(hold(*posture)).ravel() for posture in postures]
    found = []
    for k, name in enumerate(d.v_names):
        row = limits.get(m.drive[k].element_hash())
        if row is None:
            continue
        over = [max(row.lower - force[k], force[k] - row.upper) for force in forces]
        i = int(np.argmax(over))
        if over[i] > 0:
            force, unit = forces[i][k], _unit(told, name)
            most = row.upper if force > row.upper else row.lower
            line = (
                f"holding the posture at t = {postures[i][0]:.4g} s takes {abs(force):.4g} {unit} "
                f"in {name.rsplit('.', 1)[0]}, its limit is {abs(most):.4g} {unit}: give it a "
                "stronger drive, a lighter load, or time to swing"
            )
            found.append((over[i] / max(abs(most), OFF), line))
    yield from (line for _, line in sorted(found, reverse=True))


def _postures(when: float, ending: Ending) -> Iterator[tuple[float, Array, Array]]:
    """Return time, coordinates and inputs at ``when``, and of start and end where given."""
    t, course = ending.t, ending.course
    k = int(np.argmin(np.abs(t - when)))
    stated = {0: ending.told.posture(START)[0], len(t) - 1: ending.told.posture(END)[0]}
    given = {i: q for i, q in stated.items() if not np.isnan(q).any()}
    if k not in given:
        yield t[k], course.q[k], course.inputs[k]
    for i, q in given.items():
        yield t[i], q, course.inputs[i]


def _unit(told: Statement, name: str) -> str:
    """Return the unit of the force that belongs to a velocity."""
    joint, rate = name.rsplit(".", 1)
    for branch in told.dynamics.mechanism.tree.branches:
        owner = (branch.joint or branch.body).name
        for step in branch.freedom:
            if owner == joint and isinstance(step, Axis) and step.rate == rate:
                return "N m" if any(step.turn) else "N"
    return "(N m, N)"


def _reaching(ending: Ending) -> Iterator[str]:
    """Return how near the last motion came to each target."""
    told, course = ending.told, ending.course
    t, q, *_, inputs = told.symbols
    for condition in told.conditions:
        if not isinstance(condition, Reach):
            continue
        r = told.moment.motion(condition.frame).r
        place = ca.Function("place", [t, q, inputs], [ca.densify(r)])
        path = np.asarray(place.map(len(ending.t))(ending.t, course.q.T, course.inputs.T))
        away = np.linalg.norm(path.T - np.asarray(condition.position, dtype=float), axis=1)
        if away[-1] > 1e-3:
            k = int(np.argmin(away))
            nearest = f", nearest {away[k]:.3g} m at t = {ending.t[k]:.4g} s"
            yield (
                f"the point of Reach on {condition.frame.place} ends {away[-1]:.3g} m from its "
                f"target{nearest if k < len(away) - 1 else ', as near as it gets'}"
            )
