"""Expressions in turn: what several have in common is computed once, and values stay."""

import casadi as ca
import numpy as np
import pytest

from nsopt.mpcc import InTurn, Known, Lanes, Mpcc, Newton
from nsopt.mpcc.newton_rows import NewtonRows
from nsopt.mpcc.stages import stages

pytestmark = pytest.mark.unit

p, x, y = ca.SX.sym("p", 3), ca.SX.sym("x", 2), ca.SX.sym("y", 1)
STATED = [
    ([p[0] * x, ca.sin(p[1]) + x[0]], x),
    ([ca.sin(p[1]) * y + ca.exp(x[0] * p[2])], y),
    ([ca.exp(x[0] * p[2]) - y, ca.cos(ca.sin(p[1]))], ca.SX(0, 1)),
]


def test_stages_have_the_values_of_their_expressions():
    rng = np.random.default_rng(1)
    numbers = {s: rng.normal(size=n) for s, n in (("p", 3), ("x", 2), ("y", 1))}
    known = Known(ca.MX(ca.DM(numbers["p"])), found := stages(p, STATED, Lanes()))
    for (expressions, unknowns), stage in zip(STATED, found, strict=True):
        given = ca.evalf(known.given())
        own = ca.DM(numbers[unknowns[0].name().split("_")[0]] if unknowns.numel() else [])
        here = ca.Function("f", [stage.given, unknowns], stage.expressions).call([given, own])
        there = ca.Function("f", [p, x, y], expressions).call(list(numbers.values()))
        for a, b in zip(here, there, strict=True):
            assert np.array(a) == pytest.approx(np.array(b), rel=1e-15)
        known.solved(ca.MX(own))


def test_a_term_of_several_stages_is_computed_once():
    codes = []
    for stage in stages(p, STATED, Lanes()):
        for f in (stage.terms, ca.Function("f", [stage.given, x, y], stage.expressions)):
            codes += [f.instruction_id(k) for k in range(f.n_instructions())]
    assert [codes.count(c) for c in (ca.OP_SIN, ca.OP_EXP, ca.OP_COS)] == [1, 1, 1]


def test_programs_in_turn_are_solved_as_one_by_one():
    first = Mpcc("first")
    b = first.parameter("b", 2)
    z = first.variable("z", 2)
    first.complement("pair", z + ca.sin(b), z)
    second = first.after("second")
    v = second.variable("v", 1)
    second.equal("root", v**3 + v - ca.sum1(ca.sin(b)) * z[1])
    in_turn = InTurn.of(Newton(), b, [first, second], [v * z], Lanes())
    for numbers in ([0.3, -0.7], [-1.0, -2.0]):
        known, solved = Known(ca.MX(ca.DM(numbers)), in_turn.stages), []
        for solver, n in zip(in_turn.solvers, (2, 1), strict=True):
            x, residual, _ = solver(np.zeros(n), ca.evalf(known.given()), 1, 1)
            assert float(residual) < 1e-11
            known.solved(ca.MX(x))
            solved.append(x)
        expected = np.maximum(-np.sin(numbers), 0)
        assert np.array(solved[0]).ravel() == pytest.approx(expected, abs=1e-11)
        one, _, _ = Newton().lower(second)(0, [*numbers, *expected], 1, 1)
        assert float(solved[1]) == pytest.approx(float(one), abs=1e-11)
        end = in_turn.end(ca.evalf(known.given()))
        assert np.array(end).ravel() == pytest.approx(float(one) * expected, abs=1e-11)


def test_stated_slopes_take_the_place_of_derivatives():
    """Here wrong on purpose, twice the true ones."""
    m = Mpcc("doubled")
    v = m.variable("v", 2, scale=3.0)
    m.equal("e", v[0] ** 2, slopes={"v": ca.horzcat(4 * v[0], 0)})
    m.complement("pair", v[1] - 1, v[1])
    rows, x = NewtonRows.of(m), m.x
    J = ca.substitute(rows.jacobian(rows.rows, x), ca.vertcat(*rows.point), rows.itself(x))
    value = np.array(ca.Function("J", [x], [J])([0.5, 2.0]))
    assert value == pytest.approx(np.array([[12 * 1.5, 0], [0, 3]]))


@pytest.mark.parametrize(
    "slopes", [{"w": ca.SX(1, 2)}, {"v": ca.SX(1, 1)}, {"v": ca.SX(2, 2)}], ids=str
)
def test_slopes_that_fit_no_variable_are_refused(slopes):
    m = Mpcc("wrong")
    v = m.variable("v", 2)
    with pytest.raises(ValueError, match=r"slopes of equation 'e' by .* have shape"):
        m.equal("e", v[0], slopes=slopes)
    with pytest.raises(ValueError, match=r"slopes of complementarity 'c' by .* have shape"):
        m.complement("c", v[0], v[0], slopes=slopes)
