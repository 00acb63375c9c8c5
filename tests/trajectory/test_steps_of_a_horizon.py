"""Steps of a horizon: energy, forces, what swings in bores, sizes of steps."""

from dataclasses import dataclass, replace

import casadi as ca
import numpy as np
import pytest

from nsopt import (
    GROUND,
    Actuator,
    Body,
    Composition,
    Frame,
    Ipopt,
    Mechanism,
    MoreauJean,
    Revolute,
    Solver,
    Start,
    StepBounds,
    Variational,
    assemble,
    simulate,
)
from nsopt.problem import load_optimization
from nsopt.trajectory import (
    IN_STEPS,
    BaseReaction,
    Cost,
    Duration,
    Earlier,
    EndAt,
    EvenSteps,
    Horizon,
    Quintic,
    Simulated,
    Smoothness,
    StartAt,
    optimize,
)
from tests.trajectory.lifted import ARM, PENDULUM, held, lifted, on_an_ideal_hinge


@pytest.mark.slow
def test_with_places_ahead_motions_tend_to_those_of_ideal_joints():
    """As the step and the clearance fall; what rattles at no cost would end 1 % above.

    On an ideal hinge bodies go along arcs, on a worn one along chords: apart by order h^2.
    """
    off, apart = [], []
    for steps in (49, 98):  # from 100 on another solver of linear systems
        ideal = lifted(ARM, None, steps, scheme=Variational())
        worn = lifted(ARM, 1e-5, steps, scheme=Variational(normal_implicitness=0.5))
        turned = worn["q"].values[:, [2, 5]] - ideal["q"].values
        off.append([ideal.objective - held(worn), np.abs(turned).max()])
        apart.append(turned)
    without_steps = (4 * apart[1][::2] - apart[0]) / 3
    assert abs(off[0][0]) < 0.01
    assert np.abs(without_steps).max() < 5e-4
    assert np.all(np.abs(off[1]) < np.abs(off[0]) / 2)


@pytest.mark.parametrize("scheme", [Variational(), MoreauJean()])
def test_energy_is_work_to_second_order(scheme):
    """The work of torques becomes energy of the motion, but for an error of order h^2."""
    gained = [
        np.abs(lifted(PENDULUM, None, n, scheme=scheme)["dissipated_energy"].values).max()
        for n in (25, 50)
    ]
    assert gained[0] < 0.02
    assert gained[0] / gained[1] == pytest.approx(4, rel=0.01)


@dataclass(frozen=True, kw_only=True)
class Uneven(Cost):
    """Steps of half the mean up to 0.2 s, of one and a half times it afterwards."""

    def rate(self, m):
        if m.stepped.next_h.is_zero():
            return ca.SX(0)
        return 100 * (m.stepped.next_h / m.stepped.mean_h - 0.5 - (m.t > 0.2)) ** 2


def test_energy_is_work_where_steps_change_their_size():
    """Three times as long from the middle on: what acts at that node acts over both kinds."""
    T, gained = PENDULUM[3], []
    for n in (24, 48):
        bounds = StepBounds(T / n / 2, 3 * T / n / 2)
        options = {"scheme": Variational(), "more": [Uneven()], "breaks": [0.5]}
        result = lifted(PENDULUM, None, n, bounds, **options)
        h = np.diff(result["time"].values)
        assert h[-1] / h[0] == pytest.approx(3, rel=1e-3)
        gained.append(np.abs(result["dissipated_energy"].values).max())
    assert gained[0] / gained[1] == pytest.approx(4, rel=0.02)


@pytest.mark.slow
def test_a_motion_on_half_the_steps_is_a_start():
    """Contacts are settled there: it is short from there, and ends at the same motion."""
    scheme = Variational(normal_implicitness=0.5)
    coarse, cold = (lifted(ARM, 1e-3, n, scheme=scheme) for n in (50, 100))
    warm = lifted(ARM, 1e-3, 100, scheme=scheme, guess=Earlier(coarse))
    assert held(warm) == pytest.approx(held(cold), rel=1e-6)
    counts = [x["iterations"].values[1:].sum() for x in (warm, cold)]
    assert counts[0] < 0.7 * counts[1]


@pytest.mark.slow
def test_steps_of_free_size():
    T, n = PENDULUM[3], 50
    result = lifted(PENDULUM, 1e-3, n, StepBounds(0.5 * T / n, 2 * T / n))
    ideal = on_an_ideal_hinge().objective
    assert held(result) == pytest.approx(ideal, rel=0.03)
    h = np.diff(result["time"].values)
    assert h.min() >= 0.5 * T / n - 1e-9
    assert h.max() <= 2 * T / n + 1e-9


def test_steps_that_are_free_may_be_asked_to_be_even():
    """The share of their unevenness is that of the steps found; the motion is that of even ones."""
    T, n = PENDULUM[3], 50
    bounds = StepBounds(0.5 * T / n, 2 * T / n)
    result = lifted(PENDULUM, 1e-3, n, bounds, more=[EvenSteps(weight=100.0)])
    cost = held(result) - result.detailed_cost["EvenSteps"]
    h = np.diff(result["time"].values)
    square = (h * n / T - 1) ** 2
    unevenness = np.sum(square * (h + np.append(0, h[:-1])) / 2)  # what is of a node, is of both
    assert result.detailed_cost["EvenSteps"] == pytest.approx(100 * unevenness, rel=1e-6)
    assert 0 < unevenness < 1e-3
    assert cost == pytest.approx(on_an_ideal_hinge().objective, rel=0.03)


@pytest.mark.slow
def test_free_steps_put_a_node_where_contact_changes():
    """By cross complementarity: 100.35 in closed form, a force held over a step costs more."""
    stated, rise = load_optimization("lift"), np.sqrt(6 / 9.81)
    closed = 48 / rise**3
    above = []
    for n in (10, 20):
        result = replace(stated, plan=IN_STEPS).solve(steps=n)
        held(result)
        above.append(result.objective / closed - 1)
        t, pressed = result["time"].values, result["impulse"].values[:, 0] > 1e-6
        assert t[pressed][-1] == pytest.approx(2 - rise, abs=1e-3)
        h = np.diff(t)
        assert h.min() >= 0.2 * 2 / n - 1e-9
        assert h.max() <= 5 * 2 / n + 1e-9
    assert 0 < above[1] < above[0] / 3
    assert above[1] < 1e-3
    assert stated.solve().objective == pytest.approx(closed, rel=1e-9)


def test_even_steps_need_a_duration_that_is_given():
    links, start, end, _ = PENDULUM
    with pytest.raises(ValueError, match="EvenSteps needs a Horizon of given duration"):
        lifted((links, start, end, (0.5, 1.0)), 1e-3, 20, more=[EvenSteps(), Duration()])


@pytest.mark.parametrize("normal_implicitness", [0.0, 0.5, 1.0])
def test_contact_forces_on_record_are_those_that_move_the_body(normal_implicitness):
    """By the second differences of the place of its centre of mass, and gravity."""
    result = lifted(PENDULUM, 1e-3, 40, scheme=Variational(normal_implicitness=normal_implicitness))
    held(result)
    h = np.diff(result["time"].values)[:, None]
    rate = np.diff(result["body_position"].values[:, 0], axis=0) / h
    force = np.diff(rate, axis=0) / h[1:] + [0.0, 9.81, 0.0]  # of 1 kg
    recorded = result["contact_force"].values[2:, 0]
    assert np.abs(force).max() > 10
    assert recorded == pytest.approx(force, abs=0.03)


def swung(cost, steps, scheme):
    """An arm of two links from rest to rest in half a second, its hinges driven."""
    upper = Body("upper", 1.0, (0.02, 0.02, 0.02), (0.0, -0.2, 0.0))
    lower = Body("lower", 0.5, (0.01, 0.01, 0.01), (0.0, -0.5, 0.0))
    knee = [Frame.at(body, (0.0, -0.4, 0.0)) for body in (upper, lower)]
    hip = Revolute("hip", Frame(GROUND), Frame.at(upper, (0.0, 0.0, 0.0)))
    drives = [Actuator("hip"), Actuator("knee")]
    linked = Mechanism([upper, lower], [hip, Revolute("knee", *knee)], "relative", drives)
    d = assemble(linked, gravity=(0.0, -9.81, 0.0))
    here, there, rest = np.zeros(2), np.array([1.5, -1.5]), np.zeros(2)
    ends, guess = [StartAt(here, rest), EndAt(there, rest)], Quintic(here, there)
    result = optimize(d, Horizon(0.5, steps), [cost], ends, guess, scheme=scheme)
    assert result.completed, result.stop_reason
    return result


def test_accelerations_are_those_of_the_motion():
    """Where the inertia changes on the way too: the least integral of their square is known."""
    known = 12 * 2 * 1.5**2 / 0.5**3
    runs = [swung(Smoothness(), n, Variational()) for n in (25, 50)]
    off = [abs(result.objective - known) for result in runs]
    assert off[1] < 1e-3 * known
    assert off[0] / off[1] == pytest.approx(4, rel=0.1)
    q, h = runs[1]["q"].values, 0.01
    second = np.diff(q, 2, axis=0) / h**2
    assert runs[1]["acceleration"].values[1:-1] == pytest.approx(second, abs=1.0)  # of 36


def test_reactions_that_cost_are_those_of_inverse_dynamics():
    cost = Smoothness() + BaseReaction(joint="hip", force=1.0, torque=np.inf, weight=1e-6)
    stepped, known = (
        swung(cost, 50, x).detailed_cost["BaseReaction"] for x in (Variational(), None)
    )
    assert stepped == pytest.approx(known, rel=3e-3)


@pytest.mark.slow
def test_composition_is_its_simulation_and_of_fourth_order():
    """Two links let go: from its start there is one motion, whatever the cost."""
    upper = Body("upper", 1.0, (0.02, 0.02, 0.02), (0.0, -0.2, 0.0))
    lower = Body("lower", 0.5, (0.01, 0.01, 0.01), (0.0, -0.5, 0.0))
    knee = [Frame.at(body, (0.0, -0.4, 0.0)) for body in (upper, lower)]
    hip = Revolute("hip", Frame(GROUND), Frame.at(upper, (0.0, 0.0, 0.0)))
    linked = Mechanism([upper, lower], [hip, Revolute("knee", *knee)], "absolute")
    d = assemble(linked, gravity=(0.0, -9.81, 0.0))
    q, _ = d.stated_start()
    v = np.array([0.6, 0, 0, 0, 0, 3.0, 1.3, 0, 0, 0, 0, 1.0])
    gained = []
    for n in (10, 20):
        steps = StepBounds(0.5 / n, 0.5 / n)
        options = {"steps": steps, "scheme": Composition(), "progress": False}
        simulated = simulate(d, Start(q, v), 0.5, **options)
        conditions, guess = [StartAt(q, v)], Simulated(simulated)
        stated = (d, Horizon(0.5, n), [Duration()], conditions, guess)
        tight = Solver(backend=Ipopt(tol=1e-10, constr_viol_tol=1e-10))
        result = optimize(*stated, scheme=Composition(), solver=tight)
        assert result.completed, result.stop_reason
        assert result["q"].values == pytest.approx(simulated["q"].values, abs=1e-9)
        gained.append(np.abs(result["dissipated_energy"].values).max())
    assert gained[0] / gained[1] == pytest.approx(16, rel=0.05)
