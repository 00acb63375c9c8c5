"""Programmed motion: paths, guides and drives, and what is refused before a run."""

import itertools
import re

import numpy as np
import pytest
from scipy.interpolate import CubicSpline

from nsopt import (
    GROUND,
    ArcPath,
    Body,
    CornerPath,
    Driven,
    Frame,
    Mechanism,
    Parameter,
    Programmed,
    Revolute,
    SplinePath,
    Start,
    StepBounds,
    Variational,
    assemble,
    consistent,
    simulate,
)
from tests.states import array, run

G = 9.81
CORNERS = [(1.2, 0.6, 0.0), (1.2, 1.1, 0.0), (0.7, 1.1, 0.0)]


def arm(path=CORNERS[0], axes="xy", links=2, coordinates="relative", drives=(), **options):
    """An arm of hinges about z, links of 1 m; its tip is programmed."""
    bodies, joints = [], []
    for k in range(links):
        bodies.append(Body(f"link{k}", 1.0, (0.01, 0.09, 0.09), position=(k + 0.5, 0, 0)))
        base = Frame.at(bodies[k - 1], (k, 0, 0)) if k else Frame(GROUND)
        joints.append(Revolute(f"hinge{k}", base, Frame.at(bodies[k], (k, 0, 0))))
    tip = Frame.at(bodies[-1], (links, 0, 0))
    chosen = tuple(joints[k] for k in drives)
    told = Programmed("tip", Frame(GROUND), tip, path, axes, drives=chosen, **options)
    return assemble(Mechanism(bodies, [*joints, told], coordinates), gravity=(0, -G, 0))


def near(d, *angles):
    """The start next to these angles of an arm in relative coordinates."""
    return consistent(d, Start(np.array(angles), np.zeros(len(angles))))


def place(path, t):
    """Where a path is at times, by the residual of a programmed point."""
    body = Body("b", 1.0, point_mass=True)
    told = Programmed("tip", Frame(GROUND), Frame(body), path)
    d = assemble(Mechanism([body], [told]))
    return np.array([-array(d.closure(x, np.zeros(3), d.values())) for x in t])


def test_corners_are_joined_by_the_quintic():
    path = CornerPath(CORNERS, side=[2.0, 0.5], begin=0.3)
    t = np.linspace(0, 3.2, 97)
    where = place(path, t)
    x, y = np.clip((t - 0.3) / 2, 0, 1), np.clip((t - 2.3) / 0.5, 0, 1)
    first, second = (10 * s**3 - 15 * s**4 + 6 * s**5 for s in (x, y))
    assert where[:, 0] == pytest.approx(1.2 - 0.5 * second, abs=1e-14)
    assert where[:, 1] == pytest.approx(0.6 + 0.5 * first, abs=1e-14)


@pytest.mark.parametrize("ends", ["clamped", "periodic"])
def test_spline_goes_through_its_points(ends):
    times, points = [0.0, 0.5, 1.5, 2.0], [(0, 0, 0), (1, 2, 0), (-1, 0.5, 3), (0, 0, 0)]
    t = np.linspace(0, 2, 41)
    where = place(SplinePath(times, points, periodic=ends == "periodic"), t)
    assert where == pytest.approx(CubicSpline(times, points, bc_type=ends)(t), abs=1e-12)
    beyond = place(SplinePath(times, points, periodic=ends == "periodic"), t + 2.0)
    assert beyond == pytest.approx(where if ends == "periodic" else np.zeros((41, 3)), abs=1e-12)


def test_arc_turns_about_its_normal():
    t = np.linspace(-0.5, 2.5, 31)
    steady = place(ArcPath((1, 2, 3), 0.4, np.pi, 2.0, (0, 1, 0), constant_speed=True), t)
    away = steady - np.array([1, 2, 3])
    assert np.linalg.norm(away, axis=1) == pytest.approx(0.4)
    assert away[:, 1] == pytest.approx(0, abs=1e-15)
    turned = np.cross(away[:-1], away[1:])[:, 1] / 0.16
    assert turned == pytest.approx(np.sin(np.pi / 2 * 0.1))
    resting = place(ArcPath((1, 2, 3), 0.4, np.pi, 2.0, (0, 1, 0)), t)
    assert resting[-1] == pytest.approx(2 * np.array([1, 2, 3]) - resting[0])
    assert resting[t < 0] == pytest.approx(np.tile(resting[5], (5, 1)))


def test_parameters_in_a_path_may_be_replaced():
    d = arm(CornerPath([(Parameter("x", 1.2), 0.6, 0), (0.7, 1.1, 0)], side=Parameter("T", 2.0)))
    p = d.values({"x": 1.0, "T": 1.0})
    still = array(d.closure(0.0, [0.0, 0.0], p)), array(d.closure(1.0, [0.0, 0.0], p))
    assert still[0] == pytest.approx([1.0, -0.6])
    assert still[1] == pytest.approx([1.3, -1.1])


def hand(d, result, k):
    """Torques of both hinges and forces of a guide by the equations of motion, by hand."""
    q, v, t = result["q"].values, result["v"].values, result["time"].values
    a = (v[k + 1] - v[k - 1]) / (t[k + 1] - t[k - 1])
    M, S = array(d.mass(q[k], [])), array(d.bias(q[k], v[k], []))
    return M @ a + S - array(d.applied(t[k], q[k], v[k], []))


@pytest.mark.slow
@pytest.mark.parametrize("coordinates", ["relative", "absolute"])
def test_drives_and_guide_move_alike_and_load_joints_otherwise(coordinates):
    path = CornerPath(CORNERS, side=0.5)
    guided, driven = arm(path), arm(path, drives=(0, 1), coordinates=coordinates)
    start = near(guided, 0.0, 1.0)
    steps = {"scheme": Variational(), "duration": 1.0, "h": 5e-3}
    first = run(guided, start=start, **steps)
    begin = start if coordinates == "relative" else posed(driven, first)
    second = run(driven, start=begin, **steps)
    gap = first["body_position"].values - second["body_position"].values
    assert np.max(np.abs(gap)) < 1e-6
    torque = np.column_stack([second[f"tip.torque[{k}]"] for k in range(2)])
    middle = (torque[40] + torque[41]) / 2  # of the steps on both sides of the node
    assert middle == pytest.approx(hand(guided, first, 40), abs=0.01)
    assert float(np.abs(second.data["joint_reaction"].sel(joint="tip")).max()) < 1e-9
    # The guide takes the tip's share of the weight; driven, hinge 1 carries link 1 alone.
    k = 0
    alone = second.data["joint_reaction"].sel(joint="hinge1").values[k]
    assert alone == pytest.approx([0, G, 0], abs=1e-6)
    helped = first.data["joint_reaction"].sel(joint=["hinge1", "tip"]).values[k]
    assert helped.sum(axis=0) == pytest.approx([0, G, 0], abs=1e-6)
    assert abs(helped[0, 1] - G) > 1
    works = [x["external_work"].values for x in (first, second)]
    gain = first["total_energy"].values - first["total_energy"].values[0]
    assert np.ptp(gain) > 1
    for work in works:
        assert work == pytest.approx(gain, abs=2e-3)


def posed(d, result):
    """The same state in absolute coordinates."""
    first = result.data.isel(time=0)
    q = np.hstack([first["body_position"], first["body_quaternion"]]).ravel()
    return consistent(d, Start(q, np.zeros(d.nv)))


@pytest.mark.slow
def test_more_drives_than_axes_share_as_joints_would_feel_the_guide():
    path = CornerPath(CORNERS, side=0.5)
    guided, driven = arm(path, links=3), arm(path, links=3, drives=(0, 1, 2))
    start = near(guided, 0.3, 0.8, 0.3)
    steps = {"scheme": Variational(), "duration": 0.2, "h": 5e-3, "start": start}
    results = [run(d, **steps) for d in (guided, driven)]
    assert results[1]["q"].values == pytest.approx(results[0]["q"].values, abs=1e-9)
    assert driven.drive_names == ("tip.torque[0]", "tip.torque[1]", "tip.torque[2]")


def test_two_drives_of_three_hinges_leave_one_free():
    path = CornerPath(CORNERS, side=0.5)
    d = arm(path, links=3, drives=(0, 1))
    start = near(d, 0.3, 0.8, 0.3)
    long, short = (run(d, 0.102, h, start, scheme=Variational()) for h in (2e-3, 1e-3))
    assert float(short["constraint_violation"].max()) < 1e-10
    # Nothing acts about hinge 2 but weight: its equation of motion holds without a drive, to the
    # second order of the differences, which both steps together are free of.
    left = (4 * hand(d, short, 100) - hand(d, long, 50)) / 3
    assert left[2] == pytest.approx(0, abs=1e-3)


@pytest.mark.parametrize("axes", [("rz",), ("x", "rz"), ("x", "y", "rz")])
def test_turns_follow_their_angles(axes):
    """A free body of which some of its pose is programmed."""
    body = Body("b", 1.0, (0.02, 0.03, 0.04))
    told = Programmed(
        "tip",
        Frame(GROUND),
        Frame(body),
        lambda t: (t**3, 0, 0),
        axes,
        lambda t: (0, 0, 5 * t**3),
    )
    d = assemble(Mechanism([body], [told]))
    result = run(d, 0.8, 1e-2, scheme=Variational())
    e0, _, _, e3 = result["body_quaternion"].values[-1, 0]
    assert 2 * np.arctan2(e3, e0) == pytest.approx(5 * 0.8**3, abs=1e-9)
    assert float(result["constraint_violation"].max()) < 1e-10


def test_a_path_on_a_moving_body_is_followed_in_its_axes():
    carrier = Body("carrier", 5.0, (1, 1, 1), velocity=(1, 0, 0), angular_velocity=(0, 0, 2.0))
    ball = Body("ball", 1e-3, point_mass=True, position=(0.3, 0, 0), velocity=(1, 0.6, 0))
    told = Programmed("tip", Frame(carrier), Frame(ball), lambda t: (0.3 + 0.5 * t**2, 0, 0))
    d = assemble(Mechanism([carrier, ball], [told]))
    result = run(d, 0.5, 1e-2, scheme=Variational())
    first, second = np.moveaxis(result["body_position"].values, 1, 0)
    t = result["time"].values
    assert np.linalg.norm(second - first, axis=1) == pytest.approx(0.3 + 0.5 * t**2, abs=1e-9)


OUT = CornerPath([(1.2, 0.6, 0), (2.2, 1.1, 0)])
REFUSED = [
    (arm, {"path": OUT}, (0, 1), r"'tip' is out of reach: from t = 0\.5\d+ s .* by 0\.46 m"),
    (
        arm,
        {"path": lambda t: (1.2 + 0.1 * t * (t > 0.5), 0.6, 0)},
        (0, 1),
        r"speed of joint 'tip' jumps by 0\.1 .* at t = 0\.5 s",
    ),
    (
        arm,
        {"path": OUT, "axes": ("x", "y", "rz"), "turn": lambda t: (0, 0, t**3)},
        (0, 1),
        "'tip' keep 3 coordinates .* leave 2 free, so that 2 at most",
    ),
]


@pytest.mark.parametrize(("make", "options", "angles", "says"), REFUSED)
def test_what_cannot_be_followed_is_refused_before_the_run(make, options, angles, says):
    d = make(**options)
    with pytest.raises(ValueError, match=says):
        run(d, 1.0, 1e-2, near(d, *angles), scheme=Variational())


def test_a_linkage_locks_when_its_diagonal_is_as_long_as_the_other_two_links():
    a, b, c, g, turned = 0.1, 0.2, 0.1, 0.25, 1.2  # m, crank, coupler, rocker, base; rad
    pin = a * np.array([np.cos(turned), np.sin(turned)])
    to = np.array([g, 0]) - pin
    d = np.linalg.norm(to)
    along = np.arctan2(to[1], to[0]) + np.arccos((b**2 + d**2 - c**2) / (2 * b * d))
    upper = pin + b * np.array([np.cos(along), np.sin(along)])
    corners = [(0, 0, 0), (*pin, 0), (*upper, 0), (g, 0, 0)]
    links = [
        Body(f"link {k}", 1.0, (1e-3,) * 3, tuple(np.add(x, y) / 2))
        for k, (x, y) in enumerate(itertools.pairwise(corners))
    ]
    chain = [None, *links, None]
    pins = [
        Revolute(f"pin {k}", Frame.at(chain[k], x), Frame.at(chain[k + 1], x))
        for k, x in enumerate(corners)
    ]
    linkage = assemble(Mechanism(links, [*pins, Driven("motor", pins[0], 1.0)]))
    with pytest.raises(ValueError, match=r"'motor' is out of reach: from t = \d") as told:
        simulate(linkage, consistent(linkage), 4.0, steps=StepBounds(1e-2, 1e-2))
    locks = np.arccos((a**2 + g**2 - (b + c) ** 2) / (2 * a * g)) - turned  # at 1 rad/s
    found = float(re.search(r"from t = (\S+) s", str(told.value)).group(1))
    assert found == pytest.approx(locks, rel=2e-6)


def test_redundant_axes_that_agree_are_no_conflict():
    """z of an arm in the plane is programmed to stay where it is."""
    d = arm(ArcPath((1.2, 0.5, 0), 0.2, duration=2.0), "xyz")
    result = run(d, 0.1, 1e-2, near(d, 0.0, 1.0), scheme=Variational())
    assert float(result["constraint_violation"].max()) < 1e-10


def test_drives_that_cannot_produce_the_effort_are_refused():
    with pytest.raises(ValueError, match="1 drives cannot produce the effort of Programmed 'tip'"):
        arm(drives=(0,))
    with pytest.raises(ValueError, match=r"keeps 2 coordinates by 3 drives: .* relative"):
        arm(links=3, drives=(0, 1, 2), coordinates="absolute")
    with pytest.raises(ValueError, match=r"tip.torque\[0\].* cannot produce the effort"):
        arm(drives=(0, 0))


def test_the_drive_that_moves_something_else_is_named():
    bodies = [Body(f"b{k}", 1.0, (0.1, 0.1, 0.1), position=(0.5, k, 0)) for k in range(2)]
    hinges = [
        Revolute(f"hinge{k}", Frame(GROUND, (0, k, 0)), Frame.at(body, (0, k, 0)))
        for k, body in enumerate(bodies)
    ]
    tip = Frame.at(bodies[0], (0.5, 0, 0))
    told = Programmed("tip", Frame(GROUND), tip, (0.5, 0, 0), "y", drives=hinges[1:])
    with pytest.raises(ValueError, match=r"drives tip.torque cannot .* effort of joint 'tip'"):
        assemble(Mechanism(bodies, [*hinges, told]))


BAD = [
    ({"axes": ()}, "are none: name what"),
    ({"axes": "xxy"}, "each once"),
    ({"axes": ("x", "pitch")}, "must be some of x, y, z, rx"),
    ({"path": (0, 0)}, r"path of Programmed 'tip' must have shape \(3,\)"),
    ({"path": lambda t: (t, t)}, "must return three"),
    ({"turn": (0, np.nan, 0), "axes": ("rz",)}, "turn of Programmed 'tip' must be finite"),
]


@pytest.mark.parametrize(("options", "says"), BAD)
def test_what_is_no_programme_is_refused(options, says):
    with pytest.raises(ValueError, match=says):
        arm(**options)


PATHS = [
    (lambda: CornerPath([(0, 0, 0)]), "two or more"),
    (lambda: CornerPath(CORNERS, side=0.0), "side of a CornerPath .* positive"),
    (lambda: CornerPath(CORNERS, side=[1.0]), "2 of them, got 1"),
    (lambda: SplinePath([0, 0], CORNERS[:2]), "must rise"),
    (lambda: SplinePath([0, 1], CORNERS[:2], periodic=True), "must be closed"),
    (lambda: SplinePath([0, 1], [(Parameter("x", 0), 0, 0), (1, 0, 0)]), "plain numbers"),
    (lambda: ArcPath((0, 0, 0), -1.0), "radius of an ArcPath must be positive"),
    (lambda: ArcPath((0, 0, 0), 1.0, normal=np.ones((3, 3))), "rotation matrix"),
    (lambda: ArcPath((0, 0, 0), 1.0, normal=-np.eye(3)), "rotation matrix"),
    (lambda: ArcPath((0, 0, 0), 1.0, normal=(0, 0, 0)), "normal of an ArcPath must be a direction"),
]


@pytest.mark.parametrize(("make", "says"), PATHS)
def test_what_is_no_path_is_refused(make, says):
    with pytest.raises(ValueError, match=says):
        make()
