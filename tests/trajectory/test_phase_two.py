"""What an optimum through contacts is: by hand, from corners, and by finite differences."""

from dataclasses import dataclass, replace

import casadi as ca
import numpy as np
import pytest

from nsopt import (
    AppliedForce,
    Body,
    ContactLaw,
    Frame,
    Ipopt,
    Mechanism,
    Parameter,
    PlaneContact,
    Prismatic,
    Solver,
    assemble,
)
from nsopt.mpcc import ActiveSet, FischerBurmeister
from nsopt.problem import load_optimization
from nsopt.trajectory import (
    IN_STEPS,
    Cost,
    Earlier,
    Horizon,
    InputEffort,
    NodeSample,
    ObjectiveChange,
    Optimization,
    StartAt,
    Straight,
    multi_start,
    refine,
)
from nsopt.trajectory.programs import transcribe
from nsopt.trajectory.task import Task

pytestmark = pytest.mark.unit

EFFORT = 1e-2
STEPS = 10


@dataclass(frozen=True, kw_only=True)
class Away(Cost):
    """Squared distance from 1 m from the wall at the end, and of its force from one wanted [N]."""

    force: float

    def rate(self, m: NodeSample) -> ca.SX:
        return (m.contact_force[0] - self.force) ** 2

    def final(self, m: NodeSample) -> ca.SX:
        return (m.q[0] - 1) ** 2


def pushed(force, **options):
    """A cart that rests on a wall; what pushes it may press it there or pull it away."""
    body = Body("cart", Parameter("mass", 1.0), (1.0, 1.0, 1.0))
    rail = Prismatic("rail", Frame(None), Frame(body))
    push = AppliedForce("push", Frame(body), (0, 0, Parameter("u", 0.0)))
    wall = PlaneContact("wall", Frame(None), Frame(body))
    dynamics = assemble(Mechanism([body], [rail], "relative"), [push, wall])
    return Optimization(
        dynamics,
        Horizon(1.0, STEPS),
        [Away(force=force), InputEffort(input="u", weight=EFFORT)],
        [StartAt([0.0], [0.0])],
        Straight([0.0], [0.0]),
        inputs=["u"],
        solver=Solver(**options),
        plan=IN_STEPS,  # what is asked is of the program in steps
    )


class Idle(Ipopt):
    """IPOPT whose homotopy ends without any push, where neither gap nor force of a node grows."""

    def build(self, nlp):
        inner = super().build(nlp)
        if nlp.name != "horizon":
            return inner
        stated = pushed(0.0)
        given = stated.costs, stated.conditions, stated.guess, stated.inputs
        task = Task(stated.dynamics, stated.horizon, *given)
        motion = transcribe(task, stated.dynamics.values())
        push = [i for i, name in enumerate(motion.names()) if name == "u"]

        def call(start, p, lower, upper):
            low, high = lower.copy(), upper.copy()
            low[push] = high[push] = 0.0
            return inner(start, p, low, high)

        return call


def best_pull():
    """Return the least cost of pulling: u = k (T - t), in steps, of mass 1 kg and T = 1 s.

    x_N = sum a_k u_k with a_k the distance that a unit of force over a node moves the cart.
    """
    h = 1 / STEPS
    share = np.full(STEPS + 1, h)
    share[[0, -1]] = h / 2
    a = share * (1 - h * np.arange(STEPS + 1))
    # min (a.u - 1)^2 + w sum(share u^2): u = k a / share
    size = np.sum(a**2 / share)
    return EFFORT / (size + EFFORT)


@pytest.mark.parametrize("force", [0.0, 0.2])
def test_a_corner_is_left_for_the_branch_on_which_it_costs_less(force):
    """Without force and without distance from the wall: both multipliers are zero or negative.

    M-stationary where no force is wanted, C-stationary where some is.
    """
    alone = pushed(force, backend=Idle(), phase_two=False).solve()
    assert alone.completed
    assert alone.objective == pytest.approx(1 + force**2, abs=1e-3)
    assert alone.data.attrs["stationarity"] == "not found out: phase II is off"
    result = pushed(force, backend=Idle()).solve()
    assert result.completed, result.stop_reason
    assert result.objective == pytest.approx(best_pull() + force**2, rel=1e-6)
    assert result.data.attrs["stationarity"].startswith("B-stationary")
    assert "B-stationary" in result.summary()


@pytest.mark.slow
def test_the_cost_of_a_motion_that_was_replaced_changes_as_its_multipliers_say():
    stated = pushed(0.2, backend=Idle())
    result, e = stated.solve(), 1e-3
    after, before = (stated.solve({"mass": 1 + sign * e}).objective for sign in (1, -1))
    by_mass = (after - before) / (2 * e)
    assert by_mass == pytest.approx(2 * EFFORT / (1 / 3), rel=0.1)  # about w m^2 / (T^3 / 3)
    assert stated.cost_gradient(result)["mass"] == pytest.approx(by_mass, rel=1e-5)
    again = replace(stated, guess=Earlier(result), solver=Solver()).solve()
    assert again.objective == pytest.approx(result.objective, rel=1e-5)


def test_an_optimum_without_contacts_is_what_its_solver_says():
    result = load_optimization("double_integrator").solve(steps=10)
    assert result.completed
    assert result.data.attrs["stationarity"].startswith("stationary")
    assert result.data.attrs["stationarity_kind"] == ""


def test_contacts_as_equations():
    result = pushed(0.0, relaxation=FischerBurmeister(), schedules=[[(1e-4,), (1e-6,)]]).solve()
    assert "contacts are equations by FischerBurmeister" in result.data.attrs["stationarity"]


def test_time_that_ran_out_is_told():
    stated = pushed(0.2, backend=Idle(), active_set=ActiveSet(time_limit=1e-9))
    result = stated.solve()
    assert not result.completed
    assert "not found out" in result.stop_reason
    assert result.data.attrs["stationarity"] == result.stop_reason
    with pytest.raises(ValueError, match="no solution"):
        stated.cost_gradient(result)
    best = multi_start(stated, 2)  # of motions that keep all conditions that of least cost
    assert not best.completed
    assert best.objective <= result.objective


def test_a_grid_whose_optimum_is_not_found_out_ends_a_refinement():
    stated = pushed(0.2, backend=Idle(), active_set=ActiveSet(time_limit=1e-9))
    result = refine(stated, 1.0, by=ObjectiveChange())
    assert not result.completed
    assert "not found out" in result.stop_reason
    assert result.data.sizes["time"] == 2 * STEPS + 1


def test_friction_in_space_is_relaxed():
    body = Body("puck", 1.0, point_mass=True)
    law = ContactLaw(friction=0.5)
    floor = PlaneContact("floor", Frame(None), Frame(body), law=law)
    push = AppliedForce("push", Frame(body), (Parameter("u", 0.0), 0, 0))
    dynamics = assemble(Mechanism([body]), [floor, push], gravity=(0, 0, -9.81))
    still = [0.0] * 3
    result = Optimization(
        dynamics,
        Horizon(0.5, 5),
        [InputEffort(input="u")],
        [StartAt(still, still)],
        Straight(still, still),
        inputs=["u"],
        plan=IN_STEPS,
    ).solve()
    assert result.completed, result.stop_reason
    assert result.data.attrs["stationarity"] == "not found out: friction in space is relaxed"


@pytest.mark.slow
def test_a_hinge_with_radial_and_axial_clearance():
    """Biactive pairs at the end, where multipliers of both signs need not exist."""
    stated = load_optimization("clearance_pendulum")
    c, steps = 1e-3, 20
    result = stated.solve({"clearance": c}, steps)
    assert result.completed, result.stop_reason
    assert result.data.attrs["stationarity"].startswith("B-stationary")
    near, e = replace(stated, guess=Earlier(result)), 1e-3 * c
    after, before = (near.solve({"clearance": c + s * e}, steps).objective for s in (1, -1))
    by_clearance = (after - before) / (2 * e)
    assert stated.cost_gradient(result)["clearance"] == pytest.approx(by_clearance, rel=1e-3)
