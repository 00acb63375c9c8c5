"""The strategy that makes an optimum through contact exact."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from nsopt.interrupt import is_interrupted, remember
from nsopt.mechanics import Dynamics
from nsopt.result import Result
from nsopt.trajectory.exact.borders import find_at_borders
from nsopt.trajectory.exact.joined import join_phases
from nsopt.trajectory.exact.known_motion import KnownMotion
from nsopt.trajectory.exact.motion import PhasedMotion, divide_shares
from nsopt.trajectory.exact.neighbours import with_another, without_short
from nsopt.trajectory.exact.parts import find_given_borders, find_touching
from nsopt.trajectory.exact.recognize import NotExactError, Recognizer
from nsopt.trajectory.exact.sequence import (
    ContactPhase,
    check_sequence,
    describe_sequence,
)
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
from nsopt.trajectory.smoothing.tie_breaker import record_tie
from nsopt.trajectory.transcription.base import Array, TranscribedMotion, Transcription
from nsopt.trajectory.verification.ending import closing_at_end

Motion = Found[StatedProgram]
Search = MotionSearch[StatedProgram]

OF_SEARCH = ("title", "solver", "compile_time", "search", "guess_cost", "guess_violation")
"""Attributes of an optimum in steps that are those of the exact one, too."""

AT_LAST = 1e-2
"""Of the shortest duration of a phase, that of phases which are as short, once they are known."""


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
        Other sequences that were tried.
    stopped : bool
        Whether Ctrl-C ended that.
    """

    sequence: tuple[ContactPhase, ...]
    solved: SolvedPhases
    cost: float
    steps: Transcription
    tried: int = 0
    stopped: bool = False

    @property
    def fault(self) -> str:
        """Why it is no solution, or not the last one; nothing where it is."""
        if self.stopped:
            return "interrupted while other sequences were tried; this motion is a solution"
        return record_phases(self.solved, False, "").stop_reason

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
            "stationarity": f"stationary in its sequence of contact; {self._tell_trials()}",
            "contact_sequence": describe_sequence(self.sequence, smooth),
            "sequences_tried": self.tried,
            "borders": self.solved.borders,
            **({} if kept is None else kept.attrs),
            **record_tie(linked.phases[0].tie),
            **closing_at_end(self.steps.dynamics, motion, p),
            "stop_reason": self.fault,
        }
        backend = type(self.solved.solver.backend).__name__.lower()
        of_search = {name: attrs[name] for name in OF_SEARCH}
        return record(self.steps, solution, motion, p, backend, of_search | own)

    def _tell_trials(self) -> str:
        """Return in words what is known of other sequences."""
        if self.stopped:
            return "interrupted while others were tried"
        if not self.tried:
            return "no other one was tried"
        return f"of {self.tried} other ones none was found to cost less"

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
        Least duration of a phase, as a share of that of the motion; a hundredth of it at last.
    """

    why = "steps place changes of contact at nodes, and are of first order there"

    sequence: Sequence[ContactPhase] | None = None
    trials: int = 20
    gain: float = 1e-6
    least_steps: int = 6
    shortest: float = 1e-4

    def __post_init__(self) -> None:
        if self.trials < 0 or self.least_steps < 1 or self.gain < 0 or not 0 < self.shortest <= 0.1:
            raise ValueError(
                "ExactContacts needs least_steps of 1 or more, trials and gain of 0 or more, and "
                f"shortest above 0 and up to 0.1: got {self.least_steps}, {self.trials}, "
                f"{self.gain:g} and {self.shortest:g}"
            )

    def check(self, dynamics: Dynamics) -> None:
        if self.sequence is not None:
            check_sequence(self.sequence, dynamics)

    def applies(self, search: Search, found: Motion) -> bool:
        del search
        return found.is_solved and found.program.transcription.unilateral

    def solve(self, search: Search, found: Motion) -> Motion:
        x, solution, p = found.program.transcription, found.end, found.program.p
        steps = record(x, solution, x.motion(solution, p), p, "", {"stop_reason": "", "title": ""})
        try:
            motion = PhasedMotion(found.program, self.least_steps, self.shortest, search.spent)
            conditions = found.program.statement.conditions
            given = find_given_borders(motion.flying, conditions), find_touching(conditions)
            read = Recognizer(x.dynamics, steps, p, *given)
            first = self._solve_first(motion, read, KnownMotion.of_steps(steps))
        except NotExactError as error:
            return replace(found, not_exact=str(error))
        except KeyboardInterrupt:
            remember()
            return replace(found, not_exact="interrupted before it was exact")
        if not first.solved.solution.ok:
            why = first.fault.partition("\n")[0]
            return replace(found, not_exact=f"{describe_sequence(first.sequence)}: {why}")
        best = self._improve(motion, first)
        solution = search.complete(best.solved.solution)
        return replace(found, exact=replace(best, solved=replace(best.solved, solution=solution)))

    def _solve_first(
        self, motion: PhasedMotion, read: Recognizer, known: KnownMotion
    ) -> InSequence:
        """Return the optimum in the sequence that is given, or else in that of the steps.

        What lasts a step alone is left out of it, unless there is no solution without.
        """
        if self.sequence is not None:
            return self._solve(motion, tuple(self.sequence), known)
        first = self._solve(motion, read.sequence(), known)
        whole = read.sequence(briefest=True)
        if first.solved.solution.ok or is_interrupted() or len(whole) == len(first.sequence):
            return first
        try:
            other = self._solve(motion, whole, known)
        except NotExactError:
            return first
        return other if other.solved.solution.ok else first

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
        """Return the best of sequences that follow from each other, solved to the end."""
        best, tried = first, {_key(first.sequence): False}
        try:
            while (better := self._find_better(motion, best, tried)) is not None:
                best = better
            if sum(tried.values()):  # its steps as its phases last, its limits kept
                again = self._solve(motion, best.measure(), KnownMotion.of_phases(best.solved))
                best = self._choose(first, best, again)
            if self._find_short(best):
                known = KnownMotion.of_phases(best.solved)
                shorter = replace(motion, shortest=AT_LAST * self.shortest)
                again = self._solve(shorter, best.measure(), known)
                best = again if again.cost < best.cost else best
        except KeyboardInterrupt:  # while a sequence was stated
            remember()
            best = first
        return replace(best, tried=sum(tried.values()), stopped=is_interrupted())

    def _choose(self, first: InSequence, best: InSequence, again: InSequence) -> InSequence:
        """Return the best as it was solved again, or the first if that is as good."""
        if best is first:
            return again if again.solved.solution.ok else first
        return again if self._is_better(again, first) else first

    def _find_better(
        self, motion: PhasedMotion, best: InSequence, tried: dict[str, bool]
    ) -> InSequence | None:
        """Return the first neighbour that is better; None if none is, or trials are over.

        Those that were tried are added to ``tried``, with whether phases could state them.
        """
        now, known = best.measure(), KnownMotion.of_phases(best.solved)
        fewer = [y for k in self._find_short(best) if len(now) > 1 for y in without_short(now, k)]
        for sequence in (*fewer, *with_another(now, find_at_borders(best.solved))):
            key = _key(sequence)
            if key in tried or sum(tried.values()) >= self.trials or is_interrupted():
                continue
            tried[key] = False
            try:
                other = self._solve(motion, sequence, known, briefly=True)
            except NotExactError:
                continue
            tried[key] = True
            if self._is_better(other, best):
                return other
        return None

    def _is_better(self, other: InSequence, now: InSequence) -> bool:
        """Return whether a motion costs less than another.

        A phase of almost no duration must bring more than the nodes do that come with it.
        """
        more = len(self._find_short(other)) - len(self._find_short(now))
        least = np.sign(more) * self.shortest if more else self.gain
        return bool(other.cost < now.cost - least * abs(now.cost))

    def _find_short(self, motion: InSequence) -> list[int]:
        """Return the phases of a motion that hardly last."""
        lengths = np.diff(motion.solved.borders)
        return np.flatnonzero(lengths <= 2 * self.shortest * lengths.sum()).tolist()


def _key(sequence: Sequence[ContactPhase]) -> str:
    """Return what tells sequences apart, but for how long they last."""
    return repr([(x.modes, x.strikes, x.ends) for x in sequence])


EXACT_CONTACTS = replace(PLAN, strategies=(*PLAN.strategies, ExactContacts()))
"""The plan of `optimize`, its optima through contact made exact."""
