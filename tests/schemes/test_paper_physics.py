"""The paper's step against motions that are known: its error falls with h, its limits are right."""

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.spatial.transform import Rotation

from nsopt import (
    Body,
    Compiled,
    CylindricalClearance,
    Driven,
    ErrorControl,
    Frame,
    LinearisedClosure,
    PaperStep,
    PlaneContact,
    Revolute,
    SphereContact,
    Spherical,
    Start,
    StepBounds,
    simulate,
)
from tests.schemes.models import case_a_dynamics
from tests.states import assembled, axes_of, run

G = 9.81

GIVEN = {"scheme": PaperStep(finds_h=False), "solver": Compiled()}
"""The same steps, h given, by Newton in compiled code, for many of them: see the test of both."""


@pytest.mark.parametrize(
    ("clearance", "time", "speed"), [(1e-4, 4.51524e-3, 44.2945e-3), (3e-4, 7.82062e-3, 76.7203e-3)]
)
def test_free_fall_through_a_radial_clearance(clearance, time, speed):
    """sqrt(2 c / g) and sqrt(2 g c)."""
    bushing = Body("bushing", 0.5, (1e-4, 1e-4, 1e-4))
    joint = CylindricalClearance("joint", Frame(None), Frame(bushing), 0.06, 1.0, clearance)
    dynamics = assembled([bushing], [joint], gravity=(0, -G, 0))
    for h in (1e-4, 1e-5):
        result = run(dynamics, (np.ceil(time / h) + 3) * h, h)
        hit = int(np.argmax(result["impulse"].values[1:].sum(axis=1) > 1e-9)) + 1
        # A step lands at most h off, and its velocity is the one at its end.
        assert result["time"].values[hit] == pytest.approx(time, abs=h)
        assert -result["v"].values[hit - 1, 1] == pytest.approx(speed, abs=2 * G * h)
        assert result["v"].values[-1] == pytest.approx(0, abs=1e-9)
        assert result["contact_force"].values[-1].sum(axis=0) == pytest.approx(
            [0, 0.5 * G, 0], abs=1e-6
        )


@pytest.mark.slow
def test_momentum_of_a_torque_free_body_is_kept_to_first_order():
    J = np.array([0.02, 0.05, 0.06])
    tumbling = Body("b", 1.0, J, velocity=(1, -2, 0.5), angular_velocity=(2, 4, -1))
    dynamics, errors = assembled([tumbling], [], gravity=(0, 0, 0)), []
    for h in (2e-3, 1e-3, 5e-4):
        result = run(dynamics, 0.5, h, **GIVEN)
        q, v = result["q"].values[-1], result["v"].values[-1]
        errors.append(np.linalg.norm(axes_of(q[3:]) @ (J * v[3:]) - J * [2, 4, -1]))
        assert q[:3] == pytest.approx([0.5, -1, 0.25], abs=1e-12)
        assert v[:3] == pytest.approx([1, -2, 0.5], abs=1e-12)
    assert errors[0] < 0.01
    assert np.divide(errors[:-1], errors[1:]) == pytest.approx(2, abs=0.1)


@pytest.mark.slow
def test_free_rotation_is_that_of_eulers_equations():
    J, w0 = np.array([0.02, 0.05, 0.06]), np.array([2.0, 4.0, -1.0])

    def rates(_, y):
        return [*(np.cross(J * y[:3], y[:3]) / J), *(spin(y[3:], y[:3]))]

    def spin(p, w):
        return 0.5 * np.array([-p[1:] @ w, *(p[0] * w + np.cross(p[1:], w))])

    exact = solve_ivp(rates, (0, 0.5), [*w0, 1, 0, 0, 0], rtol=1e-12, atol=1e-13).y[:, -1]
    dynamics, errors = (
        assembled([Body("b", 1.0, J, angular_velocity=w0)], [], gravity=(0, 0, 0)),
        [],
    )
    for h in (2e-3, 1e-3):
        result = run(dynamics, 0.5, h, **GIVEN)
        turned = axes_of(exact[3:]).T @ axes_of(result["q"].values[-1, 3:])
        errors.append(np.linalg.norm(Rotation.from_matrix(turned).as_rotvec()))
    assert np.divide(errors[:-1], errors[1:]) == pytest.approx(2, abs=0.1)


def pendulum_angle(t, inertia, arm, angle=0.0):
    """Angle below the horizontal of a physical pendulum of 1 kg released at rest."""
    solution = solve_ivp(
        lambda _, y: [y[1], G * arm * np.cos(y[0]) / inertia],
        (0, t),
        [angle, 0],
        rtol=1e-12,
        atol=1e-13,
    )
    return solution.y[:, -1]


@pytest.mark.slow
def test_ideal_pendulum_is_of_first_order():
    """Against minimal coordinates: 1 kg at 0.5 m, 0.09 kg m^2 about the centre of mass."""
    pendulum = Body("pendulum", 1.0, (0.01, 0.09, 0.09), position=(0.5, 0, 0))
    joint = Revolute("joint", Frame(None), Frame.at(pendulum, (0, 0, 0)))
    dynamics = assembled([pendulum], [joint], gravity=(0, -G, 0))
    angle, _ = pendulum_angle(0.5, 0.09 + 0.25, 0.5)
    errors = []
    for h in (2e-3, 1e-3, 5e-4):
        q = run(dynamics, 0.5, h, **GIVEN)["q"].values[-1]
        errors.append(np.linalg.norm(q[:2] - 0.5 * np.array([np.cos(angle), -np.sin(angle)])))
    assert errors[0] < 0.01
    assert np.divide(errors[:-1], errors[1:]) == pytest.approx(2, abs=0.15)


@pytest.mark.slow
def test_period_of_the_ideal_pendulum():
    """Released horizontally it comes back after 1.952572490925 s (elliptic integral)."""
    pendulum = Body("pendulum", 1.0, (0.01, 0.09, 0.09), position=(0.5, 0, 0))
    dynamics = assembled(
        [pendulum], [Revolute("j", Frame(None), Frame.at(pendulum, (0, 0, 0)))], (0, -G, 0)
    )
    errors = []
    for h in (2e-3, 1e-3):
        q = run(dynamics, 1.952572490925, h, **GIVEN)["q"].values[-1]
        errors.append(np.linalg.norm(q[:2] - [0.5, 0]))
    assert errors[1] < 1e-5  # of second order: the pendulum turns round here
    assert errors[1] < 0.6 * errors[0]


@pytest.mark.slow
def test_a_massless_link_is_a_rod():
    """A body pinned at its centre of mass to a weightless link swings like a particle on a rod."""
    link = Body("link", 0.0, position=(0.2, 0, 0))
    bob = Body("bob", 1.0, (0.02, 0.03, 0.04), position=(0.5, 0, 0))
    joints = [
        Revolute("root", Frame(None), Frame.at(link, (0, 0, 0))),
        Revolute("tip", Frame.at(link, (0.5, 0, 0)), Frame.at(bob, (0.5, 0, 0))),
    ]
    dynamics = assembled([link, bob], joints, gravity=(0, -G, 0))
    angle, _ = pendulum_angle(0.6, 0.25, 0.5)
    errors = []
    for h in (2e-3, 1e-3):
        result = run(dynamics, 0.6, h)
        errors.append(
            np.linalg.norm(
                result["q"].values[-1, 7:9] - 0.5 * np.array([np.cos(angle), -np.sin(angle)])
            )
        )
        assert result["v"].values[:, 9:12] == pytest.approx(0, abs=1e-9)
    assert errors[0] < 0.01
    assert np.divide(errors[:-1], errors[1:]) == pytest.approx(2, abs=0.15)


# MSC ADAMS trajectories published with Project Chrono's joint tests (BSD-3): 1 kg, centre of mass
# 2 m from the joint, I = (.04, .1, .1), g = 9.80665 along -z, released at rest. Time, position of
# the centre of mass, velocity, e0..e3.
REVOLUTE_CASE01 = [
    (0.5, (1.66081, 0, -1.11432), (-2.57277, 0, -3.8345), (0.676462, -0.676462, 0.20591, 0.20591)),
    (
        1.0,
        (-0.892381, 0, -1.78988),
        (-5.23742, 0, 2.61123),
        (0.372092, -0.372092, 0.601288, 0.601288),
    ),
    (
        1.5,
        (-1.99167, 0, -0.182356),
        (-0.170319, 0, 1.8602),
        (0.0322699, -0.0322699, 0.70637, 0.70637),
    ),
    (
        2.0,
        (-1.95112, 0, -0.439479),
        (0.637222, 0, -2.82902),
        (0.0781688, -0.0781688, 0.702773, 0.702773),
    ),
]
SPHERICAL_CASE02 = [
    (0.5, (2.66081, 2, 1.88568), (-2.57277, 0, -3.8345), (0.88384, -0.366099, 0.269035, 0.111438)),
    (
        1.0,
        (0.107619, 2, 1.21012),
        (-5.23742, 0, 2.61123),
        (0.486161, -0.201375, 0.785621, 0.325415),
    ),
    (
        1.5,
        (-0.991669, 2, 2.81764),
        (-0.170319, 0, 1.8602),
        (0.0421627, -0.0174643, 0.922917, 0.382285),
    ),
    (
        2.0,
        (-0.951117, 2, 2.56052),
        (0.637222, 0, -2.82902),
        (0.102132, -0.0423046, 0.918217, 0.380338),
    ),
]
CASES = {
    "Revolute_Case01": (
        Revolute,
        (0, 0, 0),
        (0, 1, 0),
        (0.707107, -0.707107, 0, 0),
        REVOLUTE_CASE01,
    ),
    "Spherical_Case02": (
        Spherical,
        (1, 2, 3),
        (0, 0, 1),
        (0.92388, -0.382683, 0, 0),
        SPHERICAL_CASE02,
    ),
}


def adams_errors(case, h, until):
    """Distances from the published positions, velocities and attitudes, rows by time."""
    kind, joint, axis, p, published = CASES[case]
    p = np.array(p) / np.linalg.norm(p)
    body = Body("b", 1.0, (0.04, 0.1, 0.1), position=np.add(joint, [2, 0, 0]), orientation=p)
    dynamics = assembled(
        [body], [kind("j", Frame(None, joint, axis), Frame.at(body, joint, axis))], (0, 0, -9.80665)
    )
    result, rows = run(dynamics, until, h, **GIVEN), []
    for t, r, v, e in published:
        if t <= until:
            k = int(np.argmin(np.abs(result["time"].values - t)))
            q, u = result["q"].values[k], result["v"].values[k]
            attitude = min(np.linalg.norm(q[3:] - e), np.linalg.norm(q[3:] + e))
            rows.append([np.linalg.norm(q[:3] - r), np.linalg.norm(u[:3] - v), attitude])
    return np.array(rows)


@pytest.mark.slow
@pytest.mark.parametrize("case", CASES)
def test_adams_trajectories(case):
    coarse, fine = (adams_errors(case, h, 1.0).max(axis=0) for h in (1e-3, 5e-4))
    # Velocities are met to within what was published, 5e-6, so only the others show the order.
    assert np.all(coarse < [0.004, 3e-5, 1e-3])
    assert coarse[[0, 2]] / fine[[0, 2]] == pytest.approx(2, abs=0.05)


# Event-driven solution of the plane motion, independent of this project's schemes: one impact at
# 0.014278431 s, then permanent contact.
CASE_A = {"theta": -0.0137398064, "omega": -0.6619807182}


def case_a_error(h):
    result = run(case_a_dynamics(), 2.0, h, **GIVEN)
    q, v = result["q"].values[-1], result["v"].values[-1]
    turned = 2 * np.arctan2(q[6], q[3]) - CASE_A["theta"]
    return abs((turned + np.pi) % (2 * np.pi) - np.pi), abs(v[5] - CASE_A["omega"])


@pytest.mark.slow
def test_case_a_converges():
    errors = np.array([case_a_error(h) for h in (2e-3, 1e-3, 5e-4)])
    assert errors[0, 0] < 1e-3
    # Four times smaller over two halvings is first order.
    assert errors[0, 0] / errors[-1, 0] > 3.7
    assert errors[0, 1] / errors[-1, 1] > 3.7


def last_pressed(result):
    """Index of the last step in which the first contact bears more than 1 mN."""
    return int(np.flatnonzero(result["impulse"].values[:, 0] > 1e-3 * result["h"].values)[-1])


@pytest.mark.slow
def test_particle_leaves_a_sphere():
    """A particle that starts at rest near the top leaves at cos(theta) = 2/3 of the start's."""
    start = 0.1
    particle = Body("p", 1.0, position=(np.sin(start), 0, np.cos(start)), point_mass=True)
    ball = SphereContact("ball", Frame(None), Frame(particle), body_radius=1.0)
    result = run(assembled([particle], [ball], (0, 0, -G)), 1.2, 5e-4, **GIVEN)
    last = last_pressed(result)
    height = result["q"].values[last, 2]
    assert height == pytest.approx(2 / 3 * np.cos(start), abs=2e-3)
    assert np.all(result["gap"].values[last + 1 :] > 0)


@pytest.mark.slow
def test_frictionless_ladder_leaves_the_wall():
    """At two thirds of its first height, whatever its length."""
    angle = np.deg2rad(75)
    foot, top = np.array([-np.cos(angle), 0, 0]), np.array([0, np.sin(angle), 0])
    upright = Rotation.from_euler("z", angle).as_matrix()
    ladder = Body(
        "ladder", 1.0, (1e-3, 1 / 12, 1 / 12), position=(foot + top) / 2, orientation=upright
    )
    wall = PlaneContact("wall", Frame(None, axes=(-1, 0, 0)), Frame.at(ladder, top))
    floor = PlaneContact("floor", Frame(None, axes=(0, 1, 0)), Frame.at(ladder, foot))
    dynamics = assembled([ladder], [wall, floor], gravity=(0, -G, 0))
    result = run(dynamics, 1.0, 5e-4, **GIVEN)
    last = last_pressed(result)
    assert 2 * result["q"].values[last, 1] == pytest.approx(2 / 3 * np.sin(angle), abs=3e-3)
    assert np.all(result["impulse"].values[1:, 1] > 0)


@pytest.mark.parametrize("h", [1e-3, 1e-2])
def test_a_drop_rests_on_the_plane(h):
    ball = Body("ball", 0.7, (1e-3, 1e-3, 1e-3), position=(0, 0, 0.15))
    dynamics = assembled(
        [ball], [PlaneContact("ground", Frame(None), Frame(ball), radius=0.1)], (0, 0, -G)
    )
    result = run(dynamics, 0.3, h)
    assert result["q"].values[-1, :3] == pytest.approx([0, 0, 0.1], abs=1e-10)
    assert result["v"].values[-1] == pytest.approx(0, abs=1e-9)
    resting = result["time"].values > np.sqrt(2 * 0.05 / G) + 2 * h
    assert result["contact_force"].values[resting, 0] == pytest.approx(
        np.tile([0, 0, 0.7 * G], (resting.sum(), 1)), abs=1e-6
    )
    assert np.all(result["gap"].values >= -1e-10)


@pytest.mark.slow
@pytest.mark.parametrize(
    "form",
    [{}, {"closure": LinearisedClosure(), "renormalise": False, "explicit": True}],
    ids=["default", "printed"],
)
def test_steps_of_a_given_size_are_those_of_the_nonlinear_program(form):
    """Chained by Newton's method they end where the programs do whose h has nowhere to go."""
    case, h = case_a_dynamics(), 2e-4
    found = run(case, 0.2, h, scheme=PaperStep(**form))
    given = run(case, 0.2, h, scheme=PaperStep(finds_h=False, **form), solver=Compiled(chunk=100))
    assert np.nanmax(found["impulse"].values) > 1e-4
    for name, near in (("q", 1e-10), ("v", 1e-9), ("impulse", 1e-8)):
        one, other = (np.nan_to_num(x[name].values) for x in (given, found))
        assert one == pytest.approx(other, abs=near * np.abs(other).max())


@pytest.mark.parametrize("angle", [0.0, 1.0, 3.3])
def test_a_crank_that_is_driven_needs_no_other_solver(angle):
    """In absolute coordinates its joints alone determine each step, in any posture."""
    speed, h = 30.0, 2e-4
    half = np.array([0.02 * np.cos(angle), 0.02 * np.sin(angle), 0])
    crank = Body(
        "crank",
        0.3,
        (1e-5, 1e-4, 1e-4),
        position=tuple(half),
        orientation=(np.cos(angle / 2), 0, 0, np.sin(angle / 2)),
        velocity=(-speed * half[1], speed * half[0], 0),
        angular_velocity=(0, 0, speed),
    )
    hinge = Revolute("hinge", Frame(None), Frame.at(crank, (0, 0, 0)))
    dynamics = assembled([crank], [hinge, Driven("motor", hinge, speed)], gravity=(0, -G, 0))
    result = run(dynamics, 100 * h, h, scheme=PaperStep(finds_h=False), solver=Compiled(chunk=100))
    assert np.all(result["retries"].values[1:] == 0)
    ahead = angle + speed * 100 * h
    end = 0.02 * np.cos(ahead), 0.02 * np.sin(ahead)
    assert result["q"].values[-1, :2] == pytest.approx(end, abs=1e-11)


@pytest.mark.slow
def test_its_steps_can_be_those_of_an_error_control():
    """The control finds steps that keep the angle of a pendulum to what is asked for."""
    rod = Body("rod", 1.0, (1e-3, 1e-2, 1e-2), position=(0.5, 0, 0))
    hinge = Revolute("hinge", Frame(None), Frame.at(rod, (0, 0, 0)))
    dynamics = assembled([rod], [hinge], gravity=(0, -G, 0))

    def rates(t, y):
        return [y[1], -G * 0.5 / 0.26 * np.cos(y[0])]

    exact = solve_ivp(rates, (0, 0.5), (0, 0), rtol=1e-11, atol=1e-12).y[0, -1]
    errors = []
    for tolerance in (1e-7, 1e-9):
        result = simulate(
            dynamics,
            duration=0.5,
            steps=StepBounds(1e-8, 1e-2),
            scheme=PaperStep(finds_h=False),
            control=ErrorControl(tolerance),
            progress=False,
        )
        assert result.completed
        x, y = result["q"].values[-1, :2]
        errors.append(abs(np.arctan2(y, x) - exact))
    assert errors[1] < 2e-3
    assert errors[0] / errors[1] == pytest.approx(10, rel=0.5)


def test_fixed_steps_end_on_time_in_spite_of_round_off():
    """A thousand seconds from zero, sums of steps miss the end by 1e-13 s each."""
    particle = Body("p", 1.0, point_mass=True)
    dynamics = assembled([particle], [], gravity=(0, 0, -G))
    q, v = dynamics.stated_start()
    result = run(dynamics, 0.02, 1e-4, Start(q, v, 1000.0))
    assert result["time"].values[-1] == 1000.02
    assert len(result["time"]) == 201
