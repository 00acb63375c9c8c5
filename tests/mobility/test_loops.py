"""Loops and cuts: the graph, what each cut leaves, and refusals."""

from dataclasses import replace

import numpy as np
import pytest

from nsopt import (
    GROUND,
    Body,
    Distance,
    Frame,
    Mechanism,
    Mimic,
    Parameter,
    PointOnLine,
    Relative,
    Revolute,
    Spherical,
)
from nsopt.mobility import (
    LoopConstraints,
    Topology,
    UndecidedRankError,
    cut_bodies,
    linkage,
    mobility,
)
from problems.four_bar_slot import four_bar_slot
from tests.mobility.models import BRICARD, GENERIC


def four_bar(places, cut):
    """Parallel hinges at places of the plane, one of which is cut."""
    loop = linkage([(0, 0, 1, y, -x, 0) for x, y in places])
    return Mechanism(loop.bodies, loop.joints, Relative([f"joint {cut}"]))


def rank_and_nullity(mechanism):
    loops = LoopConstraints(mechanism)
    rank = np.linalg.matrix_rank(loops.jacobian(), tol=1e-9)
    return int(rank), loops.n - int(rank)


def test_loops_of_example_3():
    """Fig. 5: two cycles, of cut joints 3 and 5; all tree joints point away from the ground."""
    topology = Topology.of(four_bar_slot.model())
    assert topology.gamma == 2
    assert [(c.cut, c.joints) for c in topology.cycles] == [
        ("joint 3", ("joint 1", "joint 2")),
        ("joint 5", ("joint 1", "joint 2", "joint 4")),
    ]
    assert all(sigma == 1 for c in topology.cycles for sigma in c.orientation)


def test_orientation_of_a_joint_stated_the_other_way():
    """sigma is -1, and all else as before."""
    loop = four_bar_slot.model()
    turned = [
        type(joint)(joint.name, joint.b, joint.a) if joint.name == "joint 2" else joint
        for joint in loop.joints
    ]
    mechanism = Mechanism(loop.bodies, turned, loop.coordinates)
    cycle = Topology.of(mechanism).cycles[1]
    assert dict(zip(cycle.joints, cycle.orientation, strict=True))["joint 2"] == -1
    x = mobility(mechanism)
    assert (x.cone_dimensions, x.shakiness) == ((1, 1, 1, 1, 1, 0), 5)


def test_a_graph_in_two_parts_has_the_loops_of_both():
    one, other = (linkage(GENERIC, [f"{k}{name}" for k in range(4)]) for name in "ab")
    bodies = [Body(f"{x.name}{k}", 0.0, position=x.position) for k in "ab" for x in one.bodies]
    joints = []
    for k, loop in enumerate((one, other)):
        own = dict(zip([None, *loop.bodies], [None, *bodies[3 * k : 3 * k + 3]], strict=True))
        for joint in loop.joints:
            frames = (Frame(own[f.body], f.origin, f.axes) for f in joint.frames)
            joints.append(Revolute(joint.name, *frames))
    assert Topology.of(Mechanism(bodies, joints)).gamma == 2


@pytest.mark.parametrize("cut", [1, 2, 3, 4])
def test_no_cut_makes_a_singularity(cut):
    """Section 2.1 has one in Fig. 1, of the cut; by the constraints of a hinge there is none.

    With three axes in line the rank is 2 whichever joint is cut, and 1 with four (erratum).
    """
    assert rank_and_nullity(four_bar([(0, 0), (1, 0), (3, 0), (2, 1)], cut)) == (2, 1)
    assert rank_and_nullity(four_bar([(0, 0), (1, 0), (3, 0), (2, 0)], cut)) == (1, 2)


@pytest.mark.parametrize("screws", [BRICARD, GENERIC], ids=["bricard", "four-bar"])
def test_every_cut_leaves_the_same_freedom(screws):
    loop = linkage(screws)
    found = [
        rank_and_nullity(Mechanism(loop.bodies, loop.joints, Relative([joint.name])))
        for joint in loop.joints
    ]
    assert len(set(found)) == 1
    whole = LoopConstraints(cut_bodies(loop))
    assert (whole.m, whole.n) == (6, len(screws))
    assert np.linalg.matrix_rank(whole.jacobian(), tol=1e-9) == found[0][0] + 1


def test_cut_bodies_hold_as_the_screws_say():
    """A loop of lower pairs lets go what its screws times the rates sum to zero for."""
    whole = LoopConstraints(cut_bodies(linkage(BRICARD)))
    screws = np.array(BRICARD, dtype=float).T
    assert np.linalg.matrix_rank(np.vstack([whole.jacobian(), screws]), tol=1e-9) == 5
    kernel = np.linalg.svd(screws)[2][-1]
    assert whole.derivatives(kernel)[0] == pytest.approx(0, abs=1e-12)


def guided_bar(second, ball=False):
    """A bar about a point, by a ball or by three rings; its end is on a line.

    The angle of the second ring is that between the axes of the first and the third.
    """
    rings = [Body("outer", 0.0), Body("inner", 0.0), Body("bar", 0.0)]
    axes = [(0, 0, 1), (0, 1, 0), (np.sin(second), 0, np.cos(second))]
    joints = [
        Revolute(f"ring {k}", Frame.at(a, (0, 0, 0), axis), Frame.at(b, (0, 0, 0), axis))
        for k, (a, b, axis) in enumerate(zip([GROUND, *rings], rings, axes, strict=False), 1)
    ]
    if ball:
        rings = rings[2:]
        joints = [Spherical("ball", Frame(GROUND), Frame(rings[0]))]
    line = Frame(GROUND, (0, 1, 0), (1, 0.5, 0))
    return Mechanism(rings, [*joints, PointOnLine("line", line, Frame(rings[-1], (0, 1, 0)))])


def test_gimbal_lock_is_named():
    """A ball as three hinges is singular where two are in line; the ball itself is not."""
    ball, free, locked = (mobility(guided_bar(*x)) for x in ((0, True), (0.9,), (0.0,)))
    for x in (ball, free):
        assert (x.differential_freedom, x.local_freedom, x.singular) == (1, 1, False)
        assert not x.gimbal_locks
    assert (locked.differential_freedom, locked.singular) == (2, True)
    assert locked.gimbal_locks == (("ring 1", "ring 2", "ring 3"),)
    assert "'ring 1', 'ring 2', 'ring 3'" in str(locked)


def test_an_open_posture_is_refused():
    """By eq. 29 at q_2 = 0.3: 2 cos q_2 - 2 + 4 sqrt(3) sin q_2."""
    with pytest.raises(ValueError, match=r"not assembled: joint 'joint 5' is open by 1\.96 \(m"):
        mobility(four_bar_slot.model(), [0.0, 0.3, 0.0])


def test_a_mechanism_without_loops_is_refused():
    body = Body("bar", 0.0)
    arm = Mechanism([body], [Revolute("hinge", Frame(GROUND), Frame(body))])
    with pytest.raises(ValueError, match="no loop"):
        mobility(arm)


@pytest.mark.parametrize("q", [[0.0], [0.0, np.nan, 0.0], [[0.0, 0.0, 0.0]]])
def test_coordinates_of_another_shape_are_refused(q):
    with pytest.raises(ValueError, match=r"q must be 3 finite numbers, joint 1\.angle"):
        mobility(four_bar_slot.model(), q)


def test_what_is_no_mechanism_is_refused():
    with pytest.raises(TypeError, match="mobility is that of a Mechanism"):
        mobility("four_bar")


def test_a_rank_that_cannot_be_decided_is_refused():
    """A parallelogram that is flat to 1e-8: the singular values are printed."""
    nearly = [(0, 0), (1, 1e-8), (3, 2e-8), (2, 0)]
    with pytest.raises(UndecidedRankError, match=r"its singular value .*e-0[89] is neither"):
        mobility(four_bar(nearly, 4))


def test_frames_turned_the_wrong_way_are_refused():
    """The residual of a hinge vanishes with its axes opposed, too."""
    loop = linkage(GENERIC)
    last = loop.joints[-1]
    flipped = Frame(last.b.body, last.b.origin, -np.asarray(last.b.axes)[:, 2])
    joints = [*loop.joints[:-1], Revolute("joint 4", last.a, flipped)]
    with pytest.raises(ValueError, match="joint 'joint 4' closes with its frames turned the wrong"):
        LoopConstraints(Mechanism(loop.bodies, joints, Relative(["joint 4"])))


def test_other_values_of_parameters_move_stated_poses_too():
    """A hinge and a point on a line at the end of an arm: assembled where both lengths agree."""
    place = Parameter("place", 1.0)
    arm = Body("arm", 0.0, position=(place, 0, 0))
    joints = [
        Revolute("hinge", Frame(GROUND, (place, 0, 0)), Frame(arm)),
        PointOnLine("line", Frame(GROUND, (2, 0, 0)), Frame(arm, (1, 0, 0))),
    ]
    mechanism = Mechanism([arm], joints)
    assert mobility(mechanism, order=1).differential_freedom == 0
    with pytest.raises(ValueError, match=r"joint 'line' is open by 0\.5"):
        mobility(mechanism, parameters={"place": 1.5})
    with pytest.raises(ValueError, match="unknown parameter 'size': one of place"):
        mobility(mechanism, parameters={"size": 1.5})


def test_a_joint_that_mimics_another_is_no_freedom_of_its_own():
    """Two cranks geared one to one, opposed, whose coupler slides on the middle line."""
    links = [Body(name, 0.0) for name in ("left", "right")]
    joints = [
        Revolute(f"{link.name} pin", Frame(GROUND, (x, 0, 0)), Frame(link, (x, 0, 0)))
        for link, x in zip(links, (-1, 1), strict=True)
    ]
    rod = Distance("rod", Frame(links[0], (-1, 1, 0)), Frame(links[1], (1, 1, 0)), 2.0)
    cranks = Mechanism(links, [*joints, rod], "relative", mimics=[Mimic("right pin", "left pin")])
    x = mobility(cranks, order=4)
    assert LoopConstraints(cranks).n == 1
    assert x.local_freedom == 1  # a parallelogram
    opposed = replace(cranks, mimics=[Mimic("right pin", "left pin", ratio=-1.0)])
    x = mobility(opposed, order=2)
    assert (x.differential_freedom, x.local_freedom) == (0, 0)
