"""Motions in phases that end as they begin: against closed forms, and an ideal joint."""

from dataclasses import dataclass, replace

import numpy as np
import pytest
from scipy.optimize import minimize

from nsopt import (
    GROUND,
    Actuator,
    AppliedTorque,
    Body,
    ContactLaw,
    Frame,
    Mechanism,
    Parameter,
    Planar,
    PlaneContact,
    Prismatic,
    Revolute,
    assemble,
)
from nsopt.problem import load_optimization
from nsopt.trajectory import (
    Cost,
    Effort,
    EndAt,
    Horizon,
    InputEffort,
    MotionPhase,
    Open,
    Periodic,
    Quintic,
    Sliding,
    StartAt,
    Sticking,
    Straight,
    Through,
    optimize,
    optimize_phases,
)

E, T = 0.5, 2.0  # restitution, period [s]
G = (0.0, -9.81, 0.0)


def cart():
    """Return 1 kg on a rail before a wall at x = 0."""
    body = Body("cart", 1.0, (1.0, 1.0, 1.0))
    wall = PlaneContact("wall", Frame(GROUND), Frame(body), law=ContactLaw(restitution=E))
    rail = Prismatic("rail", Frame(GROUND), Frame(body))
    return assemble(Mechanism([body], [rail], "relative", [Actuator("rail")]), [wall])


def least_cost():
    """Return the least integral of a^2 from 1 m to the wall and back as fast: two cubics."""

    def cubic(h, v0, v1):
        """Of a way of -1 m within h."""
        return 4 / h * (v0**2 + v0 * v1 + v1**2) + 12 / h**2 * (v0 + v1) + 12 / h**3

    def cost(x):
        t, struck, passed = x
        return cubic(t, passed, -struck) + cubic(T - t, -passed, -E * struck)

    return minimize(cost, (0.9, 1.5, 0.1), tol=1e-12).fun


def test_a_blow_comes_again():
    """The period begins on the way out, 0.5 m from the wall."""
    d, away, free = cart(), {"wall": Open()}, [np.nan]
    parts, costs = Horizon((0.1, 1.8), 8), [Effort()]
    out, back, struck = (Straight([x], [y]) for x, y in ((0.5, 1.0), (1.0, 0.0), (0.0, 0.5)))
    ends, strike = [StartAt([0.5], free), EndAt([1.0], free)], {"wall": Sliding()}
    phases = [
        MotionPhase(d, parts, costs, ends, out, modes=away),
        MotionPhase(d, parts, costs, [], back, modes=away),
        MotionPhase(d, parts, costs, [], struck, modes=away, strikes=strike),
    ]
    best = optimize_phases(phases, duration=T, periodic=Periodic())
    assert best.completed, best.stop_reason
    assert best.objective == pytest.approx(least_cost(), rel=1e-8)
    begin, end = (best.phases[k]["v"].values[k, 0] for k in (0, -1))
    assert begin == pytest.approx(end, abs=1e-10)
    assert begin > 0.1


def test_a_blow_comes_again_by_the_plain_call():
    stated = load_optimization("bounce")
    touches = stated.conditions[-1]
    conditions = [StartAt([1.0], [np.nan]), Periodic(), touches]
    best = replace(stated, conditions=conditions).solve({"restitution": E}, 20)
    assert best.completed, best.stop_reason
    assert "not_exact" not in best.data.attrs
    assert best.objective == pytest.approx(least_cost(), rel=1e-6)


def rod(joint):
    """Return a rod that stands on its tip, 1 m below its centre, and has a torque."""
    body = Body("rod", 2.0, (0.3, 0.3, 0.3), position=(0.0, 1.0, 0.0))
    motor = AppliedTorque("motor", Frame(body), (0, 0, Parameter("torque", 0.0)))
    tip, ground = Frame(body, (0.0, -1.0, 0.0)), Frame(GROUND)
    if joint is Revolute:
        return assemble(Mechanism([body], [Revolute("tip", ground, tip)], "relative"), [motor], G)
    up = Frame(GROUND, axes=((1.0, 0, 0), (0, 0, 1.0), (0, -1.0, 0)))  # z along y, x along x
    foot = PlaneContact("foot", up, tip, planar=True, law=ContactLaw(friction=5.0))
    plane = Planar("plane", Frame(GROUND), Frame(body))
    return assemble(Mechanism([body], [plane], "relative"), [motor, foot], G)


@pytest.mark.parametrize("along", [0.0, np.nan], ids=["given", "free"])
def test_what_sticks_all_along_is_a_joint(along):
    """Whether the foot is to end where it begins is said by the period, or by sticking alone."""
    costs, parts, angle = [InputEffort(input="torque")], Horizon(0.4, 12), 0.1
    pinned = optimize(
        rod(Revolute),
        Horizon(0.8, 24),
        costs,
        [StartAt([angle], [np.nan]), Periodic()],
        Quintic([angle], [angle]),
        inputs=["torque"],
    )
    q, free = [-np.sin(angle), np.cos(angle) - 1, angle], [np.nan] * 3
    start, guess = [StartAt([np.nan, np.nan, angle], free)], Quintic(q, q)
    stands = {"foot": Sticking()}
    phases = [
        MotionPhase(rod(Planar), parts, costs, x, guess, ["torque"], modes=stands)
        for x in (start, [])
    ]
    best = optimize_phases(phases, periodic=Periodic([along, 0.0, 0.0]))
    assert best.completed, best.stop_reason
    assert pinned.objective > 1
    assert best.objective == pytest.approx(pinned.objective, rel=1e-4)


def test_a_period_is_a_condition():
    phase = MotionPhase(cart(), Horizon(T, 8), [Effort()], [], Quintic([1.0], [1.0]))
    with pytest.raises(TypeError, match=r"must be Periodic\(\), got True"):
        optimize_phases([phase], periodic=True)
    with pytest.raises(ValueError, match="advance of Periodic"):
        optimize_phases([phase], periodic=Periodic([1.0, 2.0]))


@dataclass(frozen=True)
class OffRate(Cost):
    """The square of how far the spin about z is off one turn in a second."""

    def rate(self, m):
        return (m.v[5] - 2 * np.pi) ** 2


def test_a_free_body_is_as_it_was_after_a_whole_turn():
    """Its Euler parameters have other signs then, its orientation is the same."""
    body, torque = Body("top", 1.0, (1.0, 2.0, 3.0)), Parameter("torque", 0.0)
    spin = AppliedTorque("spin", Frame(body), (0, 0, torque))
    d = assemble(Mechanism([body]), [spin], (0, 0, 0))
    halves = np.linspace(0, np.pi, 9)
    turned = [[0, 0, 0, np.cos(x), 0, 0, np.sin(x)] for x in halves]
    costs = [OffRate(), InputEffort(input="torque", weight=1e-3)]
    conditions = [StartAt(turned[0], np.full(6, np.nan)), Periodic()]
    result = optimize(d, Horizon(1.0, 20), costs, conditions, Through(turned), inputs=["torque"])
    assert result.completed, result.stop_reason
    assert result.objective == pytest.approx(0.0, abs=1e-12)
    assert result["q"].values[-1] == pytest.approx(-np.array(turned[0]), abs=1e-9)
    assert result["v"].values == pytest.approx(np.tile([0, 0, 0, 0, 0, 2 * np.pi], (21, 1)))
