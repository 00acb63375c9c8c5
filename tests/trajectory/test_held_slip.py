"""How far contacts slide that dry friction should hold, against the smoothed law."""

import numpy as np
import pytest

from nsopt import (
    GROUND,
    AppliedForce,
    Body,
    ContactLaw,
    Frame,
    Mechanism,
    MoreauJean,
    Parameter,
    PlaneContact,
    Variational,
    assemble,
)
from nsopt.trajectory import (
    IN_STEPS,
    PLAN,
    ContactPhase,
    EndAt,
    ExactContacts,
    FinalPose,
    FrictionMargin,
    Horizon,
    InputEffort,
    Open,
    Quintic,
    StartAt,
    Sticking,
    Straight,
    optimize,
)

G, MU, T = 9.81, 0.5, 0.5


def pushed(scheme, push, planar=True, v=0.0, steps=50):
    """1 kg on a floor, pushed along at an even force [N]; the floor holds MU times the weight."""
    sled = Body("sled", 1.0, point_mass=True)
    law = ContactLaw(friction=MU)
    floor = PlaneContact("floor", Frame(GROUND), Frame(sled), law=law, planar=planar)
    along = AppliedForce("push", Frame(sled), (push, 0.0, 0.0))
    d = assemble(Mechanism([sled], coordinates="relative"), [floor, along], gravity=(0, 0, -G))
    here, start = np.zeros(3), np.array([v, 0.0, 0.0])
    ends = [StartAt(here, start), EndAt([np.nan, 0.0, 0.0])]
    guess = Straight(here, 0.5 * T * start)
    costs, options = [FinalPose(q=here)], {"scheme": scheme, "plan": IN_STEPS}
    result = optimize(d, Horizon(T, steps), costs, ends, guess, **options)
    assert result.completed, result.stop_reason
    return result


@pytest.mark.parametrize("planar", [True, False])
@pytest.mark.parametrize("kind", [Variational, MoreauJean])
def test_a_sled_that_smoothed_friction_should_hold(kind, planar):
    """Held by a part s of what friction can, it slides at c s / sqrt(1 - s^2)."""
    s, c = 0.6, 0.04
    told = pushed(kind(slip_creep=c), s * MU * G, planar)
    steady = c * s / np.sqrt(1 - s**2)
    assert told.data.attrs["held_slip"] == pytest.approx(steady * T, rel=0.04)
    assert told.data.attrs["held_slip_speed"] == pytest.approx(steady, rel=1e-3)
    (warning,) = (x for x in told.warnings if "dry friction should hold it" in x)
    assert warning.startswith("contact 'floor' slid by 0.01")
    assert "at up to 0.03 m/s" in warning
    assert "smaller slip_creep" in warning


@pytest.mark.parametrize("planar", [True, False])
def test_exact_friction_holds_it(planar):
    held = pushed(Variational(), 0.6 * MU * G, planar)
    assert held.data.attrs.get("held_slip", 0.0) < 1e-6
    assert not any("should hold" in x for x in held.warnings)


@pytest.mark.slow
def test_a_sled_that_slides_is_not_held():
    """Pushed by more than friction can hold, from rest and against its way."""
    for v in (0.0, -0.5):
        slides = pushed(Variational(slip_creep=0.02), 2 * MU * G, v=v)
        assert slides.data.attrs.get("held_slip", 0.0) < 1e-3
        assert np.ptp(slides["q"].values[:, 0]) > 0.1


@pytest.mark.slow
def test_friction_holds_nothing_before_it_lands():
    """A ball flies and lands to stick: its last step of flight ends with the impact."""
    ball = Body("ball", 1.0, point_mass=True)
    floor = PlaneContact(
        "floor", Frame(GROUND), Frame(ball), law=ContactLaw(friction=MU), planar=True
    )
    drive = AppliedForce("drive", Frame(ball), (Parameter("x", 0.0), 0.0, Parameter("z", 0.0)))
    d = assemble(Mechanism([ball], coordinates="relative"), [floor, drive], gravity=(0, 0, -G))
    here, there, rest = np.zeros(3), np.array([0.3, 0, 0]), np.zeros(3)
    conditions = [StartAt(here, rest), EndAt(there, rest), FrictionMargin(0.2)]
    costs, inputs = [InputEffort(input=x) for x in "xz"], ["x", "z"]
    sequence = [ContactPhase({"floor": x}, 0.5) for x in (Open(), Sticking())]
    plan = PLAN.with_others(ExactContacts(sequence=sequence, trials=0))
    given = Horizon(1.0, 12), costs, conditions, Quintic(here, there)
    result = optimize(d, *given, inputs=inputs, plan=plan)
    assert "not_exact" not in result.data.attrs, result.data.attrs["not_exact"]
    landing = result["impact_impulse"].values[:, 0] > 0
    assert np.linalg.norm(result["v"].values[:-1][landing[1:]], axis=1) > 0.1
    assert result.data.attrs.get("held_slip", 0.0) < 1e-6
    assert not any("should hold" in x for x in result.warnings)
