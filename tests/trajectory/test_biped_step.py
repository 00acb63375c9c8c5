"""A step of a planar biped, against mechanics written by hand."""

from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from nsopt.problem import load_optimization
from nsopt.trajectory import (
    IN_STEPS,
    Effort,
    EndAt,
    Horizon,
    MotionPhase,
    Quintic,
    Smoothness,
    Sticking,
    optimize_phases,
)

pytestmark = pytest.mark.slow

MASSES = np.array([10.0, 2.0, 1.0, 2.0, 1.0])  # kg: torso, thigh and shank of each leg
LINK, FRICTION, G = 0.4, 0.7, np.array([0.0, -9.81])


@cache
def step():
    return replace(load_optimization("biped_step"), plan=IN_STEPS).solve()


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


def test_another_weight_of_smoothness_is_solved_too():
    stated = replace(load_optimization("biped_step"), plan=IN_STEPS)
    result = replace(stated, costs=[Effort(scale=20.0), Smoothness(weight=1e-2)]).solve()
    assert result.completed, result.stop_reason
    _, feet = places(result["q"].values)
    assert feet[-1, :, 0] == pytest.approx([0.45, 0.15], abs=1e-9)
    assert np.nansum(result["iterations"].values) < 800


def test_momentum_changes_by_weight_and_feet():
    result = step()
    h = np.diff(result["time"].values)[:, None]
    centres, _ = places(result["q"].values)
    p = np.einsum("b,tbi->ti", MASSES, np.diff(centres, axis=0)) / h
    gained = np.diff(p, axis=0) - MASSES.sum() * G * h[1:]
    force = result["contact_force"].values[:, :, :2].sum(axis=1)
    assert gained == pytest.approx(force[2:] * h[1:], abs=1e-9)


def test_feet_stay_where_friction_holds_them():
    """But for what curves within a step, as slip is none at one end of it: by Taylor's theorem."""
    result = step()
    _, feet = places(result["q"].values)
    along, normal = (result["contact_force"].values[1:, :, k] for k in range(2))
    assert np.all(np.abs(along) <= FRICTION * normal + 1e-6)
    holds = (normal > 1.0) & (np.abs(along) < 0.99 * FRICTION * normal)
    assert holds.sum() > 20
    q = result["q"].values
    thighs = q[:, 2, None] + q[:, [3, 5]]
    turned = np.diff(np.stack([thighs, thighs + q[:, [4, 6]]]), axis=1)
    curved = LINK / 2 * np.sum(turned**2, axis=0)
    slid = np.abs(np.diff(feet[..., 0], axis=0))
    assert np.all(slid[holds] <= curved[holds] + 1e-8)


def test_both_feet_hold_while_it_leans_forwards_and_back():
    """By modes: feet stay, forces in their cones and the weight change its momentum."""
    stated = replace(load_optimization("biped_step"), plan=IN_STEPS)
    start, _, _, limits = stated.conditions
    begin = np.asarray(start.q)
    lean, back = EndAt({"base.x": 0.05}), EndAt(start.q, np.zeros(7))
    middle = begin + np.array([0.05, 0, 0, -0.06, 0, -0.06, 0])
    phases = [
        MotionPhase(
            stated.dynamics,
            Horizon(0.3, 8),
            stated.costs,
            [*conditions, limits],
            Quintic(*ends),
            modes={"left": Sticking(), "right": Sticking()},
        )
        for conditions, ends in (([start, lean], (begin, middle)), ([back], (middle, begin)))
    ]
    result = optimize_phases(phases)
    assert result.completed, result.stop_reason
    t, h = np.arange(0.01, 0.29, 0.01), 1e-4
    for phase in result.phases:
        assert "impact" not in phase.data.attrs
        data = phase.sample(times=np.concatenate([t - h, t, t + h]))
        centres, feet = places(data["q"].values)
        assert feet == pytest.approx(np.tile([[-0.15, 0], [0.15, 0]], (len(feet), 1, 1)), abs=1e-5)
        before, now, after = np.split(np.einsum("b,tbi->ti", MASSES, centres), 3)
        gained = (after - 2 * now + before) / h**2 - MASSES.sum() * G
        names = [str(x) for x in data["input_name"].values]
        forces = np.split(data["input"].values, 3)[1]
        friction, normal = (
            forces[:, [names.index(f"{foot}_{part}") for foot in ("left", "right")]]
            for part in ("friction", "normal")
        )
        total = np.column_stack([friction.sum(axis=1), normal.sum(axis=1)])
        assert total == pytest.approx(gained, abs=0.1)
        assert np.all(np.abs(friction) <= FRICTION * normal + 1e-4)
    leant = result.phases[0]["q"].values[-1, 0]
    assert leant == pytest.approx(0.05, abs=1e-9)
