"""Where Newton's method begins a step."""

import numpy as np

from nsopt import Acceptance, Body, Mechanism, StepBounds, Variational, assemble
from nsopt.mechanics import Start
from nsopt.simulation import StepProgram
from nsopt.simulation.step_rules import warm_guess

H, G = 0.01, 9.81


def test_motion_that_goes_on_is_met_where_forces_are_constant():
    """A stone that falls: its mean velocity over a step is that at the start and half of g h."""
    d = assemble(Mechanism([Body("stone", 2.0, (0.1, 0.1, 0.1))]), gravity=(0.0, -G, 0.0))
    program = StepProgram(d, Variational(), Acceptance())
    (part,) = (part for part in program.parts if part.name == "step")
    v = np.array([0.4, -1.0, 0.0, 0.0, 0.0, 0.0])
    start = Start(np.array([0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0]), v)
    numbers = program.numbers(start, np.zeros(0), StepBounds(H, H))
    numbers |= {"modes": np.zeros(0), "scales": np.ones(4)}  # velocities are not scaled
    p = np.concatenate([np.ravel(numbers[block.name]) for block in part.parameters])
    change = np.array([0.0, -G * H / 2, 0.0, 0.0, 0.0, 0.0])
    last = v - change  # mean over the last step
    for goes_on, expected in ((False, v), (True, v + change)):
        guess = np.array(warm_guess(part, goes_on=goes_on)(p, last)).ravel()
        np.testing.assert_allclose(guess, expected, rtol=1e-14)
