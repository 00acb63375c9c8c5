"""Mechanisms with play from motions of ideal joints."""

from dataclasses import replace

import casadi as ca
import numpy as np
import pytest

from nsopt import (
    Actuator,
    Body,
    Frame,
    Mechanism,
    Relative,
    Revolute,
    RevoluteClearance,
    Variational,
    assemble,
)
from nsopt.robots import WithPlay
from nsopt.trajectory import (
    IN_STEPS,
    Earlier,
    Effort,
    EndAt,
    FromIdeal,
    Horizon,
    InputEffort,
    Quintic,
    StartAt,
    Straight,
    Through,
    optimize,
)

SHARES = np.linspace(0, 1, 9)
BOUNDS = (1.0, 1.0)
A, B = np.array([-1.2, 0.6, 0.3]), np.array([0.4, 1.1, -0.8])
G = (0.0, -9.81, 0.0)


def arm(links=3):
    """Links of 0.4 m, out of one plane: the second turns about an axis across the first."""
    axes = [(0, 0, 1), (0, 0, 1), (0, 1, 0)]
    bodies = [
        Body(f"link{k}", 1.0, (2e-3, 0.02, 0.02), position=((k + 0.5) * 0.4, 0, 0))
        for k in range(links)
    ]
    joints = [
        Revolute(
            f"hinge{k}",
            Frame.at(bodies[k - 1] if k else None, (0.4 * k, 0, 0), axes[k]),
            Frame.at(body, (0.4 * k, 0, 0), axes[k]),
        )
        for k, body in enumerate(bodies)
    ]
    return Mechanism(bodies, joints, "relative", [Actuator(x.name) for x in joints])


def hung(robot):
    """The same, its second link free in a bore."""
    hinge = robot.joints[1]
    others = [x for x in robot.joints if x is not hinge]
    drives = [Actuator(x.name) for x in others]
    bore = RevoluteClearance("bore", hinge.a, hinge.b, 0.05, 1e-4, 1e-4)
    return assemble(Mechanism(robot.bodies, others, "relative", drives), [bore])


def motions(mechanism, q, v):
    """Position, axes and velocities of each body, by name."""
    x, y = ca.SX.sym("q", q.shape[1]), ca.SX.sym("v", v.shape[1])
    found = mechanism.generalized_coordinates.motions(x, y, ca.SX)
    parts = {name: ca.vertcat(m.r, ca.vec(m.A), m.v, m.w) for name, m in found.items()}
    f = ca.Function("motions", [x, y], list(parts.values()))
    columns = f.map(len(q))(q.T, v.T)
    return {name: np.asarray(c).T for name, c in zip(parts, columns, strict=True)}


@pytest.mark.parametrize("play", ["a free link", "a joint of three freedoms"])
def test_bodies_move_as_by_ideal_joints(play):
    """Poses and velocities of all bodies, by the coordinates of either mechanism."""
    robot = arm()
    if play == "a free link":
        d = hung(robot)
    else:
        loose = WithPlay(robot, "hinge1", 1e-4)
        d = assemble(loose.mechanism, loose.elements)
    inner = Quintic(A, B)
    guess = FromIdeal(robot, inner).placed(d, [], None)
    x, known = (g.trajectory(SHARES, BOUNDS, ()) for g in (guess, inner))
    x.check("FromIdeal", d, ())
    ours, theirs = motions(d.mechanism, x.q, x.v), motions(robot, known.q, known.v)
    assert set(ours) == set(theirs) == {"link0", "link1", "link2"}
    for name, values in ours.items():
        assert values == pytest.approx(theirs[name], abs=1e-9)
    assert x.a[4] == pytest.approx((x.v[5] - x.v[3]) / (SHARES[5] - SHARES[3]))


def with_play(start, end, duration, play):
    """Two links in the plane without and with play in their elbow, and its offsets (n, 2) [m]."""
    robot, rest = arm(2), [0.0, 0.0]
    ends = [StartAt(start, rest), EndAt(end, rest)]
    horizon = Horizon(duration, 12)
    ideal, guess = assemble(robot, gravity=G), Quintic(start, end)
    best = optimize(ideal, horizon, [Effort()], ends, guess, scheme=Variational())
    loose = WithPlay(robot, "hinge1", play)
    d = assemble(loose.mechanism, loose.elements, gravity=G)
    still = dict.fromkeys(d.v_names, 0.0)
    result = optimize(
        d,
        horizon,
        [Effort(), InputEffort(input=loose.input)],
        [
            StartAt({"hinge0": start[0], "hinge1.angle": start[1]}, still),
            EndAt({"hinge0": end[0], "hinge1.angle": end[1]}, still),
        ],
        FromIdeal(robot, Earlier(best)),
        inputs=[loose.input],
        scheme=Variational(normal_implicitness=0.5),
    )
    assert result.completed, result.stop_reason
    return best, result, result["q"].values[:, [d.q_names.index(f"hinge1.{x}") for x in "xy"]]


@pytest.mark.slow
def test_an_arm_with_play_needs_hardly_more_effort():
    """Two links in the plane, lifted: play of 0.1 mm changes the least effort by less than 2 %."""
    best, result, offsets = with_play([-1.2, 0.6], [0.0, 0.4], 0.8, 1e-4)
    assert result.objective == pytest.approx(best.objective, rel=0.02)
    # The start of the pin in its bore is left free: it is in it all the same.
    assert np.linalg.norm(offsets, axis=1).max() == pytest.approx(1e-4, rel=1e-3)
    assert np.linalg.norm(offsets[0]) <= 1e-4 * (1 + 1e-3)


@pytest.mark.slow
def test_a_pin_that_may_start_anywhere_starts_on_the_side_where_its_first_step_ends():
    """From the opposite wall normals cancel: such a start led to 200 times the effort."""
    best, result, offsets = with_play(A[:2], B[:2], 1.0, 1e-3)
    assert offsets[0] @ offsets[1] >= -1e-6 * 1e-3**2
    assert result.objective < 2 * best.objective


@pytest.mark.unit
def test_what_cannot_be_is_refused():
    robot = arm()
    with pytest.raises(TypeError, match="FromIdeal takes a Mechanism first"):
        FromIdeal(assemble(robot), Quintic(A, B))
    with pytest.raises(TypeError, match="FromIdeal takes a Guess second"):
        FromIdeal(robot, A)
    with pytest.raises(ValueError, match="FromIdeal is not yet a motion: placed"):
        FromIdeal(robot, Quintic(A, B)).trajectory(SHARES, BOUNDS, ())
    with pytest.raises(ValueError, match=r"FromIdeal knows no motion of 'hinge2\.angle': the"):
        FromIdeal(arm(2), Quintic(A[:2], B[:2])).placed(assemble(robot), [], None)
    with pytest.raises(
        ValueError, match="WithPlay names 'knee', which is no Revolute joint of the"
    ):
        WithPlay(robot, "knee", 1e-4)
    named = FromIdeal(robot, Through([A, B])).placed(hung(robot), [], None)
    assert named.trajectory(SHARES, BOUNDS, ()).q.shape == (9, 9)


def test_a_start_that_is_left_free_has_its_joints_closed():
    """A four-bar of which the crank alone is told: its circuit is closed at the first node too."""
    points = np.array([(0, 0), (0.3, 0.4), (1.2, 0.7), (1.0, 0)])
    bars = [
        Body(f"bar{k}", 1.0, (2e-3, 0.02, 0.02), position=(*points[k : k + 2].mean(axis=0), 0))
        for k in range(3)
    ]
    held = [None, *bars, None]
    joints = [
        Revolute(f"joint{k}", *(Frame.at(x, (*p, 0)) for x in held[k : k + 2]))
        for k, p in enumerate(points)
    ]
    mechanism = Mechanism(bars, joints, Relative(cut=["joint3"]), [Actuator("joint0")])
    d = assemble(mechanism, gravity=G)
    crank = [StartAt({"joint0": 0.0}, {"joint0": 0.0}), EndAt({"joint0": 0.5}, {"joint0": 0.0})]
    guess = Straight({}, {"joint0": 0.5, "joint1": -0.3, "joint2": 0.2})
    result = optimize(d, Horizon(1.0, 8), [Effort()], crank, guess, plan=IN_STEPS)
    assert result.completed, result.stop_reason
    q, v = result["q"].values, result["v"].values
    sums = np.cumsum(q, axis=1)
    directions = np.diff(points, axis=0)
    tips = points[0] + sum(
        np.stack([np.cos(s) * x - np.sin(s) * y, np.sin(s) * x + np.cos(s) * y], axis=-1)
        for s, (x, y) in zip(sums.T, directions, strict=True)
    )
    assert tips == pytest.approx(np.tile(points[3], (9, 1)), abs=1e-6)
    rates = np.asarray(d.closure_matrix(0, q[0], [])) @ v[0]
    assert rates == pytest.approx(0, abs=1e-6)


def test_a_joint_with_play_keeps_its_damping_and_friction():
    """0.3 N m s/rad and 0.2 N m against the turn, in the direction of its coordinate alone."""
    robot = arm(2)
    robot = replace(robot, actuators=[Actuator("hinge1", damping=0.3, friction=0.2)])
    loose = WithPlay(robot, "hinge1", 1e-4)
    d = assemble(loose.mechanism, loose.elements)
    q, v = np.zeros(4), np.array([0.7, 0.0, 0.0, -1.5])
    p = d.values()
    still = np.asarray(d.applied(0, q, 0 * v, p)).ravel()
    assert np.asarray(d.applied(0, q, v, p)).ravel() - still == pytest.approx([0, 0, 0, 0.45])
    friction = d.joint_friction(0, q, v, p, 1e-3, [], np.zeros((6, 1)))
    assert np.asarray(friction).ravel() == pytest.approx([0, 0, 0, 0.2])
