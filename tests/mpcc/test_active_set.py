"""Phase II and what a point is called: against enumeration, by hand, and by finite differences."""

from itertools import product

import casadi as ca
import numpy as np
import pytest
import scipy

from nsopt.mpcc import (
    STEP,
    ActiveSet,
    Ipopt,
    Mpcc,
    Scholtes,
    SolveError,
    Solver,
    Sqp,
    StationarityKind,
    Tolerances,
)
from nsopt.mpcc.solve.branch import Branches
from nsopt.mpcc.solve.functions import Functions
from nsopt.mpcc.solve.stationarity import classify

pytestmark = pytest.mark.unit

BACKENDS = pytest.mark.parametrize("backend", [Ipopt(), Sqp()], ids=["ipopt", "sqp"])


def nearest(seed, m):
    """|A z - b|^2 over 0 <= z[:m] _|_ z[m:] >= 0, from zero."""
    rng = np.random.default_rng(seed)
    A, b = rng.normal(size=(2 * m + 1, 2 * m)), rng.normal(size=2 * m + 1)
    mpcc = Mpcc("nearest")
    z = mpcc.variable("z", 2 * m)
    mpcc.complement("pairs", z[:m], z[m:])
    mpcc.minimize(ca.sumsqr(ca.DM(A) @ z - b))
    return mpcc, A, b


def by_branches(A, b, m):
    """Return the least f of each branch, with its unknowns that may be positive."""
    for choice in product([False, True], repeat=m):
        free = np.concatenate([choice, np.logical_not(choice)])
        yield scipy.optimize.nnls(A[:, free], b)[1] ** 2, free


@BACKENDS
@pytest.mark.parametrize("seed", range(6))
def test_no_branch_of_a_solution_is_better(backend, seed):
    m = 4
    mpcc, A, b = nearest(seed, m)
    solution = Solver(backend=backend).build(mpcc).solve().require()
    positive = solution["z"] > 1e-6
    values = [f for f, free in by_branches(A, b, m) if not np.any(positive & ~free)]
    assert solution.objective == pytest.approx(min(values), abs=1e-7)


@BACKENDS
def test_a_worse_branch_is_left(backend):
    """From (0, 0.5), where the homotopy alone ends, by the origin to (2, 0)."""
    mpcc = Mpcc("two")
    z = mpcc.variable("z", 2, upper=3, guess=[0.0, 0.5])
    mpcc.complement("pair", z[0], z[1])
    mpcc.minimize((z[0] - 2) ** 2 + (z[1] - 0.5) ** 2)
    solver = Solver(backend=backend, schedules=[(1e-10,)])
    alone = solver.build(mpcc, STEP).solve().require()
    assert alone["z"] == pytest.approx([0, 0.5], abs=1e-4)
    solution = solver.build(mpcc).solve().require()
    assert solution["z"] == pytest.approx([2, 0], abs=1e-6)


def pulled(*slope):
    """The slope over a pair whose halves are at most one; all unknowns start at zero."""
    mpcc = Mpcc("pulled")
    z = mpcc.variable("z", 2, upper=1)
    mpcc.complement("pair", z[0], z[1])
    mpcc.minimize(slope[0] * z[0] + slope[1] * z[1])
    return mpcc


@pytest.mark.parametrize(
    ("slope", "kind"),
    [((1, 2), "S"), ((1, 0), "S"), ((0, -1), "M"), ((-1, -2), "C"), ((1, -1), "W")],
)
def test_kinds_at_the_origin_by_the_signs_of_the_slope(slope, kind):
    """The multipliers of both halves are the slope."""
    mpcc = pulled(*slope)
    functions = Functions(mpcc, Scholtes(), Tolerances())
    lpec = Branches(mpcc, Ipopt()).linearise(np.zeros(2), functions.make_case(np.zeros(0)))
    descent = lpec.solve(1e-5).descent
    assert descent == pytest.approx(max(0, *(-x for x in slope)), abs=1e-9)
    found = classify(lpec, descent, 1e-6, functions.layout)
    assert found.kind is StationarityKind[kind]
    assert found.biactive == 1
    assert found.optimal == (kind == "S")
    assert found.multipliers.pairs["pair"][0] == pytest.approx(slope, abs=1e-9)


@BACKENDS
def test_b_stationary_without_multipliers_of_both_signs(backend):
    """[Scheel, Scholtes 2000, example 3]: the origin is least, and not S-stationary."""
    mpcc = Mpcc("tent")
    z = mpcc.variable("z", 3, guess=0.5)
    mpcc.less("roof", ca.vertcat(z[2] - 4 * z[0], z[2] - 4 * z[1]))
    mpcc.complement("pair", z[0], z[1])
    mpcc.minimize(z[0] + z[1] - z[2])
    solution = Solver(backend=backend).build(mpcc).solve().require()
    assert solution["z"] == pytest.approx(np.zeros(3), abs=1e-6)
    assert solution.stationarity.kind is StationarityKind.B
    assert solution.stationarity.biactive == 1
    assert "B-stationary" in solution.summary()


def test_a_corner_of_biactive_pairs_with_small_multipliers():
    """Six tents over the origin, which is B-stationary and not S-stationary, of a small slope.

    On each branch an interior-point method ends 1e-7 beside it.
    """
    mpcc = Mpcc("tents")
    z = mpcc.variable("z", 18, guess=0.5)
    a, b, c = z[0::3], z[1::3], z[2::3]
    mpcc.less("roofs", ca.vertcat(c - 4 * a, c - 4 * b))
    mpcc.complement("pairs", a, b)
    mpcc.minimize(1e-4 * ca.sum1(a + b - c) + ca.sumsqr(z))
    solution = Solver(backend=Ipopt()).build(mpcc).solve().require()
    assert solution["z"] == pytest.approx(np.zeros(18), abs=1e-6)
    assert solution.stationarity.kind is StationarityKind.B
    assert solution.stationarity.biactive == 6


@BACKENDS
@pytest.mark.parametrize("seed", range(2))
def test_a_curved_objective_with_idle_limits(backend, seed):
    """Four pairs and a row have zero multipliers, beside which interior-point methods end."""
    rng, m, n = np.random.default_rng(seed), 6, 16
    factor, least, slope = rng.normal(size=(n, n)), np.zeros(n), np.zeros(n)
    least[[0, 3]], slope[[m, m + 3]] = 1.0, 1.0
    least[2 * m :] = rng.normal(size=n - 2 * m)
    mpcc = Mpcc("curved")
    z = mpcc.variable("z", n, lower=[0.0] * 2 * m + [-np.inf] * (n - 2 * m), guess=0.3)
    off = z - ca.DM(least)
    mpcc.complement("pairs", z[:m], z[m : 2 * m])
    mpcc.less("row", off[-2] + off[-1])
    mpcc.minimize(ca.dot(ca.DM(slope), z) + ca.sumsqr(ca.DM(factor.T) @ off) / (2 * n))
    solution = Solver(backend=backend).build(mpcc).solve().require()
    assert solution["z"] == pytest.approx(least, abs=1e-6)
    assert solution.stationarity.optimal


@pytest.mark.slow
def test_multipliers_are_what_the_objective_costs():
    """By solving again with every row moved: f falls by its multiplier, in physical units."""

    def best(moved=0.0, of=None):
        mpcc = Mpcc("costs")
        x = mpcc.variable("x", 2, upper=[3.0 + moved * (of == "x"), 9], scale=[0.1, 5.0], guess=1)
        y = mpcc.variable("y", 2, scale=20.0, guess=1)
        shift = {name: moved * (of == name) for name in ("sum", "cap", "G", "H")}
        mpcc.equal("sum", x[0] + x[1] + y[0] - 5 - shift["sum"], scale=4.0)
        mpcc.less("cap", y[1] + x[0] - 2.5 - shift["cap"], scale=0.2)
        H = ca.vertcat(y[0] + 0.5 * x[1] - 2 - shift["H"], y[1] - shift["H"])
        mpcc.complement("pair", ca.vertcat(y[0], x[0] - 1) - shift["G"], H, scale=(3.0, 0.5))
        mpcc.minimize(ca.sumsqr(x - ca.DM([4, 2])) + ca.sumsqr(y - ca.DM([1, 2])))
        return Solver().build(mpcc).solve().require()

    centre, e = best(), 1e-3
    assert centre.stationarity.biactive == 0
    found = centre.stationarity.multipliers
    G, H = found.pairs["pair"].T
    by_name = {
        "sum": found.equality["sum"].sum(),
        "cap": found.inequality["cap"].sum(),
        "G": -G.sum(),
        "H": -H.sum(),
        "x": found.bounds["x"][0],
    }
    assert max(abs(x) for x in by_name.values()) > 0.1
    for name, multiplier in by_name.items():
        slope = (best(e, name).objective - best(-e, name).objective) / (2 * e)
        assert -multiplier == pytest.approx(slope, abs=1e-4), name


def test_halves_that_depend_on_much_are_unknowns_inside_only():
    rng = np.random.default_rng(3)
    M, q = rng.normal(size=(4, 4)), rng.normal(size=4)
    mpcc = Mpcc("lcp")
    z = mpcc.variable("z", 4, guess=1.0)
    mpcc.complement("pair", ca.DM(M @ M.T + np.eye(4)) @ z + q, z)
    mpcc.minimize(ca.sumsqr(z))
    solution = Solver().build(mpcc).solve().require()
    assert list(solution.values) == ["z"]
    assert list(solution.stationarity.multipliers.equality) == []
    w = (M @ M.T + np.eye(4)) @ solution["z"] + q
    assert np.minimum(w, solution["z"]) == pytest.approx(np.zeros(4), abs=1e-8)


def adversaries():
    """Yield programs that have no solution, or are not solved by what they are given."""
    solver = Solver()

    def unbounded(m):
        x = m.variable("x", 1)
        m.minimize(x[0])

    def unbounded_pair(m):
        z = m.variable("z", 2, guess=0.5)
        m.complement("pair", z[0], z[1])
        m.minimize(-z[0] - z[1])

    def unbounded_square(m):
        x = m.variable("x", 2, guess=0.5)
        m.minimize(x[0] ** 2 - x[1] ** 2)

    def infeasible(m):
        z = m.variable("z", 2, guess=0.5)
        m.complement("pair", z[0] + 1, z[1] + 1)
        m.less("limits", ca.vertcat(z[0], z[1]) * -1 + 0.5)
        m.minimize(ca.sumsqr(z))

    def contradiction(m):
        x = m.variable("x", 1)
        m.equal("one", x - 1)
        m.equal("two", x - 2)
        m.minimize(x**2)

    def empty_bounds(m):
        z = m.variable("z", 2, lower=1, upper=2, guess=1.5)
        m.complement("pair", z[0], z[1])
        m.minimize(ca.sumsqr(z))

    def root_of_negative(m):
        x = m.variable("x", 1, upper=-1)
        m.minimize(ca.sqrt(x[0]))

    for state in (
        unbounded,
        unbounded_pair,
        unbounded_square,
        infeasible,
        contradiction,
        empty_bounds,
        root_of_negative,
    ):
        yield pytest.param(state, solver, id=state.__name__)
        yield pytest.param(state, Solver(backend=Sqp()), id=f"{state.__name__}, sqp")

    def far(m):
        x = m.variable("x", 2, guess=[-1.2, 1.0])
        m.minimize(100 * (x[1] - x[0] ** 2) ** 2 + (1 - x[0]) ** 2)

    def far_and_flat(m):
        far(m)
        m.objective = 1e-6 * m.objective

    def flat_in_many(m):
        x = m.variable("x", 200, lower=-1, upper=1)
        m.minimize(9e-6 * ca.sum1(x))

    for state in (far, far_and_flat):
        for backend in (Sqp(max_iter=2), Ipopt(max_iter=2)):
            name = f"{state.__name__}, two steps of {type(backend).__name__}"
            yield pytest.param(state, Solver(backend=backend, retries=0), id=name)
    yield pytest.param(flat_in_many, Solver(backend=Ipopt(max_iter=1)), id="flat in many")


@pytest.mark.parametrize(("state", "solver"), list(adversaries()))
def test_what_is_not_solved_is_not_called_so(state, solver):
    mpcc = Mpcc("adversary")
    state(mpcc)
    solution = solver.build(mpcc).solve()
    if state.__name__.startswith("far") and solution.ok:  # many times two steps may get there
        assert solution["x"] == pytest.approx([1, 1], abs=1e-4)
        return
    assert not solution.ok
    assert solution.status.remedy
    with pytest.raises(SolveError):
        solution.require()


def test_what_is_only_feasible_is_told():
    mpcc = Mpcc("slope")
    x = mpcc.variable("x", 1, lower=-1, upper=1, guess=0.5)
    mpcc.minimize(x)
    solution = Solver(backend=Ipopt(max_iter=1)).build(mpcc).solve()
    assert solution.feasible
    assert not solution.ok
    assert "feasible, not optimal" in solution.status.reason
    assert "falls by 1 " in solution.status.reason
    assert "not optimal" in repr(solution)


@BACKENDS
@pytest.mark.parametrize("seed", [24, 25, 26])
def test_a_small_objective_is_solved_as_well_as_a_large_one(backend, seed):
    m = 4
    mpcc, A, b = nearest(seed, m)
    mpcc.objective = 1e-6 * mpcc.objective
    mpcc.variable("y", 1, lower=0)
    solution = Solver(backend=backend).build(mpcc).solve().require()
    positive = solution["z"] > 1e-6
    values = [f for f, free in by_branches(A, b, m) if not np.any(positive & ~free)]
    assert solution.objective == pytest.approx(1e-6 * min(values), rel=1e-4)


def test_a_solution_of_another_program_of_the_same_statements_is_a_start():
    mpcc = Mpcc("twice")
    z = mpcc.variable("z", 2, guess=0.5, scale=[2.0, 0.1])
    mpcc.complement("pair", z[0] + z[1], z[1] + 1)
    mpcc.minimize((z[0] - 2) ** 2 + (z[1] + 3) ** 2)
    first = Solver().build(mpcc, STEP).solve().require()
    best = Solver().build(mpcc).solve({}, first).require()
    assert best["z"] == pytest.approx([2, -1], abs=1e-6)
    again = Solver(schedules=[(1e-8,)]).build(mpcc).solve({}, best).require()
    assert again["z"] == pytest.approx(best["z"], abs=1e-7)
    with pytest.raises(ValueError, match="Solution of another program, with x"):
        Solver().build(mpcc).solve({}, far_off())


def far_off():
    mpcc = Mpcc("other")
    x = mpcc.variable("x", 1)
    mpcc.minimize((x - 1) ** 2)
    return Solver().build(mpcc).solve()


def test_names_of_halves_that_are_taken():
    mpcc = Mpcc("names")
    z, taken = mpcc.variable("z", 2, guess=0.5), mpcc.variable("G of pair", 1, guess=0.5)
    mpcc.complement("pair", z[0] + taken, z[1])
    mpcc.minimize(ca.sumsqr(z - 1) + (taken - 1) ** 2)
    solution = Solver().build(mpcc).solve().require()
    assert list(solution.values) == ["z", "G of pair"]
    assert solution.objective == pytest.approx(1)


def test_a_guess_where_a_half_is_no_number():
    mpcc = Mpcc("root")
    z = mpcc.variable("z", 2)
    mpcc.complement("pair", ca.sqrt(z[0] - 1) * z[1], z[0] - 1 - z[1])
    mpcc.minimize(ca.sumsqr(z - ca.DM([3, 1])))
    z0, z1 = Solver().build(mpcc).solve({}, {"z": [2.0, 0.5]}).require()["z"]
    assert min(np.sqrt(z0 - 1) * z1, z0 - 1 - z1) == pytest.approx(0, abs=1e-8)


def test_a_bound_of_a_half_has_a_multiplier_of_its_own():
    """z0 >= 0.5 beside z0 _|_ z1: f grows by what z0 costs."""
    mpcc = Mpcc("bound")
    z = mpcc.variable("z", 2, lower=[0.5, -np.inf], guess=1.0)
    mpcc.complement("pair", z[0], z[1])
    mpcc.minimize(3 * z[0] + (z[1] - 1) ** 2)
    found = Solver().build(mpcc).solve().require().stationarity
    assert found.kind is StationarityKind.S
    assert found.multipliers.bounds["z"] == pytest.approx([-3, 0], abs=1e-6)
    assert found.multipliers.pairs["pair"][0] == pytest.approx([0, -2], abs=1e-6)


def test_a_fixed_variable_has_the_multiplier_of_both_its_bounds():
    mpcc = Mpcc("fixed")
    x, y = mpcc.variable("x", 1, lower=2, upper=2), mpcc.variable("y", 1)
    mpcc.equal("same", y - 3 * x)
    mpcc.minimize(x**2 + y)
    found = Solver().build(mpcc).solve().require().stationarity.multipliers
    assert found.bounds["x"] == pytest.approx([-4 - 3], abs=1e-6)
    assert found.equality["same"] == pytest.approx([-1], abs=1e-6)


@pytest.mark.parametrize("size", [1e-6, 1.0, 1e6])
def test_an_objective_without_a_slope_at_its_guess_and_its_least(size):
    """Nash's game of two as a complementarity problem, in MacMPEC nash1."""
    mpcc = Mpcc("nash")
    x = mpcc.variable("x", 2, lower=0, upper=10)
    y, lam = mpcc.variable("y", 2), mpcc.variable("lam", 2)
    own = ca.vertcat(2 * y[0] + 8 / 3 * y[1] - 34, 1.25 * y[0] + 2 * y[1] - 24.25)
    mpcc.equal("players", own + lam)
    mpcc.complement("limits", ca.vertcat(15 - x[1] - y[0], 15 - x[0] - y[1]), lam)
    mpcc.minimize(size * ca.sumsqr(x - y) / 2)
    solution = Solver().build(mpcc).solve().require()
    assert solution["x"] == pytest.approx(solution["y"], abs=1e-4)


def test_nothing_is_printed_where_derivatives_end_or_all_is_fixed(capfd):
    root = Mpcc("root")
    x = root.variable("x", 2)
    root.complement("pair", ca.sqrt(x[0]), x[1])
    root.minimize((x[0] + 1) ** 2 + (x[1] - 1) ** 2)
    Solver().build(root).solve()
    fixed = Mpcc("fixed")
    x = fixed.variable("x", 2, lower=1, upper=1)
    fixed.equal("sum", x[0] + x[1] - 2)
    fixed.minimize(ca.sumsqr(x))
    assert Solver().build(fixed).solve().ok
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize("wrong", [{"radius": 0}, {"least": 2}, {"tolerance": 0}, {"branches": 0}])
def test_options_are_checked(wrong):
    with pytest.raises(ValueError, match=r"are needed|1 or more"):
        ActiveSet(**wrong)
