"""Newton on square programs: against other solvers, by hand, and on what makes systems singular."""

import casadi as ca
import numpy as np
import pytest

from nsopt.mpcc import Mpcc, Newton, ProximalPoints, Solver, SquareSolver

pytestmark = pytest.mark.unit


def solved(mpcc, p, x0=None, newton=None):
    n = sum(v.scaled.numel() for v in mpcc.variables)
    return SquareSolver(mpcc, newton or Newton())(np.zeros(n) if x0 is None else x0, p)


def test_dependent_rows_solve_with_least_multipliers():
    """Three equal constraints on one motion share the load evenly."""
    m = Mpcc("redundant")
    v = m.variable("v", 2)
    mu = m.variable("mu", 3, multiplier=True)
    C = ca.DM([[1, 0.5]] * 3)
    m.equal("motion", v - ca.vertcat(1, 2) - C.T @ mu)
    m.equal("held", C @ v)
    x, residual, _ = solved(m, [])
    assert residual < 1e-10
    assert x[2:] == pytest.approx(np.full(3, -2 / 1.25 / 3), rel=1e-6)


@pytest.mark.parametrize("told", [True, False])
def test_redundant_combinations_of_rows_make_no_large_multipliers(told):
    """Two rows with one zero set and one gradient there, that differ by terms of second order."""
    m = Mpcc("bent")
    x, mu = m.variable("x", 2), m.variable("mu", 2, multiplier=True)
    m.equal("motion", x - ca.vertcat(1.1, 0.4) - ca.DM([[1, 1], [0, 0]]) @ mu)
    gap = x[0] - 1 + 0.1 * x[1] ** 2
    m.equal("held", ca.vertcat(gap, gap + gap**2), redundant=told)
    solution, residual, _ = solved(m, [], [1.02, 0.3, 0.0, 0.0])
    assert residual < 1e-10
    assert solution[:2] == pytest.approx([1 - 0.1 * 0.4**2, 0.4], abs=1e-9)
    assert (abs(solution[2] - solution[3]) < 1) == told


CORNERS = np.array([[1, 1, 0], [-1, 1, 0], [-1, -1, 0], [1, -1, 0]])
ALONG = [np.vstack([np.eye(3), np.cross(r, np.eye(3)).T]) for r in CORNERS]
"""What a force along each axis at a corner gives a body, as columns."""


@pytest.mark.parametrize("seed", range(6))
def test_a_block_sticks_on_more_corners_than_it_needs(seed):
    """Twelve rows of contacts hold six velocities, and contradict each other by round-off.

    One step of Newton is enough, as no mode changes, and shares stay about as they were: together
    they carry what presses the block down and aside, and none slips.
    """
    m = Mpcc("block")
    load, gap = m.parameter("load", 6), m.parameter("gap", 4)
    v, lam, z = m.variable("v", 6), m.variable("lam", 4), m.variable("z", 8)
    up = np.column_stack([A[:, 2] for A in ALONG])
    aside = np.hstack([A[:, :2] for A in ALONG])
    m.equal("motion", v - load - ca.DM(up) @ lam - ca.DM(aside) @ z)
    m.complement("corners", ca.DM(up).T @ v + gap, lam)
    m.disc("friction", z, ca.DM(aside).T @ v, radius=0.6 * lam)
    rng = np.random.default_rng(seed)
    given = np.array([0.3, 0.1, -1.0, *rng.uniform(-0.1, 0.1, 3)])
    off = 2e-12 * rng.normal(size=4)
    x, residual, count = solved(m, [*given, *off], [0.0] * 6 + [0.25] * 4 + [0.0] * 8)
    assert residual < 1e-11
    assert count == 1
    assert x[:6] == pytest.approx(0, abs=1e-10)
    assert up @ x[6:10] + aside @ x[10:] == pytest.approx(-given, abs=1e-10)
    assert np.abs(x[6:10] - 0.25).max() < 0.1
    assert np.all(np.linalg.norm(x[10:].reshape(-1, 2), axis=1) < 0.6 * x[6:10])


def lcp(rng, n=6):
    """A linear complementarity problem by way of its velocities, with friction on two rows."""
    m = Mpcc("lcp")
    b = m.parameter("b", n)
    B = ca.DM(rng.normal(size=(n, n)))
    v, z = m.variable("v", n), m.variable("z", n)
    t = m.variable("t", 2)
    m.equal("motion", v - B.T @ z - ca.vertcat(t, ca.SX.zeros(n - 2)))
    m.complement("contact", B @ v + b, z)
    m.box("friction", t, v[:2] + 1, lower=-0.3 * z[:2], upper=0.3 * z[:2])
    return m


@pytest.mark.parametrize("seed", range(4))
def test_newton_and_homotopy_agree_on_contact_with_friction(seed):
    rng = np.random.default_rng(seed)
    m = lcp(rng)
    program = Solver().build(m)
    for _ in range(3):
        b = rng.normal(size=6)
        x, residual, _ = solved(m, b)
        other = program.solve({"b": b}).require()
        assert residual < 1e-10
        assert x == pytest.approx(other.x[: x.size], abs=1e-7)


def test_a_box_sticks_slides_and_leaves():
    """A block pushed by f on a floor with friction 0.5 and weight 1, velocity level, by hand."""
    m = Mpcc("block")
    f = m.parameter("f", 1)
    v, t = m.variable("v", 1), m.variable("t", 1)
    m.equal("motion", v - f - t)
    m.box("friction", t, v, lower=-0.5, upper=0.5)
    for push, speed, force in ((0.3, 0, -0.3), (2.0, 1.5, -0.5), (-0.7, -0.2, 0.5)):
        x, _, _ = solved(m, [push])
        assert x == pytest.approx([speed, force], abs=1e-12)
        assert Solver().build(m).solve({"f": [push]}).x[:2] == pytest.approx(x, abs=1e-8)


def test_pairs_that_are_not_active_are_open():
    m = Mpcc("switch")
    on = m.parameter("on", 2)
    z = m.variable("z", 2, guess=5.0)
    m.complement("pair", z - 1, z, active=on)
    for state, expected in (((1, 0), (1, 0)), ((0, 1), (0, 1)), ((0, 0), (0, 0))):
        x, residual, _ = solved(m, state, [5.0, 5.0])
        assert x == pytest.approx(expected, abs=1e-12)
        assert residual < 1e-12


def test_damped_steps_solve_where_full_ones_diverge():
    """Newton on atan overshoots ever more from |x| > 1.39."""
    m = Mpcc("atan")
    x = m.variable("x", 1)
    m.equal("zero", ca.atan(x))
    full = Newton(points=ProximalPoints(budget=0, last=0))
    assert not solved(m, [], [3.0], full)[1] < 1e-3
    assert abs(solved(m, [], [3.0])[0][0]) < 1e-7


def test_what_has_no_solution_is_not_reported_as_solved():
    m = Mpcc("none")
    x = m.variable("x", 1)
    m.equal("none", x**2 + 1)
    assert not solved(m, [], [0.3])[1] < 1e-3


def test_scales_may_be_parameters_for_newton_alone():
    m = Mpcc("scaled")
    size = m.parameter("size", 1)
    x = m.variable("x", 1, scale=size)
    m.equal("e", x - 6, scale=size)
    assert solved(m, [3.0])[0] == pytest.approx([2.0])
    with pytest.raises(ValueError, match="'scaled' has scales that are expressions"):
        Solver().build(m)


@pytest.mark.parametrize(
    ("state", "message"),
    [
        (lambda m, x: m.equal("e", x[0]), "not square: 2 unknowns, 1 equations"),
        (lambda m, x: [m.equal("e", x), m.minimize(x[0])], "objective or inequalities"),
    ],
)
def test_programs_that_are_not_square_are_refused(state, message):
    m = Mpcc("odd")
    state(m, m.variable("x", 2))
    with pytest.raises(ValueError, match=message):
        SquareSolver(m, Newton())


def first_wall():
    """A point runs from 0 at speed v for at most 2 s; the first of walls at 3 and 5 m ends it."""
    m = Mpcc("walls")
    v = m.parameter("v", 1)
    t, x = m.variable("t", 1, guess=2.0), m.variable("x", 1)
    m.equal("motion", x - v * t)
    m.first_event("event", ca.vertcat(2 - t, 3 - x, 5 - x), of="t", active=ca.vertcat(1, v < 10, 1))
    return m


@pytest.mark.parametrize(
    ("speed", "time"), [(1.0, 2.0), (2.0, 1.5), (20.0, 0.25)], ids=["none", "near wall", "far wall"]
)
def test_the_smallest_of_several_rows_is_zero(speed, time):
    """The unknown it decides comes first here and is eliminated last."""
    m = first_wall()
    x, residual, _ = solved(m, [speed], [2.0, 0.0])
    assert residual < 1e-10
    assert x == pytest.approx([time, speed * time], abs=1e-9)
    other = (
        Solver(schedules=[(1.0, 1e-2, 1e-4, 1e-8, 1e-10)]).build(m).solve({"v": [speed]}).require()
    )
    assert other.x[:2] == pytest.approx(x, abs=1e-6)


def test_a_program_after_another_knows_its_solution():
    first = Mpcc("first")
    a = first.parameter("a", 1)
    x = first.variable("x", 1, scale=2.0)
    first.equal("e", x - 3 * a)
    second = first.after("second")
    y = second.variable("y", 1)
    second.equal("e", y - x * a)
    solution = Solver().build(first).solve({"a": [2.0]}).require()
    after = Solver().build(second).solve({"a": [2.0], "first": solution.x}).require()
    assert after["y"] == pytest.approx([12.0])


def test_a_first_event_names_its_unknown():
    m = Mpcc("lost")
    m.variable("x", 2)
    with pytest.raises(ValueError, match="first event 'event' is of no variable 'x' of size 1"):
        m.first_event("event", ca.SX(1), of="x")
