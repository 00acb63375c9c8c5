"""Motions through clearances and loops: they hold, and tend to those of ideal joints."""

import importlib

import casadi as ca
import numpy as np
import pytest

from nsopt import (
    GROUND,
    Actuator,
    AppliedTorque,
    Body,
    Compiled,
    ContactLaw,
    Frame,
    Mechanism,
    Parameter,
    Planar,
    PlanarRevoluteClearance,
    PointOnLine,
    Revolute,
    Start,
    StepBounds,
    Variational,
    assemble,
    simulate,
)
from nsopt.problem import load_optimization, problem_folder
from nsopt.trajectory import (
    Effort,
    EndAt,
    Horizon,
    Quintic,
    StartAt,
    optimize,
)
from tests.trajectory.lifted import ARM, PENDULUM, chains, held, lifted, on_an_ideal_hinge

DOWN = (0.0, -9.81, 0.0)


def resimulated(links, clearances, result, h):
    """The same torques, straight between nodes, on a simulation in steps of h."""
    t, u = result["time"].values, result["input"].values

    def law(time, q, v):
        del q, v
        return ca.vertcat(*(ca.pw_lin(time, t, column) for column in u.T))

    d = chains.chain(links, clearances, law=law).dynamics
    start = Start(result["q"].values[0], np.zeros(d.nv))
    steps = StepBounds(h / 20, h)
    options = {"scheme": Variational(), "solver": Compiled(), "progress": False}
    simulated = simulate(d, start, t[-1], steps=steps, **options)
    assert simulated.completed, simulated.stop_reason
    return simulated


@pytest.mark.slow
def test_a_pendulum_on_a_worn_hinge_moves_as_its_torque_says():
    """The optimum, simulated under its own torque in finer steps, swings the same way."""
    c = 1e-3
    result = lifted(PENDULUM, c, 50)
    held(result)
    fine = resimulated(PENDULUM[0], [c], result, 5e-4)
    angle = np.interp(result["time"], fine["time"], fine["q"].values[:, 2])
    assert result["q"].values[:, 2] == pytest.approx(angle, abs=0.02)


@pytest.mark.slow
def test_the_cost_tends_to_that_of_the_ideal_hinge():
    """With clearance and step; the step's part is of first order, so two grids foretell zero."""
    ideal = on_an_ideal_hinge().objective
    coarse, fine = (held(lifted(PENDULUM, 1e-5, n)) for n in (50, 100))
    assert abs(fine - ideal) < abs(coarse - ideal) < 0.01 * ideal
    assert 2 * fine - coarse == pytest.approx(ideal, rel=1e-3)


@pytest.mark.slow
def test_an_arm_with_two_worn_joints():
    """Where bushings do not rattle, the cost is that of ideal joints and the motion the same."""
    steady = Variational(normal_implicitness=0.5)
    ideal, worn = lifted(ARM, None, 50), lifted(ARM, 1e-4, 50, scheme=steady)
    assert held(worn) == pytest.approx(ideal.objective, rel=5e-3)
    angles = worn["q"].values[:, [2, 5]]
    assert angles == pytest.approx(ideal["q"].values, abs=0.1)


@pytest.mark.slow
def test_a_hinge_with_radial_and_axial_clearance():
    """A free body: the cost is nearly that of the ideal hinge."""
    result = load_optimization("clearance_pendulum").solve({"clearance": 1e-3}, 50)
    ideal = on_an_ideal_hinge().objective
    assert held(result) == pytest.approx(ideal, rel=0.01)
    assert result["q"].values[:, 2] == pytest.approx(0, abs=1e-3)  # stays within 1 mm along the pin


def parallelogram():
    """Crank, coupler and rocker of a parallelogram, driven at the crank; a loop cut by nsopt."""
    length, wide = 0.4, 0.7
    crank = Body("crank", 1.0, (0.02, 0.02, 0.02), (length / 2, 0, 0))
    coupler = Body("coupler", 2.0, (0.05, 0.05, 0.05), (length + wide / 2, 0, 0))
    rocker = Body("rocker", 1.0, (0.02, 0.02, 0.02), (wide + length / 2, 0, 0))
    near, far = (length, 0, 0), (length + wide, 0, 0)
    joints = [
        Revolute("crank pivot", Frame(GROUND), Frame.at(crank, (0, 0, 0))),
        Revolute("crank pin", Frame.at(crank, near), Frame.at(coupler, near)),
        Revolute("rocker pivot", Frame(GROUND, (wide, 0, 0)), Frame.at(rocker, (wide, 0, 0))),
        PointOnLine("rocker pin", Frame.at(rocker, far), Frame.at(coupler, far)),
    ]
    bodies, drive = [crank, coupler, rocker], [Actuator("crank pivot")]
    return assemble(Mechanism(bodies, joints, "relative", drive), gravity=DOWN)


def reduced():
    """The same freedom as one body: the coupler only moves along."""
    mass, moment, about = 4.0, 1.0 * 0.4 + 2.0 * 0.4, 2 * (0.02 + 0.04) + 2.0 * 0.16
    d = moment / mass
    J = about - mass * d**2
    body = Body("all", mass, (J, J, J), (d, 0, 0))
    pivot = Revolute("pivot", Frame(GROUND), Frame.at(body, (0, 0, 0)))
    return assemble(Mechanism([body], [pivot], "relative", [Actuator("pivot")]), gravity=DOWN)


def test_a_closed_loop_against_its_one_freedom():
    """By steps through the cut loop, and by polynomials of the one angle."""
    a, b = np.radians([40.0, 120.0])
    ideal = optimize(
        reduced(),
        Horizon(0.6, 40),
        [Effort()],
        [StartAt([a], [0]), EndAt([b], [0])],
        Quintic([a], [b]),
    )
    start, end = (np.array([x, -x, x]) for x in (a, b))
    loop = optimize(
        parallelogram(),
        Horizon(0.6, 60),
        [Effort()],
        [StartAt(start, np.zeros(3)), EndAt([b, np.nan, np.nan], [0, np.nan, np.nan])],
        Quintic(start, end),
    )
    assert loop.completed, loop.stop_reason
    assert loop.objective == pytest.approx(ideal.objective, rel=2e-3)
    there = np.interp(loop["time"], ideal["time"], ideal["q"].values[:, 0])
    assert loop["q"].values[:, 0] == pytest.approx(there, abs=2e-3)


def hinged(at_centre, friction=0.0, clearance=1e-3):
    """A pendulum on a worn hinge, its coordinates those of hinge or centre of mass."""
    rod = Body("rod", 1.0, (0.01, 0.09, 0.09), (0, -0.5, 0))
    bushing = Frame.at(rod, (0.0, 0.0, 0.0))
    plane = Planar("plane", Frame(GROUND), Frame(rod) if at_centre else bushing)
    law = ContactLaw(friction=friction) if friction else ContactLaw()
    hinge = PlanarRevoluteClearance(
        "hinge", Frame(GROUND), bushing, clearance=clearance, radius=0.02, law=law
    )
    motor = AppliedTorque("motor", Frame(rod), (0, 0, Parameter("torque_hinge", 0.0)))
    return assemble(Mechanism([rod], [plane], "relative"), [hinge, motor], DOWN)


def quarter(dynamics, start, end, steps=50):
    """The least torque for a quarter turn."""
    rest = np.zeros(3)
    conditions = [StartAt(start, rest), EndAt([np.nan, np.nan, end[2]], rest)]
    torque = chains.InputEffort(input="torque_hinge")
    guess = Quintic(start, end)
    name = ["torque_hinge"]
    return optimize(dynamics, Horizon(0.8, steps), [torque], conditions, guess, inputs=name)


HUNG, ASIDE = np.array([0, -1e-3, 0]), np.array([0, -1e-3, np.pi / 2])


@pytest.mark.slow
def test_coordinates_of_the_hinge_and_of_the_centre_give_one_optimum():
    c = 1e-4
    at_hinge = held(
        quarter(hinged(False, clearance=c), np.array([0, -c, 0]), np.array([0, -c, np.pi / 2]))
    )
    start, end = np.array([0, -0.5 - c, 0]), np.array([0.5, -c, np.pi / 2])
    with pytest.warns(UserWarning, match="apart"):  # on a straight way of the centre
        at_centre = held(quarter(hinged(True, clearance=c), start, end))
    assert at_centre == pytest.approx(at_hinge, rel=1e-3)


@pytest.mark.slow
def test_friction_in_the_hinge_is_overcome():
    """The loss is friction times lever arm times angle, and the drive supplies it."""
    mu, arm = 0.3, 0.02 + 1e-3
    smooth = held(quarter(hinged(False), HUNG, ASIDE))
    result = quarter(hinged(False, mu), HUNG, ASIDE)
    assert held(result) > smooth
    pressed = np.nan_to_num(np.linalg.norm(result["contact_force"].values[:, 0], axis=-1))
    normal = pressed / np.hypot(1, mu)  # recorded with friction
    taken = mu * arm * np.sum(normal[1:] * np.diff(result["q"].values[:, 2]))
    assert np.nansum(result["contact_loss"].values) == pytest.approx(taken, rel=0.1)


def pin_force(problem, angle, speed):
    """The force in an ideal piston pin of a crank at constant speed, from Newton and Euler [N]."""
    ratio, (_, rod, slider) = problem.CRANK / problem.ROD, problem.members()
    lean, t = -np.arcsin(ratio * np.sin(angle)), angle / speed
    x = problem.CRANK * np.cos(angle) + problem.ROD * np.cos(lean)

    def twice(y):
        return np.gradient(np.gradient(y, t, edge_order=2), t, edge_order=2)

    # The guide is smooth: along it the pin alone moves the slider. Rod about the crank pin.
    along, turn = slider.mass * twice(x), twice(lean)
    pin = problem.CRANK * np.array([np.cos(angle), np.sin(angle)])
    half = problem.ROD / 2 * np.array([np.cos(lean), np.sin(lean)])
    centre = np.array([twice(row) for row in pin + half])
    needed = rod.inertia[2] * turn + rod.mass * (half[0] * (centre[1] + 9.81) - half[1] * centre[0])
    across = (needed + 2 * half[1] * -along) / (2 * half[0])
    return np.hypot(along, across)


@pytest.mark.slow
def test_peaks_of_contact_force_are_lower_than_at_constant_speed(monkeypatch):
    monkeypatch.syspath_prepend(str(problem_folder() / "slider_crank"))
    problem = importlib.import_module("slider_crank_peaks")
    with pytest.warns(UserWarning, match="piston pin.* apart"):
        result = problem.optimization.solve()
    held(result)
    # Without impacts, of which the cost knows nothing: of many optima that differ by 10 % some have
    # one. The last step carries what acts at its end too.
    lasting = result["impulse"].values - result["impact_impulse"].values
    peak = np.nanmax((lasting / result["h"].values[:, None])[:-1])
    angle = np.linspace(-1, 7.5, 4001)
    even = pin_force(problem, angle, problem.TURN / problem.PERIOD)[(angle > 0) & (angle < 6.3)]
    assert peak < 0.7 * even.max()
    crank = result["v"].values[:, 0]
    assert crank.min() < 0.9 * problem.TURN / problem.PERIOD < crank.max()


@pytest.fixture(scope="module")
def tolerance():
    """The problem of the tolerance, its optimum, and how far the tip is off at each node [m]."""
    problem = importlib.import_module("clearance_tolerance")
    return problem, problem.optimization.solve()


def tip_off(result):
    """Return the distance of the tip from that of an ideal arm at the same angles [m]."""
    first, second = (link.length for link in chains.ARM)
    a = result["q"].values[:, 2]
    b = a + result["q"].values[:, 5]
    x = first * np.cos(a) + second * np.cos(b)
    y = first * np.sin(a) + second * np.sin(b)
    return np.hypot(result["tip.x"].values - x, result["tip.y"].values - y)


@pytest.mark.slow
def test_errors_of_a_chain_add_up_and_stay_within_the_tolerance(tolerance):
    """Load presses both bushings the same way: all along nearly the sum of the clearances."""
    problem, result = tolerance
    held(result)
    off = tip_off(result)
    assert off.max() <= problem.TOLERANCE * (1 + 1e-6)
    assert off.min() > 0.95 * problem.TOLERANCE


@pytest.mark.slow
def test_what_joints_bear_is_what_ideal_joints_bear(tolerance):
    """Beside the start, where bushings roll from below their pins to the side of the load."""
    problem, result = tolerance
    ideal = problem.statement(chains.chain(chains.ARM)).solve()
    worn = np.linalg.norm(result["contact_force"].values, axis=-1)[5:-2]
    nodes = ideal["joint_reaction"].values
    over_steps = (nodes[:-1] + nodes[1:]) / 2  # as contact forces are means over the step before
    asked = np.linalg.norm(over_steps, axis=-1)[4:-2, :2]
    assert worn == pytest.approx(asked, abs=0.1 * asked.max())


@pytest.mark.slow
def test_the_tolerance_holds_when_simulated_in_finer_steps(tolerance):
    problem, result = tolerance
    clearances = problem.allotment(problem.PRICES, problem.TOLERANCE)
    fine = resimulated(chains.ARM, clearances, result, 2.5e-4)
    off = tip_off(fine)
    assert off.max() <= problem.TOLERANCE * (1 + 1e-3)
    assert np.median(off) > 0.95 * problem.TOLERANCE


@pytest.mark.slow
def test_a_joint_worn_too_far_ends_where_errors_cancel(tolerance):
    """At 1 mm in the elbow the motion can still end within the tolerance, at more torque."""
    problem, result = tolerance
    worn = problem.optimization.solve({"c_elbow": 1e-3})
    assert held(worn) > result.objective
    off = tip_off(worn)
    assert off[-1] <= problem.TOLERANCE * (1 + 1e-6)
    assert off.max() > 2 * problem.TOLERANCE


@pytest.mark.slow
def test_the_allotment_is_the_cheapest(tolerance):
    """Against a search by numbers."""
    problem, _ = tolerance
    prices, t = np.array(problem.PRICES), problem.TOLERANCE
    share = np.linspace(0.01, 0.99, 9801)
    cost = prices[0] / (share * t) + prices[1] / ((1 - share) * t)
    c = problem.allotment(prices, t)
    assert c.sum() == pytest.approx(t)
    assert c[0] / t == pytest.approx(share[cost.argmin()], abs=1e-4)
    even = np.full(2, t / 2)
    assert np.sum(prices / c) == pytest.approx(0.9 * np.sum(prices / even))
