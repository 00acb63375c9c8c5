"""The programs of several phases as one: `LinkedPhases`; what a search changes: `SearchedPhases`.

Unknowns, rows and costs of the phases stand one after another; rows between phases make each start
in the state in which the one before ends, but for impacts.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import pairwise

import casadi as ca
import numpy as np

from nsopt.arrays import Array
from nsopt.mpcc import (
    Bound,
    ConstraintBlock,
    DerivedFunctions,
    Point,
    Settings,
    Solution,
    Solver,
    StructuredNlp,
    StructuredProgram,
    constraint_block,
)
from nsopt.trajectory.conditions import Periodic
from nsopt.trajectory.diagnosis import LeastViolation, least_violation
from nsopt.trajectory.phases.impacts import state_strike
from nsopt.trajectory.phases.modes import ModeForces
from nsopt.trajectory.phases.period import Period
from nsopt.trajectory.phases.phase import PhaseProgram
from nsopt.trajectory.phases.slip_directions import carry_direction, find_angles, find_resting
from nsopt.trajectory.search import LimitedPart, SearchedProgram
from nsopt.trajectory.transcription.base import not_negative, zero
from nsopt.trajectory.transcription.collocation import Collocation
from nsopt.trajectory.verification.between_nodes import LimitsBetweenNodes


@dataclass(frozen=True, eq=False)
class LinkedPhases:
    """The programs of several phases, one after another in unknowns, parameters, rows and costs."""

    phases: Sequence[PhaseProgram]
    duration: tuple[float, float]  # [s] least and greatest of all, infinite where phases imply it
    borders: Sequence[float | None] = ()  # as of `optimize_phases`
    periodic: Periodic | None = None
    # Functions of blocks by their content, and what is made of them, for phases that are alike and
    # for the same phases in other steps or with other costs.
    functions: dict[Hashable, ca.Function] = field(default_factory=dict)
    derived: DerivedFunctions = field(default_factory=DerivedFunctions)

    @cached_property
    def unknowns(self) -> list[slice]:
        """The unknowns of each phase, its duration last."""
        return _make_slices([x.transcription.size for x in self.phases])

    @cached_property
    def blocks(self) -> list[slice]:
        """The blocks of each phase."""
        return _make_slices([len(x.nlp.blocks) for x in self.phases])

    @cached_property
    def rows(self) -> list[slice]:
        """The rows of each phase."""
        return _make_slices([len(x.nlp.lower) for x in self.phases])

    @cached_property
    def impulses(self) -> list[slice]:
        """The impulses at the start of each phase; these unknowns follow those of all phases."""
        counts = [x.impulse_count for x in self.phases]
        end = self.unknowns[-1].stop
        return [slice(end + x.start, end + x.stop) for x in _make_slices(counts)]

    def extract_part(self, solution: Solution, k: int) -> Solution:
        """Return the unknowns and rows of phase k of a solution of all phases, as a solution."""
        unknowns, rows = self.unknowns[k], self.rows[k]
        point, residuals = solution.point, solution.residuals
        own = Point(point.x[unknowns], point.lam_x[unknowns], point.lam_g[rows])
        return replace(solution, point=own, residuals=replace(residuals, rows=residuals.rows[rows]))

    def refine(self, other: LinkedPhases, x: Array) -> Array:
        """Return the unknowns (n,) of the motion that the same phases in other steps have at x."""
        pairs = zip(self.phases, other.phases, other.unknowns, strict=True)
        parts = [
            _resample(theirs.transcription, x[own], mine.phase.horizon.steps)
            for mine, theirs, own in pairs
        ]
        return np.concatenate([*parts, x[other.unknowns[-1].stop :]])

    @property
    def parameters(self) -> Array:
        """The parameters of the programs of all phases."""
        return np.concatenate([x.program_parameters for x in self.phases])

    def limits(self) -> tuple[Array, Array]:
        """Return bounds of the unknowns, (n,) each."""
        low, high = zip(*(x.transcription.limits() for x in self.phases), strict=True)
        inf = np.full(self.impulses[-1].stop - self.unknowns[-1].stop, np.inf)  # of impulses
        return np.concatenate([*low, -inf]), np.concatenate([*high, inf])

    def start(self) -> Array:
        """Return the unknowns (n,) of the guesses."""
        pairs = zip(self.phases, self._starts, strict=True)
        return np.concatenate([*self._starts, *(x.start_impulses(own) for x, own in pairs)])

    @cached_property
    def _starts(self) -> list[Array]:
        """The unknowns (n,) of the guess of each phase."""
        return [x.start() for x in self.phases]

    @cached_property
    def nlp(self) -> StructuredNlp:
        """The program; rows between phases come last, that of the whole duration after all."""
        blocks = [block for k in range(len(self.phases)) for block in self._embed_blocks(k)]
        blocks += [self._link(k) for k in range(1, len(self.phases))]
        blocks += self._couple_ends()
        blocks += self._carry_slips()
        blocks += self._state_durations()
        count = len(self.parameters)
        return StructuredNlp(blocks, self.impulses[-1].stop, count, derived=self.derived)

    def least_violation(self, x: Array) -> LeastViolation | None:
        """Return the least violation of rows near x (n,), and which phases need longer for less."""
        durations = [self._duration_columns[k] for k in self._free_durations]
        total = len(self.nlp.lower) - 1 if np.isfinite(self.duration).any() else None
        found = least_violation(self.nlp, x, self.parameters, self.limits(), durations, total)
        if found is None:
            return None
        return replace(found, longer=[self._free_durations[i] for i in found.longer])

    @property
    def period(self) -> Period | None:
        """The end of the last phase, if the motion is periodic."""
        modes, first = [x.phase.modes for x in self.phases], self.phases[0].contacts
        first = first if len(modes) > 1 else ()
        return None if self.periodic is None else Period(self.periodic, modes, first)

    @property
    def _free_durations(self) -> list[int]:
        """Numbers of the phases whose durations are free."""
        bounds = [x.phase.horizon.bounds for x in self.phases]
        return [k for k, (low, high) in enumerate(bounds) if low < high]

    @property
    def _duration_columns(self) -> list[int]:
        """Index of the duration of each phase among all unknowns."""
        return [own.stop - 1 for own in self.unknowns]

    @property
    def _most_costs(self) -> int:
        """Most costs of a phase, with two small ones: these change no functions of nodes."""
        return 2 + max(len(x.costs) for x in self.phases)

    @cached_property
    def _parameter_slices(self) -> list[slice]:
        """The parameters of each phase; those of its mechanism come first."""
        return _make_slices([len(x.program_parameters) for x in self.phases])

    def _embed_blocks(self, k: int) -> list[ConstraintBlock]:
        """Return the blocks of phase k among all unknowns, its parameters among their data."""
        own, p, blocks = self.phases[k], self.phases[k].program_parameters, []
        for block, function in zip(own.nlp.blocks, self._functions[k], strict=True):
            data = np.hstack([block.data, np.tile(p, (block.count, 1))])
            columns = block.columns + self.unknowns[k].start
            blocks.append(replace(block, function=function, columns=columns, data=data))
        return blocks

    @cached_property
    def _functions(self) -> list[list[ca.Function]]:
        """The functions of the blocks of each phase, of parameters among the data.

        So phases that are alike share functions, and the derivatives of these.
        """
        known, found = self.functions, []
        of_all = self._most_costs, len(self.parameters)
        for phase in self.phases:
            blocks, count = phase.nlp.blocks, len(phase.program_parameters)
            embedded = [self._embed_function(block, count) for block in blocks]
            found.append([known.setdefault((f.serialize(), *of_all), f) for f in embedded])
        return found

    def _embed_function(self, block: ConstraintBlock, count: int) -> ca.Function:
        """Return the function of a block, its ``count`` parameters at the end of its data.

        With as many costs as any phase has.
        """
        f = block.function
        n = f.numel_in(1)
        w, known = ca.SX.sym("w", f.numel_in(0)), ca.SX.sym("data", n + count)
        rows, terms = f(w, known[:n], known[n:])
        missing = ca.SX.zeros(self._most_costs - terms.numel())
        outputs = [rows, ca.densify(ca.vertcat(terms, missing))]
        unused = ca.SX.sym("p", len(self.parameters))
        return ca.Function(block.name, [w, known, unused], outputs)

    def _link(self, k: int) -> ConstraintBlock:
        """Return the equations by which phase k starts in the state in which the one before ends.

        With an impact momentum changes by its impulses instead.
        """
        before, after = self.phases[k - 1].transcription, self.phases[k].transcription
        d, n = before.dynamics, before.dynamics.nq + before.dynamics.nv
        assert (after.dynamics.nq, after.dynamics.nv) == (d.nq, d.nv)
        # A phase begins with its first node; its last one comes before its duration.
        last_node = self.unknowns[k - 1].stop - 1 - before.node_size
        first_node = self.unknowns[k].start
        impulses = np.arange(self.impulses[k].start, self.impulses[k].stop)
        columns = [last_node + np.arange(n), first_node + np.arange(n), impulses]
        w, p = ca.SX.sym("w", 2 * n + len(impulses)), ca.SX.sym("p", len(self.parameters))
        q, jump = w[n : n + d.nq], w[n : 2 * n] - w[:n]
        bounds = [zero("link of phases", jump)]
        if len(impulses):
            of_mechanism = p[self._parameter_slices[k]][: len(after.dynamics.parameters)]
            parts = [
                contact.impulse_and_margins(q, of_mechanism, own)
                for contact, own in self.phases[k].divide_impulses(w[2 * n :])
            ]
            impulse = sum((total for total, _ in parts), ca.SX.zeros(d.nv))
            for constraints in self.phases[k].constraints:
                own = self.phases[k].read_constraint_impulses(w[2 * n :])
                impulse += constraints.compute_impulse(q, of_mechanism, own)
            balance = after.dynamics.mass(q, of_mechanism) @ jump[d.nq :] - impulse
            margins = ca.vertcat(ca.SX(0, 1), *(margin for _, margin in parts))
            bounds = [
                zero("link of phases", ca.vertcat(jump[: d.nq], balance)),
                not_negative("impulse in its cone", margins),
            ]
            v_before, v_after = w[d.nq : n], w[n + d.nq : 2 * n]
            for contact, own in self.phases[k].divide_impulses(w[2 * n :]):
                bounds += contact.direct_impulse(q, v_after, of_mechanism, own)
            for strike in self.phases[k].strikes:
                bounds += state_strike(strike, q, v_before, v_after, of_mechanism)
        return self._state_rows("linked", w, bounds, np.concatenate(columns), p)

    def _couple_ends(self) -> list[ConstraintBlock]:
        """Return the block by which the end of the last phase is as the start of the first."""
        if self.periodic is None:
            return []
        first, last = (self.phases[k].transcription for k in (0, -1))
        sizes, p = (first.node_size, last.node_size), ca.SX.sym("p", len(self.parameters))
        w = ca.SX.sym("w", sum(sizes))
        ends = [
            x.sample(ca.SX(0), part, p[own])
            for x, part, own in (
                (first, w[: sizes[0]], self._parameter_slices[0]),
                (last, w[sizes[0] :], self._parameter_slices[-1]),
            )
        ]
        last_node = self.unknowns[-1].stop - 1 - sizes[1]
        columns = [np.arange(sizes[0]), last_node + np.arange(sizes[1])]
        bounds = self.periodic.couple(*ends)
        return [self._state_rows("coupling", w, bounds, np.concatenate(columns), p)]

    def _carry_slips(self) -> Iterator[ConstraintBlock]:
        """Yield the blocks by which slips keep their direction from phase to phase."""
        for k, phase in enumerate(self.phases):
            for contact in phase.contacts:
                if contact.carries[0]:
                    yield self._carry_slip(k - 1, k, contact.forces)
                if contact.carries[1]:
                    yield self._carry_slip(k, 0, contact.forces)

    def _carry_slip(self, before: int, after: int, forces: ModeForces) -> ConstraintBlock:
        """Return the rows by which a slip has at the start of a phase the direction of another."""
        x, y = self.phases[before].transcription, self.phases[after].transcription
        # The last node comes before the duration.
        ends = len(self._starts[before]) - 1 - x.node_size + find_angles(x, forces)
        begins = find_angles(y, forces)
        guessed = self._starts[before][ends], self._starts[after][begins]
        columns = self.unknowns[before].start + ends, self.unknowns[after].start + begins
        n = len(ends)
        w, p = ca.SX.sym("w", 2 * n), ca.SX.sym("p", len(self.parameters))
        bounds = carry_direction(forces.name, guessed, w[n:] - w[:n])
        return self._state_rows("carried", w, bounds, np.concatenate(columns), p)

    def _state_durations(self) -> list[ConstraintBlock]:
        """Return rows of the ends of phases, shares of the duration of all, and of its bounds."""
        durations, p = ca.SX.sym("w", len(self.phases)), ca.SX.sym("p", len(self.parameters))
        total, (low, high), stated = ca.sum1(durations), self.duration, list[tuple[str, Bound]]()
        for k, share in enumerate(self.borders):
            if share is not None:
                off = ca.sum1(durations[: k + 1]) - share * total
                stated.append(("border", zero(f"end of {self.phases[k].label}", off)))
        if np.isfinite(self.duration).any():
            bound = Bound("duration of all phases", total, np.array([low]), np.array([high]))
            stated.append(("total", bound))
        columns = np.array(self._duration_columns)
        return [self._state_rows(name, durations, [b], columns, p) for name, b in stated]

    def _state_rows(
        self, name: str, w: ca.SX, bounds: Sequence[Bound], columns: Array, p: ca.SX
    ) -> ConstraintBlock:
        """Return rows without costs on the unknowns w, whose indices among all are ``columns``."""
        no_costs = ca.SX.zeros(self._most_costs)
        symbols = (w, ca.SX.sym("data"), p)
        return constraint_block(name, symbols, bounds, no_costs, columns[None].astype(np.intp))


def _resample(x: Collocation, unknowns: Array, steps: int) -> Array:
    """Return the unknowns in other steps of the motion that x has at some (n,)."""
    share = np.linspace(0, x.horizon.steps, 2 * steps + 1)
    k = np.minimum(share.astype(int), x.horizon.steps - 1)
    fine = x.trajectory(unknowns)[1]
    _, q, v, a, inputs = x.interpolate(fine, k, share - k)
    return np.append(np.hstack([q, v, a, inputs]), fine.duration)


def _make_slices(sizes: Sequence[int]) -> list[slice]:
    """Return consecutive slices of given sizes."""
    ends = np.cumsum([0, *sizes]).tolist()
    return [slice(a, b) for a, b in pairwise(ends)]


@dataclass(frozen=True, eq=False)
class SearchedPhases(SearchedProgram):
    """The program of linked phases, and what solves it."""

    linked: LinkedPhases

    @classmethod
    def of(cls, linked: LinkedPhases, solver: Solver, settings: Settings) -> SearchedPhases:
        """Return the program of linked phases."""
        nlp, start = linked.nlp, linked.start()
        structured = StructuredProgram(nlp, solver.backend, settings, linked.parameters, start)
        return cls(solver, nlp, settings, structured, linked)

    @property
    def p(self) -> Array:
        return self.linked.parameters

    @property
    def by_polynomials(self) -> bool:
        return True

    @property
    def is_smoothed(self) -> bool:
        return any(any(x.transcription.creep) for x in self.linked.phases)

    def limits(self) -> tuple[Array, Array]:
        return self.linked.limits()

    def list_limited_parts(self) -> list[LimitedPart]:
        linked, phases = self.linked, self.linked.phases
        stated = [None, *(x.statement for x in phases), None]
        limits = [  # those of each phase, which phases before and after it share at borders
            LimitsBetweenNodes(x.transcription, x.statement, stated[k], stated[k + 2])
            for k, x in enumerate(phases)
        ]
        return [LimitedPart(*x) for x in zip(limits, linked.unknowns, linked.blocks, strict=True)]

    def is_resolved(self, solution: Solution, share: float = 1.0) -> bool:
        return all(self._are_resolved(solution, share))

    def with_steps(self, most: int) -> SearchedPhases:
        """Return the same phases in at most so many steps each.

        Raises
        ------
        ValueError
            If a phase cannot be stated so, as where its conditions fall together at a node.
        """
        linked, programs = self.linked, list[PhaseProgram]()
        stated = [x.phase for x in linked.phases]
        modes, strikes = [x.modes for x in stated], [x.strikes for x in stated]
        resting = find_resting(modes, strikes, is_periodic=linked.periodic is not None)
        for k, x in enumerate(linked.phases):
            horizon = x.phase.horizon
            phase = replace(x.phase, horizon=horizon.with_steps(min(most, horizon.steps)))
            before = programs[-1] if programs else None
            is_last = k == len(linked.phases) - 1
            period = linked.period if is_last else None
            programs.append(
                PhaseProgram.of(phase, x.label, before, self.solver, resting[k], period)
            )
        return self.of(replace(linked, phases=programs), self.solver, self.settings)

    def _are_resolved(self, solution: Solution, share: float) -> list[bool]:
        return [
            phase.transcription.is_resolved(solution.x[own], phase.p, share)
            for phase, own in zip(self.linked.phases, self.linked.unknowns, strict=True)
        ]

    def with_less_tie(self, solution: Solution) -> SearchedPhases | None:
        pairs = zip(self.linked.phases, self.linked.unknowns, strict=True)
        return self._restate([phase.with_less_tie(solution.x[own]) for phase, own in pairs])

    def with_bend(self, solution: Solution, share: float = 1.0) -> SearchedPhases | None:
        pairs = zip(self.linked.phases, self._are_resolved(solution, share), strict=True)
        return self._restate([phase if fine else phase.with_bend() for phase, fine in pairs])

    def _restate(self, phases: Sequence[PhaseProgram]) -> SearchedPhases | None:
        if all(x is y for x, y in zip(phases, self.linked.phases, strict=True)):
            return None
        return self.of(replace(self.linked, phases=phases), self.solver, self.settings)
