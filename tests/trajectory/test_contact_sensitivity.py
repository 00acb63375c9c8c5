"""Derivatives across events of contacts: closed forms, finite differences, and ties told."""

import numpy as np
import pytest

from nsopt import (
    Body,
    ContactAligned,
    ContactLaw,
    Frame,
    Mechanism,
    MoreauJean,
    PaperStep,
    Parameter,
    PlaneContact,
    Prismatic,
    Start,
    StepBounds,
    Variational,
    assemble,
)
from nsopt.trajectory import SensitivityError, sensitivities
from tests.schemes.models import G, ball
from tests.trajectory.differences import TIGHT, difference, named


@pytest.mark.slow
def test_event_times_move_along():
    """A ball of e = 0.8 dropped from 1 m, after its first impact: in closed form."""
    derivatives = sensitivities(
        ball(0.8), None, 0.7, steps=StepBounds(1e-3, 1e-2), scheme=ContactAligned()
    )
    T, e, h0 = 0.7, 0.8, 1.0
    fall = np.sqrt(2 * h0 / G)
    left = T - fall
    assert derivatives.value[0, 2] == pytest.approx(e * G * fall * left - G * left**2 / 2, abs=1e-9)
    by_height = (e * G * left - e * G * fall + G * left) / (G * fall)
    assert by_height == pytest.approx(0.190552, abs=1e-6)
    assert derivatives.forward().q0[0, 2, 2] == pytest.approx(by_height, abs=1e-9)
    weights = np.zeros((1, 6))
    weights[0, 2] = 1
    assert derivatives.adjoint(weights).q0[2] == pytest.approx(by_height, abs=1e-9)
    # Thrown upwards faster it lands later, with more speed.
    thrown = difference(
        lambda v: sensitivities(
            ball(0.8),
            Start(np.array([0, 0, 1.0]), np.array([0, 0, v])),
            T,
            steps=StepBounds(1e-3, 1e-2),
            scheme=ContactAligned(),
        ).value[0, 2],
        0.0,
        1e-3,
    )
    assert derivatives.forward().v0[0, 2, 2] == pytest.approx(thrown, rel=1e-7)


def test_an_impact_in_which_a_slip_stops():
    """It sticks and rebounds at once: from there it flies straight up, in closed form."""
    rail, e, height, vx, T = (1.0, 0.0, 0.0), 0.5, 0.1, 0.3, 0.25
    sled, puck = (Body(name, 1.0, (1.0, 1.0, 1.0)) for name in ("sled", "puck"))
    joints = [
        Prismatic("x", Frame(None, axes=rail), Frame(sled, axes=rail)),
        Prismatic("z", Frame(sled), Frame(puck)),
    ]
    floor = PlaneContact("floor", Frame(None), Frame(puck), law=ContactLaw(e, friction=9.0))
    d = assemble(Mechanism([sled, puck], joints, "relative"), [floor], gravity=(0, 0, -G))
    start = Start(np.array([0.0, height]), np.array([vx, 0.0]))
    steps, scheme = StepBounds(1e-3, 1e-2), ContactAligned()
    found = sensitivities(d, start, T, steps=steps, scheme=scheme)
    fall = np.sqrt(2 * height / G)
    left, later = T - fall, 1 / G  # by a speed upwards at the start
    z = e * G * fall * left - G * left**2 / 2
    assert found.value[0] == pytest.approx([vx * fall, z, 0, e * G * fall - G * left], abs=1e-9)
    by_x, by_z = [fall, 0, 0, 0], [vx * later, G * left * later - e * G * fall * later, 0, 1]
    assert found.forward().v0[0] == pytest.approx(np.transpose([by_x, by_z]), abs=1e-9)


def test_several_impacts_by_restitution():
    """x(2 s) by e, after three impacts, in closed form."""
    body = Body("ball", 1.0, position=(0, 0, 1.0), point_mass=True)
    law = ContactLaw(restitution=Parameter("e", 0.8))
    floor = PlaneContact("floor", Frame(None), Frame(body), law=law)
    dynamics = assemble(Mechanism([body]), [floor], (0, 0, -G))
    times = [0.3, 1.0, 2.0]
    derivatives = sensitivities(
        dynamics, None, times, steps=StepBounds(1e-3, 1e-2), scheme=ContactAligned()
    )

    def height(e):
        t, rows = np.sqrt(2 / G), []
        for T in times:
            begin, v = t, e * G * t
            while begin + 2 * v / G < T:
                begin, v = begin + 2 * v / G, e * v
            rows.append(1 - G * T**2 / 2 if t > T else v * (T - begin) - G * (T - begin) ** 2 / 2)
        return np.array(rows)

    assert derivatives.value[:, 2] == pytest.approx(height(0.8), abs=1e-8)
    exact = difference(height, 0.8, 1e-3)
    assert derivatives.forward().parameters[:, 2, 0] == pytest.approx(exact, abs=1e-7)


@pytest.mark.parametrize("scheme", [Variational(), MoreauJean(), PaperStep()], ids=named)
def test_fixed_steps_refuse_rebounds(scheme):
    with pytest.raises(ValueError, match=r"contact 'floor' rebounds with e = 0\.8, .*Aligned"):
        sensitivities(ball(0.8), None, 0.7, steps=StepBounds(1e-2, 1e-2), scheme=scheme)


@pytest.mark.slow
@pytest.mark.parametrize("scheme", [Variational(), MoreauJean(project=True)], ids=str)
def test_a_contact_that_just_touches_is_told(scheme):
    """A ball that lies on its floor without weight."""
    body = Body("ball", 1.0, point_mass=True)
    floor = PlaneContact("floor", Frame(None), Frame(body))
    dynamics = assemble(Mechanism([body]), [floor], (0, 0, 0))
    with pytest.raises(SensitivityError, match=r"t = 0\.01 s .* not exist: contact 'floor' just"):
        sensitivities(dynamics, None, 0.1, steps=StepBounds(1e-2, 1e-2), scheme=scheme)


@pytest.mark.slow
@pytest.mark.parametrize("planar", [False, True])
@pytest.mark.parametrize("height", [0.0, 1.0])
def test_a_pull_of_what_friction_holds_has_no_derivative_but_in_flight(planar, height):
    """A block that is pulled by mu m g: on its floor v is 0 or (pull - mu g) t, above it pull t."""
    mu, t = 0.5, 0.1
    body = Body("block", 1.0, position=(0, 0, height), point_mass=True)
    law = ContactLaw(friction=mu)
    floor = PlaneContact("floor", Frame(None), Frame(body), law=law, planar=planar)
    dynamics = assemble(Mechanism([body]), [floor], (Parameter("pull", mu * G), 0, -G))

    def find():
        return sensitivities(dynamics, None, t, steps=StepBounds(1e-2, 1e-2))

    if height:
        assert find().forward().parameters[0, 3, 0] == pytest.approx(t, abs=1e-10)
    else:
        with pytest.raises(SensitivityError, match="not exist: contact 'floor'"):
            find()


@pytest.mark.slow
def test_two_walls_at_once_are_told_unless_both_move_alike():
    """A ball into a corner: by gravity's tilt along the bisector yes, by its place no."""
    body = Body("ball", 1.0, position=(1.0, 0, 1.0), point_mass=True)
    law = ContactLaw(restitution=0.5)
    side = np.column_stack([[0, 1.0, 0], [0, 0, 1.0], [1.0, 0, 0]])
    walls = [
        PlaneContact("floor", Frame(None), Frame(body), law=law),
        PlaneContact("wall", Frame(None, axes=side), Frame(body), law=law),
    ]
    pull = Parameter("pull", -G)
    dynamics = assemble(Mechanism([body]), walls, (pull, 0, pull))
    options = {"steps": StepBounds(1e-3, 1e-2), "scheme": ContactAligned()}
    with pytest.raises(SensitivityError, match=r"contact 'floor', contact 'wall'|contact '"):
        sensitivities(dynamics, None, 0.7, **options)
    derivatives = sensitivities(dynamics, None, 0.7, by_start=False, **options)

    def height(g):
        fall = np.sqrt(2 / g)
        return 0.5 * g * fall * (0.7 - fall) - g * (0.7 - fall) ** 2 / 2

    exact = -difference(height, G, 1e-3)
    assert derivatives.forward().parameters[0, [0, 2], 0] == pytest.approx([exact, exact], abs=1e-7)


@pytest.mark.slow
def test_lasting_contact_is_no_tie():
    """A ball that rests: held by the floor, free along it."""
    forward = sensitivities(
        ball(0.0, 0.0), None, 0.1, steps=StepBounds(1e-2, 1e-2), scheme=ContactAligned()
    ).forward()
    assert np.diag(forward.q0[0, :3]) == pytest.approx([1, 1, 0], abs=1e-9)
    assert np.diag(forward.v0[0, 3:]) == pytest.approx([1, 1, 0], abs=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize("planar", [True, False], ids=["exact", "regularised"])
def test_sliding_to_rest(planar):
    """A block with dry friction slides v0^2 / (2 mu g), and its last step is a part of one."""
    body = Body("block", 1.0, velocity=(1.0, 0, 0), point_mass=True)
    law = ContactLaw(friction=Parameter("mu", 0.3))
    floor = PlaneContact("floor", Frame(None), Frame(body), planar=planar, law=law)
    dynamics = assemble(Mechanism([body]), [floor], (0, 0, -G))

    def run(mu):
        return sensitivities(
            dynamics,
            None,
            [0.2, 0.5],
            steps=StepBounds(1e-3, 1e-3),
            outputs=lambda t, q, v, p: q[0],
            parameters={"mu": mu},
            newton=TIGHT,
        )

    forward = run(0.3).forward()
    assert forward.parameters[0, 0, 0] == pytest.approx(-G * 0.2**2 / 2, rel=1e-3)
    assert forward.parameters[1, 0, 0] == pytest.approx(-1 / (2 * 0.3**2 * G), rel=1e-2)
    assert forward.v0[1, 0, 0] == pytest.approx(1 / (0.3 * G), rel=1e-2)
    exact = difference(lambda mu: run(mu).value, 0.3, 1e-6)
    assert forward.parameters[:, 0, 0] == pytest.approx(exact[:, 0], rel=1e-6)


@pytest.mark.parametrize("scheme", [MoreauJean(), Variational(), ContactAligned()])
def test_friction_in_space_by_a_coefficient_that_is_zero(scheme):
    """A body on a floor without friction would lose g t of its speed for each unit of mu."""
    body = Body("body", 1.0, velocity=(0.6, 0.8, 0), point_mass=True)
    law = ContactLaw(friction=Parameter("mu", 0.0))
    floor = PlaneContact("floor", Frame(None), Frame(body), law=law)
    found = sensitivities(
        assemble(Mechanism([body]), [floor], (0, 0, -G)),
        times=0.05,
        steps=StepBounds(5e-3, 5e-3),
        outputs=lambda t, q, v, p: v[:2],
        scheme=scheme,
        by_start=False,
    )
    lost = G * 0.05 * np.array([0.6, 0.8])
    assert found.forward().parameters[0, :, 0] == pytest.approx(-lost, rel=1e-9)


@pytest.mark.slow
def test_dependent_contacts():
    """A table on four legs: forces not unique, its motion along the floor is."""
    body = Body("table", Parameter("mass", 2.0), (0.1, 0.1, 0.1), (0, 0, 0.5), velocity=(1, 0, 0))
    legs = [
        PlaneContact(f"leg {x} {y}", Frame(None), Frame.at(body, (x, y, 0)))
        for x in (-0.4, 0.4)
        for y in (-0.3, 0.3)
    ]
    dynamics = assemble(Mechanism([body]), legs, (0, 0, -G))
    derivatives = sensitivities(dynamics, None, 0.1, steps=StepBounds(1e-2, 1e-2), by=("mass",))
    assert derivatives.forward().parameters == pytest.approx(0, abs=1e-9)
    assert derivatives.forward().v0[0, 0, 0] == pytest.approx(0.1, abs=1e-9)


def test_an_oblique_impact_with_friction_and_rebound_is_exact():
    e, height, end = 0.5, 0.3, 0.4
    body = Body("ball", 1.0, velocity=(2.0, 0, 0), position=(0, 0, height), point_mass=True)
    law = ContactLaw(restitution=e, friction=Parameter("mu", 0.05))
    floor = PlaneContact("floor", Frame(None), Frame(body), law=law)
    forward = sensitivities(
        assemble(Mechanism([body]), [floor], (0, 0, -G)),
        times=end,
        steps=StepBounds(1e-3, 7e-3),
        outputs=lambda t, q, v, p: q[0],
        scheme=ContactAligned(),
        by_start=False,
    ).forward()
    meets = np.sqrt(2 * height / G)
    slower = (1 + e) * G * meets  # by mu
    assert forward.parameters[0, 0, 0] == pytest.approx(-slower * (end - meets), rel=1e-9)
