"""The load of joints: levers by hand, pinocchio's joint forces, the best lift in closed form."""

import json
from importlib import metadata

import casadi as ca
import numpy as np
import pinocchio as pin
import pytest

from nsopt import Actuator, Body, Frame, Mechanism, Prismatic, Revolute, assemble
from nsopt.robots import WithPlay, load_urdf, resistances, typical_resistance
from nsopt.trajectory import (
    EndAt,
    Horizon,
    JointLoad,
    JointResistance,
    NodeSample,
    Quintic,
    StartAt,
    optimize,
)
from tests.trajectory.mechanisms import cart, wheel

G = 9.81
INF = np.inf


def rod(axis, mass=2.0, arm=0.3, **losses):
    """A rod that lies along x on a hinge at the origin."""
    body = Body("rod", mass, (0.01, 0.02, 0.02), position=(arm, 0, 0))
    hinge = Revolute("hinge", Frame(None, axes=axis), Frame.at(body, (0, 0, 0), axis))
    drives = [Actuator("hinge", effort=10.0, **losses)]
    robot = Mechanism([body], [hinge], "relative", drives)
    return assemble(robot, resistances(robot) if losses else (), gravity=(0, 0, -G))


def rate(cost, d, q, v=None, a=None):
    cost.check(d)
    numbers = (np.zeros(d.nv) if x is None else x for x in (q, v, a))
    symbols = [ca.SX.sym(name, d.nv) for name in "qva"]
    m = NodeSample(d, ca.SX(0), *symbols, ca.SX(ca.DM(d.values())))
    return float(ca.Function("rate", symbols, [cost.rate(m)])(*numbers))


@pytest.mark.unit
def test_a_drive_that_holds_a_weight():
    d, weight = rod((0, -1, 0)), 2.0 * G
    assert rate(JointLoad(force=INF, moment=INF), d, [0.0]) == pytest.approx((weight * 0.03) ** 2)
    assert rate(JointLoad(torque=INF, moment=INF), d, [0.0]) == pytest.approx((weight / 200) ** 2)
    assert rate(JointLoad(torque=INF, force=INF), d, [0.0]) == pytest.approx(0, abs=1e-20)


@pytest.mark.unit
def test_a_bearing_that_holds_a_weight():
    d, weight = rod((0, 0, 1)), 2.0 * G
    assert rate(JointLoad(), d, [0.4]) == pytest.approx((weight / 200) ** 2 + (weight * 0.03) ** 2)
    stated = JointLoad(force={"hinge": 50.0}, moment=INF)
    assert rate(stated, d, [0.4]) == pytest.approx((weight / 50) ** 2)


@pytest.mark.unit
def test_damping_and_friction_count_as_one():
    d = rod((0, 0, 1), damping=0.5, friction=1.0)
    losses = 0.5 * 2.0 + 1.0
    only = JointLoad(force=INF, moment=INF)
    assert rate(only, d, [0.0], [2.0]) == pytest.approx(2 * (losses / 10) ** 2, rel=1e-6)


@pytest.mark.unit
def test_a_carriage_on_a_rail_across_gravity():
    body = Body("cart", 3.0, (1, 1, 1))
    rail = Prismatic("rail", Frame(None, axes=(1, 0, 0)), Frame(body, axes=(1, 0, 0)))
    robot = Mechanism([body], [rail], "relative", [Actuator("rail", effort=40.0)])
    d = assemble(robot, gravity=(0, 0, -G))
    load = (3 * G / 40) ** 2 + (3 * 2.0 / 40) ** 2
    assert rate(JointLoad(), d, [0.1], a=[2.0]) == pytest.approx(load)


@pytest.mark.filterwarnings("ignore:kinova.urdf")
def test_is_that_of_pinocchio():
    path = next(x for x in metadata.files("example-robot-data") if x.name == "kinova.urdf")
    robot = load_urdf(path.locate())
    d = assemble(robot, gravity=(0, 0, -G))
    model = pin.buildModelFromUrdf(str(path.locate()))
    data, chance = model.createData(), np.random.default_rng(0)
    q, v, a = (chance.uniform(-1, 1, d.nv) for _ in range(3))
    turning = np.array(  # continuous joints have a cosine and a sine
        [x for j, y in zip(model.joints[1:], q, strict=True) for x in _numbers(j, y)]
    )
    tau = pin.rnea(model, data, turning, v, a)
    expected = 0.0
    for k, actuator in enumerate(robot.actuators):
        wrench, effort = data.f[k + 1], actuator.effort
        bending = wrench.angular.copy()
        bending[2] = 0.0  # the file's axes are all z
        expected += (tau[k] / effort) ** 2 + bending @ bending / effort**2
        expected += wrench.linear @ wrench.linear / (20 * effort) ** 2
    assert rate(JointLoad(), d, q, v, a) == pytest.approx(expected, rel=1e-9)


def _numbers(joint, angle):
    return [angle] if joint.nq == 1 else [np.cos(angle), np.sin(angle)]


def test_the_best_turn_is_the_cubic_of_least_torque():
    """1 kg m^2 by 1 rad in 1 s: the integral of squared torques is 12."""
    torque = {"hinge": 2.0}
    best = optimize(
        wheel(),
        Horizon(1.0, steps=4),
        [JointLoad(torque=torque)],
        [StartAt([0.0], [0.0]), EndAt([1.0], [0.0])],
        Quintic([0.0], [1.0]),
    )
    assert best.completed, best.stop_reason
    assert best.objective == pytest.approx(12 / 4, rel=1e-9)


@pytest.mark.unit
def test_a_joint_with_play_that_is_left_out_is_told():
    """Unless it is said which joints count."""
    upper = Body("upper", 1.0, (0.01, 0.02, 0.02), position=(0.2, 0, 0))
    lower = Body("lower", 1.0, (0.01, 0.02, 0.02), position=(0.6, 0, 0))
    hinges = [
        Revolute("shoulder", Frame(None), Frame.at(upper, (0, 0, 0))),
        Revolute("elbow", Frame.at(upper, (0.4, 0, 0)), Frame.at(lower, (0.4, 0, 0))),
    ]
    drives = [Actuator("shoulder", effort=10.0), Actuator("elbow", effort=5.0)]
    robot = Mechanism([upper, lower], hinges, "relative", drives)
    JointLoad().check(assemble(robot))
    loose = WithPlay(robot, "elbow", 1e-4)
    d = assemble(loose.mechanism, loose.elements)
    told = (
        r"JointLoad leaves out 'elbow', .* it counts shoulder: add "
        r"InputEffort\(input='elbow_torque'\) .* joints=\['shoulder'\]"
    )
    with pytest.warns(UserWarning, match=told):
        JointLoad().check(d)
    JointLoad(joints=["shoulder"]).check(d)


@pytest.mark.unit
def test_refusals():
    with pytest.raises(ValueError, match="no rating of joint 'rail', whose Actuator states no"):
        JointLoad().check(cart())
    with pytest.raises(ValueError, match="torque of JointLoad names the joint 'knee'"):
        JointLoad(torque={"knee": 1.0}).check(cart(effort=1.0))
    with pytest.raises(ValueError, match="moment of hinge must be positive, got 0"):
        JointLoad(moment={"hinge": 0.0})


def motion_of(d, costs, **more):
    rest = np.zeros(d.nv)
    conditions = [StartAt(rest, rest), EndAt(rest + 1, rest)]
    return optimize(d, Horizon(1.0, steps=10), costs, conditions, Quintic(rest, rest + 1), **more)


def test_a_cost_that_is_zero_whatever_the_motion_is_refused():
    with pytest.raises(
        ValueError, match=r"JointResistance is the same whatever.* no joint resists"
    ):
        motion_of(cart(), [JointResistance()])
    with pytest.warns(UserWarning, match="JointResistance is the same whatever the motion"):
        best = motion_of(cart(effort=1.0), [JointResistance(), JointLoad()])
    assert best.completed, best.stop_reason


def test_a_joint_that_costs_nothing_moves_smoothly():
    """Of two carts one is damped: the other one goes by the cubic, and costs nothing."""
    bodies = [Body(name, 1.0, (1, 1, 1)) for name in ("one", "two")]
    rails = [Prismatic(f"rail_{x.name}", Frame(None), Frame(x)) for x in bodies]
    drives = [Actuator("rail_one", damping=1.0), Actuator("rail_two")]
    robot = Mechanism(bodies, rails, "relative", drives)
    d = assemble(robot, resistances(robot))
    best = motion_of(d, [JointResistance(force=1.0)])
    assert best.completed, best.stop_reason
    assert json.loads(best.data.attrs["tie_breaker"])["names"] == ["rail_two.speed"]
    assert best.detailed_cost == {"JointResistance": best.objective}
    t = best.data["time"].values
    assert best["q"].values[:, 1] == pytest.approx(3 * t**2 - 2 * t**3, abs=1e-6)


@pytest.mark.unit
def test_typical_losses_are_given_where_the_file_states_none():
    with pytest.warns(UserWarning, match="resistances finds nothing that resists"):
        assert resistances(cart(effort=50.0, velocity=2.0).mechanism) == ()
    given = typical_resistance(cart(effort=50.0, velocity=2.0).mechanism)
    assert (given.actuators[0].friction, given.actuators[0].damping) == pytest.approx((1.5, 2.5))
    stated = cart(damping=3.0).mechanism
    assert typical_resistance(stated).actuators == stated.actuators
    with pytest.raises(ValueError, match="needs the effort of joint 'rail'"):
        typical_resistance(cart().mechanism)
