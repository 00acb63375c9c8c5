"""Closed loops in phases: a four-bar linkage against its one freedom, stated by hand."""

import json

import casadi as ca
import numpy as np
import pytest

from nsopt import (
    GROUND,
    Actuator,
    AppliedTorque,
    Body,
    Frame,
    Mechanism,
    Parameter,
    PlaneContact,
    PointOnLine,
    Prismatic,
    Revolute,
    TurnFriction,
    ViscousLaw,
    assemble,
)
from nsopt.trajectory import (
    Effort,
    EndAt,
    Horizon,
    InputEffort,
    JointLoad,
    MotionPhase,
    Open,
    Periodic,
    Quintic,
    Sliding,
    StartAt,
    Through,
    optimize,
    optimize_phases,
)
from problems.four_bar import four_bar
from problems.four_bar.four_bar import COUPLER, CRANK, GRAVITY, GROUND_LINK, LINE_DENSITY, ROCKER

G = -GRAVITY[1]
EFFORT = InputEffort(input="torque")
BEGIN, END = -0.4, 0.6  # rad, of the crank from upright


def place_pins(angle):
    """Return the pins at both ends of the coupler, CasADi (2,) each, of an angle of the crank."""
    first = CRANK * ca.vertcat(-ca.sin(angle), ca.cos(angle))
    across = ca.vertcat(GROUND_LINK, 0) - first
    span = ca.norm_2(across)
    along = (span**2 + COUPLER**2 - ROCKER**2) / (2 * span)
    e = across / span
    return first, first + along * e + ca.sqrt(COUPLER**2 - along**2) * ca.vertcat(-e[1], e[0])


def torque_of_crank():
    """Return (angle, rate, acceleration) -> the torque on the crank, from energies alone."""
    x, w, a = ca.SX.sym("x"), ca.SX.sym("w"), ca.SX.sym("a")
    lower, upper = place_pins(x)
    kinetic, potential = ca.SX(0), ca.SX(0)
    pins = [ca.SX.zeros(2), lower, upper, ca.DM([GROUND_LINK, 0])]
    for p0, p1, length in zip(pins, pins[1:], (CRANK, COUPLER, ROCKER), strict=False):
        mass, rod, centre = LINE_DENSITY * length, p1 - p0, (p0 + p1) / 2
        slope = ca.jacobian(rod, x)
        turn = (rod[0] * slope[1] - rod[1] * slope[0]) / length**2
        kinetic += mass / 2 * (ca.sumsqr(ca.jacobian(centre, x)) + length**2 / 12 * turn**2) * w**2
        potential += mass * G * centre[1]
    inertia = ca.hessian(kinetic, w)[0]
    forces = ca.jacobian(inertia, x) * w**2 / 2 + ca.jacobian(potential, x)
    return ca.Function("torque", [x, w, a], [inertia * a + forces])


def find_least_effort(begin, end, longest, shortest, steps=60, rate=0.0):
    """Return the least effort in a free time, at a rate at both ends, by Hermite-Simpson steps."""
    program = ca.Opti()
    T, X = program.variable(), program.variable(3, 2 * steps + 1)
    q, v, a, h = X[0, :], X[1, :], X[2, :], T / steps
    i, m, j = slice(0, -2, 2), slice(1, None, 2), slice(2, None, 2)
    program.subject_to(q[j] == q[i] + h * v[i] + h**2 / 6 * (a[i] + 2 * a[m]))
    program.subject_to(q[m] == q[i] + h / 2 * v[i] + h**2 / 96 * (7 * a[i] + 6 * a[m] - a[j]))
    program.subject_to(v[j] == v[i] + h / 6 * (a[i] + 4 * a[m] + a[j]))
    program.subject_to(v[m] == v[i] + h / 24 * (5 * a[i] + 8 * a[m] - a[j]))
    program.subject_to(ca.vertcat(q[0], v[0], q[-1], v[-1]) == ca.DM([begin, rate, end, rate]))
    program.subject_to(program.bounded(shortest, T, longest))
    weights = np.where(np.arange(2 * steps + 1) % 2, 4.0, 2.0)
    weights[[0, -1]] = 1.0
    torques = torque_of_crank().map(2 * steps + 1)(q, v, a)
    program.minimize(h / 6 * ca.dot(ca.DM(weights).T, torques**2))
    program.set_initial(q, np.linspace(begin, end, 2 * steps + 1))
    program.set_initial(T, longest / 2)
    program.solver("ipopt", {"print_time": 0}, {"print_level": 0, "sb": "yes", "tol": 1e-11})
    return float(program.solve().value(program.f))


def linkage(angle, closing=PointOnLine, coordinates="relative", stopped=False):
    """Return the linkage with its crank at an angle, its torque an input, with a stop there."""
    lower, upper = (tuple(np.asarray(ca.DM(x)).ravel()) for x in place_pins(angle))
    places = [(0.0, 0.0), lower, upper, (GROUND_LINK, 0.0)]
    names = "crank", "coupler", "rocker"
    links = [four_bar.rod(*x) for x in zip(names, places, places[1:], strict=False)]
    crank, coupler, rocker = links

    def pin(k, body):
        return Frame.at(body, (*places[k], 0.0))

    joints = [
        Revolute("crank pin", pin(0, GROUND), pin(0, crank)),
        Revolute("lower pin", pin(1, crank), pin(1, coupler)),
        Revolute("rocker pin", pin(3, GROUND), pin(3, rocker)),
        closing("upper pin", pin(2, coupler), pin(2, rocker)),
    ]
    motor = AppliedTorque("motor", Frame(crank), (0, 0, Parameter("torque", 0.0)))
    forwards = (-np.cos(angle), -np.sin(angle), 0.0)
    stop = PlaneContact("stop", Frame(GROUND, (*lower, 0.0), forwards), pin(1, crank))
    elements = [motor, stop] if stopped else [motor]
    return assemble(Mechanism(links, joints, coordinates), elements, gravity=GRAVITY)


def find_end(begin, end, coordinates):
    """Return the coordinates of the linkage, stated with its crank at ``begin``, at ``end``."""
    first, last = (linkage(x, coordinates="absolute").stated_start()[0] for x in (begin, end))
    if coordinates == "absolute":
        return last
    angles = [2 * np.arctan2(x.reshape(3, 7)[:, 6], x.reshape(3, 7)[:, 3]) for x in (first, last)]
    crank, coupler, rocker = (angles[1] - angles[0] + np.pi) % (2 * np.pi) - np.pi
    return np.array([crank, coupler - crank, rocker])


def state(d, begin, end, coordinates):
    """Return conditions from rest to rest, the posture at the end by the crank, and a guess."""
    q0, q1 = d.stated_start()[0], find_end(begin, end, coordinates)
    own = 1 if coordinates == "relative" else 2  # coordinates that tell the angle of the crank
    given = np.where(np.arange(d.nq) < own, q1, np.nan)
    rest = np.zeros(d.nv)
    return [StartAt(q0, rest), EndAt(given, rest)], Quintic(q0, q1)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("closing", "coordinates", "error"),
    [
        (PointOnLine, "relative", 2e-4),
        (Revolute, "relative", 2e-4),
        (PointOnLine, "absolute", 3e-4),
    ],
    ids=["relative", "over-constrained", "absolute"],
)
def test_a_linkage_moves_as_its_one_freedom_does(closing, coordinates, error):
    d, T = linkage(0.0, closing, coordinates), 0.5
    conditions, guess = state(d, 0.0, 1.2, coordinates)
    phase = MotionPhase(d, Horizon(T, 10), [EFFORT], conditions, guess, ["torque"])
    best = optimize_phases([phase])
    assert best.completed
    assert best.objective == pytest.approx(find_least_effort(0.0, 1.2, T, T), rel=error)


@pytest.mark.slow
def test_two_phases_of_a_linkage_are_one():
    """The border is free, so nothing but the number of nodes is new."""
    d, T = linkage(0.0), 0.5
    (start, end), guess = state(d, 0.0, 1.2, "relative")
    middle = Quintic(guess.start, 0.5 * (guess.start + guess.end))
    phases = [
        MotionPhase(d, Horizon((0.1, 0.4), 8), [EFFORT], [start], middle, ["torque"]),
        MotionPhase(d, Horizon((0.1, 0.4), 8), [EFFORT], [end], Quintic(end=guess.end), ["torque"]),
    ]
    best = optimize_phases(phases, duration=T)
    assert best.completed
    assert best.objective == pytest.approx(find_least_effort(0.0, 1.2, T, T), rel=1e-4)


@pytest.mark.slow
def test_a_crank_turns_as_before():
    """After a turn the linkage is closed as at its start, whatever the angles count."""
    T, rate, turn = 0.8, 12.0, np.array([1.0, -1.0, 0.0]) * 2 * np.pi
    d = linkage(0.0)
    start = StartAt(d.stated_start()[0], [rate, np.nan, np.nan])
    shares = np.linspace(0, 1, 13)
    postures = [find_end(0.0, 2 * np.pi * x, "relative") for x in shares]
    ways = Through(np.unwrap(postures, axis=0).tolist(), shares)
    phase = MotionPhase(d, Horizon(T, 40), [EFFORT], [start], ways, ["torque"])
    best = optimize_phases([phase], periodic=Periodic(turn))
    assert best.completed, best.stop_reason
    least = find_least_effort(0.0, 2 * np.pi, T, T, rate=rate)
    assert best.objective == pytest.approx(least, rel=1e-3)


@pytest.mark.slow
def test_a_linkage_loses_its_motion_to_a_stop():
    """It has one freedom, so an impact without restitution takes all of its kinetic energy."""
    d, rest = linkage(BEGIN, stopped=True), np.zeros(3)
    begin, closed = find_end(BEGIN, END, "relative"), d.stated_start()[0]
    fall = MotionPhase(
        d,
        Horizon(0.3, 10),
        [EFFORT],
        [StartAt(begin, rest)],
        Quintic(begin, closed),
        ["torque"],
        modes={"stop": Open()},
    )
    stand = MotionPhase(
        d,
        Horizon(0.1, 6),
        [EFFORT],
        [],
        Quintic(end=closed),
        ["torque"],
        modes={"stop": Sliding()},
    )
    best = optimize_phases([fall, stand])
    assert best.completed
    before, after = (x["v"].values[k] for x, k in zip(best.phases, (-1, 0), strict=True))
    assert after == pytest.approx(rest, abs=1e-9)
    angle = BEGIN + best.phases[0]["q"].values[-1, 0]
    inertia = float(torque_of_crank()(angle, 0, 1) - torque_of_crank()(angle, 0, 0))
    lost = json.loads(best.phases[1].data.attrs["impact_loss"])["stop"]
    assert lost == pytest.approx(inertia * before[0] ** 2 / 2, rel=1e-6)
    assert lost > 1e-2


def test_a_given_posture_that_opens_a_loop_is_refused():
    d = linkage(0.0)
    (start, _), guess = state(d, 0.0, 1.2, "relative")
    open_end = EndAt([1.2, -1.0, 0.5], np.zeros(3))
    phase = MotionPhase(d, Horizon(0.5, 10), [EFFORT], [start, open_end], guess, ["torque"])
    with pytest.raises(ValueError, match="opens joint 'upper pin' by 0"):
        optimize_phases([phase])


def test_friction_where_a_loop_is_closed_is_refused():
    d = linkage(0.0)
    pin = d.mechanism.joints[3]
    friction = TurnFriction("rub", *pin.frames, ViscousLaw(0.1))
    rubbing = assemble(d.mechanism, [*d.elements, friction], gravity=GRAVITY)
    conditions, guess = state(d, 0.0, 1.2, "relative")
    phase = MotionPhase(rubbing, Horizon(0.5, 10), [EFFORT], conditions, guess, ["torque"])
    with pytest.raises(ValueError, match="joint 'upper pin' has friction and closes a loop"):
        optimize_phases([phase])


@pytest.mark.parametrize("coordinates", ["absolute", "relative"])
def test_a_drive_without_a_coordinate_is_refused(coordinates):
    mass = Body("mass", 1.0, point_mass=True)
    slide = Prismatic("slide", Frame(GROUND), Frame(mass))
    d = assemble(Mechanism([mass], [slide], coordinates, [Actuator("slide")]), [])
    phase = MotionPhase(d, Horizon(0.5, 10), [Effort()], [], Quintic(np.zeros(3), np.ones(3)))
    with pytest.raises(ValueError, match="joint 'slide' has an actuator and no coordinate of its"):
        optimize_phases([phase])


@pytest.mark.slow
def test_a_linkage_rests_on_its_stop_and_then_leaves_it():
    """The stop carries it for nothing, so it waits, and moves in the time that suits it best."""
    d, T, hardly = linkage(BEGIN, stopped=True), 4.0, 1e-8
    conditions, guess = state(d, BEGIN, END, "relative")
    load = JointLoad(joints=["upper pin"], force=1.0, weight=hardly)
    best = optimize(d, Horizon(T, 40), [EFFORT, load], conditions, guess, inputs=["torque"])
    assert best.completed
    assert best.data.attrs["contact_sequence"] == "stop touches; no contact"
    assert best.objective == pytest.approx(find_least_effort(BEGIN, END, T, 0.05), rel=2e-4)
    # What the upper pin bears turns the rocker, beside its weight.
    t, q, a, force = (best[x].values for x in ("time", "q", "acceleration", "joint_reaction"))
    force = force[1:, 3, :2]
    arms = 2 * np.array([np.asarray(d.poses(x, 0 * x, d.values())[0])[:2, 2] for x in q])
    arms = arms[1:] - [2 * GROUND_LINK, 0.0]
    weight = -LINE_DENSITY * ROCKER * G * arms[:, 0] / 2
    moment = LINE_DENSITY * ROCKER**3 / 3 * a[1:, 2] - weight
    turned = arms[:, 0] * force[:, 1] - arms[:, 1] * force[:, 0]
    within = np.arange(1, len(t)) < len(t) - 1
    assert turned[within] == pytest.approx(moment[within], abs=1e-6)
    # The same force as the cost has it; where the linkage leaves its stop both sides count.
    squares, own = np.sum(force**2, axis=1), t[1:] > best.data.attrs["borders"][1] + 1e-9
    waits = squares[0] * best.data.attrs["borders"][1]
    moves = np.trapezoid(squares[own], t[1:][own])
    cost = json.loads(best.data.attrs["detailed_cost"])["JointLoad"] / hardly
    first = t[1:][own][0] - best.data.attrs["borders"][1]
    assert cost == pytest.approx(waits + moves + squares[own][0] * first, rel=1e-2)
