"""Optima of over-constrained loops: those of the same loops without the redundant rows."""

from dataclasses import replace

import numpy as np
import pytest

from nsopt import (
    Actuator,
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
from nsopt.mpcc import Ipopt, Solver
from nsopt.robots import ClosedLoops
from nsopt.trajectory import (
    Earlier,
    Effort,
    EndAt,
    Horizon,
    InputEffort,
    JointResistance,
    Quintic,
    Simulated,
    StartAt,
    optimize,
)
from problems.four_bar import four_bar
from tests.mechanics.test_singularity import parallelogram
from tests.schemes.loops_in_space import bennett_mechanism

DURATION, STEPS, TURNED = 0.4, 20, 3.4  # s, number, rad
EFFORT = InputEffort(input="torque")
EXACT = Solver(backend=Ipopt(tol=1e-12))
"""By default IPOPT may end while torques are 4e-5 N m off, which an objective hardly feels."""
COSTS = [EFFORT, JointResistance(weight=1e-2, reaction_force=1.0)]


def driven(closing, coordinates):
    """The four-bar linkage with a motor on its crank."""
    linkage = four_bar.mechanism(coordinates, closing)
    motor = (0.0, 0.0, Parameter("torque", 0.0))
    crank = Frame(next(iter(linkage.bodies)))
    return assemble(linkage, [AppliedTorque("motor", crank, motor)], gravity=four_bar.GRAVITY)


def best(closing, coordinates, costs):
    """Return an optimum, that of reactions from that of least effort."""
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
    simple = costs == [EFFORT]
    guess = Simulated(falling) if simple else Earlier(best(closing, coordinates, [EFFORT]))
    return optimize(
        d,
        Horizon(DURATION, steps=STEPS),
        costs=costs,
        conditions=[StartAt(*start), EndAt(end, unstated)],
        guess=guess,
        inputs=["torque"],
        solver=EXACT,
    )


@pytest.mark.slow
@pytest.mark.parametrize(
    ("coordinates", "costs"),
    [
        ("relative", COSTS),
        ("absolute", [EFFORT]),
    ],
    ids=["relative, reactions", "absolute, effort"],
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


def test_bennett_is_driven_to_another_posture(capsys):
    """Three redundant rows of five; they are told of before the solve."""
    linkage = replace(bennett_mechanism("relative"), actuators=[Actuator("hinge 0")])
    d = assemble(linkage, gravity=(0, -9.81, 0))
    q = d.stated_start()[0]
    end = ClosedLoops(d, ["hinge 0"]).positions([q[0] + 0.6], q)
    result = optimize(
        d,
        Horizon(1.0, steps=10),
        costs=[Effort()],
        conditions=[StartAt(q, np.zeros(3)), EndAt([end[0], np.nan, np.nan], np.zeros(3))],
        guess=Quintic(q, end),
    )
    assert result.completed
    assert result["q"].values[-1] == pytest.approx(end, abs=1e-7)
    assert "note: the 5 rows of the ideal joints have rank 2" in capsys.readouterr().err


@pytest.mark.slow
def test_a_singular_end_posture_is_named():
    """Flat, a parallelogram has rates to first order that no motion has, as that of one crank."""
    d = parallelogram(0.6, closing=PointOnLine)
    q, flat = d.stated_start()[0], np.array([-0.6, 0.6, -0.6])
    result = optimize(
        d,
        Horizon(1.0, steps=10),
        costs=[Effort()],
        conditions=[StartAt(q, np.zeros(3)), EndAt(flat, [1.0, 0.0, 0.0])],
        guess=Quintic(q, flat),
    )
    assert not result.completed
    assert result.stop_reason.startswith("the posture at t = 1 s is singular")
    assert "rows of 'hinge 4' depend on others there" in result.stop_reason
