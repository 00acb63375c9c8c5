"""The strategy for joints with dry friction that rest, where smoothed friction creeps.

Below the speed up to which the grid smooths friction creeping costs next to nothing, so an optimum
creeps where a joint should rest. From there which joint rests in which steps is taken as known, and
which way the others slide: in that branch friction is exact, and its best motion is found with no
homotopy.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from nsopt.contact_modes import spans
from nsopt.interrupt import is_interrupted
from nsopt.mpcc import AT_ONCE, BESIDE
from nsopt.trajectory.search.found import Found, Motion
from nsopt.trajectory.search.keep_limits import KeepLimits
from nsopt.trajectory.search.program import StatedProgram
from nsopt.trajectory.search.strategy import Search, Strategy
from nsopt.trajectory.smoothing.dry_friction import with_exact_sign
from nsopt.trajectory.transcription.base import Array
from nsopt.trajectory.transcription.collocation import Collocation
from nsopt.trajectory.transcription.kinds import as_polynomials
from nsopt.trajectory.transcription.resting import RestingCollocation, friction_columns

CREEPS = 0.7
"""Of the speed up to which friction is smoothed, the mean speed in a step below which a joint that
moves faster elsewhere creeps there."""

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


@dataclass(frozen=True)
class RestingJoints(Strategy[StatedProgram]):
    """Lets joints rest that creep, with exact friction, where that costs less.

    Trials are solved roughly, to be compared; the best of them then to its end.

    Parameters
    ----------
    notable : float
        Of the cost by the exact sign of friction, what smoothing leaves out from which rests are
        sought.
    some : float
        The same, from which joints that have come to rest where they were to slide are taken to
        rest.
    speeds : tuple of float
        Of the speed up to which friction is smoothed, mean speeds of a joint that creeps all along,
        once it rests for the other part of the time; taken in turn while the cost falls.
    """

    why = "smoothed friction lets joints creep at next to no cost where they should rest"

    notable: float = 0.1
    some: float = 0.01
    speeds: tuple[float, ...] = (1.0, 0.5, 0.25)

    def applies(self, search: Search, found: Motion) -> bool:
        del search
        smoothed = found.is_good and found.program.is_smoothed and not is_interrupted()
        return smoothed and measure_left_out(found) > self.notable

    def solve(self, search: Search, found: Motion) -> Motion:
        best, x = found, as_polynomials(found.program.transcription)
        assert x is not None
        for speed in self.speeds:
            before = best
            rests = RestingCollocation.of(x, find_modes(x, found.end.x, speed))
            if not rests.is_alike(best.program.transcription):
                best = _better(best, _solve_roughly(search, rests, found))
            if is_interrupted() or (best is before and best is not found):
                break
        best, rough = found, best
        while rough is not found and not is_interrupted():
            before, best = best, _better(best, _solve_to_end(search, rough))
            if best is before or not measure_left_out(best) > self.some:
                break
            rests = halt(best)
            if rests.is_alike(best.program.transcription):
                break
            rough = _solve_roughly(search, rests, best)
        return best


def exact_cost(found: Motion) -> tuple[float, float]:
    """Return the whole cost by the exact sign of friction, and as the program has it."""
    x, nlp, p = found.program.transcription, found.program.nlp, found.program.p
    terms = np.asarray(nlp.terms(found.end.x, x.parameters(p))).ravel()
    costs = {str(k): float(value) for k, value in enumerate(terms)}
    sharp = with_exact_sign(x, nlp, found.end.x, p, costs)
    return sum(sharp.values()), float(terms.sum())


def measure_left_out(found: Motion) -> float:
    """Return how much a program leaves out of the cost by the exact sign, over that cost."""
    sharp, known = exact_cost(found)
    return (sharp - known) / max(abs(sharp), TINY)


def cheaper(one: Motion, other: Motion) -> Motion:
    """Return the second motion where it is good and costs less by the exact sign of friction."""
    less = other.is_good and (not one.is_good or exact_cost(other)[0] < exact_cost(one)[0])
    return other if less else one


def _better(one: Motion, other: Motion) -> Motion:
    """Return the second motion where it is cheaper, and its steps are resolved."""
    better = cheaper(one, other) is other and other.program.is_resolved(other.end)
    return other if better else one


def _solve_roughly(search: Search, rests: RestingCollocation, near: Motion) -> Motion:
    """Return a rough motion of known modes near another."""
    now = near.program
    brief = replace(now.solver, backend=now.solver.backend.brief)
    other = now.with_motion(rests, now.tie, brief)
    beside = other.program.rough.restate(other.nlp, BESIDE)
    return Found(other, search.solve(other, near.end.point, by=beside))


def _solve_to_end(search: Search, rough: Motion) -> Motion:
    """Return a rough motion solved to its end, its limits kept between nodes."""
    now, keep = rough.program, search.plan.find(KeepLimits)
    found = Found(now, search.solve(now, rough.end.point, by=now.near(AT_ONCE)))
    return keep.solve(search, found) if keep and keep.applies(search, found) else found


def find_modes(x: Collocation, unknowns: Array, speed: float) -> Array:
    """Return `RestingCollocation.modes` of a motion with smoothed friction.

    A joint rests where it creeps for longer than it takes to stop and to start. Of a stretch in
    one direction that creeps for most of its way, all is rest but the steps in which it moves most.

    Parameters
    ----------
    x : Collocation
    unknowns : (size,)
    speed : float
        Of the speed up to which friction is smoothed, see `RestingJoints`.
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


def halt(motion: Motion) -> RestingCollocation:
    """Return a motion in which joints rest that have come to rest where they were to slide."""
    x = as_polynomials(motion.program.transcription)
    assert x is not None
    assert x.friction_modes is not None
    fine, found = x.trajectory(motion.end.x)[1], x.friction_modes.copy()
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
