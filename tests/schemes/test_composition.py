"""The code of a composed step: that of one of its parts."""

import casadi as ca

from nsopt import Composition, Variational
from nsopt.mpcc import Newton
from nsopt.simulation import Acceptance, LargestStep, StepAttempt, StepProgram
from tests.schemes.loops_in_space import bennett


def generated(scheme):
    """Return the C of an attempt at a step."""
    program = StepProgram(bennett("relative"), scheme, Acceptance())
    attempt = StepAttempt(program, LargestStep(), Newton()).function
    code = ca.CodeGenerator("step.c")
    code.add(attempt)
    return code.dump()


def test_parts_share_one_code():
    one, five = generated(Variational()), generated(Composition())
    assert len(five) < 2 * len(one)
