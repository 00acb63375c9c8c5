"""Motions through blows: optima in closed form, modes that are given, simulations of optima."""

import re
from dataclasses import replace

import numpy as np
import pytest
from scipy.optimize import minimize

from nsopt import (
    Body,
    Composition,
    ContactAligned,
    ContactLaw,
    Frame,
    Ipopt,
    Mechanism,
    MoreauJean,
    PaperStep,
    PlaneContact,
    Solver,
    StepBounds,
    Variational,
    assemble,
)
from nsopt.problem import load_optimization
from nsopt.schemes import Scheme
from nsopt.trajectory import (
    IN_STEPS,
    PLAN,
    Apart,
    ContactForce,
    Duration,
    During,
    Earlier,
    Effort,
    EndAt,
    Horizon,
    ImpactEnergy,
    StartAt,
    Straight,
    Touching,
    optimize,
)

OPTIMA = {1.0: (1.0, 1.5, 6.0), 0.0: (0.82842712, 1.81066017, 12.73896103)}
"""By restitution: time [s] and speed [m/s] of the blow, cost. Mirrored at the wall the first is a
straight way; the second starts again from rest."""


@pytest.fixture(scope="module")
def bounce():
    return replace(load_optimization("bounce"), plan=IN_STEPS)


@pytest.mark.slow
@pytest.mark.parametrize("e", OPTIMA)
def test_bounce(bounce, e):
    result = bounce.solve({"restitution": e}, 100, verify=True)
    assert result.completed, result.stop_reason
    time, speed, cost = OPTIMA[e]
    k = 36
    # Inputs are constant over a step: of second order.
    assert result.objective == pytest.approx(cost, rel=3e-4)
    assert result["time"].values[k] == pytest.approx(time, abs=1e-4)
    wall = result["impulse"].values[:, 0]
    assert wall[k] == pytest.approx((1 + e) * speed, abs=3e-3)
    assert np.delete(wall[1:], k - 1) == pytest.approx(0, abs=1e-6)
    assert np.nanmax(result["complementarity_residual"].values) < 1e-8
    assert np.nansum(result["contact_loss"].values) == pytest.approx(
        (1 - e**2) * speed**2 / 2, abs=5e-3
    )
    # Simulated by `ContactAligned` under the same force.
    assert result.data.attrs["resimulated_until"] >= time - 1e-4
    assert result.data.attrs["resimulated_defect"] < 1e-6


def test_a_summary_counts_what_strikes_alone(bounce):
    """One blow; what a relaxation leaves in flight is neither an impact nor a lasting force."""
    text = bounce.solve({"restitution": 1.0}, 40).summary()
    assert re.search(r"impacts +1 of up to 3\.00\d N s \(at wall, t = 1\.000\d+ s\)", text)
    assert re.search("largest lasting force +no lasting contact", text)


@pytest.mark.slow
def test_a_solution_is_a_guess_with_its_multipliers(bounce):
    """Started from its own end a solve has next to nothing to do.

    By 100 steps; in 40 the first solve ends on a branch, which a start does not know.
    """
    first = bounce.solve({"restitution": 1.0}, 100)
    again = replace(bounce, guess=Earlier(first)).solve({"restitution": 1.0}, 100)
    assert again.completed
    assert again.objective == pytest.approx(first.objective, rel=1e-7)
    counts = [int(r.data.attrs["solver_name"].split()[1]) for r in (first, again)]
    assert counts[1] < counts[0] / 4


@pytest.mark.slow
def test_what_restitution_is_worth(bounce):
    """The derivative of the least cost by restitution, against solving again beside it."""
    solved = {e: bounce.solve({"restitution": e}, 40) for e in (0.799, 0.8, 0.801)}
    costs = {e: result.objective for e, result in solved.items()}
    gradient = bounce.cost_gradient(solved[0.8])
    assert list(gradient) == ["restitution"]
    assert gradient["restitution"] == pytest.approx((costs[0.801] - costs[0.799]) / 2e-3, rel=1e-4)


def test_modes_that_are_given(bounce):
    """Apart all the way, the wall might as well not be there."""
    conditions = [StartAt([1.0], [0.0]), EndAt([2.0], [0.0]), During(Apart("wall"), 0.0, 1.0)]
    stated = replace(
        bounce,
        horizon=Horizon(1.0, 20),
        conditions=conditions,
        guess=Straight([1.0], [2.0]),
        scheme=Variational(),
    )
    result = stated.solve({"restitution": 0.0})
    assert result.completed
    # Of the trapezoidal rule: 12 / (1 + 2 / N^2).
    assert result.objective == pytest.approx(12 / (1 + 2 / 400), rel=1e-6)


def test_a_blow_that_costs_its_energy(bounce):
    """Two straight ways of a cart in closed form; time and speed of the blow by SciPy."""

    def cost(x):
        T, v = x
        way = 12 / T**3 - 12 * v / T**2 + 4 * v**2 / T
        return way + 2.0 * v**2 / 2 + 12 / (2 - T) ** 3

    known = minimize(cost, [1.0, 1.0], method="Nelder-Mead", options={"xatol": 1e-9})
    stated = replace(bounce, costs=[Effort(), ImpactEnergy(weight=2.0)])
    result = stated.solve({"restitution": 0.0}, 100)
    assert result.completed, result.stop_reason
    assert result.objective == pytest.approx(known.fun, rel=5e-4)
    assert result["time"].values[36] == pytest.approx(known.x[0], abs=1e-3)
    assert np.nanmax(result["impulse"].values) == pytest.approx(known.x[1], abs=1e-2)


def weight(end, plan=PLAN):
    """Return the least square of the contact force of a weight of 3 N on a floor for 1 s."""
    body = Body("weight", 1.0, point_mass=True)
    d = assemble(
        Mechanism([body], coordinates="relative"),
        [PlaneContact("floor", Frame(None), Frame(body))],
        gravity=(0.0, 0.0, -3.0),
    )
    start = StartAt(np.zeros(3), np.zeros(3))
    guess = Straight(np.zeros(3), np.zeros(3))
    return optimize(d, Horizon(1.0, 10), [ContactForce()], [start, end], guess, plan=plan)


@pytest.mark.parametrize("end", [EndAt(v=np.zeros(3)), EndAt(q=np.zeros(3))], ids=["v", "q"])
def test_contact_force_of_a_weight_at_rest(end, capfd):
    """9 by its square."""
    result = weight(end)
    assert result.completed
    assert result.objective == pytest.approx(9.0, rel=1e-5)
    assert "into its wall" not in result.summary()
    assert not capfd.readouterr().err


def test_a_contact_that_moves_into_its_wall_at_the_end_is_told():
    """Let go for half of the last step, the weight falls at 3 m/s^2 times 0.05 s."""
    result = weight(EndAt(q=np.zeros(3)), IN_STEPS)
    assert result.completed
    assert "at the end floor is closed and moves into its wall at 0.15 m/s" in result.summary()


class Bare(Scheme):
    """Steps for simulations alone."""

    def add_step(self, mpcc, dynamics, start, h, scales):
        raise AssertionError

    def add_projection(self, mpcc, dynamics, start, scales, step):
        raise AssertionError


def test_a_scheme_without_equations_for_a_horizon_says_so(bounce):
    with pytest.raises(ValueError, match=r"no equations for a whole horizon: use Variational\(\)"):
        replace(bounce, scheme=Bare()).solve({"restitution": 0.0}, 20)
    with pytest.raises(ValueError, match="Composition has no contacts over a horizon"):
        replace(bounce, scheme=Composition()).solve({"restitution": 0.0}, 20)


@pytest.mark.slow
@pytest.mark.parametrize(
    "scheme", [PaperStep(), MoreauJean(), MoreauJean(theta=1.0), Composition()]
)
def test_schemes_that_hold_inputs_tend_to_the_same_way(scheme):
    """From rest to rest over 1 m in 1 s costs 12; errors fall with h, at least."""
    stated = replace(load_optimization("double_integrator"), scheme=scheme)
    errors = []
    for n in (20, 40):
        result = stated.solve(steps=n, verify=n == 20)
        assert result.completed, result.stop_reason
        assert result.data.attrs.get("resimulated_defect", 0.0) < 0.05
        errors.append(abs(result.objective - 12))
    assert errors[1] < 0.6 * errors[0] < 0.6 * 1.5


@pytest.mark.parametrize("friction", [0.1, 1.0])
def test_a_body_that_lands_obliquely_slides_or_sticks(friction):
    """Dropped from 5 cm at 0.5 m/s: the blow takes mu times what it stops, at most all of it."""
    body = Body("puck", 1.0, point_mass=True)
    law = ContactLaw(friction=friction)
    floor = PlaneContact("floor", Frame(None), Frame(body), law=law)
    d = assemble(Mechanism([body], coordinates="relative"), [floor], gravity=(0.0, 0.0, -9.81))
    start = StartAt([0.0, 0.0, 0.05], [0.5, 0.0, 0.0])
    result = optimize(
        d, Horizon(0.16, 32), [Duration()], [start], Straight([0, 0, 0.05], [0.05, 0, 0])
    )
    assert result.completed, result.stop_reason
    x, z = result["q"].values[:, 0], result["q"].values[:, 2]
    landed = int(np.argmax(z < 1e-6))
    after = np.diff(x[landed + 1 :]) / 0.005
    speed = max(0.5 - friction * np.sqrt(2 * 9.81 * 0.05), 0.0)
    slowed = speed - friction * 9.81 * 0.005 * np.arange(1, len(after) + 1)
    assert after == pytest.approx(np.maximum(slowed, 0.0), abs=0.06 if friction < 0.5 else 1e-3)


def test_nothing_stops_before_the_floor():
    """A body cannot be braked by a floor that it has not reached."""
    body = Body("ball", 1.0, point_mass=True)
    d = assemble(
        Mechanism([body], coordinates="relative"),
        [PlaneContact("floor", Frame(None), Frame(body))],
        gravity=(0.0, 0.0, -9.81),
    )
    conditions = [
        StartAt([0.0, 0.0, 1.0], np.zeros(3)),
        EndAt(v=[np.nan, np.nan, -1.0]),
    ]
    result = optimize(
        d,
        Horizon(0.42, 21),
        [Duration()],
        conditions,
        Straight([0.0, 0.0, 1.0], [0.0, 0.0, 0.1]),
        solver=Solver(backend=Ipopt(max_iter=100)),
    )
    assert not result.completed


def test_a_contact_that_is_not_there(bounce):
    conditions = [*bounce.conditions, During(Touching("floor"), 0.1, 0.2)]
    with pytest.raises(
        ValueError, match="names the contact 'floor', which is not in the mechanism: one of wall"
    ):
        replace(bounce, conditions=conditions).solve()


def test_steps_that_cannot_make_up_the_duration():
    with pytest.raises(ValueError, match="but the motion takes 2 to 2 s"):
        Horizon(2.0, 10, h=StepBounds(1e-3, 1e-2))


def test_restitution_belongs_to_aligned_steps():
    dynamics = load_optimization("bounce").dynamics
    ContactAligned().check_horizon(dynamics, dynamics.values())
    for scheme in (Variational(), MoreauJean()):
        with pytest.raises(ValueError, match=r"contact 'wall' rebounds with e = 1, but .* use Con"):
            scheme.check_horizon(dynamics, dynamics.values())
