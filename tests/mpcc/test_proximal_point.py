"""Proximal points on linear programs: against enumeration, and the law of friction in numbers."""

import casadi as ca
import numpy as np
import pytest

from nsopt.mpcc import Mpcc, Newton, ProximalPoint
from nsopt.mpcc.disc import Disc
from nsopt.mpcc.projections import ProjectionRows
from tests.mpcc.contacts import by_enumeration, check_coulomb, pins

pytestmark = pytest.mark.unit


def found(mpcc, p):
    n = sum(v.scaled.numel() for v in mpcc.variables)
    return ProximalPoint(mpcc).start(np.zeros(n), np.array(p, dtype=float))


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


@pytest.mark.parametrize("freedoms", [1, 2, 3])
def test_jams_of_few_freedoms(freedoms):
    """Nine rough contacts, of which many impulses give the body the same motion."""
    for seed in range(10):
        m, H, mu = pins(seed, 9, freedoms=freedoms)
        start = np.random.default_rng(seed).normal(size=freedoms)
        check_coulomb(H, mu, start, found(m, start))


def test_newton_converges_from_there_where_it_does_not_from_zero():
    """Full steps wander in a third of the draws of eight contacts on a body."""
    hard = solved = 0
    for seed in range(5):
        m, _, _ = pins(seed, 8)
        newton, start = Newton(damped=0).lower(m), 3 * np.random.default_rng(seed).normal(size=6)
        n = newton.numel_in(0)
        if float(newton(np.zeros(n), start, 1)[1]) > 1e-8:
            hard += 1
            solved += float(newton(found(m, start), start, 1)[1]) < 1e-8
    assert hard > 0
    assert solved == hard


@pytest.mark.parametrize("kind", ["sum", "square"])
def test_an_unknown_that_is_not_its_own_is_refused(kind):
    m = Mpcc(kind)
    z = m.variable("z", 2)
    H = {"sum": z[0] + z[1], "square": z[0] ** 2}[kind]
    m.complement("both", z, ca.vertcat(H, z[1]))
    assert not ProximalPoint.takes(m)
    with pytest.raises(
        ValueError, match=f"pairs, boxes and discs of unknowns of their own, '{kind}"
    ):
        ProximalPoint(m)


@pytest.mark.parametrize("seed", range(5))
def test_a_joint_that_is_stated_thrice(seed):
    """As by rows that are independent; of the reactions the force is known."""
    rng = np.random.default_rng(seed)
    rows, W, u = rng.normal(size=(2, 6)), rng.normal(size=(6, 3)), rng.normal(size=6)
    redundant = rng.normal(size=(3, 2)) @ rows
    C = np.vstack([rows, redundant])
    m = Mpcc("loop")
    v, mu, z = m.variable("v", 6), m.variable("mu", 5), m.variable("z", 3)
    m.equal("motion", v - ca.DM(u) - ca.DM(C.T) @ mu - ca.DM(W) @ z)
    m.equal("joint", ca.DM(C) @ v)
    m.complement("contact", ca.DM(W.T) @ v, z)
    free = np.eye(6) - rows.T @ np.linalg.solve(rows @ rows.T, rows)
    impulse = by_enumeration(W.T @ free @ W, W.T @ free @ u)
    motion = free @ (u + W @ impulse)
    x = found(m, [])
    assert x[:6] == pytest.approx(motion, abs=1e-9)
    assert x[11:] == pytest.approx(impulse, abs=1e-9)
    assert C.T @ x[6:11] == pytest.approx(motion - u - W @ impulse, abs=1e-9)


def test_equations_that_disagree_are_met_in_least_squares():
    """As of a loop that is off by a little: v = 1 and v = 1.2 and, in another unit, v = 1.4."""
    m = Mpcc("off")
    v, z = m.variable("v", 1), m.variable("z", 1)
    for k, (weight, value) in enumerate([(1, 1.0), (1, 1.2), (2, 1.4)]):
        m.equal(f"closure {k}", weight * (v - value))
    m.complement("pair", 2 * z - v, z)
    assert found(m, []) == pytest.approx([1.2, 0.6], abs=1e-12)


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


@pytest.mark.parametrize("slope", [0.0, -1e-18])
def test_what_does_not_depend_on_its_own_unknown_stays(slope):
    """As at a contact that bodies without a freedom of their own press."""
    m = Mpcc("blocked")
    z = m.variable("z", 2, guess=1.0)
    m.complement("pair", ca.vertcat(slope * z[0] - 1.0, 2.0 * z[1] - 1.0), z)
    assert found(m, []) == pytest.approx([0.0, 0.5], abs=1e-12)


def test_a_start_without_a_slope_is_given_back():
    m = Mpcc("root")
    y, z = m.variable("y", 1), m.variable("z", 1)
    m.equal("root", ca.sqrt(y) - z)
    m.complement("pair", y - 1, z)
    assert found(m, []).tolist() == [0.0, 0.0]


def symbolic_rows(n, in_discs):
    """Return (z, constants, slopes) -> rows and their slope, from the rows of the min map."""
    z, c, s = ca.SX.sym("z", n), ca.SX.sym("c", 3 * n), ca.SX.sym("s", 3 * n, n)
    F, lower, upper = ca.vertsplit(c + s @ z, n)
    alone = n - in_discs
    rows = [z[i] - ca.fmin(ca.fmax(z[i] - F[i], lower[i]), upper[i]) for i in range(alone)]
    for i in range(alone, n, 2):
        both = slice(i, i + 2)
        rows.append(Disc(z[both], F[both], ca.fmax(upper[i], 0), "").rows)
    r = ca.vertcat(*rows)
    return ca.Function("rows", [z, c, s], [r, ca.jacobian(r, z)])


@pytest.mark.parametrize(("n", "in_discs"), [(5, 0), (4, 4), (9, 4)])
def test_rows_in_numbers_are_those_of_the_min_map(n, in_discs):
    """Inside, on both limits and on edges, with limits that depend on z and may cross."""
    rng, rows, symbolic = (
        np.random.default_rng(n),
        ProjectionRows(n, in_discs),
        symbolic_rows(n, in_discs),
    )
    for width in [0.0, 1.0, 3.0] * 20:
        z, s = rng.normal(size=n), rng.normal(size=(3 * n, n))
        c = rng.normal(size=3 * n) + np.repeat([0.0, -width, width], n)
        limits = c + s @ z
        r, J = symbolic(z, c, s)
        assert rows.value(z[:, None], limits[:, None]) == pytest.approx(r.full(), abs=1e-13)
        assert rows.jacobian(z, limits, s) == pytest.approx(J.full(), abs=1e-13)
