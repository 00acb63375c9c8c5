"""Optima of over-constrained loops: those of the same loops without the redundant rows."""

import numpy as np
import pytest

from nsopt import (
    AppliedTorque,
    Compiled,
    Frame,
    Parameter,
    PointOnLine,
    Revolute,
    StepBounds,
    Variational,
    assemble,
    simulate,
)
from nsopt.trajectory import (
    EndAt,
    Horizon,
    InputEffort,
    JointResistance,
    Simulated,
    StartAt,
    optimize,
)
from problems.four_bar import four_bar

DURATION, STEPS, TURNED = 0.4, 20, 3.4  # s, number, rad
EFFORT = InputEffort(input="torque")
COSTS = [EFFORT, JointResistance(weight=1e-2, reaction_force=1.0)]


def driven(closing, coordinates):
    """The four-bar linkage with a motor on its crank."""
    linkage = four_bar.mechanism(coordinates, closing)
    motor = (0.0, 0.0, Parameter("torque", 0.0))
    crank = Frame(next(iter(linkage.bodies)))
    return assemble(linkage, [AppliedTorque("motor", crank, motor)], gravity=four_bar.GRAVITY)


def best(closing, coordinates, costs):
    d = driven(closing, coordinates)
    start, unstated = d.stated_start(), np.full(d.nv, np.nan)
    falling = simulate(
        d,
        duration=DURATION,
        steps=StepBounds(1e-3, 4e-3),
        scheme=Variational(),
        solver=Compiled(),
        parameters={"torque": 1.0},
        progress=False,
    )
    end = np.full(d.nq, np.nan)
    if coordinates == "relative":
        end[0] = TURNED
    else:  # of the centre of the crank
        end[:2] = four_bar.CRANK / 2 * np.array([-np.sin(TURNED), np.cos(TURNED)])
    return optimize(
        d,
        Horizon(DURATION, steps=STEPS),
        costs=costs,
        conditions=[StartAt(*start), EndAt(end, unstated)],
        guess=Simulated(falling),
        inputs=["torque"],
    )


@pytest.mark.parametrize(
    ("coordinates", "costs"),
    [
        ("relative", COSTS),
        ("absolute", [EFFORT]),
        pytest.param("absolute", COSTS, marks=pytest.mark.slow),
    ],
    ids=["relative, reactions", "absolute, effort", "absolute, reactions"],
)
def test_redundant_rows_change_no_optimum(coordinates, costs):
    """All loads are in the plane, so redundant pins bear what those of a plane loop bear."""
    plain, built_so = (best(closing, coordinates, costs) for closing in (PointOnLine, Revolute))
    assert plain.completed
    assert built_so.completed
    assert built_so.data.attrs["redundant_joint_rows"] == 3
    values = [x.data.attrs["objective"] for x in (plain, built_so)]
    assert values[1] == pytest.approx(values[0], rel=1e-7)
    torques, forces = (
        [x[name].values for x in (plain, built_so)] for name in ("input", "joint_reaction")
    )
    assert torques[1] == pytest.approx(torques[0], abs=1e-5)
    assert forces[1][1:, :, :2] == pytest.approx(forces[0][1:, :, :2], abs=1e-3)
    assert forces[1][1:, :, 2] == pytest.approx(0, abs=1e-6)
