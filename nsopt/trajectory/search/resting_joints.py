"""The strategy for joints with dry friction that rest, where smoothed friction creeps.

A joint's creep is the speed up to which the grid smooths its friction. Slower motion costs next to
nothing, so in an optimum a joint creeps where it should rest. Which joints rest in which steps, and
which way the others slide, is read off that optimum and held: friction is then exact, and the best
motion with these modes is found without a homotopy.

Measured in docs/measured/trajectory.md, "Dry friction of joints with drives".
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from nsopt.arrays import Array
from nsopt.contact_modes import spans
from nsopt.interrupt import is_interrupted
from nsopt.mpcc import AT_ONCE, BESIDE, Solver
from nsopt.trajectory.search.keep_limits import KeepLimits
from nsopt.trajectory.search.program import StatedProgram
from nsopt.trajectory.search.strategy import Found, FoundMotion, Search, Strategy
from nsopt.trajectory.smoothing.dry_friction import sum_exact_costs
from nsopt.trajectory.transcription.collocation import Collocation
from nsopt.trajectory.transcription.kinds import as_polynomials
from nsopt.trajectory.transcription.resting import RestingCollocation, find_friction_columns

CREEPING = 0.7  # times a joint's creep: a slower mean speed in a step is creeping
FAST_SHARE = 0.6  # of the way of a stretch must be faster than creeping, or all of it is creeping
AT_REST = 1e-3  # times a joint's creep: a speed that counts as zero
FEWEST = 4  # steps in which a joint can start, move and stop
STOPPING = 1.5  # times the steps to stop and start again: so many slow steps in a row are only that
TINY = 1e-300  # a divisor in place of zero
STRAY = 1e-6  # times the range of the joint that moves most: a way that counts as none
WAVERING = 0.02  # times a joint's longest way in one direction: a shorter one counts as rest


@dataclass(frozen=True)
class RestingJoints(Strategy[StatedProgram]):
    """Lets joints rest that creep, with exact friction, where that costs less.

    Trials are solved roughly, to be compared; the best of them then to its end.
    """

    why = "smoothed friction lets joints creep at next to no cost where they should rest"

    begin_above: float = 0.1  # share of the exact cost that smoothing leaves out: rests are sought
    go_on_above: float = 0.01  # the same: joints that have stopped, where they slid, are held too
    # Shares of the creep: a joint goes the way of a stretch that it creeps along at this mean speed
    # and rests for the other part of the time; tried in turn while the cost falls.
    speeds: tuple[float, ...] = (1.0, 0.5, 0.25)

    def applies(self, search: Search, found: FoundMotion) -> bool:
        del search
        is_smoothed = found.is_good and found.program.is_smoothed and not is_interrupted()
        return is_smoothed and measure_left_out(found) > self.begin_above

    def solve(self, search: Search, found: FoundMotion) -> FoundMotion:
        best, x = found, as_polynomials(found.program.transcription)
        assert x is not None
        for speed in self.speeds:  # rough trials
            before = best
            rests = RestingCollocation.of(x, find_modes(x, found.end.x, speed))
            if not rests.is_alike(best.program.transcription):
                best = _choose_better(best, _solve_roughly(search, rests, found))
            if is_interrupted() or (best is before and best is not found):
                break
        best, rough, solver = found, best, found.program.solver
        while rough is not found and not is_interrupted():  # the best one is solved to its end
            before, best = (
                best,
                _choose_better(best, _solve_to_end(search, rough, solver)),
            )
            if best is before or not measure_left_out(best) > self.go_on_above:
                break
            rests = rest_stopped_joints(best)
            if rests.is_alike(best.program.transcription):
                break
            rough = _solve_roughly(search, rests, best)
        return best


def measure_costs(found: FoundMotion) -> tuple[float, float]:
    """Return the sum of all costs, with exact friction and with smoothed friction."""
    x, nlp, p = found.program.transcription, found.program.nlp, found.program.p
    terms = np.asarray(nlp.terms(found.end.x, x.parameters(p))).ravel()
    return sum_exact_costs(x, nlp, found.end.x, p, len(terms)), float(terms.sum())


def measure_left_out(found: FoundMotion) -> float:
    """Return the share of the exact cost that smoothing leaves out."""
    exact, smoothed = measure_costs(found)
    return (exact - smoothed) / max(abs(exact), TINY)


def _choose_better(one: FoundMotion, other: FoundMotion) -> FoundMotion:
    """Return the other motion if it is good, of less exact cost, and its steps are resolved."""
    costs_less = other.is_good and (
        not one.is_good or measure_costs(other)[0] < measure_costs(one)[0]
    )
    return other if costs_less and other.program.is_resolved(other.end) else one


def _solve_roughly(search: Search, rests: RestingCollocation, near: FoundMotion) -> FoundMotion:
    """Return a rough motion with the modes of ``rests``, from another motion."""
    program = near.program
    brief = replace(program.solver, backend=program.solver.backend.brief)
    other = program.with_transcription(rests, program.tie, brief)
    beside = other.structured.rough.restate(other.nlp, BESIDE)
    return Found(other, search.solve(other, near.end.point, by=beside))


def _solve_to_end(search: Search, rough: FoundMotion, solver: Solver) -> FoundMotion:
    """Return a rough motion solved to its end, with limits between nodes enforced."""
    x, keep = rough.program.transcription, search.plan.find(KeepLimits)
    program = rough.program.with_transcription(x, rough.program.tie, solver)
    found = Found(program, search.solve(program, rough.end.point, by=program.restate_for(AT_ONCE)))
    return keep.solve(search, found) if keep and keep.applies(search, found) else found


def find_modes(x: Collocation, unknowns: Array, speed: float) -> Array:
    """Return `RestingCollocation.modes` of a motion with smoothed friction.

    The motion of each joint is divided into stretches in one direction. A joint rests where it
    creeps for longer than it takes to stop and to start. Of a stretch that it mostly creeps along,
    all is rest but the steps in which it moves most; ``speed``, of `RestingJoints.speeds`, tells
    how many.
    """
    nodes, fine = x.trajectory(unknowns)
    h = nodes.duration / x.horizon.steps
    modes = np.full((x.horizon.steps, len(x.creep)), np.nan)
    stray = STRAY * float(np.ptp(fine.q, axis=0).max())
    for k, column in enumerate(find_friction_columns(x)):
        creep = x.creep[k]
        if not creep:
            continue
        v = np.stack([fine.v[:-2:2, column], fine.v[1::2, column], fine.v[2::2, column]])
        mean = np.array([1, 4, 1]) @ v / 6  # (steps,) mean velocities, by Simpson's rule
        moves = np.zeros(len(mean), dtype=bool)
        edges = np.diff(np.sign(mean), prepend=9, append=9)  # 9 is no sign, so both ends are edges
        stretches = list(pairwise(np.flatnonzero(edges).tolist()))
        ways = [h * np.abs(mean[begin:end]).sum() for begin, end in stretches]  # [rad, m]
        least = max(stray, WAVERING * max(ways))
        for (begin, end), way in zip(stretches, ways, strict=True):
            speeds = np.abs(mean[begin:end])
            if way <= least:
                continue
            fast = _find_moving(speeds, CREEPING * creep)
            is_creeping = speeds[fast].sum() < FAST_SHARE * speeds.sum()
            moves[begin:end] = _find_fastest(speeds, speed * creep) if is_creeping else fast
        # A step in which it turns round has no mode: its friction stays smoothed.
        reverses = (v.max(axis=0) > stray / h) & (v.min(axis=0) < -stray / h)
        modes[:, k] = np.where(moves, np.where(reverses, np.nan, np.sign(mean)), 0.0)
    return modes


def rest_stopped_joints(motion: FoundMotion) -> RestingCollocation:
    """Return a motion in which joints are held in the steps in which they did not move, too."""
    x = as_polynomials(motion.program.transcription)
    assert x is not None
    assert x.friction_modes is not None
    fine, modes = x.trajectory(motion.end.x)[1], x.friction_modes.copy()
    for k, column in enumerate(find_friction_columns(x)):
        speeds = np.abs(fine.v[:, column])
        largest = np.maximum(np.maximum(speeds[:-2:2], speeds[1::2]), speeds[2::2])  # (steps,)
        modes[largest <= AT_REST * x.creep[k], k] = 0.0 if x.creep[k] else np.nan
    return RestingCollocation.of(x, modes)


def _find_moving(speeds: Array, slow: float) -> NDArray[np.bool_]:
    """Return in which steps a joint is fast, or slow only to stop and start again, (n,)."""
    moves = speeds >= slow
    change = np.abs(np.diff(speeds))
    for begin, end in spans(~moves):
        # Steps from the speed of the fast step on either side to rest, at the rate of change there.
        stopping = 0.0
        for fast, beside in ((begin - 1, begin), (end, end - 1)):
            if 0 <= fast < len(speeds):
                stopping += speeds[fast] / max(change[min(fast, beside)], TINY)
        if end - begin <= STOPPING * stopping:
            moves[begin:end] = True
    return moves


def _find_fastest(speeds: Array, speed: float) -> NDArray[np.bool_]:
    """Return the fastest steps in a row, (n,): as many as the whole way takes at ``speed``."""
    count = min(max(FEWEST, int(np.ceil(speeds.sum() / speed))), len(speeds))
    first = int(np.argmax(np.convolve(speeds, np.ones(count), "valid")))
    moves = np.zeros(len(speeds), dtype=bool)
    moves[first : first + count] = True
    return moves
