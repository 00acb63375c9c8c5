"""Phase II of programs over a horizon: against enumeration, by hand, and by finite differences."""

from itertools import product

import casadi as ca
import numpy as np
import pytest
from scipy.optimize import minimize

from nsopt.mpcc import (
    ActiveSet,
    Bound,
    Ipopt,
    Outcome,
    PairPart,
    Point,
    Scholtes,
    Settings,
    StationarityKind,
    StructuredNlp,
    StructuredProgram,
    Tolerances,
    constraint_block,
)

pytestmark = pytest.mark.unit

LOOSE = Tolerances(equality=1e-6, inequality=1e-6, bounds=1e-6)
N = 5
OWN = np.array([0, 1, 2, 4, 3])
"""Unknowns of a step: s, x, y, and s after it twice, the second in the node of the first."""
EVERY = (PairPart.G, PairPart.H, PairPart.RELAXED)


def walk(size=1.0, pull=(1.0, 1.0)):
    """A level s that rises by x or falls by y in each of N steps, never above p[1].

    s' = s + x - y from s = p[0], 0 <= x _|_ y >= 0, and cost
    size ((s' - 0.3)^2 + (x - pull_0)^2 + (y - pull_1)^2).
    """
    w, data, p = ca.SX.sym("w", 5), ca.SX.sym("data", 1), ca.SX.sym("p", 3)
    s, x, y, after, again = ca.vertsplit(w)
    rows, low, high = Scholtes().constraints(x, y, p[2])
    one = np.ones(1)
    bounds = [
        Bound("level", after - s - x + y, 0 * one, 0 * one),
        Bound("same", again - after, 0 * one, 0 * one),
        Bound("limit", after - p[1], -np.inf * one, 0 * one),
        *(
            Bound("pair", rows[i], low[i : i + 1], high[i : i + 1], part)
            for i, part in enumerate(EVERY)
        ),
    ]
    cost = size * ((after - 0.3) ** 2 + (x - pull[0]) ** 2 + (y - pull[1]) ** 2)
    first = 4 * np.arange(N)[:, None]
    block = constraint_block("step", (w, data, p), bounds, cost, first + OWN)
    start = constraint_block(
        "start",
        (w, data, p),
        [Bound("start", s - p[0], 0 * one, 0 * one)],
        ca.SX(0),
        first[:1] + OWN,
    )
    return StructuredNlp([block, start], 4 * N + 1, 3, complementary=True)


def solved(p, backend=None, options=None, start=None, **stated):
    settings = Settings(Scholtes(), (((1e-8,),),), LOOSE, 0, options or ActiveSet(radius=0.01))
    nlp = walk(**stated)
    program = StructuredProgram(nlp, backend or Ipopt(), settings, None)
    free = np.full(4 * N + 1, np.inf)
    start = np.zeros(4 * N + 1) if start is None else start
    return program.solve(np.array(p), -free, free, Point.cold(start, nlp.lower.size))


def least(p, size=1.0, pull=(1.0, 1.0)):
    """The least cost of each branch, by a solver of another kind."""
    for chosen in product([0, 1], repeat=N):
        signs = np.where(chosen, -1.0, 1.0)

        def cost(z, chosen=chosen, signs=signs):
            x, y = (np.where(np.equal(chosen, k), z, 0.0) for k in (0, 1))
            s = p[0] + np.cumsum(signs * z)
            return sum(((s - 0.3) ** 2, (x - pull[0]) ** 2, (y - pull[1]) ** 2)).sum()

        limit = {"type": "ineq", "fun": lambda z, g=signs: p[1] - p[0] - np.cumsum(g * z)}
        end = minimize(
            cost,
            np.full(N, 0.1),
            bounds=[(0, None)] * N,
            constraints=[limit],
            options={"ftol": 1e-12},
        )
        if end.success and limit["fun"](end.x).min() > -1e-9:
            yield size * end.fun, signs * end.x


def stuck(p):
    """Return all at zero, where neither half of any pair grows."""
    x = np.zeros(4 * N + 1)
    x[0::4], x[3::4] = p[0], p[0]
    return x


class Stopped(Ipopt):
    """IPOPT that ends the homotopy where it starts, and solves branches."""

    def build(self, nlp):
        if nlp.name != "horizon":
            return super().build(nlp)
        return lambda start, *_: Outcome(start, "stopped", True, 0, 0.0)


@pytest.mark.parametrize("p", [(0.0, 2.0), (0.2, 0.4), (-0.5, 0.1)], ids=str)
@pytest.mark.parametrize("pull", [(1.0, 1.0), (1.0, 0.3), (0.2, -0.1)], ids=str)
def test_a_corner_is_left_for_a_branch_without_descent(p, pull):
    """From G = H = 0 in all pairs: C- or M-stationary, what a relaxation may end at."""
    solution = solved(p, backend=Stopped(), start=stuck(p), pull=pull)
    assert solution.ok, solution.status.reason
    branches = list(least(p, pull=pull))
    moves = solution.x[1:-1:4] - solution.x[2:-1:4]
    # No branch through the end is better.
    near = [f for f, z in branches if np.all((z * moves >= -1e-9) | (np.abs(moves) < 1e-6))]
    through = [f for f, z in branches if np.all(np.abs(z - moves) < 1e-4)]
    assert through
    assert solution.objective == pytest.approx(min(through), abs=1e-6)
    assert solution.objective <= min(near) + 1e-6


@pytest.mark.parametrize("size", [1e-6, 1.0, 1e6])
def test_a_corner_is_left_whatever_the_weight_of_the_cost(size):
    p = (0.0, 2.0)
    solution = solved(p, backend=Stopped(), start=stuck(p), size=size)
    assert solution.ok, solution.status.reason
    assert solution.objective < 0.9 * size * N * 2
    alone = solved(p, options=ActiveSet(branches=1), backend=Stopped(), start=stuck(p), size=size)
    assert not alone.ok
    assert "feasible, not optimal: the objective falls by" in alone.status.reason


@pytest.mark.parametrize("backend", [Ipopt(), Stopped()], ids=["as it ends", "from a corner"])
@pytest.mark.parametrize("p", [(0.0, 2.0), (0.2, 0.4)], ids=str)
def test_multipliers_are_those_of_the_point_that_is_returned(backend, p):
    """By solving again with start and limit moved; the limit is reached where it is low."""

    def best(moved):
        return solved(tuple(moved), backend=backend, start=stuck(moved), pull=(1.0, 0.3))

    centre, e = best(p), 1e-4
    assert centre.ok
    nlp = walk(pull=(1.0, 0.3))
    lagrangian = nlp.f + ca.dot(ca.DM(centre.point.lam_g), nlp.g)
    slope = ca.Function("slope", [nlp.x, nlp.p], [ca.gradient(lagrangian, nlp.p)])
    found = np.asarray(slope(centre.x, [*p, 1e-8])).ravel()[:2]
    for k in range(2):
        moved = np.eye(2)[k] * e
        by_difference = (best(p + moved).objective - best(p - moved).objective) / (2 * e)
        assert found[k] == pytest.approx(by_difference, abs=1e-3)
    assert abs(found).min() > 0.1 or p[1] > 1
    assert centre.residuals.gradient == pytest.approx(np.zeros(4 * N + 1), abs=1e-4)


def test_halves_whose_multipliers_are_zero():
    """Both halves are zero at the least cost, and neither would lower it: S-stationary."""
    solution = solved((0.3, 2.0), pull=(0.0, 0.0))
    assert solution.ok
    assert solution.objective == pytest.approx(0, abs=1e-9)
    assert solution.stationarity.optimal


def test_what_was_not_found_out_is_told():
    p = (0.0, 2.0)
    late = ActiveSet(time_limit=1e-9)
    solution = solved(p, backend=Stopped(), start=stuck(p), options=late)
    assert solution.feasible
    assert not solution.ok
    assert "not found out" in solution.status.reason
    assert solution.stationarity.kind is StationarityKind.NONE


def test_ctrl_c_keeps_the_best_point(monkeypatch):
    """Pressed while the first branch is solved."""
    p = (0.0, 2.0)
    pressed = []

    class Pressed(Stopped):
        def build(self, nlp):
            inner = super().build(nlp)

            def call(*given):
                if nlp.name != "horizon":
                    pressed.append(True)
                return inner(*given)

            return call

    for module in ("solve.active_set", "horizon.structured_program"):
        monkeypatch.setattr(f"nsopt.mpcc.{module}.is_interrupted", lambda: bool(pressed))
    solution = solved(p, backend=Pressed(), start=stuck(p))
    assert solution.interrupted
    assert not solution.ok
    assert solution.feasible
    assert solution.status.reason.startswith("interrupted after")


def test_no_phase_two_where_it_is_off():
    settings = Settings(Scholtes(), (((1e-8,),),), LOOSE, 0, None)
    nlp, p = walk(), (0.0, 2.0)
    free = np.full(4 * N + 1, np.inf)
    start = Point.cold(stuck(p), nlp.lower.size)
    solution = StructuredProgram(nlp, Stopped(), settings, None).solve(
        np.array(p), -free, free, start
    )
    assert solution.ok
    assert solution.stationarity is None
    assert solution.x == pytest.approx(stuck(p))
