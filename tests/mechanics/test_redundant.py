"""Redundant joints and contacts: counted, solved, and with the reactions of least norm."""

import numpy as np
import pytest
from scipy.optimize import nnls

from nsopt import (
    AppliedForce,
    Body,
    Frame,
    Mechanism,
    PrismaticClearance,
    Revolute,
    Solver,
    Spherical,
    Universal,
    assemble,
    load_problem,
)
from nsopt.mechanics import redundancy
from tests.catalog import TRIANGLE
from tests.states import array, reactions, run

GRAVITY = (0.0, -9.81, 0.0)
PINS = ((0, 0, 0), (0.1, 0.3, 0), (0.6, 0.4, 0), (0.5, 0, 0))  # axes along z
# x of the universal joint lies along the pin, so that it too turns about it.
ALONG_PIN = ((0, 1, 0), (0, 0, 1), (1, 0, 0))


def four_bar(kinds):
    """Three links between four pins; the last joint is on the ground again."""
    links = [
        Body(name, 1.0, (0.01, 0.02, 0.025), position=(np.array(a) + b) / 2 + [0, 0, 0.03])
        for name, a, b in zip("abc", PINS, PINS[1:], strict=False)
    ]
    around = [None, *links, None]
    joints = [
        kind(
            f"pin{k}",
            Frame.at(around[k], PINS[k], np.transpose(axes)),
            Frame.at(around[k + 1], PINS[k], np.transpose(axes)),
        )
        for k, (kind, axes) in enumerate(
            (kind, ALONG_PIN if kind is Universal else np.eye(3)) for kind in kinds
        )
    ]
    return assemble(Mechanism(links, joints, "absolute"), gravity=GRAVITY)


@pytest.fixture(scope="module")
def redundant():
    return four_bar([Revolute] * 4)


@pytest.fixture(scope="module")
def motion(redundant):
    return run(redundant, 0.1, 1e-3, solver=Solver())


def rows_implied(dynamics):
    return redundancy(dynamics, 0.0, dynamics.stated_start()[0], dynamics.values())


def test_three_rows_of_a_planar_four_bar_are_redundant(redundant):
    C = array(redundant.closure_matrix(0, redundant.stated_start()[0], []))
    assert C.shape == (20, 18)
    assert np.linalg.matrix_rank(C, tol=1e-9) == 17
    assert rows_implied(redundant) == 3


def test_redundant_four_bar_stays_closed(motion):
    assert motion["constraint_violation"].max() <= 1e-10
    assert motion["motion_residual"].max() <= 1e-9
    assert motion.data.attrs["redundant_joint_rows"] == 3


def test_redundant_four_bar_moves_like_the_determinate_one(motion):
    determinate = four_bar([Revolute, Universal, Spherical, Revolute])
    assert rows_implied(determinate) == 0
    other = run(determinate, 0.1, 1e-3)
    assert np.ptp(motion["q"].values[:, 0]) > 0.005
    assert motion["q"].values == pytest.approx(other["q"].values, abs=1e-8)
    assert motion["v"].values == pytest.approx(other["v"].values, abs=1e-8)


def impulse_needed(dynamics, result, k):
    """M (v' - v) - h K of step k: what joints and contacts must give."""
    q, v, p = result["q"].values[k], result["v"].values[k], dynamics.values()
    K = array(dynamics.applied(0, q, v, p)) - array(dynamics.bias(q, v, p))
    return (
        array(dynamics.mass(q, p)) @ (result["v"].values[k + 1] - v) - result["h"].values[k + 1] * K
    )


def allowed(M, C, v):
    """The nearest velocities, in the metric of the mass, at which C v = 0."""
    G = C @ np.linalg.solve(M, C.T)
    return v - np.linalg.solve(M, C.T @ (np.linalg.pinv(G, rcond=1e-9) @ (C @ v)))


@pytest.mark.slow
def test_reactions_of_the_four_bar_are_of_least_norm(redundant, motion):
    """`PaperStep` holds joints where they are, not their rates: first order."""
    d = redundant
    for k in (0, 50, 100):
        q, v = motion["q"].values[k], motion["v"].values[k]
        M, C = array(d.mass(q, [])), array(d.closure_matrix(0, q, []))
        v = allowed(M, C, v)
        forces = array(d.applied(0, q, v, []) - d.bias(q, v, []))
        right = np.append(forces, -array(d.closure_bias(0, q, v, [])))
        system = np.block([[M, -C.T], [C, np.zeros((20, 20))]])
        mu = np.linalg.lstsq(system, right, rcond=1e-10)[0][d.nv :]
        forces = np.hstack(
            [motion["joint_reaction"].values[k], motion["joint_reaction_torque"].values[k]]
        )
        assert pytest.approx(reactions(d, q, mu), abs=1e-6) == forces.T


@pytest.fixture(scope="module")
def slider():
    """A triangular slider pressed into the upper edge of its guide: 8 gaps of rank 5."""
    body = Body("slider", 0.5, (4.7e-4, 4.5e-4, 1e-4))
    joint = PrismaticClearance("joint", Frame(None), Frame(body), TRIANGLE, 0.1, 3e-4)
    push = AppliedForce("push", Frame(body, (0.002, 0.0, 0.02)), (1.0, 20.0, 0.5))
    return assemble(Mechanism([body]), [joint, push], GRAVITY)


def test_impulses_of_redundant_contacts_are_of_least_norm(slider):
    """Of all nonnegative impulses of closed gaps with one resultant, those of least norm."""
    result = run(slider, 0.1, 1e-3, solver=Solver())
    impulse, heavy = result["impulse"].values, 1e5
    assert result.data.attrs["redundant_contacts"] >= 3
    for k in range(60, 100, 8):
        closed = result["gap"].values[k + 1] < 1e-10
        W = array(slider.gap_matrix(0, result["q"].values[k], slider.values()))[:, closed]
        assert closed.sum() == 8
        assert np.linalg.matrix_rank(W, tol=1e-9) == 5
        needed = impulse_needed(slider, result, k)
        stacked = np.vstack([heavy * W, np.eye(8)])
        least, _ = nnls(stacked, [*(heavy * needed), *np.zeros(8)])
        assert np.all(impulse[k + 1] >= 0)
        assert np.all(impulse[k + 1][~closed] == 0)
        assert W @ impulse[k + 1][closed] == pytest.approx(needed, abs=1e-11)
        assert impulse[k + 1][closed] == pytest.approx(least, abs=1e-8)


def test_prismatic_slider_problem_presses_on_its_guide():
    dynamics = load_problem("prismatic_slider").dynamics
    result = run(dynamics, 0.15, 1e-3)
    assert np.all(result["impulse"].values[1:] >= 0)
    for k in (30, 80, 149):
        W = array(dynamics.gap_matrix(0, result["q"].values[k], dynamics.values()))
        needed = impulse_needed(dynamics, result, k)
        assert W @ result["impulse"].values[k + 1] == pytest.approx(needed, abs=1e-11)
