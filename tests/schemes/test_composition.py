"""The code of a composed step: that of one of its parts."""

import casadi as ca

from nsopt import Body, Composition, Frame, Mechanism, Revolute, Variational, assemble
from nsopt.mpcc import Newton
from nsopt.simulation import Acceptance, LargestStep, StepAttempt, StepProgram


def generated(scheme):
    """Return the C of an attempt at a step of a pendulum, most of it that of a part."""
    rod = Body("rod", 1.0, (0.02, 0.02, 0.02), (0.3, 0, 0))
    hinge = Revolute("hinge", Frame(None), Frame.at(rod, (0, 0, 0)))
    program = StepProgram(assemble(Mechanism([rod], [hinge])), scheme, Acceptance())
    attempt = StepAttempt(program, LargestStep(), Newton()).function
    code = ca.CodeGenerator("step.c")
    code.add(attempt)
    return code.dump()


def test_parts_share_one_code():
    one, five = generated(Variational()), generated(Composition())
    assert len(five) < 2 * len(one)
