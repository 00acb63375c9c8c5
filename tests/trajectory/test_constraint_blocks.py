"""Every cost and condition in a program: derivatives put in place against those of the whole."""

import casadi as ca
import numpy as np
import pytest

from nsopt import AppliedForce, Frame, Parameter, assemble
from nsopt.robots import resistances
from nsopt.trajectory import Effort, Horizon
from nsopt.trajectory.transcription.collocation import Collocation
from tests.catalog_trajectory import ARM, CONDITIONS, COSTS

PUSH = AppliedForce("push", Frame(ARM.bodies[-1]), (0, 0, Parameter("load", 0.3)))
DYNAMICS = assemble(ARM, [PUSH, *resistances(ARM)], gravity=(0, 0, -9.81))
INPUTS = ("load",)


def program(costs, conditions, steps=3):
    return Collocation(DYNAMICS, Horizon((0.5, 2.0), steps), costs, conditions, INPUTS)


def numbers(collocation, seed=0):
    x = np.random.default_rng(seed).uniform(-0.7, 0.7, collocation.size)
    x[-1] = 1.3
    return x, DYNAMICS.values()


def check(collocation):
    nlp = collocation.nlp()
    x, p = numbers(collocation)
    made = nlp.derivatives()
    f, gradient = made.grad_f(x, p)
    g, J = made.jac_g(x, p)
    whole = ca.Function(
        "whole",
        [nlp.x, nlp.p],
        [nlp.f, ca.gradient(nlp.f, nlp.x), nlp.g, ca.jacobian(nlp.g, nlp.x)],
    )
    for computed, expected in zip((f, gradient, g, J), whole(x, p), strict=True):
        assert np.asarray(computed) == pytest.approx(np.asarray(expected), rel=1e-10, abs=1e-10)
    lam = np.random.default_rng(1).normal(size=nlp.g.numel())
    H = np.asarray(made.hess_lag(x, p, 0.7, lam))
    lagrangian = 0.7 * nlp.f + ca.dot(ca.DM(lam), nlp.g)
    second = ca.Function("second", [nlp.x, nlp.p], [ca.hessian(lagrangian, nlp.x)[0]])
    assert pytest.approx(np.triu(np.asarray(second(x, p))), rel=1e-9, abs=1e-9) == H
    return nlp


@pytest.mark.parametrize("cost", COSTS, ids=lambda cost: type(cost).__name__)
def test_derivatives_of_every_cost(cost):
    cost.check(DYNAMICS)
    nlp = check(program([cost], []))
    x, p = numbers(program([cost], []))
    assert np.asarray(nlp.terms(x, p)).ravel()[0] > 0


@pytest.mark.parametrize("condition", CONDITIONS, ids=lambda c: type(c).__name__)
def test_derivatives_of_every_condition(condition):
    condition.check(DYNAMICS)
    plain = program([Effort()], []).nlp()
    nlp = check(program([Effort()], [condition]))
    assert nlp.g.numel() > plain.g.numel()
    assert len({nlp.label(k)[0] for k in range(nlp.g.numel())}) > 1


@pytest.mark.slow
def test_all_at_once_are_the_sum():
    collocation = program(COSTS, CONDITIONS)
    nlp = check(collocation)
    x, p = numbers(collocation)
    each = [float(program([cost], []).nlp().terms(x, p)) for cost in COSTS]
    assert np.asarray(nlp.terms(x, p)).ravel() == pytest.approx(each, rel=1e-12)


@pytest.mark.slow
def test_machine_code_changes_no_bit(tmp_path, monkeypatch):
    monkeypatch.setenv("NSOPT_CACHE", str(tmp_path))
    collocation = program([Effort()], [], steps=21)
    nlp = collocation.nlp()
    made = nlp.derivatives()
    x, p = numbers(collocation)
    lam = np.random.default_rng(1).normal(size=nlp.g.numel())
    of_x = dict.fromkeys(("f", "g", "grad_f", "jac_g"), (x, p))

    def evaluated():
        for name, known in {**of_x, "hess_lag": (x, p, 0.7, lam)}.items():
            yield from (np.array(y.nonzeros()).tobytes() for y in getattr(made, name).call(known))

    expected = list(evaluated())
    for functions in nlp._functions:
        for function in functions:
            function.leaf.compile(0)
    assert list(evaluated()) == expected
