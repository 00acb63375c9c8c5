"""Motions in phases, against optima in closed form."""

import numpy as np
import pytest
from scipy.optimize import minimize

from nsopt import (
    GROUND,
    Actuator,
    Body,
    FirstOrderHold,
    Frame,
    Mechanism,
    PlaneContact,
    Prismatic,
    ZeroOrderHold,
    assemble,
)
from nsopt.trajectory import (
    ActuatorLimits,
    DriveWithin,
    Duration,
    Effort,
    EndAt,
    Horizon,
    MotionPhase,
    Quintic,
    Smoothness,
    StartAt,
    Within,
    optimize,
    optimize_phases,
)
from tests.trajectory.mechanisms import gantry

UNIT = (1.0, 1.0, 1.0)
EFFORT = (Effort(),)
START, END = StartAt([0], [0]), EndAt([1], [0])


def cart(mass=1.0, **limits):
    body = Body("cart", mass, UNIT)
    rail = Prismatic("rail", Frame(None), Frame(body))
    return assemble(Mechanism([body], [rail], "relative", [Actuator("rail", **limits)]))


def phase(conditions, end, duration=1.0, costs=EFFORT, mass=1.0, steps=10, **limits):
    guess = Quintic(None, [end])
    return MotionPhase(cart(mass, **limits), Horizon(duration, steps), costs, conditions, guess)


def test_a_load_that_is_taken_up_on_the_way():
    """1 kg for 0.8 s, then 3 kg for 1.2 s, over 1 m: squared mass times acceleration is linear.

    Where the load is taken up and how fast is free; forces jump, their multipliers do not.
    """
    times, masses = (0.8, 1.2), (1.0, 3.0)
    first = phase([START], 0.3, times[0])
    second = phase([END], 1.0, times[1], mass=masses[1])
    result = optimize_phases([first, second])
    assert result.completed, result.stop_reason

    def motion(c):
        """Position and velocity at the border and the end, and the cost."""
        q = v = begun = cost = 0.0
        states = []
        for T, m in zip(times, masses, strict=True):
            a, j = (c[0] + c[1] * begun) / m**2, c[1] / m**2
            cost += m**2 * (a**2 * T + a * j * T**2 + j**2 * T**3 / 3)
            q, v, begun = (
                q + v * T + a * T**2 / 2 + j * T**3 / 6,
                v + a * T + j * T**2 / 2,
                begun + T,
            )
            states += [q, v]
        return np.array([*states, cost])

    columns = np.array([motion(c)[2:4] for c in np.eye(2)]).T
    known = motion(np.linalg.solve(columns, [1.0, 0.0]))
    border = result.phases[0]["q"].values[-1, 0], result.phases[0]["v"].values[-1, 0]
    assert border == pytest.approx(known[:2], abs=1e-7)
    assert result.phases[1]["q"].values[0] == pytest.approx(known[0], abs=1e-7)
    assert result.objective == pytest.approx(known[4], rel=1e-8)
    drives = [x["drive"].values[k, 0] for x, k in zip(result.phases, (-1, 0), strict=True)]
    assert masses[1] * drives[1] == pytest.approx(masses[0] * drives[0], rel=1e-5)
    sampled = result.sample(0.01)
    assert sampled["time"].values == pytest.approx(np.linspace(0, 2, 201))
    v = sampled["v"].values[:, 0]
    assert np.trapezoid(v, dx=0.01) == pytest.approx(1, abs=1e-4)
    assert sampled["phase"].values.sum() == 121
    times = [1.1, 0.3, 1.7]
    assert result.sample(times=times)["q"].values == pytest.approx(
        sampled["q"].values[[110, 30, 170]]
    )
    with pytest.raises(ValueError, match="within the motion, 0 to 2 s"):
        result.sample(times=[2.5])


def test_a_waypoint_is_passed_at_the_best_time():
    """1 kg through 1 m and back to 0.3 m in 2 s: time and speed there by SciPy, splines between."""
    there = [EndAt([1.0])]
    first = phase([START, *there], 1.0, (0.2, 1.9))
    second = phase([EndAt([0.3], [0.0])], 0.3, (0.2, 1.9))
    result = optimize_phases([first, second], duration=2.0)
    assert result.completed, result.stop_reason

    def cost(x):
        T, v = x
        parts = ((T, 0, v, 1.0), (2 - T, v, 0, -0.7))
        return sum(
            4 * (a**2 + a * b + b**2) / T - 12 * (a + b) * s / T**2 + 12 * s**2 / T**3
            for T, a, b, s in parts
        )

    known = minimize(cost, [1.0, 0.0], tol=1e-12)
    assert result.objective == pytest.approx(known.fun, rel=1e-7)
    border = result.borders[1], result.phases[0]["v"].values[-1, 0]
    assert border == pytest.approx(known.x, abs=1e-4)
    assert result.borders[-1] == pytest.approx(2.0)


@pytest.mark.parametrize("hold", [ZeroOrderHold(), FirstOrderHold()], ids=repr)
def test_held_forces_move_what_phases_move(hold):
    """The motion of 1 kg under forces that are constant, or linear, from row to row."""
    first = phase([START, EndAt([1.0])], 1.0, (0.2, 1.9))
    second = phase([EndAt([0.3], [0.0])], 0.3, (0.2, 1.9))
    best = optimize_phases([first, second], duration=2.0)

    def play(motion):
        t, tau = motion["time"].values, motion["tau"].values[:, 0]
        ends = tau[1:] if isinstance(hold, FirstOrderHold) else tau[:-1]
        h = np.diff(t)
        v = np.cumsum(np.r_[0.0, h * (tau[:-1] + ends) / 2])
        q = np.cumsum(np.r_[0.0, h * v[:-1] + h**2 * (2 * tau[:-1] + ends) / 6])
        return np.abs(q - motion["q"].values[:, 0]).max()

    assert not np.any(np.isclose(best.sample(0.09)["time"].values, best.borders[1]))
    assert play(best.sample(0.09, hold=hold)) < 4e-4
    assert play(best.sample(0.045, hold=hold)) < 4e-5


def test_limits_are_kept_between_nodes_in_each_phase():
    """Fastest over 2 m with 1 N and a slower second half: bang, coast, brake, in closed form."""
    top, slow = 0.9, 0.5
    limits = [DriveWithin("rail", -1, 1), ActuatorLimits()]
    free = {"costs": [Duration()], "steps": 12}
    first = phase([START, EndAt([1.0]), *limits], 1.0, (0.3, 9.0), velocity=top, **free)
    last = [EndAt([2.0], [0.0]), *limits]
    second = phase(last, 2.0, (0.3, 9.0), velocity=slow, **free)
    result = optimize_phases([first, second])
    assert result.completed, result.stop_reason
    for part, most in zip(result.phases, (top, slow), strict=True):
        fine = part.sample(1e-3)
        assert np.abs(fine["v"].values).max() <= most * (1 + 1e-6)
        assert np.abs(fine["tau"].values).max() <= 1 + 1e-6
        assert part.data.attrs["limits_exceeded"] <= 1e-6
        assert part.data.attrs["limits_cost"] == 0  # which part of it this phase has is not known
    assert f"{result.limits_cost:.2g} of it to keep limits within steps" in result.summary()
    # Up to 0.9 m/s and down to 0.5 within the first metre, then on and to rest within the second.
    one = top + (top - slow) + (1 - top**2 / 2 - (top**2 - slow**2) / 2) / top
    two = (1 - slow**2 / 2) / slow + slow
    assert one + two <= result.objective < one + two + 0.1


def test_a_speed_limit_is_kept_where_phases_meet():
    """Two carts in least time by a near waypoint, which one of them passes at its limit."""
    top, effort = np.array([0.942, 1.508]), np.array([94.2, 150.8])
    carts = [Body(f"cart {k}", 1.0, UNIT, position=(0, k, 0)) for k in range(2)]
    rails = [
        Prismatic(f"j{k}", Frame(GROUND, c.position, axes=(1, 0, 0)), Frame(c, axes=(1, 0, 0)))
        for k, c in enumerate(carts)
    ]
    drives = [Actuator(f"j{k}", effort=effort[k], velocity=top[k]) for k in range(2)]
    d = assemble(Mechanism(carts, rails, "relative", drives))
    a, b, c = [1.1229, 2.8986], [1.1244, 2.9330], [1.0981, 2.9330]
    rest, horizon, costs = [0.0, 0.0], Horizon((1e-4, 0.2), steps=5), [Duration()]
    first = [ActuatorLimits(), StartAt(a, rest), EndAt(b)]
    last = [ActuatorLimits(), EndAt(c, rest)]
    result = optimize_phases(
        [
            MotionPhase(d, horizon, costs, first, Quintic(a, b)),
            MotionPhase(d, horizon, costs, last, Quintic(b, c)),
        ]
    )
    assert result.completed, result.stop_reason
    for part in result.phases:
        fine = np.abs(part.sample(1e-5)["v"].values).max(axis=0)
        assert np.all(fine <= top * (1 + 1e-6))
    # From rest to rest, by full force and top speed alone, without turning at the waypoint.
    least = max(0.0344 / top[1], 0.0263 / top[0])
    assert least < result.borders[-1] < 0.066


def test_one_phase_more_changes_nothing():
    """Cut where the optimum of one phase passes, by fixed durations."""
    whole = optimize(cart(), Horizon(2.0, 20), [Effort()], [START, END], Quintic())
    parts = optimize_phases([phase([START], 0.5), phase([END], 1.0)])
    assert parts.objective == pytest.approx(whole.objective, rel=1e-9)
    nodes = np.concatenate([parts.phases[0]["q"].values, parts.phases[1]["q"].values[1:]])
    assert nodes == pytest.approx(whole["q"].values, abs=1e-7)


def test_the_phase_at_fault_is_named():
    weak = phase([END, ActuatorLimits()], 1.0, effort=0.1)
    result = optimize_phases([phase([START, EndAt([0.0], [0.0])], 0.0), weak])
    assert not result.completed
    assert result.stop_reason.startswith("phase 1: conditions are violated")
    assert "EndAt: rail.distance is off by" in result.stop_reason
    assert "link of phases is off by" in result.stop_reason


def floor():
    ball = Body("ball", 1.0, point_mass=True)
    contact = PlaneContact("floor", Frame(None), Frame(ball))
    d = assemble(Mechanism([ball], coordinates="relative"), [contact])
    return MotionPhase(d, Horizon(1.0, 4), [Smoothness()], [], Quintic())


@pytest.mark.parametrize(
    ("second", "more", "kind", "message"),
    [
        (
            phase([END], 1.0),
            {"duration": 3.0},
            ValueError,
            "of the phases add up to 2 to 2 s",
        ),
        (phase([StartAt([0.5]), END], 1.0), {}, ValueError, "phase 0 ends with rail.distance at 0"),
        (phase([Within("x", 0, 1)], 1.0), {}, ValueError, "phase 1: Within names 'x'"),
        (floor(), {}, ValueError, "phase 1 has the coordinates ball.x, .* phase 0 has rail"),
        (END, {}, TypeError, "phases of optimize_phases must be MotionPhase, got EndAt"),
        (
            MotionPhase(gantry()[0], Horizon(1.0, 4), [Effort()], [], Quintic()),
            {},
            ValueError,
            "phase 1 has the coordinates along.distance, across.distance",
        ),
    ],
)
def test_phases_that_do_not_fit_are_refused(second, more, kind, message):
    with pytest.raises(kind, match=message):
        optimize_phases([phase([START, EndAt([0.0])], 0.0), second], **more)


def test_contacts_without_modes_and_no_phases_are_refused():
    with pytest.raises(ValueError, match="phase 0: contact 'floor' has no acceleration: ph"):
        optimize_phases([floor(), floor()])
    with pytest.raises(ValueError, match="must be one or more, got none"):
        optimize_phases([])


def test_slow_guesses_do_not_slow_the_fastest_motion():
    """Out and back over 1 m with 1 N, at rest in between, 4 s, from guesses ten times as slow."""
    limit, slow = DriveWithin("rail", -1, 1), Horizon((0.5, 40.0), 20)

    def part(conditions, end):
        guess = Quintic(None, [end], 20.0)
        return MotionPhase(cart(), slow, [Duration()], [*conditions, limit], guess)

    result = optimize_phases([part([START, END], 1.0), part([EndAt([0], [0])], 0.0)])
    assert result.completed, result.stop_reason
    assert 4 <= result.objective < 4.1
