"""What relative coordinates are chosen, stated and refused."""

from dataclasses import replace

import numpy as np
import pytest

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
    Start,
    StepBounds,
    assemble,
    consistent,
    simulate,
)


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
