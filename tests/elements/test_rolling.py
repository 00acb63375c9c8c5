"""Constraints on velocities: what they keep, closed forms of what rolls, what is refused."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from nsopt import (
    GROUND,
    AppliedForce,
    AppliedTorque,
    Body,
    Compiled,
    ContactAligned,
    Driven,
    Frame,
    KnifeEdge,
    MecanumWheel,
    Mechanism,
    MoreauJean,
    PaperStep,
    Parameter,
    Planar,
    PrescribedSpeed,
    Programmed,
    Revolute,
    Rolling,
    RollingDisc,
    RungeKutta,
    Start,
    StepBounds,
    Turn,
    Variational,
    Wheel,
    acceleration,
    assemble,
    consistent,
    simulate,
)
from nsopt.trajectory import EndAt, Horizon, InputEffort, Quintic, StartAt, optimize
from tests.catalog import RATES
from tests.states import array, couple, near, run, wrenches

G = 9.81
rates = pytest.mark.parametrize("row", RATES, ids=str)
every = pytest.mark.parametrize(
    "scheme", [Variational(), MoreauJean(), ContactAligned()], ids=lambda x: type(x).__name__
)


@rates
@pytest.mark.parametrize("seed", range(2))
def test_its_forces_are_equal_and_opposite_and_work_on_what_it_keeps(row, seed):
    c = couple(row)
    q = c.placed(near(seed, 0.1, 0.3))
    B = c.at("nonholonomic_matrix", q).reshape(row.size, 12)
    for generalized in B:
        on_a, on_b = wrenches(generalized, q)
        assert on_a == pytest.approx(-on_b, abs=1e-12)
    F = c.at("effort_matrix", q).reshape(12, row.size)
    assert pytest.approx(B.T, abs=1e-15) == F
    assert np.linalg.matrix_rank(B) == row.size


@rates
def test_its_bias_is_the_rate_of_its_rows(row):
    c, eps = couple(row), 1e-6
    q, v = c.placed(near(3, 0.1, 0.3)), np.random.default_rng(3).normal(size=12)
    N = array(c.dynamics.rate_matrix(q))

    def rows(sign):
        there = q + sign * eps * N @ v
        return c.at("nonholonomic_matrix", there, sign * eps).reshape(row.size, 12) @ v + c.at(
            "nonholonomic_drift", there, sign * eps
        )

    change = (rows(1) - rows(-1)) / (2 * eps)
    assert c.with_velocity("nonholonomic_bias", q, v) == pytest.approx(change, abs=1e-7)


def disc(tilt, precession, mass=2.0, radius=0.3):
    """A disc that rolls round a circle, its axis at ``tilt`` from the vertical.

    With theta the tilt, Omega the precession and w the angular velocity about its axis, angular
    momentum about the centre gives
    w (m R^2 + C) Omega sin(theta) = cos(theta) (A Omega^2 sin(theta) - m g R).
    """
    A, C = mass * radius**2 / 4, mass * radius**2 / 2
    s, c = np.sin(tilt), np.cos(tilt)
    spin = (
        c * (A * precession**2 * s - mass * G * radius) / ((mass * radius**2 + C) * precession * s)
    )
    # y of the frame is the axis of the disc, z up its plane: turned about x from upright.
    turned = Rotation.from_euler("x", np.pi / 2 - tilt).as_matrix()
    up, axis = turned[:, 2], turned[:, 1]
    side = np.cross(axis, up)
    if axis[2] < 0:
        axis, side = -axis, -side
    w = precession * s * up + spin * axis
    velocity = radius * spin * np.cross(axis, up)
    body = Body(
        "disc",
        mass,
        (A, C, A),
        position=tuple(radius * up),
        orientation=turned,
        velocity=tuple(velocity),
        angular_velocity=tuple(turned.T @ w),
    )
    rolls = RollingDisc("rolls", Frame(GROUND), Frame(body), radius)
    return assemble(Mechanism([body]), [rolls], (0, 0, -G)), abs(radius * spin / precession)


@pytest.mark.slow
def test_a_disc_rolls_round_a_circle():
    """Steady motion, of second order; the energy stays, the rim on the ground."""
    d, radius = disc(np.radians(70), 3.0)
    duration, errors = 2 * np.pi / 3.0, []
    for h in (duration / 400, duration / 800):
        result = run(d, duration, h, scheme=Variational(), solver=Compiled())
        r = result["body_position"].values[:, 0]
        middle = (r.max(axis=0) + r.min(axis=0)) / 2
        errors.append(np.max(np.abs(np.linalg.norm((r - middle)[:, :2], axis=1) - radius)))
        assert np.ptp(result["total_energy"].values) < 1e-3
        assert float(result["constraint_violation"].max()) < 1e-9
    assert np.linalg.norm(r[-1] - r[0]) < 1e-2 * radius
    assert errors[1] < 3e-4 * radius
    assert errors[0] / errors[1] == pytest.approx(4, rel=0.15)


def skate(speed=2.0):
    """A skate on a slope that falls along x, turning at a constant rate."""
    slope = np.radians(20)
    body = Body("skate", 1.5, (0.1, 0.1, 0.1), angular_velocity=(0, 0, speed))
    ice = Frame(GROUND)
    plane = Planar("plane", ice, Frame(body))
    weight = (G * np.sin(slope), 0, -G * np.cos(slope))
    return assemble(
        Mechanism([body], [plane], "relative"), [KnifeEdge("edge", ice, Frame(body))], weight
    )


@pytest.mark.parametrize(("model", "count"), [(skate, 2), (lambda: disc(1.2, 3.0)[0], 3)])
def test_ways_to_move_are_those_that_rolling_leaves(model, count):
    """A skate moves along its edge and turns; a disc rolls, leans and turns about the vertical."""
    result = run(model(), 0.01, 0.01, scheme=Variational())
    assert result.data.attrs["degrees_of_freedom"] == count


@pytest.mark.slow
@pytest.mark.parametrize(
    ("scheme", "order"), [(Variational(), 2), (ContactAligned(), 2), (MoreauJean(), 1)]
)
def test_a_skate_on_a_slope_draws_a_cycloid(scheme, order):
    """x = a sin^2(w t), y = a (w t - sin(2 w t)/2), a = g sin(slope) / (2 w^2): it never falls."""
    d, w, errors = skate(), 2.0, []
    a = G * np.sin(np.radians(20)) / (2 * w**2)
    for h in (1e-2, 5e-3):
        result = run(d, 2.0, h, scheme=scheme)
        t, (x, y) = result["time"].values, result["q"].values[:, :2].T
        off = x - a * np.sin(w * t) ** 2, y - a * (w * t - np.sin(2 * w * t) / 2)
        errors.append(np.max(np.abs(off)))
    assert errors[1] < (1e-3 if order == 2 else 2e-2)
    assert errors[0] / errors[1] == pytest.approx(2**order, rel=0.1)


@pytest.mark.slow
def test_a_ball_on_a_turntable_goes_round_at_two_sevenths_of_its_speed():
    """[Earnshaw 1844]: in a circle about any point, whatever the plate turns like at 2/7 of it."""
    speed, radius, mass = 3.0, 0.05, 0.4
    plate = Body("plate", 5.0, (1, 1, 1), angular_velocity=(0, 0, speed))
    start, u = np.array([0.3, 0.1, radius]), np.array([0.2, -0.4, 0.0])
    # Rolling at first: u - r w x z against the plate.
    on = np.array([-speed * start[1], speed * start[0], 0])
    slip = u - on
    w = (-slip[1] / radius, slip[0] / radius, speed)
    J = 0.4 * mass * radius**2
    ball = Body("ball", mass, (J,) * 3, tuple(start), velocity=tuple(u), angular_velocity=w)
    hub = Revolute("hub", Frame(GROUND), Frame(plate))
    joints = [
        hub,
        Driven("motor", hub, speed),
        Programmed("height", Frame(GROUND), Frame(ball), (0, 0, radius), "z"),
    ]
    rolls = Rolling("rolls", Frame(plate), Frame(ball), radius)
    d = assemble(Mechanism([plate, ball], joints), [rolls], (0, 0, -G))
    turn, errors = 2 * np.pi / (2 / 7 * speed), []
    middle = start[:2] + np.array([-u[1], u[0]]) / (2 / 7 * speed)
    for h in (turn / 200, turn / 400):
        result = run(d, turn, h, scheme=Variational(), solver=Compiled())
        r = result["body_position"].values[:, 1, :2]
        angle = 2 / 7 * speed * result["time"].values
        c, s = np.cos(angle), np.sin(angle)
        arm = start[:2] - middle
        exact = middle + np.column_stack([c * arm[0] - s * arm[1], s * arm[0] + c * arm[1]])
        errors.append(np.max(np.abs(r - exact)))
    assert errors[1] < 1e-3
    assert errors[0] / errors[1] == pytest.approx(4, rel=0.1)
    force = result.data["joint_reaction"].sel(joint="rolls").values[1:]
    expected = mass * (2 / 7 * speed) ** 2 * np.linalg.norm(start[:2] - middle)
    assert np.linalg.norm(force, axis=1) == pytest.approx(expected, rel=1e-3)


def cart(kind, speeds=None):
    """A platform on four wheels, in the plane; each wheel turns about its axle."""
    frame = Body("frame", 20.0, (1.0, 1.0, 1.5), position=(0, 0, 0.1))
    ground, joints, rolls, bodies = Frame(GROUND, (0, 0, 0.1)), [], [], [frame]
    joints.append(Planar("plane", ground, Frame(frame)))
    for k, (x, y) in enumerate(((0.3, 0.2), (0.3, -0.2), (-0.3, 0.2), (-0.3, -0.2))):
        place = (x, y, 0.1)
        wheel = Body(f"wheel{k}", 1.0, (3e-3, 5e-3, 3e-3), position=place)
        ends = (Frame.at(x, place, (0, 1, 0)) for x in (frame, wheel))
        axle = Revolute(f"axle{k}", *ends)
        rolls.append(kind(k, Frame(GROUND), Frame.at(wheel, place, np.eye(3))))
        joints.append(axle)
        bodies.append(wheel)
    if speeds is not None:
        joints += [Driven(f"motor{k}", joints[1 + k], f) for k, f in enumerate(speeds)]
    return assemble(Mechanism(bodies, joints, "relative"), rolls, (0, 0, -G))


def mecanum(k, a, b):
    return MecanumWheel(f"wheel on ground {k}", a, b, 0.1, (1, -1, -1, 1)[k] * np.pi / 4)


@pytest.mark.slow
def test_mecanum_wheels_drive_sideways_and_round():
    """R w = forward -+ sideways -+ (l + w/2) turn, of each wheel [Muir and Neuman 1987]."""
    forward, sideways, turning = 0.2, -0.3, 0.4
    reach = 0.3 + 0.2
    signs = np.array([(-1, -1), (1, 1), (1, -1), (-1, 1)])
    wheel = (forward + signs[:, 0] * sideways + signs[:, 1] * reach * turning) / 0.1
    # Three are driven, the fourth follows.
    d = cart(mecanum, [lambda t, w=w: w * t for w in wheel[:3]])
    result = run(d, 0.5, 1e-2, consistent(d), scheme=Variational(), solver=Compiled())
    v = result["v"].values[-1]
    angle = result["q"].values[-1, 2]
    c, s = np.cos(angle), np.sin(angle)
    assert (c * v[0] + s * v[1], c * v[1] - s * v[0], v[2]) == pytest.approx(
        (forward, sideways, turning), abs=1e-4
    )
    assert v[3:] == pytest.approx(wheel, abs=1e-3)
    assert float(result["constraint_violation"].max()) < 1e-9


@pytest.mark.slow
def test_wheels_of_two_axles_cannot_all_be_kept_from_sliding():
    d = cart(lambda k, a, b: Wheel(f"wheel on ground {k}", a, b, 0.1))
    with pytest.raises(ValueError, match="'wheel on ground 1' follows from joints"):
        run(d, 0.1, 1e-2, scheme=Variational())
    d = cart(lambda k, a, b: Wheel(f"wheel on ground {k}", a, b, 0.1, slides=k > 0))
    start = Start.named(d, {}, {"plane.vx": 0.5, **{f"axle{k}": 5.0 for k in range(4)}})
    result = run(d, 0.2, 1e-2, start, scheme=Variational())
    assert result["q"].values[-1, 0] == pytest.approx(0.2 * start.v[0], abs=1e-9)
    assert result["v"].values[-1, 3:] == pytest.approx(start.v[0] / 0.1)


@every
def test_a_prescribed_speed_is_kept(scheme):
    body = Body("rotor", 1.0, (0.1, 0.1, 0.1), angular_velocity=(0, 0, 2.0))
    hub = Revolute("hub", Frame(GROUND), Frame(body))
    rate = Parameter("rate", 3.0)
    keeps = PrescribedSpeed("keeps", hub, lambda t: 2 + rate * t)
    d = assemble(Mechanism([body], [hub], "relative"), [keeps])
    result = run(d, 1.0, 1e-2, scheme=scheme, parameters={"rate": 1.0})
    assert result["v"].values[-1, 0] == pytest.approx(3.0, abs=0.02)
    assert result["q"].values[-1, 0] == pytest.approx(2.5, abs=0.02)
    gain = result["total_energy"].values - result["total_energy"].values[0]
    assert result["external_work"].values == pytest.approx(gain, abs=2e-3)


def parking():
    """A skate pushed along its blade and turned, by inputs."""
    body = Body("skate", 1.5, (0.1, 0.1, 0.1))
    plane = Planar("plane", Frame(GROUND), Frame(body))
    edge = KnifeEdge("edge", Frame(GROUND), Frame(body))
    push = AppliedForce("push", Frame(body), (Parameter("push", 0.0), 0, 0), body_axes=True)
    steer = AppliedTorque("steer", Frame(body), (0, 0, Parameter("steer", 0.0)))
    return assemble(Mechanism([body], [plane], "relative"), [edge, push, steer])


@pytest.mark.slow
@every
def test_over_a_horizon_a_skate_parks(scheme):
    """From rest to a place ahead and aside, the same heading: it has to turn on the way.

    The step of MoreauJean keeps the blade at its start, so the middle slips by h^2 times speeds.
    """
    best = optimize(
        parking(),
        Horizon(2.0, steps=30),
        [InputEffort(input="push"), InputEffort(input="steer")],
        [StartAt([0, 0, 0], np.zeros(3)), EndAt([0.6, 0.3, 0], np.zeros(3))],
        Quintic([0, 0, 0], [0.6, 0.3, 0]),
        inputs=["push", "steer"],
        scheme=scheme,
    )
    assert best.completed, best.stop_reason
    q = best["q"].values
    move, middle = np.diff(q[:, :2], axis=0), (q[1:, 2] + q[:-1, 2]) / 2
    slip = np.cos(middle) * move[:, 1] - np.sin(middle) * move[:, 0]
    assert np.max(np.abs(slip)) < (3e-3 if isinstance(scheme, MoreauJean) else 1e-9)
    assert np.max(np.abs(q[:, 2])) > 0.3


REFUSED = [PaperStep(), RungeKutta()]


@pytest.mark.parametrize("scheme", REFUSED, ids=lambda x: type(x).__name__)
def test_other_schemes_refuse_it(scheme):
    says = f"{type(scheme).__name__} knows no constraints on velocities.*'edge': use Variational"
    with pytest.raises(ValueError, match=says):
        simulate(skate(), duration=0.1, steps=StepBounds(1e-3, 1e-2), scheme=scheme)


def test_there_is_no_acceleration_of_it():
    with pytest.raises(ValueError, match="'edge' is a constraint on velocities"):
        acceleration(skate())


def test_a_start_that_slips_is_refused():
    d = skate()
    with pytest.raises(ValueError, match=r"violates joint 'edge'.*slips by 0\.5"):
        run(d, 0.1, 1e-2, Start(np.zeros(3), np.array([0.0, 0.5, 0.0])), scheme=Variational())
    assert consistent(d, Start(np.zeros(3), np.array([0.3, 0.5, 0.0]))).v == pytest.approx(
        [0.3, 0, 0]
    )


class Squared(KnifeEdge):
    def rate(self, s):
        return super().rate(s) ** 2


def test_rows_that_are_not_linear_are_refused():
    body = Body("b", 1.0, (1, 1, 1))
    with pytest.raises(ValueError, match="Squared 'edge' must be linear in velocities"):
        assemble(Mechanism([body]), [Squared("edge", Frame(GROUND), Frame(body))])


BAD = [
    (lambda a, b: Rolling("r", a, b, 0.0), "radius of Rolling 'r' must be positive"),
    (lambda a, b: Wheel("r", a, b, -1.0), "radius of Wheel 'r' must be positive"),
    (lambda a, b: MecanumWheel("r", a, b, 0.1, 0.0), "must not be zero"),
    (lambda a, b: MecanumWheel("r", a, b, 0.1, 2.0), "must lie between"),
    (lambda a, b: PrescribedSpeed("r", Turn(a, b), np.nan), "speed of PrescribedSpeed 'r' must"),
]


@pytest.mark.parametrize(("make", "says"), BAD)
def test_numbers_out_of_range_are_refused(make, says):
    with pytest.raises(ValueError, match=says):
        make(Frame(GROUND), Frame(Body("b", 1.0, (1, 1, 1))))
