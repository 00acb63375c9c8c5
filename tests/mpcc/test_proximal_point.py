"""Programs by proximal points: against enumeration, and the law of friction in numbers."""

import casadi as ca
import numpy as np
import pytest

from nsopt.mpcc import Mpcc, Newton, ProximalPoints, SquareProgram, SquareSolver
from tests.mpcc.contacts import by_enumeration, check_coulomb, pins

pytestmark = pytest.mark.unit


FULL_STEPS = Newton(points=ProximalPoints(budget=0, last=0))
POINTS = Newton(iterations=1, rough=1e-10)
"""One full step, then proximal points from the start."""


def solved(mpcc, p, newton=POINTS):
    """Return the unknowns from zero, and the residual."""
    x, residual, _ = SquareSolver(mpcc, newton)(np.zeros(mpcc.x.numel()), p)
    return x, residual


def found(mpcc, p):
    x, residual = solved(mpcc, p)
    assert residual < 1e-10
    return x


@pytest.mark.parametrize("seed", range(5))
def test_an_lcp_in_other_unknowns_matches_enumeration(seed):
    """M = W^T W of a motion v that equations give, in units of their own."""
    rng = np.random.default_rng(seed)
    W, q = rng.normal(size=(6, 4)), rng.normal(size=4)
    m = Mpcc("lcp")
    v = m.variable("v", 6, scale=3.0)
    z = m.variable("z", 4, lower=0, scale=0.5)
    m.equal("motion", v - ca.DM(W) @ z, scale=2.0)
    m.complement("lcp", ca.DM(W.T) @ v + q, z, scale=(0.2, 0.5))
    x = found(m, [])
    expected = by_enumeration(W.T @ W, q)
    assert 0.5 * x[6:] == pytest.approx(expected, abs=1e-10)
    assert 3.0 * x[:6] == pytest.approx(W @ expected, abs=1e-10)


@pytest.mark.parametrize(
    ("push", "speed"), [(0.3, 0.0), (3.0, 1.25), (-3.0, -1.25)], ids=["sticks", "slides", "back"]
)
def test_a_box_sticks_and_slides(push, speed):
    """2 kg, pushed by an impulse, that a friction of 0.5 N s at most resists."""
    m = Mpcc("box")
    v, z = m.variable("v", 1), m.variable("z", 1)
    m.equal("motion", 2 * v - push - z)
    m.box("friction", z, v, lower=-0.5, upper=0.5)
    assert found(m, []) == pytest.approx([speed, 2 * speed - push], abs=1e-12)


@pytest.mark.parametrize("seed", range(20))
def test_friction_in_space_meets_the_law(seed):
    m, H, mu = pins(seed)
    start = np.random.default_rng(seed).normal(size=6)
    check_coulomb(H, mu, start, found(m, start))


@pytest.mark.slow
@pytest.mark.parametrize("freedoms", [1, 2, 3])
def test_jams_of_few_freedoms(freedoms):
    """Nine rough contacts, of which many impulses give the body the same motion."""
    for seed in range(4):
        m, H, mu = pins(seed, 9, freedoms=freedoms)
        start = np.random.default_rng(seed).normal(size=freedoms)
        check_coulomb(H, mu, start, found(m, start))


@pytest.mark.slow
def test_full_steps_alone_wander():
    """In a third of the draws of eight contacts on a body."""
    hard = 0
    for seed in range(5):
        m, H, mu = pins(seed, 8)
        start = 3 * np.random.default_rng(seed).normal(size=6)
        hard += solved(m, start, FULL_STEPS)[1] > 1e-8
        check_coulomb(H, mu, start, found(m, start))
    assert hard > 0


def test_programs_that_differ_in_numbers_share_their_order_of_elimination():
    one, other, longer = (
        SquareProgram.of(pins(seed, count)[0]).square for seed, count in ((0, 3), (1, 3), (1, 4))
    )
    assert one is other
    assert one is not longer


def test_full_steps_end_where_they_go_round():
    """[Ben Gharbia, Gilbert 2012]: from one mode to the next of three, though 0 solves it."""
    m = Mpcc("round")
    z = m.variable("z", 3)
    M = ca.DM([[1, 0, 3], [3, 1, 0], [0, 3, 1]])
    m.complement("lcp", M @ z + 1, z)
    start = [-1.0, 0.0, 0.0]
    _, residual, steps = SquareSolver(m, FULL_STEPS)(start, [])
    assert residual == pytest.approx(2.0)
    assert steps < FULL_STEPS.iterations
    x, residual, _ = SquareSolver(m, Newton())(start, [])
    assert residual < 1e-10
    assert x == pytest.approx(np.zeros(3), abs=1e-10)


@pytest.mark.parametrize(("kind", "other"), [("sum", -1.0), ("square", 0.0)])
def test_a_pair_of_what_is_no_unknown(kind, other):
    """0 <= z _|_ H >= 0, where H is z plus another unknown, or a square."""
    m = Mpcc(kind)
    z = m.variable("z", 2)
    H = {"sum": z[0] + z[1], "square": (z[0] - 1) ** 2}[kind]
    m.complement("both", ca.vertcat(z[0] - 1, z[1] - other), ca.vertcat(H, z[1] - other - 1))
    assert found(m, [])[1] == pytest.approx(other + 1, abs=1e-8)


@pytest.mark.parametrize("seed", range(5))
def test_a_joint_that_is_stated_thrice(seed):
    """As by rows that are independent; of the reactions the force is known."""
    rng = np.random.default_rng(seed)
    rows, W, u = rng.normal(size=(2, 6)), rng.normal(size=(6, 3)), rng.normal(size=6)
    redundant = rng.normal(size=(3, 2)) @ rows
    C = np.vstack([rows, redundant])
    m = Mpcc("loop")
    v, z = m.variable("v", 6), m.variable("z", 3)
    mu = m.variable("mu", 5, multiplier=True)
    m.equal("motion", v - ca.DM(u) - ca.DM(C.T) @ mu - ca.DM(W) @ z)
    m.equal("joint", ca.DM(C) @ v)
    m.complement("contact", ca.DM(W.T) @ v, z)
    free = np.eye(6) - rows.T @ np.linalg.solve(rows @ rows.T, rows)
    impulse = by_enumeration(W.T @ free @ W, W.T @ free @ u)
    motion = free @ (u + W @ impulse)
    x = found(m, [])
    assert x[:6] == pytest.approx(motion, abs=1e-9)
    assert x[6:9] == pytest.approx(impulse, abs=1e-9)
    assert C.T @ x[9:] == pytest.approx(motion - u - W @ impulse, abs=1e-9)


@pytest.mark.parametrize("size", [1e-7, 1e7])
def test_units_do_not_make_equations_dependent(size):
    """A body held by a joint, whose impulse is in units far from those of its velocity."""
    m = Mpcc("units")
    v, mu, z = m.variable("v", 2), m.variable("mu", 1, scale=size), m.variable("z", 1)
    rows = ca.DM([[1.0, 0.5]])
    m.equal("motion", v - ca.DM([1.0, -2.0]) - rows.T @ mu - ca.vertcat(0, z), scale=size)
    m.equal("joint", rows @ v)
    m.complement("contact", v[1], z)
    # (1, -2) is along the joint and closes the contact: both together stop the body.
    assert found(m, []) == pytest.approx([0, 0, -1.0 / size, 2.5], rel=1e-9, abs=1e-9)


@pytest.mark.parametrize("seed", range(10))
def test_both_phases_of_poissons_law(seed):
    """Each by enumeration: the second gives back e times the impulses of the first, or more."""
    rng = np.random.default_rng(seed)
    W, u, e = rng.normal(size=(6, 3)), rng.normal(size=6), rng.uniform(0.1, 0.9)
    m = Mpcc("impact")
    with m.before("compression") as earlier:
        v_c, lam = earlier.variable("v_c", 6), earlier.variable("lam", 3)
        earlier.equal("motion", v_c - ca.DM(u) - ca.DM(W) @ lam)
        earlier.complement("compressed", ca.DM(W.T) @ v_c, lam)
    v, more = m.variable("v", 6), m.variable("more", 3)
    m.equal("motion", v - v_c - ca.DM(W) @ (e * lam + more))
    m.complement("rebound", ca.DM(W.T) @ v, more)
    (first,) = m.earlier
    x = found(first, [])
    compression = by_enumeration(W.T @ W, W.T @ u)
    assert x[6:] == pytest.approx(compression, abs=1e-9)
    end = found(m, x)
    given = e * compression
    reached = u + W @ (compression + given)
    rest = by_enumeration(W.T @ W, W.T @ reached)
    assert end[6:] == pytest.approx(rest, abs=1e-9)
    assert end[:6] == pytest.approx(reached + W @ rest, abs=1e-9)


def test_an_offset_of_an_unknown_counts():
    """0 <= z - 2 _|_ z - 1 >= 0."""
    m = Mpcc("offset")
    z = m.variable("z", 1)
    m.complement("pair", z - 1, z - 2)
    assert found(m, []) == pytest.approx([2.0], abs=1e-12)


@pytest.mark.parametrize("slope", [0.0, 1e-18])
def test_what_does_not_depend_on_its_own_unknown(slope):
    """As at a contact of bodies without a freedom of their own, that is open."""
    m = Mpcc("blocked")
    z = m.variable("z", 2, guess=1.0)
    m.complement("pair", ca.vertcat(slope * z[0] + 1.0, 2.0 * z[1] - 1.0), z)
    assert found(m, []) == pytest.approx([0.0, 0.5], abs=1e-12)


def test_a_start_without_a_slope_is_not_reported_as_solved():
    m = Mpcc("root")
    y, z = m.variable("y", 1), m.variable("z", 1)
    m.equal("root", ca.sqrt(y) - z)
    m.complement("pair", y - 1, z)
    assert not solved(m, [])[1] < 1.0


@pytest.mark.slow
def test_more_steps_are_taken_where_h_cannot_be_smaller():
    few = ProximalPoints(budget=5, last=200)
    hard = 0
    for seed in range(5):
        m, _, _ = pins(seed, 8)
        start = 3 * np.random.default_rng(seed).normal(size=6)
        newton = SquareSolver(m, Newton(iterations=1, points=few))
        _, rough, _ = newton(np.zeros(m.x.numel()), start, last=False)
        _, exact, _ = newton(np.zeros(m.x.numel()), start, last=True)
        hard += rough > 1e-8
        assert exact < 1e-8
    assert hard > 0


@pytest.mark.parametrize(
    "options", [{"first": 0.0}, {"shrink": 1.0}, {"grow": 1.0}, {"steps": 0}, {"budget": 2000}]
)
def test_options_without_meaning_are_refused(options):
    with pytest.raises(ValueError, match=next(iter(options))):
        ProximalPoints(**options)
