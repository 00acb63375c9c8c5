"""The strategy for compliant contacts: their forces are felt from afar at first.

Where surfaces do not touch no slope tells a solver that they could. So the first motion is one in
which the forces reach farther, then by less and less, last by nothing.
"""

from __future__ import annotations

from collections.abc import Container, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import casadi as ca
import numpy as np
from numpy.typing import NDArray

from nsopt.elements import CompliantContact
from nsopt.mechanics import Dynamics, assemble
from nsopt.mpcc import Point, Schedule, Solution, StructuredProgram
from nsopt.parameter import Parameter
from nsopt.trajectory.search.found import Motion
from nsopt.trajectory.search.friction_in_stages import FrictionInStages
from nsopt.trajectory.search.program import StatedProgram
from nsopt.trajectory.search.strategy import Search, Strategy
from nsopt.trajectory.transcription.base import Array
from nsopt.trajectory.transcription.collocation import Collocation
from nsopt.trajectory.transcription.kinds import as_polynomials


@dataclass(frozen=True)
class ContactsFromAfar(Strategy[StatedProgram]):
    """Lets compliant contacts reach farther at first, and by less and less.

    The best of several motions: from each share; and from the guess itself where that has contacts
    which none of these motions has, or where none ends well. Not from a motion with multipliers,
    where the solver has schedules of its own, and in steps of a scheme.

    Parameters
    ----------
    shares : tuple of float
        Reach with which a search begins, over the largest opening of the contact in the guess.
        Repulsion from farther away does without touching what contact would do, from nearer it is
        not felt.
    halves : int
        How often the reach is halved before it is none.
    """

    why = "where surfaces do not touch no slope tells a solver that they could"

    shares: tuple[float, ...] = (0.3, 0.1)
    halves: int = 10

    def applies(self, search: Search, found: Motion) -> bool:
        now = found.program
        alone = search.start.warm or now.solver.schedules is not None
        compliant = now.by_polynomials and bool(_compliant(now.transcription.dynamics))
        return found.is_new and compliant and not alone

    def solve(self, search: Search, found: Motion) -> Motion:
        now, start, given = found.program, search.start, search.schedules
        x = as_polynomials(now.transcription)
        assert x is not None
        distances, reaching = _distances(x, start, now.p), _Reaching.of(now, x, start)
        ends: list[Solution] = []
        for share in self.shares:
            reach = share * np.abs(distances).max(axis=1)
            last = reaching.shorten(search, reach, start, self.halves)
            if last.ok:
                last = _solve_in_stages(search, now, last.point, given)
            ends += [last] if last.ok else []
            if last.interrupted:
                return replace(found, solution=_best(ends) if ends else last)
        touched = np.any([_find_touched(_distances(x, y.point, now.p)) for y in ends], axis=0)
        if np.any(_find_touched(distances) & ~touched) or not ends:
            ends.append(_solve_in_stages(search, now, start, given))
        return replace(found, solution=_best(ends))


def _solve_in_stages(
    search: Search, now: StatedProgram, start: Point, schedules: Sequence[Schedule]
) -> Solution:
    """Return the solution of a program, with the stages of friction that the plan has."""
    friction = search.plan.find(FrictionInStages)
    if friction is None:
        return search.solve(now, start, schedules)
    return friction.solve_from(search, now, start, schedules)


def _best(ends: Sequence[Solution]) -> Solution:
    """Return the solution of least cost, or the end that violates the program least."""
    return min(
        ends, key=lambda one: (not one.ok, one.objective if one.ok else one.residuals.largest)
    )


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


def _find_touched(distances: Array) -> NDArray[np.bool_]:
    """Return which contacts are closed at some time."""
    return np.array([bool((row < 0).any()) for row in distances])


class _Reaching(NamedTuple):
    """A motion whose compliant contacts reach farther, each by a Parameter."""

    stated: StatedProgram
    names: tuple[str, ...]
    numbers: dict[str, float]

    @classmethod
    def of(cls, now: StatedProgram, motion: Collocation, start: Point) -> _Reaching:
        d = motion.dynamics
        numbers = {x.name: float(now.p[i]) for i, x in enumerate(d.parameters)}
        names, elements = list[str](), list(d.elements)
        for k, x in enumerate(elements):
            if isinstance(x, CompliantContact) and not x.reaches:
                names.append(_find_unused(f"reach_{k}", numbers))
                elements[k] = replace(x, reach=Parameter(names[-1], 1.0))
        other = replace(motion, dynamics=assemble(d.mechanism, elements, d.gravity))
        typical = other.parameters(other.dynamics.values(numbers)), start.x
        nlp = other.nlp()
        program = StructuredProgram(nlp, now.solver.backend, now.settings, *typical)
        stated = replace(now, transcription=other, nlp=nlp, program=program)
        return cls(stated, tuple(names), numbers)

    def shorten(self, search: Search, reach: Array, start: Point, halves: int) -> Solution:
        """Return the end of a search: the motion of forces that hardly reach any more.

        Parameters
        ----------
        reach : (contacts,) [m]
            To begin with.
        start : Point
        halves : int
            How often it is halved.
        """
        x, last = self.stated, None
        for k in range(halves):
            shares = dict(zip(self.names, (reach / 2**k).tolist(), strict=True))
            p = x.transcription.dynamics.values({**self.numbers, **shares})
            now = replace(x, statement=replace(x.statement, p=p))
            begun = start if last is None else last.point
            last = _solve_in_stages(search, now, begun, x.settings.schedules)
            if not last.ok or last.interrupted:
                break
        assert last is not None  # there are halves
        return last


def _find_unused(name: str, taken: Container[str]) -> str:
    return _find_unused(f"{name}_", taken) if name in taken else name
