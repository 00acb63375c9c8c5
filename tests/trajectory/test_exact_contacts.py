"""Optima through contact, exact in their sequence of contact, against closed forms."""

from dataclasses import dataclass, replace

import numpy as np
import pytest
from scipy.optimize import minimize, minimize_scalar

from nsopt import (
    GROUND,
    Actuator,
    AppliedForce,
    Body,
    ContactLaw,
    Frame,
    Mechanism,
    Parameter,
    PlaneContact,
    Prismatic,
    Result,
    assemble,
)
from nsopt.problem import load_optimization
from nsopt.trajectory import (
    EXACT_CONTACTS,
    PLAN,
    ContactPhase,
    Cost,
    Effort,
    EndAt,
    ExactContacts,
    Horizon,
    ImpactEnergy,
    InputEffort,
    Open,
    Periodic,
    Quintic,
    Sliding,
    StartAt,
    Straight,
    Through,
    optimize,
)

G = 9.81


def lift(steps=25, plan=EXACT_CONTACTS):
    """1 kg at rest on a floor, lifted to 1 m within 2 s; the floor bears it until it goes."""
    mass = Body("mass", 1.0, (1.0, 1.0, 1.0))
    rail = Prismatic("rail", Frame(GROUND), Frame(mass))
    floor = PlaneContact("floor", Frame(GROUND), Frame(mass))
    mechanism = Mechanism([mass], [rail], "relative", [Actuator("rail")])
    d = assemble(mechanism, [floor], gravity=(0, 0, -G))
    ends = [StartAt([0.0], [0.0]), EndAt([1.0], [np.nan])]
    return optimize(d, Horizon(2.0, steps), [Effort()], ends, Quintic([0.0], [1.0]), plan=plan)


@pytest.mark.parametrize("steps", [25, 60])
def test_a_lift_waits_until_it_must_go(steps):
    """48 H^2 / tau^3 with tau = sqrt(6 H / g); in steps 4 to 31 % above, on every grid."""
    result, tau = lift(steps), np.sqrt(6 / G)
    assert result.completed
    assert result.objective == pytest.approx(48 / tau**3, rel=1e-9)
    assert result.data.attrs["borders"] == pytest.approx([0, 2 - tau, 2], abs=1e-6)
    assert result.data.attrs["contact_sequence"] == "floor touches; no contact"
    # The floor bears the weight, then nothing.
    pressed = result["time"].values[1:] < 2 - tau + 1e-6
    force = result["contact_force"].values[1:, 0, 2]
    assert force[pressed] == pytest.approx(G, rel=1e-6)
    assert force[~pressed] == pytest.approx(0.0, abs=1e-12)


@dataclass(frozen=True, kw_only=True)
class Miss(Cost):
    """(v(T) - 5/3)^2 and the integral of v^2 [Stewart, Anitescu 2010, Numer. Math. 114]."""

    def rate(self, m):
        return m.v[0] ** 2

    def final(self, m):
        return (m.v[0] - 5 / 3) ** 2


def sled(force, mu):
    """1 kg on a floor, drawn along."""
    body = Body("sled", 1.0, point_mass=True)
    law = ContactLaw(friction=mu)
    floor = PlaneContact("floor", Frame(GROUND), Frame(body), law=law, planar=True)
    draw = AppliedForce("draw", Frame(body), (force, 0.0, 0.0))
    return assemble(Mechanism([body], coordinates="relative"), [floor, draw], gravity=(0, 0, -G))


def test_friction_that_turns_round():
    """From v0 < 0 by 3 m/s^2 to rest, on by 1 m/s^2: the best v0 of that."""

    def cost(v0):
        stops, end = -v0 / 3, 2 + v0 / 3
        return (end - 5 / 3) ** 2 + v0**2 * stops / 3 + end**3 / 3

    best = minimize_scalar(cost, bounds=(-2, -1), method="bounded", options={"xatol": 1e-12})
    t = np.linspace(0, 2, 41)
    v = np.where(t < 0.47, 3 * t - 1.4, t - 1.4 / 3)
    x = np.append(0, np.cumsum(v[1:] + v[:-1]) / 40)
    guess, start = (
        Through([[k, 0, 0] for k in x], list(t / 2)),
        StartAt(np.zeros(3), [np.nan, 0, 0]),
    )
    horizon = Horizon(2.0, 20)
    d = sled(2.0, 1 / G)
    result = optimize(d, horizon, [Miss()], [start], guess, plan=EXACT_CONTACTS)
    assert result.completed
    assert result.objective == pytest.approx(best.fun, rel=1e-8)
    assert result["v"].values[0, 0] == pytest.approx(best.x, abs=1e-5)
    assert result.data.attrs["borders"][1] == pytest.approx(-best.x / 3, abs=1e-5)
    assert result.data.attrs["contact_sequence"] == "floor slides backwards; floor slides forwards"


def test_a_sled_stands_before_it_is_drawn():
    """1 m within 2 s to a speed of 1 m/s: it sticks while drawing would cost more."""
    mu = 0.9

    def cost(tau):
        way = 12 / tau**3 - 12 / tau**2 + 4 / tau
        return way + 2 * mu * G + (mu * G) ** 2 * tau

    best = minimize_scalar(cost, bounds=(0.2, 2), method="bounded", options={"xatol": 1e-12})
    d = sled(Parameter("force", 0.0), mu)
    ends = [StartAt(np.zeros(3), np.zeros(3)), EndAt([1.0, 0, 0], [1.0, 0, 0])]
    guess = Straight(np.zeros(3), [1.0, 0, 0])
    result = optimize(
        *(d, Horizon(2.0, 24), [InputEffort(input="force")], ends, guess),
        inputs=["force"],
        plan=EXACT_CONTACTS,
    )
    assert result.completed
    assert result.objective == pytest.approx(best.fun, rel=1e-7)
    assert result.data.attrs["contact_sequence"] == "floor sticks; floor slides forwards"
    assert result.data.attrs["borders"][1] == pytest.approx(2 - best.x, abs=1e-4)


@pytest.fixture(scope="module")
def bounced():
    bounce = replace(load_optimization("bounce"), plan=EXACT_CONTACTS)
    return bounce, bounce.solve({"restitution": 0.5}, 20, verify=True)


def test_a_cart_rebounds(bounced, tmp_path):
    """Two cubic ways, the second from half of the speed of the first: the best of them."""

    def cost(x):
        T, v = x
        to = 12 / T**3 - 12 * v / T**2 + 4 * v**2 / T
        back, rest = v / 2, 2 - T
        return to + 12 / rest**3 - 12 * back / rest**2 + 4 * back**2 / rest

    best = minimize(
        cost, [0.9, 1.8], method="Nelder-Mead", options={"xatol": 1e-11, "fatol": 1e-13}
    )
    result = bounced[1]
    assert result.completed
    assert result.objective == pytest.approx(best.fun, rel=1e-9)
    struck = int(np.argmax(result["impact_impulse"].values[1:, 0])) + 1
    assert result["time"].values[struck] == pytest.approx(best.x[0], abs=1e-6)
    assert result["impact_impulse"].values[struck, 0] == pytest.approx(1.5 * best.x[1], abs=1e-6)
    assert result["v"].values[struck, 0] == pytest.approx(best.x[1] / 2, abs=1e-6)
    # What the wall takes is what the drive gives.
    taken = (1 - 0.5**2) * best.x[1] ** 2 / 2
    assert result["dissipated_energy"].values[-1] == pytest.approx(taken, abs=1e-6)
    assert result["external_work"].values[-1] == pytest.approx(taken, abs=1e-6)
    # Simulated as one run, rebound included.
    assert result.data.attrs["resimulated_until"] == pytest.approx(2.0)
    assert result.data.attrs["resimulated_defect"] < 1e-3
    result.save(tmp_path / "bounce.nc")
    assert Result.open(tmp_path / "bounce.nc").objective == result.objective


def test_an_exact_optimum_has_no_derivatives_of_the_program_in_steps(bounced):
    bounce, result = bounced
    with pytest.raises(ValueError, match="optimum of another program"):
        bounce.cost_gradient(result)


def test_a_sequence_that_is_given():
    """Let go 0.2 s after it was read off, the best time is found all the same; or none is kept."""
    sequence = [
        ContactPhase({"floor": Sliding()}, 0.5),
        ContactPhase({"floor": Open()}, 1.5),
    ]
    given = ExactContacts(sequence=sequence, trials=0)
    plan = replace(PLAN, strategies=(*PLAN.strategies, given))
    assert lift(plan=plan).objective == pytest.approx(48 / np.sqrt(6 / G) ** 3, rel=1e-9)


def test_a_phase_that_is_missing_is_put_in():
    """From flight alone, which costs 118, the wait is found; from a wait too many as well."""
    flight = ExactContacts(sequence=[ContactPhase({"floor": Open()}, 2.0)])
    plan = replace(PLAN, strategies=(*PLAN.strategies, flight))
    result = lift(plan=plan)
    assert result.objective == pytest.approx(48 / np.sqrt(6 / G) ** 3, rel=1e-9)
    closed, free = {"floor": Sliding()}, {"floor": Open()}
    waits = [ContactPhase(x, 0.5) for x in (closed, free, closed, free)]
    plan = replace(PLAN, strategies=(*PLAN.strategies, ExactContacts(sequence=waits)))
    assert lift(plan=plan).objective == pytest.approx(48 / np.sqrt(6 / G) ** 3, rel=1e-6)


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"costs": [ImpactEnergy()]}, "ImpactEnergy is of impacts in steps"),
        ({"conditions": [Periodic()]}, "Periodic couples start and end of the motion"),
    ],
)
def test_what_phases_cannot_state_stays_in_steps(change, why):
    mass = Body("mass", 1.0, (1.0, 1.0, 1.0))
    rail = Prismatic("rail", Frame(GROUND), Frame(mass))
    floor = PlaneContact("floor", Frame(GROUND), Frame(mass))
    mechanism = Mechanism([mass], [rail], "relative", [Actuator("rail")])
    d = assemble(mechanism, [floor], gravity=(0, 0, -G))
    costs = [Effort(), *change.get("costs", [])]
    conditions = [StartAt([0.1], [0.0]), *change.get("conditions", [])]
    guess = Quintic([0.1], [0.1])
    result = optimize(d, Horizon(0.5, 8), costs, conditions, guess, plan=EXACT_CONTACTS)
    assert result.completed
    assert result.data.attrs["not_exact"] == why
    assert f"in steps alone: {why}" in result.summary()


@pytest.mark.slow
def test_a_bore_of_several_gaps_stays_in_steps():
    stated = replace(load_optimization("clearance_pendulum"), plan=EXACT_CONTACTS)
    result = stated.solve(steps=20)
    assert result.completed
    why = "gaps of contact 'hinge' close apart from each other"
    assert result.data.attrs["not_exact"] == why


@pytest.mark.slow
def test_a_hopper_finds_its_landing():
    """Landing in the last instant is no part of the motion in steps, which costs 5.8."""
    result = replace(load_optimization("hopper"), plan=EXACT_CONTACTS).solve()
    assert result.completed
    assert result.objective < 5.12
    assert result.data.attrs["objective_in_steps"] > 5.8
    gap = result["gap"].values[:, 0]
    assert gap.min() > -1e-7
    over = (result["time"].values > 0.32) & (result["time"].values < 0.48)
    assert gap[over].min() > 0.05 - 1e-7
    mode = result["contact_mode"].values[1:, 0]
    friction = np.abs(result["contact_force"].values[1:, 0, 0])
    normal = result["contact_force"].values[1:, 0, 1]
    assert (friction[mode > 0] < 0.7 * normal[mode > 0] * (1 + 1e-6)).all()
    # The equations of motion hold in the mechanism with its contacts: energy is accounted for.
    energy = result["total_energy"].values
    lost = result["dissipated_energy"].values[-1]
    taken = np.nansum(result["contact_loss"].values)
    assert lost == pytest.approx(taken, abs=2e-3 * np.ptp(energy))
