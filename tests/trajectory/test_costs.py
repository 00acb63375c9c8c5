"""Costs against integrals in closed form, potentials, and forces told by other code."""

from dataclasses import replace
from functools import cache

import casadi as ca
import numpy as np
import pytest
from scipy.optimize import minimize_scalar

from nsopt import (
    AppliedForce,
    Body,
    Cone,
    CubicLaw,
    Frame,
    Mechanism,
    Parameter,
    Prismatic,
    RangeOfMotion,
    Revolute,
    SlideRange,
    TurnRange,
    Variational,
    assemble,
)
from nsopt.problem import load_optimization
from nsopt.trajectory import (
    BaseReaction,
    Duration,
    Effort,
    EndAt,
    Energy,
    FinalPose,
    FinalTask,
    Horizon,
    InputEffort,
    Jerk,
    JointResistance,
    NodeSample,
    Power,
    RestrictingEnergy,
    RestrictingMoment,
    Smoothness,
    StartAt,
    Straight,
    Sum,
    flattened,
    optimize,
)
from tests.catalog_ranges import CUBIC, SPLINE
from tests.trajectory.mechanisms import UNIT, cart, wheel


def rate_of(cost, d):
    """Return the rate of a cost, per second, as a function of q, v and a."""
    cost.check(d)
    known = [ca.SX.sym(name, d.nv) for name in "qva"]
    m = NodeSample(d, ca.SX(0), *known, ca.SX(ca.DM(d.values())))
    return ca.Function("rate", known, [cost.rate(m)])


def rate(cost, d, q, v, a=None):
    return float(rate_of(cost, d)(q, v, np.zeros(d.nv) if a is None else a))


def on_the_way(cost, d, n=401):
    """Integral over 1 s of x = 3 t^2 - 2 t^3."""
    t = np.linspace(0, 1, n)
    x, v, a = 3 * t**2 - 2 * t**3, 6 * t - 6 * t**2, 6 - 12 * t
    rates = rate_of(cost, d).map(n)(x[None], v[None], a[None])
    return np.trapezoid(np.asarray(rates).ravel(), t)


@pytest.mark.parametrize(("braking", "work"), [(0.0, 1.125), (1.0, 2.25), (-1.0, 0.0)])
def test_energy_is_work_put_in_and_what_braking_costs(braking, work):
    """1 kg to 1.5 m/s and back to rest."""
    cost = on_the_way(Energy(braking=braking, rounding=1e-6), cart())
    assert cost == pytest.approx(work, abs=1e-4)


def test_rounding_takes_less_than_half_of_it():
    sharp, round_ = (on_the_way(Energy(rounding=x), cart()) for x in (1e-6, 0.2))
    assert 0 < sharp - round_ < 0.1


def test_power_is_squared():
    """1296 times the integral of (1 - 2 t)^2 t^2 (1 - t)^2, which is 1/210."""
    assert on_the_way(Power(scale=2.0), cart()) == pytest.approx(1296 / 210 / 4, rel=1e-4)


def test_least_jerk():
    """Over 1 m in 1 s, rest to rest, jerk is 60 t (t - 1): at the ends it is free, so zero."""
    stated = replace(load_optimization("double_integrator"), costs=[Jerk()])
    result = stated.solve(steps=20)
    assert result.objective == pytest.approx(120, rel=1e-5)
    with pytest.raises(ValueError, match="Jerk needs accelerations that are functions of time"):
        replace(stated, scheme=Variational()).solve(steps=20)


@cache
def ball(damping=0.0):
    """Three hinges with axes through one point, a cone across them, a range of the last."""
    lower, middle, arm = (Body(name, 1.0, UNIT) for name in ("lower", "middle", "arm"))
    joints = [
        Revolute("yaw", Frame(None), Frame(lower)),
        Revolute("pitch", Frame(lower, axes=(0, 1, 0)), Frame(middle, axes=(0, 1, 0))),
        Revolute("roll", Frame(middle), Frame(arm, (0.1, 0, -0.2))),
    ]
    cone = RangeOfMotion(
        "cone", Frame(None), Frame(arm, (0.1, 0, -0.2)), SPLINE, CUBIC, damping=damping
    )
    turn = TurnRange("turn", *joints[2].frames, -0.1, 0.2, CubicLaw(40.0, 0.3), joint="roll")
    return assemble(Mechanism([lower, middle, arm], joints, "relative"), [cone, turn])


POSTURES = [(0.3, 0.4, 0.5), (2.0, 0.25, -0.3), (-1.0, 0.02, 0.1), (0.7, -0.3, 0.0)]


@pytest.mark.parametrize(
    "q", [POSTURES[0], *(pytest.param(q, marks=pytest.mark.slow) for q in POSTURES[1:])]
)
def test_a_cone_across_joints_resists_as_it_reads(q):
    """By virtual work of its potential; its reading is the law at the excess."""
    d, v = ball(damping=3.0), np.array([0.4, -0.3, 0.9])
    outputs = dict(zip(d.output_names, np.asarray(d.outputs(0, q, v, [])).ravel(), strict=True))
    cone, turn = outputs["cone.moment"], outputs["turn.resistance"]
    at_rest = np.zeros(3)
    assert rate(RestrictingMoment(elements=["cone"]), d, q, at_rest) == pytest.approx(cone**2)
    assert rate(RestrictingMoment(), d, q, at_rest) == pytest.approx(cone**2 + turn**2)
    assert rate(JointResistance(torque=2.0), d, q, at_rest) == pytest.approx(
        (cone**2 + turn**2) / 4
    )
    assert rate(JointResistance(joints=["cone"]), d, q, at_rest) == pytest.approx(cone**2)
    assert rate(JointResistance(joints=["yaw"]), d, q, at_rest) == 0
    # The cone's moment and its damping along the axes of the hinges are what it does to them.
    alone = assemble(d.mechanism, [d.elements[0]])
    c, s = np.cos(q[:2]), np.sin(q[:2])
    axes = np.array([[0, 0, 1], [-s[0], c[0], 0], [s[1] * c[0], s[1] * s[0], c[1]]])
    forces = np.asarray(alone.applied(0, q, v, [])).ravel()
    torque = np.linalg.solve(axes, forces)
    assert rate(JointResistance(joints=["cone"]), d, q, v) == pytest.approx(torque @ torque)


@pytest.mark.parametrize("q", POSTURES)
def test_restricting_energy_is_their_potential(q):
    d, still = ball(), np.zeros(3)
    stored = float(d.potential(0, q, still, []))
    assert rate(RestrictingEnergy(size=0.5), d, q, still) == pytest.approx(stored / 0.5, abs=1e-12)
    alone = assemble(d.mechanism, [d.elements[1]])
    turn = rate(RestrictingEnergy(elements=["turn"]), d, q, still)
    assert turn == pytest.approx(float(alone.potential(0, q, still, [])), abs=1e-12)


def test_ends_of_a_slide_push_by_a_force():
    law = CubicLaw(60.0, 0.2)
    d = cart()
    a, b = d.mechanism.joints[0].frames
    d = assemble(d.mechanism, [SlideRange("end", a, b, -0.1, 0.1, law, joint="rail")])
    x = 0.5
    assert rate(RestrictingMoment(force=1.0), d, [0.1 + 0.2 * x], [0]) == pytest.approx(
        (60 * x**2 * (3 - 2 * x)) ** 2
    )


def test_ranges_that_are_not_there_are_told():
    with pytest.raises(
        ValueError, match="the range 'knee', which is not in the mechanism: one of cone"
    ):
        RestrictingMoment(elements=["knee"]).check(ball())
    with pytest.raises(ValueError, match="the mechanism has no range of motion"):
        RestrictingEnergy().check(cart())
    with pytest.raises(ValueError, match="JointResistance names the joint 'knee'"):
        JointResistance(joints=["knee"]).check(ball())


def test_a_final_pose_is_traded_for_effort():
    """Effort of a way X at rest is 12 X^2; with w (X - 1)^2 best at X = w / (12 + w)."""
    result = optimize(
        cart(),
        Horizon(1.0, 10),
        [Effort(), FinalPose(q=[1.0], weight=8.0)],
        [StartAt([0], [0]), EndAt(v=[0])],
        Straight([0], [1]),
    )
    assert result["q"].values[-1, 0] == pytest.approx(0.4, abs=1e-8)
    shares = result.detailed_cost
    assert shares == pytest.approx({"Effort": 12 * 0.16, "FinalPose": 8 * 0.36})


def test_costs_of_one_kind_are_told_apart():
    """Two forces share the push u of effort 12, one of them counted twice."""
    body = Body("cart", 1.0, (1.0, 1.0, 1.0))
    rail = Prismatic("rail", Frame(None), Frame(body))
    pushes = [AppliedForce(x, Frame(body), (0, 0, Parameter(x, 0.0))) for x in ("left", "right")]
    d = assemble(Mechanism([body], [rail], "relative"), pushes)
    costs = [InputEffort(input="left"), InputEffort(input="right"), InputEffort(input="left")]
    ends, guess = [StartAt([0], [0]), EndAt([1], [0])], Straight([0], [1])
    result = optimize(d, Horizon(1.0, 10), costs, ends, guess, inputs=["left", "right"])
    # Of 2 L^2 + R^2 where L + R = u the least has L = u/3.
    assert result.detailed_cost == pytest.approx(
        {
            "InputEffort left": 12 / 9,
            "InputEffort right": 4 * 12 / 9,
            "InputEffort left #2": 12 / 9,
        }
    )


def test_a_final_orientation_is_traded_for_effort():
    """Effort of a turn is 12 angle^2, the cost of another angle is 2 L^2 (1 - cos)."""
    d, wanted, length, weight = wheel(), 2.0, 0.5, 40.0
    c, s = np.cos(wanted), np.sin(wanted)
    task = FinalTask(
        frame=Frame(d.mechanism.bodies[0]),
        axes=[[c, -s, 0], [s, c, 0], [0, 0, 1]],
        length=length,
        weight=weight,
    )
    result = optimize(
        d,
        Horizon(1.0, 10),
        [Effort(), task],
        [StartAt([0], [0]), EndAt(v=[0])],
        Straight([0], [1]),
    )
    best = minimize_scalar(
        lambda x: 12 * x**2 + 2 * weight * length**2 * (1 - np.cos(x - wanted)),
        bounds=(0, 2),
        method="bounded",
        options={"xatol": 1e-9},
    )
    assert result["q"].values[-1, 0] == pytest.approx(best.x, abs=1e-6)
    assert result.objective == pytest.approx(best.fun, rel=1e-8)


def test_a_final_position_is_its_distance():
    d = cart()
    task = FinalTask(frame=Frame(d.mechanism.bodies[0]), position=(0.3, 0.0, 0.4))
    m = NodeSample(d, *(ca.SX(x) for x in (0, 1, 0, 0)), ca.SX(0, 1))
    assert float(ca.evalf(task.final(m))) == pytest.approx(0.09 + 0.36)


def test_sums_are_their_parts():
    total = 2 * Effort(scale=3.0) + 0.5 * (Smoothness(weight=4.0) + Duration())
    assert [x.weight for x in flattened([total, Duration()])] == [2, 2, 0.5, 1]
    d = cart()
    parts = rate(Effort(scale=3.0), d, [0], [1], [2]), rate(Smoothness(), d, [0], [1], [2])
    assert rate(total, d, [0], [1], [2]) == pytest.approx(2 * parts[0] + 2 * parts[1] + 0.5)
    with pytest.raises(TypeError, match="a Sum is made of costs, got 3"):
        Sum(costs=[3])
    with pytest.raises(ValueError, match="weight of Effort must not be negative, got -1"):
        -1 * Effort()


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Energy(braking=2), "braking of Energy must lie between -1 and 1, got 2"),
        (lambda: Energy(rounding=0), "rounding of Energy must be positive, got 0"),
        (lambda: Power(scale=0), "scale of Power must be positive, got 0"),
        (lambda: JointResistance(torque=0), "torque of JointResistance must be positive, got 0"),
        (
            lambda: JointResistance(reaction_force=-1),
            "reaction_force of JointResistance must be positive, got -1: give what costs one, inf",
        ),
        (lambda: JointResistance(force=np.nan), "force of JointResistance must be finite, got nan"),
        (
            lambda: BaseReaction(joint="rail", force=0),
            "force of BaseReaction must be positive, got 0",
        ),
        (
            lambda: RestrictingMoment(torque=-np.inf),
            "torque of RestrictingMoment must be finite, got -inf",
        ),
        (lambda: FinalTask(frame=Frame(None)), "FinalTask has no target"),
        (
            lambda: FinalTask(frame=Frame(None), axes=2 * np.eye(3)),
            "axes of FinalTask must be a rotation matrix",
        ),
        (lambda: FinalPose(q=[1, 2]).check(cart()), r"q of FinalPose must have shape \(1,\)"),
        (lambda: RestrictingEnergy(size=0), "size of RestrictingEnergy must be positive"),
    ],
)
def test_costs_refuse(make, message):
    with pytest.raises(ValueError, match=message):
        make()


def test_a_cone_counts_once():
    """Between bodies that a joint connects it is part of that joint's resistance."""
    body = Body("arm", 1.0, UNIT)
    hinge = Revolute("hinge", Frame(None, axes=(1, 0, 0)), Frame(body, axes=(1, 0, 0)))
    cone = Cone(np.radians([0, 90, 180, 270, 360]), np.radians([5, 5, 5, 5, 5]))
    limit = RangeOfMotion("cone", Frame(None), Frame(body), cone, CUBIC)
    d = assemble(Mechanism([body], [hinge], "relative"), [limit])
    moment = float(d.outputs(0, [0.3], [0], [])[d.output_names.index("cone.moment")])
    assert rate(JointResistance(), d, [0.3], [0]) == pytest.approx(moment**2)
