"""RungeKutta: the same equations as scipy integrates, decay of what is off, loops, friction."""

import casadi as ca
import numpy as np
import pytest
from scipy.integrate import solve_ivp

from nsopt import (
    Body,
    Compiled,
    CornerPath,
    ExplicitMidpoint,
    Frame,
    LuGreLaw,
    Mechanism,
    PlaneContact,
    Prismatic,
    Revolute,
    RungeKutta,
    SlideFriction,
    Solver,
    Start,
    StepBounds,
    Variational,
    acceleration,
    assemble,
    consistent,
    simulate,
)
from nsopt.trajectory import Horizon, Quintic, Smoothness, StartAt, optimize, sensitivities
from tests.elements.test_programmed import CORNERS, arm
from tests.schemes.loops_in_space import bennett
from tests.states import array, assembled, run

G = 9.81
CHAIN = {"solver": Compiled()}


def integrated(d, start, duration, *gains):
    """Coordinates and velocities after a time, by scipy on the accelerations of Dynamics."""
    rates, p = acceleration(d, *gains), d.values()

    def rate(t, x):
        vdot, _, qdot = rates(t, x[: d.nq], x[d.nq :], p)
        return ca.vertcat(qdot, vdot).full().ravel()

    begin = np.concatenate([start.q, start.v])
    x = solve_ivp(rate, (0, duration), begin, "DOP853", rtol=1e-11, atol=1e-12).y[:, -1]
    return x[: d.nq], x[d.nq :]


def three_links(**options):
    d = arm(CornerPath(CORNERS, side=0.5), links=3, **options)
    return d, consistent(d, Start(np.array([0.3, 0.8, 0.3]), np.zeros(3)))


@pytest.mark.slow
def test_is_of_fourth_order_beside_scipy_on_the_same_accelerations():
    d, start = three_links()
    q, _ = integrated(d, start, 0.8, 30, 20)
    scheme = RungeKutta(30, 20)
    ends = [run(d, 0.8, h, start, scheme=scheme, **CHAIN)["q"].values[-1] for h in (5e-3, 2.5e-3)]
    errors = [np.max(np.abs(end - q)) for end in ends]
    assert errors[1] < 1e-6
    assert errors[0] / errors[1] == pytest.approx(16, rel=0.25)


def slow_acceleration(d, q, v):
    """M^-1 (applied - bias), by NumPy."""
    forces = array(d.applied(0, q, v, []) - d.bias(q, v, []))
    return np.linalg.solve(np.asarray(d.mass(q, [])), forces)


def thrown_pair():
    """Two bodies on a hinge, thrown, with nothing to hold them."""
    first = Body("first", 1.0, (0.1, 0.2, 0.25), position=(0.4, 0, 0))
    second = Body("second", 0.5, (0.03, 0.05, 0.06), position=(1.0, 0, 0))
    hinge = Revolute("hinge", Frame.at(first, (0.7, 0, 0)), Frame.at(second, (0.7, 0, 0)))
    d = assemble(Mechanism([first, second], [hinge], "relative"), gravity=(0, 0, -G))
    return d, Start(Start.stated(d).q, np.array([1.0, -0.5, 2.0, 3.0, -2.0, 1.0, 4.0]))


@pytest.mark.parametrize(
    ("scheme", "sizes"),
    [(RungeKutta(), (2e-2, 1e-2)), (ExplicitMidpoint(), (4e-3, 2e-3))],
    ids=["four stages", "two stages"],
)
def test_a_tree_needs_no_unknowns_and_has_its_order(scheme, sizes):
    """A free tree against scipy: Euler parameters, base and joint coupled by the mass matrix."""
    d, start = thrown_pair()

    def rate(t, x):
        q, v = x[: d.nq], x[d.nq :]
        return np.concatenate([array(d.rate_matrix(q) @ v), slow_acceleration(d, q, v)])

    begin = np.concatenate([start.q, start.v])
    x = solve_ivp(rate, (0, 0.4), begin, "DOP853", rtol=1e-11, atol=1e-12).y[:, -1]
    results = [run(d, 0.4, h, start, scheme=scheme, **CHAIN) for h in sizes]
    assert results[0]["iterations"].values[1:].max() == 0
    errors = [np.abs(result["q"].values[-1] - x[: d.nq]).max() for result in results]
    assert np.log2(errors[0] / errors[1]) == pytest.approx(scheme.order, abs=0.15)
    assert errors[1] < 1e-4


@pytest.mark.parametrize("solver", [Compiled(), Solver()], ids=["chain", "steps"])
def test_steps_without_unknowns_are_those_of_the_formula(solver):
    """One step of the midpoint rule by hand."""
    d, start = thrown_pair()
    h = 1e-2
    q, v = start.q, start.v
    half = q + h / 2 * array(d.rate_matrix(q) @ v)
    speed = v + h / 2 * slow_acceleration(d, q, v)
    end = q + h * array(d.rate_matrix(half) @ speed)
    end[3:7] /= np.linalg.norm(end[3:7])
    result = run(d, h, h, start, scheme=ExplicitMidpoint(), solver=solver)
    assert result["q"].values[-1] == pytest.approx(end, abs=1e-13)
    changed = v + h * slow_acceleration(d, half, speed)
    assert result["v"].values[-1] == pytest.approx(changed, abs=1e-12)


@pytest.mark.slow
def test_what_is_off_decays_by_its_gains():
    d, start = three_links()
    off = Start(start.q + np.array([0.0, 0.01, 0.0]), start.v)
    with pytest.warns(UserWarning, match=r"joint 'tip' is 0\.0\d+ .* RungeKutta\(.*brings it back"):
        result = run(d, 1.5, 5e-4, off, scheme=RungeKutta(alpha=50.0, beta=20.0), **CHAIN)
    t, out = result["time"].values, result.data["constraint_violation"].sel(joint="tip").values
    late = (t > 0.2) & (t < 1.4)
    slope = np.polyfit(t[late], np.log(out[late]), 1)[0]
    assert slope == pytest.approx(-50 + np.sqrt(50**2 - 20**2), rel=5e-3)
    work = result["external_work"].values - result["total_energy"].values
    assert work == pytest.approx(work[0], abs=1e-6)


def test_recorded_forces_are_its_multipliers():
    """Off the path, too: the guide gives what brings the tip back."""
    d, start = three_links()
    off = Start(start.q + np.array([0.0, 0.01, 0.0]), start.v)
    with pytest.warns(UserWarning, match="brings it back"):
        result = run(d, 2e-3, 1e-3, off, scheme=RungeKutta(50.0, 20.0))
    _, mu, _ = acceleration(d, 50.0, 20.0)(0, off.q, off.v, [])
    force = result.data["joint_reaction"].sel(joint="tip").values[0]
    assert force[:2] == pytest.approx(array(mu), rel=1e-9)
    assert np.linalg.norm(force) > 1


@pytest.mark.slow
def test_redundant_rows_of_a_loop():
    """A spatial loop of hinges with redundant rows moves, and is loaded, as by Variational."""
    d = bennett("relative")
    start = consistent(d)
    assert d.redundant > 0
    results = [run(d, 0.05, 1e-3, start, scheme=x, **CHAIN) for x in (RungeKutta(), Variational())]
    ends = [x["body_position"].values[-1] for x in results]
    assert ends[0] == pytest.approx(ends[1], abs=1e-5)
    forces = [np.abs(x["joint_reaction"].values).max() for x in results]
    assert forces[0] == pytest.approx(forces[1], rel=1e-2)


def slider(law):
    body = Body("slider", 2.0, (1, 1, 1), velocity=(0, 0, 0.3))
    guide = Prismatic("guide", Frame(None), Frame(body))
    rub = SlideFriction("rub", guide.a, guide.b, law)
    return assembled([body], [guide, rub], gravity=(0, -G, 0))


@pytest.mark.slow
def test_bristles_are_integrated():
    """LuGre under the reaction of the joint, against the equations by hand."""
    law = LuGreLaw(stiffness=800.0, damping=2.0, viscous=0.4, kinetic=0.2, static=0.3, stribeck=0.1)
    d = slider(law)

    def rate(_, x):
        u, z = x[1:]
        bend = u - 800 * abs(u) * z / (0.2 + 0.1 * np.exp(-((u / 0.1) ** 2)))
        return [u, -G * (800 * z + 2.0 * bend + 0.4 * u), bend]

    exact = solve_ivp(rate, (0, 0.05), [0, 0.3, 0], "LSODA", rtol=1e-11, atol=1e-13).y[:, -1]
    result = run(d, 0.05, 1e-4, scheme=RungeKutta(), **CHAIN)
    q, v = result["q"].values[-1], result["v"].values[-1]
    assert (q[2], v[2], q[-1]) == pytest.approx(exact, abs=1e-8)


def test_contacts_and_horizons_are_refused():
    ball = Body("ball", 1.0, point_mass=True, position=(0, 0, 1))
    floor = PlaneContact("floor", Frame(None), Frame(ball))
    d = assembled([ball], [floor])
    with pytest.raises(ValueError, match="RungeKutta is for mechanisms without contact"):
        simulate(d, duration=0.1, steps=StepBounds(1e-3, 1e-3), scheme=RungeKutta())
    with pytest.raises(ValueError, match="contact 'floor' has no acceleration"):
        acceleration(d)
    d, start = three_links()
    q = start.q
    with pytest.raises(ValueError, match="RungeKutta has no equations for a whole horizon"):
        optimize(
            d,
            Horizon(1.0, steps=5),
            [Smoothness()],
            [StartAt(q, np.zeros(3))],
            Quintic(q, q),
            scheme=RungeKutta(),
        )


def test_gains_below_zero_are_refused():
    with pytest.raises(ValueError, match="beta of RungeKutta must not be negative"):
        RungeKutta(1.0, -1.0)


def test_derivatives_of_steps_without_unknowns():
    """Of the angle by its start and rate, beside central differences."""
    d, start = thrown_pair()
    how = {"steps": StepBounds(1e-2, 1e-2), "scheme": RungeKutta()}

    def angle(t, q, v, p):
        return q[7]

    def reached(dx):
        q, v = start.q + dx[: d.nq], start.v + dx[d.nq :]
        return run(d, 0.1, 1e-2, Start(q, v), scheme=RungeKutta(), **CHAIN)["q"].values[-1, 7]

    found = sensitivities(d, start, times=[0.1], outputs=angle, by=[], **how).forward()
    for entry, slope in ((7, found.q0[0, 0, 7]), (d.nq + 6, found.v0[0, 0, 6])):
        dx = 1e-5 * np.eye(d.nq + d.nv)[entry]
        assert slope == pytest.approx((reached(dx) - reached(-dx)) / 2e-5, rel=1e-6)
