"""Joints with dry friction that rest for a part of the motion, where smoothed friction creeps.

Below the speed up to which the grid smooths friction creeping costs next to nothing, so an optimum
creeps where a joint should rest. From there which joint rests in which steps is taken as known, and
which way the others slide: in that branch friction is exact, and its best motion is found with no
homotopy.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from nsopt.contact_modes import spans
from nsopt.mpcc import Solution
from nsopt.trajectory.dry_friction import with_exact_sign
from nsopt.trajectory.stated_program import StatedProgram
from nsopt.trajectory.tightening import KeptMotion
from nsopt.trajectory.transcription.base import Array
from nsopt.trajectory.transcription.collocation import Collocation
from nsopt.trajectory.transcription.resting import RestingCollocation, friction_columns

NOTABLE = 0.1
"""Of the cost by the exact sign of friction, what smoothing leaves out from which rests are sought.
"""

SOME = 0.01
"""The same, from which joints that have come to rest where they were to slide are taken to rest."""

CLEAR = 0.01
"""Part of the cost of a fair solution that a motion with rests must save for the fair one not to be
solved further."""

CREEPS = 0.7
"""Of the speed up to which friction is smoothed, the mean speed in a step below which a joint that
moves faster elsewhere creeps there."""

SPEEDS = (1.0, 0.5, 0.25)
"""Of the speed up to which friction is smoothed, mean speeds of a joint that creeps all along, once
it rests for the other part of the time; taken in turn while the cost falls."""

CREPT = 0.6
"""Of the way of a stretch in one direction, the part that it goes at more than a creep, below which
it creeps for most of it."""

HALTED = 1e-3
"""Of the speed up to which friction is smoothed, what joints move by that are at rest."""

FEWEST = 4
"""Steps in which a joint can start, move and stop."""

STOPS = 1.5
"""Times what a joint takes to stop and to start, up to which it does but that and does not creep.
"""

TINY = 1e-300
"""A change of speed that is none."""

STRAY = 1e-6
"""Of the way of the fastest joint, one that is none [rad, m]."""

PART = 0.02
"""Part of the longest way of a joint in one direction, up to which a shorter way counts as rest:
the joint wavers there while it creeps."""


class Found(NamedTuple):
    """A motion: its program, its solution, and what is known of it between nodes."""

    program: StatedProgram
    solution: Solution
    kept: KeptMotion | None

    def exact(self, p: Array) -> tuple[float, float]:
        """Return the whole cost by the exact sign of friction, and as the program has it."""
        x, nlp, unknowns = self.program.transcription, self.program.nlp, self.end.x
        terms = np.asarray(nlp.terms(unknowns, x.parameters(p))).ravel()
        costs = {str(k): float(value) for k, value in enumerate(terms)}
        sharp = with_exact_sign(x, nlp, unknowns, p, costs)
        return sum(sharp.values()), float(terms.sum())

    @property
    def end(self) -> Solution:
        """The solution, with its limits kept between nodes where they are known."""
        return self.solution if self.kept is None else self.kept.solution

    @property
    def good(self) -> bool:
        """Whether it is a solution that keeps its limits between nodes."""
        return self.end.ok and (self.kept is None or not self.kept.fault)

    def having_spent(self, last: Found) -> Found:
        """Return it with the iterations and the time of all that was solved, to the last."""
        if last is self:
            return self
        # What is found stays so where a trial after it was interrupted.
        runs = tuple(replace(run, interrupted=self.end.interrupted) for run in last.end.stages)
        solution = replace(self.solution, stages=runs, time=last.end.time)
        kept = self.kept
        if kept is not None:
            ended = replace(kept.solution, stages=runs, time=last.end.time)
            kept = kept._replace(solution=ended)
        return Found(self.program, solution, kept)


def cheaper(one: Found, other: Found, p: Array) -> Found:
    """Return the second motion where it is good and costs less by the exact sign of friction."""
    less = other.good and (not one.good or other.exact(p)[0] < one.exact(p)[0])
    return other if less else one


def clearly_cheaper(one: Found, other: Found, p: Array) -> bool:
    """Return whether a second motion is good and costs clearly less than a fair one."""
    return other is not one and other.good and other.exact(p)[0] < (1 - CLEAR) * one.exact(p)[0]


def rests_sought(found: Found, p: Array) -> bool:
    """Return whether friction that is smoothed leaves out a notable part of the cost."""
    x = found.program.transcription
    smoothed = found.good and isinstance(x, Collocation) and any(x.creep)
    return smoothed and _left_out(found, p) > NOTABLE


def halts_sought(found: Found, p: Array) -> bool:
    """Return whether the sign of joints that have come to rest leaves out some of the cost."""
    return _left_out(found, p) > SOME


def _left_out(found: Found, p: Array) -> float:
    """Return how much a program leaves out of the cost by the exact sign, over that cost."""
    sharp, known = found.exact(p)
    return (sharp - known) / max(abs(sharp), TINY)


def modes(x: Collocation, unknowns: Array, speed: float) -> Array:
    """Return `RestingCollocation.modes` of a motion with smoothed friction.

    A joint rests where it creeps for longer than it takes to stop and to start. Of a stretch in
    one direction that creeps for most of its way, all is rest but the steps in which it moves most.

    Parameters
    ----------
    x : Collocation
    unknowns : (size,)
    speed : float
        One of `SPEEDS`.
    """
    nodes, fine = x.trajectory(unknowns)
    h = nodes.duration / x.horizon.steps
    found = np.full((x.horizon.steps, len(x.creep)), np.nan)
    stray = STRAY * float(np.ptp(fine.q, axis=0).max())
    for k, column in enumerate(friction_columns(x)):
        creep = x.creep[k]
        if not creep:
            continue
        v = np.stack([fine.v[:-2:2, column], fine.v[1::2, column], fine.v[2::2, column]])
        mean = np.array([1, 4, 1]) @ v / 6
        moves, edges = np.zeros(len(mean), dtype=bool), np.diff(np.sign(mean), prepend=9, append=9)
        stretches = list(pairwise(np.flatnonzero(edges).tolist()))
        ways = [h * np.abs(mean[begin:end]).sum() for begin, end in stretches]
        least = max(stray, PART * max(ways))
        for (begin, end), way in zip(stretches, ways, strict=True):
            speeds = np.abs(mean[begin:end])
            if way <= least:
                continue
            fast = _moving(speeds, CREEPS * creep)
            creeps = speeds[fast].sum() < CREPT * speeds.sum()
            moves[begin:end] = _most(speeds, speed * creep) if creeps else fast
        turns = (v.max(axis=0) > stray / h) & (v.min(axis=0) < -stray / h)
        found[:, k] = np.where(moves, np.where(turns, np.nan, np.sign(mean)), 0.0)
    return found


def halted(motion: Found) -> RestingCollocation:
    """Return a motion in which joints rest that have come to rest where they were to slide."""
    x = motion.program.transcription
    assert isinstance(x, RestingCollocation)
    fine, found = x.trajectory(motion.end.x)[1], x.modes.copy()
    for k, column in enumerate(friction_columns(x)):
        speeds = np.abs(fine.v[:, column])
        still = np.maximum(np.maximum(speeds[:-2:2], speeds[1::2]), speeds[2::2])
        found[still <= HALTED * x.creep[k], k] = 0.0 if x.creep[k] else np.nan
    return RestingCollocation.of(x, found)


def _moving(speeds: Array, creep: float) -> NDArray[np.bool_]:
    """Return in which steps a joint does not creep, or but starts and stops, (n,)."""
    moves = speeds >= creep
    change = np.abs(np.diff(speeds))
    for begin, end in spans(~moves):
        # Steps that it takes from the fast steps beside to rest, as its speed changes there.
        stops = 0.0
        for fast, slow in ((begin - 1, begin), (end, end - 1)):
            if 0 <= fast < len(speeds):
                stops += speeds[fast] / max(change[min(fast, slow)], TINY)
        if end - begin <= STOPS * stops:
            moves[begin:end] = True
    return moves


def _most(speeds: Array, creep: float) -> NDArray[np.bool_]:
    """Return the steps in which a joint that creeps moves most, as many as its way takes, (n,)."""
    count = min(max(FEWEST, int(np.ceil(speeds.sum() / creep))), len(speeds))
    first = int(np.argmax(np.convolve(speeds, np.ones(count), "valid")))
    moves = np.zeros(len(speeds), dtype=bool)
    moves[first : first + count] = True
    return moves
