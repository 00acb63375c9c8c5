"""Lasting contact and impacts told apart, by every scheme alike."""

import numpy as np
import pytest
from scipy.optimize import brentq

from nsopt import (
    AppliedForce,
    Body,
    Compiled,
    CompliantContact,
    ContactAligned,
    ContactLaw,
    Flores,
    Frame,
    Mechanism,
    MoreauJean,
    PaperStep,
    PlaneContact,
    Prismatic,
    SphericalClearance,
    Start,
    StepBounds,
    Variational,
    assemble,
    rms_loads,
    simulate,
)
from nsopt.analysis import mode_statistics
from tests.schemes.models import G, ball

SCHEMES = [Variational(), ContactAligned(), MoreauJean(project=True), PaperStep(finds_h=False)]
CLEARANCE = 1e-3


def run(dynamics, duration, h, scheme, chunk=100):
    solver, steps = Compiled(chunk=chunk), StepBounds(h, h)
    result = simulate(
        dynamics, duration=duration, steps=steps, scheme=scheme, solver=solver, progress=False
    )
    assert result.completed, result.stop_reason
    return result


def in_a_bore(position, velocity, restitution=0.0):
    """A particle without weight within a bore."""
    body = Body("ball", 2.0, position=position, velocity=velocity, point_mass=True)
    law = ContactLaw(restitution=restitution)
    bore = SphericalClearance("bore", Frame(None), Frame(body), CLEARANCE, law=law)
    return assemble(Mechanism([body]), [bore])


@pytest.mark.parametrize("scheme", SCHEMES, ids=repr)
def test_a_pin_that_rolls_round_its_bore_presses_by_m_v2_over_c(scheme):
    """Each step of it goes a tenth of the clearance."""
    result = run(in_a_bore((CLEARANCE, 0, 0), (0, 0.1, 0)), 0.1, 1e-3, scheme)
    (modes,) = mode_statistics(result).values()
    assert modes.lasting >= 0.99  # MoreauJean lets go of what it takes to leave at the start
    assert (modes.impacts, modes.impulse) == (0, 0.0)
    force = np.linalg.norm(result["lasting_force"].values[:, 0], axis=1)
    speed = np.linalg.norm(result["v"].values, axis=1)
    assert force[1:] == pytest.approx(2.0 * speed[1:] ** 2 / CLEARANCE, rel=0.03)
    rms = rms_loads({"run": result})["bore", "force"].iloc[0]
    assert rms == pytest.approx(np.sqrt(np.mean(force[1:] ** 2)), rel=0.05)


@pytest.mark.parametrize("scheme", [Variational(), MoreauJean(project=True)], ids=repr)
def test_each_crossing_of_a_bore_ends_in_an_impact_of_2_m_v(scheme):
    """From the centre at 0.1 m/s: at 0.01 s, then every 0.02 s."""
    result = run(in_a_bore((0, 0, 0), (0.1, 0, 0), restitution=1.0), 0.1, 9e-4, scheme)
    (modes,) = mode_statistics(result).values()
    assert modes.impacts == 5
    assert modes.lasting == 0.0
    assert modes.impulse == pytest.approx(5 * 2 * 2.0 * 0.1, rel=1e-6)


def test_a_ball_bounces_until_steps_do_not_resolve_it_and_lies():
    """The first three impacts are m v (1 + e) e^k; at last its weight is on the floor."""
    e, height, h = 0.5, 0.05, 1e-3
    result = run(ball(e, height), 0.4, h, Variational())
    speed = np.sqrt(2 * G * height)
    struck = result["impact_impulse"].values[1:, 0]
    first = struck[struck > 0][:3]
    assert first == pytest.approx((1 + e) * speed * e ** np.arange(3), abs=4 * h * G)
    late = result["time"].values > 0.32
    assert np.all(result["contact_mode"].values[late, 0] == 1)
    assert result["lasting_force"].values[late, 0, 2] == pytest.approx(G)


@pytest.mark.parametrize("scheme", SCHEMES[:2], ids=repr)
def test_a_force_that_falls_to_zero_and_turns_ends_in_no_impact(scheme):
    """F sin(w t) between two plates: flights of 2 c = F / (m w) (t - sin(w t) / w), then rest."""
    F, w, m, c = 10.0, 20.0, 2.0, 0.5e-3
    body = Body("block", m, position=(-c, 0, 0), point_mass=True)
    law = ContactLaw(restitution=0.0)
    plates = [
        PlaneContact(name, Frame(None, (x, 0, 0), (-x, 0, 0)), Frame(body), law=law)
        for name, x in (("left", -c), ("right", c))
    ]
    load = AppliedForce("load", Frame(body), lambda t: (F * np.sin(w * t), 0, 0))
    half, h = np.pi / w, 5e-4
    result = run(assemble(Mechanism([body]), [*plates, load]), 4 * half, h, scheme)
    flight = brentq(lambda t: F / (m * w) * (t - np.sin(w * t) / w) - 2 * c, 1e-4, half)
    impact = F / w * (1 - np.cos(w * flight))
    modes = mode_statistics(result)
    assert [modes[plate.name].impacts for plate in plates] == [2, 2]
    found = result["impact_impulse"].values[1:].sum()
    assert found == pytest.approx(4 * impact, abs=4 * F * h)
    pressed = np.any(result["contact_mode"].values[1:] > 0, axis=1)
    assert np.mean(pressed) == pytest.approx(1 - flight / half, abs=4 * h / half)
    t, force = result["time"].values, result["lasting_force"].values[:, :, 0].sum(axis=1)
    lasts = np.append(False, pressed) & np.isfinite(force) & (np.abs(np.sin(w * t)) > 0.1)
    assert force[lasts] == pytest.approx(-F * np.sin(w * t[lasts]), rel=1e-9)


def test_what_lies_beside_an_impact_lasts():
    """One ball lies on the floor while another bounces, which has nothing to do with it."""
    lying, falling = (
        Body(name, 1.0, position=(x, 0, z), point_mass=True)
        for name, x, z in (("lying", 0, 0), ("falling", 1, 0.05))
    )
    law = ContactLaw(restitution=0.5)
    floors = [
        PlaneContact(f"floor of {b.name}", Frame(None), Frame(b), law=law) for b in (lying, falling)
    ]
    result = run(
        assemble(Mechanism([lying, falling]), floors, (0, 0, -G)), 0.22, 1e-3, Variational()
    )
    modes = mode_statistics(result)
    assert (modes["floor of lying"].lasting, modes["floor of lying"].impacts) == (1.0, 0)
    assert modes["floor of falling"].impacts == 2


def test_it_does_not_matter_how_many_steps_are_judged_at_once():
    one, other = (run(ball(0.5, 0.05), 0.35, 2e-3, Variational(), x) for x in (3, 100))
    for name in ("contact_mode", "impact_impulse"):
        assert np.array_equal(one[name].values, other[name].values, equal_nan=True)


def test_the_impact_of_a_compliant_contact_is_the_integral_of_its_force():
    """By the momentum of the ball: what it leaves with, what it came with, and its weight."""
    body = Body("ball", 1.0, position=(0, 0, 0.01), point_mass=True)
    floor = PlaneContact("floor", Frame(None), Frame(body), law=ContactLaw(restitution=0.7))
    soft = CompliantContact("soft", floor, Flores(1e6))
    result = run(assemble(Mechanism([body]), [soft], (0, 0, -G)), 0.07, 1e-5, Variational())
    (modes,) = mode_statistics(result).values()
    assert modes.impacts == 1
    momentum = result["v"].values[-1, 2] + G * result["time"].values[-1]
    assert modes.impulse == pytest.approx(momentum, rel=1e-3)
    line = next(x for x in result.summary().splitlines() if x.startswith("impacts"))
    largest = float(line.split("of up to ")[1].split(" N s")[0])
    assert largest == pytest.approx(momentum, rel=1e-3)  # all its steps, not the largest of them


@pytest.mark.parametrize(("h", "words"), [(5e-3, "none but 1 that only"), (5e-4, "1 of up to")])
def test_the_summary_tells_of_impacts_that_steps_do_not_resolve(h, words):
    """A ball that falls for 14 ms: three steps, or nearly thirty."""
    summary = run(ball(0.0, 1e-3), 0.1, h, Variational()).summary()
    (line,) = (x for x in summary.splitlines() if x.startswith("impacts"))
    assert words in " ".join(line.split())


@pytest.mark.parametrize(("steps", "told"), [(10, True), (50, False)])
def test_the_summary_tells_of_a_largest_force_that_steps_do_not_resolve(steps, told):
    """5 + 4 cos(w t) on a floor: its largest, 9, is 8.5 % above those a tenth of a turn beside."""
    w = 20.0
    body = Body("block", 1.0, point_mass=True)
    floor = PlaneContact("floor", Frame(None), Frame(body))
    load = AppliedForce("load", Frame(body), lambda t: (0, 0, -5 - 4 * np.cos(w * t)))
    turn = 2 * np.pi / w
    model = assemble(Mechanism([body]), [floor, load])
    summary = run(model, 1.5 * turn, turn / steps, Variational()).summary()
    (line,) = (x for x in summary.splitlines() if x.startswith("largest lasting force"))
    assert "9 N at floor" in line
    assert (", 8.5 % above the steps beside it" in line) == told


def test_a_ball_that_rebounds_never_rests():
    """What round-off leaves of an impact in the step after it is no contact."""
    body, law = Body("ball", 0.7, (1e-3,) * 3), ContactLaw(restitution=0.6)
    rail = Prismatic("rail", Frame(None), Frame(body))
    floor = PlaneContact("floor", Frame(None), Frame(body), law=law)
    d = assemble(Mechanism([body], [rail], "relative"), [floor], (0, 0, -G))
    start = Start.named(d, {"rail": 0.3}, {})
    for most in (1e-2, 1e-3):
        result = simulate(d, start, 0.7, steps=StepBounds(1e-6, most), progress=False)
        (modes,) = mode_statistics(result).values()
        assert (modes.lasting, modes.impacts) == (0, 2)
        assert modes.impulse == pytest.approx(0.7 * 1.6 * 1.6 * np.sqrt(2 * G * 0.3), rel=1e-4)
