"""IPOPT and SQP lead to the same optimum over a horizon."""

from dataclasses import replace

import pytest
from typer.testing import CliRunner

from nsopt import Ipopt, Result, Solver, Sqp
from nsopt.cli import app
from nsopt.mpcc import FischerBurmeister
from nsopt.problem import load_optimization
from nsopt.trajectory import FINE

CASES = {"double_integrator": 20, "bryson_denham": 30, "arm_least_resistance": 10}
SLOW = "arm_least_resistance"


@pytest.mark.parametrize(
    "name", [pytest.param(x, marks=[pytest.mark.slow] if x == SLOW else []) for x in CASES]
)
def test_sqp_finds_the_optimum_of_ipopt(name):
    stated = load_optimization(name)
    horizon = replace(stated.horizon, steps=CASES[name], defect=1.0)  # ten steps are few
    optima = {
        kind: replace(stated, horizon=horizon, solver=Solver(backend=kind(**options))).solve()
        for kind, options in ((Ipopt, {"options": {"ipopt.bound_relax_factor": 0.0}}), (Sqp, {}))
    }
    for kind, result in optima.items():
        assert result.completed, result.stop_reason
        assert result.data.attrs["violation"] < 1e-6
        assert result.data.attrs["solver_name"].startswith(kind.__name__.lower())
    assert optima[Sqp].objective == pytest.approx(optima[Ipopt].objective, rel=1e-6)


@pytest.mark.slow
def test_sqp_finds_the_optimum_of_ipopt_through_contacts():
    stated = load_optimization("clearance_pendulum")
    horizon = replace(stated.horizon, steps=50, defect=1.0)
    # At sigma 1e-8 IPOPT finds no end where complementarity is stated as equations.
    shared = {"relaxation": FischerBurmeister(), "schedules": [FINE[:-1]]}
    by_sqp, by_ipopt = (
        replace(stated, horizon=horizon, solver=solver).solve()
        for solver in (Solver(backend=Sqp()), Solver(backend=Ipopt(), **shared))
    )
    for result in (by_sqp, by_ipopt):
        assert result.completed, result.stop_reason
        assert result.data.attrs["violation"] < 1e-6
    assert by_sqp.objective == pytest.approx(by_ipopt.objective, rel=1e-6)


def test_a_failed_sqp_is_no_solution():
    stated = load_optimization("bryson_denham")
    result = replace(stated, solver=Solver(backend=Sqp(max_iter=0))).solve(steps=10)
    assert not result.completed
    assert "Maximum_Iterations_Exceeded" in result.stop_reason


@pytest.mark.slow
def test_the_backend_is_chosen_on_the_command_line(tmp_path):
    target = tmp_path / "cart.nc"
    command = ["optimize", "double_integrator", "--solver", "sqp", "--out", str(target)]
    done = CliRunner().invoke(app, command)
    assert done.exit_code == 0, done.output
    result = Result.open(target)
    assert result.data.attrs["solver_name"].startswith("sqp")
    assert result.objective == pytest.approx(12.0, rel=1e-6)  # 12 m^2 / T^3
    assert CliRunner().invoke(app, [*command[:3], "newton"]).exit_code == 2
