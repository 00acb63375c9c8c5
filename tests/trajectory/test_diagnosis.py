"""After a failed solve: what is violated, where, and what numbers say of the reason."""

import re
from dataclasses import dataclass, replace

import numpy as np
import pytest

from nsopt import (
    Actuator,
    Body,
    Frame,
    Ipopt,
    Mechanism,
    Prismatic,
    Revolute,
    Variational,
    assemble,
)
from nsopt.mpcc import Point
from nsopt.problem import load_optimization
from nsopt.trajectory import (
    ActuatorLimits,
    ClearOf,
    Duration,
    During,
    Effort,
    EndAt,
    Horizon,
    JerkLimits,
    Quintic,
    Reach,
    Smoothness,
    StartAt,
    Straight,
    Within,
    optimize,
)
from nsopt.trajectory.diagnosis import (
    Ending,
    Statement,
    check_feasible,
    explain,
    least_violation,
    scaling,
)
from nsopt.trajectory.transcription.collocation import Collocation
from tests.trajectory.mechanisms import ball_at

UPPER = Body("upper", 2.0, (0.01, 0.05, 0.05), position=(0.2, 0, 0))
LOWER = Body("lower", 1.0, (0.005, 0.02, 0.02), position=(0.55, 0, 0))
HAND = Frame.at(LOWER, (0.7, 0, 0))
OUT, STILL = (0.0, 0.0), (0.0, 0.0)


def arm(effort=40.0):
    """Links of 0.4 m and 0.3 m in the vertical plane z = 0, stretched out along x at zero."""
    shoulder = Revolute("shoulder", Frame(None), Frame.at(UPPER, (0, 0, 0)))
    elbow = Revolute("elbow", Frame.at(UPPER, (0.4, 0, 0)), Frame.at(LOWER, (0.4, 0, 0)))
    drives = [Actuator(x, -2.0, 2.0, 3.0, effort) for x in ("shoulder", "elbow")]
    return assemble(
        Mechanism([UPPER, LOWER], [shoulder, elbow], "relative", drives), gravity=(0, -9.81, 0)
    )


def cart(effort):
    body = Body("cart", 1.0, (1.0, 1.0, 1.0))
    rail = Prismatic("rail", Frame(None), Frame(body))
    return assemble(Mechanism([body], [rail], "relative", [Actuator("rail", effort=effort)]))


@dataclass
class Tried:
    """A solve, as optimize does it."""

    collocation: object
    nlp: object
    x: np.ndarray
    g: np.ndarray
    ending: Ending
    sizes: object

    @property
    def text(self):
        return explain(self.nlp, self.g, self.ending, 1e-6, self.sizes)


def tried(dynamics, horizon, costs, conditions, guess, max_iter=200):
    p = dynamics.values()
    check_feasible(Statement(dynamics, conditions, (), p), horizon)
    collocation = Collocation(dynamics, horizon, costs, conditions, ())
    nlp = collocation.nlp()
    low, high = (np.full(collocation.size, x) for x in (-np.inf, np.inf))
    low[-1], high[-1] = horizon.bounds
    solve = Ipopt(max_iter=max_iter).build(nlp.nlp("motion", nlp.derivatives()))
    start = Point.cold(collocation.start_from(guess), len(nlp.lower))
    outcome = solve(start, p, low, high)
    x = outcome.point.x
    g = np.asarray(nlp.rows(x, p)).ravel()
    ending = Ending(
        Statement(dynamics, conditions, (), p),
        horizon,
        np.linspace(0, x[-1], horizon.steps + 1),
        collocation.trajectory(x)[0],
        outcome.status,
        outcome.iterations,
        least=least_violation(nlp, x, p, (low, high), collocation.durations),
    )
    names = [type(cost).__name__ for cost in costs]
    sizes = scaling(nlp, x, p, collocation.names(), names)
    return Tried(collocation, nlp, x, g, ending, sizes)


def test_a_solution_needs_no_words():
    result = optimize(
        arm(),
        Horizon(1.0, 8),
        [Smoothness()],
        [StartAt(OUT, STILL), EndAt((0.5, 0.5), STILL), ActuatorLimits()],
        Quintic(OUT, (0.5, 0.5)),
    )
    assert result.completed
    assert not result.stop_reason


def test_torque_limits_below_gravity():
    """Held out: 9.81 (2 * 0.2 + 1 * 0.55) = 9.32 N m at the shoulder, 1.4715 at the elbow."""
    text = tried(
        arm(1.0),
        Horizon(1.0, 8),
        [Smoothness()],
        [StartAt(OUT, STILL), EndAt(OUT, STILL), ActuatorLimits()],
        Quintic(OUT, OUT),
    ).text
    assert "is off by" in text
    found = re.findall(r"takes ([\d.]+) N m in (\w+), its limit is ([\d.]+) N m", text)
    torques = {joint: (float(force), float(limit)) for force, joint, limit in found}
    assert torques["shoulder"] == (pytest.approx(9.81 * 0.95, rel=1e-3), 1.0)
    assert torques["elbow"] == (pytest.approx(9.81 * 0.15, rel=1e-3), 1.0)


@pytest.mark.slow
def test_the_arm_of_seven_joints_held_out_by_motors_of_1_newton_metre():
    robot = load_optimization("arm_least_resistance").dynamics.mechanism
    weak = replace(robot, actuators=[replace(x, effort=1.0) for x in robot.actuators])
    out, still = np.array([0, np.pi / 2, 0, 0, 0, 0, 0]), np.zeros(7)
    text = tried(
        assemble(weak, gravity=(0, 0, -9.81)),
        Horizon(1.0, 6),
        [Smoothness()],
        [StartAt(out, still), EndAt(out, still), ActuatorLimits()],
        Quintic(out, out),
    ).text
    # Masses and distances of the links beyond joint 2, by the table of the robot.
    arms = 3.0 * 0.08 + 2.6 * 0.34 + 2.4 * 0.48 + 1.8 * 0.71 + 1.3 * 0.81 + 0.7 * 0.87
    found = re.search(r"takes ([\d.]+) N m in joint2, its limit is 1 N m", text)
    assert float(found[1]) == pytest.approx(9.81 * arms, rel=1e-3)


def test_a_target_that_ranges_of_joints_keep_away():
    """Behind the base, the shoulder within 0.5 rad: the hand stays in front."""
    failed = tried(
        arm(),
        Horizon(1.0, 8),
        [Smoothness()],
        [StartAt(OUT, STILL), Reach(HAND, (-0.5, 0, 0)), Within("shoulder.angle", -0.5, 0.5)],
        Quintic(OUT, OUT),
    )
    q = failed.ending.trajectory.q[-1]
    x = 0.4 * np.cos(q[0]) + 0.3 * np.cos(q.sum())
    y = 0.4 * np.sin(q[0]) + 0.3 * np.sin(q.sum())
    away = np.hypot(x + 0.5, y)
    assert away > 0.5
    assert f"the point of Reach on body 'lower' ends {away:.3g} m from its target" in failed.text
    off = max(x + 0.5, abs(y))
    if off > 0.1:
        assert "Reach of body 'lower': reach, x is off by" in failed.text
    assert "must be -0.5) at step 8, t = 1 s" in failed.text


def test_a_duration_at_its_end():
    """1 m, rest to rest, with 1 N on 1 kg takes 2 s."""
    text = tried(
        cart(1.0),
        Horizon((0.5, 1.9), 20),
        [Duration()],
        [StartAt([0], [0]), EndAt([1], [0]), ActuatorLimits()],
        Straight([0], [1]),
    ).text
    assert "the duration is the longest allowed, 1.9 s: allow more" in text


def test_forces_of_slides_are_newtons():
    body = Body("lift", 3.0, (1.0, 1.0, 1.0))
    rail = Prismatic("rail", Frame(None), Frame(body))
    d = assemble(
        Mechanism([body], [rail], "relative", [Actuator("rail", effort=20.0)]),
        gravity=(0, 0, -9.81),
    )
    text = tried(
        d,
        Horizon(1.0, 8),
        [Smoothness()],
        [StartAt([0], [0]), EndAt([0], [0]), ActuatorLimits()],
        Straight([0], [0]),
    ).text
    assert "takes 29.43 N in rail, its limit is 20 N" in text


def test_conditions_that_exclude_each_other_on_the_way_are_named():
    """A sphere on the only way of a hand that can hardly bend."""
    failed = tried(
        arm(),
        Horizon(1.0, 20),
        [Smoothness()],
        [
            StartAt((0.5, 0), STILL),
            EndAt((-0.5, 0), STILL),
            Within("elbow.angle", -0.1, 0.1),
            ActuatorLimits(),
            ClearOf(HAND, ball_at((0.7, 0, 0), 0.2)),
        ],
        Quintic((0.5, 0), (-0.5, 0)),
    )
    lines = failed.text.splitlines()
    assert "conditions are violated" in lines[0]
    worst = failed.nlp.violations(failed.g).max()
    assert f"off by {worst:.3g}" in lines[0]
    known = ("ClearOf of body 'lower'", "StartAt: ", "EndAt: ", "Within: elbow.angle", "link of")
    assert lines[1].startswith(tuple(f"- {x}" for x in known))


def test_rows_that_are_no_numbers_are_told():
    good = tried(cart(9.0), Horizon(1.0, 4), [Effort()], [StartAt([0], [0])], Straight([0], [1]))
    g = good.g.copy()
    g[0] = np.nan
    text = explain(good.nlp, g, good.ending, 1e-6, None)
    assert "link of nodes (rail.distance) is off by inf" in text


def test_rows_are_named_by_where_they_are():
    """One row after another is moved off its limit."""
    good = tried(
        arm(),
        Horizon(1.0, 4),
        [Smoothness()],
        [StartAt(OUT, STILL), EndAt((0.5, 0.5), STILL), ClearOf(HAND, ball_at((0, 1, 0), 0.1))],
        Quintic(OUT, (0.5, 0.5)),
    )
    for row in range(good.g.size):
        label, place = good.nlp.label(row)
        g = good.g.copy()
        g[row] = good.nlp.lower[row] - 0.25
        text = explain(good.nlp, g, good.ending, 1e-6, None)
        assert "is off by 0.25" in text
        if label == "link of nodes":
            names = ["shoulder.angle", "elbow.angle", "shoulder.rate", "elbow.rate"]
            rows = good.nlp.blocks[0].rows
            assert f"({names[row % rows]})" in text
        if label == "distance from the sphere":
            assert "ClearOf of body 'lower': distance from the sphere is off by 0.25" in text
            assert "must be at least 0)" in text
        if place:
            assert f"at step {place}, t = {place / 4:.4g} s" in text
        else:
            assert "at step 0, t = 0 s" in text or "at step 4, t = 1 s" in text
    assert "EndAt: elbow.rate is off by 0.25 (-0.25, must be 0) at step 4, t = 1 s" in text


def test_rows_over_steps_are_of_no_coordinate():
    costs, held = [Effort()], [StartAt([0], [0]), JerkLimits(1e3)]
    good = tried(cart(9.0), Horizon(1.0, 4), costs, held, Straight([0], [1]))
    g = good.g.copy()
    g[[good.nlp.label(k) for k in range(g.size)].index(("jerk of rail", 2))] -= 1e4
    assert "jerk of rail is off by 9e+03 at step 2" in explain(good.nlp, g, good.ending, 1e-6, None)


def test_a_condition_for_a_part_is_named_where_it_is():
    """Two of them about one number, each at its own nodes."""
    parts = [During(Within("rail.distance", 0.2, 0.8), *x) for x in ((0.5, 0.5), (0.75, 1.0))]
    parts[1] = replace(parts[1], condition=Within("rail.distance", 0.3, 0.9))
    ends = [StartAt([0], [0]), EndAt([0.8], [0])]
    good = tried(cart(9.0), Horizon(1.0, 8), [Effort()], [*ends, *parts], Straight([0], [0.8]))
    seen = []
    for row in range(good.g.size):
        part, _, place = good.nlp.locate(row)
        if part.span is None:
            continue
        g = good.g.copy()
        g[row] = good.nlp.lower[row] - 0.25
        text = explain(good.nlp, g, good.ending, 1e-6, None)
        assert "During Within: rail.distance is off by 0.25" in text
        first = part.span == 0
        node = 4 if first else 6 + place
        seen.append(node)
        assert f"must be at least {0.2 if first else 0.3} and at most" in text
        assert f"at step {node}, t = {node / 8:.4g} s" in text
        assert good.nlp.label(row) == ("rail.distance", node)
    assert seen == [4, 6, 7, 8, 6, 7]  # then the midpoints of the steps from 6 and 7


@pytest.mark.parametrize(("share", "when"), [(0.5, "step 4, t = 0.5 s"), (1.0, "step 8, t = 1 s")])
def test_a_condition_for_a_part_of_steps_is_named_where_it_is(share, when):
    """2 m off within a second, by 1 N on 1 kg that also ends at zero."""
    result = optimize(
        cart(1.0),
        Horizon(1.0, 8),
        [Effort()],
        [StartAt([0], [0]), ActuatorLimits(), During(Within("rail.distance", 2, 3), share, share)],
        Straight([0], [0]),
        scheme=Variational(),
    )
    assert not result.completed
    line = next(x for x in result.stop_reason.splitlines() if "During" in x)
    assert "most of all: During Within: rail.distance is off by" in line
    assert f"must be at least 2 and at most 3) at {when}" in line


def test_a_solve_that_was_cut_short():
    good = tried(cart(9.0), Horizon(1.0, 4), [Effort()], [StartAt([0], [0])], Straight([0], [1]))
    cut = replace(good.ending, status="Maximum_Iterations_Exceeded")
    text = explain(good.nlp, good.g, cut, 1e-6, good.sizes)
    assert "the cost may not be least: Maximum_Iterations_Exceeded" in text
    assert "scale the costs to about one" in text


# Scaling


def program(costs, seed=0):
    d = arm()
    conditions = [StartAt(OUT, STILL), Reach(HAND, (0.5, 0.3, 0)), ActuatorLimits()]
    collocation = Collocation(d, Horizon((0.5, 2.0), 5), costs, conditions, ())
    x = np.random.default_rng(seed).uniform(-1, 1, collocation.size)
    x[-1] = 1.3
    names = [f"{type(cost).__name__} {k}" for k, cost in enumerate(costs)]
    nlp = collocation.nlp()
    return nlp, x, scaling(nlp, x, d.values(), collocation.names(), names), collocation


def test_sizes_are_those_of_the_derivatives():
    nlp, x, sizes, collocation = program([Effort(), Duration(weight=3.0)])
    made, p = nlp.derivatives(), collocation.dynamics.values()
    J = np.abs(np.asarray(made.jac_g(x, p)[1]))
    labels = [nlp.label(k)[0] for k in range(len(J))]
    g = np.abs(np.asarray(made.jac_g(x, p)[0])).ravel()
    for size in sizes.rows:
        mine = [label == size.name for label in labels]
        assert size.slope == pytest.approx(J[mine].max(), rel=1e-12)
        assert size.value == pytest.approx(g[mine].max(), rel=1e-12)
    names = collocation.names()
    assert {size.name for size in sizes.unknowns} == set(names)
    for size in sizes.unknowns:
        mine = [name == size.name for name in names]
        assert size.slope == pytest.approx(J[:, mine].max(), rel=1e-12)
        assert size.value == np.abs(x[mine]).max()
    effort = program([Effort()])[0]
    gradient = np.asarray(effort.derivatives().grad_f(x, p)[1])
    assert sizes.costs[0].slope == pytest.approx(np.abs(gradient).max(), rel=1e-12)
    assert sizes.costs[1].slope == pytest.approx(3.0)
    assert sizes.costs[1].value == pytest.approx(3.0 * 1.3)


def test_unknowns_are_named_in_their_order():
    collocation = program([Effort()])[3]
    nodes, _ = collocation.trajectory(np.arange(collocation.size, dtype=float) + 1)
    names = np.array(collocation.names())
    x = np.arange(collocation.size) + 1.0
    assert x[names == "elbow.angle"] == pytest.approx(nodes.q[:, 1])
    assert x[names == "shoulder.rate"] == pytest.approx(nodes.v[:, 0])
    both = x[names == "acceleration of elbow.rate"]  # middles too
    assert both[::2] == pytest.approx(nodes.a[:, 1])
    assert x[names == "duration"] == [nodes.duration]


def test_advice_where_costs_are_unlike():
    """Newtons that are counted in hundred thousandths: 1e10 times as steep."""
    _, _, alike, _ = program([Effort(), Duration()])
    assert alike.spread < 1e6
    assert "well scaled" in str(alike)
    _, _, unlike, _ = program([Effort(scale=1e-5), Duration()])
    assert unlike.spread > 1e6
    assert "slopes of costs differ by" in str(unlike)
    assert "from Duration 1 to Effort 0: give the costs weights or scales" in unlike.advice


def test_the_table_is_compact():
    text = str(program([Effort()])[2])
    assert len(text.splitlines()) < 35
    assert all(len(line) < 120 for line in text.splitlines())
    for word in ("unknown", "condition", "cost", "duration", "force of shoulder"):
        assert word in text


def test_names_that_are_too_few_are_refused():
    nlp, x, _, collocation = program([Effort()])
    with pytest.raises(ValueError, match="scaling needs a name for each of"):
        scaling(nlp, x, collocation.dynamics.values(), ["q"], ["Effort"])
