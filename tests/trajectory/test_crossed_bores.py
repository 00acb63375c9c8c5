"""Pins that cross their bores within a step: told, by places and forces of the motion."""

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
    Variational,
    assemble,
)
from nsopt.mpcc import Ipopt
from nsopt.trajectory import GRADUAL, EndAt, Horizon, InputEffort, Quintic, StartAt, optimize

C, M, G, QUARTER = 1e-4, 1.0, 9.81, np.pi / 2


def lifted(y, normal_implicitness=0.5, solver=None):
    """A rod lifted by a quarter turn, its bushing at rest at (0, y) of its bore at first."""
    rod = Body("rod", M, (0.01, 0.09, 0.09), position=(0.5, 0.0, 0.0))
    pin, bushing = Frame(GROUND), Frame.at(rod, (0.0, 0.0, 0.0))
    hinge = PlanarRevoluteClearance("hinge", pin, bushing, clearance=C)
    motor = AppliedTorque("motor", Frame(rod), (0.0, 0.0, Parameter("torque", 0.0)))
    loose = Mechanism([rod], [Planar("plane", pin, bushing)], "relative")
    start, still = (0.0, y, -QUARTER), np.zeros(3)
    return optimize(
        assemble(loose, [hinge, motor], gravity=(0.0, -G, 0.0)),
        Horizon(0.8, steps=10),
        [InputEffort(input="torque")],
        [StartAt(start, still), EndAt((np.nan, np.nan, 0.0), still)],
        Quintic(start, (0.0, -C, 0.0)),
        inputs=["torque"],
        scheme=Variational(normal_implicitness=normal_implicitness),
        solver=solver,
    )


def told(result):
    return [x for x in result.warnings if "crosses its bore" in x]


def test_a_rod_let_go_at_the_upper_wall_crosses_its_bore_in_the_first_step():
    """It would fall by 300 bores in the time, and no wall bears it: there is no solution."""
    result = lifted(C, solver=Solver(Ipopt(max_iter=40), schedules=[GRADUAL]))
    before, after = result["q"].values[:2, :2] / C
    assert before @ after < -0.5
    assert result["normal_force"].values[0, 0] > 0
    (warning,) = told(result)
    assert warning.startswith("the pin of contact 'hinge' crosses its bore and presses")
    assert "t = 0 s, 1 of 10 in all" in warning


@pytest.mark.slow
@pytest.mark.parametrize(
    ("y", "normal_implicitness"), [(-C, 0.5), (C, 1.0)], ids=["at its wall", "normal at the end"]
)
def test_no_word_where_forces_have_a_wall(y, normal_implicitness):
    result = lifted(y, normal_implicitness)
    assert result.completed, result.stop_reason
    assert not told(result)
    assert np.nanmax(result["normal_force"].values) < 10 * M * G
