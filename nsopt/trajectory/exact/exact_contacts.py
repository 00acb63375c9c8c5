"""The strategy that makes an optimum in steps exact: `ExactContacts`.

It reads off the sequence of contact modes, solves the motion in these phases by polynomials, and
then tries neighbours of that sequence. Closed loops and free bodies without contacts are one phase.
`PLAN`, the plan of `optimize`, ends with it.
Measured in docs/measured/contact_optima.md, "Exact through contact".
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from time import thread_time

import numpy as np

from nsopt.caveats import cap_exact_cost
from nsopt.interrupt import is_interrupted
from nsopt.mechanics import Dynamics
from nsopt.trajectory.exact.borders import find_at_borders
from nsopt.trajectory.exact.division import find_touching
from nsopt.trajectory.exact.known_motion import KnownMotion
from nsopt.trajectory.exact.motion import PhasedMotion, sum_costs
from nsopt.trajectory.exact.optimum_in_sequence import OptimumInSequence
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
from nsopt.trajectory.phases import Sliding
from nsopt.trajectory.search import (
    IN_STEPS,
    FoundMotion,
    Search,
    StatedProgram,
    Strategy,
)
from nsopt.trajectory.smoothing.dry_friction import find_rubbing_joints, sum_exact_costs

SHORTER_AT_LAST = 1e-2  # times `ExactContacts.shortest`, in the last solve if a phase is that short

DOUBLINGS = 2  # of the steps, at most, where they leave a fault such as steps that are not resolved
FEWER = (2, 4, 8)  # times fewer steps, from which a motion is tried whose forces alternate

WORTH = 1e-2
"""Share of its cost that a sequence loses by what its short phases are wrong about.

They are tried without where it costs a tenth too much; with less the trials of neighbours go on
from the sequence that the steps have.
"""


@dataclass(frozen=True)
class ExactContacts(Strategy[StatedProgram]):
    """Solves the motion again in the sequence of its contact modes, the times of changes free.

    Then neighbours of that sequence are tried, with a phase more or less, until none costs less.
    At last phases whose steps are too few are solved in twice as many, and twice that.

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
    joints : int
        Greatest number of joints with dry friction whose sequence is sought where there is no
        contact. One takes 1.4 s and two 2 s; the seven of an arm took 92 s, for 5 % more than the
        best in steps.
    """

    why = "steps place changes of contact at nodes, and are of first order there"
    at_last = True

    sequence: Sequence[ContactPhase] | None = None
    trials: int = 20
    gain: float = 1e-6
    least_steps: int = 6
    shortest: float = 1e-4
    joints: int = 2

    def __post_init__(self) -> None:
        least = min(self.trials, self.least_steps - 1, self.gain, self.joints)
        if least < 0 or not 0 < self.shortest <= 0.1:
            raise ValueError(
                "ExactContacts needs least_steps of 1 or more, trials, gain and joints of 0 or "
                f"more, and shortest above 0 and up to 0.1: got {self.least_steps}, {self.trials}, "
                f"{self.gain:g}, {self.joints} and {self.shortest:g}"
            )

    def check(self, dynamics: Dynamics) -> None:
        if self.sequence is not None:
            check_sequence(self.sequence, dynamics)

    def applies(self, search: Search, found: FoundMotion) -> bool:
        del search
        joints = find_rubbing_joints(found.program.transcription.dynamics)
        is_sought = self.sequence is not None or 0 < len(joints) <= self.joints
        if found.program.by_polynomials and not is_sought:
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
            known, enough = KnownMotion.of_steps(in_steps), np.inf
            if sequence is not None:
                first = self._solve(motion, tuple(sequence), known)
            else:
                given = motion.given_borders, find_touching(found.program.statement.conditions)
                recognizer = Recognizer(x.dynamics, in_steps, p, *given)
                of_steps = found.program.nlp, solution.x, p
                enough = cap_exact_cost(sum_exact_costs(x, *of_steps, len(motion.costs)))
                first = self._solve_first(motion, recognizer, known, enough)
            first = self._solve_from_fewer_steps(first, known)
        except NotExactError as error:
            return replace(found, not_exact=str(error))
        except KeyboardInterrupt:
            return replace(found, not_exact="interrupted before it was exact")
        best = first
        if first.solved.solution.ok:
            best = self._resolve_steps(motion, self._improve(motion, first), enough)
        if not best.stopped and best.fault:
            main_fault = best.fault.partition("\n")[0]
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
        for found in [] if done else list(solved.values()):
            with suppress(NotExactError):
                again = self._solve_from_held(found, known)
                solved[f"{identify_sequence(again.sequence)} held"] = again
                if again.cost <= enough or is_interrupted():
                    break
        best = min(solved.values(), key=lambda found: found.cost)
        is_better = np.isinf(whole.cost) or best.cost < whole.cost - WORTH * abs(whole.cost)
        return best if is_better else whole

    def _solve_from_held(self, x: OptimumInSequence, known: KnownMotion) -> OptimumInSequence:
        """Return the optimum from that whose phases last as long as in steps.

        With times that are free from the start a phase may shrink to nothing on the way.
        """
        held = self._solve(x.stated, x.sequence, known, held=True)
        if np.isinf(held.cost):
            return held
        return self._solve(x.stated, x.sequence, KnownMotion.of_phases(held.solved))

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
                again = self._solve(first.stated, first.sequence, found, steps=counts, near=True)
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
        held: bool = False,
        near: bool = False,
    ) -> OptimumInSequence:
        begin = thread_time()
        solved = motion.solve(sequence, known, briefly=briefly, steps=steps, held=held, near=near)
        cost = sum(sum_costs(solved).values()) if solved.solution.ok else np.inf
        return OptimumInSequence(sequence, solved, cost, motion, thread_time() - begin)

    def _improve(self, motion: PhasedMotion, first: OptimumInSequence) -> OptimumInSequence:
        """Return the best sequence that is reached from neighbour to neighbour, fully solved."""
        best, reached, solved = first, [first], {identify_sequence(first.sequence): False}
        try:
            while (better := self._find_better(motion, reached[-1], solved)) is not None:
                reached.append(better)
            if sum(solved.values()):
                best = self._solve_in_full(motion, reached)
            if self._find_short(best):
                shorter = replace(motion, shortest=SHORTER_AT_LAST * self.shortest)
                again = self._solve_again(shorter, best)
                best = again if again.cost < best.cost else best
        except KeyboardInterrupt:  # while a sequence was stated
            best = first
        return replace(best, tried=sum(solved.values()), stopped=is_interrupted())

    def _resolve_steps(
        self, motion: PhasedMotion, best: OptimumInSequence, enough: float
    ) -> OptimumInSequence:
        """Return an optimum in twice as many steps, again and again, while its own have a fault.

        One that costs more than ``enough`` has gone to another motion, and is none.
        """
        with suppress(NotExactError, KeyboardInterrupt):
            for _ in range(DOUBLINGS):
                if best.stopped or is_interrupted() or not best.fault:
                    break
                counts = [2 * x.phase.horizon.steps for x in best.solved.linked.phases]
                known = KnownMotion.of_phases(best.solved)
                finer = self._solve(motion, best.measure_sequence(), known, steps=counts, near=True)
                if np.isinf(finer.cost) or finer.cost > enough:
                    break
                best = replace(finer, tried=best.tried)
        return replace(best, stopped=is_interrupted())

    def _solve_in_full(
        self, motion: PhasedMotion, reached: Sequence[OptimumInSequence]
    ) -> OptimumInSequence:
        """Return the last of those reached that is better than the first when solved to the end.

        Phases have steps by their durations now.
        """
        first = reached[0]
        for x in reversed(reached):
            again = self._solve_again(motion, x)
            if again.solved.solution.ok if x is first else self._is_better(again, first):
                return again
        return first

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
