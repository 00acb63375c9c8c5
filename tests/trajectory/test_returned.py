"""Costs and conditions that return what they should not: one error with name and remedy."""

import math

import casadi as ca
import numpy as np
import pytest

from nsopt.trajectory import (
    Bound,
    Condition,
    Cost,
    Duration,
    EndAt,
    Horizon,
    Quintic,
    StartAt,
    optimize,
)
from tests.trajectory.mechanisms import cart

D = cart()


def stated(costs=(), conditions=()):
    conditions = [StartAt([0], [0]), EndAt([1], [0]), *conditions]
    return optimize(D, Horizon(1.0, 4), [Duration(), *costs], conditions, Quintic([0], [1]))


@pytest.mark.parametrize("method", ["rate", "final", "over_step"])
@pytest.mark.parametrize(
    ("value", "words"),
    [
        (lambda x: ca.vertcat(x, x), r"returns shape \(2, 1\), but a cost is one number"),
        (lambda _: np.zeros(3), r"returns shape \(3, 1\)"),
        (lambda _: None, "returns None, which is no number"),
        (lambda _: "far", "returns 'far', which is no number"),
        (lambda x: x + math.sin(x), "nan in it: .* write ca.sin in place of math.sin"),
    ],
)
def test_what_is_no_cost_is_named(method, value, words):
    def member(_, m, *h):
        return value(m[0] if h else m.q)

    kind = type("Odd", (Cost,), {method: member})
    with pytest.raises((TypeError, ValueError), match=rf"^Odd\.{method} .*{words}"):
        stated([kind()])


@pytest.mark.parametrize("method", ["start", "along", "end"])
@pytest.mark.parametrize(
    ("value", "words"),
    [
        (lambda _: None, r"^Odd\.{} returns None: return a list of Bound\(label, value"),
        (lambda m: Bound("x", m.q, 0, 1), r"^Odd\.{} returns Bound\(.*: return a list of Bound"),
        (lambda m: [("x", m.q, 0, 1)], r"^Odd\.{} returns \('x', .*: return a list of Bound"),
        (lambda _: [Bound("x", None, 0, 1)], r"^value of 'x' of Odd\.{} returns None"),
        (lambda m: [Bound("x", math.sin(m.q), 0, 1)], r"'x' of Odd\.{} .* in place of math.sin"),
        (lambda m: [Bound("x", ca.horzcat(m.q, m.q), 0, 1)], r"'x' of Odd\.{} has shape \(1, 2\)"),
        (lambda m: [Bound("x", m.q, [0, 0, 0], 1)], r"'x' of Odd\.{} has 3 numbers for 1"),
        (lambda m: [Bound("x", m.q, np.nan, 1)], r"lower limit of 'x' of Odd\.{} must be a number"),
        (lambda m: [Bound("x", m.q, 0, m.v)], r"upper limit of 'x' of Odd\.{} is an expression"),
    ],
)
def test_what_is_no_bound_is_named(method, value, words):
    kind = type("Odd", (Condition,), {method: lambda _, m: value(m)})
    with pytest.raises((TypeError, ValueError), match=words.format(method)):
        stated(conditions=[kind()])
