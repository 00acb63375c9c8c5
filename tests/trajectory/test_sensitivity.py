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
    CubicLaw,
    Distance,
    Driven,
    Frame,
    Mechanism,
    PaperStep,
    Parameter,
    Prismatic,
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
from nsopt.simulation import Compiled, LargestStep
from nsopt.trajectory import sensitivities
from nsopt.trajectory.sensitivity.chain_rule import Mapped
from tests.schemes.models import G, about_z, ball
from tests.trajectory.differences import TIGHT, difference

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


def along(q0, k, step):
    """Return starts with entry k of q0 moved."""
    moved = q0.copy()
    moved[k] += step
    return moved


@pytest.mark.slow
def test_case_a_by_clearance_and_mass():
    """Across the impact, into lasting contact; both ends of the bushing close at once."""

    def run(**numbers):
        return sensitivities(
            CASE_A,
            None,
            [0.01, 0.1, 0.5],
            steps=FIXED,
            outputs=turn,
            by=("clearance", "mass"),
            by_start=False,
            parameters=numbers,
            newton=TIGHT,
        )

    derivatives = run()
    forward = derivatives.forward().parameters
    assert forward.shape == (3, 2, 2)
    for k, (name, value, step) in enumerate([("clearance", 1e-3, 2e-8), ("mass", 1.0, 1e-4)]):
        exact = difference(lambda x, name=name: run(**{name: x}).value, value, step)
        scale = np.max(np.abs(exact[1:]), axis=0)
        assert forward[1:, :, k] / scale == pytest.approx(exact[1:] / scale, abs=1e-6)
        assert forward[0, :, k] == pytest.approx(0, abs=1e-9)  # before the first impact
    weights = np.random.default_rng(0).normal(size=derivatives.value.shape)
    backward = derivatives.adjoint(weights).parameters
    assert backward == pytest.approx(np.einsum("nm,nmk->k", weights, forward), rel=1e-10)


@pytest.mark.slow
def test_the_motion_is_that_of_simulate():
    derivatives = sensitivities(CASE_A, None, 0.1, steps=FIXED, by=("clearance",))
    steps = simulate(
        CASE_A,
        None,
        0.1,
        steps=FIXED,
        scheme=Variational(),
        solver=Compiled(),
        control=LargestStep(contacts=None),
        progress=False,
    ).data
    assert np.array_equal(derivatives.steps.t, steps["time"].values)
    assert derivatives.steps.q == pytest.approx(steps["q"].values, abs=1e-14)
    assert derivatives.value[0] == pytest.approx(
        np.append(steps["q"].values[-1], steps["v"].values[-1]), abs=1e-13
    )


@pytest.fixture(scope="module")
def pendulum():
    """A damped pendulum on an ideal hinge."""
    body = Body("rod", Parameter("mass", 1.3), (0.01, 0.09, 0.09), (0.5, 0, 0))
    hinge = Revolute("hinge", Frame(GROUND), Frame.at(body, (0, 0, 0)))
    damper = TorsionSpringDamper(
        "damper", Frame(GROUND), Frame.at(body, (0, 0, 0)), 0.7, damping=Parameter("damping", 0.2)
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
    for h in (6e-4, 3e-4):
        derivatives = sensitivities(
            pendulum,
            Start(np.array([0.3]), np.array([-0.4])),
            T,
            steps=StepBounds(h, h),
            by=("mass", "damping"),
        )
        assert derivatives.by == ("mass", "damping")
        S = np.concatenate([part[0] for part in derivatives.forward()], axis=1)
        errors.append(np.max(np.abs(S - exact[2:].reshape(2, 4))))
    assert errors[1] < 1e-5
    assert errors[0] / errors[1] == pytest.approx(4, rel=0.05)


@pytest.mark.slow
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

    derivatives = run(0.3)
    exact = difference(lambda x: run(x).value, 0.3, 1e-4)
    by_angle = derivatives.forward().parameters[:, :, 0]
    assert np.max(np.abs(exact)) > 0.05
    assert by_angle == pytest.approx(exact, abs=1e-6 * np.max(np.abs(exact)))
    weights = np.random.default_rng(0).normal(size=derivatives.value.shape)
    backward, forward = derivatives.adjoint(weights), derivatives.forward()
    for one, other in zip(backward, forward, strict=True):
        assert one == pytest.approx(np.einsum("nm,nmk->k", weights, other), rel=1e-10, abs=1e-12)


def test_by_the_start():
    """Case A tilted, so that ends of the bushing close one after the other."""
    q0, v0 = CASE_A.stated_start()
    v0 = v0 + np.array([0, 0, 0.01, 0.1, 0.02, 0])
    steps, keys = StepBounds(1e-6, 5e-4), ("q", "v")

    def run(q, v):
        return sensitivities(CASE_A, Start(q, v), 0.02, steps=steps, by=(), newton=TIGHT)

    forward = run(q0, v0).forward()
    for name, k in (("v", 0), ("v", 3), ("v", 5), ("q", 1)):
        at, step = keys.index(name), 1e-7

        def value(x, at=at, k=k):
            return run(*(along(y, k, x if i == at else 0) for i, y in enumerate((q0, v0)))).value[0]

        exact = difference(value, 0.0, step)
        by = (forward.q0, forward.v0)[at][0, :, k]
        assert by == pytest.approx(exact, abs=1e-6 * np.max(np.abs(exact)))


def test_steps_without_derivatives_are_refused():
    with pytest.raises(ValueError, match="PaperStep finds its step sizes by an optimum"):
        sensitivities(ball(0.0), None, 0.7, steps=StepBounds(1e-2, 1e-2), scheme=PaperStep())


def test_bad_input_is_told():
    steps = StepBounds(1e-2, 1e-2)
    with pytest.raises(ValueError, match=r"by names the parameter 'radius', .*: one of mass, cle"):
        sensitivities(CASE_A, None, 0.1, steps=steps, by=("radius",))
    with pytest.raises(TypeError, match=r"write by=\('mass',\)"):
        sensitivities(CASE_A, None, 0.1, steps=steps, by="mass")
    with pytest.raises(ValueError, match="times must be a number of seconds or several ascending"):
        sensitivities(CASE_A, None, [0.2, 0.1], steps=steps)
    body = Body("ball", 1.0, position=(0, 0, Parameter("height", 1.0)), point_mass=True)
    falling = assemble(Mechanism([body]))
    with pytest.raises(ValueError, match="the stated start moves with parameter 'height'"):
        sensitivities(falling, None, 0.1, steps=steps)
    derivatives = sensitivities(ball(0.0), None, 0.1, steps=steps)
    with pytest.raises(ValueError, match=r"weights must have the shape of value, \(1, 6\), got"):
        derivatives.adjoint(np.ones(6))


@pytest.mark.slow
def test_a_turned_start_keeps_its_norm():
    """Derivatives of the normalised Euler parameters are at right angles to them."""
    body = Body("top", 1.0, (0.1, 0.2, 0.3), orientation=about_z(0.4), angular_velocity=(1, 2, 3))
    d, steps = assemble(Mechanism([body])), StepBounds(5e-3, 5e-3)
    derivatives = sensitivities(d, None, 0.5, steps=steps)
    e = derivatives.value[0, 3:7]
    assert e @ derivatives.forward().v0[0, 3:7, 3:] == pytest.approx(np.zeros(3), abs=1e-10)


@pytest.mark.parametrize("count", [3, 4, 5, 54])
def test_any_number_of_steps(count):
    """Scales and parameters are as many as the steps of a call: a ball that falls freely."""
    h = 1e-2
    derivatives = sensitivities(ball(0.0, 9.0), None, count * h, steps=StepBounds(h, h))
    assert len(derivatives.steps) == count
    exact = np.block([[np.eye(3), count * h * np.eye(3)], [np.zeros((3, 3)), np.eye(3)]])
    forward = derivatives.forward()
    assert np.hstack([forward.q0[0], forward.v0[0]]) == pytest.approx(exact, abs=1e-10)


@pytest.mark.parametrize("count", [1, 2, 3, 50])
def test_functions_of_what_is_the_same_everywhere(count):
    """Numbers of a place and numbers of all, in any ratio."""
    x, y, c = ca.SX.sym("x", 2), ca.SX.sym("y"), ca.SX.sym("c", 2)
    made = Mapped("made", [x, y, c], [ca.vertcat(ca.dot(c, x), y)])
    random = np.random.default_rng(0)
    a, b, same = (random.normal(size=n) for n in ((count, 2), count, 2))
    (product,) = made(count, [a, b, same])
    assert product[:, 0] == pytest.approx(np.column_stack([a @ same, b]))


@pytest.mark.slow
@pytest.mark.parametrize("driven", [False, True])
def test_a_start_that_a_parameter_opens_is_told_unless_drives_fix_all(driven):
    along_x = ((0, 0, 1), (0, 1, 0), (-1, 0, 0))
    crank = Body("crank", 1.0, (0.01, 0.01, 0.01), position=(0.36, 0.48, 0))
    slide = Body("slide", 1.0, (0.01, 0.01, 0.01), position=(0.72, 0, 0))
    hinge = Revolute("hinge", Frame(None), Frame(crank, (-0.36, -0.48, 0)))
    guide = Prismatic("guide", Frame(None, axes=along_x), Frame(slide, axes=along_x))
    rod = Distance("rod", Frame(crank), Frame(slide), Parameter("length", 0.6))
    joints = [hinge, guide, rod]
    if driven:
        joints.append(Driven("motor", hinge, lambda t: 0.3 * t**2))
    dynamics = assemble(Mechanism([crank, slide], joints, "absolute"), [], (0, 0, 0))

    def found():
        start, steps = Start.stated(dynamics), StepBounds(1e-6, 1e-3)
        return sensitivities(dynamics, start, 1e-2, steps=steps, by_start=False)

    if driven:  # dx / dl at the angle of the crank, which the length does not move
        x = float(found().value[0, dynamics.q_names.index("slide.x")])
        by_length = found().forward().parameters[0, dynamics.q_names.index("slide.x"), 0]
        assert by_length == pytest.approx(0.6 / (x - 0.6 * np.cos(np.arccos(0.6) + 3e-5)), rel=1e-6)
    else:
        with pytest.warns(UserWarning, match="opens joint 'rod' as parameter 'length' changes"):
            found()


@pytest.mark.slow
def test_round_off_beside_a_small_parameter_opens_no_joint():
    """Both frames of the joint have the same offset: it is closed whatever that is."""
    for angle in (0.6, 1.1, 1.7, 2.5, 3.3):
        turned = (np.cos(angle / 2), 0, 0, np.sin(angle / 2))
        down = np.array([1.3 + 0.5 * np.sin(angle), 0.2 - 0.5 * np.cos(angle), 0])
        upper = Body("upper", 1.0, (0.01,) * 3, position=(1.3, 0.2, 0), orientation=turned)
        lower = Body("lower", 1.0, (0.01,) * 3, position=down, orientation=turned)
        offset = Parameter("offset", 1e-4)
        pin = Revolute("pin", Frame(upper, (offset, 0.4, 0)), Frame(lower, (offset, 0.9, 0)))
        joints = [Revolute("hinge", Frame(None, (1.3, 0.2, 0)), Frame(upper)), pin]
        dynamics = assemble(Mechanism([upper, lower], joints, "absolute"), [], (0, -9.81, 0))
        start, steps = Start.stated(dynamics), StepBounds(1e-3, 1e-3)
        sensitivities(dynamics, start, 2e-3, steps=steps, by_start=False)  # a warning is an error
