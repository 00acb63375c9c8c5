"""The chain: the same motion as the solvers', whatever its chunks, and as Python."""

import os
import subprocess
import sys

import casadi as ca
import numpy as np
import pytest

from nsopt import (
    Acceptance,
    AppliedForce,
    Body,
    Compiled,
    ContactAligned,
    ErrorControl,
    Frame,
    Mechanism,
    MoreauJean,
    Solver,
    Sqp,
    StepBounds,
    Variational,
    assemble,
    simulate,
)
from nsopt.mpcc import Newton, ProximalPoints
from nsopt.simulation import StepProgram
from tests.schemes.models import case_a_dynamics, turned, wrapped

HARDLY = Newton(1e-12, 1e-12, iterations=1, points=ProximalPoints(budget=0, last=0))
SCHEMES = [Variational(), MoreauJean(project=True), ContactAligned()]


def run(duration=0.05, h=(1e-3, 1e-3), scheme=None, solver=None, **options):
    return simulate(
        case_a_dynamics(),
        duration=duration,
        steps=StepBounds(*h),
        scheme=scheme or Variational(),
        solver=solver or Compiled(),
        progress=False,
        **options,
    ).data


def same(one, two, names=("time", "q", "v", "impulse", "contact_loss")):
    return all(np.array_equal(one[n].values, two[n].values, equal_nan=True) for n in names)


@pytest.mark.parametrize(
    "scheme",
    [
        pytest.param(x, marks=[pytest.mark.slow] if isinstance(x, ContactAligned) else [])
        for x in SCHEMES
    ],
    ids=lambda s: type(s).__name__,
)
def test_chain_and_solvers_agree(scheme):
    """Across the impact of case A at 14.3 ms."""
    compiled = run(0.02, scheme=scheme)
    solved = run(0.02, scheme=scheme, solver=Solver(backend=Sqp()))
    if not isinstance(scheme, ContactAligned):  # the solvers may need smaller steps to find events
        assert compiled["time"].values == pytest.approx(solved["time"].values, abs=1e-10)
        assert compiled["q"].values == pytest.approx(solved["q"].values, abs=1e-9)
    assert compiled["q"].values[-1] == pytest.approx(solved["q"].values[-1], abs=1e-7)
    assert np.nansum(compiled["impulse"]) == pytest.approx(np.nansum(solved["impulse"]), rel=1e-6)


IN_PYTHON = """
from tests.simulation.test_chain import run
data = run(0.02)
print(",".join(float(x).hex() for x in data["q"].values[-1]))
"""


def test_kernels_in_python_take_the_same_steps():
    """Across the impact, to the bit; with a chunk that is not a part of them."""
    env = {**os.environ, "NUMBA_DISABLE_JIT": "1"}
    command = [sys.executable, "-c", IN_PYTHON]
    told = subprocess.run(command, env=env, check=True, capture_output=True, text=True).stdout
    q = [float.fromhex(x) for x in told.split(",")]
    assert np.array_equal(q, run(0.02, solver=Compiled(chunk=7))["q"].values[-1])


def test_kept_steps_are_every_kth_and_the_last():
    every, some = run(0.0433), run(0.0433, store_every=10)
    rows = [0, *range(10, 44, 10), 44]
    assert same(every[["time", "q", "v"]].isel(time=rows), some, ("time", "q", "v"))
    for name in ("contact_loss", "iterations", "retries"):
        assert np.nansum(some[name]) == pytest.approx(np.nansum(every[name]))
    assert some.attrs["steps"] == every.sizes["time"] - 1


@pytest.mark.slow
def test_error_control_keeps_the_error_and_says_why(fine):
    """Ten times the tolerance, at most four times the steps to the power of one third more."""
    counts, errors = [], []
    for tolerance in (1e-9, 1e-10):
        data = run(0.5, (1e-6, 1e-2), control=ErrorControl(tolerance))
        assert data.attrs["completed"]
        assert np.nansum(data["retries"]) < 0.5 * data.attrs["steps"]
        assert "error tolerance" in data["step_reason"].values
        counts.append(data.attrs["steps"])
        errors.append(wrapped(turned(data["q"].values[-1]) - fine))
    assert abs(errors[1]) < abs(errors[0]) < 1e-4
    assert counts[0] < counts[1] < 4 * counts[0]


@pytest.fixture(scope="module")
def fine():
    """Return the angle at 0.5 s by steps of 10 us."""
    return turned(run(0.5, (1e-5, 1e-5))["q"].values[-1])


@pytest.mark.slow
def test_a_step_that_newton_cannot_solve_goes_to_the_solvers():
    """One iteration is not enough at the impact: the solver takes over and the chain goes on."""
    hard = run(solver=Compiled(newton=HARDLY))
    assert hard.attrs["completed"]
    assert hard.attrs["steps_below_h_min"] == 0  # h is fixed
    assert any("Newton did not converge" in text for text in hard["tried"].values)
    assert hard["q"].values == pytest.approx(run()["q"].values, abs=1e-9)


def test_where_h_may_vary_its_code_goes_below_h_min_first():
    """With 10 us as h_min one iteration is enough at 3 us or 1 us, but for a few steps."""
    hard = run(h=(1e-5, 1e-3), solver=Compiled(newton=HARDLY))
    assert hard.attrs["completed"]
    h, below = hard["h"].values[1:], hard.attrs["steps_below_h_min"]
    assert below > 0
    assert np.sum(np.isclose(h, 3e-6) | np.isclose(h, 1e-6)) == below
    assert hard["q"].values[-1] == pytest.approx(run(h=(1e-5, 1e-5))["q"].values[-1], abs=1e-6)


@pytest.mark.slow
def test_what_no_scheme_can_step_keeps_what_was_computed():
    """A load that is no number from 20 ms on."""
    body = Body("body", 1.0, point_mass=True)
    load = AppliedForce("load", Frame(body), lambda t: (ca.sqrt(0.02 - t), 0, 0))
    data = simulate(
        assemble(Mechanism([body]), [load]),
        duration=0.05,
        steps=StepBounds(1e-3, 1e-3),
        scheme=Variational(),
        solver=Compiled(chunk=4),
        progress=False,
    ).data
    assert not data.attrs["completed"]
    reason = data.attrs["stop_reason"]
    head, *attempts = reason.splitlines()
    assert head.startswith("no step from t = 0.0")
    assert "not finite" in head
    assert any(attempt.startswith("cold restart by MoreauJean: ") for attempt in attempts)
    reached = data["time"].values[-1]
    assert 0.018 < reached < 0.02 + 1e-15
    exact = np.sqrt(0.02) * 0.02 * 2 / 3  # integral of sqrt(0.02 - t), m = 1
    assert data["v"].values[-1, 0] < exact
    assert data["v"].values[-1, 0] == pytest.approx(exact, rel=2e-2)


def test_options_are_checked():
    with pytest.raises(ValueError, match="chunk must be 1 or more, got 0"):
        Compiled(chunk=0)
    with pytest.raises(ValueError, match="tolerance must be a positive length in metres"):
        ErrorControl(0.0)
    with pytest.raises(ValueError, match=r"theta must be from 0\.5 to 1, got 0\.3"):
        MoreauJean(theta=0.3)
    with pytest.raises(ValueError, match="v_rest must be a speed"):
        ContactAligned(v_rest=-1.0)


def test_what_is_always_allowed_is_within_the_limits_of_a_step():
    """So steps that meet it need no other limits."""
    program = StepProgram(case_a_dynamics(), Variational(), Acceptance())
    symbols = ca.vertcat(*ca.symvar(ca.vertcat(program.checks.quick_limit, program.ends[-1])))
    both = ca.Function("both", [symbols], [program.checks.quick_limit, program.ends[-1]])
    for x in np.random.default_rng(0).uniform(0.1, 1.0, (20, symbols.numel())):
        always, limits = (array.full().ravel() for array in both(x))
        assert np.all(always <= limits)
        assert np.any(always < limits)
