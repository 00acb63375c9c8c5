"""Why a solve failed, in words for its result: `explain`.

From the rows at the last iterate: the largest violations, where in time, likely causes, remedies.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import casadi as ca
import numpy as np

from nsopt.arrays import Array
from nsopt.mechanics import Axis, singular_posture
from nsopt.mpcc import ConstraintBlock, HorizonPlace, StructuredNlp
from nsopt.trajectory.conditions import Reach
from nsopt.trajectory.diagnosis.least_violation import LeastViolation
from nsopt.trajectory.diagnosis.scaling import Scaling
from nsopt.trajectory.diagnosis.statement import (
    ALONG,
    END,
    START,
    TOLERATED,
    Statement,
    count_alike_before,
    find_row,
)
from nsopt.trajectory.guesses import Trajectory
from nsopt.trajectory.horizon import Horizon
from nsopt.trajectory.node_sample import NodeSample

SHOWN = 4  # number of violated conditions in a message
MAX_ITER = "max_iter of the backend"
"""The option by which a solver may take more iterations, for messages."""
MISSED = 1e-3
"""Distance from the target of a `Reach` at the end, above which a message names it [m]."""


@dataclass(frozen=True, eq=False)
class Ending:
    """The end of a solve: the problem, the last motion and the status of the solver."""

    statement: Statement  # the conditions of the problem
    horizon: Horizon
    t: Array  # (n + 1,) [s] times of the nodes
    trajectory: Trajectory  # the last iterate, at the nodes
    status: str  # of the solver
    iterations: int
    remedy: str = ""  # a further one for the message
    least: LeastViolation | None = None  # what rows could come to near the last motion, if known


class _RowLocation(NamedTuple):
    """The block, the row in it, its label and its node, of a row of the program."""

    block: ConstraintBlock
    row: int  # in the block
    label: str
    node: int

    @property
    def name(self) -> str:
        """The name of the block."""
        return self.block.name

    def time(self, t: Array) -> float:
        """Return the time at which the row holds [s], from the times of the nodes."""
        ends: dict[HorizonPlace | None, int] = {HorizonPlace.START: 0, HorizonPlace.END: -1}
        return float(t[ends.get(self.block.place, self.node)])

    def step(self, t: Array) -> int:
        """Return the node at which the row holds: the last one of a block of the end."""
        return len(t) - 1 if self.block.place is HorizonPlace.END else self.node


def explain(
    nlp: StructuredNlp, g: Array, ending: Ending, limit: float, scaling: Scaling | None
) -> str:
    """Return why the last motion, where rows are g (m,), is no solution within ``limit``."""
    off = nlp.violations(g)
    if not off.size or off.max() <= limit:
        return _tell_not_optimal(ending, scaling)
    groups = list(_group_violated(nlp, off, limit))
    lines = [_tell_violation(nlp, g, off, rows, ending) for rows in groups[:SHOWN]]
    left = len(groups) - len(lines)
    lines[0] = (
        f"conditions are violated after {ending.iterations} iterations ({ending.status}), most of "
        f"all: {lines[0]}"
    )
    lines += [f"and {left} more kinds of rows"] if left > 0 else []
    causes = list(_find_causes(_locate(nlp, groups[0][0]).time(ending.t), ending))
    remedies = _list_remedies(ending, scaling)
    conflict = [] if causes else _find_conflict(nlp, ending)
    if not causes and not conflict and not remedies:
        more = "more time or iterations" if ending.horizon.fixed else "more iterations"
        remedies = [
            f"check that they can be met together, allow {more}, {MAX_ITER}, or start from a "
            "better guess"
        ]
    # The first line, often the only one read, names the likeliest cause.
    return "\n- ".join([*causes, *lines, *conflict, *remedies])


def _find_conflict(nlp: StructuredNlp, ending: Ending) -> list[str]:
    """Return the conditions that cannot all be met near the last motion, as a line or none.

    That no motion meets them is shown by `check_feasible` alone: other starts may lead elsewhere.
    """
    if ending.least is None:
        return []
    found: dict[str, list[float]] = {}
    for row in ending.least.opposed:
        location, steps = _locate(nlp, int(row)), ending.horizon.steps
        stated = find_row(location.block, location.row, ending.statement, steps)
        if stated is not None:
            name = f"{stated.owner}: {stated.name} (must be {stated.wanted})"
            found.setdefault(name, []).append(location.time(ending.t))
    if not found:
        return []
    names = [
        f"{name} at t = {min(times):.4g} s"
        if min(times) == max(times)
        else f"{name} from t = {min(times):.4g} to {max(times):.4g} s"
        for name, times in found.items()
    ]
    more = [f"and {len(names) - SHOWN} more"] if len(names) > SHOWN else []
    text = "; ".join([*names[:SHOWN], *more])
    return [
        f"no motion was found from this start, near which these oppose each other: {text}; where "
        "another motion may meet them, try a longer duration, a guess by Through, multi_start"
    ]


def _tell_not_optimal(ending: Ending, scaling: Scaling | None) -> str:
    head = (
        f"all conditions are met, but the cost may not be least: {ending.status} after "
        f"{ending.iterations} iterations"
    )
    remedies = _list_remedies(ending, scaling)
    if not ending.statement.dynamics.contact_names:
        remedies = [f"allow more, {MAX_ITER}", *(remedies or ["or scale the costs to about one"])]
    return "; ".join([head, *remedies])


def _list_remedies(ending: Ending, scaling: Scaling | None) -> list[str]:
    """Return remedies for contacts, that of the ending, and those for bad scaling."""
    remedies = []
    dynamics = ending.statement.dynamics
    if dynamics.contact_names:
        coarse = "more steps, a guess by Through, or Earlier of a result with fewer steps or larger"
        walks = (
            "half as many steps first, then these from Earlier(result), a guess by Through, "
            "Solver(schedules=[FROM_AFAR_SLOWLY]) for feet that walk, boxes that slide"
        )
        remedies.append(
            "a motion through contacts takes a good start: try "
            f"{f'{coarse} clearances' if dynamics.bores else walks}, several guesses by "
            f"multi_start, or more iterations per stage, {MAX_ITER}"
        )
    if ending.remedy:
        remedies.append(ending.remedy)
    return remedies + ([scaling.advice] if scaling is not None and scaling.advice else [])


# Rows


def _locate(nlp: StructuredNlp, row: int) -> _RowLocation:
    block, i, _ = nlp.locate(row)
    return _RowLocation(block, i, *nlp.label(row))


def _group_violated(nlp: StructuredNlp, off: Array, limit: float) -> Iterator[list[int]]:
    """Yield rows of violations ``off`` (m,) by label and block, worst group and worst row first."""
    groups: dict[tuple[str, str], list[int]] = {}
    for row in np.argsort(-off, kind="stable"):
        if off[row] > limit:
            location = _locate(nlp, int(row))
            groups.setdefault((location.label, location.name), []).append(int(row))
    yield from groups.values()


def _tell_violation(
    nlp: StructuredNlp, g: Array, off: Array, rows: list[int], ending: Ending
) -> str:
    """Return a line on a group of rows, the worst first, with the values and violations of all."""
    k, t = rows[0], ending.t
    location = _locate(nlp, k)
    times = [_locate(nlp, row).time(t) for row in rows]
    stated = find_row(location.block, location.row, ending.statement, ending.horizon.steps)
    what, wanted, more = location.label, "", ""
    if stated is not None:
        what = f"{stated.owner}: {stated.name}"
        wanted = f" ({g[k]:.4g}, must be {stated.wanted})"
    elif location.block.place is HorizonPlace.STEPS:
        d = ending.statement.dynamics
        names = [*d.q_names, *d.v_names]
        if location.row < 2 * len(names):  # continuity of polynomials: of which coordinate
            what += f" ({names[count_alike_before(location.block, location.row)]})"
    if len(rows) > 1 and min(times) < max(times):
        more = f", and {len(rows) - 1} times more from t = {min(times):.4g} to {max(times):.4g} s"
    elif len(rows) > 1:
        more = f", and {len(rows) - 1} more of its rows"
    return (
        f"{what} is off by {off[k]:.3g}{wanted} at step {location.step(t)}, "
        f"t = {location.time(t):.4g} s{more}"
    )


# Causes


def _find_causes(when: float, ending: Ending) -> Iterator[str]:
    """Yield likely causes, the likeliest first, of a largest violation at time ``when`` [s]."""
    finite = bool(np.isfinite(ending.trajectory.q).all())
    if finite:
        yield from _find_weak_drives(when, ending)
    if ending.least is not None and ending.least.longer:
        yield f"the duration is the longest allowed, {ending.horizon.bounds[1]:g} s: allow more"
    if finite:
        yield from _find_singular_postures(when, ending)
        yield from _find_missed_targets(ending)


def _find_weak_drives(when: float, ending: Ending) -> Iterator[str]:
    """Yield drives that cannot hold a posture against gravity, at ``when``, start and end.

    The drive that lacks the largest part of its limit comes first.
    """
    statement = ending.statement
    d, m = statement.dynamics, statement.sample
    if m.stepped is not None:
        return  # contacts may hold it
    # A row that limits a drive has its very expression as value.
    limits = {row.value.element_hash(): row for row in statement.rows if row.when == ALONG}
    # At rest, without velocities and accelerations, drives need what holds the posture.
    still = NodeSample(d, m.t, m.q, ca.SX.zeros(d.nv), ca.SX.zeros(d.nv), m.p)
    if ca.depends_on(still.drive, statement.symbols[-1]):
        return  # reactions and contact forces of the last motion are not those at rest
    hold = ca.Function("hold", [m.t, m.q], [still.drive], {"cse": True})
    postures = list(_list_postures(when, ending))
    forces = [np.asarray(hold(*posture[:2])).ravel() for posture in postures]
    weak = []
    for k, name in enumerate(d.v_names):
        row = limits.get(m.drive[k].element_hash())
        if row is None:
            continue
        over = [max(row.lower - force[k], force[k] - row.upper) for force in forces]
        i = int(np.argmax(over))
        if over[i] > 0:
            force, unit = forces[i][k], _find_unit(statement, name)
            most = row.upper if force > row.upper else row.lower
            line = (
                f"holding the posture at t = {postures[i][0]:.4g} s takes {abs(force):.4g} {unit} "
                f"in {name.rsplit('.', 1)[0]}, its limit is {abs(most):.4g} {unit}: give it a "
                "stronger drive, a lighter load, or time to swing"
            )
            weak.append((over[i] / max(abs(most), TOLERATED), line))
    yield from (line for _, line in sorted(weak, reverse=True))


def _find_singular_postures(when: float, ending: Ending) -> Iterator[str]:
    """Yield the singular postures among those at ``when``, start and end."""
    statement = ending.statement
    for t, q, _ in _list_postures(when, ending):
        if text := singular_posture(statement.dynamics, t, q, statement.p):
            yield (
                f"{text}: reactions are not unique there, and no motion has all rates that the "
                "joints leave free"
            )


def _list_postures(when: float, ending: Ending) -> Iterator[tuple[float, Array, Array]]:
    """Yield time, coordinates and inputs at ``when``, and of start and end where given."""
    t, trajectory = ending.t, ending.trajectory
    k = int(np.argmin(np.abs(t - when)))
    stated = {0: ending.statement.posture(START)[0], len(t) - 1: ending.statement.posture(END)[0]}
    given = {i: q for i, q in stated.items() if not np.isnan(q).any()}
    if k not in given:
        yield t[k], trajectory.q[k], trajectory.inputs[k]
    for i, q in given.items():
        yield t[i], q, trajectory.inputs[i]


def _find_unit(statement: Statement, name: str) -> str:
    """Return the unit of the generalized force of a velocity, by its name."""
    joint, rate = name.rsplit(".", 1)
    for branch in statement.dynamics.mechanism.tree.branches:
        owner = (branch.joint or branch.body).name
        for step in branch.freedom:
            if owner == joint and isinstance(step, Axis) and step.rate == rate:
                return "N m" if any(step.turn) else "N"
    return "(N m, N)"


def _find_missed_targets(ending: Ending) -> Iterator[str]:
    """Yield how far the last motion ends from targets of `Reach` that it misses."""
    statement, trajectory = ending.statement, ending.trajectory
    t, q, *_, inputs = statement.symbols
    for condition in statement.conditions:
        if not isinstance(condition, Reach):
            continue
        r = statement.sample.motion(condition.frame).r
        position = ca.Function("position", [t, q, inputs], [ca.densify(r)])
        path = np.asarray(
            position.map(len(ending.t))(ending.t, trajectory.q.T, trajectory.inputs.T)
        )
        away = np.linalg.norm(path.T - np.asarray(condition.position, dtype=float), axis=1)
        if away[-1] > MISSED:
            k = int(np.argmin(away))
            nearest = f", nearest {away[k]:.3g} m at t = {ending.t[k]:.4g} s"
            yield (
                f"the point of Reach on {condition.frame.label} ends {away[-1]:.3g} m from its "
                f"target{nearest if k < len(away) - 1 else ', as near as it gets'}"
            )
