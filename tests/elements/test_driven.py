"""Driven joints: the course is kept, the effort on record is what the motion takes."""

import numpy as np
import pytest

from nsopt import (
    GROUND,
    AppliedForce,
    Body,
    Compiled,
    ContactAligned,
    Cylindrical,
    Driven,
    Frame,
    Mechanism,
    Parameter,
    Planar,
    PlanarRevoluteClearance,
    Prismatic,
    Result,
    Revolute,
    Slide,
    SphericalClearance,
    Start,
    StepBounds,
    Turn,
    TurnFriction,
    Variational,
    ViscousLaw,
    assemble,
    consistent,
    load_problem,
    simulate,
)
from nsopt.analysis import mode_statistics
from tests.states import run

G = 9.81
MASS, ARM, INERTIA = 0.3, 0.025, 1e-4
coordinates = pytest.mark.parametrize("coordinates", ["absolute", "relative"])


def crank(course, coordinates="relative", elements=(), **options):
    body = Body("crank", MASS, (INERTIA,) * 3, position=(ARM, 0, 0))
    bearing = Revolute("bearing", Frame(GROUND), Frame.at(body, (0, 0, 0)))
    motor = Driven("motor", bearing, course, **options)
    mechanism = Mechanism([body], [bearing, motor], coordinates)
    return assemble(mechanism, [make(bearing) for make in elements], (0, -G, 0))


def moment(angle, acceleration):
    """The moment that turns the crank, by hand."""
    return (INERTIA + MASS * ARM**2) * acceleration + MASS * G * ARM * np.cos(angle)


def means(course, t):
    """Means of a course over steps, by Simpson's rule."""
    return (course(t[:-1]) + 4 * course((t[:-1] + t[1:]) / 2) + course(t[1:])) / 6


@pytest.mark.slow
@coordinates
def test_its_torque_is_what_the_motion_takes(coordinates):
    """Beyond a turn; phi = 4 pi t^2."""
    d = crank(lambda t: 4 * np.pi * t**2, coordinates)
    result = run(d, 1.0, 1e-3, consistent(d), scheme=Variational(), solver=Compiled())
    t = result["time"].values
    expected = means(lambda t: moment(4 * np.pi * t**2, 8 * np.pi), t)
    assert result["motor.torque"].values[1:] == pytest.approx(expected, abs=5e-6)
    assert result["motor.torque"].attrs["units"] == "N m"
    assert float(result["constraint_violation"].max()) < 1e-12
    gain = result["total_energy"].values - result["total_energy"].values[0]
    assert np.ptp(gain) > 0.1
    assert result["external_work"].values == pytest.approx(gain, abs=1e-5)


def test_reaction_of_its_bearing_is_without_the_torque():
    d = crank(lambda t: 0 * t)
    result = run(d, 0.01, 1e-3, consistent(d), scheme=Variational())
    bearing, motor = (result.data.sel(joint=name) for name in ("bearing", "motor"))
    assert bearing["joint_reaction"].values[-1] == pytest.approx([0, MASS * G, 0])
    assert bearing["joint_reaction_torque"].values[-1] == pytest.approx(0, abs=1e-12)
    assert motor["joint_reaction_torque"].values[-1] == pytest.approx([0, 0, moment(0, 0)])
    assert motor["joint_reaction"].values[-1] == pytest.approx(0, abs=1e-12)


def test_parameters_in_a_course_may_be_replaced():
    size, rate = Parameter("size", 0.3), Parameter("rate", 5.0)
    d = crank(lambda t: size * np.sin(2 * rate * t) / 2 + size**2 - 0.09)
    assert {x.name for x in d.parameters} == {"size", "rate"}
    given = {"size": 0.5, "rate": 3.0}
    start = consistent(d, parameters=given)
    result = run(d, 0.2, 1e-3, start, scheme=Variational(), parameters=given)
    t = result["time"].values
    assert result["q"].values[:, 0] == pytest.approx(0.25 * np.sin(6 * t) + 0.16, abs=1e-10)


@pytest.mark.slow
def test_constant_speed_begins_where_bodies_stand_or_where_it_is_told():
    speed = Parameter("speed", 7.0)
    for options, angle in (({}, 0.0), ({"begin": 0.4}, 0.4), ({"begin": Parameter("a", 1)}, 1.0)):
        d = crank(speed, **options)
        result = run(d, 0.1, 1e-2, consistent(d), scheme=Variational())
        t = result["time"].values
        assert result["q"].values[:, 0] == pytest.approx(angle + 7 * t, abs=1e-12)


@coordinates
def test_shaker_carries_weight_and_inertia(coordinates):
    table = Body("table", 2.0, (1, 1, 1), velocity=(0, 0, 0.05 * 30))
    guide = Prismatic("guide", Frame(GROUND), Frame(table))
    shaker = Driven("shaker", guide, lambda t: 0.05 * np.sin(30 * t))
    d = assemble(Mechanism([table], [guide, shaker], coordinates), gravity=(0, 0, -G))
    result = run(d, 0.2, 1e-3, scheme=Variational())
    t = result["time"].values
    expected = means(lambda t: 2 * G - 2 * 0.05 * 900 * np.sin(30 * t), t)
    assert result["shaker.force"].values[1:] == pytest.approx(expected, abs=0.02)


def test_one_freedom_of_a_joint_with_two():
    """The slide of a cylindrical joint is driven; its turn goes on by itself."""
    body = Body("b", 2.0, (1, 1, 2), velocity=(0, 0, 0.2), angular_velocity=(0, 0, 4.0))
    frames = Frame(GROUND), Frame(body)
    joints = [Cylindrical("joint", *frames), Driven("push", Slide(*frames), 0.2)]
    result = run(assemble(Mechanism([body], joints, "relative")), 0.5, 1e-2, scheme=Variational())
    assert result["q"].values[-1] == pytest.approx([0.1, 2.0], abs=1e-12)


def test_a_bearing_with_clearance_may_be_driven():
    body = Body("rotor", 1.0, (0.01, 0.01, 0.01), angular_velocity=(0, 0, 20.0))
    frames = Frame(GROUND), Frame(body)
    hinge = PlanarRevoluteClearance("hinge", *frames, clearance=1e-3)
    joints = [Planar("plane", *frames), Driven("motor", Turn(*frames), 20.0)]
    d = assemble(Mechanism([body], joints, "relative"), [hinge], (0, -G, 0))
    result = run(d, 0.1, 1e-3, scheme=Variational())
    assert result["q"].values[-1, 2] == pytest.approx(2.0, abs=1e-9)
    # Without friction the rotor needs no torque to keep its speed.
    assert np.nanmax(np.abs(result["motor.torque"])) < 1e-9
    assert np.nanmax(result["impulse"]) > 0


def test_friction_is_that_of_the_joint_and_not_of_its_drive():
    d = crank(
        lambda t: 3 * t,
        elements=[lambda j: TurnFriction("rub", j.a, j.b, ViscousLaw(0.5), radius=0.1)],
    )
    still = crank(lambda t: 3 * t)
    torques = [
        run(x, 0.05, 1e-3, consistent(x), scheme=Variational())["motor.torque"].values[1:]
        for x in (d, still)
    ]
    # Viscous: 0.5 N s/m of the angular velocity 3, at the radius 0.1 m.
    assert torques[0] - torques[1] == pytest.approx(0.15, abs=1e-9)


@pytest.mark.slow
def test_a_load_on_the_slider_of_an_ideal_slider_crank_comes_to_its_crank():
    """Virtual work: torque = force times dx/dphi, and inertia by finite differences."""
    r, l = 0.05, 0.12
    J, (m_rod, m_slider), force = (1e-4, 2.5e-4), (0.21, 0.14), 80.0
    crank = Body("crank", 0.3, (J[0],) * 3)
    rod = Body("rod", m_rod, (J[1],) * 3, position=(r + l / 2, 0, 0))
    slider = Body("slider", m_slider, (1e-4,) * 3, position=(r + l, 0, 0))
    x = (1.0, 0.0, 0.0)
    bearing = Revolute("bearing", Frame(GROUND), Frame(crank))
    joints = [
        bearing,
        Revolute("knee", Frame.at(crank, (r, 0, 0)), Frame.at(rod, (r, 0, 0))),
        Prismatic("guide", Frame(GROUND, axes=x), Frame.at(slider, (r + l, 0, 0), x)),
        Driven("motor", bearing, 60.0),
        Revolute("pin", Frame.at(slider, (r + l, 0, 0)), Frame.at(rod, (r + l, 0, 0))),
    ]
    load = AppliedForce("load", Frame(slider), (-force, 0, 0))
    d = assemble(Mechanism([crank, rod, slider], joints, "relative"), [load])
    result = run(d, 0.1, 1e-4, consistent(d), scheme=Variational(), solver=Compiled())
    t = result["time"].values

    def energy(t):
        a, w = 60 * t, 60.0
        s = r / l * np.sin(a)
        tilt = -r / l * np.cos(a) * w / np.sqrt(1 - s**2)
        speed = -r * np.sin(a) * w + l * s * tilt
        across = r * np.cos(a) * w / 2
        along = -r * np.sin(a) * w + l * s * tilt / 2
        rod = m_rod * (across**2 + along**2) + J[1] * tilt**2
        place = r * np.cos(a) + l * np.sqrt(1 - s**2)
        return (J[0] * w**2 + rod + m_slider * speed**2) / 2 + force * place

    taken = np.diff(energy(t)) / np.diff(t) / 60
    assert result["motor.torque"].values[1:] == pytest.approx(taken, abs=2e-4)
    assert np.ptp(taken) > 10


@pytest.mark.slow
@pytest.mark.parametrize("clearance", [5e-4, 2e-5])
def test_crank_torque_is_the_power_balance_of_a_worn_slider_crank(clearance):
    """At 5000 rpm: its work over a turn is the gain of energy and what impacts and rubbing take.

    In the second turn the pin flies and hits with 0.5 mm of clearance, and stays on its wall with
    0.02 mm, as in [Flores 2010, Nonlinear Dyn. 61].
    """
    problem, turn = load_problem("slider_crank_5000rpm"), 60 / 5000
    result = simulate(
        problem.dynamics,
        problem.start,
        2 * turn,
        steps=StepBounds(1e-10, 4e-7),
        scheme=ContactAligned(),
        solver=Compiled(),
        parameters={"clearance": clearance},
        progress=False,
    )
    assert result.completed
    t, h = result["time"].values, result["h"].values
    work = np.nancumsum(result["motor.torque"].values * h) * 2 * np.pi / turn
    taken = np.nancumsum(result["contact_loss"].values).ravel()
    balance = work - result["total_energy"].values - taken
    k = int(np.searchsorted(t, turn))
    assert balance[k] - balance[0] == pytest.approx(0, abs=1e-6)
    assert balance[-1] - balance[k] == pytest.approx(0, abs=1e-6)
    assert np.ptp(result["total_energy"].values) > 50
    second = mode_statistics(Result(result.data.isel(time=slice(k, None))))["piston pin"]
    if clearance > 1e-4:
        assert second.flights > 0
        assert second.impacts > 0
    else:
        assert second.lasting == 1


BAD = [
    (lambda j: Driven("m", Cylindrical("c", j.a, j.b), 1.0), TypeError, "must have one freedom"),
    (lambda j: Driven("m", SphericalClearance("c", j.a, j.b, 1e-3), 1.0), TypeError, r"Turn\(a"),
    (lambda j: Driven("m", j, np.nan), ValueError, "course of Driven 'm' must be finite"),
    (lambda j: Driven("m", j, "fast"), ValueError, "course of Driven 'm' must be numbers"),
    (lambda j: Driven("m", j, 1.0, begin=np.inf), ValueError, "begin of Driven 'm' must be"),
    (lambda j: Driven("m", j, lambda t: t, begin=1.0), ValueError, "is for a constant speed"),
]


@pytest.mark.parametrize(("make", "error", "says"), BAD)
def test_what_is_no_drive_is_refused(make, error, says):
    body = Body("b", 1.0, (1, 1, 1))
    with pytest.raises(error, match=says):
        make(Revolute("hinge", Frame(GROUND), Frame(body)))


@pytest.mark.parametrize("course", [lambda t: (t, t), lambda t: np.sin(t) / t])
def test_a_course_that_is_no_number_is_refused(course):
    with pytest.raises(ValueError, match="course of Driven 'motor'"):
        crank(course)


def test_a_start_off_the_course_is_refused():
    d = crank(lambda t: 0.3 + t)
    with pytest.raises(ValueError, match=r"violates joint 'motor'.*give start=consistent"):
        run(d, 0.1, 1e-2, Start(np.array([0.2]), np.array([1.0])))


def test_arithmetic_with_parameters_is_for_functions_of_time():
    with pytest.raises(TypeError, match="'x' is for functions of time"):
        _ = 2 * Parameter("x", 1.0)
