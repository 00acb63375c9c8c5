"""A human arm rises above the head, against mechanics written by hand."""

from functools import cache

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from nsopt.problem import load_optimization

pytestmark = pytest.mark.slow

G = np.array([0.0, 0.0, -9.81])
SHOULDER = np.array([0.0, -0.2, 0.818 * 1.75])
FORWARD, LEFT, UP = np.eye(3)


@cache
def rise():
    return load_optimization("arm_raise").solve()


@cache
def between_nodes():
    """Angles (time, 4), drives (time, 4) and rates (time, 4) each millisecond."""
    motion = rise().sample(1e-3)
    return motion["q"].values, motion["tau"].values, motion["v"].values


def chain(q):
    """Axes of the four hinges (4, time, 3), turns of upper arm and forearm, elbow."""
    flexion = Rotation.from_rotvec(-q[:, [0]] * LEFT)
    abduction = flexion * Rotation.from_rotvec(-q[:, [1]] * FORWARD)
    upper = abduction * Rotation.from_rotvec(q[:, [2]] * UP)
    fore = upper * Rotation.from_rotvec(-q[:, [3]] * LEFT)
    still = np.tile(-LEFT, (len(q), 1))
    axes = [still, flexion.apply(-FORWARD), abduction.apply(UP), upper.apply(-LEFT)]
    return axes, upper, fore, SHOULDER - 0.2817 * 1.75 / 1.741 * upper.apply(UP)


def test_the_palm_comes_to_the_bar_and_rests():
    result = rise()
    assert result.completed, result.stop_reason
    assert result.data.attrs["stationarity"].startswith("stationary")
    q, _, v = between_nodes()
    _, _, fore, elbow = chain(q[-1:])
    palm = elbow - (0.2689 + 0.79 * 0.0862) * 1.75 / 1.741 * fore.apply(UP)
    assert palm[0] == pytest.approx(SHOULDER + np.array([-0.05, 0.0, 0.6]), abs=1e-6)
    assert v[[0, -1]] == pytest.approx(0, abs=1e-9)
    assert result.data.attrs["defect"] < 1e-5


def test_ranges_are_kept_at_all_times():
    """The latitude of the upper arm below that of the cone's edge; it comes close to it."""
    q, _, _ = between_nodes()
    _, upper, _, _ = chain(q)
    limit = next(
        x for x in load_optimization("arm_raise").dynamics.elements if x.name == "shoulder"
    )
    u = -upper.apply(UP) @ limit.a.axes
    longitudes, latitudes = limit.cone.edge(20_001)
    edge = np.interp(np.arctan2(u[:, 1], u[:, 0]) % (2 * np.pi), longitudes, latitudes)
    room = edge - np.arccos(u[:, 2])
    assert -1e-6 < room.min() < 1e-3
    assert np.degrees(q[:, 2]).min() > -103.7
    assert np.degrees(q[:, 2]).max() < 68.8
    assert np.degrees(q[:, 3]).max() < 142.9


def test_drives_balance_momentum_weight_and_passive_moments():
    """About each hinge, from positions alone by differences in time."""
    q, drives, v = between_nodes()
    axes, upper, fore, elbow = chain(q)
    bodies = {b.name: b for b in load_optimization("arm_raise").dynamics.mechanism.bodies}
    bending = np.zeros((len(q), 2, 3))  # moment of what the body needs, about shoulder and elbow
    for name, turn, start, top in (
        ("upper arm", upper, np.tile(SHOULDER, (len(q), 1)), SHOULDER),
        ("forearm", fore, elbow, SHOULDER - [0, 0, 0.2817 * 1.75 / 1.741]),
    ):
        body = bodies[name]
        centre = start + turn.apply(np.array(body.position) - top)
        force = body.mass * (np.gradient(np.gradient(centre, 1e-3, axis=0), 1e-3, axis=0) - G)
        spin = (turn[2:] * turn[:-2].inv()).as_rotvec() / 2e-3
        local = turn[1:-1].inv().apply(spin) * body.inertia
        change = np.zeros_like(centre)
        change[1:-1] = np.gradient(turn[1:-1].apply(local), 1e-3, axis=0)
        for k, about in enumerate((SHOULDER, elbow)):
            if name == "forearm" or k == 0:
                bending[:, k] += np.cross(centre - about, force) + change
    needed = np.column_stack([np.sum(a * bending[:, int(k == 3)], 1) for k, a in enumerate(axes)])
    resisted = -v * [0.5, 0.5, 0.2, 0.2]
    for k, lower, upper_end in ((2, -103.7, 68.8), (3, -0.6, 142.9)):
        below, above = np.radians(lower) - q[:, k], q[:, k] - np.radians(upper_end)
        resisted[:, k] += 3 * (np.exp(12 * below) - np.exp(12 * above))
    inside = slice(3, -3)
    assert (drives + resisted)[inside] == pytest.approx(needed[inside], abs=2e-3)


def test_the_folded_arm_takes_less_than_the_arm_held_out():
    """Held level and straight the arm weighs 10.9 N m about the shoulder."""
    _, drives, _ = between_nodes()
    upper, fore = 0.2817 * 1.75 / 1.741, 0.2689 * 1.75 / 1.741
    hand = 0.79 * 0.0862 * 1.75 / 1.741
    shares = 0.0271 * 0.5772 * upper + 0.0162 * (upper + 0.4574 * fore)
    level = 75 * 9.81 * (shares + 0.0061 * (upper + fore + hand))
    assert level == pytest.approx(10.9, abs=0.05)
    assert 0.5 * level < np.abs(drives[:, 0]).max() < level
