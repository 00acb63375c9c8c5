"""The strategy that makes an optimum in steps exact: `ExactContacts`.

It reads off the sequence of contact modes, solves the motion in these phases by polynomials, and
then tries neighbours of that sequence. Closed loops and free bodies without contacts are one phase.
`PLAN`, the plan of `optimize`, ends with it.
Measured in docs/measured/contact_optima.md, "Exact through contact".
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from time import thread_time
from typing import Any

import numpy as np

from nsopt.arrays import Array
from nsopt.caveats import cap_exact_cost
from nsopt.interrupt import is_interrupted
from nsopt.mechanics import Dynamics
from nsopt.result import Result
from nsopt.trajectory.exact.borders import find_at_borders
from nsopt.trajectory.exact.division import find_touching
from nsopt.trajectory.exact.joined import join_phases, measure_alternation_in_bores
from nsopt.trajectory.exact.known_motion import KnownMotion
from nsopt.trajectory.exact.motion import PhasedMotion, sum_costs
from nsopt.trajectory.exact.recognize import NotExactError, Recognizer
from nsopt.trajectory.exact.sequence import (
    ContactPhase,
    check_sequence,
    describe_sequence,
    identify_sequence,
    list_shorter,
    with_new_phase,
    without_phase,
)
from nsopt.trajectory.optimum import record
from nsopt.trajectory.phases import Sliding, SolvedPhases, join_cone_excess, record_phases
from nsopt.trajectory.search import (
    IN_STEPS,
    ExactMotion,
    FoundMotion,
    Search,
    StatedProgram,
    Strategy,
)
from nsopt.trajectory.smoothing.dry_friction import find_rubbing_joints
from nsopt.trajectory.smoothing.small_costs import record_tie
from nsopt.trajectory.transcription.base import TranscribedMotion, Transcription
from nsopt.trajectory.verification.contacts import find_closing_at_end

SHARED_ATTRS = ("title", "solver", "compile_time", "search", "guess_cost", "guess_violation")
"""Attributes that the exact optimum takes from the optimum in steps."""

TRIALS_INTERRUPTED = "interrupted while other sequences were tried; this motion is a solution"
SHORTER_AT_LAST = 1e-2  # times `ExactContacts.shortest`, in the last solve if a phase is that short

ALTERNATES = 0.05
"""Part of the force in a bore that alternates, from which it is solved from fewer steps too."""

FEWER = (2, 4, 8)  # of how many times fewer steps

WORTH = 1e-2
"""Share of its cost that a sequence loses by what its short phases are wrong about.

They are tried without where it costs a tenth too much; with less the trials of neighbours go on
from the sequence that the steps have.
"""


@dataclass(frozen=True, eq=False)
class OptimumInSequence(ExactMotion):
    """The optimum in a sequence of contact."""

    sequence: tuple[ContactPhase, ...]
    solved: SolvedPhases
    cost: float  # infinite where there is no solution
    stated: PhasedMotion
    seconds: float  # of the processor, that its solve took
    tried: int = 0  # number of other sequences that were solved
    has_steps: bool = True  # whether there is an optimum in steps
    stopped: bool = False  # whether Ctrl-C ended the trials

    @property
    def fault(self) -> str:
        """Why it is no solution; empty otherwise."""
        return record_phases(self.solved, False, "").stop_reason

    @property
    def motion(self) -> TranscribedMotion:
        return join_phases(self.solved, self.in_steps.dynamics, self.in_steps.inputs)

    @property
    def in_steps(self) -> Transcription:
        """The transcription of the motion in steps."""
        return self.stated.program.transcription

    def record(self, motion: TranscribedMotion, p: Array, attrs: Mapping[str, Any]) -> Result:
        linked, solution, excess = self.solved.linked, self.solved.solution, self.solved.excess
        first = linked.phases[0]
        name, description = first.transcription.description
        costs = sum_costs(self.solved)
        own = {
            **{key: attrs[key] for key in SHARED_ATTRS},
            "scheme": description,
            "scheme_name": name,
            "objective": sum(costs.values()),
            "objective_in_steps": attrs["objective"] if self.has_steps else np.nan,
            "detailed_cost": json.dumps(costs),
            "stationarity_kind": "",
            **self._record_sequence(),
            **({} if excess is None else excess.attrs),
            **record_tie(first.tie),
            **join_cone_excess(self.solved),
            **find_closing_at_end(self.in_steps.dynamics, motion, p),
            "stop_reason": TRIALS_INTERRUPTED if self.stopped else "",
            "interrupted": int(self.stopped),
        }
        return record(self.in_steps, solution, motion, p, self.solved.solver.backend, own)

    @property
    def alternates(self) -> bool:
        """Whether forces in bores alternate from point to point."""
        x = self.in_steps
        return measure_alternation_in_bores(self.solved, x.dynamics, x.inputs) > ALTERNATES

    def solve_on(self, factor: float) -> OptimumInSequence:
        counts = [math.ceil(factor * x.phase.horizon.steps) for x in self.solved.linked.phases]
        sequence, known = self.measure_sequence(), KnownMotion.of_phases(self.solved)
        return replace(self, solved=self.stated.solve(sequence, known, steps=counts))

    def _record_sequence(self) -> dict[str, Any]:
        """Return the attributes that say what contacts do; none of a motion without any."""
        if not any(x.modes for x in self.sequence):
            return {"stationarity": "stationary: no direction lowers the cost to first order"}
        return {
            "stationarity": f"stationary in its sequence of contact; {self._describe_trials()}",
            "contact_sequence": describe_sequence(self.sequence, self.in_steps.dynamics),
            "sequences_tried": self.tried,
            "borders": self.solved.borders,
        }

    def _describe_trials(self) -> str:
        """Return in words what is known of other sequences."""
        if self.stopped:
            return "interrupted while others were tried"
        if not self.tried:
            return "no other one was tried"
        return f"of {self.tried} other ones none was found to cost less"

    def measure_sequence(self) -> tuple[ContactPhase, ...]:
        """Return the sequence with the durations of the optimum."""
        lengths = np.diff(self.solved.borders).tolist()
        pairs = zip(self.sequence, lengths, strict=True)
        return tuple(replace(part, duration=h) for part, h in pairs)


@dataclass(frozen=True)
class ExactContacts(Strategy[StatedProgram]):
    """Solves the motion again in the sequence of its contact modes, the times of changes free.

    Then neighbours of that sequence are tried, with a phase more or less, until none costs less.

    Parameters
    ----------
    sequence : sequence of ContactPhase, optional
        By default that of the optimum in steps. A given one is solved from the guess where there
        is no motion in steps; without one, pins without friction are then pressed all along.
    trials : int
        Greatest number of neighbours that are tried; with zero the sequence stays.
    gain : float
        Share of the cost by which a neighbour must cost less.
    least_steps : int
        Steps of a phase, however short it is.
    shortest : float
        Least duration of a phase, as a share of that of the motion; in a last solve a hundredth of
        this.
    """

    why = "steps place changes of contact at nodes, and are of first order there"
    at_last = True

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

    def applies(self, search: Search, found: FoundMotion) -> bool:
        del search
        if found.program.by_polynomials:
            return False
        fails = not found.is_solved and not is_interrupted()
        return found.is_solved or (fails and self._choose_without_steps(found) is not None)

    def solve(self, search: Search, found: FoundMotion) -> FoundMotion:
        x, p = found.program.transcription, found.program.p
        sequence, solution = self.sequence, found.end
        if not found.is_solved:
            sequence = self._choose_without_steps(found)
            solution = replace(solution, point=search.start)
        attrs = {"stop_reason": "", "title": ""}
        backend = found.program.solver.backend
        in_steps = record(x, solution, x.motion(solution, p), p, backend, attrs)
        try:
            motion = PhasedMotion(found.program, self.least_steps, self.shortest, search.spent)
            known = KnownMotion.of_steps(in_steps)
            if sequence is not None:
                first = self._solve(motion, tuple(sequence), known)
            else:
                given = motion.given_borders, find_touching(found.program.statement.conditions)
                recognizer = Recognizer(x.dynamics, in_steps, p, *given)
                terms = np.asarray(found.program.nlp.terms(solution.x, x.parameters(p))).ravel()
                enough = cap_exact_cost(float(terms[: len(motion.costs)].sum()))
                first = self._solve_first(motion, recognizer, known, enough)
            first = self._solve_from_fewer_steps(first, known)
        except NotExactError as error:
            return replace(found, not_exact=str(error))
        except KeyboardInterrupt:
            return replace(found, not_exact="interrupted before it was exact")
        best = self._improve(motion, first) if first.solved.solution.ok else first
        if not best.stopped and (fault := best.fault or motion.find_what_opens(best.solved)):
            main_fault = fault.partition("\n")[0]
            what = describe_sequence(best.sequence, x.dynamics)
            return replace(found, not_exact=f"{what}: {main_fault}" if what else main_fault)
        solution = search.with_all_stages(best.solved.solution)
        solved = replace(best.solved, solution=solution)
        return replace(found, exact=replace(best, solved=solved, has_steps=found.is_solved))

    def _choose_without_steps(self, found: FoundMotion) -> Sequence[ContactPhase] | None:
        """Return the sequence to try where there is no motion in steps; None for none.

        That given. Else pins without friction press all along: in steps they may cross their bores
        within one, to and fro, and no motion is found.
        """
        d, p = found.program.transcription.dynamics, found.program.p
        are_pins = bool(d.contact_names) and bool((np.asarray(d.clearance(p)) > 0).all())
        has_friction = np.asarray(d.friction(p)).any() or find_rubbing_joints(d)
        if self.sequence is not None or not are_pins or has_friction:
            return self.sequence
        return [ContactPhase({x.name: Sliding() for x in d.contacts}, 1.0)]

    def _solve_first(
        self, motion: PhasedMotion, recognizer: Recognizer, known: KnownMotion, enough: float
    ) -> OptimumInSequence:
        """Return the optimum in the sequence of the steps.

        Modes of a single step are left out of that, unless there is no solution without them, or
        none whose cost is low ``enough``. Where there is none even so, short phases are too.
        """
        solved, faults = dict[str, OptimumInSequence](), list[NotExactError]()

        def try_sequence(sequence: tuple[ContactPhase, ...]) -> bool:
            """Return whether no other sequence is to be tried after this one."""
            if (key := identify_sequence(sequence)) not in solved:
                solved[key] = self._solve(motion, sequence, known)
            return solved[key].cost <= enough or is_interrupted()

        done = False
        for briefest in (False, True):
            if not done:
                try:
                    done = try_sequence(recognizer.read_sequence(briefest=briefest))
                except NotExactError as error:
                    faults.append(error)
        if not solved:
            raise faults[0]
        whole = min(solved.values(), key=lambda found: found.cost)  # the first if all are infinite
        for sequence in [] if done else list_shorter([x.sequence for x in solved.values()]):
            with suppress(NotExactError):
                if try_sequence(sequence):
                    break
        best = min(solved.values(), key=lambda found: found.cost)
        is_better = np.isinf(whole.cost) or best.cost < whole.cost - WORTH * abs(whole.cost)
        return best if is_better else whole

    def _solve_from_fewer_steps(
        self, first: OptimumInSequence, known: KnownMotion
    ) -> OptimumInSequence:
        """Return an optimum that costs less, if there is one from fewer steps.

        Steps that do not resolve how a pin rolls round its bore have many optima. In fewer steps
        its force follows the motion of the links, and does from there.
        """
        if np.isinf(first.cost) or not first.alternates:
            return first
        counts = [x.phase.horizon.steps for x in first.solved.linked.phases]
        best = first
        for part in FEWER:
            steps = [max(self.least_steps, math.ceil(n / part)) for n in counts]
            if steps == counts or is_interrupted():
                break
            with suppress(NotExactError):
                coarse = self._solve(first.stated, first.sequence, known, steps=steps)
                if np.isinf(coarse.cost) or coarse.alternates:
                    continue
                found = KnownMotion.of_phases(coarse.solved)
                again = self._solve(first.stated, first.sequence, found, steps=counts)
                best = min(best, again, key=lambda x: x.cost)
                if not again.alternates:
                    break
        return best

    def _solve(
        self,
        motion: PhasedMotion,
        sequence: tuple[ContactPhase, ...],
        known: KnownMotion,
        briefly: bool = False,
        steps: Sequence[int] | None = None,
    ) -> OptimumInSequence:
        begin = thread_time()
        solved = motion.solve(sequence, known, briefly=briefly, steps=steps)
        cost = sum(sum_costs(solved).values()) if solved.solution.ok else np.inf
        return OptimumInSequence(sequence, solved, cost, motion, thread_time() - begin)

    def _improve(self, motion: PhasedMotion, first: OptimumInSequence) -> OptimumInSequence:
        """Return the best sequence that is reached from neighbour to neighbour, fully solved."""
        best, solved = first, {identify_sequence(first.sequence): False}
        try:
            while (better := self._find_better(motion, best, solved)) is not None:
                best = better
            if sum(solved.values()):  # again, not briefly, with steps as durations now ask for
                again = self._solve_again(motion, best)
                is_best = (
                    again.solved.solution.ok if best is first else self._is_better(again, first)
                )
                best = again if is_best else first
            if self._find_short(best):
                shorter = replace(motion, shortest=SHORTER_AT_LAST * self.shortest)
                again = self._solve_again(shorter, best)
                best = again if again.cost < best.cost else best
        except KeyboardInterrupt:  # while a sequence was stated
            best = first
        return replace(best, tried=sum(solved.values()), stopped=is_interrupted())

    def _solve_again(self, motion: PhasedMotion, best: OptimumInSequence) -> OptimumInSequence:
        return self._solve(motion, best.measure_sequence(), KnownMotion.of_phases(best.solved))

    def _find_better(
        self, motion: PhasedMotion, best: OptimumInSequence, solved: dict[str, bool]
    ) -> OptimumInSequence | None:
        """Return the first neighbour that is better; None if none is, or trials are over.

        Neighbours are added to ``solved``, by `identify_sequence`: True, or False where phases
        cannot state them.
        """
        now, known = best.measure_sequence(), KnownMotion.of_phases(best.solved)
        fewer = [y for k in self._find_short(best) if len(now) > 1 for y in without_phase(now, k)]
        for sequence in (*fewer, *with_new_phase(now, find_at_borders(best.solved))):
            key = identify_sequence(sequence)
            if key in solved or sum(solved.values()) >= self.trials or is_interrupted():
                continue
            solved[key] = False
            try:
                other = self._solve(motion, sequence, known, briefly=True)
            except NotExactError:
                continue
            solved[key] = True
            if self._is_better(other, best):
                return other
        return None

    def _is_better(self, other: OptimumInSequence, now: OptimumInSequence) -> bool:
        """Return whether a motion costs enough less than another.

        Each phase brings nodes, which alone lower the cost a little. So with one more that hardly
        lasts it must gain ``shortest`` in place of ``gain``, with one less it may lose as much.
        """
        added = len(self._find_short(other)) - len(self._find_short(now))
        least_gain = np.sign(added) * self.shortest if added else self.gain
        return bool(other.cost < now.cost - least_gain * abs(now.cost))

    def _find_short(self, motion: OptimumInSequence) -> list[int]:
        """Return the phases that last at most twice the shortest duration."""
        lengths = np.diff(motion.solved.borders)
        return np.flatnonzero(lengths <= 2 * self.shortest * lengths.sum()).tolist()


PLAN = IN_STEPS.then(ExactContacts())
"""The plan of `optimize`: a motion in steps, and at last optima through contact made exact."""
