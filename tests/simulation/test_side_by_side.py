"""Compiled steps of bodies that are alike, which are computed side by side."""

import numpy as np
import pytest

from nsopt import (
    GROUND,
    Acceptance,
    Body,
    Frame,
    LargestStep,
    Mechanism,
    PlaneContact,
    SpringDamper,
    Start,
    Variational,
    assemble,
)
from nsopt.mpcc import Newton, compile_native, has_compiler
from nsopt.mpcc.native import generated
from nsopt.mpcc.side_by_side import with_vectors
from nsopt.schemes import Scales
from nsopt.simulation import ChainParameters, StepAttempt, StepProgram

H, COUNT, BALLS = 2e-3, 150, 6

pytestmark = [
    pytest.mark.compiled,
    pytest.mark.skipif(not has_compiler(), reason="needs a C compiler"),
]


@pytest.mark.slow
def test_they_are_to_the_bit_what_casadi_interprets():
    """Balls that fall on a floor, each held to the next by a spring, of different masses."""
    balls, elements = [], []
    for k in range(BALLS):
        ball = Body(f"ball{k}", 1.0 + 0.1 * k, (0.1, 0.1, 0.1), position=(k, 0.1 * k, 0.2))
        floor, centre = Frame(GROUND), Frame.at(ball, (k, 0.1 * k, 0.2))
        elements.append(PlaneContact(f"floor{k}", floor, centre, radius=0.1))
        if balls:
            last = Frame.at(balls[-1], (k - 1, 0.1 * k - 0.1, 0.2))
            elements.append(SpringDamper(f"spring{k}", last, centre, 200.0, free_length=0.9))
        balls.append(ball)
    d = assemble(Mechanism(balls), elements, gravity=(0.0, 0.0, -9.81))
    program = StepProgram(d, Variational(), Acceptance())
    assert program.lanes.many
    attempt = StepAttempt(program, LargestStep(), Newton())
    written = with_vectors(generated(attempt.function), attempt.function, program.lanes)
    assert "const V v" in written
    native = compile_native(attempt.function, program.lanes)
    assert native.native
    start, p = Start(*d.stated_start()), d.values()
    scales = Scales.of(d, start, p, H, COUNT * H)
    given = ChainParameters(p, (H, H, 1.0), scales.numbers).vector
    z = attempt.layout.begin(start, H)
    landed = 0.0
    for _ in range(COUNT):
        (z, record), (other, same) = native.function(z, given), attempt.function(z, given)
        np.testing.assert_array_equal(np.asarray(z), np.asarray(other))
        np.testing.assert_array_equal(np.asarray(record), np.asarray(same))
        landed = max(landed, float(np.max(attempt.fields(np.asarray(record).T)["impulse"])))
    assert landed > 0
