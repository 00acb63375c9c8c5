"""The optimum in a sequence of contact, as it is found and recorded: `OptimumInSequence`."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from nsopt.arrays import Array
from nsopt.result import Result
from nsopt.trajectory.exact.joined import join_phases, measure_alternation_in_bores
from nsopt.trajectory.exact.known_motion import KnownMotion
from nsopt.trajectory.exact.motion import PhasedMotion, sum_costs
from nsopt.trajectory.exact.sequence import ContactPhase, describe_sequence
from nsopt.trajectory.optimum import record
from nsopt.trajectory.phases import SolvedPhases, join_cone_excess, record_phases
from nsopt.trajectory.search import ExactMotion
from nsopt.trajectory.smoothing.dry_friction import read_recorded_cost
from nsopt.trajectory.smoothing.small_costs import record_tie
from nsopt.trajectory.transcription.base import TranscribedMotion, Transcription
from nsopt.trajectory.verification.contacts import find_closing_at_end

SHARED_ATTRS = ("title", "solver", "compile_time", "search", "guess_cost", "guess_violation")
"""Attributes that the exact optimum takes from the optimum in steps."""

TRIALS_INTERRUPTED = "interrupted while other sequences were tried; this motion is a solution"

ALTERNATES = 0.05
"""Part of the force in a bore that alternates, from which it is solved from fewer steps too."""


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

    @cached_property
    def fault(self) -> str:
        """Why it is no solution, or what its steps do not resolve; empty otherwise."""
        return record_phases(self.solved, False, "").stop_reason or self.stated.find_what_opens(
            self.solved
        )

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
            "objective_in_steps": read_recorded_cost(attrs) if self.has_steps else np.nan,
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
