"""The strategy for compliant contacts: at first they act at a distance, their reach.

The reach is halved from solve to solve, and zero in the last one.
"""

from __future__ import annotations

from collections.abc import Container, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import casadi as ca
import numpy as np

from nsopt.arrays import Array
from nsopt.elements import CompliantContact
from nsopt.mechanics import Dynamics, assemble
from nsopt.mpcc import Point, Schedule, Solution, StructuredProgram
from nsopt.parameter import Parameter
from nsopt.trajectory.search.friction_in_stages import FrictionInStages
from nsopt.trajectory.search.program import StatedProgram
from nsopt.trajectory.search.strategy import FoundMotion, Search, Strategy
from nsopt.trajectory.transcription.collocation import Collocation
from nsopt.trajectory.transcription.kinds import as_polynomials


@dataclass(frozen=True)
class ContactsFromAfar(Strategy[StatedProgram]):
    """Gives compliant contacts a reach at first, and shortens that.

    Takes the best of several motions: one from each of ``shares``; and one from the guess itself if
    that has contacts which none of these has, or if none of these is a solution. Not from a start
    with multipliers, for a solver with schedules of its own, or for steps of a scheme.
    """

    why = "where surfaces do not touch no slope tells a solver that they could"

    # First reach over the largest opening of the contact in the guess. A longer one repels bodies
    # that need not touch, a shorter one is not felt.
    shares: tuple[float, ...] = (0.3, 0.1)
    halves: int = 10  # solves with half of the reach each time, before the one without

    def applies(self, search: Search, found: FoundMotion) -> bool:
        program = found.program
        decided = search.start.warm or program.solver.schedules is not None
        compliant = program.by_polynomials and bool(_list_compliant(program.transcription.dynamics))
        return found.is_new and compliant and not decided

    def solve(self, search: Search, found: FoundMotion) -> FoundMotion:
        program, start, schedules = found.program, search.start, search.schedules
        x = as_polynomials(program.transcription)
        assert x is not None
        reaching = _ReachingProgram.of(program, x, start)
        distances = _measure_gaps(x, start, program.p)
        ends: list[Solution] = []
        for share in self.shares:
            reach = share * np.abs(distances).max(axis=1)
            last = reaching.shorten(search, reach, start, self.halves)
            if last.ok:
                last = _solve_in_stages(search, program, last.point, schedules)
            ends += [last] if last.ok else []
            if last.interrupted:
                return replace(found, solution=_choose_best(ends) if ends else last)
        # Which contacts are closed at some time, (contacts,).
        touched = [(_measure_gaps(x, y.point, program.p) < 0).any(axis=1) for y in ends]
        if np.any((distances < 0).any(axis=1) & ~np.any(touched, axis=0)) or not ends:
            ends.append(_solve_in_stages(search, program, start, schedules))
        return replace(found, solution=_choose_best(ends))


def _solve_in_stages(
    search: Search, program: StatedProgram, start: Point, schedules: Sequence[Schedule]
) -> Solution:
    """Return the solution of a program, by `FrictionInStages` if the plan has it."""
    friction = search.plan.find(FrictionInStages)
    if friction is None:
        return search.solve(program, start, schedules)
    return friction.solve_from(search, program, start, schedules)


def _choose_best(ends: Sequence[Solution]) -> Solution:
    """Return the solution of least cost, or without any the end that violates least."""
    return min(ends, key=lambda x: (not x.ok, x.objective if x.ok else x.residuals.largest))


def _list_compliant(d: Dynamics) -> list[CompliantContact]:
    """Return the compliant contacts that have no reach of their own."""
    return [x for x in d.elements if isinstance(x, CompliantContact) and not x.reaches]


def _measure_gaps(x: Collocation, point: Point, p: Array) -> Array:
    """Return the least gap of each compliant contact at nodes and midpoints, (contacts, points)."""
    parameters = x.parameters(p)
    t, w = ca.SX.sym("t"), ca.SX.sym("w", x.node_size)
    symbols = ca.SX.sym("p", len(parameters))
    s = x.sample(t, w, symbols).state
    contacts = _list_compliant(x.dynamics)
    least = [ca.mmin(ca.vertcat(*(g.distance for g in c.contact.gaps(s)))) for c in contacts]
    f = ca.Function("distances", [t, w, symbols], [ca.vertcat(*least)])
    points = point.x[:-1].reshape(-1, x.node_size)
    times = np.linspace(0, point.x[-1], len(points))[None]
    return np.asarray(f(times, points.T, parameters))


class _ReachingProgram(NamedTuple):
    """A program whose compliant contacts act at a distance, each with a Parameter for its reach."""

    program: StatedProgram
    names: tuple[str, ...]  # of the reaches
    values: dict[str, float]  # of the other parameters

    @classmethod
    def of(cls, program: StatedProgram, motion: Collocation, start: Point) -> _ReachingProgram:
        """Return it of the program of a motion; the slope at ``start`` is typical."""
        d = motion.dynamics
        values = {x.name: float(program.p[i]) for i, x in enumerate(d.parameters)}
        names, elements = list[str](), list(d.elements)
        for k, x in enumerate(elements):
            if isinstance(x, CompliantContact) and not x.reaches:
                names.append(_find_unused(f"reach_{k}", values))
                elements[k] = replace(x, reach=Parameter(names[-1], 1.0))
        other = replace(motion, dynamics=assemble(d.mechanism, elements, d.gravity))
        typical = other.parameters(other.dynamics.values(values)), start.x
        nlp = other.nlp()
        structured = StructuredProgram(nlp, program.solver.backend, program.settings, *typical)
        stated = replace(program, transcription=other, nlp=nlp, structured=structured)
        return cls(stated, tuple(names), values)

    def shorten(self, search: Search, reach: Array, start: Point, halves: int) -> Solution:
        """Return the last solve: that with the shortest reach, or one without a solution.

        ``reach`` (contacts,) [m] is that of the first of ``halves`` solves.
        """
        x, point = self.program, start
        for k in range(halves):
            reaches = dict(zip(self.names, (reach / 2**k).tolist(), strict=True))
            p = x.transcription.dynamics.values({**self.values, **reaches})
            program = replace(x, statement=replace(x.statement, p=p))
            last = _solve_in_stages(search, program, point, x.settings.schedules)
            point = last.point
            if not last.ok or last.interrupted:
                break
        return last


def _find_unused(name: str, taken: Container[str]) -> str:
    return _find_unused(f"{name}_", taken) if name in taken else name
