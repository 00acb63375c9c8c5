"""Impacts within steps: placed in time where h_min allows, told where it does not."""

from functools import cache

import numpy as np
import pytest

from nsopt import (
    AppliedForce,
    Body,
    Compiled,
    ContactAligned,
    ContactLaw,
    ErrorControl,
    FollowContacts,
    Frame,
    LargestStep,
    Mechanism,
    PlanarRevoluteClearance,
    PlaneContact,
    PoissonImpact,
    Prismatic,
    Revolute,
    StepBounds,
    Variational,
    assemble,
    simulate,
)
from problems.slider_crank import slider_crank

CLEARANCE, ASIDE = 0.1, 0.06  # m: the centre flies along x, ASIDE from the axis, at 1 m/s
BEHIND = 0.0131  # m, where it starts; so no step ends at the impact by itself
T = 0.3  # s


@cache
def disc():
    """A disc that flies through its bore, no load on it."""
    body = Body("disc", 2.0, (1.0, 1.0, 1.0), position=(-BEHIND, ASIDE, 0), velocity=(1, 0, 0))
    hinge = PlanarRevoluteClearance("bore", Frame(None), Frame(body), clearance=CLEARANCE)
    return assemble(Mechanism([body]), [hinge])


def exact():
    """Where it is at T: met at the angle of sin = 0.6, it slides round at 0.6 m/s (e = 0)."""
    angle, speed = np.arcsin(ASIDE / CLEARANCE), ASIDE / CLEARANCE
    left = T - BEHIND - CLEARANCE * np.cos(angle)
    angle -= speed * left / CLEARANCE
    return CLEARANCE * np.array([np.cos(angle), np.sin(angle)]), speed**2


PLACED = LargestStep(contacts=FollowContacts(placed=3e-5))


def flown(h, h_min=1e-9, control=PLACED):
    result = simulate(
        disc(),
        duration=T,
        steps=StepBounds(h_min, h),
        scheme=Variational(),
        solver=Compiled(),
        control=control,
        progress=False,
    )
    assert result.completed, result.stop_reason
    place, energy = exact()
    off = np.linalg.norm(result["body_position"].values[-1, 0, :2] - place)
    return off, abs(result["total_energy"].values[-1] - energy), result


def test_motion_after_an_impact_is_of_second_order():
    sizes = (8e-3, 4e-3, 2e-3)
    errors = [flown(h)[:2] for h in sizes]
    orders = -np.diff(np.log2(np.array(errors)[:, 0]))
    assert np.all(orders > 1.7), errors
    assert all(energy < 1e-4 for _, energy in errors)


@pytest.mark.slow
def test_fixed_steps_are_of_first_order_and_say_so():
    off, energy, result = flown(4e-3, h_min=4e-3, control=LargestStep(contacts=None))
    (text,) = result.warnings
    assert "impacts are placed at the end of their steps" in text
    told = result.data.attrs["unplaced_energy"]
    assert told == pytest.approx(energy, rel=0.01)
    assert off > 10 * flown(4e-3)[0]


@pytest.mark.slow
def test_error_control_sees_impacts():
    blind = flown(4e-3, control=ErrorControl(1e-5, contacts=None))[1]
    assert flown(4e-3, control=ErrorControl(1e-5))[1] < 0.1 * blind


@pytest.mark.slow
def test_the_error_of_an_impact_is_within_what_was_asked():
    result = flown(4e-3, control=LargestStep(contacts=FollowContacts(placed=1e-3, overdue=1.0)))[2]
    assert 3e-5 < result.data.attrs["unplaced_energy"] < 1e-3
    assert not result.warnings


def worn():
    """A slider-crank whose wrist pin is 1 mm thinner than its bore, let go at 150 rad/s."""
    crank, rod, slider = slider_crank.members()
    L, R = slider_crank.CRANK, slider_crank.ROD
    along = slider_crank.ALONG_X
    knee, piston = (L, 0.0, 0.0), (L + R, 0.0, 0.0)
    joints = [
        Revolute("main bearing", Frame(None), Frame.at(crank, (0.0, 0.0, 0.0))),
        Revolute("crank pin", Frame.at(crank, knee), Frame.at(rod, knee)),
        Prismatic("guide", Frame(None, axes=along), Frame.at(slider, piston, along)),
    ]
    pin = PlanarRevoluteClearance(
        "wrist pin", Frame.at(slider, piston), Frame.at(rod, piston), clearance=1e-3
    )
    tree = Mechanism([crank, rod, slider], joints, "relative")
    return assemble(tree, [pin], slider_crank.GRAVITY)


@pytest.mark.slow
def test_a_worn_wrist_pin_is_as_exact_as_with_events():
    """Energy and angle of the crank after 50 ms, against steps that end at events."""
    dynamics = worn()

    def end(h, h_min, scheme):
        result = simulate(
            dynamics,
            duration=0.05,
            steps=StepBounds(h_min, h),
            scheme=scheme,
            solver=Compiled(),
            control=PLACED,
            progress=False,
        )
        assert result.completed, result.stop_reason
        angle = result.sel(q="main bearing.angle")["q"].values[-1]
        return angle, result["total_energy"].values[-1], result

    angle, energy, _ = end(1e-5, 1e-5, ContactAligned())
    for h in (1e-4, 5e-5):
        limit = (h / 1e-4) ** 2
        *now, result = end(h, 1e-9, Variational())
        assert abs(now[0] - angle) < 1.2e-3 * limit
        assert abs(now[1] - energy) < 1.2e-3 * limit + 2e-4
        assert not result.warnings


APPROACH = 1e-6
"""Of the kinetic energy, how exactly impacts are placed where rebounds are compared."""


@cache
def falling(e):
    """The disc under its weight, which rebounds in its bore."""
    body = Body("disc", 2.0, (1.0, 1.0, 1.0), position=(-BEHIND, ASIDE, 0), velocity=(1, 0, 0))
    law = ContactLaw(e)
    hinge = PlanarRevoluteClearance("bore", Frame(None), Frame(body), clearance=CLEARANCE, law=law)
    return assemble(Mechanism([body]), [hinge], (0.0, -9.81, 0.0))


def bouncing(e, h, scheme, h_min, impact_error=APPROACH):
    """Place and energy at the end of the disc that falls in its bore and rebounds."""
    result = simulate(
        falling(e),
        duration=0.5,
        steps=StepBounds(h_min, h),
        scheme=scheme,
        solver=Compiled(),
        control=LargestStep(contacts=FollowContacts(placed=impact_error)),
        progress=False,
    )
    assert result.completed, result.stop_reason
    loss = np.nansum(result["contact_loss"].values)
    assert loss == pytest.approx(result["dissipated_energy"].values[-1], rel=2e-3)
    return result["body_position"].values[-1, 0, :2], result["total_energy"].values[-1]


@pytest.mark.slow
def test_a_rebound_is_of_the_velocity_at_the_impact():
    """Not of that at the start of the step, which differs by what acts until then."""
    law = PoissonImpact()  # Newton's, the default: below
    place, energy = bouncing(0.9, 5e-4, ContactAligned(impact=law), 5e-4)
    for h in (8e-3, 2e-3):
        now = bouncing(0.9, h, Variational(impact=law), 1e-9)
        assert np.abs(now[0] - place).max() < 1e-6
        assert abs(now[1] - energy) < 3e-6
    roughly = bouncing(0.9, 4e-3, Variational(impact=law), 1e-9, 3e-4)
    assert abs(roughly[1] - energy) < 4e-4  # 1e-2 h of the rate at which gravity works


@pytest.mark.parametrize("h", [2e-3, 1e-3, 3e-4])
def test_a_ball_rebounds_with_the_energy_that_its_fall_gave(h):
    """The first impact of a fall from 1 m takes (1 - e^2) m g, wherever it is within its step."""
    e, weight = 0.9, 2.0 * 9.81
    body = Body("ball", 2.0, (1.0, 1.0, 1.0), position=(0, 0, 1))
    floor = PlaneContact("floor", Frame(None), Frame(body), law=ContactLaw(e))
    result = simulate(
        assemble(Mechanism([body]), [floor], (0.0, 0.0, -9.81)),
        duration=0.9,
        steps=StepBounds(h, h),
        scheme=Variational(),
        solver=Compiled(),
        progress=False,
    )
    lost = result["dissipated_energy"].values[-1]
    assert lost == pytest.approx((1 - e**2) * weight, rel=2e-5)


@pytest.mark.slow
def test_a_force_works_on_the_way_that_bodies_go():
    """Weight stated as a force: the same energy is dissipated, in the steps of impacts too."""
    dissipated, h = [], 1e-3
    for stated in (True, False):
        body = Body("disc", 2.0, (1.0, 1.0, 1.0), position=(-BEHIND, ASIDE, 0), velocity=(1, 0, 0))
        hinge = PlanarRevoluteClearance(
            "bore", Frame(None), Frame(body), clearance=CLEARANCE, law=ContactLaw(0.9)
        )
        weight = AppliedForce("weight", Frame(body), (0.0, -2.0 * 9.81, 0.0))
        elements, gravity = ([hinge, weight], 0.0) if stated else ([hinge], -9.81)
        result = simulate(
            assemble(Mechanism([body]), elements, (0.0, gravity, 0.0)),
            duration=T,
            steps=StepBounds(h, h),
            scheme=Variational(),
            solver=Compiled(),
            progress=False,
        )
        dissipated.append(result["dissipated_energy"].values[1:])
    assert dissipated[0][-1] > 0.3
    assert dissipated[0] == pytest.approx(dissipated[1], abs=1e-10)
