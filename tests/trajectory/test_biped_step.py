"""A step of a planar biped, against mechanics written by hand."""

from functools import cache

import numpy as np
import pytest

from nsopt.problem import load_optimization

pytestmark = pytest.mark.slow

MASSES = np.array([10.0, 2.0, 1.0, 2.0, 1.0])  # kg: torso, thigh and shank of each leg
LINK, FRICTION, G = 0.4, 0.7, np.array([0.0, -9.81])


@cache
def step():
    return load_optimization("biped_step").solve()


def places(q):
    """Centres of mass (time, body, 2) and feet (time, foot, 2) [m] by geometry."""

    def down(angle):
        return np.column_stack([np.sin(angle), -np.cos(angle)])

    hips = q[:, :2] + [0.0, 2 * LINK]
    centres, feet = [hips - 0.2 * down(q[:, 2])], []
    for hip, knee in (q[:, 3:5].T, q[:, 5:7].T):
        thigh, shank = down(q[:, 2] + hip), down(q[:, 2] + hip + knee)
        centres += [hips + LINK / 2 * thigh, hips + LINK * thigh + LINK / 2 * shank]
        feet.append(hips + LINK * (thigh + shank))
    return np.stack(centres, axis=1), np.stack(feet, axis=1)


def test_the_hind_foot_steps_to_the_front():
    result = step()
    assert result.completed, result.stop_reason
    assert np.nanmax(result["complementarity_residual"].values) <= 1e-8
    _, feet = places(result["q"].values)
    assert feet[0, :, 0] == pytest.approx([-0.15, 0.15], abs=1e-9)
    assert feet[-1, :, 0] == pytest.approx([0.45, 0.15], abs=1e-9)
    assert feet[:, :, 1].min() > -1e-9
    assert feet[18:23, 0, 1].min() > 0.02 - 1e-9
    normal = result["contact_force"].values[1:, :, 1]
    assert np.all(normal * feet[1:, :, 1] < 1e-6)


def test_momentum_changes_by_weight_and_feet():
    result = step()
    h = np.diff(result["time"].values)[:, None]
    centres, _ = places(result["q"].values)
    p = np.einsum("b,tbi->ti", MASSES, np.diff(centres, axis=0)) / h
    gained = np.diff(p, axis=0) - MASSES.sum() * G * h[1:]
    force = result["contact_force"].values[:, :, :2].sum(axis=1)
    assert gained == pytest.approx(force[2:] * h[1:], abs=1e-9)


def test_feet_stay_where_friction_holds_them():
    result = step()
    _, feet = places(result["q"].values)
    along, normal = (result["contact_force"].values[1:, :, k] for k in range(2))
    assert np.all(np.abs(along) <= FRICTION * normal + 1e-6)
    holds = (normal > 1.0) & (np.abs(along) < 0.99 * FRICTION * normal)
    assert holds.sum() > 20
    assert np.abs(np.diff(feet[..., 0], axis=0))[holds].max() < 2e-4
