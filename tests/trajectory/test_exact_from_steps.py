"""An exact optimum from one in few steps, where times that are free at once lead elsewhere."""

import numpy as np
import pytest

from nsopt import (
    GROUND,
    Actuator,
    Body,
    ContactLaw,
    Frame,
    Mechanism,
    PlaneContact,
    Revolute,
    assemble,
)
from nsopt.trajectory import IN_STEPS, Effort, EndAt, Horizon, Quintic, StartAt, optimize

START, END, DURATION = (-2.08, 0.22), (-1.06, -0.07), 0.89


def sweep(steps, **options):
    """Two links sweep through their lowest place; their tip meets a table on the way."""
    upper = Body("upper", 1.1, (0.02,) * 3, position=(0.25, 0, 0))
    fore = Body("fore", 0.6, (0.01,) * 3, position=(0.7, 0, 0))
    elbow = (0.5, 0, 0)
    joints = [
        Revolute("shoulder", Frame(GROUND), Frame.at(upper, (0, 0, 0))),
        Revolute("elbow", Frame.at(upper, elbow), Frame.at(fore, elbow)),
    ]
    low = min(0.5 * np.sin(a) + 0.4 * np.sin(a + b) for a, b in (START, END)) - 0.03
    flat = Frame(GROUND, (0, low, 0), ((1, 0, 0), (0, 0, 1), (0, -1, 0)))
    tip = Frame.at(fore, (0.9, 0, 0))
    table = PlaneContact("table", flat, tip, planar=True, law=ContactLaw(friction=0.0))
    drives = [Actuator("shoulder"), Actuator("elbow")]
    mechanism = Mechanism([upper, fore], joints, "relative", drives)
    ends = [StartAt(START, np.zeros(2)), EndAt(END, np.zeros(2))]
    d = assemble(mechanism, [table], (0.0, -9.81, 0.0))
    result = optimize(d, Horizon(DURATION, steps), [Effort()], ends, Quintic(START, END), **options)
    assert result.completed, result.stop_reason
    return result


@pytest.mark.slow
def test_a_phase_of_contact_does_not_shrink_on_the_way():
    """Against 128 steps; an arm that only strikes the table costs three times as much."""
    in_steps = sweep(128, plan=IN_STEPS).objective
    for steps in (16, 32):
        result = sweep(steps)
        assert "touches" in result.data.attrs["contact_sequence"]
        assert result.objective == pytest.approx(in_steps, rel=2e-2)
