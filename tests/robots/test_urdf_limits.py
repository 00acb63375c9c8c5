"""What real URDF files have: limits of followers, zeros as placeholders, tools, xacro's remains."""

import numpy as np
import pytest
from scipy.optimize import brentq
from scipy.spatial.transform import Rotation

from nsopt import CubicLaw, Start, StepBounds, assemble, simulate
from nsopt.robots import load_urdf, resistances
from nsopt.trajectory import (
    ActuatorLimits,
    DriveWithin,
    Duration,
    EndAt,
    Horizon,
    JerkLimits,
    PowerLimits,
    Quintic,
    StartAt,
    Within,
    optimize,
)
from tests.robots.test_urdf import joint, link

RATIO, SPEED = 3.0, 2.0


@pytest.fixture
def load(tmp_path):
    def load(*elements, **options):
        path = tmp_path / "robot.urdf"
        path.write_text(f"<robot name='r'>{''.join(elements)}</robot>")
        return load_urdf(path, **options)

    return load


def limit(lower=-3, upper=3, velocity=50, effort=1000):
    return f'<limit lower="{lower}" upper="{upper}" velocity="{velocity}" effort="{effort}"/>'


def follower(ratio=RATIO, **limits):
    more = f'<mimic joint="j1" multiplier="{ratio}"/>' + limit(**limits)
    return (
        link("base", mass=None),
        link("a"),
        link("b"),
        joint("j1", "base", "a", more=limit()),
        joint("j2", "base", "b", more=more),
    )


def least_time(robot, end, *conditions):
    ends = [StartAt([0.0], [0.0]), EndAt([end], [0.0])]
    horizon, costs = Horizon((0.1, 2.0), 20), [Duration()]
    return optimize(assemble(robot), horizon, costs, [*ends, *conditions], Quintic([0.0], [end]))


@pytest.mark.parametrize(
    "condition", [ActuatorLimits(), ActuatorLimits(["j1", "j2"]), Within("j2.rate", -SPEED, SPEED)]
)
def test_the_speed_of_a_follower_bounds_the_motion(load, condition):
    """The driver turns at SPEED / RATIO at most, but for the ends of a large force."""
    robot = load(*follower(lower=-1.5, upper=1.5, velocity=SPEED))
    best = least_time(robot, 0.4, condition, ActuatorLimits(["j1"]))
    assert best.completed, best.stop_reason
    fastest = np.abs(best["v"].values).max()
    assert fastest == pytest.approx(SPEED / RATIO, rel=1e-5)
    assert 0.4 * RATIO / SPEED < best.data["time"].values[-1] < 1.1 * 0.4 * RATIO / SPEED


@pytest.mark.unit
@pytest.mark.parametrize("condition", [ActuatorLimits(), Within("j2.angle", -1.0, 1.0)])
def test_the_range_of_a_follower_bounds_the_motion(load, condition):
    robot = load(*follower(lower=-1.0, upper=1.0))
    with pytest.raises(ValueError, match=r"j2.* is 1\.2, must be at least -1 and at most 1"):
        least_time(robot, 0.4, condition)


def test_the_jerk_of_a_follower_is_limited(load):
    """From rest to rest with accelerations from A to -A at the constant jerk J: q = J T^3 / 12."""
    robot, jerk, end = load(*follower()), 90.0, 0.3
    best = least_time(robot, end, JerkLimits(jerk, ["j2"]))
    assert best.completed, best.stop_reason
    assert best.data["time"].values[-1] == pytest.approx((12 * end * RATIO / jerk) ** (1 / 3), 1e-5)


@pytest.mark.unit
@pytest.mark.parametrize("condition", [DriveWithin("j2", -1, 1), PowerLimits(1.0, ["j2"])])
def test_a_follower_has_no_drive(load, condition):
    with pytest.raises(ValueError, match="'j2', which follows 'j1' and has no drive"):
        least_time(load(*follower()), 0.1, condition)


@pytest.mark.slow
def test_a_stop_of_a_follower_holds(load):
    """The stop takes the energy, 40/2 5^2 J, at the excess where its potential is as large."""
    robot = load(*follower(lower=-0.6, upper=0.6))
    law = CubicLaw(peak=5e4, compliance=0.1)
    d = assemble(robot, resistances(robot, stop={"j2": law}))
    start = Start.named(d, {}, {"j1": 5.0})
    result = simulate(d, start, 0.1, steps=StepBounds(1e-4, 1e-4), progress=False)
    x = brentq(lambda x: 5e4 * 0.1 * x**3 * (1 - x / 2) - 40 / 2 * 5.0**2, 0, 1)
    assert result["q"].values.max() == pytest.approx((0.6 + 0.1 * x) / RATIO, rel=1e-5)


@pytest.mark.unit
@pytest.mark.parametrize(
    ("ratio", "lower", "upper"),
    [(-1, 0, 3), (1, 4, 5), (-2, 0.0, 6.5)],
    ids=["sign", "apart", "more"],
)
def test_a_range_that_a_follower_never_comes_into_is_left_out(load, ratio, lower, upper):
    of = '<limit lower="0" upper="3" velocity="1" effort="1"/>'
    parts = [
        *follower(ratio, lower=lower, upper=upper)[:3],
        joint("j1", "base", "a", more=of),
        follower(ratio, lower=lower, upper=upper)[4],
    ]
    with pytest.warns(UserWarning, match="range of joint 'j2', .* disagrees with its mimic tag"):
        robot = load(*parts)
    assert [(x.lower, x.upper) for x in robot.actuators] == [(0, 3), (-np.inf, np.inf)]


@pytest.mark.unit
@pytest.mark.parametrize(
    ("limits", "what"),
    [
        ({"velocity": 0}, "speed of joint 'j1'"),
        ({"effort": 0}, "force of joint 'j1'"),
        ({"lower": 0, "upper": 0}, "range of joint 'j1'"),
    ],
)
def test_limits_of_zero_are_refused(load, limits, what):
    robot = load(link("a"), link("b"), joint("j1", "a", "b", more=limit(**limits)))
    with pytest.raises(ValueError, match=f"{what} is limited to 0"):
        least_time(robot, 0.1, ActuatorLimits())


@pytest.mark.unit
def test_frames_of_merged_links_remain(load):
    """A tool on a flange on a hand: its frame is that of the whole robot, with all its links."""
    parts = [
        link("base", mass=None),
        link("hand", xyz="0.3 0 0.1"),
        link("flange", xyz="0 0.2 0", mass=0.4),
        link("tool", mass=None),
        joint("turn", "base", "hand", axis="0 1 0", xyz="0 0 1", more=limit()),
        joint("weld", "hand", "flange", "fixed", xyz="0.5 0 0", rpy="0.3 0 -0.2"),
        joint("screws", "flange", "tool", "fixed", xyz="0 0 0.1", rpy="0 0.4 0"),
    ]
    whole, merged = load(*parts), load(*parts, merge_fixed=True)
    for name in ("hand", "flange", "tool"):
        a, b = (_place(robot.frame(name)) for robot in (whole, merged))
        assert a == pytest.approx(b, abs=1e-14)
    assert merged.frame("tool").body.name == "hand"
    with pytest.raises(ValueError, match="no link 'gripper': one of base, hand, flange, tool"):
        merged.frame("gripper")


def _place(frame):
    """Return origin and axes of a frame in the world, as stated, (12,)."""
    A = Rotation.from_quat(np.roll(frame.body.orientation, -1)).as_matrix()
    origin = np.asarray(frame.body.position) + A @ frame.origin
    return np.concatenate([origin, np.ravel(A @ frame.axes)])


@pytest.mark.unit
@pytest.mark.parametrize(
    ("remains", "what"),
    [
        ('<xacro:property name="x" value="1"/>', "1 xacro:property"),
        ('<xacro:arg name="x" default="${y}"/>', "1 xacro:arg"),
        ("<sensor:camera/>", "1 sensor:camera"),
    ],
)
def test_what_is_no_urdf_is_read_past(load, remains, what):
    with pytest.warns(UserWarning, match=f"ignored {what}"):
        robot = load(remains, link("a"), link("b"), joint("j", "a", "b"))
    assert [body.name for body in robot.bodies] == ["a", "b"]


@pytest.mark.unit
@pytest.mark.parametrize("pending", ["<xacro:arm side='left'/>", "<link name='${side}_arm'/>"])
def test_what_xacro_must_expand_is_refused(load, pending):
    with pytest.raises(ValueError, match=r"holds xacro macros, at <.*>: expand them first"):
        load(link("a"), pending)
