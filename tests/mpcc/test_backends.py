"""Backends keep quiet and never raise."""

import casadi as ca
import numpy as np
import pytest

from nsopt.mpcc import STEP, Ipopt, Mpcc, Solver, Sqp
from tests.catalog_methods import QP_SOLVERS

BACKENDS = [Ipopt(), *(Sqp(qp=qp) for qp in QP_SOLVERS)]
each = pytest.mark.parametrize(
    "backend", BACKENDS, ids=lambda b: getattr(getattr(b, "qp", None), "plugin", "ipopt")
)


def good():
    mpcc = Mpcc("good")
    x = mpcc.variable("x", 2, guess=[0.5, 0.4])
    mpcc.complement("pair", x[0], x[1])
    mpcc.minimize((x[0] - 1) ** 2 + x[1] ** 2)
    return mpcc


def infeasible():
    mpcc = good()
    x = mpcc.variables[0].scaled
    mpcc.equal("impossible", ca.sumsqr(x) + 1)
    return mpcc


def not_a_number():
    mpcc = good()
    x = mpcc.variables[0].scaled
    mpcc.minimize(ca.sqrt(x[0] - 5))
    mpcc.equal("root", ca.sqrt(x[1] - 5))
    return mpcc


def overdetermined():
    mpcc = good()
    x = mpcc.variables[0].scaled
    for i in range(3):
        mpcc.equal(f"same{i}", x[0] - 1)
    return mpcc


@each
@pytest.mark.parametrize("state", [good, infeasible, not_a_number, overdetermined])
def test_silent_and_never_raises(backend, state, capfd):
    solution = Solver(backend=backend, recovery=()).build(state()).solve()
    assert solution.ok == (state in (good, overdetermined)), solution.status
    printed = capfd.readouterr()
    assert printed.out == ""
    assert printed.err == ""


@each
def test_what_the_solver_throws_becomes_a_failed_solution(backend):
    mpcc = Mpcc("crossed")
    p = mpcc.parameter("p", 1)
    x = mpcc.variable("x", 1, lower=p, upper=0)
    mpcc.minimize(x**2)
    solution = Solver(backend=backend, retries=0).build(mpcc).solve({"p": 1.0})
    assert not solution.ok
    assert "RuntimeError" in solution.status.solver_status


def test_not_a_number_is_named():
    solution = Solver(retries=0).build(not_a_number()).solve()
    assert not np.isfinite(solution.worst().value)
    assert solution.worst().block == "root"
    assert "not finite" in solution.status.remedy


def test_further_options_reach_the_solver():
    solution = (
        Solver(backend=Ipopt(options={"ipopt.max_iter": 2}), retries=0).build(good(), STEP).solve()
    )
    assert solution.iterations == 2
    assert solution.status.solver_status == "Maximum_Iterations_Exceeded"


def test_options_are_copied():
    options = {"ipopt.max_iter": 2}
    backend = Ipopt(options=options)
    options["ipopt.max_iter"] = 300
    assert backend.options["ipopt.max_iter"] == 2
