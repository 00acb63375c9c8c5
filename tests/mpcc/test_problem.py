"""Statements: what they return, and the errors of wrong ones."""

import casadi as ca
import numpy as np
import pytest

from nsopt.mpcc import Ipopt, Mpcc, Solver, Sqp

pytestmark = pytest.mark.unit


def stated():
    mpcc = Mpcc("demo")
    mpcc.variable("x", 2)
    mpcc.parameter("p", 1)
    return mpcc


def test_variable_is_physical():
    mpcc = Mpcc("demo")
    h = mpcc.variable("h", 1, scale=1e-3, guess=2e-3)
    (block,) = mpcc.variables
    assert h.shape == (1, 1)
    assert float(ca.substitute(h, block.scaled, 2.0)) == 2e-3


def test_statements_append_and_leave_inputs_alone():
    scale = np.array([1.0, 2.0])
    mpcc = stated()
    before = mpcc.variables
    mpcc.variable("y", 2, scale=scale)
    scale[:] = -1
    assert len(before) == 1
    np.testing.assert_array_equal(mpcc.variables[1].scale, [1.0, 2.0])


def test_statements_after_build_do_not_enter():
    mpcc = Mpcc("demo")
    x = mpcc.variable("x", 1, guess=0.3)
    mpcc.minimize((x - 2) ** 2)
    program = Solver().build(mpcc)
    mpcc.equal("later", x - 7)
    solution = program.solve().require()
    assert solution["x"][0] == pytest.approx(2, abs=1e-6)
    assert "later" not in solution.residuals.equality


def test_blocks_of_size_zero_cost_nothing():
    mpcc = Mpcc("free")
    x = mpcc.variable("x", 1, guess=3.0)
    none, q = mpcc.variable("none", 0), mpcc.parameter("q", 0)
    mpcc.equal("nothing", none)
    mpcc.less("no limit", q)
    mpcc.complement("no contact", none, none)
    mpcc.minimize((x - 1) ** 2)
    mpcc.least_norm("none")
    solution = Solver().build(mpcc).solve({"q": []}).require()
    assert solution["x"][0] == pytest.approx(1, abs=1e-6)
    assert solution["none"].shape == (0,)
    assert solution.residuals.pairs == ()
    assert solution.residuals.equality == {"nothing": 0.0}


WRONG = {
    "twice": (lambda m: m.variable("x", 1), "'x' is stated twice"),
    "parameter twice": (lambda m: m.parameter("x", 1), "'x' is stated twice"),
    "no name": (lambda m: m.parameter("", 1), "needs a name"),
    "size": (lambda m: m.variable("y", -1), "size of variable 'y'.*-1"),
    "float size": (lambda m: m.variable("y", 1.5), "size of variable 'y'.*1.5"),
    "scale": (lambda m: m.variable("y", 1, scale=0.0), "scale of variable 'y'.*positive.*0.0"),
    "empty scale": (lambda m: m.variable("y", 1, scale=[]), "scale of variable 'y'"),
    "symbolic scale": (
        lambda m: m.variable("y", 1, scale=m.variables[0].scaled[0]),
        "scale of variable 'y' contains unknown symbols",
    ),
    "lower shape": (lambda m: m.variable("y", 2, lower=[0, 0, 0]), "lower of variable 'y'.*2 rows"),
    "NaN": (lambda m: m.variable("y", 1, guess=np.nan), "guess of variable 'y' contains NaN"),
    "crossed": (lambda m: m.variable("y", 1, lower=2, upper=1), "bounds of variable 'y'.*crossed"),
    "bound of a variable": (
        lambda m: m.variable("y", 2, lower=m.variables[0].scaled),
        "lower of variable 'y'.*unknown symbols x_0, x_1: numbers and parameters",
    ),
    "stranger": (
        lambda m: m.equal("e", ca.SX.sym("z") - 1),
        "equation 'e' contains unknown symbols z",
    ),
    "stranger of the same name": (lambda m: m.equal("e", ca.SX.sym("x", 2)), "unknown symbols"),
    "MX": (lambda m: m.equal("e", ca.MX.sym("x")), "equation 'e' must be numbers or a CasADi SX"),
    "row": (lambda m: m.equal("e", m.variables[0].scaled.T), "equation 'e' must be a column"),
    "row scale": (
        lambda m: m.less("d", m.variables[0].scaled, scale=[1, 2, 3]),
        "scale of inequality 'd'.*2",
    ),
    "pairs": (
        lambda m: m.complement("c", m.variables[0].scaled, 1.0),
        "'c' must pair up, got 2 and 1 rows",
    ),
    "labels": (
        lambda m: m.complement("c", m.variables[0].scaled, [0, 0], labels=("one",)),
        "labels of complementarity 'c' must be 2",
    ),
    "pair scale": (
        lambda m: m.complement("c", m.variables[0].scaled, [0, 0], scale=1.0),
        "scale of complementarity 'c'",
    ),
    "objective": (lambda m: m.minimize(m.variables[0].scaled), "objective must be one number"),
    "least norm": (lambda m: m.least_norm("nobody"), "no variable 'nobody'"),
}


@pytest.mark.parametrize("wrong", WRONG)
def test_wrong_statement_names_block_and_remedy(wrong):
    statement, message = WRONG[wrong]
    mpcc = stated()
    with pytest.raises(ValueError, match=message):
        statement(mpcc)


def test_constraint_names_are_shared_by_all_kinds():
    mpcc = stated()
    mpcc.equal("row", 0)
    with pytest.raises(ValueError, match="'row' is stated twice"):
        mpcc.less("row", 0)


def test_program_name_must_suit_generated_code():
    with pytest.raises(ValueError, match="program name 'two words'"):
        Mpcc("two words")


def test_program_without_unknowns_is_refused():
    with pytest.raises(ValueError, match="'empty' has no unknowns"):
        Solver().build(Mpcc("empty"))


def test_a_program_repeats_one_of_its_sizes_at_given_parameters():
    one = Mpcc("one")
    at = one.parameter("at", 2)
    other = one.beside("other")
    for m in (one, other):
        z = m.variable("z", 2)
        m.equal("there", z - at)
    other.repeats(one, at=2 * at)
    pattern, values = other.pattern
    assert pattern is one
    np.testing.assert_array_equal(ca.evalf(ca.substitute(values, at, [1, 2])), [[2], [4]])
    larger = one.beside("larger")
    larger.variable("z", 3)
    with pytest.raises(ValueError, match=r"'larger' does not repeat 'one'.*state both alike"):
        larger.repeats(one)
    with pytest.raises(ValueError, match="numbers and parameters only"):
        other.repeats(one, at=z)


@pytest.mark.parametrize("backend", [Ipopt(), Sqp()], ids=["ipopt", "sqp"])
def test_limits_from_both_sides_in_one_statement(backend):
    m = Mpcc("m")
    least, x = m.parameter("least", 1), m.variable("x", 2)
    values = ca.vertcat(x[0] + x[1], x[0] - x[1], x[1])
    m.within("all", values, ca.vertcat(-1, -np.inf, least), (1, 0.5, np.inf), scale=2.0)
    m.minimize((x[0] - 3) ** 2 + (x[1] - 1) ** 2)
    program = Solver(backend=backend).build(m)
    # By hand: at (3, 1) both upper limits hold, at x[1] >= 0.6 the lower one.
    for number, point, multipliers in (
        (0.0, (0.75, 0.25), (3.0, 1.5, 0.0)),
        (0.6, (0.4, 0.6), (5.2, 0.0, -4.4)),
    ):
        solution = program.solve({"least": number}).require()
        np.testing.assert_allclose(solution["x"], point, atol=1e-7)
        found = solution.stationarity.multipliers.inequality["all"]
        np.testing.assert_allclose(found, multipliers, atol=1e-5)
    worst = program.solve({"least": 2.0}).worst()
    assert worst.block == "all"
    assert worst.label in ("upper of [0]", "lower of [2]")


def test_limits_that_leave_nothing_are_refused():
    m = Mpcc("m")
    x = m.variable("x", 2)
    with pytest.raises(ValueError, match=r"limits of inequality 'a'.* at row 1, lower 2, upper 2:"):
        m.within("a", x, (0, 2), 2)
