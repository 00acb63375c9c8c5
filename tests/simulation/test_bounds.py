"""Step bounds: refusals, and an end that is met exactly whatever the steps chose before."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nsopt import Body, Mechanism, StepBounds, assemble, simulate

pytestmark = pytest.mark.unit


@pytest.mark.parametrize(
    ("h_min", "h_max", "says"),
    [
        (0.0, 1.0, "h_min.*0"),
        (-1.0, 1.0, "h_min.*-1"),
        (1.0, np.inf, "h_max.*inf"),
        (np.nan, 1.0, "h_min.*nan"),
        (2.0, 1.0, "h_min = 2 > h_max = 1.*exchange"),
    ],
)
def test_impossible_bounds_are_refused(h_min, h_max, says):
    with pytest.raises(ValueError, match=says):
        StepBounds(h_min, h_max)


@pytest.mark.parametrize(("h", "duration"), [(1e-300, 1.0), (1e-12, 1.0), (1e-3, 1e9)])
def test_runs_that_never_end_are_refused(h, duration):
    d = assemble(Mechanism([Body("ball", 1.0, point_mass=True)]))
    with pytest.raises(ValueError, match=r"steps of h_max = .* are .* steps, more than 1e\+10"):
        simulate(d, duration=duration, steps=StepBounds(h, h), progress=False)


@given(
    h_max=st.floats(1e-4, 1e-2),
    ratio=st.floats(0.1, 1.0),
    total=st.floats(1e-3, 0.2),
    choices=st.lists(st.floats(0, 1), min_size=1, max_size=5),
)
def test_steps_end_on_time_within_bounds(h_max, ratio, total, choices):
    steps = StepBounds(ratio * h_max, h_max)
    taken, t = [], 0.0
    while total - t > 1e-6 * h_max:
        now = steps.until_end(total - t)
        choice = choices[len(taken) % len(choices)]
        taken.append(now.h_min + choice * (now.h_max - now.h_min))
        t += taken[-1]
    assert t == pytest.approx(total, abs=1e-6 * h_max)
    assert max(taken) <= h_max * (1 + 1e-5)
    assert all(h >= steps.h_min * (1 - 1e-5) for h in taken[:-1])


def test_the_last_steps_share_what_is_left():
    steps, t, taken = StepBounds(1e-4, 1e-3), 0.0, []
    while 0.0203 - t > 1e-12:
        taken.append(steps.until_end(0.0203 - t).h_max)
        t += taken[-1]
    assert len(taken) == 21
    assert np.all(np.abs(np.diff(taken)) < 0.08e-3)


def test_round_off_of_millions_of_steps_makes_no_sliver():
    """The last of 3e6 fixed steps share the round-off of their sum."""
    h, end, taken = 1e-4, 300.0, []
    t = float(np.cumsum(np.full(2_999_985, h))[-1])
    while end - t > 1e-6 * h:
        taken.append(StepBounds(h, h).until_end(end - t).h_max)
        t += taken[-1]
    assert len(taken) == 15
    assert np.array(taken) == pytest.approx(h, rel=1e-5)
