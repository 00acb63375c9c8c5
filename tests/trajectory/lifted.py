"""Chains with clearance in every joint, lifted with least torque."""

import importlib
import sys
from functools import cache

import numpy as np

from nsopt.problem import problem_folder
from nsopt.trajectory import IN_STEPS, Horizon, optimize

sys.path.insert(0, str(problem_folder() / "clearance_tolerance"))
chains = importlib.import_module("_chain")
PENDULUM = (chains.PENDULUM, [-np.pi / 2], [0.0], 0.8)
ARM = (chains.ARM, np.radians([-70.0, 40.0]), np.radians([-10.0, 95.0]), 1.0)


def lifted(motion, c, steps, h=None, scheme=None, more=(), breaks=(), guess=None, plan=IN_STEPS):
    """The motion of a chain of least torque; one clearance everywhere, or ideal joints."""
    links, start, end, T = motion
    chain = chains.chain(links, None if c is None else [c] * len(links))
    return optimize(
        chain.dynamics,
        Horizon(T, steps, h, breaks),
        [*chain.effort(), *more],
        [chains.HungAt(chain, start), chains.TurnedTo(chain, end)],
        guess or chains.Hanging(chain, start, end),
        inputs=chain.inputs,
        scheme=scheme,
        plan=plan,
    )


@cache
def on_an_ideal_hinge():
    """The lift of the pendulum in 50 steps, without clearance, that several tests compare with."""
    return lifted(PENDULUM, None, 50)


def held(result):
    """Check what an optimum with contacts promises."""
    assert result.completed, result.stop_reason
    assert np.nanmax(result["complementarity_residual"].values) <= 1e-8
    assert np.nanmax(result["gap_violation"].values) <= 1e-9
    return result.objective
