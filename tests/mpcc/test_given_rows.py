"""Inequalities of unknowns that equations give, as a solver sees them."""

import casadi as ca
import numpy as np
import pytest

from nsopt.mpcc import Bound, StructuredNlp, constraint_block
from nsopt.mpcc.given_rows import ROOM, given_unknowns, with_room

pytestmark = pytest.mark.unit

N = 3


def chain():
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
    blocks = [
        constraint_block("along", (w, data, p), along, ca.SX(0), columns),
        constraint_block(
            "start", (w, data, p), [Bound("x", 2 * x - 2, zero, zero)], ca.SX(0), columns[:1]
        ),
        constraint_block(
            "end", (w, data, p), [Bound("sum", x + y, zero, zero)], ca.SX(0), columns[-1:]
        ),
    ]
    return StructuredNlp(blocks, 2 * N, 0, complementary=True)


def test_only_rows_of_given_unknowns_get_room():
    nlp = chain()
    seen = with_room(nlp, given_unknowns(nlp))
    widened = np.flatnonzero((nlp.lower != seen.lower) | (nlp.upper != seen.upper))
    assert [nlp.label(int(i)) for i in widened] == [("gap", 0)]
    assert seen.lower[widened] == nlp.lower[widened] - ROOM
    assert nlp.lower[widened] == 0  # the program itself still judges it


def test_an_equation_within_limits_gives_nothing():
    """An unknown between two limits is not given."""
    nlp = chain()
    start = nlp.blocks[1]
    loose = nlp.restated(
        [nlp.blocks[0], type(start)(**{**vars(start), "upper": start.upper + 1}), nlp.blocks[2]]
    )
    seen = with_room(loose, given_unknowns(loose))
    assert np.array_equal(seen.lower, loose.lower)
