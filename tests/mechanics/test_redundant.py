"""Redundant joints and contacts: counted, solved, and with the reactions of least norm."""

import numpy as np
import pytest
from scipy.optimize import nnls

from nsopt import Body, Frame, Mechanism, Revolute, Spherical, Universal, assemble, load_problem
from nsopt.mechanics import redundancy
from tests.states import array, run

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
        kind(f"pin{k}", Frame.at(around[k], PINS[k], np.transpose(axes)),
             Frame.at(around[k + 1], PINS[k], np.transpose(axes)))
        for k, (kind, axes) in enumerate((kind, ALONG_PIN if kind is Universal else np.eye(3)) for kind in kinds)
    ]
    return assemble(Mechanism(links, joints), gravity=GRAVITY)


@pytest.fixture(scope="module")
def redundant():
    return four_bar([Revolute] * 4)


@pytest.fixture(scope="module")
def motion(redundant):
    return run(redundant, 0.2, 1e-3)


def test_three_rows_of_a_planar_four_bar_are_redundant(redundant):
    C = array(redundant.closure_matrix(0, redundant.stated_start()[0], []))
    assert C.shape == (20, 18)
    assert np.linalg.matrix_rank(C, tol=1e-9) == 17
    assert redundancy(redundant) == 3


def test_redundant_four_bar_stays_closed(motion):
    assert motion["constraint_violation"].max() <= 1e-10
    assert motion["motion_residual"].max() <= 1e-9
    assert motion.data.attrs["redundant_joint_rows"] == 3


def test_redundant_four_bar_moves_like_the_determinate_one(motion):
    determinate = four_bar([Revolute, Universal, Spherical, Revolute])
    assert redundancy(determinate) == 0
    other = run(determinate, 0.2, 1e-3)
    assert np.ptp(motion["q"].values[:, 0]) > 0.01
    assert motion["q"].values == pytest.approx(other["q"].values, abs=1e-8)
    assert motion["v"].values == pytest.approx(other["v"].values, abs=1e-8)


def impulse_needed(dynamics, result, k):
    """M (v' - v) - h K of step k: what joints and contacts must give."""
    q, v, p = result["q"].values[k], result["v"].values[k], dynamics.values()
    K = array(dynamics.applied(0, q, v, p)) - array(dynamics.bias(q, v, p))
    return array(dynamics.mass(q, p)) @ (result["v"].values[k + 1] - v) - result["h"].values[k + 1] * K


def test_reactions_of_the_four_bar_are_of_least_norm(redundant, motion):
    for k in (0, 50, 150):
        q = motion["q"].values[k]
        C = array(redundant.closure_matrix(0, q, []))
        mu = np.linalg.pinv(C.T, rcond=1e-9) @ impulse_needed(redundant, motion, k)
        expected = array(redundant.reactions(0, q, [], mu, [])) / motion["h"].values[k + 1]
        found = np.hstack([motion["joint_reaction"].values[k + 1], motion["joint_reaction_torque"].values[k + 1]])
        assert found.T == pytest.approx(expected, abs=1e-6)


def test_impulses_of_the_prismatic_slider_are_of_least_norm():
    """Of all nonnegative impulses of closed gaps with one resultant, those of least norm."""
    dynamics = load_problem("prismatic_slider").dynamics
    result = run(dynamics, 0.15, 1e-3)
    assert result.data.attrs["redundant_contacts"] > 0
    impulse, heavy, checked = result["impulse"].values, 1e5, 0
    for k in range(20, len(impulse) - 1, 10):
        closed = result["gap"].values[k + 1] < 1e-10
        W = array(dynamics.gap_matrix(0, result["q"].values[k], dynamics.values()))[:, closed]
        if np.linalg.matrix_rank(W, tol=1e-9) == closed.sum():
            continue
        needed = impulse_needed(dynamics, result, k)
        least, _ = nnls(np.vstack([heavy * W, np.eye(closed.sum())]), [*(heavy * needed), *np.zeros(closed.sum())])
        assert np.all(impulse[k + 1] >= 0)
        assert np.all(impulse[k + 1][~closed] == 0)
        assert W @ impulse[k + 1][closed] == pytest.approx(needed, abs=1e-11)
        assert impulse[k + 1][closed] == pytest.approx(least, abs=1e-8)
        checked += 1
    assert checked >= 3
