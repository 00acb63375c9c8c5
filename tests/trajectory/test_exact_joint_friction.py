"""Dry friction of driven joints in exact optima through contact, against closed forms."""

import numpy as np
import pytest
from scipy.optimize import minimize_scalar

from nsopt import (
    GROUND,
    Actuator,
    Body,
    Frame,
    Mechanism,
    PlaneContact,
    Prismatic,
    Revolute,
    SlideFriction,
    StribeckLaw,
    TurnFriction,
    assemble,
)
from nsopt.trajectory import (
    PLAN,
    ContactPhase,
    During,
    Effort,
    EndAt,
    ExactContacts,
    Horizon,
    MotionPhase,
    Open,
    Quintic,
    Sliding,
    StartAt,
    Through,
    optimize,
    optimize_phases,
)

G = 9.81
F = 1.5  # N, of the friction


def rail_dynamics(along, wall, gravity, law=None):
    """1 kg on a rail that rubs, with a wall or floor at a place, its normal given."""
    mass = Body("mass", 1.0, (1.0, 1.0, 1.0))
    frames = Frame(GROUND, axes=along), Frame(mass, axes=along)
    rail = Prismatic("rail", *frames)
    rubs = SlideFriction("rubs", *frames, law or StribeckLaw(F / 10, F / 10), 10.0, joint="rail")
    stop = PlaneContact("stop", wall, Frame(mass))
    mechanism = Mechanism([mass], [rail], "relative", [Actuator("rail")])
    return assemble(mechanism, [stop, rubs], gravity=(0, 0, -gravity))


def test_a_lift_against_friction_rests_before_it_goes():
    """The drive bears weight and friction on the way: 48 H^2 / tau^3, tau = sqrt(6 H / (g + F))."""
    d = rail_dynamics((0, 0, 1.0), Frame(GROUND), G)
    ends = [StartAt([0.0], [0.0]), EndAt([1.0], [np.nan])]
    result = optimize(d, Horizon(2.0, 30), [Effort()], ends, Quintic([0.0], [1.0]))
    tau = np.sqrt(6 / (G + F))
    assert "not_exact" not in result.data.attrs, result.data.attrs["not_exact"]
    assert result.objective == pytest.approx(48 / tau**3, rel=1e-7)
    sequence = "stop touches, rail sticks; rail slides forwards"
    assert result.data.attrs["contact_sequence"] == sequence


def test_hinges_turn_and_rails_slide():
    cart, door = (Body(name, 1.0, (1.0, 1.0, 1.0)) for name in ("cart", "door"))
    pairs = [(Frame(GROUND), Frame(cart)), (Frame(cart), Frame(door))]
    joints = [Prismatic("rail", *pairs[0]), Revolute("hinge", *pairs[1])]
    law = StribeckLaw(F / 10, F / 10)
    rubs = [
        kind(x.name + " rubs", x.a, x.b, law, 10.0, joint=x.name)
        for kind, x in zip((SlideFriction, TurnFriction), joints, strict=True)
    ]
    drives = [Actuator(x.name) for x in joints]
    d = assemble(Mechanism([cart, door], joints, "relative", drives), rubs)
    for forwards, way in ((True, "forwards"), (False, "backwards")):
        phase = ContactPhase({"rail": Sliding(forwards), "hinge": Sliding(forwards)}, 1.0)
        assert phase.describe(d) == f"rail slides {way}, hinge turns {way}"


@pytest.mark.slow
def test_a_cart_slides_to_a_wall_and_rests():
    """By 1 m in 3 s, stopped by a wall: 3 / tau^3 for the way, and friction against the drive."""
    ahead = (1.0, 0.0, 0.0)

    def cost(tau):  # at the best speed with which it comes to the wall
        v = np.linspace(0, 3 / tau, 20001)
        ways = (12 - 12 * v * tau + 4 * v**2 * tau**2) / tau**3 + 2 * F * v + F**2 * tau
        return ways.min()

    least = minimize_scalar(cost, bounds=(0.5, 3), method="bounded", options={"xatol": 1e-10}).fun
    d = rail_dynamics(ahead, Frame(GROUND, ahead, axes=(-1.0, 0, 0)), 0.0)
    ends = [StartAt([0.0], [0.0]), EndAt([1.0], [0.0])]
    result = optimize(d, Horizon(3.0, 30), [Effort()], ends, Quintic([0.0], [1.0]))
    assert "not_exact" not in result.data.attrs, result.data.attrs["not_exact"]
    assert result.objective == pytest.approx(least, rel=1e-5)


@pytest.mark.slow
def test_a_cart_goes_there_and_back():
    """By 0.9 m and back in 8 s, each way from rest to rest in the best time for it."""
    ahead = (1.0, 0.0, 0.0)
    d = rail_dynamics(ahead, Frame(GROUND, ahead, axes=(-1.0, 0, 0)), 0.0)
    ends = [StartAt([0.0], [0.0]), EndAt([0.0], [0.0]), During(EndAt([0.9], [0.0]), 0.5)]
    guess = Through([[0.0], [0.9], [0.0]])
    result = optimize(d, Horizon(8.0, 40), [Effort()], ends, guess)
    assert "not_exact" not in result.data.attrs, result.data.attrs["not_exact"]
    tau = (36 * 0.81 / F**2) ** 0.25
    assert result.objective == pytest.approx(2 * (12 * 0.81 / tau**3 + F**2 * tau), rel=1e-6)


@pytest.mark.parametrize(
    ("modes", "text"),
    [
        ({"stop": Open(), "rail": Open()}, r"joint 'rail' is Open\(\): let it be Sliding"),
        ({"stop": Open(), "rial": Sliding()}, "the contact 'rial', which is not in the mechanism"),
    ],
)
def test_modes_that_a_joint_cannot_be_in_are_refused(modes, text):
    d = rail_dynamics((0, 0, 1.0), Frame(GROUND), G)
    ends = [StartAt([0.0], [0.0]), EndAt([1.0], [0.0])]
    phase = MotionPhase(d, Horizon(1.0, 8), [Effort()], ends, Quintic(), modes=modes)
    with pytest.raises(ValueError, match=text):
        optimize_phases([phase])


def test_a_sequence_must_say_what_a_joint_with_friction_does():
    d = rail_dynamics((0, 0, 1.0), Frame(GROUND), G)
    ends = [StartAt([0.0], [0.0]), EndAt([1.0], [0.0])]
    plan = PLAN.with_others(ExactContacts(sequence=[ContactPhase({"stop": Open()}, 1.0)]))
    with pytest.raises(ValueError, match="the joints with dry friction rail"):
        optimize(d, Horizon(1.0, 8), [Effort()], ends, Quintic(), plan=plan)
