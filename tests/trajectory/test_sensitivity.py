"""Derivatives of motions against finite differences, closed forms and the variational equation."""

import casadi as ca
import numpy as np
import pytest
from scipy.integrate import solve_ivp

from nsopt import (
    GROUND,
    Body,
    Composition,
    Cone,
    ContactAligned,
    ContactLaw,
    CubicLaw,
    Frame,
    Mechanism,
    MoreauJean,
    PaperStep,
    Parameter,
    PlaneContact,
    RangeOfMotion,
    Revolute,
    RevoluteClearance,
    Spherical,
    Start,
    StepBounds,
    TorsionSpringDamper,
    Variational,
    assemble,
    simulate,
)
from nsopt.mpcc import Newton
from nsopt.stepping import Compiled
from nsopt.trajectory.sensitivity.recorded import SensitivityError
from nsopt.trajectory.sensitivity.simulation import sensitivities
from tests.stepping.models import G, about_z, ball

TIGHT = Newton(tolerance=1e-13)
FIXED = StepBounds(1e-6, 1e-3)


def case_a():
    """Case A with its mass a parameter too, and the numbers of problems/case_a."""
    body = Body("pendulum", Parameter("mass", 1.0), (0.01, 0.09, 0.09), (0.5, 0.0, 0.0))
    hinge = RevoluteClearance(
        "hinge",
        Frame(GROUND),
        Frame.at(body, (0, 0, 0)),
        length=0.1,
        clearance=Parameter("clearance", 1e-3),
        axial_clearance=1e-3,
        radius=0.01,
    )
    return assemble(Mechanism([body]), [hinge], gravity=(0, -G, 0))


CASE_A = case_a()


def turn(t, q, v, p):
    """Rotation about z since the start [rad], and its rate."""
    return ca.vertcat(2 * ca.atan2(q[6], q[3]), v[5])


def difference(value, x, step):
    """Central difference of fourth order."""
    terms = [(1, -2), (-8, -1), (8, 1), (-1, 2)]
    return sum(k * value(x + n * step) for k, n in terms) / (12 * step)


def along(q0, k, step):
    """Return starts with entry k of q0 moved."""
    moved = q0.copy()
    moved[k] += step
    return moved


def named(scheme):
    return type(scheme).__name__


@pytest.mark.parametrize("scheme", [Variational(), ContactAligned()], ids=named)
def test_case_a_by_clearance_and_mass(scheme):
    """Across the impact, into lasting contact; both ends of the bushing close at once."""

    def run(**numbers):
        return sensitivities(
            CASE_A,
            None,
            [0.01, 0.1, 0.5],
            steps=FIXED,
            scheme=scheme,
            outputs=turn,
            by=("clearance", "mass"),
            by_start=False,
            parameters=numbers,
            newton=TIGHT,
        )

    found = run()
    forward = found.forward().parameters
    assert forward.shape == (3, 2, 2)
    for k, (name, value, step) in enumerate([("clearance", 1e-3, 2e-8), ("mass", 1.0, 1e-4)]):
        exact = difference(lambda x, name=name: run(**{name: x}).value, value, step)
        scale = np.max(np.abs(exact[1:]), axis=0)
        assert forward[1:, :, k] / scale == pytest.approx(exact[1:] / scale, abs=1e-6)
        assert forward[0, :, k] == pytest.approx(0, abs=1e-9)  # before the first impact
    weights = np.random.default_rng(0).normal(size=found.value.shape)
    backward = found.adjoint(weights).parameters
    assert backward == pytest.approx(np.einsum("nm,nmk->k", weights, forward), rel=1e-10)


def test_the_motion_is_that_of_simulate():
    found = sensitivities(CASE_A, None, 0.1, steps=FIXED, by=("clearance",))
    steps = simulate(
        CASE_A, None, 0.1, steps=FIXED, scheme=Variational(), solver=Compiled(), progress=False
    ).data
    assert np.array_equal(found.steps.t, steps["time"].values)
    assert found.steps.q == pytest.approx(steps["q"].values, abs=1e-14)
    assert found.value[0] == pytest.approx(
        np.append(steps["q"].values[-1], steps["v"].values[-1]), abs=1e-13
    )


def test_event_times_move_along():
    """A ball of e = 0.8 dropped from 1 m, after its first impact: in closed form."""
    found = sensitivities(
        ball(0.8), None, 0.7, steps=StepBounds(1e-3, 1e-2), scheme=ContactAligned()
    )
    T, e, h0 = 0.7, 0.8, 1.0
    fall = np.sqrt(2 * h0 / G)
    left = T - fall
    assert found.value[0, 2] == pytest.approx(e * G * fall * left - G * left**2 / 2, abs=1e-9)
    by_height = (e * G * left - e * G * fall + G * left) / (G * fall)
    assert by_height == pytest.approx(0.190552, abs=1e-6)
    assert found.forward().q0[0, 2, 2] == pytest.approx(by_height, abs=1e-9)
    weights = np.zeros((1, 6))
    weights[0, 2] = 1
    assert found.adjoint(weights).q0[2] == pytest.approx(by_height, abs=1e-9)
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
    assert found.forward().v0[0, 2, 2] == pytest.approx(thrown, rel=1e-7)


def test_several_impacts_by_restitution():
    """x(2 s) by e, after three impacts, in closed form."""
    body = Body("ball", 1.0, position=(0, 0, 1.0), point_mass=True)
    law = ContactLaw(restitution=Parameter("e", 0.8))
    floor = PlaneContact("floor", Frame(None), Frame(body), law=law)
    dynamics = assemble(Mechanism([body]), [floor], (0, 0, -G))
    times = [0.3, 1.0, 2.0]
    found = sensitivities(
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

    assert found.value[:, 2] == pytest.approx(height(0.8), abs=1e-8)
    exact = difference(height, 0.8, 1e-3)
    assert found.forward().parameters[:, 2, 0] == pytest.approx(exact, abs=1e-7)


@pytest.fixture(scope="module")
def pendulum():
    """A damped pendulum on an ideal hinge."""
    body = Body("rod", Parameter("mass", 1.3), (0.01, 0.09, 0.09), (0.5, 0, 0))
    hinge = Revolute("hinge", Frame(GROUND), Frame.at(body, (0, 0, 0)))
    damper = TorsionSpringDamper(
        "damper", Frame(GROUND), Frame.at(body, (0, 0, 0)), 0.7, 0.0, Parameter("damping", 0.2)
    )
    return assemble(Mechanism([body], [hinge], "relative"), [damper], gravity=(0, -G, 0))


def test_smooth_motion_against_the_variational_equation(pendulum):
    """By parameters and start; second-order steps, so four times closer at half of h."""
    mass, damping, stiffness, T = 1.3, 0.2, 0.7, 1.5

    def rate(t, y):
        J = 0.09 + mass * 0.25
        x, w, S = y[0], y[1], y[2:].reshape(2, 4)
        f = (-mass * G * 0.5 * np.cos(x) - stiffness * x - damping * w) / J
        f_x = (mass * G * 0.5 * np.sin(x) - stiffness) / J
        f_m = (-G * 0.5 * np.cos(x) - 0.25 * f) / J
        direct = np.array([f_m, -w / J, 0, 0])
        return np.concatenate([[w, f], S[1], f_x * S[0] - damping / J * S[1] + direct])

    first = np.zeros((2, 4))
    first[:, 2:] = np.eye(2)
    start = np.concatenate([[0.3, -0.4], first.ravel()])
    exact = solve_ivp(rate, (0, T), start, rtol=1e-11, atol=1e-12).y[:, -1]
    errors = []
    for h in (2e-3, 1e-3):
        found = sensitivities(
            pendulum,
            Start(np.array([0.3]), np.array([-0.4])),
            T,
            steps=StepBounds(h, h),
            by=("mass", "damping"),
        )
        assert found.by == ("mass", "damping")
        S = np.concatenate([part[0] for part in found.forward()], axis=1)
        errors.append(np.max(np.abs(S - exact[2:].reshape(2, 4))))
    assert errors[1] < 1e-5
    assert errors[0] / errors[1] == pytest.approx(4, rel=0.05)


def test_composed_steps(pendulum):
    """A scheme of fourth order, by its own differences."""

    def run(mass):
        return sensitivities(
            pendulum,
            Start(np.array([0.3]), np.array([-0.4])),
            0.2,
            steps=StepBounds(0.02, 0.02),
            scheme=Composition(),
            parameters={"mass": mass},
            newton=TIGHT,
        )

    exact = difference(lambda m: run(m).value[0], 1.3, 1e-3)
    by_mass = run(1.3).forward().parameters[0, :, run(1.3).by.index("mass")]
    assert by_mass == pytest.approx(exact, rel=1e-8)


def arm():
    """Two links; the shoulder's cone has one latitude as a parameter."""
    upper = Body("upper", 2.0, (0.01, 0.05, 0.05), position=(0.2, 0, 0))
    lower = Body("lower", 1.0, (0.005, 0.02, 0.02), position=(0.6, 0, 0))
    joints = [
        Spherical("shoulder", Frame(GROUND), Frame.at(upper, (0, 0, 0))),
        Revolute(
            "elbow",
            Frame.at(upper, (0.4, 0, 0), (0, 1, 0)),
            Frame.at(lower, (0.4, 0, 0), (0, 1, 0)),
        ),
    ]
    axes = np.column_stack([[0, 1.0, 0], [0, 0, 1.0], [1.0, 0, 0]])  # z along world x, x along y
    latitudes = [0.5, 0.4, 0.6, Parameter("angle", 0.3), 0.5]
    cone = RangeOfMotion(
        "cone",
        Frame(GROUND, axes=axes),
        Frame.at(upper, (0, 0, 0), axes),
        Cone(np.radians([0, 90, 180, 270, 360]), latitudes),
        CubicLaw(200.0, Parameter("compliance", 0.2)),
        damping=0.5,
    )
    return assemble(Mechanism([upper, lower], joints, "relative"), [cone], gravity=(0, 0, -G))


@pytest.mark.slow
def test_an_arm_by_a_cone_angle():
    """It sinks beyond its cone and is turned back."""
    dynamics = arm()

    def run(angle):
        return sensitivities(
            dynamics,
            None,
            [0.3, 0.6],
            steps=StepBounds(1e-4, 2e-3),
            outputs=lambda t, q, v, p: ca.vec(dynamics.poses(q, v, p)[0]),
            by=("angle",),
            parameters={"angle": angle},
            newton=TIGHT,
        )

    found = run(0.3)
    exact = difference(lambda x: run(x).value, 0.3, 1e-4)
    by_angle = found.forward().parameters[:, :, 0]
    assert np.max(np.abs(exact)) > 0.05
    assert by_angle == pytest.approx(exact, abs=1e-6 * np.max(np.abs(exact)))
    weights = np.random.default_rng(0).normal(size=found.value.shape)
    backward, forward = found.adjoint(weights), found.forward()
    for one, other in zip(backward, forward, strict=True):
        assert one == pytest.approx(np.einsum("nm,nmk->k", weights, other), rel=1e-10, abs=1e-12)


def test_by_the_start():
    """Case A tilted, so that ends of the bushing close one after the other."""
    q0, v0 = CASE_A.stated_start()
    v0 = v0 + np.array([0, 0, 0.01, 0.1, 0.02, 0])
    steps, keys = StepBounds(1e-6, 5e-4), ("q", "v")

    def run(q, v):
        return sensitivities(CASE_A, Start(q, v), 0.02, steps=steps, by=(), newton=TIGHT)

    found = run(q0, v0).forward()
    for name, k in (("v", 0), ("v", 3), ("v", 5), ("q", 1)):
        at, step = keys.index(name), 1e-7

        def value(x, at=at, k=k):
            return run(*(along(y, k, x if i == at else 0) for i, y in enumerate((q0, v0)))).value[0]

        exact = difference(value, 0.0, step)
        by = (found.q0, found.v0)[at][0, :, k]
        assert by == pytest.approx(exact, abs=1e-6 * np.max(np.abs(exact)))


@pytest.mark.parametrize("scheme", [Variational(), MoreauJean(), PaperStep()], ids=named)
def test_fixed_steps_refuse_rebounds(scheme):
    with pytest.raises(ValueError, match=r"contact 'floor' rebounds with e = 0\.8, .*Aligned"):
        sensitivities(ball(0.8), None, 0.7, steps=StepBounds(1e-2, 1e-2), scheme=scheme)


def test_steps_without_derivatives_are_refused():
    with pytest.raises(ValueError, match="PaperStep finds its step sizes by an optimum"):
        sensitivities(ball(0.0), None, 0.7, steps=StepBounds(1e-2, 1e-2), scheme=PaperStep())


@pytest.mark.parametrize("scheme", [Variational(), MoreauJean(project=True)], ids=str)
def test_a_contact_that_just_touches_is_told(scheme):
    """A ball that lies on its floor without weight."""
    body = Body("ball", 1.0, point_mass=True)
    floor = PlaneContact("floor", Frame(None), Frame(body))
    dynamics = assemble(Mechanism([body]), [floor], (0, 0, 0))
    with pytest.raises(SensitivityError, match=r"t = 0\.01 s .* not exist: contact 'floor' just"):
        sensitivities(dynamics, None, 0.1, steps=StepBounds(1e-2, 1e-2), scheme=scheme)


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
    found = sensitivities(dynamics, None, 0.7, by_start=False, **options)

    def height(g):
        fall = np.sqrt(2 / g)
        return 0.5 * g * fall * (0.7 - fall) - g * (0.7 - fall) ** 2 / 2

    exact = -difference(height, G, 1e-3)
    assert found.forward().parameters[0, [0, 2], 0] == pytest.approx([exact, exact], abs=1e-7)


def test_lasting_contact_is_no_tie():
    """A ball that rests: held by the floor, free along it."""
    found = sensitivities(
        ball(0.0, 0.0), None, 0.1, steps=StepBounds(1e-2, 1e-2), scheme=ContactAligned()
    ).forward()
    assert np.diag(found.q0[0, :3]) == pytest.approx([1, 1, 0], abs=1e-9)
    assert np.diag(found.v0[0, 3:]) == pytest.approx([1, 1, 0], abs=1e-9)


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

    found = run(0.3).forward()
    assert found.parameters[0, 0, 0] == pytest.approx(-G * 0.2**2 / 2, rel=1e-3)
    assert found.parameters[1, 0, 0] == pytest.approx(-1 / (2 * 0.3**2 * G), rel=1e-2)
    assert found.v0[1, 0, 0] == pytest.approx(1 / (0.3 * G), rel=1e-2)
    exact = difference(lambda mu: run(mu).value, 0.3, 1e-6)
    assert found.parameters[:, 0, 0] == pytest.approx(exact[:, 0], rel=1e-6)


def test_dependent_contacts():
    """A table on four legs: forces not unique, its motion along the floor is."""
    body = Body("table", Parameter("mass", 2.0), (0.1, 0.1, 0.1), (0, 0, 0.5), velocity=(1, 0, 0))
    legs = [
        PlaneContact(f"leg {x} {y}", Frame(None), Frame.at(body, (x, y, 0)))
        for x in (-0.4, 0.4)
        for y in (-0.3, 0.3)
    ]
    dynamics = assemble(Mechanism([body]), legs, (0, 0, -G))
    found = sensitivities(dynamics, None, 0.1, steps=StepBounds(1e-2, 1e-2), by=("mass",))
    assert found.forward().parameters == pytest.approx(0, abs=1e-9)
    assert found.forward().v0[0, 0, 0] == pytest.approx(0.1, abs=1e-9)


def test_bad_input_is_told():
    steps = StepBounds(1e-2, 1e-2)
    with pytest.raises(ValueError, match=r"unknown parameter 'radius' in by; .* has: mass, cle"):
        sensitivities(CASE_A, None, 0.1, steps=steps, by=("radius",))
    with pytest.raises(TypeError, match=r"write by=\('mass',\)"):
        sensitivities(CASE_A, None, 0.1, steps=steps, by="mass")
    with pytest.raises(ValueError, match="times must be a number of seconds or several ascending"):
        sensitivities(CASE_A, None, [0.2, 0.1], steps=steps)
    body = Body("ball", 1.0, position=(0, 0, Parameter("height", 1.0)), point_mass=True)
    falling = assemble(Mechanism([body]))
    with pytest.raises(ValueError, match="the stated start moves with parameter 'height'"):
        sensitivities(falling, None, 0.1, steps=steps)
    found = sensitivities(ball(0.0), None, 0.1, steps=steps)
    with pytest.raises(ValueError, match=r"weights must have the shape of value, \(1, 6\), got"):
        found.adjoint(np.ones(6))


def test_a_turned_start_keeps_its_norm():
    """Derivatives of the normalised Euler parameters are at right angles to them."""
    body = Body("top", 1.0, (0.1, 0.2, 0.3), orientation=about_z(0.4), angular_velocity=(1, 2, 3))
    found = sensitivities(assemble(Mechanism([body])), None, 0.5, steps=StepBounds(5e-3, 5e-3))
    e = found.value[0, 3:7]
    assert e @ found.forward().v0[0, 3:7, 3:] == pytest.approx(np.zeros(3), abs=1e-10)
