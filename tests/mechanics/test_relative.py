"""Relative coordinates against absolute ones: the same bodies, joints and forces."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from nsopt import (
    Actuator,
    Body,
    Fixed,
    Frame,
    Mechanism,
    Mimic,
    Parameter,
    Prismatic,
    Relative,
    Revolute,
    Screw,
    Spherical,
    SphericalClearance,
    Start,
    StepBounds,
    assemble,
    consistent,
    simulate,
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
    twists = np.hstack([gone, [turn.as_rotvec() / h for turn in turns]]).ravel()
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


def four_bodies():
    bodies = [Body(x, 1.0, (0.1, 0.1, 0.1), position=(k, 0, 0)) for k, x in enumerate("abcd")]
    a, b, c, d = bodies
    joints = [
        Spherical("ball", Frame.at(c, (2.5, 0, 0)), Frame.at(d, (2.5, 0, 0))),
        Revolute("first", Frame(None), Frame(a)),
        Prismatic("second", Frame.at(a, (0.5, 0, 0)), Frame.at(b, (0.5, 0, 0))),
        Fixed("third", Frame.at(c, (1.5, 0, 0)), Frame.at(b, (1.5, 0, 0))),
        Revolute("loop", Frame(None, (3, 0, 0)), Frame(d)),
    ]
    return bodies, joints


def test_tree_takes_joints_of_least_freedom_from_the_ground():
    bodies, joints = four_bodies()
    mechanism = Mechanism(bodies, joints, "relative")
    assert [joint.name for joint in mechanism.cut] == ["ball"]
    names = assemble(mechanism).q_names
    assert names == ("first.angle", "second.distance", "loop.angle")


def test_cuts_may_be_given():
    bodies, joints = four_bodies()
    mechanism = Mechanism(bodies, joints, Relative(cut=["loop"]))
    d = assemble(mechanism)
    assert d.closure_names == ("loop",) * 5
    assert d.q_names[:4] == tuple(f"ball.e{k}" for k in range(4))
    assert d.nv == d.nq - 1 == 5


def test_a_body_that_no_joint_leads_to_is_free():
    bodies, joints = four_bodies()
    d = assemble(
        Mechanism(bodies, [j for j in joints if j.name in ("second", "third")], "relative")
    )
    assert d.q_names[:7] == tuple(f"a.{x}" for x in ("x", "y", "z", "e0", "e1", "e2", "e3"))
    assert d.q_names[14:] == ("second.distance",)  # d is free too


def test_an_open_joint_is_named():
    bodies, joints = four_bodies()
    bodies[1] = replace(bodies[1], position=(1, 0.1, 0))
    joints[2] = replace(joints[2], b=Frame(bodies[1], (-0.5, 0, 0)))
    joints[3] = replace(joints[3], b=Frame(bodies[1], (0.5, -0.1, 0)))
    with pytest.raises(ValueError, match=r"joint 'second': it is open by 0\.1 .* at body 'b'"):
        Mechanism(bodies, joints, "relative").generalized_coordinates.start()


def test_velocities_that_tear_a_joint_are_named():
    bodies, joints = four_bodies()
    free = replace(bodies[3], velocity=(0, 0, 1.0))
    joints = [replace(joints[4], b=Frame(free))]
    with pytest.raises(ValueError, match=r"joint 'loop': it is torn apart by 1 .* at body 'd'"):
        Mechanism([free], joints, "relative").generalized_coordinates.start()


@pytest.mark.parametrize("coordinates", ["joint", 3])
def test_unknown_coordinates_are_refused(coordinates):
    with pytest.raises(ValueError, match="coordinates must be one of 'absolute', 'relative' or"):
        Mechanism([Body("a", 1.0)], coordinates=coordinates)


def hinged(count, **last):
    """Return bodies in a row, each on a hinge to the one before, and the hinges."""
    numbers = {"mass": 1.0, "inertia": (0.1, 0.1, 0.1)}
    bodies = [
        Body(f"b{k}", position=(k, 0, 0), **(numbers | (last if k == count - 1 else {})))
        for k in range(count)
    ]
    ends = [Frame(None), *(Frame.at(body, (k + 0.5, 0, 0)) for k, body in enumerate(bodies))]
    pairs = zip(ends, bodies, strict=False)
    joints = [
        Revolute(f"j{k}", a, Frame.at(b, a.origin if k == 0 else (k - 0.5, 0, 0)))
        for k, (a, b) in enumerate(pairs)
    ]
    return bodies, joints


ONE = hinged(1)


@pytest.mark.parametrize(
    ("stated", "chosen"),
    [
        (hinged(2), "relative"),
        (hinged(20), "relative"),
        (hinged(21), "absolute"),
        (hinged(2, mass=0.0), "absolute"),
        (hinged(2, inertia=(0.1, 0.1, 0.0)), "absolute"),
        ((hinged(2)[0], ()), "absolute"),
        (([*ONE[0], Body("free", 1.0)], ONE[1]), "absolute"),
    ],
    ids=["tree", "long", "too long", "massless", "without inertia", "free", "one is free"],
)
def test_coordinates_are_chosen(stated, chosen):
    mechanism = Mechanism(*stated)
    assert mechanism.is_relative == (chosen == "relative")
    assert not replace(mechanism, bodies=[*stated[0], Body("more", 1.0)]).is_relative
    assert not Mechanism(*stated, "absolute").is_relative


def test_unknown_cuts_are_refused():
    bodies, joints = four_bodies()
    with pytest.raises(ValueError, match="names the joint 'lop', which is not in the mechanism"):
        assemble(Mechanism(bodies, joints, Relative(cut=["lop"])))


@pytest.mark.parametrize(
    ("drives", "message"),
    [
        ({"actuators": [Actuator("ball")]}, "'ball', a Spherical: it must have one freedom"),
        ({"actuators": [Actuator("balls")]}, "'balls', which is not in the mechanism"),
        ({"mimics": [Mimic("third", "first")]}, "'third', a Fixed: it must have one freedom"),
        (
            {"mimics": [Mimic("second", "first"), Mimic("first", "loop")]},
            "'second' mimics 'first', which mimics another",
        ),
    ],
)
def test_drives_of_joints_without_one_freedom_are_refused(drives, message):
    bodies, joints = four_bodies()
    with pytest.raises(ValueError, match=message):
        Mechanism(bodies, joints, "relative", **drives)


def test_rotors_and_mimics_take_relative_coordinates():
    bodies, joints = four_bodies()
    with pytest.raises(ValueError, match="rotor of joint 'first' counts in relative coordinates"):
        Mechanism(bodies, joints, "absolute", [Actuator("first", rotor_inertia=1e-4)])
    with pytest.raises(ValueError, match="'second' mimics 'first', which takes relative"):
        Mechanism(bodies, joints, "absolute", mimics=[Mimic("second", "first")])


def test_a_joint_that_mimics_is_not_cut():
    bodies, joints = four_bodies()
    with pytest.raises(ValueError, match=r"joint 'loop' is cut, but 'second' mimics 'loop'"):
        assemble(Mechanism(bodies, joints, Relative(["loop"]), mimics=[Mimic("second", "loop")]))


def test_a_screw_starts_after_many_turns():
    nut = Body("nut", 1.0, (0.1, 0.1, 0.1), position=(0, 0, 0.5))
    joint = Screw("screw", Frame(None), Frame(nut), 0.1)
    q, _ = Mechanism([nut], [joint], "relative").generalized_coordinates.start()
    assert q == pytest.approx([5 * 2 * np.pi])


def test_a_length_that_is_a_parameter_may_change():
    """Its bodies then state an open joint; a start of one's own does not mind."""
    a = Body("a", 1.0, (0.1, 0.1, 0.1), position=(0.5, 0, 0))
    b = Body("b", 1.0, (0.1, 0.1, 0.1), position=(1.5, 0, 0))
    length = Parameter("length", 0.5)
    joints = [
        Revolute("A", Frame(None), Frame(a, (-0.5, 0, 0))),
        Revolute("B", Frame(a, (length, 0, 0)), Frame(b, (-0.5, 0, 0))),
    ]
    d = assemble(Mechanism([a, b], joints, "relative"))
    p = d.values({"length": 0.7})
    r, *_ = d.poses(np.zeros(2), np.zeros(2), p)
    assert np.asarray(r)[0, 1] == pytest.approx(1.7)
    with pytest.raises(ValueError, match=r"joint 'B': it is open by 0\.2"):
        d.stated_start({"length": 0.7})
    start = consistent(d, parameters={"length": 0.7})
    assert start.q == pytest.approx([0, 0])


def test_starts_may_be_given_by_name():
    bodies, joints = four_bodies()
    d = assemble(Mechanism(bodies, joints, Relative(["ball"])))
    start = Start.named(d, {"second": 0.1, "first.angle": 0.2}, {"loop": 3.0})
    assert dict(zip(d.q_names, start.q, strict=True))["second.distance"] == 0.1
    assert dict(zip(d.v_names, start.v, strict=True))["loop.rate"] == 3.0
    with pytest.raises(ValueError, match=r"'third' is no coordinate: name one of first\.angle"):
        Start.named(d, {"third": 1.0})


@pytest.mark.parametrize(
    ("drives", "message"),
    [
        ({"actuators": [Actuator("first"), Actuator("first")]}, "'first' has 2 actuators"),
        ({"mimics": [Mimic("first", "second"), Mimic("first", "loop")]}, "'first' has 2 mimics"),
    ],
)
def test_a_joint_is_driven_once(drives, message):
    bodies, joints = four_bodies()
    with pytest.raises(ValueError, match=message):
        Mechanism(bodies, joints, "relative", **drives)


def test_mimics_refuse_what_is_no_number_and_themselves():
    with pytest.raises(ValueError, match="ratio of the mimic joint 'a' must be finite"):
        Mimic("a", "b", ratio=np.nan)
    with pytest.raises(ValueError, match="ratio of the mimic joint 'a' must be plain"):
        Mimic("a", "b", ratio=Parameter("k", 1.0))
    with pytest.raises(ValueError, match="joint 'a' cannot mimic itself"):
        Mimic("a", "a")


def test_a_rotor_is_not_cut_silently():
    bodies, joints = four_bodies()
    drive = Actuator("loop", rotor_inertia=1e-3)
    with pytest.raises(ValueError, match="joint 'loop' is cut, but its actuator has a rotor"):
        assemble(Mechanism(bodies, joints, Relative(["loop"]), actuators=[drive]))


def test_one_name_is_no_sequence_of_cuts():
    with pytest.raises(TypeError, match=r"use \['loop'\]"):
        Relative("loop")


def test_nothing_that_moves_is_refused():
    a = Body("a", 1.0, (0.1, 0.1, 0.1))
    d = assemble(Mechanism([a], [Fixed("f", Frame(None), Frame(a))], "relative"))
    with pytest.raises(ValueError, match="nothing moves"):
        simulate(d, duration=1.0, steps=StepBounds(1e-3, 1e-3))
