"""Optima through contact, exact in their sequence of contact, against closed forms."""

import json
from dataclasses import dataclass

import numpy as np
import pytest
from scipy.interpolate import CubicHermiteSpline
from scipy.optimize import minimize, minimize_scalar

from nsopt import (
    GROUND,
    AppliedForce,
    Body,
    ContactAligned,
    ContactLaw,
    Frame,
    Mechanism,
    Parameter,
    PlaneContact,
    Result,
    StepBounds,
    assemble,
)
from nsopt.problem import load_optimization
from nsopt.trajectory import (
    IN_STEPS,
    ContactPhase,
    Cost,
    During,
    Effort,
    EndAt,
    Horizon,
    InputEffort,
    Open,
    Sliding,
    StartAt,
    Straight,
    Through,
    Touching,
    optimize,
)
from nsopt.trajectory.exact import Recognizer
from tests.trajectory.lift import FLIGHT, G, lift, lift_dynamics, with_sequence


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


def test_between_two_lifts_it_falls_and_waits():
    """To 1 m at 2 s, where it is at rest, and at 5 s: twice the cost, the fall has none."""
    ends = [StartAt([0.0], [0.0]), During(EndAt([1.0]), 0.4), EndAt([1.0], [np.nan])]
    guess = Through([[0.0], [1.0], [0.0], [0.0], [1.0]], [0, 0.4, 0.5, 0.8, 1])
    result = optimize(lift_dynamics(), Horizon(5.0, 25), [Effort()], ends, guess)
    tau, fall = np.sqrt(6 / G), np.sqrt(2 / G)
    assert result.completed
    assert result.objective == pytest.approx(2 * 48 / tau**3, rel=1e-9)
    changes = [0, 2 - tau, 2, 2 + fall, 5 - tau, 5]
    assert result.data.attrs["borders"] == pytest.approx(changes, abs=1e-5)


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
    result = optimize(d, horizon, [Miss()], [start], guess)
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
        *(d, Horizon(2.0, 24), [InputEffort(input="force")], ends, guess), inputs=["force"]
    )
    assert result.completed
    assert result.objective == pytest.approx(best.fun, rel=1e-7)
    assert result.data.attrs["contact_sequence"] == "floor sticks; floor slides forwards"
    assert result.data.attrs["borders"][1] == pytest.approx(2 - best.x, abs=1e-4)
    spent = sum(run["iterations"] for run in json.loads(result.data.attrs["search"]))
    assert np.nansum(result["iterations"].values) == pytest.approx(spent)
    # Friction over 1 m is all that the contact takes, and all that is lost.
    for name, taken in (("contact_loss", np.nansum), ("dissipated_energy", np.max)):
        assert taken(result[name].values) == pytest.approx(mu * G, rel=1e-7)


@pytest.fixture(scope="module")
def bounced():
    bounce = load_optimization("bounce")
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
    # On the cubics all along, also just before it strikes.
    T, v = best.x
    cubic = CubicHermiteSpline([0, T, 2], [1, 0, 1], [0, -v, 0])
    s = np.array([0.5, 0.97, 0.999]) * T
    assert result.sample(times=s)["v"].values[:, 0] == pytest.approx(cubic(s, 1), abs=1e-6)
    # Simulated as one run, rebound included.
    assert result.data.attrs["resimulated_until"] == pytest.approx(2.0)
    assert result.data.attrs["resimulated_defect"] < 1e-3
    result.save(tmp_path / "bounce.nc")
    assert Result.open(tmp_path / "bounce.nc").objective == result.objective


def test_what_strikes_has_the_impulse_and_not_what_it_stands_on():
    """2 kg on a floor against a wall, 0.8 m off, that is stated before the floor, and back."""
    m, way, e = 2.0, 0.8, 0.4
    body, to_wall = Body("ball", m, point_mass=True), [[0, 0, -1.0], [0, 1.0, 0], [1.0, 0, 0]]
    wall = PlaneContact(
        *("wall", Frame(GROUND, (1.0, 0, 0), to_wall), Frame(body)), law=ContactLaw(restitution=e)
    )
    floor = PlaneContact("floor", Frame(GROUND), Frame(body))
    draw = AppliedForce("draw", Frame(body), (Parameter("force", 0.0), 0.0, 0.0))
    stated = [wall, floor, draw]
    d = assemble(Mechanism([body], coordinates="relative"), stated, gravity=(0, 0, -G))
    at = [1 - way, 0, 0]
    ends = [StartAt(at, np.zeros(3)), EndAt(at, np.zeros(3)), During(Touching("wall"), 0.5)]
    result = optimize(
        *(d, Horizon(2.0, 40, StepBounds(1e-3, 0.2), [0.5]), [InputEffort(input="force")], ends),
        Through([at, [1.0, 0, 0], at], [0, 0.5, 1.0]),
        inputs=["force"],
        scheme=ContactAligned(),
    )

    def cost(x):
        (T, v), rest = x, 2 - x[0]
        to = 12 * way**2 / T**3 - 12 * way * v / T**2 + 4 * v**2 / T
        return to + 12 * way**2 / rest**3 - 12 * way * e * v / rest**2 + 4 * (e * v) ** 2 / rest

    best = minimize(cost, [0.9, 1.5], method="Nelder-Mead", options={"xatol": 1e-11})
    assert result.objective == pytest.approx(m**2 * best.fun, rel=1e-7)
    struck = np.nansum(result["impact_impulse"].values, axis=0)
    assert struck == pytest.approx([m * (1 + e) * best.x[1], 0.0], abs=1e-5)
    lost = np.nansum(result["contact_loss"].values, axis=0)
    assert lost == pytest.approx([m * (1 - e**2) * best.x[1] ** 2 / 2, 0.0], abs=1e-5)
    weight = result["contact_force"].values[1:, 1, 2]
    assert weight == pytest.approx(m * G, rel=1e-6)


def test_an_exact_optimum_has_no_derivatives_of_the_program_in_steps(bounced):
    bounce, result = bounced
    with pytest.raises(ValueError, match=r"derivatives are not known: solve it with plan=IN_STEPS"):
        bounce.cost_gradient(result)


def test_a_sequence_that_is_given():
    """Let go 0.2 s after it was read off, the best time is found all the same; or none is kept."""
    sequence = [
        ContactPhase({"floor": Sliding()}, 0.5),
        ContactPhase({"floor": Open()}, 1.5),
    ]
    plan = with_sequence(sequence=sequence, trials=0)
    assert lift(plan=plan).objective == pytest.approx(48 / np.sqrt(6 / G) ** 3, rel=1e-9)


def test_a_phase_that_is_missing_is_put_in():
    """From flight alone, which costs 159, the wait is found; from a wait too many as well."""
    result = lift(plan=with_sequence(sequence=FLIGHT))
    assert result.objective == pytest.approx(48 / np.sqrt(6 / G) ** 3, rel=1e-9)
    closed, free = {"floor": Sliding()}, {"floor": Open()}
    waits = [ContactPhase(x, 0.5) for x in (closed, free, closed, free)]
    assert lift(plan=with_sequence(sequence=waits)).objective == pytest.approx(
        48 / np.sqrt(6 / G) ** 3, rel=1e-6
    )


def test_conditions_that_a_given_sequence_leaves_out_stay_kept():
    """A waypoint where no phase ends, a contact that is to touch: the motion in steps has both."""
    way = lift(20, with_sequence(sequence=FLIGHT), [During(EndAt([0.6]), 0.5)])
    assert "no phase of the sequence does: give one that ends=0.5" in way.data.attrs["not_exact"]
    assert way["q"].values[10, 0] == pytest.approx(0.6, abs=1e-7)
    body = Body("sled", 1.0, point_mass=True)
    floor = PlaneContact("floor", Frame(GROUND), Frame(body), planar=True)
    force = Parameter("force", 0.0)
    draw = AppliedForce("draw", Frame(body), (0.0, 0.0, force))
    d = assemble(Mechanism([body], coordinates="relative"), [floor, draw], gravity=(0, 0, -G))
    stated = [StartAt(np.zeros(3), np.zeros(3)), Touching("floor")]
    # Thrown up it would have the speed that the cost asks for.
    stays = optimize(
        *(d, Horizon(1.0, 8), [InputEffort(input="force"), Miss()], stated),
        Straight(np.zeros(3), np.zeros(3)),
        inputs=["force"],
        plan=with_sequence(sequence=[ContactPhase({"floor": Open()}, 1.0)]),
    )
    assert "Touching('floor') does not hold" in stays.data.attrs["not_exact"]
    assert stays["gap"].values == pytest.approx(0.0, abs=1e-9)


def test_a_posture_at_the_last_node_is_kept():
    """From rest to 1 m and 3 m/s within tau at least effort, the weight borne besides."""

    def cost(tau):  # u = a + g, a = c + d t
        c, d = 6 / tau**2 - 6 / tau, 12 / tau**2 * (1.5 - 1 / tau)
        c = c + G
        return c**2 * tau + c * d * tau**2 + d**2 * tau**3 / 3

    best = minimize_scalar(cost, bounds=(0.3, 2), method="bounded", options={"xatol": 1e-10})
    result = lift(conditions=[During(EndAt([1.0], [3.0]), 1.0)])
    assert result["v"].values[-1, 0] == pytest.approx(3.0, abs=1e-8)
    assert result.objective == pytest.approx(best.fun, rel=1e-8)


def test_what_strikes_and_then_stays_closed_only_closes():
    """A grid that lands twice within a few steps is one landing: the phase after it is closed."""
    landing = [False] * 6 + [True, False] + [True] * 12

    class Landing(Recognizer):
        def _find_contact_steps(self, x):
            return landing

        def _compute_slip(self, x):
            return np.zeros((21, 0))

    result = lift(20, IN_STEPS)
    phases = Landing(lift_dynamics(), result, np.zeros(0)).read_sequence()
    assert [x.modes["floor"].closed for x in phases] == [False, True]
    assert not any(x.strikes for x in phases)


@pytest.mark.slow
def test_a_hopper_finds_its_landing():
    """Landing in the last instant is no part of the motion in steps, which costs 5.8."""
    result = load_optimization("hopper").solve()
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
