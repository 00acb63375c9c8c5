"""The strategy that makes an optimum through contact exact."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from nsopt.interrupt import is_interrupted
from nsopt.result import Result
from nsopt.trajectory.exact.borders import find_at_borders
from nsopt.trajectory.exact.joined import join_phases
from nsopt.trajectory.exact.known_motion import KnownMotion
from nsopt.trajectory.exact.motion import PhasedMotion, divide_shares
from nsopt.trajectory.exact.neighbours import with_another, without_short
from nsopt.trajectory.exact.parts import find_given_borders, find_touching
from nsopt.trajectory.exact.recognize import NotExactError, Recognizer
from nsopt.trajectory.exact.sequence import ContactPhase, describe_sequence
from nsopt.trajectory.optimum import record
from nsopt.trajectory.phases import SolvedPhases, record_phases
from nsopt.trajectory.search import (
    PLAN,
    ExactMotion,
    Found,
    MotionSearch,
    StatedProgram,
    Strategy,
)
from nsopt.trajectory.transcription.base import Array, TranscribedMotion, Transcription

Motion = Found[StatedProgram]
Search = MotionSearch[StatedProgram]


@dataclass(frozen=True, eq=False)
class InSequence(ExactMotion):
    """The optimum in a sequence of contact.

    Attributes
    ----------
    sequence : tuple of ContactPhase
    solved : SolvedPhases
    cost : float
        Infinite where there is no solution.
    steps : Transcription
        The motion as it is stated in steps.
    tried : int
        Sequences next to it that were tried.
    """

    sequence: tuple[ContactPhase, ...]
    solved: SolvedPhases
    cost: float
    steps: Transcription
    tried: int = 0

    @property
    def motion(self) -> TranscribedMotion:
        return join_phases(self.solved, self.steps.dynamics, self.steps.inputs)

    def record(self, motion: TranscribedMotion, p: Array, attrs: Mapping[str, Any]) -> Result:
        linked, solution, kept = self.solved.linked, self.solved.solution, self.solved.kept
        first = linked.phases[0].transcription
        name, description = first.description
        smooth = [x.forces.name for x in linked.phases[0].in_modes if not x.slips]
        costs = divide_shares(self.solved)
        own = {
            "scheme": description,
            "scheme_name": name,
            "objective": sum(costs.values()),
            "objective_in_steps": attrs["objective"],
            "detailed_cost": json.dumps(costs),
            "stationarity_kind": "",
            "stationarity": "stationary in its sequence of contact; of "
            f"{self.tried} next to it none was found to cost less",
            "contact_sequence": describe_sequence(self.sequence, smooth),
            "sequences_tried": self.tried,
            "borders": self.solved.borders,
            **({} if kept is None else kept.attrs),
            "stop_reason": "" if kept is None else kept.fault,
        }
        backend = type(self.solved.solver.backend).__name__.lower()
        return record(self.steps, solution, motion, p, backend, {**attrs, **own})

    def measure(self) -> tuple[ContactPhase, ...]:
        """Return its sequence with the durations that phases have."""
        lengths = np.diff(self.solved.borders).tolist()
        pairs = zip(self.sequence, lengths, strict=True)
        return tuple(replace(part, duration=h) for part, h in pairs)


@dataclass(frozen=True)
class ExactContacts(Strategy[StatedProgram]):
    """Solves the motion again in the modes that its contacts have, the times of changes free.

    Then sequences next to that are tried, with a phase more or less, until none costs less.

    Parameters
    ----------
    sequence : sequence of ContactPhase, optional
        By default that of the steps.
    trials : int
        Sequences that are tried, at most; none where the sequence is to stay.
    gain : float
        Part of the cost by which another sequence must cost less.
    least_steps : int
        Of a phase, however short.
    shortest : float
        Least duration of a phase, as a share of that of the motion.
    """

    why = "steps place changes of contact at nodes, and are of first order there"

    sequence: Sequence[ContactPhase] | None = None
    trials: int = 20
    gain: float = 1e-6
    least_steps: int = 6
    shortest: float = 1e-4

    def applies(self, search: Search, found: Motion) -> bool:
        del search
        return found.is_solved and found.program.transcription.unilateral

    def solve(self, search: Search, found: Motion) -> Motion:
        del search
        x, solution, p = found.program.transcription, found.end, found.program.p
        steps = record(x, solution, x.motion(solution, p), p, "", {"stop_reason": "", "title": ""})
        try:
            motion = PhasedMotion(found.program, self.least_steps, self.shortest)
            conditions = found.program.statement.conditions
            given = find_given_borders(motion.flying, conditions), find_touching(conditions)
            read = self.sequence or Recognizer(x.dynamics, steps, p, *given).sequence()
            first = self._solve(motion, tuple(read), KnownMotion.of_steps(steps))
        except NotExactError as error:
            return replace(found, not_exact=str(error))
        best = self._improve(motion, first)
        if not best.solved.solution.ok:
            why = record_phases(best.solved, False, "").stop_reason
            return replace(found, not_exact=f"{describe_sequence(best.sequence)}: {why}")
        return replace(found, exact=best)

    def _solve(
        self,
        motion: PhasedMotion,
        sequence: tuple[ContactPhase, ...],
        known: KnownMotion,
        briefly: bool = False,
    ) -> InSequence:
        solved = motion.solve(sequence, known, briefly=briefly)
        cost = sum(divide_shares(solved).values()) if solved.solution.ok else np.inf
        return InSequence(sequence, solved, cost, motion.program.transcription)

    def _improve(self, motion: PhasedMotion, first: InSequence) -> InSequence:
        """Return the best of sequences that follow from each other."""
        best, tried = first, set[str]()
        while (better := self._find_better(motion, best, tried)) is not None:
            best = better
        if tried:  # briefly
            best = self._solve(motion, best.measure(), KnownMotion.of_phases(best.solved))
        return replace(best, tried=len(tried))

    def _find_better(
        self, motion: PhasedMotion, best: InSequence, tried: set[str]
    ) -> InSequence | None:
        """Return the first neighbour that costs less; None if none does, or trials are over."""
        if not best.solved.solution.ok:
            return None
        now, known = best.measure(), KnownMotion.of_phases(best.solved)
        lengths = [x.duration for x in now]
        short = [k for k, x in enumerate(lengths) if x <= 2 * self.shortest * sum(lengths)]
        fewer = [y for k in short if len(now) > 1 for y in without_short(now, k)]
        more = with_another(now, find_at_borders(best.solved))
        for sequence, allowed in (
            *((x, best.cost + self.gain * abs(best.cost)) for x in fewer),
            *((x, best.cost - self.gain * abs(best.cost)) for x in more),
        ):
            key = describe_sequence(sequence)
            if key in tried or len(tried) >= self.trials or is_interrupted():
                continue
            tried.add(key)
            try:
                other = self._solve(motion, sequence, known, briefly=True)
            except NotExactError:
                continue
            if other.cost < allowed:
                return other
        return None


EXACT_CONTACTS = replace(PLAN, strategies=(*PLAN.strategies, ExactContacts()))
"""The plan of `optimize`, its optima through contact made exact."""
