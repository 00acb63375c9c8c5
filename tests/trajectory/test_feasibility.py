"""Infeasible tasks are refused before the solve, in user's terms; feasible ones are let through."""

from dataclasses import dataclass

import casadi as ca
import numpy as np
import pytest

from nsopt import (
    Actuator,
    Body,
    Cylindrical,
    Fixed,
    Frame,
    Mechanism,
    Parameter,
    PlaneContact,
    Prismatic,
    Revolute,
    Screw,
    Spherical,
    Universal,
    assemble,
)
from nsopt.trajectory import (
    ActuatorLimits,
    Bound,
    Box,
    Capsule,
    ClearOf,
    Condition,
    EndAt,
    HalfSpace,
    Horizon,
    LinksApart,
    Periodic,
    Reach,
    StartAt,
    Within,
)
from nsopt.trajectory.diagnosis import Statement, check_feasible
from nsopt.trajectory.diagnosis.feasibility import find_extents
from tests.random_mechanisms import axes_of
from tests.trajectory.mechanisms import ball_at

UPPER = Body("upper", 2.0, (0.01, 0.05, 0.05), position=(0.2, 0, 0))
LOWER = Body("lower", 1.0, (0.005, 0.02, 0.02), position=(0.55, 0, 0))
HAND = Frame.at(LOWER, (0.7, 0, 0))
ELBOW = Frame.at(UPPER, (0.4, 0, 0))
LINK = Capsule(Frame.at(LOWER, (0.4, 0, 0)), HAND, 0.02)
STILL = (0.0, 0.0)


def arm():
    """Links of 0.4 m and 0.3 m in the plane z = 0, turning about z; speed up to 3 rad/s."""
    shoulder = Revolute("shoulder", Frame(None), Frame.at(UPPER, (0, 0, 0)))
    elbow = Revolute("elbow", Frame.at(UPPER, (0.4, 0, 0)), Frame.at(LOWER, (0.4, 0, 0)))
    drives = [Actuator(x, -2.0, 2.0, 3.0, 40.0) for x in ("shoulder", "elbow")]
    return assemble(Mechanism([UPPER, LOWER], [shoulder, elbow], "relative", drives))


def refused(conditions, message, dynamics=None, horizon=None, inputs=()):
    d = dynamics or arm()
    for condition in conditions:
        condition.check(d)
    with pytest.raises(ValueError, match=message):
        check_feasible(Statement(d, conditions, inputs, d.values()), horizon or Horizon(2.0, 10))


def allowed(conditions, dynamics=None, horizon=None, inputs=()):
    d = dynamics or arm()
    for condition in conditions:
        condition.check(d)
    check_feasible(Statement(d, conditions, inputs, d.values()), horizon or Horizon(2.0, 10))


# Conflicting bounds


@pytest.mark.parametrize(
    ("conditions", "message"),
    [
        (
            [StartAt((2.5, 0), STILL), Within("shoulder.angle", -1.0, 1.0)],
            "StartAt and Within exclude each other: shoulder.angle must be 2.5 at the start and at "
            "least -1 and at most 1 all along, which are 1.5 apart",
        ),
        (
            [EndAt((0, -2.1)), ActuatorLimits()],
            "EndAt and ActuatorLimits exclude each other: elbow.angle must be -2.1 at the end",
        ),
        (
            [StartAt(v=(3.5, 0)), ActuatorLimits()],
            "shoulder.rate must be 3.5 at the start and at least -3 and at most 3 all along",
        ),
        (
            [Within("elbow.angle", lower=0.5), Within("elbow.angle", upper=0.2)],
            "Within and Within exclude each other: elbow.angle must be at least 0.5 all along and "
            "at most 0.2 all along, which are 0.3 apart",
        ),
        (
            [StartAt((0, 0)), StartAt((0.1, np.nan))],
            "StartAt and StartAt exclude each other: shoulder.angle",
        ),
        (
            [Reach(HAND, (0.5, 0.3, 0)), Reach(HAND, (0.5, 0.2, 0))],
            "Reach of body 'lower' exclude each other: reach, y must be 0.3 at the end and 0.2",
        ),
    ],
)
def test_bounds_that_conflict(conditions, message):
    refused(conditions, message)


@dataclass(frozen=True)
class _Height(Condition):
    """The hand's height by a formula of one's own."""

    most: float
    least: float = -np.inf

    def along(self, m):
        first, both = m.q[0], m.q[0] + m.q[1]
        y = 0.4 * ca.sin(first) + 0.3 * ca.sin(both)
        return [Bound("height", y, np.array([self.least]), np.array([self.most]))]


def test_one_number_written_in_two_ways_is_one():
    refused(
        [_Height(0.2), Reach(HAND, (0.5, 0.3, 0))],
        "_Height and Reach of body 'lower' exclude each other: height must be at most 0.2 all "
        "along and 0.3 at the end",
    )
    allowed([_Height(0.3), Reach(HAND, (0.5, 0.3, 0))])


def test_limits_of_one_condition_that_are_reversed():
    refused([_Height(0.1, 0.2)], "limits of height in _Height are reversed: lower 0.2 exceeds")


def test_start_and_end_may_differ():
    allowed([StartAt((0, 0), STILL), EndAt((1, 1), STILL), ActuatorLimits()])


def test_inputs_too():
    load = Parameter("load", 1.0)
    body = Body("cart", load, (1.0, 1.0, 1.0))
    rail = Prismatic("rail", Frame(None), Frame(body))
    d = assemble(Mechanism([body], [rail], "relative", [Actuator("rail")]))
    limits = [Within("load", upper=1.0), Within("load", lower=2.0)]
    refused(limits, "load must be at most 1 all along and at least 2 all along", d, None, ["load"])
    # A parameter that stays what it is must keep its limits as well.
    refused(limits[1:], "no motion meets Within: load is 1, must be at least 2 all along", d)


# Postures


def test_a_start_inside_an_obstacle():
    """The hand at (0.7, 0, 0), 0.06 m from the centre of a sphere of 0.1 m: 0.04 m inside."""
    inside = ClearOf(HAND, ball_at((0.7, 0.06, 0), 0.1))
    refused(
        [StartAt((0, 0), STILL), inside],
        "the posture given at the start violates ClearOf of body 'lower': distance from the sphere "
        "is -0.04, must be at least 0 all along, off by 0.04; move the start or",
    )
    refused([EndAt((0, 0)), inside], "the posture given at the end violates ClearOf")
    at_centre = ClearOf(HAND, ball_at((0.7, 0, 0), 0.1))
    refused([StartAt((0, 0)), at_centre], "distance from the sphere is -0.1, must")
    allowed([StartAt((0, 0)), ClearOf(HAND, ball_at((0.7, 0.06, 0), 0.0599))])


@pytest.mark.parametrize(
    ("mover", "obstacle", "by", "says"),
    [
        (HAND, Capsule(Frame(None, (0, 0.03, 0)), Frame(None, (1, 0.03, 0)), 0.05), 0, "capsule"),
        (LINK, ball_at((0.5, 0.03, 0), 0.03), 0, "sphere"),
        (LINK, Box(Frame(None, (0.5, 0.1, 0)), (0.1, 0.2, 0.3)), 0, "box"),
        (LINK, HalfSpace(Frame(None, (0, -0.02, 0), (0, 1, 0))), 0.02, "half-space"),
    ],
)
def test_a_start_inside_an_obstacle_of_any_shape(mover, obstacle, by, says):
    """All are on the line y = 0, the link 0.02 m thick; all are 0.02 m too near."""
    refused(
        [StartAt((0, 0)), ClearOf(mover, obstacle, by)],
        f"ClearOf of body 'lower': distance from the {says}.*, off by 0.02; move the start",
    )


def test_a_start_where_links_touch():
    """The lower link folded back is 0.1 m from the ground's post of 0.05 m."""
    post = Capsule(Frame(None, (0.1, 0, -1)), Frame(None, (0.1, 0, -0.07)), 0.06)
    refused(
        [StartAt((0, np.pi)), LinksApart([LINK, post])],
        "LinksApart: distance of body 'lower' from the ground is -0.01, must be at least 0 all alo",
    )
    allowed([StartAt((0, 0)), LinksApart([LINK, post])])


def test_start_and_end_of_a_cycle_that_differ():
    cycle = [StartAt((0.1, 0), STILL), EndAt((0.3, np.nan)), Periodic()]
    refused(cycle, "violate Periodic: period of q, entry 0, is 0.2, off by 0.2; change one of them")
    allowed([*cycle[:2], Periodic((0.2, np.nan))])
    allowed([StartAt((0.1, 0), STILL), Periodic()])


def test_a_part_of_a_posture_decides_what_depends_on_it_alone():
    """The place of the elbow takes the shoulder, that of the hand takes both."""
    at_elbow, at_hand = (
        ClearOf(ELBOW, ball_at((0.4, 0, 0), 0.05)),
        ClearOf(HAND, ball_at((0.7, 0, 0), 0.05)),
    )
    shoulder = StartAt((0.0, np.nan))
    refused([shoulder, at_elbow], "violates ClearOf of body 'upper'")
    allowed([shoulder, at_hand])
    refused([shoulder, StartAt((np.nan, 0.0)), at_hand], "violates ClearOf of body 'lower'")


def test_what_forces_decide_is_left_to_the_solve():
    allowed([StartAt((0, 0), STILL), EndAt((0, 0), STILL), ActuatorLimits()])


@dataclass(frozen=True)
class _Late(Condition):
    """The shoulder stays below 0.1 t."""

    def along(self, m):
        return [Bound("lag", m.q[0] - 0.1 * m.t, np.full(1, -np.inf), np.zeros(1))]


def test_time_counts_where_it_is_known():
    refused([EndAt((0.3, 0)), _Late()], "lag is 0.1, must be at most 0 all along, off by 0.1")
    allowed([EndAt((0.3, 0)), _Late()], horizon=Horizon((1.0, 5.0), 10))
    refused([StartAt((0.3, 0)), _Late()], "lag is 0.3", horizon=Horizon((1.0, 5.0), 10))


# Time


def test_a_way_longer_than_speed_and_time_allow():
    """3 rad at 3 rad/s take 1 s."""
    conditions = [StartAt((0, -1.5), STILL), EndAt((0, 1.5), STILL), ActuatorLimits()]
    refused(
        conditions,
        "elbow.angle has 3 to go at elbow.rate of at most 3, which takes at least 1 s, but the "
        "duration is at most 0.9 s: allow more time or speed",
        horizon=Horizon((0.1, 0.9), 10),
    )
    back = [StartAt((0, 1.5)), EndAt((0, -1.5)), Within("elbow.rate", lower=-0.5)]
    refused(back, "at least 6 s", horizon=Horizon(5.9, 10))
    allowed(back, horizon=Horizon(6.1, 10))
    allowed(conditions, horizon=Horizon((0.1, 1.1), 10))


# Targets


@pytest.mark.parametrize(
    ("target", "message"),
    [
        ((3.0, 0, 0), "out of reach: .* 3 m from .* at most 0.7 m away: move it by 2.3 m or"),
        ((0, -0.71, 0), "at most 0.7 m away: move it by 0.01 m"),
        ((0.05, 0.05, 0), "at least 0.1 m away: move it by 0.0293 m"),
        ((0.5, 0, 0.05), "no motion meets Reach of body 'lower': reach, z is 0, must be 0.05"),
    ],
)
def test_a_target_out_of_reach(target, message):
    """From 0.4 - 0.3 to 0.4 + 0.3 m, in the plane."""
    refused([Reach(HAND, target)], message)


@pytest.mark.parametrize("target", [(0.7, 0, 0), (-0.1, 0, 0), (0.3, -0.4, 0)])
def test_a_target_within_reach(target):
    allowed([Reach(HAND, target)])


def test_a_slide_reaches_by_its_range():
    turret = Body("turret", 1.0, (1.0, 1.0, 1.0), position=(1.0, 0, 0))
    boom = Body("boom", 1.0, (1.0, 1.0, 1.0), position=(1.0, 0, 0))
    swing = Revolute("swing", Frame(None, (1.0, 0, 0)), Frame(turret))
    rail = Prismatic("rail", Frame(turret, axes=(1, 0, 0)), Frame(boom, axes=(1, 0, 0)))
    d = assemble(Mechanism([turret, boom], [swing, rail], "relative"))
    far = Reach(Frame(boom), (1.0, 2.5, 0))
    allowed([far], d)
    allowed([far, Within("rail.distance", -1.0, 2.6)], d)
    refused([far, Within("rail.distance", -1.0, 2.0)], "at most 2 m away: move it by 0.5 m", d)
    refused([far, Within("rail.distance", 3.0, 4.0)], "at least 3 m away: move", d)


def test_a_body_that_nothing_holds_reaches_anything():
    ball = Body("ball", 1.0, point_mass=True, position=(0, 0, 1.0))
    floor = PlaneContact("floor", Frame(None), Frame(ball))
    d = assemble(Mechanism([ball], coordinates="relative"), [floor])
    start = StartAt((0, 0, 1.0), (0, 0, 0))
    allowed([start, Reach(Frame(ball), (50.0, 0, 0))], d)
    refused(
        [start, ClearOf(Frame(ball), ball_at((0, 0, 1.1), 0.2))],
        "distance from the sphere is -0.1, must",
        d,
    )
    refused(
        [StartAt((0, 0, -0.02))],
        "the posture given at the start has a contact below zero: 'floor', off by 0.02",
        d,
    )
    allowed([StartAt((0, 0, 0.0)), EndAt((np.nan, 0, -0.02))], d)


def test_a_joint_that_is_open_at_the_end():
    """In coordinates of bodies the hinge is a constraint."""
    rod = Body("rod", 1.0, (1.0, 1.0, 1.0), position=(0.5, 0, 0))
    hinge = Revolute("hinge", Frame(None), Frame(rod, (-0.5, 0, 0)))
    d = assemble(Mechanism([rod], [hinge], "absolute"))
    still = np.zeros(6)
    allowed([StartAt((0.5, 0, 0, 1, 0, 0, 0), still), EndAt((0, 0.5, 0, *_quarter()))], d)
    refused(
        [EndAt((0, 0.6, 0, *_quarter()))],
        "the posture given at the end has a joint open: 'hinge', off by 0.1",
        d,
    )


def _quarter():
    return np.sqrt(0.5), 0, 0, np.sqrt(0.5)


KINDS = {
    "fixed": Fixed,
    "revolute": Revolute,
    "prismatic": Prismatic,
    "spherical": Spherical,
    "cylindrical": Cylindrical,
    "universal": Universal,
    "screw": lambda name, a, b: Screw(name, a, b, 0.3),
}


@pytest.mark.parametrize("seed", range(12))
def test_extents_hold_for_every_posture(seed):
    """Chains of four joints drawn by chance, at a hundred postures each."""
    rng = np.random.default_rng(seed)
    bodies, joints, before = [], [], None
    for k, kind in enumerate(rng.choice(list(KINDS), 4)):
        body = Body(f"b{k}", 1.0, (1.0, 1.0, 1.0))
        on, to = (Frame(x, rng.uniform(-0.3, 0.3, 3), axes_of(rng)) for x in (before, body))
        pair = (to, on) if rng.random() < 0.3 else (on, to)
        joints.append(KINDS[kind](f"j{k}", *pair))
        bodies.append(body)
        before = body
    d = assemble(Mechanism(bodies, joints, "relative"))
    limits = {name: (0.1, 0.4) for name in d.q_names if name.endswith(("distance", "angle"))}
    extents = find_extents(d, Frame(bodies[-1]), limits, (), d.values())
    for _ in range(100):
        q = rng.normal(size=d.nq)
        for k, name in enumerate(d.q_names):
            q[k] = rng.uniform(*limits[name]) if name in limits else q[k]
        q = np.asarray(d.renormalise(q)).ravel()
        place = np.asarray(d.poses(q, np.zeros(d.nv), [])[0])[:, -1]
        for root, least, most in extents:
            assert least - 1e-12 <= np.linalg.norm(place - root) <= most + 1e-12
    assert all(np.isfinite(x.most) for x in extents)


def test_the_same_numbers_by_name():
    statement = Statement(arm(), [StartAt((0, np.nan)), ActuatorLimits()], (), np.zeros(0))
    assert [row.name for row in statement.rows] == [
        "shoulder.angle",
        "shoulder.angle",
        "shoulder.rate",
        "force of shoulder",
        "elbow.angle",
        "elbow.rate",
        "force of elbow",
    ]
    q, v = statement.posture("at the start")
    assert q == pytest.approx([0, np.nan], nan_ok=True)
    assert np.isnan(v).all()
