"""Laws of compliant contacts: rebound by each law's own formula at any speed; what is recorded."""

from dataclasses import replace
from functools import cache

import casadi as ca
import numpy as np
import pytest
from scipy.optimize import brentq

from nsopt import (
    STEEL,
    AmbrosioFriction,
    Body,
    Compiled,
    CompliantContact,
    ContactAligned,
    ContactLaw,
    Flores,
    Frame,
    Gonthier,
    HerbertMcWhannell,
    Hertz,
    HuntCrossley,
    KelvinVoigt,
    LankaraniNikravesh,
    LeeWang,
    Material,
    MoreauJean,
    PaperStep,
    Parameter,
    PlanarRevoluteClearance,
    PlaneContact,
    SmoothCoulomb,
    Start,
    StepBounds,
    Variational,
    hertz_stiffness,
    pin_stiffness,
    simulate,
)
from nsopt.elements import Hysteresis
from nsopt.mechanics import State, acceleration
from tests.catalog import COMPLIANT_LAWS
from tests.states import array, assembled

laws = pytest.mark.parametrize("law", COMPLIANT_LAWS, ids=lambda law: type(law).__name__)
MASS, K = 2.0, 1e7
FACTORS = {  # k of each paper at e
    HuntCrossley: lambda e: 3 * (1 - e) / 2,
    HerbertMcWhannell: lambda e: 6 * (1 - e) / ((2 * e - 1) ** 2 + 3),
    LeeWang: lambda e: 3 * (1 - e) / 4,
    LankaraniNikravesh: lambda e: 3 * (1 - e**2) / 4,
    Flores: lambda e: 8 * (1 - e) / (5 * e),
}


def implied(k):
    """Restitution of m x'' = -K x^n (1 + k x' / v), by separation of variables."""
    return brentq(
        lambda e: k * (1 + e) - np.log((1 + k) / (1 - k * e)), 1e-9, min(1, 1 / k) - 1e-15
    )


def thrown_at_wall(law, e, speed, mu=0.0, along=0.0, **options):
    """A particle that is about to meet a wall of the law."""
    velocity = (-speed, 0, along)
    ball = Body("ball", MASS, position=(1e-6, 0, 0), velocity=velocity, point_mass=True)
    rigid = ContactLaw(restitution=e, friction=mu)
    wall = PlaneContact("wall", Frame(None, axes=(1, 0, 0)), Frame(ball), law=rigid)
    return assembled([ball], [CompliantContact("soft", wall, law, **options)], (0, 0, 0))


def lasting(speed, stiffness=K, n=1.5):
    """Time for which an elastic contact of Hertz lasts [s]."""
    return 2.9433 * ((n + 1) * MASS * speed**2 / (2 * stiffness)) ** (1 / (n + 1)) / speed


def run(dynamics, duration, h, scheme=None, start=None, **parameters):
    result = simulate(
        dynamics,
        start,
        duration,
        steps=StepBounds(h, h),
        scheme=scheme or Variational(),
        solver=None if scheme and scheme.chooses_h else Compiled(chunk=100),
        parameters=parameters,
        progress=False,
    )
    assert result.completed, result.stop_reason
    return result


@cache
def wall_of(law):
    return thrown_at_wall(law(K), Parameter("e", 0.7), 1.0)


def rebound(law, e, speed):
    """Speed after over speed before, 200 steps in contact."""
    contact, start = lasting(speed), Start(np.array([1e-6, 0, 0, 0]), np.array([-speed, 0, 0]))
    duration = 2e-6 / speed + 2.5 * contact
    result = run(wall_of(law), duration, contact / 200, start=start, e=e)
    return result["v"].values[-1, 0] / speed


@pytest.mark.parametrize("law", [*FACTORS, Gonthier], ids=lambda law: law.__name__)
@pytest.mark.parametrize(("e", "speed"), [(0.9, 0.01), (0.9, 10.0), (0.5, 0.3), (0.2, 3.0)])
def test_rebound_is_that_of_each_paper_at_any_speed(law, e, speed):
    """The impact speed is that of each impact, so the rebound does not depend on it."""
    expected = e if law is Gonthier else implied(FACTORS[law](e))
    assert rebound(law, e, speed) == pytest.approx(expected, abs=3e-3)


@pytest.mark.parametrize("law", [Hertz, *FACTORS, Gonthier], ids=lambda law: law.__name__)
@pytest.mark.parametrize("h", [1, 10])
def test_steps_resolve_an_impact_whatever_their_bounds(law, h):
    """h of so many times its duration; bodies that rest on what is as stiff take h_max."""
    e, speed = (1.0, 0.8) if law is Hertz else (0.7, 0.8)
    known = law is Hertz or law is Gonthier
    expected = e if known else implied(FACTORS[law](e))
    contact, start = lasting(speed), Start(np.array([1e-2, 0, 0, 0]), np.array([-speed, 0, 0]))
    steps, wall = StepBounds(1e-6 * contact, h * contact), wall_of(law)
    start = replace(start, q=start.q[: wall.nq])
    numbers = {} if law is Hertz else {"e": e}
    result = simulate(
        wall, start, 30 * contact, steps=steps, parameters=numbers, progress=False, check=None
    )
    assert result["v"].values[-1, 0] / speed == pytest.approx(expected, abs=5e-3)
    assert 30 < len(result["time"]) < 150


def test_what_rests_on_a_stiff_floor_takes_h_max():
    """Where depths do not change steps need not be shorter than its own swing, 2e-5 s."""
    ball = Body("ball", MASS, position=(0, 0, 1e-3), point_mass=True)
    floor = PlaneContact("floor", Frame(None), Frame(ball), law=ContactLaw(restitution=0.5))
    d = assembled([ball], [CompliantContact("soft", floor, Flores(1e8))], (0, 0, -9.81))
    steps = StepBounds(1e-8, 1e-3)
    result = simulate(d, duration=0.5, steps=steps, progress=False, check=None)
    sunk = (MASS * 9.81 / 1e8) ** (1 / 1.5)
    assert result["gap"].values[-1, 0] == pytest.approx(-sunk, rel=1e-6)
    assert np.mean(result["h"].values[-300:]) > 9e-4


@pytest.mark.parametrize("e", [0.9999, 0.9, 0.5, 0.1])
def test_gonthier_parts_bodies_with_the_stated_restitution(e):
    assert implied(float(Gonthier(K).factor(ca.SX(e)))) == pytest.approx(e, abs=1e-7)
    assert float(Gonthier(K).factor(ca.SX(1.0))) == 0


def test_a_spring_with_a_damper_rebounds_as_in_closed_form():
    stiffness, D, speed = 1e5, 150.0, 0.5
    zeta = D / (2 * np.sqrt(stiffness * MASS))
    root = np.sqrt(1 - zeta**2)
    expected = np.exp(-zeta / root * (np.pi - np.arctan(2 * zeta * root / (1 - 2 * zeta**2))))
    d = thrown_at_wall(KelvinVoigt(stiffness, damping_coefficient=D), 0.0, speed)
    result = run(d, 0.02, 1e-5)
    assert result["v"].values[-1, 0] / speed == pytest.approx(expected, abs=1e-3)
    assert result["contact_force"].values[1:, 0, 0].min() >= 0


@pytest.mark.parametrize(
    "law",
    [x for x in COMPLIANT_LAWS if type(x) in (Hertz, KelvinVoigt, Flores)],
    ids=lambda law: type(law).__name__,
)
def test_what_is_lost_is_on_record_like_that_of_a_rigid_contact(law):
    """Force, point, depth, joint force and loss; and the losses are the energy that is missing."""
    speed, contact = 0.8, lasting(0.8, 1e6)
    result = run(thrown_at_wall(law, 0.7, speed), 2 * contact, contact / 300)
    assert list(result["contact"].values) == ["soft"]
    assert list(result["joint"].values) == ["soft"]
    force, h = result["contact_force"].sel(contact="soft"), result["h"].values[1:]
    x = result["body_position"].values[:, 0, 0]
    assert result["gap"].values[:, 0] == pytest.approx(x, abs=1e-15)
    assert np.all(force.sel(axis="x").values[x > 0] == 0)
    assert result["joint_reaction"].values[:, 0] == pytest.approx(force.values, abs=0)
    change = MASS * (result["v"].values[-1, 0] + speed)
    assert np.nansum(result["impulse"].values) == pytest.approx(change, rel=2e-2)
    assert h.sum() == pytest.approx(result["time"].values[-1])
    lost = MASS * (speed**2 - result["v"].values[-1, 0] ** 2) / 2
    assert np.nansum(result["contact_loss"].values) == pytest.approx(lost, rel=1e-3, abs=1e-4)
    assert result["dissipated_energy"].values[-1] == pytest.approx(lost, abs=1e-12)
    assert np.all(result["gap_violation"].values == 0)
    assert not result.warnings


@pytest.mark.slow
def test_offset_point_and_torque_are_those_of_a_rigid_joint():
    """A bushing pushed through its clearance against the pin."""
    c, radius, load = 1e-3, 0.02, 50.0
    sleeve = Body("sleeve", 1.0, (1e-3, 1e-3, 1e-3), position=(0, -c - 2e-6, 0))
    hinge = PlanarRevoluteClearance("hinge", Frame(None), Frame(sleeve), c, radius)
    d = assembled([sleeve], [CompliantContact("soft", hinge, Hertz(K))], (0, -load, 0))
    result = simulate(
        d, duration=1e-5, steps=StepBounds(1e-6, 1e-6), scheme=Variational(), progress=False
    )
    offset, point = (result[x].values[0, 0] for x in ("contact_offset", "contact_point"))
    assert offset == pytest.approx([0, -c - 2e-6, 0], abs=1e-12)
    assert point == pytest.approx([0, radius - 2e-6, 0], abs=1e-9)
    force = result["contact_force"].values[0, 0]
    assert force == pytest.approx([0, K * 2e-6**1.5, 0], rel=1e-6)
    assert np.atleast_1d(result.data.attrs["clearances"]) == pytest.approx([c])
    assert result["joint_reaction"].values[0, 0] == pytest.approx(force)


@pytest.mark.parametrize(
    "scheme", [Variational(), MoreauJean(), ContactAligned(), PaperStep()], ids=repr
)
def test_every_scheme_carries_the_speed_of_the_impact_along(scheme):
    """To the next contact, which begins with a speed of its own."""
    speed, free = 0.8, scheme.chooses_h
    h = lasting(speed) / (400 if scheme.order == 2 else 1600)
    d = thrown_at_wall(Flores(K), 0.6, speed)
    result = run(d, 40 * h if free else 2 * lasting(speed), h, scheme)
    latched, x = result["q"].values[:, -1], result["body_position"].values[:, 0, 0]
    closed = np.flatnonzero(x[:-1] < 0) + 1
    assert latched[closed] == pytest.approx(speed, rel=1e-3)
    assert np.all(latched[np.flatnonzero(x[:-1] >= 0) + 1] == 0)
    if not free:
        assert result["v"].values[-1, 0] / speed == pytest.approx(
            implied(FACTORS[Flores](0.6)), abs=2e-3
        )


def test_a_latched_speed_has_no_acceleration_of_its_own():
    d = thrown_at_wall(Flores(K), 0.6, 0.8)
    with pytest.raises(ValueError, match=r"'soft.impact_speed' is known from step to step"):
        acceleration(d)
    assert acceleration(thrown_at_wall(Flores(K, impact_speed=0.8), 0.6, 0.8)) is not None


@pytest.mark.parametrize(
    ("friction", "slip", "share"),
    [
        (SmoothCoulomb(1e-3), 1e-3, 1 / np.sqrt(2)),
        (AmbrosioFriction(1e-3, 3e-3), 0.5e-3, 0.0),
        (AmbrosioFriction(1e-3, 3e-3), 2e-3, 0.5),
        (AmbrosioFriction(1e-3, 3e-3), 0.1, 1.0),
    ],
)
def test_friction_is_a_share_of_coulombs_by_the_slip(friction, slip, share):
    d = thrown_at_wall(Hertz(K), 0.0, 0.0, 0.3, slip, friction=friction)
    q, v = d.stated_start()
    q[0] = -1e-5
    force = array(d.applied(0, q, v, d.values()))
    pressure = K * 1e-5**1.5
    assert force == pytest.approx([pressure, 0, -0.3 * share * pressure], rel=1e-6, abs=1e-9)
    assert float(d.pressed_loss(0, q, v, d.values(), v)) == pytest.approx(
        0.3 * share * pressure * slip, rel=1e-6, abs=1e-12
    )


@pytest.mark.unit
def test_stiffness_of_hertz():
    """Of a pin of 9.5 mm in a bore of 10 mm, of steel: 6.6e10 N/m^1.5 [Flores, Ambrosio 2004]."""
    assert hertz_stiffness(9.5e-3, -10e-3).stiffness == pytest.approx(6.6e10, rel=5e-3)
    steel = 207e9 / (1 - 0.09)
    assert hertz_stiffness(0.02) == pytest.approx((4 / 3 * steel / 2 * np.sqrt(0.02), 1.5))
    soft = Material(3e9, 0.4)
    assert (
        hertz_stiffness(0.02, materials=(soft, STEEL)).stiffness < hertz_stiffness(0.02).stiffness
    )
    with pytest.raises(ValueError, match="must be wider than the ball"):
        hertz_stiffness(0.02, -0.01)


@pytest.mark.unit
def test_stiffness_of_a_pin_is_johnsons_law_near_the_load():
    c, length, load = 2e-4, 0.02, 800.0
    modulus = 1 / (2 * STEEL.compliance)

    def depth(force):
        line = force / length
        return line / (np.pi * modulus) * (np.log(4 * np.pi * modulus * c / line) - 1)

    stiffness, n = pin_stiffness(c, length, load)
    for force in (0.99 * load, load, 1.01 * load):
        assert stiffness * depth(force) ** n == pytest.approx(force, rel=1e-5)
    with pytest.raises(ValueError, match="is too much for a line of contact"):
        pin_stiffness(1e-6, 1e-3, 1e5)


@pytest.mark.unit
@laws
def test_energy_is_the_integral_of_the_elastic_force(law):
    s, depth = State(ca.SX(0), {}, {}), ca.SX.sym("depth")
    energy, force = law.energy(s, depth), law.elastic(s, depth)
    both = ca.Function("both", [depth], [ca.gradient(energy, depth), force])
    slope, f = map(float, both(3e-4))
    assert slope == pytest.approx(f, rel=1e-12)
    assert isinstance(law, Hysteresis) or not law.latches
