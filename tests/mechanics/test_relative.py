"""Relative coordinates against absolute ones: the same bodies, joints and forces."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from nsopt import (
    Body,
    Frame,
    Mechanism,
    Revolute,
    SphericalClearance,
    assemble,
)
from nsopt.robots import forward_kinematics
from tests.catalog import JOINTS
from tests.mechanics.pair import pair_of
from tests.states import array, axes_of, quaternion, reactions

TREE = [
    row for row in JOINTS if row.build(Frame(None), Frame(Body("x", 1.0))).freedom() is not None
]
each_joint = pytest.mark.parametrize("row", TREE, ids=str)
ways = pytest.mark.parametrize("inward", [False, True], ids=["outward", "inward"])


@each_joint
@ways
def test_same_accelerations(row, inward):
    pair = pair_of(row, inward)
    q, v = pair.sample()
    x, u = pair.in_absolute(q, v)
    assert array(pair.absolute.closure(0, x, [])) == pytest.approx(0, abs=1e-14)
    assert pair.absolute.closure_matrix(0, x, []) @ u == pytest.approx(0, abs=1e-13)
    inner, _ = pair.acceleration(pair.relative, q, v)
    outer, _ = pair.acceleration(pair.absolute, x, u)
    frames = [Frame(body) for body in pair.bodies]
    *_, accelerations = forward_kinematics(pair.relative.mechanism, frames)(q, v, inner)
    accelerations = np.asarray(accelerations).T
    for k, (a, b) in enumerate(zip(accelerations, outer.reshape(-1, 6), strict=True)):
        A = axes_of(x[7 * k + 3 : 7 * k + 7])
        assert a == pytest.approx([*b[:3], *(A @ b[3:])], abs=1e-9)


@each_joint
@ways
@pytest.mark.parametrize("h", [0.1, -0.1])
def test_steady_moves_have_the_momenta_of_the_free_bodies_as_joints_feel_them(row, inward, h):
    pair = pair_of(row, inward)
    d, (q, v) = pair.relative, pair.sample()
    x, _ = pair.in_absolute(q, v)
    moved, _ = pair.in_absolute(array(d.retract(q, h * v)), v)
    gone = (moved - x).reshape(-1, 7)[:, :3] / h
    turns = [
        (Rotation.from_matrix(axes_of(a[3:])).inv() * Rotation.from_matrix(axes_of(b[3:])))
        for a, b in zip(x.reshape(-1, 7), moved.reshape(-1, 7), strict=True)
    ]
    rate = v[d.v_names.index("hinge.rate")]
    lag = rate - np.sin(h * rate) / h  # of chords behind arcs, of the bodies that are on the hinge
    lags = [lag] * (1 + (row.name == "fixed"))
    twists = np.hstack([gone, [turn.as_rotvec() / h for turn in turns]]).ravel()
    twists = np.hstack([twists, lags])
    momentum = array(pair.absolute.momentum(x, twists, h, []))
    along = np.array([pair.in_absolute(q, rate)[1] for rate in np.eye(d.nv)])
    moving = d.twists(q, v, h, [])
    assert array(d.momentum(q, moving, h, [])) == pytest.approx(along @ momentum, abs=1e-12)


def test_a_move_of_no_time_has_the_momentum_of_the_mass_matrix():
    pair = pair_of(TREE[0], False)
    d, (q, v) = pair.relative, pair.sample()
    momentum = array(d.momentum(q, d.twists(q, v, 0, []), 0, []))
    assert momentum == pytest.approx(array(d.mass(q, []) @ v), abs=1e-14)


@each_joint
def test_the_rate_by_recursion_is_that_of_the_mass_matrix(row):
    """By differences of second order along the motion."""
    pair = pair_of(row, False)
    d, (q, v) = pair.relative, pair.sample()
    later, sooner = (array(d.mass(d.retract(q, s * 1e-5 * v), []) @ v) for s in (1, -1))
    assert array(d.inertia_rate(q, v, [])) == pytest.approx((later - sooner) / 2e-5, abs=1e-8)


@each_joint
@ways
def test_same_kinetic_energy(row, inward):
    pair = pair_of(row, inward)
    q, v = pair.sample()
    x, u = pair.in_absolute(q, v)
    energy = float(pair.absolute.kinetic(0, x, u, []))
    assert float(pair.relative.kinetic(0, q, v, [])) == pytest.approx(energy, rel=1e-12)


@each_joint
@ways
def test_same_reactions(row, inward):
    pair = pair_of(row, inward)
    q, v = pair.sample(1)
    x, u = pair.in_absolute(q, v)
    inner, _ = pair.acceleration(pair.relative, q, v)
    _, mu = pair.acceleration(pair.absolute, x, u)
    d = pair.relative
    wrenches = np.asarray(d.reactions(0, q, v, [], 1, inner, [], [], []))
    assert wrenches == pytest.approx(reactions(pair.absolute, x, mu), abs=1e-9)


@each_joint
@ways
def test_same_energies_and_forces(row, inward):
    pair = pair_of(row, inward)
    q, v = pair.sample(2)
    x, u = pair.in_absolute(q, v)
    for name in ("kinetic", "potential"):
        energies = [getattr(d, name) for d in (pair.relative, pair.absolute)]
        assert float(energies[0](0, q, v, [])) == pytest.approx(float(energies[1](0, x, u, [])))
    resist = [
        np.asarray(d.resistance(0, *s, [], 1, []))
        for d, s in zip((pair.relative, pair.absolute), ((q, v), (x, u)), strict=True)
    ]
    assert resist[0] == pytest.approx(resist[1], abs=1e-11)
    power = [
        array(d.applied(0, *s, [])) @ s[1]
        for d, s in zip((pair.relative, pair.absolute), ((q, v), (x, u)), strict=True)
    ]
    assert power[0] == pytest.approx(power[1], abs=1e-10)


@each_joint
@ways
def test_bodies_that_state_a_posture_start_there(row, inward):
    pair = pair_of(row, inward)
    q, v = pair.sample(3)
    x, u = (np.reshape(y, (2, -1)) for y in pair.in_absolute(q, v))
    bodies = [
        replace(b, position=y[:3], orientation=y[3:], velocity=w[:3], angular_velocity=w[3:])
        for b, y, w in zip(pair.bodies, x, u, strict=True)
    ]
    moved = dict(zip(pair.bodies, bodies, strict=True))
    joints = [
        replace(j, a=replace(j.a, body=moved.get(j.a.body)), b=replace(j.b, body=moved[j.b.body]))
        for j in pair.joints
    ]
    start, rates = Mechanism(bodies, joints, "relative").generalized_coordinates.start()
    for k, ball in enumerate(_balls(pair.relative)):
        start[ball] *= np.sign(start[ball] @ q[ball]) or k
    assert start == pytest.approx(q, abs=1e-12)
    assert rates == pytest.approx(v, abs=1e-12)


def _balls(d):
    return [b.q for b in d.mechanism.generalized_coordinates.blocks if b.ball]


@each_joint
def test_poses_are_those_of_the_motions(row):
    pair = pair_of(row, False)
    q, v = pair.sample(4)
    r, p, u, _ = pair.relative.poses(q, v, [])
    kinematics = forward_kinematics(pair.relative.mechanism, [Frame(b) for b in pair.bodies])
    position, axes, twists, _ = kinematics(q, v, v)
    assert np.asarray(u) == pytest.approx(np.asarray(twists)[:3], abs=1e-13)
    assert np.asarray(r) == pytest.approx(np.asarray(position), abs=1e-14)
    for k in range(2):
        A = np.asarray(axes)[:, 3 * k : 3 * k + 3]
        assert abs(np.asarray(p)[:, k] @ quaternion(A)) == pytest.approx(1, abs=1e-13)


def test_a_contact_on_a_tree_is_part_of_what_its_joints_hold():
    """Statics: the hinge holds the weight less what the contact carries."""
    a = Body("a", 2.0, (0.1, 0.1, 0.1), position=(0.5, 0, 0))
    hinge = Revolute("hinge", Frame(None), Frame.at(a, (0, 0, 0)))
    end = SphericalClearance("end", Frame(None, (1.0, -1e-3, 0)), Frame.at(a, (1.0, 0, 0)), 1e-3)
    d = assemble(Mechanism([a], [hinge], "relative"), [end], (0, -10.0, 0))
    q, v = d.stated_start()
    wrenches = np.asarray(d.reactions(0, q, v, [], 1, v, [], [10.0], []))
    normal = np.asarray(d.contact_normals(0, q, []))[:, 0]
    assert wrenches[:3, 0] == pytest.approx([0, 20, 0] - 10 * normal, abs=1e-12)
