"""Compliant contacts over a horizon: their forces are felt from afar at first.

Where surfaces do not touch no slope tells a solver that they could. So the first motion is one in
which the forces reach farther, then by less and less, last by nothing.
"""

from __future__ import annotations

from collections.abc import Container, Sequence
from dataclasses import replace
from typing import NamedTuple

import casadi as ca
import numpy as np
from numpy.typing import NDArray

from nsopt.elements import CompliantContact
from nsopt.mechanics import Dynamics, assemble
from nsopt.mpcc import Point, Schedule, Solution, Solver, StructuredProgram
from nsopt.parameter import Parameter
from nsopt.trajectory.dry_friction import solved
from nsopt.trajectory.stated_program import StatedProgram
from nsopt.trajectory.transcription.base import Array, Transcription
from nsopt.trajectory.transcription.collocation import Collocation

SHARES = (0.3, 0.1)
"""Reach with which a search begins, over the largest opening of the contact in the guess. Repulsion
from farther away does without touching what contact would do, from nearer it is not felt."""

HALVES = 10
"""How often the reach is halved before it is none."""


def solved_from_afar(
    now: StatedProgram,
    solver: Solver,
    p: Array,
    start: Point,
    schedules: Sequence[Schedule],
) -> Solution:
    """Return the solution of a program, of compliant contacts searched from afar, too.

    The best of several: from each of `SHARES`; and from the start itself where that has contacts
    which none of these motions has, or where none ends well. From the start alone where that has
    multipliers, where the solver has schedules of its own, and in steps of a scheme.

    Parameters
    ----------
    now : StatedProgram
    solver : Solver
    p : (np,)
        Parameters of the mechanism.
    start, schedules
        Of the solve.
    """
    x = now.transcription
    if not (isinstance(x, Collocation) and sought_from_afar(x, solver, start)):
        return solved(now.program, x, p, start, schedules)
    distances, reaching = _distances(x, start, p), _Reaching.of(now, x, solver, p, start)
    found: list[Solution] = []
    lost: list[Solution] = []
    for share in SHARES:
        last = reaching.solve(share * np.abs(distances).max(axis=1), start)
        if last.ok:
            last = solved(now.program, x, p, last.point, schedules).after(last)
        (found if last.ok else lost).append(last)
        if last.interrupted:
            return _best(found, lost) if found else last
    touched = np.any([_touched(_distances(x, y.point, p)) for y in found if y.ok], axis=0)
    if np.any(_touched(distances) & ~touched) or not any(one.ok for one in found):
        found.append(solved(now.program, x, p, start, schedules))
    return _best(found, lost)


def sought_from_afar(x: Transcription, solver: Solver, start: Point) -> bool:
    """Return whether there are contacts to be searched from afar."""
    alone = start.warm or solver.schedules is not None
    return not alone and isinstance(x, Collocation) and bool(_compliant(x.dynamics))


def _best(found: list[Solution], lost: list[Solution]) -> Solution:
    """Return the best of those found, the stages of all others before its own."""
    best = min(
        found, key=lambda one: (not one.ok, one.objective if one.ok else one.residuals.largest)
    )
    for other in (*found, *lost):
        best = best if other is best else best.after(other)
    return best


def _compliant(d: Dynamics) -> list[CompliantContact]:
    return [x for x in d.elements if isinstance(x, CompliantContact) and not x.reaches]


def _distances(x: Collocation, start: Point, p: Array) -> Array:
    """Return the least gap of each compliant contact at all points of a motion, (contacts, .)."""
    t, w, numbers = ca.SX.sym("t"), ca.SX.sym("w", x.node), ca.SX.sym("p", len(x.parameters(p)))
    s = x.sample(t, w, numbers).state
    contacts = _compliant(x.dynamics)
    least = [ca.mmin(ca.vertcat(*(g.distance for g in c.contact.gaps(s)))) for c in contacts]
    f = ca.Function("distances", [t, w, numbers], [ca.vertcat(*least)])
    points = start.x[:-1].reshape(-1, x.node)
    times = np.linspace(0, start.x[-1], len(points))[None]
    return np.asarray(f(times, points.T, x.parameters(p)))


def _touched(distances: Array) -> NDArray[np.bool_]:
    """Return which contacts are closed at some time."""
    return np.array([bool((row < 0).any()) for row in distances])


class _Reaching(NamedTuple):
    """A motion whose compliant contacts reach farther, each by a Parameter."""

    transcription: Collocation
    program: StructuredProgram
    schedules: Sequence[Schedule]
    names: tuple[str, ...]
    numbers: dict[str, float]

    @classmethod
    def of(
        cls,
        now: StatedProgram,
        motion: Collocation,
        solver: Solver,
        p: Array,
        start: Point,
    ) -> _Reaching:
        d = motion.dynamics
        numbers = {x.name: float(p[i]) for i, x in enumerate(d.parameters)}
        names, elements = list[str](), list(d.elements)
        for k, x in enumerate(elements):
            if isinstance(x, CompliantContact) and not x.reaches:
                names.append(_unused(f"reach_{k}", numbers))
                elements[k] = replace(x, reach=Parameter(names[-1], 1.0))
        other = replace(motion, dynamics=assemble(d.mechanism, elements, d.gravity))
        typical = other.parameters(other.dynamics.values(numbers)), start.x
        made = other.nlp(), solver.backend, now.settings
        program = StructuredProgram(*made, *typical)
        return cls(other, program, now.settings.schedules, tuple(names), numbers)

    def solve(self, reach: Array, start: Point) -> Solution:
        """Return the end of a search: the motion of forces that hardly reach any more.

        Parameters
        ----------
        reach : (contacts,) [m]
            To begin with.
        start : Point
        """
        x, last = self.transcription, None
        for k in range(HALVES):
            shares = dict(zip(self.names, (reach / 2**k).tolist(), strict=True))
            p = x.dynamics.values({**self.numbers, **shares})
            now = solved(self.program, x, p, start if last is None else last.point, self.schedules)
            last = now if last is None else now.after(last)
            if not last.ok or last.interrupted:
                break
        assert last is not None  # there are halves
        return last


def _unused(name: str, taken: Container[str]) -> str:
    return _unused(f"{name}_", taken) if name in taken else name
