"""Reactions at the nodes: those of least norm of the Newton-Euler equations, by plain NumPy."""

from functools import cache

import numpy as np
import pytest

from nsopt import (
    Acceptance,
    AppliedTorque,
    Compiled,
    Composition,
    ContactAligned,
    ErrorControl,
    Frame,
    MoreauJean,
    PaperStep,
    PointOnLine,
    Revolute,
    Solver,
    Sqp,
    StepBounds,
    StribeckLaw,
    TurnFriction,
    Variational,
    assemble,
    simulate,
)
from nsopt.mechanics import redundancy
from nsopt.mpcc import Piqp
from nsopt.simulation.method import Method
from problems.bricard import bricard
from problems.four_bar import four_bar
from tests.schemes import loops_in_space as loops
from tests.schemes.newton_euler import NewtonEuler

COORDINATES = pytest.mark.parametrize("coordinates", ["relative", "absolute"])
LOOPS = {
    "bricard": (bricard.model, bricard.mechanism, bricard.GRAVITY, None, 1),
    "bennett": (loops.bennett, loops.bennett_mechanism, loops.DOWN, None, 3),
    "gough": (loops.gough, loops.gough_mechanism, loops.G, loops.gough_springs, 0),
}
ENOUGH = 40
"""Nodes compared in a run."""


@cache
def built(name, coordinates):
    return LOOPS[name][0](coordinates)


def run(d, duration, h, scheme, store_every=1):
    result = simulate(
        d,
        duration=duration,
        steps=StepBounds(h if scheme.chooses_h else h / 8, h),
        scheme=scheme,
        solver=Compiled(),
        store_every=store_every,
        progress=False,
    )
    assert result.completed, result.stop_reason
    if d.redundant and not scheme.chooses_h:  # self-stress would cost steps of Newton
        assert np.nansum(result["retries"]) == 0
    return result


def wrenches(result):
    return np.dstack([result["joint_reaction"].values, result["joint_reaction_torque"].values])


def off(name, result):
    """How far reactions are from the equations, over the largest force and torque there."""
    _, mechanism, gravity, forces, _ = LOOPS[name]
    equations = NewtonEuler(mechanism("absolute"), gravity, forces)
    found, (q, v) = wrenches(result), equations.states(result)
    errors = []
    for k in np.linspace(0, len(q) - 1, ENOUGH).astype(int):
        expected = equations.wrenches(q[k], v[k])
        errors.append(np.abs(found[k] - expected).max() / np.abs(expected).max())
    return max(errors)


@COORDINATES
@pytest.mark.parametrize("name", ["bricard", "bennett"])
def test_redundant_rows_are_counted(name, coordinates):
    d, expected = built(name, coordinates), LOOPS[name][-1]
    q, _ = d.stated_start()
    assert redundancy(d, 0, q, d.values()) == d.redundant == expected
    U = np.asarray(d.self_stresses(0, q, []))
    assert pytest.approx(np.eye(expected), abs=1e-12) == U.T @ U
    assert pytest.approx(0, abs=1e-7) == np.asarray(d.closure_matrix(0, q, [])).T @ U


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "coordinates"),
    [("bricard", "absolute"), ("bennett", "relative"), ("gough", "relative")],
)
def test_reactions_are_those_of_least_norm(name, coordinates):
    for h, duration, store_every in ((4e-3, 0.5, 3), (5e-4, 0.1, 5)):
        result = run(built(name, coordinates), duration, h, Variational(), store_every)
        assert off(name, result) < 1e-6


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "scheme"),
    [
        ("bennett", ContactAligned()),
        ("bricard", Composition()),
        ("bennett", MoreauJean()),
        ("bennett", PaperStep()),
    ],
    ids=repr,
)
def test_reactions_under_every_scheme(name, scheme):
    assert off(name, run(built(name, "relative"), 1.0, 4e-3, scheme)) < 1e-6


@pytest.mark.slow
def test_reactions_in_absolute_coordinates_by_the_step_of_the_paper():
    """Those of `Variational` are above."""
    result = run(built("bricard", "absolute"), 0.5, 4e-3, PaperStep())
    assert off("bricard", result) < 1e-6


def test_paper_step_of_redundant_joints_takes_a_solver_that_does_not_fail_on_them():
    """The other one fails at each step first, which costs ten times as much."""
    for name, backend in (("bennett", Sqp(qp=Piqp())), ("gough", Sqp())):
        method = Method(PaperStep(), Compiled(), ErrorControl(1e-6), Acceptance())
        assert method.first_solver(built(name, "relative")) == Solver(backend=backend)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("scheme", "order"), [(Variational(), 2), (Composition(), 4), (MoreauJean(), 1)], ids=repr
)
def test_reactions_have_the_order_of_the_scheme(scheme, order):
    d = built("bennett", "relative")
    fine, *others = (wrenches(run(d, 0.8, h, scheme))[-1] for h in (2.5e-4, 8e-3, 4e-3))
    if order == 1:
        fine = wrenches(run(d, 0.8, 1e-3, Composition()))[-1]
    coarse, half = (np.abs(x - fine).max() for x in others)
    assert np.log2(coarse / half) > order - 0.3


@pytest.mark.slow
def test_at_a_quarter_past_one():
    """Bricard's linkage at 1.25 s, whatever h and the coordinates."""
    largest = [
        np.linalg.norm(
            wrenches(run(built("bricard", "relative"), 1.25, h, Variational()))[-1, :, :3], axis=1
        ).max()
        for h in (2e-3, 1e-3)
    ]
    assert largest == pytest.approx([27.2688, 27.2688], abs=1e-4)


def rubbing(coordinates, closing):
    """The four-bar linkage, as built, with friction in two of its pins."""
    linkage = four_bar.mechanism(coordinates, closing)
    law = StribeckLaw(0.3, creep=0.01)
    joints = {joint.name: joint for joint in linkage.joints}
    rub = [
        TurnFriction(f"rub {name}", joints[name].a, joints[name].b, law, radius=0.03)
        for name in ("lower pin", "crank pin")
    ]
    crank = next(iter(linkage.bodies))
    drive = AppliedTorque("drive", Frame(crank), (0.0, 0.0, -four_bar.TORQUE))
    return assemble(linkage, [drive, *rub], gravity=four_bar.GRAVITY)


@pytest.mark.slow
def test_friction_under_the_reactions_of_redundant_joints():
    """All loads are in the plane, so redundant pins bear what those of a plane loop bear."""
    plain, built_so = (
        run(rubbing("absolute", closing), 0.25, 1e-3, Variational())
        for closing in (PointOnLine, Revolute)
    )
    positions = [x["body_position"].values for x in (plain, built_so)]
    assert positions[1] == pytest.approx(positions[0], abs=1e-8)
    forces = [x["joint_reaction"].values[:, :2] for x in (plain, built_so)]
    assert forces[1] == pytest.approx(forces[0], abs=1e-5)
    assert np.nanmax(np.abs(plain["joint_resistance"].values)) > 0.05
