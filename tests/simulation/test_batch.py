"""Many states at once: each as by `simulate`, and as by Newton's law."""

import numpy as np
import pytest

from nsopt import (
    GROUND,
    AppliedForce,
    AppliedTorque,
    Body,
    Compiled,
    ContactAligned,
    ContactLaw,
    CubicLaw,
    Frame,
    Mechanism,
    PaperStep,
    Parameter,
    PlaneContact,
    Revolute,
    Start,
    StepBounds,
    TurnRange,
    assemble,
    batch_step,
    simulate,
)
from nsopt.mpcc import Newton, ProximalPoints

HARDLY = Newton(1e-12, 1e-12, iterations=1, points=ProximalPoints(budget=0, last=0))
MASS, G, H = 2.0, 9.81, 1e-3
PUSH = np.array([0.0, 3.0, 9.0])  # N; friction holds up to 5.9 N
HEIGHT = np.array([0.0, 1e-3, 0.0])  # m


def sled():
    """A point on a rough floor, pushed along."""
    body = Body("sled", MASS, point_mass=True)
    law = ContactLaw(friction=0.3)
    floor = PlaneContact("floor", Frame(GROUND), Frame(body), law=law, planar=True)
    push = AppliedForce("push", Frame(body), (Parameter("force", 0.0), 0.0, 0.0))
    return assemble(Mechanism([body], coordinates="relative"), [floor, push], gravity=(0, 0, -G))


def at(height, speed=0.0):
    return Start(np.array([0.0, 0.0, height]), np.array([speed, 0.0, 0.0]))


@pytest.fixture(scope="module")
def dynamics():
    return sled()


@pytest.mark.parametrize("threads", [1, 2])
def test_states_move_as_by_simulate(dynamics, threads):
    """One that rests, one that falls and sticks, one that is pushed off."""
    batch = batch_step(dynamics, 3, H, substeps=10, threads=threads)
    batch.reset([0, 1, 2], [at(z, 0.2) for z in HEIGHT])
    for _ in range(10):
        assert batch.step({"force": PUSH}).completed.all()
    for k in range(3):
        result = simulate(
            dynamics,
            at(HEIGHT[k], 0.2),
            100 * H,
            steps=StepBounds(H, H),
            parameters={"force": PUSH[k]},
            progress=False,
        )
        assert batch.q[k] == pytest.approx(result["q"].values[-1], abs=1e-12)
        assert batch.v[k] == pytest.approx(result["v"].values[-1], abs=1e-10)
    assert batch.t == pytest.approx(np.full(3, 100 * H))
    assert batch.v[2, 0] == pytest.approx(0.2 + (PUSH[2] / MASS - 0.3 * G) * 100 * H)  # Coulomb's


@pytest.mark.slow
def test_steps_that_end_at_events_are_made_up_for():
    """A ball dropped from three heights rises with e times the speed with which it falls."""
    ball, e, heights = Body("ball", MASS, point_mass=True), 0.7, np.array([0.05, 0.08, 0.1])
    law = ContactLaw(restitution=e)
    floor = PlaneContact("floor", Frame(GROUND), Frame(ball), law=law, planar=True)
    d = assemble(Mechanism([ball], coordinates="relative"), [floor], gravity=(0, 0, -G))
    batch = batch_step(d, 3, H, substeps=10, scheme=ContactAligned())
    batch.reset([0, 1, 2], [at(z) for z in heights])
    for _ in range(20):
        assert batch.step().completed.all()
    fall = np.sqrt(2 * heights / G)
    rise = 0.2 - fall
    assert batch.v[:, 2] == pytest.approx(e * G * fall - G * rise, abs=1e-9)
    assert batch.q[:, 2] == pytest.approx(e * G * fall * rise - G * rise**2 / 2, abs=1e-9)
    assert batch.t == pytest.approx(np.full(3, 0.2))


def test_single_states_are_reset(dynamics):
    batch = batch_step(dynamics, 3, H, start=at(1.0))
    for _ in range(20):
        batch.step({"force": 1.0})
    batch.reset(np.array([False, True, False]))
    batch.reset(2, at(0.5, 0.1))
    assert batch.q[:, 2] == pytest.approx([1 - G * 0.02**2 / 2, 1.0, 0.5])
    assert batch.v[:, 0] == pytest.approx([0.02 / MASS, 0.0, 0.1])
    assert batch.t == pytest.approx([0.02, 0.0, 0.0])
    batch.step({"force": [0.0, MASS, 0.0]})
    assert batch.v[:, 0] == pytest.approx([0.02 / MASS, H, 0.1])


@pytest.mark.slow
def test_what_newton_does_not_solve_is_stepped_as_by_simulate(dynamics):
    """One iteration misses that a contact closes and slip ends: told, and right all the same."""
    batch = batch_step(dynamics, 2, H, substeps=5, solver=Compiled(HARDLY))
    starts = [at(1.0), at(2 * G * H**2, 1e-3)]
    batch.reset([0, 1], starts)
    stepped = batch.step()
    assert stepped.completed.all()
    assert list(stepped.by_others) == [False, True]
    for k, start in enumerate(starts):
        result = simulate(dynamics, start, 5 * H, steps=StepBounds(H, H), progress=False)
        assert batch.q[k] == pytest.approx(result["q"].values[-1], abs=1e-9)


def test_without_fallbacks_a_state_stays_where_newton_fails(dynamics):
    starts = [at(1.0), at(2 * G * H**2, 1e-3)]
    options = {"substeps": 5, "solver": Compiled(HARDLY), "fallbacks": False}
    batch = batch_step(dynamics, 2, H, **options)
    batch.reset([0, 1], starts)
    stepped = batch.step()
    assert list(stepped.completed) == [True, False]
    assert not stepped.by_others.any()
    assert batch.t[0] == pytest.approx(5 * H)
    assert batch.t[1] < 4.5 * H
    assert batch.q[1, 2] >= 0


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda d: batch_step(d, 0, H), "n of batch_step must be a whole number"),
        (lambda d: batch_step(d, 2, -H), "h of batch_step"),
        (lambda d: batch_step(d, 2, H, scheme=PaperStep()), "whose h is given"),
        (lambda d: batch_step(d, 2, H).step({"torque": 1.0}), "unknown parameter 'torque'"),
        (lambda d: batch_step(d, 2, H).step({"force": [1.0] * 3}), "each of the 2 states"),
        (lambda d: batch_step(d, 2, H).reset(0, at(-0.1)), "floor"),
        (lambda d: batch_step(d, 3, H).reset([0, 1, 2], [at(0)] * 2), "got 2"),
    ],
)
def test_bad_input_is_refused(dynamics, call, text):
    with pytest.raises(ValueError, match=text):
        call(dynamics)


def test_values_that_elements_refuse_are_refused():
    """Alone or together, by all values of a state; then all stay as they were."""
    arm = Body("arm", MASS, (0.1, 0.1, 0.1), position=(0.5, 0.0, 0.0))
    hinge = Revolute("hinge", Frame(GROUND), Frame.at(arm, (0.0, 0.0, 0.0)))
    lower, upper = Parameter("lower", -1.0), Parameter("upper", 1.0)
    limit = TurnRange("limit", *hinge.frames, lower=lower, upper=upper, law=CubicLaw(50.0, 0.1))
    push = AppliedTorque("push", Frame(arm), (0.0, 0.0, Parameter("torque", 0.0)))
    dynamics = assemble(Mechanism([arm], [hinge]), [limit, push])
    one, other = (batch_step(dynamics, 2, H) for _ in range(2))
    for batch in (one, other):
        batch.step({"lower": [-2.0, -0.5], "upper": [1.5, 2.0], "torque": [-20.0, 3.0]})
    for refused in ({"lower": [-2.0, 3.0]}, {"torque": 0.0, "upper": [-3.0, 1.0]}):
        with pytest.raises(ValueError, match=r"lower .* must be below upper"):
            one.step(refused)
    for batch in (one, other):
        batch.step()
    assert np.array_equal(one.v, other.v)
    assert np.abs(one.v).min() > 0
