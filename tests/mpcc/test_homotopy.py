"""The schedule, what happens after a failed stage, and how success is judged."""

from dataclasses import dataclass, field, replace

import casadi as ca
import numpy as np
import pytest

from nsopt.mpcc import (
    STEP,
    ActiveSet,
    Backend,
    ExactPenalty,
    Ipopt,
    Mpcc,
    MultiStart,
    NaturalResidual,
    Outcome,
    Recovery,
    Scholtes,
    ScholtesAggregated,
    Solver,
    Sqp,
    Tolerances,
)

pytestmark = pytest.mark.unit


def corner():
    """Min (x-1)^2 + (y-2)^2 over 0 <= x _|_ y >= 0: (0, 2)."""
    mpcc = Mpcc("corner")
    z = mpcc.variable("z", 2, guess=[0.5, 1.5])
    mpcc.complement("pair", z[0], z[1])
    mpcc.minimize((z[0] - 1) ** 2 + (z[1] - 2) ** 2)
    return mpcc


@dataclass(frozen=True)
class Brittle(Backend):
    """IPOPT that loses its way where sigma falls by more than ``factor`` since the last success."""

    factor: float
    sigmas: list = field(default_factory=list)
    starts: list = field(default_factory=list)

    def build(self, nlp):
        good = [1.0]
        call = Ipopt(warm_start=None).build(nlp)

        def brittle(start, p, lower, upper):
            sigma = p[-1]
            self.sigmas.append(sigma)
            self.starts.append(start)
            outcome = call(start, p, lower, upper)
            if sigma < good[0] / self.factor:
                return replace(outcome, point=replace(outcome.point, x=np.full(2, np.nan)))
            good[0] = sigma
            return outcome

        return brittle


def test_failed_stage_goes_back_not_on():
    backend = Brittle(factor=150.0)
    solver = Solver(backend=backend, schedules=[(1.0, 1e-2, 1e-6, 1e-10)])
    solution = solver.build(corner(), STEP).solve()
    assert solution.ok, solution.status
    np.testing.assert_allclose(
        backend.sigmas, [1, 1e-2, 1e-6, 1e-4, 1e-6, 1e-10, 1e-8, 1e-10], rtol=1e-9
    )
    assert [a.ok for a in solution.stages] == [True, True, False, True, True, False, True, True]
    # after the failure at 1e-6 the start is the end of 1e-2 again, not the NaN
    np.testing.assert_array_equal(backend.starts[3].x, backend.starts[2].x)


def test_what_schedules_share_is_run_once():
    backend = Brittle(factor=150.0)
    shared = [(1.0, 1e-2, 1e-6, 1e-10), (1.0, 1e-2, 1e-4, 1e-6, 1e-8, 1e-10)]
    solution = Solver(backend=backend, schedules=shared, retries=0).build(corner(), STEP).solve()
    assert solution.ok, solution.status
    assert backend.sigmas == [1, 1e-2, 1e-6, 1e-4, 1e-6, 1e-8, 1e-10]
    assert [a.stage[0] for a in solution.stages] == backend.sigmas
    np.testing.assert_array_equal(backend.starts[3].x, backend.starts[2].x)


def test_number_of_retries_is_bounded():
    backend = Brittle(factor=1.0001)
    solver = Solver(backend=backend, schedules=[(1e-10,)], retries=3)
    solution = solver.build(corner(), STEP).solve()
    assert not solution.ok
    assert len(backend.sigmas) == 4
    assert "not finite" in solution.status.remedy


def test_first_failure_of_a_warm_start_restarts_cold():
    program = Solver(backend=Brittle(factor=1e20), schedules=[(1e-10,)]).build(corner(), STEP)
    good = program.solve()
    bad = Brittle(factor=1e4)
    cold = Solver(backend=bad, schedules=[(1e-10,)]).build(corner(), STEP).solve({}, good)
    np.testing.assert_array_equal(bad.starts[0].x, good.x)
    np.testing.assert_array_equal(bad.starts[1].x, [0.5, 1.5])
    assert bad.sigmas[1] == bad.sigmas[0]
    assert cold.ok


@dataclass(frozen=True)
class Claims(Backend):
    """Returns ``x`` and claims ``status``."""

    x: tuple
    status: str

    def build(self, nlp):
        return lambda start, p, lower, upper: Outcome(
            replace(start, x=np.array(self.x)), self.status, True, 0, 0.0
        )


def test_success_is_judged_by_residuals_alone():
    right = Solver(backend=Claims((0.0, 2.0), "Infeasible_Problem_Detected"))
    wrong = Solver(backend=Claims((0.1, 2.0), "Solve_Succeeded"))
    assert right.build(corner(), STEP).solve().ok
    solution = wrong.build(corner(), STEP).solve()
    assert not solution.ok
    assert solution.status.solver_status == "Solve_Succeeded"
    assert "'pair'" in solution.status.reason


def unbounded_below(weight):
    """Min x^2 + y^2 - (weight + 2) x y over pairs: (0, 0). With a smaller penalty it runs away."""
    mpcc = Mpcc("saddle")
    z = mpcc.variable("z", 2, guess=0.5)
    mpcc.complement("pair", z[0], z[1])
    mpcc.minimize(z[0] ** 2 + z[1] ** 2 - (weight + 2) * z[0] * z[1])
    return mpcc


def test_runaway_stage_is_a_failure():
    solver = Solver(relaxation=ExactPenalty(), schedules=[(1.0,)], recovery=())
    solution = solver.build(unbounded_below(2), STEP).solve()
    assert not solution.ok
    assert not any(a.ok for a in solution.stages)


@pytest.mark.parametrize("backend", [Ipopt(), Sqp()], ids=["ipopt", "sqp"])
@pytest.mark.parametrize("weight", [0.5, 5, 50])
def test_a_penalty_rises_until_it_is_exact_and_no_further(backend, weight):
    solver = Solver(backend=backend, relaxation=ExactPenalty(), recovery=(), phase_two=False)
    solution = solver.build(unbounded_below(weight)).solve().require()
    # Ipopt ends inside by the root of its barrier parameter.
    np.testing.assert_allclose(solution["z"], 0, atol=1e-5)
    assert 1 / solution.stages[-1].stage[0] < 10 * max(weight, 1)


def test_a_schedule_does_not_end_in_ever_smaller_retreats():
    backend = Brittle(factor=1.5)
    solver = Solver(backend=backend, schedules=[(1.0, 1e-2)], retries=100)
    assert not solver.build(corner(), STEP).solve().ok
    assert len(backend.sigmas) < 10
    assert min(a / b for a, b in zip(backend.sigmas[1:], backend.sigmas[2:], strict=False)) < 1


class Lost(Ipopt):
    """IPOPT that solves no relaxed program."""

    def build(self, nlp):
        return Claims((np.nan, 2.0), "lost").build(nlp) if nlp.complementary else super().build(nlp)


def test_what_one_way_does_not_solve_another_does():
    """From the start that was given; the steps of the first are on record too."""
    other = Brittle(factor=np.inf)
    solver = Solver(backend=Lost(), recovery=[Recovery(other, Scholtes(), [(1e-2, 1e-10)])])
    solution = solver.build(corner()).solve({}, {"z": (0.1, 1.0)}).require()
    np.testing.assert_allclose(solution["z"], [0, 2], atol=1e-8)
    np.testing.assert_array_equal(other.starts[0].x, [0.1, 1.0])
    assert other.sigmas == [1e-2, 1e-10]
    assert "lost" in {stage.solver_status for stage in solution.stages}
    assert not replace(solver, recovery=()).build(corner()).solve().ok


def test_a_program_without_a_least_value_is_tried_once():
    mpcc = Mpcc("unbounded")
    z = mpcc.variable("z", 2, guess=0.5)
    mpcc.complement("pair", z[0], z[1])
    mpcc.minimize(-z[0])
    other = Brittle(factor=np.inf)
    solver = Solver(recovery=[Recovery(other, Scholtes())])
    solution = solver.build(mpcc).solve()
    assert "grows without bound" in solution.status.reason
    assert other.sigmas == []


def hilly():
    """Min x^4 - 5 x^2 + x over x with a pair that follows it; the least is at -1.629."""
    mpcc = Mpcc("hilly")
    x = mpcc.variable("x", 1, lower=-3, upper=3, guess=2)
    y = mpcc.variable("y", 2, lower=0)
    mpcc.equal("parts", x - y[0] + y[1])
    mpcc.complement("sign", y[0], y[1])
    mpcc.minimize(x**4 - 5 * x**2 + x)
    return mpcc


def test_of_several_starts_the_best_counts():
    solver = Solver(active_set=ActiveSet(radius=1e-3))
    assert solver.build(hilly()).solve().require()["x"] > 1.5  # a local one
    several = replace(solver, multi_start=MultiStart(4)).build(hilly())
    solution = several.solve().require()
    lows = np.roots([4, 0, -10, 1]).real
    assert solution["x"] == pytest.approx(lows.min(), abs=1e-6)
    assert len(solution.objectives) == 4
    assert min(solution.objectives) == solution.objective
    assert "4 starts: " in solution.summary()
    again = several.solve()
    np.testing.assert_array_equal(again.objectives, solution.objectives)


def test_options_of_several_starts_are_checked():
    with pytest.raises(ValueError, match="2 or more"):
        MultiStart(starts=1)


@pytest.mark.parametrize("backend", [Ipopt(), Sqp()], ids=["ipopt", "sqp"])
def test_infeasible_program_names_the_block(backend):
    mpcc = Mpcc("hopeless")
    x, y = mpcc.variable("x", 1, guess=1.0), mpcc.variable("y", 1, guess=1.0)
    mpcc.equal("possible", x - y)
    mpcc.equal("impossible", x**2 + 1)
    mpcc.complement("pair", x + 2, y)
    solution = Solver(backend=backend).build(mpcc).solve()
    assert not solution.ok
    assert "'impossible'" in solution.status.reason
    assert solution.worst().block == "impossible"
    assert solution.status.remedy


@pytest.mark.parametrize("backend", [Ipopt(), Sqp()], ids=["ipopt", "sqp"])
def test_polish_makes_backends_agree_to_round_off(backend):
    mpcc = Mpcc("cubic")
    z = mpcc.variable("z", 3, guess=[1.0, 0.2, 0.2])
    mpcc.equal("curve", ca.vertcat(z[0] ** 3 - 2, z[1] + z[2] ** 2 - z[0]))
    mpcc.complement("pair", z[1], z[2])
    mpcc.minimize(ca.sumsqr(z[1] - 1))
    solution = Solver(backend=backend).build(mpcc).solve().require()
    root = 2 ** (1 / 3)
    np.testing.assert_allclose(solution["z"], [root, root, 0.0], atol=1e-14)
    assert solution.residuals.equality["curve"] < 1e-14
    assert abs(solution.residuals.pairs[0].product) < 1e-24


def test_polish_takes_a_degenerate_pair_the_right_way():
    # G and H both sqrt(sigma) at the relaxed point, yet only H = 0 leads to G >= 0
    mpcc = Mpcc("degenerate")
    z = mpcc.variable("z", 2, guess=1.0)
    mpcc.equal("line", z[0] - 2 * z[1] - 1e-6)
    mpcc.complement("pair", z[0], z[1])
    solution = Solver().build(mpcc).solve().require()
    np.testing.assert_allclose(solution["z"], [1e-6, 0.0], atol=1e-12)


def test_without_polish_the_relaxed_point_is_returned():
    solution = Solver(polish=False).build(corner(), STEP).solve().require()
    assert solution.residuals.pairs[0].product == pytest.approx(1e-10, rel=1e-3)


@pytest.mark.parametrize("relaxation", [Scholtes(), ScholtesAggregated()])
def test_multipliers_shorten_a_warm_start(relaxation):
    mpcc = Mpcc("moving")
    t = mpcc.parameter("t", 1)
    z = mpcc.variable("z", 3, guess=1.0)
    mpcc.complement("pair", z[:2], ca.vertcat(z[2], z[0] + z[2]))
    mpcc.minimize(ca.sumsqr(z - ca.vertcat(2 + t, 1, 3 - t)))
    program = Solver(relaxation=relaxation, schedules=[(1e-8,)]).build(mpcc, STEP)
    before = program.solve({"t": 0.0}).require()
    cold = program.solve({"t": 1e-3}).require()
    x_alone = program.solve({"t": 1e-3}, before.values).require()
    warm = program.solve({"t": 1e-3}, before).require()
    np.testing.assert_allclose(warm["z"], x_alone["z"], atol=1e-5)
    assert warm.iterations < min(cold.iterations, x_alone.iterations)


def test_solvers_share_solutions_as_guesses():
    mpcc = corner()
    first = Solver().build(mpcc).solve().require()
    for relaxation in (NaturalResidual(), Scholtes()):
        for backend in (Ipopt(), Sqp()):
            program = Solver(relaxation=relaxation, backend=backend).build(mpcc)
            solution = program.solve(guess=first).require()
            np.testing.assert_allclose(solution["z"], [0, 2], atol=1e-4)


def test_guess_of_another_program_is_refused():
    other = Mpcc("other")
    other.variable("w", 2)
    guess = Solver().build(other).solve()
    with pytest.raises(ValueError, match="another program, with w"):
        Solver().build(corner(), STEP).solve(guess=guess)


@pytest.mark.parametrize("schedule", [(), (1e-2, 1.0), (1.0, 0.0), (1.0, 1.0), (np.nan,)])
def test_schedule_must_descend(schedule):
    with pytest.raises(ValueError, match="schedule"):
        Solver(schedules=[schedule])


def test_tolerances_must_be_positive():
    with pytest.raises(ValueError, match="tolerance bounds"):
        Tolerances(bounds=0.0)
    with pytest.raises(ValueError, match="retries"):
        Solver(retries=-1)
