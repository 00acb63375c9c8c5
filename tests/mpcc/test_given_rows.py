"""Limits that given unknowns are at, as a solver sees them."""

import casadi as ca
import numpy as np
import pytest

from nsopt.mpcc import Bound, StructuredNlp, constraint_block
from nsopt.mpcc.horizon.simple_bounds import ROOM, find_given_values, make_room

pytestmark = pytest.mark.unit

N = 3


def chain(value, width=0.0):
    """x and y of N nodes; x is given at the first and in a sum at the last, y nowhere."""
    w, data, p = ca.SX.sym("w", 2), ca.SX.sym("data", 1), ca.SX.sym("p", 0)
    x, y = w[0], w[1]
    zero, top = np.zeros(1), np.full(1, np.inf)
    columns = np.arange(2 * N).reshape(N, 2)
    along = [
        Bound("gap", x**2 - x, zero, top),
        Bound("both", x + y, -top, zero),
        Bound("speed", y, zero, top),
        Bound("nothing", ca.SX(1), zero, top),
    ]
    begin = [Bound("x", x, zero + value, zero + value + width)]
    end = [Bound("sum", x + y, zero, zero)]
    blocks = [
        constraint_block("along", (w, data, p), along, ca.SX(0), columns),
        constraint_block("start", (w, data, p), begin, ca.SX(0), columns[:1]),
        constraint_block("end", (w, data, p), end, ca.SX(0), columns[-1:]),
    ]
    return StructuredNlp(blocks, 2 * N, 0, complementary=True)


def widened(nlp):
    """Return the rows whose limits a solver sees further out."""
    seen = make_room(nlp, np.asarray(nlp.rows(find_given_values(nlp), [])).ravel())
    rows = np.flatnonzero((nlp.lower != seen.lower) | (nlp.upper != seen.upper))
    assert seen.lower[rows] == pytest.approx(nlp.lower[rows] - ROOM)
    return [nlp.label(int(i)) for i in rows]


@pytest.mark.parametrize("value", [1.0, 1.005])
def test_a_limit_that_is_given_gets_room(value):
    """The gap x^2 - x is 0 and 0.005; the program itself keeps its limit."""
    nlp = chain(value)
    before = nlp.lower.copy()
    assert widened(nlp) == [("gap", 0)]
    assert np.array_equal(nlp.lower, before)


def test_a_limit_that_is_not_reached_gets_none():
    assert widened(chain(2.0)) == []


def test_what_limits_leave_open_is_not_given():
    assert widened(chain(1.0, width=1.0)) == []
