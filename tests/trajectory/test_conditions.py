"""Conditions: fastest motions known in closed form, distances told by other means, postures."""

import casadi as ca
import numpy as np
import pytest
from scipy.optimize import minimize_scalar

from nsopt import (
    Actuator,
    AppliedTorque,
    Body,
    Frame,
    Mechanism,
    Parameter,
    Revolute,
    assemble,
)
from nsopt.problem import load_optimization
from nsopt.robots import forward_kinematics
from nsopt.trajectory import (
    ActuatorLimits,
    Box,
    Capsule,
    ClearOf,
    DriveWithin,
    Duration,
    Effort,
    EndAt,
    Horizon,
    InputEffort,
    LinksApart,
    NodeSample,
    Orient,
    Periodic,
    PowerLimits,
    Quintic,
    Reach,
    Sphere,
    StartAt,
    Straight,
    find_posture,
    link_capsule,
    optimize,
)
from nsopt.trajectory.node_sample import SteppedNode
from tests.catalog_trajectory import ARM
from tests.trajectory.mechanisms import ball_at, cart, gantry, wheel


def test_a_force_limit_by_name():
    """Fastest over 1 m, at rest at both ends, with a force of 1 N: 2 s."""
    result = optimize(
        cart(),
        Horizon((0.5, 5.0), 40),
        [Duration()],
        [StartAt([0], [0]), EndAt([1], [0]), DriveWithin("rail", -1, 1)],
        Straight([0], [1]),
    )
    assert result.completed, result.data.attrs["stop_reason"]
    assert result.data.attrs["objective"] == pytest.approx(2, abs=2e-3)


def test_a_power_limit():
    """From 1 m/s with 1 W over 1 m: v^2 = 1 + 2 t, so (1 + 2 T)^(3/2) = 4."""
    result = optimize(
        cart(),
        Horizon((0.2, 2.0), 60),
        [Duration()],
        [StartAt([0], [1]), EndAt([1]), PowerLimits(1.0)],
        Straight([0], [1]),
    )
    assert result.completed, result.data.attrs["stop_reason"]
    assert result.data.attrs["objective"] == pytest.approx((4 ** (2 / 3) - 1) / 2, abs=1e-5)
    motion = result.sample(1e-4)
    power = (motion["tau"].values * motion["v"].values)[:, 0]
    assert power.max() <= 1 + 1e-6
    # Forces of nodes alone would end 12 % above the limit within the last step.
    steps = np.searchsorted(motion["time"].values, result["time"].values[[0, -6]])
    assert power[slice(*steps)] == pytest.approx(1, abs=1e-3)


def test_limits_of_a_joint_after_a_free_body():
    """A free body has one coordinate more than velocities."""
    stone, wheel_ = Body("stone", 1.0, (1, 1, 1), (3, 0, 0)), Body("wheel", 1.0, (1, 1, 1))
    hinge = Revolute("hinge", Frame(None), Frame(wheel_))
    drive = Actuator("hinge", -1.0, 2.0, 3.0, 4.0)
    d = assemble(Mechanism([stone, wheel_], [hinge], "relative", [drive]))
    assert d.q_names.index("hinge.angle") != d.v_names.index("hinge.rate")
    q, v = ca.SX.sym("q", d.nq), ca.SX.sym("v", d.nv)
    stepped = SteppedNode(ca.SX(1), ca.SX.zeros(d.nv), ca.SX(ca.DM(np.arange(d.nv))))
    m = NodeSample(d, ca.SX(0), q, v, ca.SX.zeros(d.nv), ca.SX(0, 1), stepped)
    bounds = ActuatorLimits().along(m)
    values = ca.Function("f", [q, v], [ca.vertcat(*(b.value for b in bounds))])
    numbers = np.arange(d.nq) + 10.0, np.arange(d.nv) + 30.0
    expected = {
        "range of hinge": numbers[0][d.q_names.index("hinge.angle")],
        "speed of hinge": numbers[1][d.v_names.index("hinge.rate")],
        "force of hinge": d.v_names.index("hinge.rate"),
    }
    limited = np.asarray(values(*numbers)).ravel()
    labels = [b.label for b in bounds]
    assert dict(zip(labels, limited, strict=True)) == pytest.approx(expected)


def distance(point, a, b):
    """From the segment, by search."""
    best = minimize_scalar(
        lambda s: np.linalg.norm(point - a - s * (b - a)),
        bounds=(0, 1),
        method="bounded",
        options={"xatol": 1e-12},
    )
    return min(best.fun, np.linalg.norm(point - a), np.linalg.norm(point - b))


def test_a_hand_goes_round_a_capsule():
    """It keeps off by the radius, touches, and needs more effort than straight ahead."""
    d, hand = gantry()
    near, far, radius = np.array([0.5, -0.2, 0.0]), np.array([0.6, 0.05, 0.0]), 0.1
    result = optimize(
        d,
        Horizon(1.0, 40),
        [Effort()],
        [
            StartAt([0, 0], [0, 0]),
            EndAt([1, 0], [0, 0]),
            ClearOf(hand, Capsule(Frame(None, near), Frame(None, far), radius)),
        ],
        Straight([0, 0.1], [1, 0.1]),
    )
    assert result.completed, result.data.attrs["stop_reason"]
    way = np.column_stack([result["q"].values, np.zeros(41)])
    away = min(distance(point, near, far) for point in way)
    assert radius - 1e-6 < away < radius + 3e-3
    assert result.data.attrs["objective"] > 12


def test_a_link_keeps_off_a_sphere():
    """A bar of 0.4 m, carried past a sphere: the sphere stays off its line."""
    d, hand = gantry()
    bar = [Frame(hand.body, (x, 0, 0)) for x in (-0.2, 0.2)]
    centre, radius, thickness = np.array([0.5, 0.02, 0.0]), 0.08, 0.02
    result = optimize(
        d,
        Horizon(1.0, 40),
        [Effort()],
        [
            StartAt([0, 0], [0, 0]),
            EndAt([1, 0], [0, 0]),
            ClearOf(Capsule(*bar, thickness), ball_at(centre, radius)),
        ],
        Straight([0, -0.1], [1, -0.1]),
    )
    assert result.completed, result.data.attrs["stop_reason"]
    half = np.array([0.2, 0, 0])
    way = np.column_stack([result["q"].values, np.zeros(41)])
    away = min(distance(centre, x - half, x + half) for x in way)
    assert 0.1 - 1e-6 < away < 0.1 + 3e-3


def test_a_period_couples_start_and_end():
    d = gantry()[0]
    t, p = ca.SX(0), ca.SX(0, 1)
    first, last = (
        NodeSample(d, t, ca.SX(q), ca.SX(v), ca.SX(q), p)
        for q, v in (([1, 2], [3, 4]), ([1.5, 7], [3, 6]))
    )
    q, v = Periodic(advance=[0.2, np.nan]).couple(first, last)
    assert np.asarray(ca.evalf(q.value)).ravel() == pytest.approx([0.5])
    assert (q.lower, q.upper) == (pytest.approx([0.2]), pytest.approx([0.2]))
    assert np.asarray(ca.evalf(v.value)).ravel() == pytest.approx([0, 2])
    assert not v.lower.any()
    assert not v.upper.any()
    with pytest.raises(ValueError, match=r"advance of Periodic must have shape \(2,\), got \(3,\)"):
        Periodic(advance=[1, 2, 3]).check(d)


@pytest.mark.parametrize("about_z", [False, True])
@pytest.mark.parametrize("start", [0.3, -2.8, 3.0])
def test_an_orientation_is_met_and_not_its_opposite(about_z, start):
    """A wheel at 0.5 rad, seen by a tool whose z is across its axis."""
    d = wheel()
    tool = Frame(d.mechanism.bodies[0], axes=(1, 0, 0))
    c, s = np.cos(0.5), np.sin(0.5)
    wanted = np.array([[c, -s, 0], [s, c, 0], [0, 0, 1]]) @ tool.axes
    q = find_posture(d, [Orient(tool, wanted, about_z)], [start])
    assert np.mod(q[0], 2 * np.pi) == pytest.approx(0.5, abs=1e-7)


def arm():
    d = load_optimization("arm_least_resistance").dynamics
    bare = assemble(d.mechanism, gravity=(0, 0, -9.81))
    return bare, Frame(d.mechanism.bodies[-1], (0, 0, 0.1))


@pytest.mark.slow
def test_postures_of_an_arm_by_forward_kinematics():
    """Positions and axes of random postures are found again, within range and torque."""
    d, hand = arm()
    pose = forward_kinematics(d.mechanism, [hand])
    random = np.random.default_rng(2)
    for _ in range(2):
        known = random.uniform(-1, 1, 7)
        r, A = (np.asarray(x) for x in pose(known, np.zeros(7), np.zeros(7))[:2])
        task = [Reach(hand, r.ravel()), Orient(hand, A), ActuatorLimits()]
        q = find_posture(d, task, starts=4)
        again = [np.asarray(x) for x in pose(q, np.zeros(7), np.zeros(7))[:2]]
        assert again[0] == pytest.approx(r, abs=1e-6)
        assert again[1] == pytest.approx(A, abs=1e-6)
        for x, drive in zip(q, d.mechanism.actuators, strict=True):
            assert drive.lower - 1e-6 <= x <= drive.upper + 1e-6
        assert find_posture(d, task, starts=4) == pytest.approx(q)
        # Seven joints, six numbers: of all solutions the nearest.
        assert find_posture(d, task, known, starts=2) == pytest.approx(known, abs=1e-6)


def test_postures_that_cannot_be_are_told():
    d = assemble(ARM)
    hand = Frame(ARM.bodies[-1], (0.2, 0, 0))
    with pytest.raises(
        ValueError, match=r"in the best of 3 searches reach is off by [0-9.]+; move"
    ):
        find_posture(d, [Reach(hand, (2.0, 0, 0))], starts=3)
    with pytest.raises(ValueError, match=r"near of find_posture must have shape \(2,\)"):
        find_posture(d, [], near=[0.0])


def test_limits_that_keep_from_an_orientation_are_told():
    """A hinge that turns by up to 1 rad is to turn by 1.5 rad: off by the sine of the rest."""
    body = Body("hand", 1.0, (0.01, 0.01, 0.01))
    hinge = Revolute("hinge", Frame(None), Frame(body))
    drives = [Actuator("hinge", lower=-1.0, upper=1.0)]
    d = assemble(Mechanism([body], [hinge], "relative", drives))
    s, c = np.sin(1.5), np.cos(1.5)
    task = [Orient(Frame(body), [[c, -s, 0], [s, c, 0], [0, 0, 1]]), ActuatorLimits()]
    told = (
        rf"orientation is off by {np.sin(0.5):.3f} while range of hinge is at its upper limit, 1; "
        r"move the target, widen that limit, let Orient be further off \(within=, about_z=True\)"
    )
    with pytest.raises(ValueError, match=told):
        find_posture(d, task, starts=3)


def test_a_posture_is_the_end_of_a_motion():
    """From inverse kinematics to a motion that reaches the point."""
    d = assemble(ARM)
    hand = Frame(ARM.bodies[-1], (0.2, 0, 0))
    start = np.array([0.1, 0.4])
    pose = forward_kinematics(ARM, [hand])
    zero = np.zeros(2)
    target = np.asarray(pose([0.9, 0.8], zero, zero)[0]).ravel()
    end = find_posture(d, [Reach(hand, target), ActuatorLimits()], start)
    result = optimize(
        d,
        Horizon(1.5, 10),
        [Effort()],
        [StartAt(start, zero), EndAt(v=zero), Reach(hand, target), ActuatorLimits()],
        Quintic(start, end),
    )
    assert result.completed, result.data.attrs["stop_reason"]
    at = np.asarray(pose(result["q"].values[-1], zero, zero)[0]).ravel()
    assert at == pytest.approx(target, abs=1e-6)


BODY = Frame(ARM.bodies[-1])


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: PowerLimits(0.0), "power of PowerLimits must be positive, got 0"),
        (lambda: PowerLimits(1.0, ["knee"]).check(cart()), "PowerLimits names the joint 'knee'"),
        (lambda: DriveWithin("knee").check(cart()), "DriveWithin names the joint 'knee'"),
        (lambda: DriveWithin("rail", 2, 1).check(cart()), "limits of the drive of 'rail' are rev"),
        (lambda: Orient(BODY, np.ones((3, 3))), "axes of Orient must be a rotation matrix"),
        (lambda: Sphere(BODY, -1), "radius of Sphere must be positive"),
        (lambda: Capsule(BODY, BODY, 0.1), "both ends of Capsule are one point: use Sphere"),
        (
            lambda: Capsule(Frame(None), BODY, 0.1),
            "both frames of Capsule must be on one body, got the ground and body 'lower'",
        ),
        (lambda: Box(BODY, (1, 0, 1)), "size of Box along y must be positive, got 0"),
        (lambda: ClearOf(BODY, Sphere(BODY, 0.1)), "both sides of ClearOf are on body 'lower'"),
        (lambda: ClearOf(BODY, ball_at((0, 0, 0), 1), -1), "by of ClearOf must not be negative"),
        (
            lambda: LinksApart([Sphere(Frame(x), 0.1) for x in ARM.bodies]).check(assemble(ARM)),
            "LinksApart has no pair of links that could touch: body 'upper', body 'lower' are held",
        ),
        (lambda: link_capsule(ARM, "lower", 0.1), "the joints at link 'lower' leave it no length"),
    ],
)
def test_conditions_refuse(make, message):
    with pytest.raises(ValueError, match=message):
        make()


def test_postures_by_name_are_those_in_order():
    """Names of coordinates, velocities or joints; what is left out is free."""
    body, other = Body("a", 1.0, (1, 1, 1)), Body("b", 1.0, (1, 1, 1))
    hinges = [Revolute("shoulder", Frame(None), Frame(body))]
    hinges.append(Revolute("elbow", Frame.at(body, (1, 0, 0)), Frame.at(other, (1, 0, 0))))
    drives = [Actuator("shoulder"), Actuator("elbow")]
    d = assemble(Mechanism([body, other], hinges, "relative", drives))
    named = EndAt({"elbow.angle": 0.3}, {"shoulder": 0.0, "elbow.rate": 0.1})
    ordered = EndAt([np.nan, 0.3], [0.0, 0.1])
    motions = [
        optimize(
            d,
            Horizon(1.0, 6),
            [Effort()],
            [StartAt({"shoulder": 0.0, "elbow": 0.0}, [0, 0]), end],
            Straight([0, 0], [0.2, 0.3]),
        )
        for end in (named, ordered)
    ]
    assert motions[0].completed
    assert np.array_equal(motions[0]["unknown"], motions[1]["unknown"])
    assert motions[0]["q"].values[-1, 1] == pytest.approx(0.3)
    says = "q of EndAt: 'wrist' is no coordinate: name one of shoulder.angle, elbow.angle"
    with pytest.raises(ValueError, match=says):
        EndAt({"wrist": 0.0}).check(d)


@pytest.mark.parametrize("turn", [0.5, 2.0, 4.0])
def test_a_free_body_ends_turned_as_stated(turn):
    """About z in 1 s at least squared torque, J = 2 kg m^2: 12 (J angle)^2 by closed form."""
    J = 2.0
    top = Body("top", 1.0, (1.0, 1.0, J))
    motor = AppliedTorque("motor", Frame(top), (0.0, 0.0, Parameter("torque", 0.0)))
    here = np.array([0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0])
    there = np.array([0.0, 0.0, 0.0, np.cos(turn / 2), 0.0, 0.0, np.sin(turn / 2)])
    result = optimize(
        assemble(Mechanism([top]), [motor]),
        Horizon(1.0, 40),
        [InputEffort(input="torque")],
        [StartAt(here, np.zeros(6)), EndAt(there, np.zeros(6))],
        Quintic(),
        inputs=["torque"],
    )
    assert result.completed, result.stop_reason
    end = result["q"].values[-1]
    assert end == pytest.approx(there, abs=1e-8)
    assert result.objective == pytest.approx(12 * (J * turn) ** 2, rel=5e-3)
