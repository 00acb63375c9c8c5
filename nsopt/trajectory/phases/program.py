"""The programs of several phases as one, their states linked."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise

import casadi as ca
import numpy as np

from nsopt.mpcc import Bound, ConstraintBlock, StructuredNlp, constraint_block
from nsopt.trajectory.diagnosis import LeastViolation, least_violation
from nsopt.trajectory.phases.phase import PhaseProgram
from nsopt.trajectory.transcription.base import Array


@dataclass(frozen=True, eq=False)
class LinkedPhases:
    """The programs of several phases, one after another in unknowns, parameters, rows and costs.

    Parameters
    ----------
    phases : sequence of PhaseProgram
    duration : (float, float) [s]
        Least and greatest duration of all together.
    borders : sequence of float or None
        Shares of that duration at which phases end, None where that is free; of none that follows
        those given.
    """

    phases: Sequence[PhaseProgram]
    duration: tuple[float, float]
    borders: Sequence[float | None] = ()

    @cached_property
    def unknowns(self) -> list[slice]:
        """The unknowns of each phase."""
        return _slices([x.transcription.size for x in self.phases])

    @cached_property
    def blocks(self) -> list[slice]:
        """The blocks of each phase."""
        return _slices([len(x.nlp.blocks) for x in self.phases])

    @cached_property
    def rows(self) -> list[slice]:
        """The rows of each phase."""
        return _slices([len(x.nlp.lower) for x in self.phases])

    @cached_property
    def impulses(self) -> list[slice]:
        """The unknown impulses at the start of each phase, after the unknowns of all phases."""
        counts = [sum(len(y.forces.inputs) for y in x.striking.values()) for x in self.phases]
        end = self.unknowns[-1].stop
        return [slice(end + x.start, end + x.stop) for x in _slices(counts)]

    def with_less_tie(self, terms: Array) -> LinkedPhases:
        """Return the phases with tie-breakers small beside the costs (k,) of an optimum."""
        pairs = zip(self.phases, self._counts, strict=True)
        return self._with([phase.with_less_tie(terms[own]) for phase, own in pairs])

    def are_resolved(self, x: Array, part: float) -> list[bool]:
        """Return of each phase what `Transcription.is_resolved` does."""
        return [
            phase.transcription.is_resolved(x[own], phase.p, part)
            for phase, own in zip(self.phases, self.unknowns, strict=True)
        ]

    def with_bend(self, resolved: Sequence[bool]) -> LinkedPhases:
        """Return the phases, with a cost of bends those whose steps are not resolved."""
        pairs = zip(self.phases, resolved, strict=True)
        return self._with([phase if done else phase.with_bend() for phase, done in pairs])

    def _with(self, phases: Sequence[PhaseProgram]) -> LinkedPhases:
        alike = all(x is y for x, y in zip(phases, self.phases, strict=True))
        return self if alike else replace(self, phases=phases)

    @property
    def parameters(self) -> Array:
        """The parameters of all phases."""
        return np.concatenate([x.numbers for x in self.phases])

    def limits(self) -> tuple[Array, Array]:
        """Return bounds of the unknowns, (n,) each."""
        low, high = zip(*(x.transcription.limits() for x in self.phases), strict=True)
        free = np.full(self.impulses[-1].stop - self.unknowns[-1].stop, np.inf)
        return np.concatenate([*low, -free]), np.concatenate([*high, free])

    def start(self) -> Array:
        """Return the unknowns (n,) of the guesses."""
        none = np.zeros(self.impulses[-1].stop - self.unknowns[-1].stop)
        return np.concatenate([*(x.transcription.start_from(x.guess) for x in self.phases), none])

    @cached_property
    def nlp(self) -> StructuredNlp:
        """The program; the rows that link phases come last."""
        blocks = [block for k in range(len(self.phases)) for block in self._blocks_of(k)]
        blocks += [self._link(k) for k in range(1, len(self.phases))]
        given = [(k, share) for k, share in enumerate(self.borders) if share is not None]
        blocks += [self._place_border(k, share) for k, share in given]
        if np.isfinite(self.duration).any():
            blocks.append(self._total())
        return StructuredNlp(blocks, self.impulses[-1].stop, len(self.parameters))

    def least_violation(self, x: Array) -> LeastViolation | None:
        """Return what the rows could come to near a point; durations count by phase."""
        free = {k: own.stop - 1 for k, own in enumerate(self.unknowns) if self._free(k)}
        total = len(self.nlp.lower) - 1 if np.isfinite(self.duration).any() else None
        found = least_violation(
            self.nlp, x, self.parameters, self.limits(), list(free.values()), total
        )
        if found is None:
            return None
        return replace(found, longer=[list(free)[i] for i in found.longer])

    def _free(self, k: int) -> bool:
        low, high = self.phases[k].phase.horizon.bounds
        return low < high

    @cached_property
    def _counts(self) -> list[slice]:
        """The costs of each phase."""
        return _slices([len(x.transcription.costs) for x in self.phases])

    def _blocks_of(self, k: int) -> list[ConstraintBlock]:
        """Return the blocks of a phase among all unknowns, parameters and costs."""
        own, costs = self.phases[k], self._counts[k]
        p = ca.SX.sym("p", len(self.parameters))
        numbers = _slices([len(x.numbers) for x in self.phases])
        made: dict[int, ca.Function] = {}
        blocks = []
        for block in own.nlp.blocks:
            f, key = block.function, block.function.__hash__()
            if key not in made:  # blocks that share a function go on sharing it
                w, data = (ca.SX.sym(name, f.numel_in(i)) for i, name in enumerate(("w", "data")))
                rows, terms = f(w, data, p[numbers[k]])
                others = [ca.SX.zeros(n) for n in (costs.start, self._counts[-1].stop - costs.stop)]
                outputs = [rows, ca.densify(ca.vertcat(others[0], terms, others[1]))]
                made[key] = ca.Function(block.name, [w, data, p], outputs, {"cse": True})
            columns = block.columns + self.unknowns[k].start
            blocks.append(replace(block, function=made[key], columns=columns))
        return blocks

    def _link(self, k: int) -> ConstraintBlock:
        """Return the equations that a phase starts where the one before ends.

        As fast, or after an impact: momentum changes by its impulses.
        """
        before, after = self.phases[k - 1].transcription, self.phases[k].transcription
        d, n = before.dynamics, before.dynamics.nq + before.dynamics.nv
        state, still = np.arange(n), np.zeros(n)
        ends = self.unknowns[k - 1].stop - 1 - before.node, self.unknowns[k].start
        assert (after.dynamics.nq, after.dynamics.nv) == (d.nq, d.nv)
        struck = np.arange(self.impulses[k].start, self.impulses[k].stop)
        w, p = ca.SX.sym("w", 2 * n + len(struck)), ca.SX.sym("p", len(self.parameters))
        first, off = w[n : n + d.nq], w[n : 2 * n] - w[:n]
        bounds = [Bound("link of phases", off, still, still)]
        if len(struck):
            impulse = self._impact(k, first, w[2 * n :], p)
            own = p[_slices([len(x.numbers) for x in self.phases])[k]]
            M = after.dynamics.mass(first, own[: len(after.dynamics.parameters)])
            balance = M @ off[d.nq :] - impulse[0]
            bounds = [Bound("link of phases", ca.vertcat(off[: d.nq], balance), still, still)]
            m = impulse[1].numel()
            bounds += [Bound("impulse in its cone", impulse[1], np.zeros(m), np.full(m, np.inf))]
            came, left = w[d.nq : n], w[n + d.nq : 2 * n]
            given = own[: len(after.dynamics.parameters)]
            for strike in self.phases[k].strikes:
                bounds += strike.bounds(first, came, left, given)
        columns = np.concatenate([*(state + end for end in ends), struck])[None]
        return self._coupling("linked", w, bounds, columns, p)

    def _impact(self, k: int, q: ca.SX, impulses: ca.SX, p: ca.SX) -> tuple[ca.SX, ca.SX]:
        """Return the generalized impulse (nv,) at the start of a phase, and rows not negative."""
        own = self.phases[k]
        numbers = p[_slices([len(x.numbers) for x in self.phases])[k]][: len(own.p)]
        total, rows, at = ca.SX.zeros(own.transcription.dynamics.nv), [ca.SX(0, 1)], 0
        for x in own.striking.values():
            n = len(x.forces.inputs)
            part, within = x.impulse(q, numbers, impulses[at : at + n])
            total, rows, at = total + part, [*rows, within], at + n
        return total, ca.vertcat(*rows)

    def _total(self) -> ConstraintBlock:
        """Return the bounds of the duration of all phases together."""
        columns = np.array([[own.stop - 1 for own in self.unknowns]])
        w, (low, high) = ca.SX.sym("w", len(self.phases)), self.duration
        total = Bound("duration of all phases", ca.sum1(w), np.array([low]), np.array([high]))
        p = ca.SX.sym("p", len(self.parameters))
        return self._coupling("total", w, [total], columns, p)

    def _place_border(self, k: int, share: float) -> ConstraintBlock:
        """Return the equation that phase k ends at a share of the duration of all."""
        columns = np.array([[own.stop - 1 for own in self.unknowns]])
        w, zero = ca.SX.sym("w", len(self.phases)), np.zeros(1)
        off = ca.sum1(w[: k + 1]) - share * ca.sum1(w)
        bounds = [Bound(f"end of {self.phases[k].label}", off, zero, zero)]
        p = ca.SX.sym("p", len(self.parameters))
        return self._coupling("border", w, bounds, columns, p)

    def _coupling(
        self, name: str, w: ca.SX, bounds: Sequence[Bound], columns: Array, p: ca.SX
    ) -> ConstraintBlock:
        nothing = ca.SX.zeros(self._counts[-1].stop)
        symbols = (w, ca.SX.sym("k"), p)
        return constraint_block(name, symbols, bounds, nothing, columns.astype(np.intp))


def _slices(sizes: Sequence[int]) -> list[slice]:
    ends = np.cumsum([0, *sizes]).tolist()
    return [slice(a, b) for a, b in pairwise(ends)]
