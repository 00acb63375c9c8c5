"""Angles of drives count turns where a coordinate does; they jump where none does."""

import casadi as ca
import numpy as np
import pytest

from nsopt import (
    GROUND,
    Body,
    Frame,
    JointDrives,
    Mechanism,
    Mimic,
    Revolute,
    StepBounds,
    TorsionSpringDamper,
    Turn,
    assemble,
    simulate,
)

J, K, RATE = 0.02, 0.5, 60.0
ALONG, ACROSS = np.eye(3), np.diag([1.0, -1.0, -1.0])
"""Frames whose z are along an axis and against it."""


def turned(axes, angle):
    c, s = np.cos(angle), np.sin(angle)
    return axes @ np.array([[c, -s, 0], [s, c, 0], [0, 0, 1.0]])


def wheel(coordinates, of_a=ALONG, of_b=ALONG, reverse=False):
    """A wheel with a spring that is wound up by many turns, stated as a drive."""
    body = Body("wheel", 1.0, (J, J, J), angular_velocity=(0, 0, RATE))
    axle = Revolute("axle", Frame(GROUND), Frame(body))
    ends = (Frame(GROUND, axes=of_a), Frame(body, axes=of_b))
    drive = JointDrives("spring", [Turn(*ends[::-1] if reverse else ends)], lambda t, q, v: -K * q)
    return assemble(Mechanism([body], [axle], coordinates), [drive])


def run(d, duration=0.6):
    return simulate(d, duration=duration, steps=StepBounds(5e-4, 5e-4), progress=False)


@pytest.mark.parametrize(
    ("of_a", "of_b", "reverse"),
    [
        (ALONG, ALONG, False),
        (turned(ALONG, 0.3), turned(ALONG, -0.9), False),
        (turned(ACROSS, 0.5), turned(ACROSS, 1.1), False),
        (ALONG, turned(ALONG, 2.0), True),
    ],
    ids=["own frames", "turned", "against the axis", "reversed"],
)
def test_a_spring_is_wound_up_by_many_turns(of_a, of_b, reverse):
    """An oscillator about the angle at which the frames of the drive have the same x."""
    result = run(wheel("relative", of_a, of_b, reverse))
    w, t = np.sqrt(K / J), result["time"].values
    R = of_a.T @ of_b
    rest = -np.arctan2(R[1, 0], R[0, 0]) * of_a[2, 2]
    exact = rest - rest * np.cos(w * t) + RATE / w * np.sin(w * t)
    assert np.max(exact) > 4 * np.pi / 3
    assert result["q"].values[:, 0] == pytest.approx(exact, abs=2e-3)
    assert not [x for x in result.warnings if "came round" in x]


def told(result):
    return [x for x in result.warnings if "measures is of one turn and came round" in x]


def test_without_a_coordinate_the_jump_is_told():
    assert told(run(wheel("absolute"), 0.1))


def driven(law, coordinates, speed=0.0):
    body = Body("wheel", 1.0, (J, J, J), angular_velocity=(0, 0, speed))
    axle = Revolute("axle", Frame(GROUND), Frame(body))
    drive = JointDrives("drive", [Turn(*axle.frames)], law)
    return assemble(Mechanism([body], [axle], coordinates), [drive])


def test_a_control_to_two_turns_is_told_whatever_its_torque_grows_to():
    """It never arrives: at half a turn the error becomes larger by a full one."""
    d = driven(lambda t, q, v: -0.4 * (q - 4 * np.pi) - 0.12 * v, "absolute")
    assert told(run(d, 3.0))


def test_a_law_of_the_sine_may_come_round():
    assert not told(run(driven(lambda t, q, v: -K * ca.sin(q), "absolute", RATE), 0.3))


@pytest.mark.parametrize("free", [0.0, 0.7])
def test_a_torsion_spring_is_wound_up_by_many_turns(free):
    """40 cos 5 rad/s after 1 s of 5 rad/s of frequency, 8 rad of amplitude."""
    results = []
    for coordinates in ("relative", "absolute"):
        body = Body("wheel", 1.0, (0.1, 0.1, 0.1), angular_velocity=(0, 0, 40.0))
        axle = Revolute("axle", Frame(GROUND), Frame(body))
        spring = TorsionSpringDamper("spring", *axle.frames, 2.5, free_angle=free)
        d = assemble(Mechanism([body], [axle], coordinates), [spring])
        results.append(run(d, 1.0))
    counted, wrapped = results
    t = counted["time"].values
    angle = free - free * np.cos(5 * t) + 8 * np.sin(5 * t)
    assert counted["spring.angle"].values == pytest.approx(angle, abs=1e-3)
    assert counted["spring.torque"].values == pytest.approx(-2.5 * (angle - free), abs=3e-3)
    assert counted["v"].values[-1, 0] == pytest.approx(
        40 * np.cos(5) + 5 * free * np.sin(5), rel=1e-3
    )
    assert not counted.warnings
    assert told(wrapped)


def test_angles_of_followers_count_their_turns():
    """A follower at 3 times the angle: K 9 q on the leader, whose inertia is 10 J."""
    bodies = [Body(name, 1.0, (J, J, J)) for name in ("leader", "follower")]
    axles = [Revolute(f"axle of {x.name}", Frame(GROUND), Frame(x)) for x in bodies]
    drive = JointDrives("spring", [Turn(*axles[1].frames)], lambda t, q, v: -K * (q - 9.0))
    mimic = Mimic("axle of follower", of="axle of leader", ratio=3.0)
    d = assemble(Mechanism(bodies, axles, "relative", mimics=[mimic]), [drive])
    result = run(d)
    w, t = np.sqrt(9 * K / (10 * J)), result["time"].values
    assert result["q"].values[:, 0] == pytest.approx(3.0 - 3.0 * np.cos(w * t), abs=1e-3)
