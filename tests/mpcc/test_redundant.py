"""Redundant constraints hold exactly, and reactions that are not unique are of least norm."""

from itertools import combinations

import casadi as ca
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nsopt.mpcc import FischerBurmeister, Ipopt, Mpcc, NaturalResidual, Solver, Sqp

LEGS = np.array([[1.0, 1.0], [-1.0, 1.0], [-1.0, -1.0], [1.0, -1.0]])  # [m]
WEIGHT = 40.0  # [N]
BALANCE = np.vstack([np.ones(4), LEGS.T])  # force and two moments
solvers = pytest.mark.parametrize(
    "solver",
    [
        Solver(backend=backend, relaxation=relaxation)
        for backend in (Ipopt(), Sqp())
        for relaxation in (FischerBurmeister(), NaturalResidual())
    ],
    ids=lambda s: f"{type(s.backend).__name__}-{type(s.relaxation).__name__}",
)


def table(least=True):
    """A rigid block on four rigid legs, loaded at (x, y); it may sink, pitch and roll."""
    mpcc = Mpcc("table")
    load = mpcc.parameter("load", 2)
    pose = mpcc.variable("pose", 3, scale=1e-3, guess=[1e-3, 0, 0])
    force = mpcc.variable("force", 4, lower=0, scale=10.0, guess=1.0)
    moments = WEIGHT * ca.vertcat(1, load)
    mpcc.equal("balance", ca.DM(BALANCE) @ force - moments, scale=10.0)
    mpcc.complement("legs", ca.DM(BALANCE).T @ pose, force, scale=(1e-3, 10.0))
    if least:
        mpcc.least_norm("force")
    return mpcc


def least_forces(load):
    """Least-norm forces >= 0 in balance, by trying every set of loaded legs."""
    right = WEIGHT * np.array([1.0, *load])
    best = None
    for k in range(1, 5):
        for legs in combinations(range(4), k):
            f = np.zeros(4)
            f[list(legs)] = np.linalg.lstsq(BALANCE[:, legs], right)[0]
            fits = np.allclose(BALANCE @ f, right, atol=1e-9) and f.min() >= -1e-9
            if fits and (best is None or f @ f < best @ best - 1e-12):
                best = f
    return best


@solvers
def test_central_load_is_shared_equally(solver):
    solution = solver.build(table()).solve({"load": [0.0, 0.0]}).require()
    np.testing.assert_allclose(solution["force"], WEIGHT / 4, rtol=1e-12)
    assert solution.residuals.equality["balance"] < 1e-12


@solvers
@pytest.mark.parametrize("load", [(0.3, -0.2), (0.6, 0.5), (0.7, 0.2), (-0.5, 0.5)])
def test_eccentric_load_has_least_forces(solver, load):
    # at (0.6, 0.5) the plain minimum pulls at the leg across: its force must stay at 0
    solution = solver.build(table()).solve({"load": load}).require()
    np.testing.assert_allclose(solution["force"], least_forces(load), atol=1e-8)
    assert solution["force"].min() >= 0


inside = st.floats(-0.95, 0.95)
TABLE = Solver().build(table())


@settings(max_examples=30)
@given(load=st.tuples(inside, inside))
def test_any_load_has_least_forces(load):
    solution = TABLE.solve({"load": load}).require()
    np.testing.assert_allclose(solution["force"], least_forces(load), atol=1e-6)


def test_without_least_norm_the_split_is_only_in_balance():
    solution = Solver().build(table(least=False)).solve({"load": [0.3, -0.2]}).require()
    np.testing.assert_allclose(BALANCE @ solution["force"], WEIGHT * np.array([1, 0.3, -0.2]))


@solvers
def test_more_equations_than_unknowns(solver):
    mpcc = Mpcc("redundant")
    x = mpcc.variable("x", 2, guess=[3.0, -1.0])
    mpcc.equal("sum", x[0] + x[1] - 2)
    mpcc.equal("again", 2 * x[0] + 2 * x[1] - 4)
    mpcc.equal("circle", x[0] ** 2 + x[1] ** 2 - 2.5)
    mpcc.equal("thrice", 3 * (x[0] + x[1] - 2))
    solution = solver.build(mpcc).solve().require()
    np.testing.assert_allclose(np.sort(solution["x"]), [0.5, 1.5], atol=1e-12)
    assert max(solution.residuals.equality.values()) < 1e-13


def joint():
    """A velocity jump at a joint that is stated twice: only the sum of two impulses is unique."""
    mpcc = Mpcc("joint")
    before = mpcc.parameter("before", 2)
    v, impulse = mpcc.variable("v", 2), mpcc.variable("impulse", 2)
    rows = ca.DM([[1.0, 0.5], [1.0, 0.5]])
    mpcc.equal("motion", v - before - rows.T @ impulse)
    mpcc.equal("joint", rows @ v)
    mpcc.least_norm("impulse")
    return mpcc


@solvers
def test_joint_stated_twice(solver):
    solution = solver.build(joint()).solve({"before": [1.0, 2.0]}).require()
    # v = before - n (n.before) / (n.n), n = (1, 1/2); the impulse -n.before / n.n in equal halves
    np.testing.assert_allclose(solution["impulse"], [-0.8, -0.8], atol=1e-12)
    np.testing.assert_allclose(solution["v"], [-0.6, 1.2], atol=1e-12)


def test_active_set_solver_needs_its_fallback_on_redundant_equations():
    alone = (
        Solver(backend=Sqp(fallback=None), recovery=()).build(joint()).solve({"before": [1.0, 2.0]})
    )
    assert not alone.ok


@solvers
def test_least_norm_of_free_unknowns_with_physical_scales(solver):
    # a = 3 + b with very different scales: least a^2 + b^2 is a = 1.5, b = -1.5
    mpcc = Mpcc("split")
    a = mpcc.variable("a", 1, scale=1e3, guess=100.0)
    b = mpcc.variable("b", 1, scale=1e-2)
    mpcc.equal("difference", a - b - 3)
    mpcc.least_norm(["a", "b"])
    solution = solver.build(mpcc).solve().require()
    np.testing.assert_allclose([*solution["a"], *solution["b"]], [1.5, -1.5], rtol=1e-9)


def test_least_norm_respects_bounds_and_inequalities():
    mpcc = Mpcc("split")
    f = mpcc.variable("f", 3, lower=[-np.inf, 2.5, -np.inf], guess=[1.0, 4.0, 1.0])
    mpcc.equal("sum", ca.sum1(f) - 6)
    mpcc.less("limit", f[2] - 1)
    mpcc.least_norm("f")
    solution = Solver().build(mpcc).solve().require()
    # without the limits 2, 2, 2; f[1] >= 2.5 and f[2] <= 1 leave 2.5, 2.5, 1
    np.testing.assert_allclose(solution["f"], [2.5, 2.5, 1.0], atol=1e-9)
