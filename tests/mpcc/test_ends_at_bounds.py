"""Ends at bounds that a solver has moved outwards, where other rows are steep."""

import casadi as ca
import numpy as np
import pytest

from nsopt.mpcc import (
    Bound,
    Ipopt,
    Point,
    Settings,
    StructuredNlp,
    StructuredProgram,
    Tolerances,
    constraint_block,
)

pytestmark = pytest.mark.unit

TOLERANCES = Tolerances(equality=1e-6, inequality=1e-6, bounds=1e-6)


def solve(slope):
    """Return the greatest x and its load y = slope x where a row keeps x at most 1."""
    w, data, p = ca.SX.sym("w", 2), ca.SX.sym("data", 0), ca.SX.sym("p", 0)
    x, y = w[0], w[1]
    rows = [
        Bound("load", y - slope * x, np.zeros(1), np.zeros(1)),
        Bound("limit", x, np.full(1, -np.inf), np.ones(1)),
    ]
    block = constraint_block("all", (w, data, p), rows, (x - 2) ** 2, np.array([[0, 1]]))
    settings = Settings(schedules=(((),),), tolerances=TOLERANCES)
    program = StructuredProgram(StructuredNlp([block], 2, 0), Ipopt(), settings)
    inf = np.full(2, np.inf)
    return program.solve(np.zeros(0), -inf, inf, Point.cold(np.zeros(2), 2))


def test_an_end_is_moved_to_its_bounds():
    end = solve(slope=1.0)
    assert end.ok
    assert end.x[0] == 1.0


def test_an_end_stays_where_a_steep_row_would_be_broken_at_its_bounds():
    """IPOPT moves the limit by 1e-8: at it the load is off by 1e-5, ten times its tolerance."""
    end = solve(slope=1e3)
    assert end.ok
    assert len(end.stages) == 1
    assert end.x == pytest.approx([1.0, 1e3], rel=1e-7)
    assert end.x[1] == pytest.approx(1e3 * end.x[0], abs=1e-7)
