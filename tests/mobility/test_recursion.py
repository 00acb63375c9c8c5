"""Derivatives of constraints by joint screws against nested derivatives of the closures."""

from math import factorial

import casadi as ca
import numpy as np
import pytest

from nsopt import (
    GROUND,
    Body,
    Frame,
    Mechanism,
    Parameter,
    Planar,
    PointOnCurve,
    PointOnLine,
    Relative,
    Revolute,
)
from nsopt.mobility import LoopConstraints, constraint_function
from nsopt.mobility.screws import move_joints
from tests.mobility.random_loops import mechanism


def nested(loops, motion):
    """H^(1), H^(2), ... by CasADi, along the polynomial with these derivatives."""
    order = len(motion)
    t, x = ca.SX.sym("t"), ca.SX.sym("x", *motion.shape)
    u = sum(x[k, :].T * t ** (k + 1) / factorial(k + 1) for k in range(order))
    e, rows = loops.closure(u)[0], []
    for _ in range(order):
        e = ca.cse(ca.jacobian(e, t))
        rows.append(np.asarray(ca.Function("H", [t, x], [e])(0, motion)).ravel())
    return np.array(rows)


def errors(seed, order):
    """The error of each order over its largest entry, or over one if all are less."""
    loops = LoopConstraints(mechanism(seed))
    motion = 0.6 * np.random.default_rng(seed).normal(size=(order, loops.n))
    H, exact = loops.derivatives(*motion), nested(loops, motion)
    return np.max(np.abs(H - exact), axis=1) / np.max(np.abs(exact), axis=1, initial=1.0)


@pytest.mark.parametrize("seed", range(6))
def test_recursion_is_what_nested_derivatives_are(seed):
    assert errors(seed, 4) == pytest.approx(0, abs=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize("seed", [0, 1, 2, 4, 5, 8, 10, 11])
def test_recursion_is_what_nested_derivatives_are_to_higher_order(seed):
    """These have every kind of joint."""
    assert errors(seed, 8) == pytest.approx(0, abs=1e-9)


def test_several_higher_pairs_in_a_loop_are_among_them():
    loops = [LoopConstraints(mechanism(seed)) for seed in (0, 3)]
    for x in loops:
        shared = [c for c in x.topology.cycles if "body" in " ".join(c.joints)]
        assert shared, "the last body has only higher pairs, so it is free in the tree"


def test_several_motions_at_once():
    loops = LoopConstraints(mechanism(1))
    motions = np.random.default_rng(1).normal(size=(3, loops.n, 4))
    together = loops.derivatives(*motions)
    for k in range(4):
        assert together[:, :, k] == pytest.approx(loops.derivatives(*motions[:, :, k]), abs=1e-12)


def test_derivatives_follow_parameters():
    """A line at a height that is a Parameter: the point's distance from it is what changes."""
    body = Body("arm", 0.0)
    line = PointOnLine("line", Frame(GROUND, (0, Parameter("height", 1.0), 0), (1, 0, 0)),
                       Frame(body, (0, Parameter("arm_length", 1.0), 0)))  # fmt: skip
    arm = Mechanism([body], [Revolute("hinge", Frame(GROUND), Frame(body)), line])
    for scale in (1.0, 3.0):
        loops = LoopConstraints(arm, parameters={"height": scale, "arm_length": scale})
        H = loops.derivatives([1.0], [0.0])
        # The end is at scale (-sin u, cos u): its height falls by scale u^2 / 2.
        assert np.max(np.abs(H[0])) == pytest.approx(0, abs=1e-15)
        assert np.max(np.abs(H[1])) == pytest.approx(scale, rel=1e-14)


def pin_on_roof(place):
    """A pin that slides in a plane on y = |x|."""
    block = Body("block", 0.0, position=(place, abs(place), 0))
    joints = [
        Planar("plane", Frame(GROUND), Frame(block)),
        PointOnCurve("roof", Frame(GROUND), Frame(block), lambda x, y: y - ca.fabs(x)),
    ]
    return LoopConstraints(Mechanism([block], joints, Relative(["roof"])))


def test_derivatives_beside_a_corner():
    """Of y - |x| along (1, 1), on either side."""
    for place, rate in ((-0.5, 2.0), (0.5, 0.0)):
        assert pin_on_roof(place).derivatives([1.0, 1.0, 0.0])[0] == pytest.approx([rate, 0])


def test_derivatives_at_a_corner_are_refused():
    with pytest.raises(ValueError, match="an absolute value has no derivatives at zero"):
        pin_on_roof(0.0).derivatives([1.0, 1.0, 0.0])


@pytest.mark.parametrize("seed", [1, 2])
def test_functions_of_the_posture(seed):
    """The same numbers at the posture; at another, the rate by it is the next derivative."""
    loops, order = LoopConstraints(mechanism(seed)), 3
    H = constraint_function(loops, order)
    motion = list(np.random.default_rng(seed).normal(size=(order, loops.n)))
    found = np.asarray(H(loops.q, loops.p, *motion)).T
    assert found == pytest.approx(loops.derivatives(*motion), abs=1e-12)
    # Along constant rates x the derivative of H^(1) by q is H^(2).
    still, step = [np.zeros(loops.n)] * (order - 1), 1e-5
    after, before = (
        np.asarray(H(moved_by(loops, sign * step * motion[0]), loops.p, motion[0], *still))
        for sign in (1, -1)
    )
    assert (after - before)[:, 0] / (2 * step) == pytest.approx(
        loops.derivatives(motion[0], *still)[1], abs=1e-7
    )


def moved_by(loops, u):
    return np.asarray(ca.evalf(move_joints(loops.mechanism, ca.SX(loops.q), ca.SX(u)))).ravel()
