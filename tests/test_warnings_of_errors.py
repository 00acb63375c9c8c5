"""How far a run is off is told by what is on record of it, compared with motions that are known."""

import re

import casadi as ca
import numpy as np
import pytest
from scipy.integrate import solve_ivp

from nsopt import (
    GROUND,
    AppliedForce,
    Body,
    Check,
    CompliantContact,
    ContactLaw,
    Frame,
    HuntCrossley,
    Mechanism,
    PaperStep,
    PlaneContact,
    Revolute,
    Start,
    StepBounds,
    Variational,
    assemble,
    simulate,
)

G, DOWN = 9.81, (0, -9.81, 0)
UP = (0.0, 1.0, 0.0)


def run(d, duration, h, start=None, fixed=False):
    steps = StepBounds(h if fixed else h / 1000, h)
    return simulate(d, start, duration, steps=steps, progress=False)


def told(result, words, unit="m"):
    """Return what the one warning with these words says to be off."""
    (text,) = (x for x in result.warnings if words in x)
    return float(re.findall(rf"([\d.e-]+) {unit}[, ]", text)[0])


def rod():
    """Return a rod of 1 kg, 0.3 m long, that lies level on a hinge at its end."""
    body = Body("rod", 1.0, (0.002, 0.01, 0.01), position=(0.15, 0, 0))
    ends = Frame(GROUND), Frame.at(body, (0, 0, 0))
    return assemble(Mechanism([body], [Revolute("hinge", *ends)], "relative"), [], DOWN)


def test_how_far_a_rod_is_off_that_lingers_near_its_summit_is_told():
    """What steps add grows there; its angle is known from its equation of motion."""
    d, inertia, duration, w = rod(), 0.01 + 0.15**2, 1.0, 9.525
    result = run(d, duration, 0.02, Start(np.zeros(d.nq), np.array([w])))
    times = result["time"].values

    def rate(_, y):
        return [y[1], -G * 0.15 * np.cos(y[0]) / inertia]

    y = solve_ivp(rate, (0, duration), [0, w], t_eval=times, rtol=1e-10, atol=1e-12).y
    true = 0.15 * np.stack([np.cos(y[0]), np.sin(y[0])], axis=1)
    off = np.abs(result["body_position"].values[:, 0, :2] - true).max()
    assert off > 0.05 * np.ptp(true, axis=0).max()
    assert off / 2 < told(result, "bodies by") < 2 * off


def test_a_rod_is_never_told_to_be_off_by_more_than_its_way():
    """In a thousand seconds near its summit, where errors that grow on would overflow."""
    d, way = rod(), 0.3
    result = run(d, 1000.0, 0.02, Start(np.zeros(d.nq), np.array([9.49])))
    assert told(result, "bodies by") <= 1.1 * way


def test_how_far_a_body_is_off_that_lands_in_the_first_step_is_told():
    """On the straight way to the end of the step: the fall is known."""
    body = Body("body", 1.0, point_mass=True, position=(0, 0.031, 0), velocity=(0, -0.63, 0))
    floor = PlaneContact("floor", Frame(GROUND, (0, 0, 0), UP), Frame(body))
    result = run(assemble(Mechanism([body]), [floor], DOWN), 0.2, 0.05, fixed=True)
    t = np.linspace(0, 0.05, 1001)
    true = np.maximum(0.031 - 0.63 * t - G * t**2 / 2, 0)
    off = np.abs(
        np.interp(t, result["time"].values, result["body_position"].values[:, 0, 1]) - true
    )
    assert off.max() > 0.05 * 0.031
    assert told(result, "closes within a step") == pytest.approx(off.max(), rel=0.1)


def test_how_far_a_body_slides_that_should_stick_as_it_starts_is_told():
    """It strikes a rough floor at once, which stops it there; in the first step it still moves."""
    body = Body("body", 1.0, point_mass=True, position=(0, 0, 0), velocity=(0.5, -1.0, 0))
    law = ContactLaw(friction=2.0)
    floor = PlaneContact("floor", Frame(GROUND, (0, 0, 0), UP), Frame(body), law=law)
    result = run(assemble(Mechanism([body]), [floor], DOWN), 0.1, 0.01, fixed=True)
    x = result["body_position"].values[-1, 0, 0]
    assert x > 1e-3
    assert told(result, "closes within a step") == pytest.approx(x, rel=0.05)


def test_a_ball_that_flies_on_over_a_floor_is_not_behind_for_late_impacts():
    """A floor without friction leaves its way along it as it is."""
    ball = Body("ball", 1.0, point_mass=True, position=(0, 0.3, 0), velocity=(5.0, 0, 0))
    law = ContactLaw(restitution=0.8)
    floor = PlaneContact("floor", Frame(GROUND, (0, 0, 0), UP), Frame(ball), law=law)
    result = run(assemble(Mechanism([ball]), [floor], DOWN), 1.0, 0.02)
    assert result["body_position"].values[-1, 0, 0] == pytest.approx(5.0, rel=1e-6)
    assert not [x for x in result.warnings if "the motion is" in x]


def test_what_a_compliant_floor_takes_within_a_step_is_told():
    """Long steps leave a ball in it, which should rebound by some 0.7 of its speed."""
    ball = Body("ball", 1.0, (1.6e-4,) * 3, position=(0, 0, 0.1077))
    law = ContactLaw(restitution=0.7)
    floor = PlaneContact("floor", Frame(GROUND), Frame(ball), 0.02, law=law)
    soft = CompliantContact("floor", floor, HuntCrossley(8.2e8, 1.5))
    d = assemble(Mechanism([ball], coordinates="relative"), [soft], (0, 0, -G))
    result = run(d, 0.56, 6.0864e-4, fixed=True)
    height = result["body_position"].values[:, 0, 2]
    landed = int(np.argmax(height < 0.02))
    assert height[landed:].max() < 0.021
    assert [x for x in result.warnings if "is over within" in x]


def test_how_far_a_ball_slides_on_after_it_has_landed_is_told():
    """Friction stops it where it lands, in its steps only at their end."""
    ball = Body("ball", 1.0, point_mass=True, position=(0, 0.12, 0), velocity=(0.8, 0, 0))
    law = ContactLaw(friction=2.0)
    floor = PlaneContact("floor", Frame(GROUND, (0, 0, 0), UP), Frame(ball), law=law)
    result = run(assemble(Mechanism([ball]), [floor], DOWN), 0.3, 0.03, fixed=True)
    off = result["body_position"].values[-1, 0, 0] - 0.8 * np.sqrt(2 * 0.12 / G)
    assert off > 0.05 * 0.15
    assert off / 1.3 < told(result, "closes within a step") < 1.3 * off


def test_forces_of_a_landing_are_told_apart_from_those_that_last():
    """A ball that is thrown onto a rough floor stays there, where its weight holds it."""
    ball = Body("ball", 1.0, point_mass=True, position=(0, 0.1, 0), velocity=(2.0, 0, 0))
    law = ContactLaw(friction=5.0)
    floor = PlaneContact("floor", Frame(GROUND, (0, 0, 0), UP), Frame(ball), law=law)
    d = assemble(Mechanism([ball]), [floor], DOWN)
    result = run(d, 0.24, 0.06, fixed=True)
    force = np.linalg.norm(np.nan_to_num(result["lasting_force"].values[:, 0]), axis=1)
    weight = 1.0 * G
    assert force.max() > 1.05 * weight
    assert told(result, "while it stays closed", "N while") == pytest.approx(weight, rel=2e-3)


def test_swings_whose_errors_contacts_amplify_are_told():
    """Of a double pendulum that strikes a floor, by steps of a tenth of the time it takes."""
    rods = [
        Body(f"b{k}", 1.0, (0.002, 0.01, 0.01), position=(0.15 + 0.3 * k, 0, 0)) for k in (0, 1)
    ]
    hinges = [
        Revolute("j0", Frame(GROUND), Frame.at(rods[0], (0, 0, 0))),
        Revolute("j1", Frame.at(rods[0], (0.3, 0, 0)), Frame.at(rods[1], (0.3, 0, 0))),
    ]
    plane = Frame(GROUND, (0, -0.2, 0), UP)
    floor = PlaneContact("floor", plane, Frame(rods[1], (0.15, 0, 0)), 0.01)
    d = assemble(Mechanism(rods, hinges, "relative"), [floor], DOWN)
    start = Start(np.zeros(2), np.array([5.0, 0.0]))
    long, short, shorter = (run(d, 1.0, h, start) for h in (0.05, 2e-3, 1e-3))
    ends = [x["body_position"].values[-1] for x in (long, short, shorter)]
    assert np.abs(ends[1] - ends[2]).max() < 0.01
    assert np.abs(ends[0] - ends[2]).max() > 0.04
    assert [x for x in long.warnings if "swings by" in x]
    assert not short.warnings


@pytest.mark.parametrize("scheme", [Variational(), PaperStep()], ids=lambda x: type(x).__name__)
@pytest.mark.parametrize("check", [Check(), None], ids=["checked", "unchecked"])
def test_a_point_that_lies_still_is_off_by_nothing(scheme, check):
    """A mass of a milligram at the origin, held down by a force: no length but rounding."""
    grain = Body("grain", 1e-6, point_mass=True)
    force = AppliedForce("held", Frame(grain), lambda t: (0, 0, -2e-5 - 1e-5 * ca.sin(30 * t)))
    floor = PlaneContact("floor", Frame(GROUND), Frame(grain))
    d = assemble(Mechanism([grain]), [floor, force], gravity=(0, 0, -9.81))
    steps = StepBounds(1e-3, 1e-3)
    still = simulate(d, None, 0.2, steps=steps, scheme=scheme, check=check, progress=False)
    assert still.warnings == ()
    force = still["lasting_force"].values[1:, 0, 2]
    right = 9.81e-6 + 2e-5 + 1e-5 * np.sin(30 * still["time"].values[1:])
    assert force == pytest.approx(right, rel=0.02)


def test_an_error_beside_no_impulse_at_all_is_told_in_its_unit():
    """Of a run that strikes nothing, where shorter steps do: a percentage would be infinite."""
    ball = Body("ball", 1.0, point_mass=True, position=(0, 0.01, 0))
    floor = PlaneContact("floor", Frame(GROUND, (0, 0, 0), UP), Frame(ball))
    d = assemble(Mechanism([ball]), [floor], DOWN)
    steps = StepBounds(1e-6, 5e-3)
    result = simulate(d, None, 0.2, steps=steps, check=Check(seconds=60), progress=False)
    struck = float(result["impact_impulse_sum"].values[0])
    assert struck == pytest.approx(np.sqrt(2 * G * 0.01), rel=0.01)
    result.data["impact_impulse_sum"].values[:] = 0.0
    result.data["error_impact_impulse_sum"].values[:] = struck
    (text,) = (x for x in result.warnings if "impulses of impacts" in x)
    assert f"off by {struck:.2g} N s, where this run has 0 N s: steps of other sizes" in text
    assert f"{struck:.2g} N s" in result.summary()
    assert "inf" not in result.summary()
