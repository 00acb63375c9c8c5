"""Recursive dynamics of trees against energies, virtual power, and the equilibrium of every body.

The reference knows poses alone, as products of 4x4 matrices along the joints; velocities,
accelerations, energies and virtual power follow by differentiation.
"""

from dataclasses import replace
from functools import cache

import casadi as ca
import numpy as np
import pytest

from nsopt import (
    GROUND,
    Actuator,
    Body,
    Cylindrical,
    Fixed,
    Frame,
    Mechanism,
    Mimic,
    Planar,
    Prismatic,
    Relative,
    Revolute,
    Screw,
    Universal,
    assemble,
)
from nsopt.robots import (
    bias_force,
    forward_dynamics,
    forward_kinematics,
    inverse_dynamics,
    joint_reactions,
    mass_matrix,
)
from tests.robots.trees import (
    AXES_ONLY,
    TREE,
    WAYS,
    G,
    Reference,
    random_body,
    random_frame,
    slice_,
    tree,
)


@cache
def case(ways, axes_only=False):
    mechanism = tree(AXES_ONLY if axes_only else TREE, WAYS[ways])
    return mechanism, Reference(mechanism)


def flat(x):
    return np.array(x).ravel()


def close(computed, expected, limit=1e-11):
    computed, expected = np.array(computed), np.array(expected)
    assert computed == pytest.approx(expected, rel=limit, abs=limit * np.abs(expected).max())


either_way = pytest.mark.parametrize("ways", WAYS)
SEEDS = range(3)


@either_way
def test_mass_matrix_is_the_hessian_of_the_kinetic_energy(ways):
    mechanism, reference = case(ways)
    hessian, _ = ca.hessian(reference.kinetic(), reference.v)
    for seed in SEEDS:
        q, v, a = reference.state(seed)
        (expected,) = reference.evaluate([hessian], (q, v, a))
        M = np.array(mass_matrix(mechanism)(q))
        close(M, expected)
        assert np.array_equal(M, M.T) or np.allclose(M, M.T, rtol=0, atol=1e-14)
        assert np.linalg.eigvalsh(M)[0] > 0


@either_way
def test_inverse_dynamics_is_virtual_power(ways):
    mechanism, reference = case(ways)
    tau = reference.virtual_power()
    for seed in SEEDS:
        state = reference.state(seed)
        (expected,) = reference.evaluate([tau], state)
        close(inverse_dynamics(mechanism, G)(*state), expected)


@either_way
def test_inverse_dynamics_is_lagranges_equations(ways):
    mechanism, reference = case(ways, axes_only=True)
    L = reference.kinetic() - reference.potential()
    lagrange = reference.change(ca.gradient(L, reference.v)) - ca.gradient(L, reference.q)
    for seed in SEEDS:
        state = reference.state(seed)
        (expected,) = reference.evaluate([lagrange], state)
        close(inverse_dynamics(mechanism, G)(*state), expected)


@either_way
def test_power_is_the_rate_of_energy(ways):
    mechanism, reference = case(ways)
    rate = reference.change(reference.kinetic() + reference.potential())
    state = reference.state(4)
    (expected,) = reference.evaluate([rate], state)
    tau = np.array(inverse_dynamics(mechanism, G)(*state))
    close(state[1] @ tau, expected.ravel())


@pytest.mark.slow
@either_way
def test_forward_dynamics_inverts_inverse_dynamics(ways):
    mechanism, reference = case(ways)
    for seed in SEEDS:
        q, v, a = reference.state(seed)
        tau = inverse_dynamics(mechanism, G)(q, v, a)
        close(flat(forward_dynamics(mechanism, G)(q, v, tau)), a, 1e-9)


def test_bias_force_is_inverse_dynamics_without_acceleration():
    mechanism, reference = case("mixed")
    q, v, a = reference.state(0)
    tau = np.array(inverse_dynamics(mechanism, G)(q, v, a)).ravel()
    M = np.array(mass_matrix(mechanism)(q))
    close(flat(bias_force(mechanism, G)(q, v)), tau - M @ a)


@either_way
def test_kinematics_of_frames(ways):
    mechanism, reference = case(ways)
    rng = np.random.default_rng(9)
    frames = [random_frame(rng, body) for body in [*mechanism.bodies, GROUND]]
    moving = [reference.moving(frame) for frame in frames]
    expected = [
        ca.horzcat(*(m.r for m in moving)),
        ca.horzcat(*(m.R for m in moving)),
        ca.horzcat(*(ca.vertcat(m.v, m.w) for m in moving)),
        ca.horzcat(*(ca.vertcat(m.a, m.wdot) for m in moving)),
    ]
    state = reference.state(1)
    kinematics = forward_kinematics(mechanism, frames)(*state)
    for x, y in zip(kinematics, reference.evaluate(expected, state), strict=True):
        close(x, y)


def test_velocities_and_accelerations_are_finite_differences():
    """Along q(t) = retract(q, v t + a t^2 / 2), by central differences."""
    mechanism, reference = case("mixed")
    coordinates = mechanism.tree
    frames = [Frame(body) for body in mechanism.bodies]
    kinematics = forward_kinematics(mechanism, frames)
    q, v, a = reference.state(2)
    h = 1e-5

    def at(t):
        moved = coordinates.retract(ca.SX(ca.DM(q)), ca.SX(ca.DM(v * t + a * t**2 / 2)))
        return [np.array(x) for x in kinematics(ca.evalf(moved), v + a * t, a)]

    before, now, after = at(-h), at(0.0), at(h)
    rate = (after[0] - before[0]) / (2 * h)
    assert now[2][:3] == pytest.approx(rate, abs=1e-7)
    # A turn under changing angular velocity is exact to the second order at t = 0.
    change = (after[2] - before[2]) / (2 * h)
    assert now[3] == pytest.approx(change, abs=1e-6 * np.abs(change).max())


def drives(reference, tau):
    """Force and torque of each joint's drive on the body of its frame b, about b's origin."""
    pairs = {}
    for joint in reference.mechanism.joints:
        a, b = (reference.pose(frame)[:3, :3] for frame in joint.frames)
        mine, none = tau[reference.at[joint.name]], ca.SX.zeros(3)
        if isinstance(joint, Fixed):
            pair = none, none
        elif isinstance(joint, Revolute):
            pair = none, a[:, 2] * mine[0]
        elif isinstance(joint, Prismatic):
            pair = a[:, 2] * mine[0], none
        elif isinstance(joint, Screw):
            pair = none, a[:, 2] * mine[0]  # by a torque
        elif isinstance(joint, Cylindrical):
            pair = a[:, 2] * mine[0], a[:, 2] * mine[1]
        elif isinstance(joint, Universal):
            pair = none, a[:, 0] * mine[0] + b[:, 1] * mine[1]
        elif isinstance(joint, Planar):
            pair = a[:, 0] * mine[0] + a[:, 1] * mine[1], a[:, 2] * mine[2]
        else:  # the torque acts on what turns, in its axes
            outer = reference._outer(joint)
            torque = reference.pose(outer)[:3, :3] @ mine
            pair = none, torque if outer is joint.b else -torque
        pairs[joint.name] = pair
    return pairs


def unbalanced(mechanism, reference, reactions, tau, loaded=(), load=None):
    """Force and torque (6, n) that each body lacks; free ones are pushed by their own forces."""
    driving = drives(reference, tau)
    at = {joint.name: k for k, joint in enumerate(mechanism.joints)}
    missing = []
    for body in mechanism.bodies:
        m, force, torque = reference.needed(body)
        wrenches = []
        for joint in mechanism.joints:
            if body not in (joint.a.body, joint.b.body):
                continue
            sign = 1 if body is joint.b.body else -1
            column, (f, n) = reactions[:, at[joint.name]], driving[joint.name]
            origin = reference.pose(joint.b)[:3, 3]
            wrenches.append((origin, sign * (column[:3] + f), sign * (column[3:] + n)))
        for k, frame in enumerate(loaded):
            if frame.body is body:
                wrenches.append((reference.pose(frame)[:3, 3], load[:3, k], load[3:, k]))
        if body in reference.free:
            (first,) = [k for k, x in enumerate(reference.free) if x is body]
            own = tau[slice_(6 * first, 6)]
            wrenches.append((m.r, own[:3], m.R @ own[3:]))
        for r, f, n in wrenches:
            force = force - f
            torque = torque - n - ca.cross(r - m.r, f)
        missing.append(ca.vertcat(force, torque))
    return ca.horzcat(*missing)


@pytest.mark.slow
@either_way
@pytest.mark.parametrize("with_loads", [False, True])
def test_joint_reactions_and_drives_keep_every_body_in_equilibrium(ways, with_loads):
    mechanism, reference = case(ways)
    rng = np.random.default_rng(3)
    bodies = list(mechanism.bodies)
    loaded = [random_frame(rng, bodies[k]) for k in (5, 5, 8, 10)] if with_loads else []
    load = rng.normal(size=(6, 4))
    more = (load,) if with_loads else ()
    for seed in SEEDS:
        state = reference.state(seed)
        tau = np.array(inverse_dynamics(mechanism, G, loaded)(*state, *more))
        held = np.array(joint_reactions(mechanism, G, loaded)(*state, *more))
        lacking = unbalanced(
            mechanism, reference, ca.DM(held), ca.SX(ca.DM(tau)), loaded, ca.DM(load)
        )
        (wrenches,) = reference.evaluate([lacking], state)
        assert wrenches == pytest.approx(0, abs=1e-10)


@either_way
def test_reactions_do_no_work_on_the_freedoms_of_their_joint(ways):
    mechanism, reference = case(ways)
    powers = []
    reactions = ca.SX.sym("reactions", 6, len(mechanism.joints))
    for k, joint in enumerate(mechanism.joints):
        a, b = (reference.moving(frame) for frame in joint.frames)
        # Both at the origin of b.
        slip, spin = b.v - a.v - ca.cross(a.w, b.r - a.r), b.w - a.w
        power = ca.dot(reactions[:3, k], slip) + ca.dot(reactions[3:, k], spin)
        powers.append(ca.jacobian(power, reference.v[reference.at[joint.name]]).T)
    state = reference.state(0)
    held = joint_reactions(mechanism, G)(*state)
    work = ca.Function("work", [reference.q, reactions], [ca.vertcat(*powers)])(state[0], held)
    assert np.array(work) == pytest.approx(0, abs=1e-11)


def test_loads_are_the_transpose_of_their_jacobian():
    mechanism, reference = case("mixed")
    rng = np.random.default_rng(5)
    frames = [random_frame(rng, body) for body in mechanism.bodies]
    load = rng.normal(size=(6, len(frames)))
    moving = [reference.moving(frame) for frame in frames]
    twists = ca.horzcat(*(ca.vertcat(m.v, m.w) for m in moving))
    power = ca.dot(ca.DM(load), twists)
    state = reference.state(6)
    (expected,) = reference.evaluate([ca.gradient(power, reference.v)], state)
    without = np.array(inverse_dynamics(mechanism, G)(*state))
    difference = without - np.array(inverse_dynamics(mechanism, G, frames)(*state, load))
    close(difference, expected, 1e-10)


def test_a_load_on_the_ground_is_refused():
    with pytest.raises(ValueError, match="load on the ground moves nothing"):
        inverse_dynamics(tree(AXES_ONLY), loaded=[Frame(GROUND)])


CHAIN = [(Revolute, "b0", GROUND), (Prismatic, "b1", "b0"), (Screw, "b2", "b1")]
CHAIN += [(Revolute, "b3", "b1"), (Prismatic, "b4", "b3")]
DRIVES = [Actuator("j_b0", rotor_inertia=2e-4, gear_ratio=-50.0)]
DRIVES += [Actuator("j_b1", rotor_inertia=0.3), Actuator("j_b2", rotor_inertia=1e-3, gear_ratio=7)]


def test_rotors_count_with_the_square_of_their_gears():
    plain, driven = tree(CHAIN), tree(CHAIN, actuators=DRIVES)
    q, v, a = np.random.default_rng(0).normal(size=(3, 5))
    rotors = np.diag([2e-4 * 50**2, 0.3, 1e-3 * 49, 0, 0])
    close(mass_matrix(driven)(q), np.array(mass_matrix(plain)(q)) + rotors)
    tau = flat(inverse_dynamics(plain)(q, v, a)) + rotors @ a
    close(flat(inverse_dynamics(driven)(q, v, a)), tau)
    close(flat(forward_dynamics(driven)(q, v, tau)), a)


@either_way
def test_mimics_project_the_free_mechanism(ways):
    """q = P x + p; forces and masses are P^T tau and P^T M P, rotors of followers included."""
    mimics = [Mimic("j_b1", "j_b3", -0.7, 0.2), Mimic("j_b2", "j_b0", 2.0, -0.1)]
    flips = WAYS[ways]
    free = tree(CHAIN, flips, actuators=DRIVES)
    bound = tree(CHAIN, flips, actuators=DRIVES, mimics=mimics)
    P = np.array([[1, 0, 0], [0, -0.7, 0], [2, 0, 0], [0, 1, 0], [0, 0, 1.0]])
    p = np.array([0, 0.2, -0.1, 0, 0])
    assert bound.tree.v_names == ("j_b0.rate", "j_b3.rate", "j_b4.speed")
    q, v, a = np.random.default_rng(0).normal(size=(3, 3))
    full = P @ q + p, P @ v, P @ a
    tau = P.T @ flat(inverse_dynamics(free, G)(*full))
    close(flat(inverse_dynamics(bound, G)(q, v, a)), tau)
    close(mass_matrix(bound)(q), P.T @ np.array(mass_matrix(free)(full[0])) @ P)
    close(flat(forward_dynamics(bound, G)(q, v, tau)), a, 1e-10)
    close(joint_reactions(bound, G)(q, v, a), joint_reactions(free, G)(*full))
    energies = [
        float(assemble(x).kinetic(0, *at, [])) for x, at in ((free, full[:2]), (bound, (q, v)))
    ]
    close(energies, np.full(2, full[1] @ np.array(mass_matrix(free)(full[0])) @ full[1] / 2))


def test_bodies_fixed_to_each_other_are_one():
    """Masses, centre and inertia by hand [Huygens, Steiner]."""
    rng = np.random.default_rng(1)
    one, other = random_body(rng, "b0"), random_body(rng, "b1")
    hinge, to = random_frame(rng, GROUND), random_frame(rng, one)
    a, b = random_frame(rng, one), random_frame(rng, other)
    two = Mechanism(
        [one, other], [Revolute("j", hinge, to), Fixed("f", b, a)], coordinates="relative"
    )
    R = a.axes @ np.transpose(b.axes)
    c = a.origin - R @ b.origin
    mass = one.mass + other.mass
    centre = other.mass * c / mass

    def about(body, turned, arm):
        J = turned @ body.inertia @ turned.T
        return J + body.mass * (arm @ arm * np.eye(3) - np.outer(arm, arm))

    J = about(one, np.eye(3), -centre) + about(other, R, c - centre)
    whole = Body("whole", mass, (J + J.T) / 2)
    joint = Revolute("j", hinge, Frame(whole, to.origin - centre, to.axes))
    merged = Mechanism([whole], [joint], coordinates="relative")
    state = rng.normal(size=3)
    close(inverse_dynamics(two, G)(*state), inverse_dynamics(merged, G)(*state))
    close(mass_matrix(two)(state[0]), mass_matrix(merged)(state[0]))
    close(joint_reactions(two, G)(*state)[:, 0], joint_reactions(merged, G)(*state))


@pytest.mark.parametrize("kind", [Revolute, Prismatic])
def test_a_joint_that_moves_no_mass_is_named(kind):
    rng = np.random.default_rng(0)
    arm, leaf = random_body(rng, "b0"), Body("b1", 0.0)
    joints = [
        Revolute("shoulder", random_frame(rng, GROUND), random_frame(rng, arm)),
        kind("wrist", random_frame(rng, arm), random_frame(rng, leaf)),
    ]
    mechanism = Mechanism([arm, leaf], joints, coordinates="relative")
    with pytest.raises(ValueError, match=r"joint 'wrist' can move .* without any inertia"):
        forward_dynamics(mechanism)
    held = Actuator("wrist", rotor_inertia=1e-3)
    with_rotor = Mechanism([arm, leaf], joints, coordinates="relative", actuators=[held])
    accelerations = flat(forward_dynamics(with_rotor)([0, 0], [0, 0], [0, 1e-3]))
    assert accelerations[1] == pytest.approx(1.0)


def test_gravity_must_be_a_vector():
    with pytest.raises(ValueError, match="gravity must have shape"):
        inverse_dynamics(tree(CHAIN), gravity=(0, -9.81))


def test_a_loop_is_no_tree():
    mechanism = tree(CHAIN)
    last = mechanism.bodies[-1]
    closing = Revolute("closing", Frame(GROUND, (3, 0, 0)), Frame(last))
    joints = [*mechanism.joints, closing]
    closed = replace(mechanism, joints=joints, coordinates=Relative(["closing"]))
    for make in (inverse_dynamics, mass_matrix, forward_dynamics, bias_force, joint_reactions):
        with pytest.raises(ValueError, match="joint 'closing' closes a loop"):
            make(closed)
    forward_kinematics(closed, [Frame(last)])


def test_what_is_no_mechanism_or_frame_is_named():
    mechanism = tree(CHAIN)
    with pytest.raises(TypeError, match="a Mechanism is needed, got Dynamics"):
        inverse_dynamics(assemble(mechanism))
    with pytest.raises(TypeError, match="frames are needed"):
        forward_kinematics(mechanism, ["tool"])
    with pytest.raises(ValueError, match="body 'stranger', which is not in the mechanism"):
        inverse_dynamics(mechanism, loaded=[Frame(Body("stranger", 1.0))])
