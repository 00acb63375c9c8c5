"""The ideal twin of the pendulum in play, against its equation integrated by another method."""

from functools import cache

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from nsopt import Compiled, StepBounds, Variational, load_problem, simulate
from nsopt.plots import contact_forces, positions, velocities
from tests.plotted import factor_of, holds

MASS, GRAVITY, ARM, OFFSET = 1.0, 9.81, 0.32, 0.048
# About the hinge, from the inertia about the centre of mass by Steiner.
J_XZ, J_ZZ = -3.840e-3 - MASS * ARM * OFFSET, 1.506e-2 + MASS * ARM**2


@cache
def run(name, scheme, h, duration=2.0):
    result = simulate(
        load_problem(name).dynamics,
        duration=duration,
        steps=StepBounds(h, h),
        scheme=scheme,
        solver=Compiled(),
        title=name,
        progress=False,
    )
    assert result.completed, result.stop_reason
    return result


def swing(times):
    """Angle, velocity, force and torque of the hinge from J angle'' = -m g a cos(angle)."""
    k = MASS * GRAVITY * ARM / J_ZZ
    solution = solve_ivp(
        lambda t, y: [y[1], -k * np.cos(y[0])],
        (0.0, times[-1]),
        [0.0, 0.0],
        method="DOP853",
        t_eval=times,
        rtol=1e-12,
        atol=1e-12,
    )
    angle, rate = solution.y
    alpha = -k * np.cos(angle)
    along, across = np.array([[np.cos(angle), np.sin(angle)], [-np.sin(angle), np.cos(angle)]])
    z = np.zeros_like(angle)
    r = np.column_stack([*(ARM * along), z + OFFSET])
    v = np.column_stack([*(ARM * rate * across), z])
    force = np.column_stack([*(MASS * ARM * (alpha * across - rate**2 * along)), z])
    force[:, 1] += MASS * GRAVITY
    # dH/dt about the hinge, less the moment of the weight.
    turning = J_XZ * (alpha * along + rate**2 * across)
    weight = np.cross(r, [0.0, -MASS * GRAVITY, 0.0])
    torque = np.column_stack([*turning, J_ZZ * alpha]) - weight
    return {
        "angle": angle,
        "body_position": r,
        "body_velocity": v,
        "joint_reaction": force,
        "joint_reaction_torque": torque,
    }


def off(result):
    """Return the largest differences from the reference."""
    known = swing(result["time"].values)
    angle = result.sel(freedom="hinge.angle")["joint_coordinate"].values
    errors = {"angle": np.max(np.abs(angle - known.pop("angle")))}
    for name, values in known.items():
        errors[name] = np.max(np.abs(result[name].values[1:, 0] - values[1:]))
    return errors


@pytest.mark.slow
def test_the_ideal_twin_follows_its_equation():
    """Angle, motion, force and torque; a quarter of the error at half of h."""
    coarse, fine = (off(run("revolute_pendulum_ideal", Variational(), h)) for h in (1e-3, 5e-4))
    limits = {
        "angle": 2e-5,  # rad
        "body_position": 5e-6,  # m
        "body_velocity": 5e-5,  # m/s
        "joint_reaction": 5e-4,  # N
        "joint_reaction_torque": 5e-5,  # N m
    }
    assert fine.keys() == limits.keys()
    for name, limit in limits.items():
        assert fine[name] < limit, name
        assert coarse[name] / fine[name] == pytest.approx(4, rel=0.05), name


@pytest.mark.slow
def test_real_beside_ideal_as_in_the_figures():
    """[NLP-clearance 2024, Figs. 25-28]: forces alike but for peaks, and moved along its axis."""
    real, ideal = (
        run(name, Variational(), 5e-4, 1.5)
        for name in ("revolute_pendulum", "revolute_pendulum_ideal")
    )
    t = real["time"].values
    force = swing(t)["joint_reaction"]
    off_ideal = np.linalg.norm(real["joint_reaction"].values[1:, 0] - force[1:], axis=1)
    weight = MASS * GRAVITY
    assert np.median(off_ideal) < 0.05 * weight
    assert np.max(off_ideal) > weight
    z = real["body_position"].values[:, 0, 2] - OFFSET
    assert np.max(np.abs(z)) > 1e-3
    assert np.max(np.abs(ideal["body_position"].values[:, 0, 2] - OFFSET)) < 1e-12
    for figure, variable, unit in (
        (contact_forces, "joint_reaction", "N"),
        (velocities, "body_velocity", "m/s"),
    ):
        axes = figure(real, ideal).axes[:3]
        for result in (real, ideal):
            for k, ax in enumerate(axes):
                values = result[variable].values[:, 0, k]
                if figure is contact_forces:  # impulses of impacts are apart
                    struck = (result["impact_impulse"].values > 0).any(axis=1)
                    values = np.where(struck, np.nan, values)
                assert holds(ax, values, factor_of(ax, unit))
    assert len(positions(real, ideal).axes) == 2
