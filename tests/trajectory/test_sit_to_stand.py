"""A man rises from a seat, against mechanics written by hand."""

from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from nsopt.problem import load_optimization
from nsopt.trajectory import IN_STEPS

pytestmark = pytest.mark.slow

MASS, HEIGHT, G = 75.0, 1.75, np.array([0.0, -9.81])
# Winter's shares of height and mass: shank, thigh, trunk and ankle; feet, shanks, thighs, the rest.
SHANK, THIGH, TRUNK, ANKLE = np.array([0.246, 0.245, 0.288, 0.039]) * HEIGHT
MASSES = np.array([0.029, 0.093, 0.2, 0.678]) * MASS
RADII = np.array([0.475 * np.hypot(0.14, ANKLE), 0.302 * SHANK, 0.323 * THIGH, 0.496 * TRUNK])
FRICTION = 0.7


@cache
def rise():
    return replace(load_optimization("sit_to_stand"), plan=IN_STEPS).solve()


def places(q):
    """Centres of mass (time, body, 2) [m], joints (time, joint, 2) [m], angles (time, body)."""
    foot, angles = q[:, :2], np.cumsum(q[:, 2:] * [1, -1, 1, -1], axis=1)
    flat, *up = (np.column_stack([-np.sin(x), np.cos(x)]) for x in (angles[:, 0], *angles.T))
    ahead = flat @ [[0.0, -1.0], [1.0, 0.0]]
    ankle = foot + ANKLE * up[0]
    knee = ankle + SHANK * up[1]
    hip = knee + THIGH * up[2]
    centres = [
        foot + 0.07 * ahead + ANKLE / 2 * up[0],
        knee - 0.433 * SHANK * up[1],
        hip - 0.433 * THIGH * up[2],
        hip + 0.626 * TRUNK * up[3],
    ]
    return np.stack(centres, axis=1), np.stack([ankle, knee, hip], axis=1), angles


def test_he_leaves_the_seat_and_stands():
    result = rise()
    assert result.completed, result.stop_reason
    assert "no direction lowers the cost" in result.data.attrs["stationarity"]
    assert np.nanmax(result["complementarity_residual"].values) <= 1e-8
    _, joints, _ = places(result["q"].values)
    over_seat = joints[:, 2, 1] - (ANKLE + SHANK * np.cos(np.radians(15)))
    seat = result["contact_force"].values[1:, 2, 1]
    assert over_seat.min() > -1e-9
    assert np.all(over_seat[1:] * seat < 1e-6)
    left = np.argmax(seat < 1e-3)
    assert 5 < left < 20
    assert seat[:left].min() > 400
    assert result["contact_mode"].values[1:, 2].tolist() == [1] * left + [0] * (50 - left)
    assert over_seat[-1] == pytest.approx(0.44, abs=0.01)


def test_momentum_changes_by_weight_feet_and_seat():
    result = rise()
    h, (centres, _, _) = 0.04, places(result["q"].values)
    p = np.einsum("b,tbi->ti", MASSES, np.diff(centres, axis=0)) / h
    force = result["contact_force"].values[:, :, :2]
    gained = np.diff(p, axis=0) - MASSES.sum() * G * h
    assert gained == pytest.approx(force[2:].sum(axis=1) * h, abs=1e-9)
    assert force[1:, :2, 1].min() > -1e-9
    assert np.all(np.abs(force[1:, 0, 0]) <= FRICTION * force[1:, 0, 1] + 1e-6)
    assert result["q"].values[:, :3] == pytest.approx(0, abs=1e-9)  # the feet stay


def test_muscles_balance_all_that_is_above_a_joint():
    """Newton and Euler from joint to joint; passive moments as [Anderson, Pandy 1999] have them."""
    result = rise()
    q, h = result["q"].values, 0.04
    centres, joints, angles = places(q)
    force = MASSES[:, None] * (np.diff(centres, 2, axis=0) / h**2 - G)
    spin = MASSES * RADII**2 * np.diff(angles, 2, axis=0) / h**2
    seat, joints = result["contact_force"].values[2:, 2, 1], joints[1:-1]
    rate = (q[2:] - q[:-2]) / (2 * h)
    ends = [
        (-0.74, 0.52, (0.18, 12.12), (2.03, 38.11)),
        (-0.13, 2.4, (6.09, 33.94), (11.03, 11.33)),
        (-0.6981, 1.81, (1.51, 21.88), (2.44, 5.05)),
    ]
    for k, (lower, upper, below, above) in enumerate(ends):
        arm = centres[1:-1, k + 1 :] - joints[:, [k]]
        push = force[:, k + 1 :]
        moment = np.sum(arm[..., 0] * push[..., 1] - arm[..., 1] * push[..., 0], axis=1)
        moment += spin[:, k + 1 :].sum(axis=1) - (joints[:, 2, 0] - joints[:, k, 0]) * seat
        x = q[1:-1, 3 + k]
        passive = 2 * below[0] * np.exp(below[1] * (lower - x)) - rate[:, 3 + k]
        passive -= 2 * above[0] * np.exp(above[1] * (x - upper))
        needed = moment * (1 if k == 1 else -1) - passive
        assert result["drive"].values[1:-1, 3 + k] == pytest.approx(needed, abs=1e-6)


def test_moments_and_ranges_are_those_of_men():
    """Peaks per leg and kilogram are in the ranges that [Yoshioka et al. 2007] found."""
    result = rise()
    ankle, knee, hip = np.abs(result["drive"].values[:, 3:]).max(axis=0) / (2 * MASS)
    assert ankle < 1.32
    assert 0.51 < knee < 1.97
    assert 0.24 < hip < 1.92
    assert hip + knee > 1.53  # the least sum of both in any of their motions
    feet = result["contact_force"].values[1:, :2, 1].sum(axis=1)
    assert 1.0 < feet.max() / (MASS * 9.81) < 1.3
    flexions = np.degrees(result["q"].values[:, 3:])
    assert np.all(flexions > [-50, -1e-6, -20])
    assert np.all(flexions < [30, 140, 120])
