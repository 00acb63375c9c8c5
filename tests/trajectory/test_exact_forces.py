"""Forces and gaps of contacts in costs and conditions of exact optima, against closed forms."""

import numpy as np
import pytest
from scipy.optimize import minimize_scalar

from nsopt import (
    GROUND,
    AppliedForce,
    Body,
    ContactLaw,
    Frame,
    Mechanism,
    Parameter,
    PlaneContact,
    Prismatic,
    assemble,
)
from nsopt.mpcc import Bound
from nsopt.trajectory import (
    PLAN,
    Condition,
    ContactForce,
    ContactPhase,
    Effort,
    EndAt,
    ExactContacts,
    Horizon,
    InputEffort,
    Open,
    Quintic,
    StartAt,
    Sticking,
    optimize,
)
from tests.trajectory.lift import G, lift, lift_dynamics


class GentleForce(Condition):
    """The floor is not pressed by more than 5 N."""

    def along(self, m):
        return [Bound("force", m.contact_force[0], np.array([-np.inf]), np.array([5.0]))]


class LowGap(Condition):
    """In the last half the gap is at most 1.02 m."""

    def along(self, m):
        return [Bound("gap", m.gap[0], np.array([-np.inf]), np.array([1.02]))]


def find_least_lift(waiting):
    """Return the least cost of waiting, at a cost per second, and then a cubic from rest to 1 m."""

    def cost(tau):
        return 3 * (1 + G * tau**2 / 2) ** 2 / tau**3 + waiting * (2 - tau)

    return minimize_scalar(cost, bounds=(0.1, 2), method="bounded", options={"xatol": 1e-12}).fun


@pytest.mark.parametrize("weight", [0.1, 1.0])
def test_floor_and_drive_share_the_weight_that_both_pay_for(weight):
    """Drive u and floor f = g - u cost u^2 + w f^2 at least: w/(1 + w) g^2 per second."""
    result = lift(costs=[ContactForce(weight=weight)])
    share = weight / (1 + weight)
    assert result.data.attrs["contact_sequence"] == "floor touches; no contact"
    assert result.objective == pytest.approx(find_least_lift(share * G**2), rel=1e-8)
    begin = result["contact_force"].values[1:4, 0, 2]
    assert begin == pytest.approx(G / (1 + weight), rel=1e-5)


def test_a_limit_of_the_force_of_a_floor_is_kept():
    result = lift(conditions=[GentleForce()])
    assert "not_exact" not in result.data.attrs
    assert result.objective == pytest.approx(find_least_lift((G - 5) ** 2), rel=1e-8)


def test_a_limit_of_a_gap_is_kept_in_phases():
    """At 1 m with 3 m/s upwards it would come from above the limit, by 0.8 m without it."""
    ends = [StartAt([1.0], [0.0]), EndAt([0.0], [0.0])]
    costs, guess = [Effort()], Quintic([1.0], [0.0])
    free, held = (
        optimize(lift_dynamics(), Horizon(2.0, 24), costs, [*ends, *more], guess)
        for more in ([], [LowGap()])
    )
    assert "not_exact" not in held.data.attrs
    assert free["gap"].values.max() <= 1.02
    assert held.objective == pytest.approx(free.objective, rel=1e-9)


def test_forces_that_count_leave_no_impact():
    """Dropped from 1 m it may not fall onto the floor: the impact would be beyond all limits."""
    ends = [StartAt([1.0], [0.0]), EndAt([0.0], [0.0])]
    costs, guess = [Effort()], Quintic([1.0], [0.0])
    stated = lift_dynamics(), Horizon(2.0, 24), costs
    hard = optimize(*stated, ends, guess)
    soft = optimize(*stated, [*ends, GentleForce()], guess)
    assert np.nansum(hard["impact_impulse"].values) > 1.0
    assert "not_exact" not in soft.data.attrs, soft.data.attrs["not_exact"]
    assert np.nansum(soft["impact_impulse"].values) == pytest.approx(0.0, abs=1e-6)
    assert soft["contact_force"].values[1:, 0, 2].max() <= 5 + 1e-6


def test_what_is_to_stick_without_impact_comes_without_slip():
    """A ball that lands on a rough floor to stay there, whose force is limited."""
    ball = Body("ball", 1.0, point_mass=True)
    law = ContactLaw(friction=0.5)
    floor = PlaneContact("floor", Frame(GROUND), Frame(ball), law=law, planar=True)
    drive = AppliedForce("drive", Frame(ball), (Parameter("x", 0.0), 0.0, Parameter("z", 0.0)))
    d = assemble(Mechanism([ball], coordinates="relative"), [floor, drive], gravity=(0, 0, -G))
    ends = [StartAt([0, 0, 0.3], [1.0, 0, 0]), EndAt([0.5, 0, 0], [0, 0, 0]), GentleForce()]
    landing = [ContactPhase({"floor": x}, 0.5) for x in (Open(), Sticking())]
    plan = PLAN.with_others(ExactContacts(sequence=landing, trials=0))
    costs, inputs = [InputEffort(input=x) for x in "xz"], ["x", "z"]
    guess = Quintic([0, 0, 0.3], [0.5, 0, 0])
    result = optimize(d, Horizon(1.0, 16), costs, ends, guess, inputs=inputs, plan=plan)
    assert "not_exact" not in result.data.attrs, result.data.attrs["not_exact"]
    landed = int(np.searchsorted(result["time"].values, result.data.attrs["borders"][1] - 1e-9))
    assert result["v"].values[landed] == pytest.approx(0.0, abs=1e-7)
    assert np.nansum(result["impact_impulse"].values) == pytest.approx(0.0, abs=1e-7)


def test_reactions_where_the_input_jumps_are_those_right_after():
    """The floor bears the mass 0.3 m beside its rail until the drive, 0.2 m beside it, begins."""
    mass = Body("mass", 1.0, (1.0, 1.0, 1.0))
    rail = Prismatic("rail", Frame(GROUND), Frame(mass))
    floor = PlaneContact("floor", Frame(GROUND), Frame(mass, (0.3, 0, 0)))
    drive = AppliedForce("drive", Frame(mass, (-0.2, 0, 0)), (0.0, 0.0, Parameter("u", 0.0)))
    mechanism = Mechanism([mass], [rail], "relative")
    d = assemble(mechanism, [floor, drive], gravity=(0, 0, -G))
    ends = [StartAt([0.0], [0.0]), EndAt([1.0], [np.nan])]
    costs, guess = [InputEffort(input="u")], Quintic([0.0], [1.0])
    result = optimize(d, Horizon(2.0, 25), costs, ends, guess, inputs=["u"])
    assert "not_exact" not in result.data.attrs, result.data.attrs["not_exact"]
    t, u = result["time"].values, result["input"].values[:, 0]
    acceleration = result["acceleration"].values[:, 0]
    border = int(np.searchsorted(t, result.data.attrs["borders"][1] - 1e-9))
    assert u[border - 1] == pytest.approx(0.0, abs=1e-6)
    assert u[border] > G
    floor_force = acceleration + G - u  # of the equation of motion
    torque = result["joint_reaction_torque"].values[:, 0, 1]
    assert torque == pytest.approx(0.3 * floor_force - 0.2 * u, abs=1e-8)
