"""Pins that roll round in their bores, in given modes: on the wall at every node."""

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
    Revolute,
    Variational,
    assemble,
)
from nsopt.trajectory import EndAt, Horizon, InputEffort, StartAt, Straight, optimize
from tests.trajectory.lift import G

START, END = np.radians(-90), np.radians(-30)


def swing(clearance, steps):
    """Return the swing of a hanging rod by a torque, on a worn hinge or without clearance."""
    rod = Body("rod", 1.0, (0.01, 0.09, 0.09), position=(0.5, 0.0, 0.0))
    pin, bushing = Frame(GROUND), Frame.at(rod, (0.0, 0.0, 0.0))
    torque = AppliedTorque("torque", Frame(rod), (0, 0, Parameter("u", 0.0)))
    if not clearance:
        hinge = Mechanism([rod], [Revolute("hinge", pin, bushing)], "relative")
        d, ends = assemble(hinge, [torque], gravity=(0, -G, 0)), ([START], [END], [END])
    else:
        worn = PlanarRevoluteClearance("hinge", pin, bushing, clearance=clearance)
        plane = Mechanism([rod], [Planar("plane", pin, bushing)], "relative")
        d = assemble(plane, [worn, torque], gravity=(0, -G, 0))
        ends = [0, -clearance, START], [0, -clearance, END], [np.nan, np.nan, END]
    at_rest = np.where(np.isnan(ends[2]), np.nan, 0.0)
    conditions = [StartAt(ends[0], np.zeros(d.nv)), EndAt(ends[2], at_rest)]
    scheme = Variational(normal_implicitness=0.5) if clearance else None
    return optimize(
        d,
        Horizon(1.0, steps),
        [InputEffort(input="u")],
        conditions,
        Straight(ends[0], ends[1]),
        inputs=["u"],
        scheme=scheme,
    )


@pytest.mark.slow
def test_a_pin_rolls_round_its_bore():
    best, ideal = swing(1e-3, 40), swing(0.0, 40)
    assert best.completed
    assert best.data.attrs["contact_sequence"] == "hinge touches"
    assert np.abs(best["gap"].values).max() < 1e-12
    offset = best["q"].values[:, :2]
    assert np.linalg.norm(offset, axis=1) == pytest.approx(1e-3, abs=1e-12)
    assert np.ptp(np.arctan2(offset[:, 1], offset[:, 0])) > 1.0
    # It presses, so it is an ideal hinge but for a radius of 1 mm.
    assert best["normal_force"].values.min() > 0
    assert best.objective == pytest.approx(ideal.objective, rel=5e-3)
    # Forces of exact motions are along normals: no pin crosses its bore within a step.
    assert "crossed_steps" not in best.data.attrs
