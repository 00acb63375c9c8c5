"""Guesses that take pins out of their bores are told before the solve, by how much."""

import warnings

import numpy as np
import pytest

from nsopt import (
    GROUND,
    AppliedTorque,
    Body,
    Frame,
    Mechanism,
    Parameter,
    Planar,
    PlanarRevoluteClearance,
    Solver,
    assemble,
)
from nsopt.mpcc import Ipopt
from nsopt.trajectory import EndAt, Horizon, InputEffort, Quintic, StartAt, optimize

CLEARANCE = 1e-3
ONCE = Solver(Ipopt(max_iter=1), phase_two=False, retries=0)


def started(start, end):
    """A rod in a bushing, solved for one iteration from the quintic between two postures."""
    rod = Body("rod", 1.0, (0.01, 0.09, 0.09), position=(0.5, 0.0, 0.0))
    pin, bushing = Frame(GROUND), Frame.at(rod, (0.0, 0.0, 0.0))
    hinge = PlanarRevoluteClearance("hinge", pin, bushing, clearance=CLEARANCE)
    motor = AppliedTorque("motor", Frame(rod), (0.0, 0.0, Parameter("torque", 0.0)))
    loose = Mechanism([rod], [Planar("plane", pin, bushing)], "relative")
    dynamics = assemble(loose, [hinge, motor], gravity=(0.0, -9.81, 0.0))
    rest = np.zeros(3)
    conditions = [StartAt([0, 0, -np.pi / 2], rest), EndAt([np.nan, np.nan, 0.0], rest)]
    guess, effort = Quintic(start, end), [InputEffort(input="torque")]
    inputs = ["torque"]
    return optimize(
        dynamics, Horizon(1.0, 10), effort, conditions, guess, inputs=inputs, solver=ONCE
    )


def test_a_guess_far_outside_a_bore_is_told():
    """The quintic is farthest out at its end, 50 mm."""
    with pytest.warns(UserWarning, match=r"'hinge.*0\.05 m apart at t = 1 s, 50 times its"):
        started([0, 0, -np.pi / 2], [0.05, 0, 0])


def test_a_guess_near_the_bore_is_not():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        started([0, 0, -np.pi / 2], [5 * CLEARANCE, 0, 0])
