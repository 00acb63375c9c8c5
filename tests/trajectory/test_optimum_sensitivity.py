"""Derivatives of optima by parameters, against closed forms and against solving again."""

from dataclasses import replace

import casadi as ca
import numpy as np
import pytest

from nsopt import (
    GROUND,
    Actuator,
    Body,
    Frame,
    Ipopt,
    Mechanism,
    Parameter,
    Revolute,
    Solver,
    TorsionSpringDamper,
    Variational,
    assemble,
)
from nsopt.mpcc import StructuredNlp, constraint_block
from nsopt.problem import load_optimization
from nsopt.trajectory import (
    IN_STEPS,
    Bound,
    Duration,
    Effort,
    EndAt,
    Horizon,
    Optimization,
    OptimumError,
    Quintic,
    StartAt,
    cost_derivatives,
    optimum_derivatives,
)

STEPS = 40


def push(force=np.inf, corner=1.0):
    """A mass pushed from rest through steps of midpoint rule; p = (mass, way, weight of time).

    Unknowns of a step are its end (place, speed), the force and those of its start.
    """
    w, data, p = ca.SX.sym("w", 5), ca.SX.sym("d", 1), ca.SX.sym("p", 3)
    x, v, u, x1, v1 = ca.vertsplit(w)
    h = 1 / STEPS
    bounds = [
        Bound("motion", ca.vertcat(x1 - x - h * (v + v1) / 2, p[0] * (v1 - v) - h * u), 0.0, 0.0)
    ]
    if np.isfinite(force):
        bounds.append(Bound("force", u, -force, force))
    columns = np.array([[3 * k, 3 * k + 1, 3 * k + 2, 3 * k + 3, 3 * k + 4] for k in range(STEPS)])
    cost = h * (u**2 + p[2] * (x - p[1]) ** 2 * corner)
    steps = constraint_block("steps", (w, data, p), [_arrays(b) for b in bounds], cost, columns)
    e = ca.SX.sym("e", 2)
    ends = [
        constraint_block(name, (e, data, p), [_arrays(Bound(name, value, 0.0, 0.0))], ca.SX(0), at)
        for name, value, at in (
            ("start", e, np.array([[0, 1]])),
            ("end", e - ca.vertcat(p[1], 0), np.array([[3 * STEPS, 3 * STEPS + 1]])),
        )
    ]
    return StructuredNlp([steps, *ends], 3 * STEPS + 2, 3)


def _arrays(bound):
    n = bound.value.numel()
    return Bound(bound.label, bound.value, np.full(n, bound.lower), np.full(n, bound.upper))


def solved(nlp, p):
    options = {
        "print_time": False,
        "ipopt.print_level": 0,
        "ipopt.sb": "yes",
        "ipopt.tol": 1e-12,
        "ipopt.constr_viol_tol": 1e-12,
        "ipopt.bound_relax_factor": 0.0,
    }
    program = {"x": nlp.x, "p": nlp.p, "f": nlp.f, "g": nlp.g}
    call = ca.nlpsol("again", "ipopt", program, options)
    solution = call(x0=0.1, p=p, lbg=nlp.lower, ubg=nlp.upper)
    assert call.stats()["success"]
    return {name: np.asarray(value).ravel() for name, value in solution.items()}


def differences(nlp, p, k, step=1e-4):
    ends = []
    for sign in (1, -1):
        moved = p.copy()
        moved[k] += sign * step
        ends.append(solved(nlp, moved))
    return [(ends[0][name] - ends[1][name]) / (2 * step) for name in ("f", "x")]


def test_least_effort_in_closed_form():
    """12 m^2 s^2 / T^3 for steps without number: its derivatives by mass and way."""
    nlp, p = push(), np.array([1.0, 1.0, 0.0])
    at = solved(nlp, p)
    assert at["f"][0] == pytest.approx(12, rel=2e-3)
    by = cost_derivatives(nlp, at["x"], p, at["lam_g"])
    assert by[:2] == pytest.approx(2 * at["f"][0] * np.ones(2), rel=1e-7)
    derivatives = optimum_derivatives(nlp, at["x"], p, at["lam_x"], at["lam_g"])
    assert derivatives.cost == pytest.approx(by)
    # Twice the way is twice the motion; the force goes with the mass, the motion does not.
    assert derivatives.x[:, 1] == pytest.approx(at["x"], abs=1e-6)
    forces = np.arange(2, 3 * STEPS, 3)
    assert derivatives.x[forces, 0] == pytest.approx(at["x"][forces], abs=1e-6)
    assert np.delete(derivatives.x[:, 0], forces) == pytest.approx(0, abs=1e-8)


@pytest.mark.parametrize("force", [np.inf, 5.05])
def test_against_solving_again(force):
    """Also with some forces at their bound."""
    nlp, p = push(force), np.array([1.0, 1.0, 3.0])
    at = solved(nlp, p)
    forces = np.abs(at["x"][2 : 3 * STEPS : 3])
    assert 2 < np.sum(forces > 5.05 - 1e-6) < STEPS
    derivatives = optimum_derivatives(nlp, at["x"], p, at["lam_x"], at["lam_g"])
    for k in range(3):
        cost, x = differences(nlp, p, k)
        assert derivatives.cost[k] == pytest.approx(cost[0], rel=1e-6)
        assert derivatives.x[:, k] == pytest.approx(x, abs=2e-5 * (1 + np.max(np.abs(x))))


def test_bounds_of_unknowns():
    """The least of (x - p)^2 with x <= 1: moves with p below, stays above, neither at 1."""
    w, data, p = ca.SX.sym("w"), ca.SX.sym("d"), ca.SX.sym("p")
    nlp = StructuredNlp(
        [constraint_block("f", (w, data, p), [], (w - p) ** 2, np.array([[0]]))], 1, 1
    )
    none, one = np.zeros(0), np.ones(1)
    free = optimum_derivatives(nlp, 0.4 * one, 0.4 * one, 0 * one, none, -one, one)
    assert free.x[0, 0] == pytest.approx(1)
    held = optimum_derivatives(nlp, one, 1.5 * one, one, none, -one, one)
    assert held.x[0, 0] == 0
    assert held.cost[0] == pytest.approx(1.0)
    with pytest.raises(OptimumError, match="unknown 0 is at its bound and does not press"):
        optimum_derivatives(nlp, one, one, 0 * one, none, -one, one)


def test_an_optimum_that_is_not_unique_is_told():
    w, data, p = ca.SX.sym("w", 2), ca.SX.sym("d"), ca.SX.sym("p")
    nlp = StructuredNlp(
        [constraint_block("f", (w, data, p), [], (w[0] - p) ** 2, np.array([[0, 1]]))], 2, 1
    )
    with pytest.raises(OptimumError, match="not unique"):
        optimum_derivatives(nlp, np.zeros(2), np.zeros(1), np.zeros(2), np.zeros(0))


def swing(scheme=None):
    """Two links, the first driven, the second on a spring: swung up in a time that is free."""
    upper = Body("upper", Parameter("m1", 1.0), (0.02, 0.02, 0.02), (0.0, -0.2, 0.0))
    lower = Body("lower", 0.5, (0.01, 0.01, 0.01), (0.0, -0.5, 0.0))
    knee = Frame.at(upper, (0.0, -0.4, 0.0)), Frame.at(lower, (0.0, -0.4, 0.0))
    hip = Revolute("hip", Frame(GROUND), Frame.at(upper, (0.0, 0.0, 0.0)))
    drawn = Mechanism([upper, lower], [hip, Revolute("knee", *knee)], "relative", [Actuator("hip")])
    spring = TorsionSpringDamper("spring", *knee, Parameter("k", 2.0), damping=0.1)
    return Optimization(
        assemble(drawn, [spring], gravity=(0.0, -9.81, 0.0)),
        Horizon((0.5, 3.0), 30),
        [Effort(), Duration(weight=10.0)],
        [StartAt([0.0, 0.0], [0.0, 0.0]), EndAt([1.0, 0.0], [0.0, 0.0])],
        Quintic([0.0, 0.0], [1.0, 0.0]),
        scheme=scheme,
        solver=Solver(backend=Ipopt(tol=1e-11, constr_viol_tol=1e-11)),
    )


@pytest.mark.parametrize("scheme", [None, Variational()])
@pytest.mark.parametrize(("name", "step"), [("m1", 1e-4), ("k", 1e-3)])
def test_the_best_motion_moves_as_solving_again_says(scheme, name, step):
    """Its coordinates, and its duration, which is free and inside its bounds."""
    stated = swing(scheme)
    best = stated.solve()
    assert best.completed, best.stop_reason
    derivatives = stated.derivatives(best).sel(parameter=name)
    value = {x.name: x.value for x in stated.dynamics.parameters}[name]
    after, before = (stated.solve({name: value + sign * step}) for sign in (1, -1))
    for what in ("time", "q"):
        slope = (after[what].values - before[what].values) / (2 * step)
        assert np.abs(slope).max() > 1e-3
        assert derivatives[what].values == pytest.approx(slope, abs=1e-5 * np.abs(slope).max())
    slope = (after.objective - before.objective) / (2 * step)
    assert derivatives["cost"].item() == pytest.approx(slope, rel=1e-6)
    assert stated.cost_gradient(best)[name] == pytest.approx(slope, rel=1e-6)


@pytest.mark.slow
def test_motions_without_derivatives_are_refused():
    bounce = replace(load_optimization("bounce"), plan=IN_STEPS)
    straight = load_optimization("double_integrator")
    best = bounce.solve({"restitution": 0.5}, 20)
    with pytest.raises(ValueError, match="with contacts has no derivatives here"):
        bounce.derivatives(best)
    best = straight.solve(steps=10)
    with pytest.raises(ValueError, match="has no Parameter other than its inputs"):
        straight.derivatives(best)
    with pytest.raises(ValueError, match="is an optimum of another program"):
        replace(straight, conditions=straight.conditions[:1]).derivatives(best)
    best.data.attrs["completed"] = 0
    with pytest.raises(ValueError, match="is no solution"):
        straight.derivatives(best)
