"""Discs: by hand, against convex programs and other solvers."""

import casadi as ca
import numpy as np
import pytest

from nsopt.mpcc import Ipopt, Mpcc, Newton, Solver, Sqp, SquareSolver, min_rows, relax_discs
from tests.mpcc.contacts import check_coulomb, pins

EXACT = Newton(rough=1e-10)
"""Where contacts are redundant, steps converge linearly and would end as soon as they may."""


def solved(mpcc, p, newton=None, last=1):
    n = sum(v.scaled.numel() for v in mpcc.variables)
    return SquareSolver(mpcc, newton or Newton())(np.zeros(n), p, last=bool(last))


def puck():
    """A puck of 2 kg pushed by f [N s] on a floor where friction takes up to ``limit`` [N s]."""
    m = Mpcc("puck")
    f, limit = m.parameter("f", 2), m.parameter("limit", 1)
    v, z = m.variable("v", 2), m.variable("z", 2)
    m.equal("motion", 2 * v - f - z)
    m.disc("friction", z, v, radius=limit)
    return m


@pytest.mark.parametrize(
    ("push", "limit", "speed"),
    [
        ((0.3, 0.4), 0.6, (0, 0)),
        ((3.0, 4.0), 0.5, (1.35, 1.8)),
        ((-3.0, 4.0), 0.0, (-1.5, 2.0)),
        ((-3.0, 4.0), -1.0, (-1.5, 2.0)),
        ((0.0, 0.0), 0.0, (0, 0)),
        ((0.0, 0.0), 1.0, (0, 0)),
    ],
    ids=["sticks", "slides", "open", "less than open", "nothing at all", "rests"],
)
def test_a_puck_sticks_and_slides(push, limit, speed):
    x, residual, _ = solved(puck(), [*push, limit])
    expected = [*speed, *(2 * np.array(speed) - push)]
    assert residual < 1e-11
    assert x == pytest.approx(expected, abs=1e-11)


@pytest.mark.parametrize("backend", [Ipopt(), Sqp()], ids=["ipopt", "sqp"])
@pytest.mark.parametrize(
    ("push", "limit"),
    [((0.3, 0.4), 0.6), ((3.0, 4.0), 0.5), ((3.0, 4.0), 0), ((-3.0, 4.0), -1.0)],
)
def test_solvers_agree_with_newton(backend, push, limit):
    x, _, _ = solved(puck(), [*push, limit])
    other = Solver(backend=backend).build(puck()).solve({"f": push, "limit": [limit]}).require()
    assert other.x[:4] == pytest.approx(x, abs=1e-8)


@pytest.mark.parametrize(
    ("v", "z", "radius", "holds"),
    [
        ((0, 0), (0.3, 0.4), 0.6, True),  # sticks, whatever the force
        ((0, 0), (0.3, 0.4), 0.499, False),  # outside its cone
        ((1.35, 1.8), (-0.3, -0.4), 0.5, True),  # slides
        ((1.35, 1.8), (-0.3, -0.4), 0.501, False),  # slides with less than there is
        ((1.35, 1.8), (-0.31, -0.3923), 0.5, False),  # not against the slip
        ((1e-6, 0), (0.5, 0), 0.5, False),  # pushed on
        ((1e-3, 0), (0, 0), 0.5, False),  # slides without friction
        ((-3.0, 4.0), (0, 0), 0.0, True),  # open
    ],
)
def test_relaxed_discs_are_coulombs_law(v, z, radius, holds):
    m = relax_discs(puck(), ca.SX(1e-8))
    x = ca.vertcat(*(unknown.scaled for unknown in m.variables))
    p = ca.vertcat(*(parameter.symbol for parameter in m.parameters))
    rows = ca.Function("rows", [x, p], [ca.vertcat(*(block.expr for block in m.inequalities))])
    values = np.asarray(rows([*v, *z], [0, 0, radius])).ravel()
    assert bool(np.all(values <= 1e-12)) == holds


@pytest.mark.parametrize("seed", range(6))
def test_given_limits_are_a_convex_program(seed):
    """The velocity after is the nearest in the metric of the mass, friction as a cost."""
    m, H, limits = pins(seed, given=True)
    start = np.random.default_rng(seed).normal(size=6)
    x, residual, _ = solved(m, start, EXACT)
    assert residual < 1e-10
    v, n = ca.SX.sym("v", 6), limits.size
    gaps, slips = ca.DM(H[:n]) @ v, ca.DM(H[n:]) @ v
    cost = ca.sumsqr(v - start) / 2
    for k in range(n):
        cost += limits[k] * ca.sqrt(ca.sumsqr(slips[2 * k : 2 * k + 2]) + 1e-14)
    quiet = {"print_time": False, "ipopt": {"print_level": 0, "tol": 1e-10, "sb": "yes"}}
    best = ca.nlpsol("best", "ipopt", {"x": v, "f": cost, "g": gaps}, quiet)(x0=start, lbg=0)
    assert x[:6] == pytest.approx(np.asarray(best["x"]).ravel(), abs=2e-6)


@pytest.mark.parametrize("seed", range(8))
def test_limits_of_normal_impulses_meet_the_law(seed):
    m, H, mu = pins(seed)
    start = np.random.default_rng(seed).normal(size=6)
    x, residual, _ = solved(m, start, EXACT)
    assert residual < 1e-10
    check_coulomb(H, mu, start, x)


def test_a_disc_checks_what_it_is_given():
    m = Mpcc("wrong")
    z = m.variable("z", 3)
    with pytest.raises(ValueError, match=r"'d' must have two entries for each of 1 radii"):
        m.disc("d", z, z, radius=1.0)
    with pytest.raises(ValueError, match="labels of disc 'd' must be 1"):
        m.disc("d", z[:2], z[1:], radius=1.0, labels=("a", "b"))
    m.disc("d", z[:2], z[1:], radius=1.0)
    with pytest.raises(ValueError, match="'d' is stated twice"):
        m.disc("d", z[:2], z[1:], radius=1.0)


@pytest.mark.parametrize(
    ("z", "F", "near"),
    [
        ((0.3, 0.4), (0.0, 0.0), [0.5, np.inf]),
        ((0.6, 0.8), (0.0, 0.0), [0.0, 0.0]),
        ((-0.6, -0.8), (3.0, 4.0), [5.0, 5.0]),
    ],
    ids=["inside", "just holds", "slides"],
)
def test_alternatives_tell_how_far_a_switch_is(z, F, near):
    m = Mpcc("state")
    x = m.variable("x", 4)
    m.disc("friction", x[:2], x[2:], radius=1.0, labels=("floor",))
    rows = [row.holding for row in min_rows(m)]
    (one,), (two,) = (row.alternatives for row in rows)
    f = ca.Function("f", [x], [ca.vertcat(*(r.expr for r in rows), one.margin, two.margin)])
    values = np.asarray(f([*z, *F])).ravel()
    assert values == pytest.approx([0, 0, *near], abs=1e-15)
    assert one.label == "floor"


@pytest.mark.parametrize("z", [(0.0, 0.0), (0.0, -1e-20), (3e-17, 4e-17)], ids=str)
def test_what_round_off_leaves_of_a_radius_is_none(z):
    """z = 0 by both rows, whatever F is, though z may be inside or on the edge."""
    m = Mpcc("state")
    x = m.variable("x", 4)
    m.disc("friction", x[:2], x[2:], radius=1e-18, labels=("floor",))
    rows = [row.holding for row in min_rows(m)]
    held = ca.vertcat(*(row.expr for row in rows))
    margins = ca.vertcat(*(y.margin for row in rows for y in row.alternatives))
    f = ca.Function("f", [x], [ca.jacobian(held, x), margins])
    slopes, near = (np.asarray(y) for y in f([*z, 0.0, 0.0]))
    assert np.array_equal(slopes, np.eye(2, 4))
    assert np.all(np.isinf(near))


@pytest.mark.parametrize("backend", [Ipopt(), Sqp()], ids=["ipopt", "sqp"])
@pytest.mark.parametrize("limit", [0.0, 0.5, 1.0])
def test_the_best_push_of_a_puck(backend, limit):
    """(|v| - |target|)^2 + weight |f|^2 with 2 |v| = |f| - limit, or all at rest."""
    m, weight, target = Mpcc("push"), 0.2, np.array([0.6, -0.8])
    f, v, z = m.variable("f", 2), m.variable("v", 2, guess=(0.3, 0.1)), m.variable("z", 2)
    m.equal("motion", 2 * v - f - z)
    m.disc("friction", z, v, radius=limit)
    m.minimize(ca.sumsqr(v - target) + weight * ca.sumsqr(f))
    solution = Solver(backend=backend).build(m).solve().require()
    speed = (1 - 2 * weight * limit) / (1 + 4 * weight)
    assert solution["v"] == pytest.approx(speed * target, abs=1e-6)
    assert solution["f"] == pytest.approx((2 * speed + limit) * target, abs=1e-6)
    assert solution.values.keys() == {"f", "v", "z"}


@pytest.mark.parametrize("backend", [Ipopt(), Sqp()], ids=["ipopt", "sqp"])
def test_a_push_that_is_not_worth_it_is_left(backend):
    """With a weight of 3 and a limit of 1 rest is best, from any start."""
    m = Mpcc("rest")
    f, v, z = m.variable("f", 2), m.variable("v", 2, guess=(0.9, 0.1)), m.variable("z", 2)
    m.equal("motion", 2 * v - f - z)
    m.disc("friction", z, v, radius=1.0)
    m.minimize(ca.sumsqr(v - ca.DM([1, 0])) + 3 * ca.sumsqr(f))
    solution = Solver(backend=backend).build(m).solve({}, {"f": (3, 0), "v": (1, 0)}).require()
    assert solution["v"] == pytest.approx([0, 0], abs=1e-6)
    assert solution["f"] == pytest.approx([0, 0], abs=1e-6)


@pytest.mark.parametrize("backend", [Ipopt(), Sqp()], ids=["ipopt", "sqp"])
@pytest.mark.parametrize("weight", [1e-3, 0.1])
def test_the_best_brake(backend, weight):
    """The normal impulse is chosen: |v| = 2 - mu N / 2, until the puck rests."""
    m, mu = Mpcc("brake"), 0.5
    v, z = m.variable("v", 2, guess=(2, 0)), m.variable("z", 2)
    N = m.variable("N", 1, lower=0)
    m.equal("motion", 2 * (v - ca.DM([2, 0])) - z)
    m.disc("friction", z, v, radius=mu * N)
    m.minimize(ca.sumsqr(v) + weight * N**2)
    solution = Solver(backend=backend).build(m).solve().require()
    best = min(mu / (mu**2 / 4 + weight), 4 / mu)
    assert solution["N"] == pytest.approx(best, abs=1e-5)
    assert solution["v"] == pytest.approx([2 - mu * best / 2, 0], abs=1e-5)
