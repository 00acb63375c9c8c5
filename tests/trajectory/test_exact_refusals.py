"""Optima through contact that stay in steps, and why."""

from dataclasses import dataclass

import numpy as np
import pytest

from nsopt import (
    GROUND,
    AppliedForce,
    AppliedTorque,
    Body,
    CylinderContact,
    Frame,
    Mechanism,
    Parameter,
    Planar,
    PlanarRevoluteClearance,
    TorsionSpringDamper,
    assemble,
)
from nsopt.mpcc import Bound
from nsopt.problem import load_optimization
from nsopt.trajectory import (
    Condition,
    ContactForce,
    Cost,
    During,
    Effort,
    EndAt,
    Horizon,
    ImpactEnergy,
    InputEffort,
    JointResistance,
    Quintic,
    StartAt,
    Straight,
    Through,
    Touching,
    optimize,
)
from tests.trajectory.lift import G, lift, lift_dynamics


@dataclass(frozen=True, kw_only=True)
class Late(Cost):
    """The time at the end."""

    def final(self, m):
        return m.t


class SlowImpulse(Condition):
    """A limit of the impulse of the first contact in each step."""

    def along(self, m):
        return [Bound("impulse", m.impulse[0], np.array([-np.inf]), np.array([100.0]))]


class EndsAsHigh(Condition):
    """The motion ends as high as it begins, however fast."""

    def couple(self, first, last):
        return [Bound("height", last.q[0] - first.q[0], np.zeros(1), np.zeros(1))]


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"costs": [Late()]}, "forces or costs depend on time, phases have times of their own"),
        ({"costs": [ImpactEnergy()]}, "ImpactEnergy is of impacts in steps"),
        ({"conditions": [EndsAsHigh()]}, "EndsAsHigh couples start and end of the motion"),
        (
            {"costs": [ContactForce(power=1.0)]},
            "ContactForce to a power of 1 or less counts impulses of impacts",
        ),
        (
            {"conditions": [SlowImpulse()]},
            "SlowImpulse needs impulses or losses of contacts, which phases do not have",
        ),
        (
            {"costs": [JointResistance(reaction_force=10.0)]},
            "JointResistance needs the forces of 'floor', a contact, which phases do not have",
        ),
    ],
)
def test_what_phases_cannot_state_stays_in_steps(change, why):
    d = lift_dynamics()
    costs = [Effort(), *change.get("costs", [])]
    conditions = [StartAt([0.1], [0.0]), *change.get("conditions", [])]
    guess = Quintic([0.1], [0.1])
    result = optimize(d, Horizon(0.5, 8), costs, conditions, guess)
    assert result.completed
    assert result.data.attrs["not_exact"] == why
    assert f"in steps alone: {why}" in result.summary()


def test_a_contact_that_must_touch_for_a_part_of_the_motion_does():
    """It may leave after 1.5 of 2 s; at best it would at 1.218 s."""
    result = lift(20, conditions=[During(Touching("floor"), 0.0, 0.75)])
    assert result.completed
    assert result["gap"].values[result["time"].values < 1.51] == pytest.approx(0, abs=1e-9)
    assert "During(Touching) is of a part" in result.data.attrs["not_exact"]


def test_a_waypoint_at_steps_of_free_sizes_is_passed_when_it_suits():
    """By the steps of one size before it and of another after it, without bounds of their own."""
    d, guess = lift_dynamics(), Quintic([0.0], [1.0])
    ends = [StartAt([0.0], [0.0]), EndAt([1.0], [np.nan]), During(EndAt([0.3]), 0.5)]
    result = optimize(d, Horizon(2.0, 20, breaks=(0.5,)), [Effort()], ends, guess)
    assert result["time"].values[10] > 1.3
    assert "sizes of their own" in result.data.attrs["not_exact"]


def test_an_element_that_names_a_contact_leaves_the_motion_in_steps():
    rod = Body("rod", 1.0, (0.01, 0.09, 0.09), position=(0.5, 0.0, 0.0))
    pin, bushing = Frame(GROUND), Frame.at(rod, (0.0, 0.0, 0.0))
    c, start, end = 1e-3, np.radians(-90), np.radians(-30)
    worn = PlanarRevoluteClearance("hinge", pin, bushing, clearance=c)
    damper = TorsionSpringDamper("damper", pin, bushing, 0.0, damping=0.05, joint="hinge")
    torque = AppliedTorque("torque", Frame(rod), (0, 0, Parameter("u", 0.0)))
    plane = Mechanism([rod], [Planar("plane", pin, bushing)], "relative")
    d = assemble(plane, [worn, damper, torque], gravity=(0, -G, 0))
    free = np.nan
    ends = [StartAt([0, -c, start], [0, 0, 0]), EndAt([free, free, end], [free, free, 0])]
    guess = Straight([0, -c, start], [0, -c, end])
    result = optimize(d, Horizon(1.0, 20), [InputEffort(input="u")], ends, guess, inputs=["u"])
    assert result.completed
    assert "names the joint 'hinge'" in result.data.attrs["not_exact"]


@pytest.mark.slow
def test_a_bead_that_few_steps_leave_off_a_drum_takes_more():
    """In 24 steps its phase is within 1 mm of a drum of 1 m, in 8 it would be 22 mm off."""
    bead = Body("bead", 1.0, point_mass=True)
    drum = CylinderContact("drum", Frame(GROUND), Frame(bead), body_radius=1.0)
    push = (Parameter("x", 0.0), Parameter("y", 0.0), 0.0)
    hand = AppliedForce("hand", Frame(bead), push)
    d = assemble(Mechanism([bead], coordinates="relative"), [drum, hand], gravity=(0, -G, 0))
    angles = np.radians(np.linspace(150, 30, 9))
    ways = np.column_stack([np.cos(angles), np.sin(angles), 0 * angles])
    ends = [StartAt(ways[0], np.zeros(3)), EndAt(ways[-1], np.zeros(3)), Touching("drum")]
    costs, names = [InputEffort(input=name) for name in "xy"], ["x", "y"]
    guess = Through(ways.tolist(), list(np.linspace(0, 1, 9)))
    few, many = (optimize(d, Horizon(2.0, n), costs, ends, guess, inputs=names) for n in (8, 24))
    for result in (few, many):
        assert np.abs(result["gap"].values).max() < 1e-3
        assert result.data.attrs["contact_sequence"] == "drum touches"
    assert few.data.sizes["time"] > 9
    assert few.objective == pytest.approx(many.objective, rel=1e-2)


@pytest.mark.slow
def test_a_bore_of_several_gaps_stays_in_steps():
    stated = load_optimization("clearance_pendulum")
    result = stated.solve(steps=20)
    assert result.completed
    why = "gaps of contact 'hinge' close apart from each other"
    assert result.data.attrs["not_exact"] == why
