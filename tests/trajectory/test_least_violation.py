"""A failed solve says which conditions oppose each other, and that time is short where it is."""

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

from nsopt.problem import load_optimization
from nsopt.trajectory import (
    ActuatorLimits,
    Duration,
    Effort,
    EndAt,
    Horizon,
    MotionPhase,
    Quintic,
    StartAt,
    Sticking,
    Straight,
    Within,
    optimize_phases,
)
from nsopt.trajectory.diagnosis import least_violation
from nsopt.trajectory.transcription.collocation import Collocation
from tests.trajectory.mechanisms import cart
from tests.trajectory.test_phase_modes import block

LONGEST = "the longest allowed"


def halves(horizon, duration=(0.0, np.inf)):
    """1 kg over 1 m from rest to rest by 1 N, which takes 2 s, in two phases."""
    d = cart(effort=1.0)
    ends = [[StartAt([0], [0])], [EndAt([1], [0])]]
    guesses = [Straight([0], [0.5]), Straight([0.5], [1])]
    stated = zip(ends, guesses, strict=True)
    phases = [
        MotionPhase(d, horizon, [Duration()], [*c, ActuatorLimits()], guess) for c, guess in stated
    ]
    return optimize_phases(phases, duration=duration)


def test_phases_that_are_too_short_say_so():
    result = halves(Horizon((0.1, 0.95), 8))
    assert not result.completed
    for phase in result.phases:
        assert phase.stop_reason.startswith(f"the duration is {LONGEST}, 0.95 s: allow more")


def test_phases_that_are_too_short_together_say_so():
    result = halves(Horizon((0.1, 3.0), 8), duration=(0.5, 1.9))
    assert not result.completed
    first = result.stop_reason.splitlines()[0]
    assert first == f"the duration of all phases is {LONGEST}, 1.9 s: allow more"
    assert not any(LONGEST in x.stop_reason for x in result.phases)
    assert halves(Horizon((0.1, 3.0), 8), duration=(0.5, 2.1)).completed


def stuck(longest, steps, way):
    """A block stuck to the floor in two phases, the second of which is to end elsewhere."""
    still, ends = [0.0, 0.0], ([0, 0], [way, 0])
    horizon, modes = Horizon((0.2, longest), steps), {"floor": Sticking()}
    stated = zip([StartAt(ends[0], still), EndAt(ends[1], still)], ends, strict=True)
    phases = [
        MotionPhase(block(), horizon, [Effort()], [x], Quintic(y, y), modes=modes)
        for x, y in stated
    ]
    return optimize_phases(phases)


@pytest.mark.slow
@pytest.mark.parametrize("longest", [1.0, 10.0])
def test_what_sticks_does_not_go_elsewhere_however_long_it_takes(longest):
    """Its accelerations are zero in all steps but the last, in which the given end moves it."""
    assert stuck(longest, 6, 0.0).completed
    result = stuck(longest, 6, 1.0)
    assert not result.completed
    assert LONGEST not in result.stop_reason
    last = result.phases[1].stop_reason
    assert last.startswith("contact 'floor' is to stick, but slides by 1 m, most of it in step 6")


@pytest.mark.slow
def test_a_hop_without_a_flight_opposes_its_end():
    """The foot of `hopper` sticks all along, yet its body is to end upright 0.4 m on."""
    hop = load_optimization("hopper")
    start, end, _, limits = hop.conditions
    postures = [(0, 0.5, 0, 0, 0), (0.05, 0.46, 0.1, -0.26, -0.04), (0.4, 0.5, 0, 0, 0)]
    horizon, modes = Horizon((0.1, 0.3), 8), {"foot": Sticking()}
    phases = [
        MotionPhase(hop.dynamics, horizon, hop.costs, [x, limits], Quintic(*ends), modes=modes)
        for x, ends in zip((start, end), pairwise(postures), strict=True)
    ]
    result = optimize_phases(phases, duration=(0.2, 0.5))
    assert not result.completed
    assert LONGEST not in result.stop_reason
    told = [x.stop_reason.splitlines() for x in result.phases]
    start = "- no motion was found from this start, near which these oppose each other: "
    first, last = (next(y for y in lines if y.startswith(start)) for lines in told)
    assert "StartAt: base.x (must be 0) at t = 0 s" in first
    assert "multi_start" in first
    assert "EndAt: base.x (must be 0.4) at t = " in last
    assert told[1][0].startswith("conditions are violated")  # no drive is too weak for its posture
    assert "in conflict" not in result.stop_reason


def test_what_is_left_is_what_the_nearest_motion_misses():
    """To be 1 m on and 0.5 m at most: half a metre is left, at the end, whatever the duration."""
    d, horizon = cart(effort=9.0), Horizon((0.5, 1.0), 8)
    end, within = EndAt([1], [np.nan]), Within("rail.distance", upper=0.5)
    x = Collocation(d, horizon, [Duration()], [StartAt([0], [np.nan]), end, within], ())
    nlp, start = x.nlp(), x.start_from(Straight([0], [1]))
    g = np.asarray(nlp.rows(start, d.values())).ravel()
    found = least_violation(nlp, start, d.values(), x.limits(), x.durations.tolist())
    assert found.left * nlp.violations(g).sum() == pytest.approx(0.5)
    assert not found.longer
    assert not found.opposed.size  # for from here all but this could be met
    near = replace(found, left=1.0)  # as at the nearest motion itself
    assert {("q", 0), ("q", 8), ("rail.distance", 8)} >= {nlp.label(int(k)) for k in near.opposed}
