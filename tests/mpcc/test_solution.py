"""A Solution reports residuals and multipliers as recomputed by hand."""

import casadi as ca
import numpy as np
import pytest

from nsopt.mpcc import STEP, Ipopt, Kind, Mpcc, SolveError, Solver, Sqp, Tolerances

pytestmark = pytest.mark.unit


def program(solver=None):
    mpcc = Mpcc("demo")
    low = mpcc.parameter("low", 1)
    a = mpcc.variable("a", 2, lower=ca.vertcat(low, -1), upper=low + 5, scale=[1e-3, 2.0], guess=1)
    f = mpcc.variable("f", 2, scale=10.0, guess=1)
    mpcc.equal("balance", ca.vertcat(a[0] + a[1] - 3, f[0] * a[1] - 2), scale=[0.1, 10])
    mpcc.less("limit", ca.vertcat(a[0] - 4, f[1] - 30), scale=5)
    mpcc.complement("gap", a, f - [0.5, 1], scale=(1e-3, 10), labels=("left", "right"))
    mpcc.minimize(ca.sumsqr(a) + f[1])
    return (solver or Solver()).build(mpcc, STEP)


def perturbed(x):
    """A Solution at x, whatever it is: a solver that does nothing."""
    return program(Solver(backend=Ipopt(max_iter=0), polish=False, retries=0)).solve(
        {"low": 0.0}, {"a": x[:2], "f": x[2:]}
    )


def test_residuals_equal_those_by_hand():
    solution = perturbed(np.array([3.5, 4.25, 0.25, 40.0]))
    a, f = solution["a"], solution["f"]
    r = solution.residuals
    balance = np.abs([a[0] + a[1] - 3, f[0] * a[1] - 2])
    assert r.equality["balance"] == pytest.approx(balance.max(), rel=1e-12)
    assert r.inequality["limit"] == pytest.approx(max(0, a[0] - 4, f[1] - 30), rel=1e-9)
    assert r.bounds["a"] == pytest.approx(max(0, -a[0], -1 - a[1], a.max() - 5), abs=1e-15)
    assert r.bounds["f"] == 0.0
    left, right = r.pairs
    assert (left.label, right.label) == ("left", "right")
    H = f - [0.5, 1]
    np.testing.assert_allclose([left.G, right.G, left.H, right.H], [*a, *H], rtol=1e-12)
    assert left.minimum == pytest.approx(min(a[0], H[0]), rel=1e-12)
    assert right.product == pytest.approx(a[1] * H[1], rel=1e-12)
    assert not solution.ok


def test_worst_is_largest_over_tolerance():
    solution = perturbed(np.array([3.5, 4.25, 0.25, 40.0]))
    a, f = solution["a"], solution["f"]
    by_hand = {
        "[0]": abs(a[0] + a[1] - 3) / 0.1,
        "[1]": abs(f[0] * a[1] - 2) / 10,
        "right": min(a[1] / 1e-3, (f[1] - 1) / 10),
    }
    label = max(by_hand, key=by_hand.get)
    assert solution.worst().label == label
    assert solution.worst().kind is Kind.EQUALITY
    assert solution.worst().value == pytest.approx(solution.residuals.equality["balance"])
    assert "'balance'" in solution.status.reason
    assert str(solution.worst()) in solution.status.reason


@pytest.mark.parametrize("backend", [Ipopt(), Sqp()], ids=["ipopt", "sqp"])
def test_solution_in_physical_units(backend):
    # balance with both pairs open or loaded: a[0] > 0 needs f[0] = 0.5, so a = (-1, 4) or a[0] = 0
    solution = program(Solver(backend=backend, schedules=[(1.0, 1e-3, 1e-6, 1e-10)])).solve(
        {"low": 0.0}
    )
    solution.require()
    np.testing.assert_allclose(solution["a"], [0, 3], atol=1e-9)
    np.testing.assert_allclose(solution["f"], [2 / 3, 1], atol=1e-9)
    assert solution.objective == pytest.approx(10.0)
    np.testing.assert_array_equal(solution.values["a"], solution["a"])
    np.testing.assert_allclose(solution.x, [0, 1.5, 2 / 30, 0.1], atol=1e-6)
    assert solution.residuals.largest <= 1
    with pytest.raises(KeyError, match="no variable 'b'; there are a, f"):
        solution["b"]


def test_stationarity_is_that_of_the_lagrangian():
    mpcc = Mpcc("circle")
    x = mpcc.variable("x", 2, guess=[1.0, 0.2])
    mpcc.equal("circle", ca.sumsqr(x) - 1)
    mpcc.minimize(x[0] + x[1])
    solution = Solver(polish=False).build(mpcc, STEP).solve().require()
    lam = solution.point.lam_g[0]
    by_hand = np.abs(1 + 2 * lam * solution["x"] + solution.point.lam_x).max()
    assert solution.residuals.stationarity == pytest.approx(by_hand, abs=1e-15)
    assert solution.residuals.stationarity < 1e-9
    np.testing.assert_allclose(solution["x"], -np.sqrt([0.5, 0.5]), rtol=1e-9)


def test_stationarity_is_judged_on_demand():
    mpcc = Mpcc("slope")
    x = mpcc.variable("x", 1, lower=-1, upper=1, guess=0.5)
    mpcc.minimize(x)
    lazy = Ipopt(max_iter=1)
    assert Solver(backend=lazy).build(mpcc, STEP).solve().ok
    strict = Solver(backend=lazy, tolerances=Tolerances(stationarity=1e-6), retries=0)
    solution = strict.build(mpcc, STEP).solve()
    assert not solution.ok
    assert solution.worst().kind is Kind.STATIONARITY


@pytest.mark.parametrize("backend", [Ipopt(), Sqp()], ids=["ipopt", "sqp"])
@pytest.mark.parametrize("low", [-3.0, 0.5, 2.0])
def test_bounds_follow_parameters(backend, low):
    mpcc = Mpcc("bounded")
    p = mpcc.parameter("low", 1)
    x = mpcc.variable("x", 1, lower=p, upper=p + 1, scale=0.1, guess=p)
    mpcc.minimize(x**2)
    solution = Solver(backend=backend).build(mpcc).solve({"low": low}).require()
    assert solution["x"][0] == pytest.approx(np.clip(0.0, low, low + 1), abs=1e-7)


@pytest.mark.parametrize("backend", [Ipopt(), Sqp()], ids=["ipopt", "sqp"])
def test_crossed_bounds_fail_and_name_the_variable(backend):
    mpcc = Mpcc("crossed")
    p = mpcc.parameter("low", 1)
    x = mpcc.variable("x", 1, lower=p, upper=1)
    mpcc.minimize(x**2)
    solution = Solver(backend=backend).build(mpcc).solve({"low": 2.0})
    assert not solution.ok
    assert "bounds of 'x'" in solution.status.reason
    assert "lower <= upper" in solution.status.remedy


def test_require_raises_with_the_solution():
    solution = perturbed(np.array([3.5, 4.25, 0.25, 40.0]))
    with pytest.raises(SolveError, match="'balance'") as caught:
        solution.require()
    assert caught.value.solution is solution


WRONG = {
    "missing": ({}, "parameters \\['low'\\] are missing"),
    "unknown": ({"low": 0, "high": 1}, "no block 'high': one of low"),
    "size": ({"low": [0, 1]}, "'low' has 1 entries"),
    "not finite": ({"low": np.nan}, "low not finite"),
}


@pytest.mark.parametrize("wrong", WRONG)
def test_wrong_parameters(wrong):
    parameters, message = WRONG[wrong]
    with pytest.raises(ValueError, match=message):
        program().solve(parameters)


def test_wrong_guess():
    with pytest.raises(ValueError, match="guess for 'demo': no block 'low'"):
        program().solve({"low": 0}, {"low": 0})
    with pytest.raises(ValueError, match="guess for 'demo': f not finite"):
        program().solve({"low": 0}, {"f": [np.inf, 0]})


def test_inputs_are_not_mutated():
    low, guess = np.array([0.0]), {"a": np.array([-7.0, 9.0])}
    program().solve({"low": low}, guess)
    np.testing.assert_array_equal(low, [0.0])
    np.testing.assert_array_equal(guess["a"], [-7.0, 9.0])
