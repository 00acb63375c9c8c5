"""Motions of frames as seen from others, along a tree and by world axes."""

import casadi as ca
import numpy as np
import pytest

from nsopt import (
    Bend,
    Body,
    Cylindrical,
    Fixed,
    Frame,
    Mechanism,
    Prismatic,
    Revolute,
    Spherical,
    Universal,
)
from nsopt.mechanics.equations.symbolic import SymbolicMechanism

pytestmark = pytest.mark.unit
KINDS = [Revolute, Prismatic, Universal, Spherical, Cylindrical, Fixed, Bend]
PARENTS = [None, 0, 0, 1, 1, 2, 4]


@pytest.fixture(scope="module")
def tree():
    """Joints of all kinds in a tree, and a free body, in symbols."""
    rng = np.random.default_rng(1)
    bodies, joints = [], []
    for k, (kind, parent) in enumerate(zip(KINDS, PARENTS, strict=True)):
        body = Body(f"b{k}", 1.0, (0.1, 0.1, 0.1), position=rng.normal(size=3))
        point, axes = rng.normal(size=3), rng.normal(size=3)
        base = None if parent is None else bodies[parent]
        joints.append(kind(f"j{k}", Frame.at(base, point, axes), Frame.at(body, point, axes)))
        bodies.append(body)
    bodies.append(Body("free", 1.0, (0.1, 0.1, 0.1)))
    return SymbolicMechanism(Mechanism(bodies, joints, "relative"), (), (0, 0, 0), ())


@pytest.mark.slow
def test_both_ways_agree_with_their_derivatives(tree):
    """By virtual displacements and velocities, of the coordinates and of single bodies."""
    s, rng = tree, np.random.default_rng(2)
    displaced = ca.vertcat(s.displacement, *s.twists.values())
    moving = ca.vertcat(s.v, *s.rates.values())
    rest = [(x, ca.SX.zeros(x.numel())) for x in (s.displacement, *s.twists.values())]
    rest += [(x, ca.SX.zeros(x.numel())) for x in s.rates.values()]
    owners = [*s.mechanism.bodies, None]
    frames = [Frame(body, rng.normal(size=3), rng.normal(size=3)) for body in owners]
    outputs = [[], []]
    for a, b in [(a, b) for a in frames for b in frames if a is not b]:
        for kept, way in zip(outputs, (s.state.seen, s.state._from_world), strict=True):
            r, A, v, w = way(a, b)
            pose, twist = ca.vertcat(r, ca.vec(A)), ca.vertcat(v, w)
            rates = ca.jacobian(pose, displaced), ca.jacobian(twist, moving)
            kept += [pose, twist, *map(ca.vec, rates)]
    both = [ca.vertcat(*x) for x in outputs]
    values = ca.substitute(both, [x for x, _ in rest], [x for _, x in rest])
    q = ca.Function("q", [s.q], [s.coordinates.renormalise(s.q)])(rng.normal(size=s.q.numel()))
    short, world = ca.Function("f", [s.q, s.v], values)(q, rng.normal(size=s.v.numel()))
    assert float(ca.norm_inf(short - world)) < 1e-12


def test_across_a_joint_it_is_a_matter_of_its_own_coordinates(tree):
    s = tree
    for joint, names in ((s.mechanism.joints[0], ["j0.angle"]), (s.mechanism.joints[5], [])):
        seen = s.state.seen(*joint.frames)
        (A,) = s.evaluate(seen.A)
        own = [s.coordinates.q_names.index(name) for name in names]
        used = [k for k in range(s.q.numel()) if ca.depends_on(A, s.q[k])]
        assert used == own
