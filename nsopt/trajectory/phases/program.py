"""The programs of several phases as one, their states linked."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise

import casadi as ca
import numpy as np

from nsopt.mpcc import Bound, ConstraintBlock, StructuredNlp, constraint_block
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
    """

    phases: Sequence[PhaseProgram]
    duration: tuple[float, float]

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

    def settled(self, x: Array) -> LinkedPhases:
        """Return the phases with tie-breakers that are small at an optimum x."""
        terms = np.asarray(self.nlp.terms(x, self.parameters)).ravel()
        pairs = zip(self.phases, self._counts, strict=True)
        phases = [phase.settled(terms[own]) for phase, own in pairs]
        alike = all(x is y for x, y in zip(phases, self.phases, strict=True))
        return self if alike else replace(self, phases=phases)

    @property
    def parameters(self) -> Array:
        """The parameters of all phases."""
        return np.concatenate([x.numbers for x in self.phases])

    def limits(self) -> tuple[Array, Array]:
        """Return bounds of the unknowns, (n,) each."""
        low, high = zip(*(x.transcription.limits() for x in self.phases), strict=True)
        return np.concatenate(low), np.concatenate(high)

    def start(self) -> Array:
        """Return the unknowns (n,) of the guesses."""
        return np.concatenate([x.transcription.start_from(x.guess) for x in self.phases])

    @cached_property
    def nlp(self) -> StructuredNlp:
        """The program; the rows that link phases come last."""
        blocks = [block for k in range(len(self.phases)) for block in self._blocks_of(k)]
        blocks += [self._link(k) for k in range(1, len(self.phases))]
        if np.isfinite(self.duration).any():
            blocks.append(self._total())
        return StructuredNlp(blocks, self.unknowns[-1].stop, len(self.parameters))

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
        """Return the equations that a phase starts where the one before ends, as fast."""
        before, after = self.phases[k - 1].transcription, self.phases[k].transcription
        state = np.arange(2 * before.dynamics.nv)
        ends = self.unknowns[k - 1].stop - 1 - before.node, self.unknowns[k].start
        assert after.dynamics.nv == before.dynamics.nv
        w, still = ca.SX.sym("w", 2 * len(state)), np.zeros(len(state))
        off = w[len(state) :] - w[: len(state)]
        columns = np.concatenate([state + end for end in ends])[None]
        return self._coupling("linked", w, Bound("link of phases", off, still, still), columns)

    def _total(self) -> ConstraintBlock:
        """Return the bounds of the duration of all phases together."""
        columns = np.array([[own.stop - 1 for own in self.unknowns]])
        w, (low, high) = ca.SX.sym("w", len(self.phases)), self.duration
        total = Bound("duration of all phases", ca.sum1(w), np.array([low]), np.array([high]))
        return self._coupling("total", w, total, columns)

    def _coupling(self, name: str, w: ca.SX, bound: Bound, columns: Array) -> ConstraintBlock:
        symbols = (w, ca.SX.sym("k"), ca.SX.sym("p", len(self.parameters)))
        nothing = ca.SX.zeros(self._counts[-1].stop)
        return constraint_block(name, symbols, [bound], nothing, columns.astype(np.intp))


def _slices(sizes: Sequence[int]) -> list[slice]:
    ends = np.cumsum([0, *sizes]).tolist()
    return [slice(a, b) for a, b in pairwise(ends)]
