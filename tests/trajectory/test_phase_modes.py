"""Modes of contacts by phase, against closed forms and mechanics written by hand."""

import json
from dataclasses import replace

import casadi as ca
import numpy as np
import pytest

from nsopt import (
    GROUND,
    Actuator,
    Body,
    ContactLaw,
    Frame,
    Mechanism,
    Parameter,
    PlaneContact,
    Prismatic,
    assemble,
)
from nsopt.trajectory import (
    Duration,
    Effort,
    EndAt,
    Horizon,
    MotionPhase,
    Open,
    Quintic,
    Sliding,
    StartAt,
    Sticking,
    optimize_phases,
)
from nsopt.trajectory.phases import sample_symbols, with_modes

G = 9.81
UP = np.column_stack([(1, 0, 0), (0, 0, -1), (0, 1, 0)])  # z of the floor is y of the world
MU, MASS = 0.4, 2.0
UNIT = (1.0, 1.0, 1.0)


def block(law=None):
    """A block that a motor draws along x, free to rise, above a floor."""
    sled, body = Body("sled", 1e-3, UNIT), Body("block", MASS, UNIT)
    joints = [
        Prismatic("along", Frame(GROUND, axes=(1, 0, 0)), Frame(sled, axes=(1, 0, 0))),
        Prismatic("rise", Frame(sled, axes=(0, 1, 0)), Frame(body, axes=(0, 1, 0))),
    ]
    law = law or ContactLaw(friction=MU)
    floor = PlaneContact("floor", Frame(GROUND, axes=UP), Frame(body), law=law, planar=True)
    mechanism = Mechanism([sled, body], joints, "relative", [Actuator("along")])
    return assemble(mechanism, [floor], (0.0, -G, 0.0))


def slide(d, mode, conditions=(), horizon=None, modes=None):
    """A phase over 1 m, or at rest."""
    guess = Quintic([0, 0], [1, 0])
    within = horizon or Horizon(1.0, 10)
    return MotionPhase(
        d, within, [Effort()], conditions, guess, modes={"floor": mode} if modes is None else modes
    )


REST = [0.0, 0.0]
START, END = StartAt([0, 0], REST), EndAt([1, 0], REST)


def test_a_block_slides_and_stays_where_it_is_put():
    """Squared m (a + mu g) over 1 s and 1 m from rest to rest; held at rest without an effort."""
    d = block()
    stays = replace(slide(d, Sticking(), horizon=Horizon(0.5, 4)), guess=Quintic([1, 0], [1, 0]))
    result = optimize_phases([slide(d, Sliding(), [START, END]), stays])
    assert result.completed, result.stop_reason
    mass = MASS + 1e-3
    expected = 12 * mass**2 + (MU * MASS * G) ** 2
    assert result.objective == pytest.approx(expected, rel=1e-6)
    moving, held = result.phases
    assert moving["contact_force"].values[1:, 0] == pytest.approx(
        np.tile([-MU * MASS * G, MASS * G, 0], (10, 1)), rel=1e-6
    )
    assert held["q"].values[:, 0] == pytest.approx(1.0, abs=1e-9)
    assert np.abs(held["drive"].values[:, 0]).max() < 1e-4
    assert json.loads(moving.data.attrs["modes"]) == {"floor": "Sliding(forwards=True)"}
    assert "impact" not in held.data.attrs  # it was closed before
    assert np.all(moving["contact_mode"].values[1:] == 1)


@pytest.mark.slow
def test_it_does_not_slide_backwards_where_it_is_to_slide_forwards():
    d, back = block(), EndAt([-1, 0], REST)
    guess, stays = Quintic([0, 0], [-1, 0]), Quintic([-1, 0], [-1, 0])
    for forwards in (True, False):
        first = replace(slide(d, Sliding(forwards), [START, back]), guess=guess)
        second = replace(slide(d, Sticking(), horizon=Horizon(0.5, 4)), guess=stays)
        result = optimize_phases([first, second])
        assert result.completed != forwards
    assert result.objective == pytest.approx(12 * (MASS + 1e-3) ** 2 + (MU * MASS * G) ** 2)


@pytest.mark.slow
def test_a_fall_ends_in_an_impact_of_its_momentum():
    """From 0.2 m: what it has downwards goes into the floor, and friction takes its part of that.

    Along the floor it has 0.6 of its speed down, of which friction takes 0.4: it slides on.
    """
    d, height = block(), 0.2
    fall, speed = np.sqrt(2 * height / G), np.sqrt(2 * height * G)
    along = 0.6 * speed
    start = StartAt([0, height], [along, 0])
    reach = along * fall
    free = replace(
        slide(d, Open(), [start], Horizon((0.05, 1.0), 10)),
        guess=Quintic([0, height], [reach, 0]),
    )
    later = Quintic(None, [reach + 0.1, 0])
    onwards = replace(slide(d, Sliding(), [], Horizon(0.1, 5)), guess=later)
    result = optimize_phases([free, onwards])
    assert result.completed, result.stop_reason
    assert result.objective == pytest.approx(0.0, abs=1e-6)
    assert result.borders[1] == pytest.approx(fall, rel=1e-6)
    (impulse,) = json.loads(result.phases[1].data.attrs["impact"])["floor"]
    assert impulse == pytest.approx(MASS * speed, rel=1e-6)
    before, after = result.phases[0]["v"].values[-1], result.phases[1]["v"].values[0]
    assert before == pytest.approx([along, -speed], rel=1e-6)
    lost = MU * MASS * speed / (MASS + 1e-3)
    assert after == pytest.approx([along - lost, 0.0], rel=1e-6, abs=1e-9)
    # To stick it is braked in the air, evenly, to what friction can take.
    sticks = optimize_phases([free, replace(onwards, modes={"floor": Sticking()})])
    assert sticks.completed, sticks.stop_reason
    taken = (MASS + 1e-3) * along - MU * MASS * speed
    assert sticks.objective == pytest.approx(taken**2 / fall, rel=1e-6)
    normal, friction = json.loads(sticks.phases[1].data.attrs["impact"])["floor"]
    assert friction == pytest.approx(-MU * normal, rel=1e-6)
    assert np.abs(sticks.phases[1]["v"].values).max() < 1e-8


@pytest.mark.parametrize(("gravity", "height"), [(G, 0.2), (G, 5e-5), (1e-2, 1e-2)])
def test_friction_in_space_is_within_its_cone(gravity, height):
    """As above, along both axes of the floor: 0.6 and 0.8 of the speed along it.

    The two last ones land at 31 and 14 mm/s: there the tip is rounded by some 0.5 % of the cone.
    """
    carts = [Body(f"cart {k}", 1e-3, UNIT) for k in range(2)]
    body, axes = Body("block", MASS, UNIT), ((1, 0, 0), (0, 0, 1), (0, 1, 0))
    links = [None, *carts, body]
    joints = [
        Prismatic(f"slide {k}", Frame(links[k], axes=axis), Frame(links[k + 1], axes=axis))
        for k, axis in enumerate(axes)
    ]
    floor = PlaneContact("floor", Frame(GROUND, axes=UP), Frame(body), law=ContactLaw(friction=MU))
    drives = [Actuator("slide 0"), Actuator("slide 1")]
    mechanism = Mechanism([*carts, body], joints, "relative", drives)
    d = assemble(mechanism, [floor], (0.0, -gravity, 0.0))
    direction = np.array([0.6, 0.8])
    fall, speed = np.sqrt(2 * height / gravity), np.sqrt(2 * height * gravity)
    along = 0.6 * speed * direction
    stated = (d, Horizon((0.25 * fall, 5 * fall), 10), [Effort()])
    start, landed = StartAt([0, 0, height], [*along, 0]), (*(along * fall), 0)
    air, hold = Quintic([0, 0, height], landed), Quintic(None, landed)
    result = optimize_phases(
        [
            MotionPhase(*stated, [start], air, modes={"floor": Open()}),
            MotionPhase(d, Horizon(0.1, 5), [Effort()], [], hold, modes={"floor": Sticking()}),
        ]
    )
    assert result.completed, result.stop_reason
    normal, *friction = json.loads(result.phases[1].data.attrs["impact"])["floor"]
    assert normal == pytest.approx(MASS * speed, rel=1e-6)
    assert -UP[:, :2] @ friction == pytest.approx(MU * normal * np.array([0.6, 0.0, 0.8]), rel=5e-3)
    limit, least = MU * normal, 1e-3 * (MASS + 2e-3)  # of the cone, and of its rounded tip
    rounded = np.sqrt(limit * (limit + np.hypot(limit, least)) / 2)
    assert np.linalg.norm(friction) == pytest.approx(rounded, rel=1e-5)


@pytest.mark.parametrize("gravity", [G, 1e-2])
def test_friction_in_space_moves_as_much_as_weight_allows(gravity):
    """A cart on a body that sticks, in least time: mu M g forwards, then backwards."""
    foot, cart, far = Body("foot", 1.0, UNIT), Body("cart", 0.5, UNIT), 0.5
    links = [Body(f"link {k}", 1e-3, UNIT) for k in range(2)]
    chain = [None, *links, foot, cart]
    joints = [
        Prismatic(f"slide {k}", Frame(chain[k], axes=axis), Frame(chain[k + 1], axes=axis))
        for k, axis in enumerate([(1, 0, 0), (0, 0, 1), (0, 1, 0), (0, 0, 1)])
    ]
    floor = PlaneContact("floor", Frame(GROUND, axes=UP), Frame(foot), law=ContactLaw(friction=MU))
    mechanism = Mechanism([*links, foot, cart], joints, "relative", [Actuator("slide 3")])
    d = assemble(mechanism, [floor], (0.0, -gravity, 0.0))
    least = 2 * np.sqrt(far * cart.mass / (MU * (foot.mass + cart.mass) * gravity))
    start, end = np.zeros(4), far * np.eye(4)[3]
    ends = [StartAt(start, start), EndAt(end, start)]
    within = Horizon((0.3 * least, 3 * least), 20)
    push = MotionPhase(
        d, within, [Duration()], ends, Quintic(start, end), modes={"floor": Sticking()}
    )
    result = optimize_phases([push])
    assert result.completed, result.stop_reason
    assert result.borders[-1] == pytest.approx(least, rel=5e-3)


def measure_margin(least, normal, friction):
    """Return how far friction of a size is within its cone [N], its tip rounded below ``least``."""
    ball = Body("ball", 1.0, UNIT)
    contact = PlaneContact("floor", Frame(GROUND), Frame(ball), law=ContactLaw(friction=MU))
    d, (forces,) = with_modes(assemble(Mechanism([ball]), [contact]), {"floor": Sticking()}, ())
    m = sample_symbols(d)
    f = ca.SX.sym("f", 3)
    rows = forces.margins(m.state, forces.contact.gaps(m.state), f, ca.SX(least))
    margin = ca.Function("margin", [m.t, m.q, m.v, m.p, f], [rows[1]])
    given = normal, 0.6 * friction, -0.8 * friction
    return float(margin(0, np.eye(7)[3], np.zeros(6), np.zeros(len(d.parameters)), given))


@pytest.mark.parametrize("normal", [-5.0, -1e-6, 0.0, 1e-3, 5.0])
def test_the_cone_in_space_is_that_of_coulomb(normal):
    """Friction is within it up to mu N, none of it where N is negative, in a solver's iterates."""
    for friction in (0.0, 1e-5, 3e-4, 0.999 * MU * 5, 1.001 * MU * 5, 100.0):
        assert (measure_margin(1e-6, normal, friction) >= 0) == (friction <= MU * normal)


def test_the_rounded_tip_of_a_cone_keeps_the_cone_and_its_size():
    """A force that pulls a little is beyond it by little."""
    least = 1e-2
    for normal in (10 * least / MU, 100 * least / MU):
        beyond = least**2 / (8 * (MU * normal) ** 2)
        assert measure_margin(least, normal, MU * normal) > 0
        assert measure_margin(least, normal, MU * normal * (1 + 1.01 * beyond)) < 0
        assert beyond < 2e-3
    for normal in (0.0, -2e-2):
        assert -0.2 < measure_margin(least, normal, 2e-2) < 0


@pytest.mark.parametrize(
    ("phase", "says"),
    [
        (lambda d: slide(d, None, modes={}), "'floor' has no acceleration: .*'floor': Open"),
        (lambda d: slide(d, None, modes={"wall": Open()}), "modes name the contact 'wall', which"),
        (
            lambda d: slide(d, Sticking(), [StartAt([0, 0.1], REST)]),
            r"Sticking\(\) of contact 'floor' does not fit .*: its distance is 0.1 m, not zero",
        ),
        (
            lambda d: slide(d, Sticking(), [StartAt([0, 0], [0.3, 0])]),
            "its slip is 0.3 m/s, not zero",
        ),
        (
            lambda d: slide(block(ContactLaw(viscous=0.5, friction=MU)), Sliding()),
            "'floor' has viscous, phases have dry friction",
        ),
        (
            lambda d: slide(block(ContactLaw(friction=MU, static_friction=2 * MU)), Sliding()),
            "'floor' has static_friction, which phases do not know",
        ),
        (
            lambda d: slide(block(ContactLaw(friction=MU, tangential_restitution=0.5)), Sliding()),
            "'floor' has tangential_restitution, which phases do not know",
        ),
        (lambda d: slide(block(ContactLaw()), Sticking()), "'floor' has no friction, so it cannot"),
    ],
)
def test_modes_that_do_not_fit_are_refused(phase, says):
    d = block()
    with pytest.raises(ValueError, match="phase 0: .*" + says):
        optimize_phases([phase(d), slide(d, Sticking())])


def test_what_is_no_mode_is_refused():
    d = block()
    with pytest.raises(TypeError, match=r"mode of contact 'floor' must be Open\(\), Sticking"):
        optimize_phases([slide(d, "open"), slide(d, Sticking())])
    with pytest.raises(TypeError, match=r"must be a mapping of contact to mode, .*, got None"):
        optimize_phases([replace(slide(d, Sticking()), modes=None)])


def two_blocks(names, floor_height=0.0):
    """A block above two floors at the same place, their height a number or a Parameter."""
    d = block()
    (_, body), law = d.mechanism.bodies, ContactLaw(friction=MU)
    floor = Frame(GROUND, (0, floor_height, 0), axes=UP)
    floors = [PlaneContact(x, floor, Frame(body), law=law, planar=True) for x in names]
    return assemble(d.mechanism, floors, (0.0, -G, 0.0))


def test_a_gap_that_an_input_moves_is_refused():
    d = two_blocks(["floor"], Parameter("height", 0.0))
    still = slide(d, Sticking(), [START], Horizon(0.5, 4))
    with pytest.raises(ValueError, match="phase 0: contact 'floor' moves with the input 'height'"):
        optimize_phases([replace(still, inputs=["height"])] * 2)


def test_contacts_of_which_forces_would_share_a_name_are_refused():
    d = two_blocks(["heel.l", "heel_l"])
    stands = slide(d, None, [START], Horizon(0.5, 4), {x.name: Sticking() for x in d.contacts})
    says = "'heel_l_normal' would be an input of contact 'heel_l' and one of contact 'heel.l'"
    with pytest.raises(ValueError, match="phase 0: " + says):
        optimize_phases([stands] * 2)
