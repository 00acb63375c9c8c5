"""Kernels against CasADi's statement of the same programs, and against dense linear algebra."""

import casadi as ca
import numpy as np
import pytest

from nsopt.kernels import Workspace
from nsopt.kernels.views import square_of, workspace_of
from nsopt.mpcc import Mpcc, Newton, min_rows
from tests.kernels.programs import Solved, stated

SEEDS = range(8)
P = (1.0, 0.2, 1.0)


def rows_by_casadi(mpcc, x, p):
    """Return the rows of the min map and their derivatives, as CasADi has them."""
    equations = [b.expr / ca.SX(b.scale) for b in mpcc.equalities]
    values = ca.vertcat(*equations, *(row.value for row in min_rows(mpcc)))
    f = ca.Function("rows", [mpcc.x, mpcc.p], [values, ca.jacobian(values, mpcc.x)])
    r, J = f(x, p)
    return np.array(r).ravel(), np.array(J)


@pytest.mark.parametrize("events", [0, 2])
@pytest.mark.parametrize("seed", SEEDS)
def test_rows_and_directions_are_those_of_the_min_map(seed, events):
    """At random unknowns, with a pair that is not active at every second seed."""
    mpcc, p = stated(seed, events=events), (1.0, 0.2, seed % 2)
    solved = Solved(mpcc, p)
    for x in np.random.default_rng(seed).normal(size=(20, mpcc.x.numel())):
        r, J = rows_by_casadi(mpcc, x, p)
        assert solved.rows(x) == pytest.approx(r, rel=1e-13, abs=1e-13)
        assert solved.direction(x) == pytest.approx(np.linalg.solve(J, r), rel=1e-7, abs=1e-9)


@pytest.mark.parametrize("discs", [2, 3])
@pytest.mark.parametrize("seed", SEEDS)
def test_solutions_are_zeros_of_the_min_map(seed, discs):
    """To the tolerance, also where many steps lead there: numbers about one have no other limit."""
    mpcc = stated(seed, discs=discs)
    x, residual, _ = Solved(mpcc, P).solve(np.zeros(mpcc.x.numel()))
    assert residual <= Newton().tolerance
    r, _ = rows_by_casadi(mpcc, x, P)
    assert np.abs(r).max() == pytest.approx(residual, rel=1e-3, abs=1e-15)


def test_points_that_newton_alone_does_not_reach_are_found():
    """Twenty programs with discs, each by the search where full steps go round."""
    searched = 0
    for seed in range(20):
        mpcc = stated(seed, pairs=2, boxes=2, discs=3)
        x, _, count = Solved(mpcc, P).solve(np.zeros(mpcc.x.numel()))
        r, _ = rows_by_casadi(mpcc, x, P)
        assert np.abs(r).max() <= 1e-8
        searched += count > 10
    assert searched


def test_a_number_that_is_not_finite_is_no_solution():
    mpcc = stated(0)
    _, residual, _ = Solved(mpcc, (np.nan, 0.2, 1.0)).solve(np.zeros(mpcc.x.numel()), last=False)
    assert np.isnan(residual)


def test_an_unknown_without_a_pivot_of_its_own_is_found():
    """As coordinates without inertia that joints alone hold: a row gives nothing but a multiplier.

    v + l = p0, 3 l = p1, v + u / 3 = p2: l = p1 / 3, v = p0 - l, u = 3 (p2 - v).
    """
    m = Mpcc("massless")
    p = m.parameter("p", 3)
    v, u = m.variable("v", 1), m.variable("u", 1)
    l = m.variable("l", 1, multiplier=True)
    m.equal("motion", ca.vertcat(v + l - p[0], 3 * l - p[1]))
    m.equal("joint", v + u / 3 - p[2])
    for given in np.random.default_rng(0).normal(size=(30, 3)):
        x, residual, count = Solved(m, given).solve(np.zeros(3))
        l_true = given[1] / 3
        v_true = given[0] - l_true
        assert x == pytest.approx([v_true, 3 * (given[2] - v_true), l_true], abs=1e-9)
        assert residual <= 1e-11
        assert count <= 3


@pytest.mark.parametrize("seed", range(4))
def test_redundant_rows_give_no_large_multipliers(seed):
    """Six rows of rank four on five velocities, held at values that contradict each other a little.

    With S = C M^-1 C^T multipliers change by S^+ b, which combinations without effect have no part
    in, and velocities follow from these.
    """
    rng = np.random.default_rng(seed)
    C = rng.normal(size=(6, 4)) @ rng.normal(size=(4, 5))
    M = np.eye(5) + np.diag(rng.uniform(1, 2, 5))
    m = Mpcc("held")
    p = m.parameter("p", 6)
    v = m.variable("v", 5)
    mu = m.variable("mu", 6, multiplier=True)
    m.equal("motion", ca.DM(M) @ v - ca.DM(C).T @ mu)
    m.equal("joint", ca.DM(C) @ v - p, redundant=True)
    given = C @ rng.normal(size=5) + 1e-3 * rng.normal(size=6)
    solved = Solved(m, given)
    found = -solved.direction(np.zeros(11))
    inverse = np.linalg.inv(M)
    expected = np.linalg.pinv(C @ inverse @ C.T, rcond=1e-9) @ given
    assert found[5:] == pytest.approx(expected, abs=1e-6 * np.abs(expected).max())
    assert found[:5] == pytest.approx(inverse @ C.T @ expected, abs=1e-7)


def test_a_packed_program_is_the_program():
    """Each array where its name says, of the program and of its workspace."""
    solved = Solved(stated(0, events=2), P)
    for name, expected in solved.program.square._asdict().items():
        if name != "plan":
            assert np.array_equal(getattr(square_of.py_func(solved.p), name), expected), name
    plan = square_of.py_func(solved.p).plan
    for name, expected in solved.program.square.plan._asdict().items():
        assert np.array_equal(getattr(plan, name), expected), name
    workspace = workspace_of.py_func(solved.p, solved.space)
    for name, size in zip(Workspace._fields, solved.sizes, strict=True):
        getattr(workspace, name)[:] = len(name)
        assert len(getattr(workspace, name)) == size
    assert np.all(solved.space > 0)
