"""Derivatives that a scheme states for Newton, against differentiation."""

import casadi as ca
import numpy as np
import pytest

import nsopt as ns
from nsopt import GROUND, Acceptance, Body, Frame, Mechanism, Variational, assemble
from nsopt.mpcc.square.square_program import replace_by_symbols
from nsopt.simulation import StepProgram

pytestmark = pytest.mark.unit


def hanging(coordinates, friction):
    """A ball joint, then a rod on a hinge, then one that hangs in that by a worn hinge."""
    bodies = [Body(f"body{k}", 1.0, (0.02, 0.09, 0.1), position=(k, 0, 0)) for k in range(3)]
    ball = ns.Spherical("ball", Frame(GROUND), Frame(bodies[0]))
    hinge = ns.Revolute("hinge", Frame(bodies[0]), Frame.at(bodies[1], (0, 0, 0), (0, 1, 0)))
    ends = Frame.at(bodies[1], (1.5, 0, 0)), Frame.at(bodies[2], (1.5, 0, 0))
    sizes = {"length": 0.1, "clearance": 1e-3, "axial_clearance": 1e-3, "radius": 0.02}
    law = ns.ContactLaw(friction=friction)
    worn = ns.RevoluteClearance("worn", *ends, law=law, **sizes)
    return assemble(Mechanism(bodies, [ball, hinge], coordinates), [worn])


@pytest.mark.parametrize("friction", [0.0, 0.3])
@pytest.mark.parametrize("coordinates", ["absolute", "relative"])
def test_gaps_joints_and_slips_change_with_the_velocity_as_stated(coordinates, friction):
    dynamics = hanging(coordinates, friction)
    program = StepProgram(dynamics, Variational(), Acceptance())
    part = program.parts[0]
    x, p = part.x, part.p
    _, (_, values, slopes) = replace_by_symbols(part)
    stated_rows = len(dynamics.closure_names) + len(dynamics.slip_contacts)
    assert values.numel() == 4 + stated_rows
    function = ca.Function("f", [x, p], [slopes, ca.jacobian(values, x)])
    rng = np.random.default_rng(2)
    for _ in range(5):
        q = np.asarray(dynamics.renormalise(rng.normal(size=dynamics.nq))).ravel()
        sizes = [b.symbol.numel() for b in part.parameters]
        blocks = dict(zip([b.name for b in part.parameters], sizes, strict=True))
        numbers = {n: rng.uniform(0.1, 1.0, size) for n, size in blocks.items()}
        numbers |= {"q": q, "h": np.array([0.2])}
        stated, true = function(rng.normal(size=x.numel()), np.concatenate([*numbers.values()]))
        assert np.array(stated) == pytest.approx(np.array(true), rel=1e-11, abs=1e-11)
