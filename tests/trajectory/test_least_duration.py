"""A motion that is given too little time is told how much it takes."""

import re

import pytest

from nsopt.trajectory import (
    ActuatorLimits,
    DriveWithin,
    Duration,
    Effort,
    EndAt,
    Horizon,
    Quintic,
    StartAt,
    Within,
    optimize,
)
from tests.trajectory.mechanisms import cart

ENDS = [StartAt([0], [0]), EndAt([1], [0])]


def told(duration, *limits, d=None):
    result = optimize(d or cart(), Horizon(duration, 20), [Effort()], [*ENDS, *limits], Quintic())
    assert not result.completed
    says = r"the duration of .* s is too short: the fastest .* takes (\S+) s\n- conditions"
    found = re.match(says, result.stop_reason)
    return None if found is None else float(found.group(1))


@pytest.mark.slow
def test_the_least_duration_of_a_force_and_of_a_speed():
    """1 kg over 1 m with 1 N: 2 s; with at most 0.8 m/s too: 0.8 + 1/0.8 s.

    What is found is more by the step that a force takes to change.
    """
    assert 2 <= told(1.5, DriveWithin("rail", -1, 1)) < 2.02
    assert 2.05 <= told(1.9, ActuatorLimits(), d=cart(effort=1.0, velocity=0.8)) < 2.07


@pytest.mark.slow
def test_where_time_does_not_help_none_is_told():
    assert told(2.5, DriveWithin("rail", 0.01, 1)) is None
    held = Within("rail.distance", -1.0, 2.0), DriveWithin("rail", 0, 0)
    assert told(2.5, *held) is None


def test_a_slow_guess_does_not_slow_the_fastest_motion():
    """Least time over 1 m with 1 N, 2 s, from a guess ten times as slow."""
    result = optimize(
        cart(),
        Horizon((0.5, 40.0), 40),
        [Duration()],
        [*ENDS, DriveWithin("rail", -1, 1)],
        Quintic(duration=20.0),
    )
    assert result.completed, result.stop_reason
    assert 2 <= result.objective < 2.02
