"""The programs of a composed step: two, which each of its parts repeats."""

from nsopt import Body, Composition, Frame, Mechanism, Revolute, assemble
from nsopt.simulation import Acceptance, StepProgram


def test_parts_share_two_programs():
    rod = Body("rod", 1.0, (0.02, 0.02, 0.02), (0.3, 0, 0))
    hinge = Revolute("hinge", Frame(None), Frame.at(rod, (0, 0, 0)))
    program = StepProgram(
        assemble(Mechanism([rod], [hinge], "absolute")), Composition(), Acceptance()
    )
    shared = [id(part.pattern[0]) for part in program.parts if part.pattern]
    assert len(shared) == 10
    assert len(set(shared)) == 2
