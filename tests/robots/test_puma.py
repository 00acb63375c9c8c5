"""The named robots: the Puma 560 against published figures, the planar arm against its closed form.

Figures are those that the tests of the Robotics Toolbox print, to four or five decimals.
"""

import importlib.util
from functools import cache

import numpy as np
import pytest

from nsopt import Compiled, StepBounds, Variational, simulate
from nsopt.problem import find_problem
from nsopt.robots import bias_force, forward_dynamics, inverse_dynamics, mass_matrix

ROBOTS = ("planar_2r", "puma560", "arm_7dof")


@cache
def module(name):
    spec = importlib.util.spec_from_file_location(name, find_problem(name))
    imported = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(imported)
    return imported


def evaluated(function, *arguments):
    return np.array(function(*arguments)).squeeze()


def puma(kind, *arguments, rotors=True, **options):
    q = np.array(module("puma560").NOMINAL)
    return evaluated(kind(module("puma560").puma560(rotors), **options), q, *arguments)


def friction(v):
    """Of the motors, viscous and dry, as the joints feel it."""
    torques = []
    for motor, rate in zip(module("puma560").MOTORS, v, strict=True):
        ratio = abs(motor.ratio)
        dry = motor.coulomb[0] if rate > 0 else motor.coulomb[1] if rate < 0 else 0.0
        torques.append(motor.viscous * ratio**2 * rate + dry * ratio)
    return np.array(torques)


REST, ONES = np.zeros(6), np.ones(6)
WEIGHT = [0, 31.6399, 6.0351, 0, 0.0283, 0]


def test_weight_at_the_nominal_posture():
    assert puma(inverse_dynamics, REST, REST) == pytest.approx(WEIGHT, abs=5e-5)
    assert puma(inverse_dynamics, REST, REST, gravity=(0, 0, 0)) == pytest.approx(REST, abs=1e-15)


def test_accelerations_of_one_without_rotors():
    """At rest, with weight: rne(qn, 0, 1) of the rigid bodies alone."""
    expected = [2.56908, 33.6777, 6.84909, -0.00075, 0.03273, 7e-05]
    torque = puma(inverse_dynamics, REST, ONES, rotors=False)
    assert torque == pytest.approx(expected, abs=5e-5)  # 33.6777 has four decimals


def test_velocities_of_one_with_friction():
    expected = [29.1421, 56.5044, 16.3528, 1.2645, 1.1239, 0.5196]
    torque = puma(inverse_dynamics, ONES, REST) + friction(ONES)
    assert torque == pytest.approx(expected, abs=5e-5)


def test_velocities_and_accelerations_of_one_with_rotors_and_friction():
    expected = [32.4952, 60.8670, 17.7436, 1.4545, 1.2991, 0.7138]
    torque = puma(inverse_dynamics, ONES, ONES) + friction(ONES)
    assert torque == pytest.approx(expected, abs=5e-5)


def test_mass_matrix_with_rotors():
    expected = [
        [3.6594, -0.4044, 0.1006, -0.0025, 0, 0],
        [-0.4044, 4.4137, 0.3509, 0, 0.0024, 0],
        [0.1006, 0.3509, 0.9378, 0, 0.0015, 0],
        [-0.0025, 0, 0, 0.1925, 0, 0],
        [0, 0.0024, 0.0015, 0, 0.1713, 0],
        [0, 0, 0, 0, 0, 0.1941],
    ]
    assert puma(mass_matrix) == pytest.approx(np.array(expected), abs=5e-5)


def test_accelerations_under_torques():
    v = np.array([0.1, 0.2, 0.8, 0.2, 0.5, 1.0])
    torque = np.array([1.0, 3.2, 1.8, 0.1, 0.7, 4.6])
    expected = [-7.4102, -9.8432, -10.9694, -4.4314, -0.9881, 21.0228]
    vdot = puma(forward_dynamics, v, torque - friction(v))
    assert vdot == pytest.approx(expected, abs=5e-5)


def test_coriolis_terms():
    """The published Coriolis matrix times v; its entries are rounded to four decimals."""
    v = np.array([1.0, 2, 3, 1, 2, 3])
    C = [
        [-0.1735, -2.0494, -0.1178, -0.0002, -0.0045, 0.0001],
        [0.6274, 1.1572, 1.9287, -0.0015, -0.0003, 0],
        [-0.3608, -0.7734, -0.0018, -0.0009, -0.0064, 0],
        [0.0011, 0.0005, -0.0001, 0.0002, 0.0002, -0.0001],
        [-0.0002, 0.0028, 0.0046, -0.0002, 0, 0],
        [0.0001, 0, 0, 0, 0, 0],
    ]
    torque = puma(bias_force, v, gravity=(0, 0, 0))
    assert torque == pytest.approx(C @ v, abs=5e-5 * np.abs(v).sum())


def test_data_of_the_motors_reach_the_joints():
    robot = module("puma560").puma560()
    assert [drive.damping for drive in robot.actuators] == pytest.approx(
        friction(ONES) - friction(1e-300 * ONES)
    )
    drive = robot.actuators[0]
    assert (drive.lower, drive.upper) == pytest.approx((-2.79253, 2.79253), abs=1e-5)
    assert drive.friction == pytest.approx(0.415 * 62.6111)


@pytest.mark.parametrize("seed", range(3))
def test_planar_arm_is_its_closed_form(seed):
    planar = module("planar_2r")
    q, v, a = np.random.default_rng(seed).uniform(-3, 3, (3, 2))
    M, coriolis, weight = planar.closed_form(q, v)
    arm, down = planar.planar_2r(), planar.DOWN
    tau = M @ a + coriolis + weight
    assert evaluated(mass_matrix(arm), q) == pytest.approx(M, rel=1e-13)
    assert evaluated(bias_force(arm, down), q, v) == pytest.approx(coriolis + weight, rel=1e-12)
    assert evaluated(inverse_dynamics(arm, down), q, v, a) == pytest.approx(tau, rel=1e-12)
    assert evaluated(forward_dynamics(arm, down), q, v, tau) == pytest.approx(a, rel=1e-12)


def test_seven_joints_hold_the_arm_out_with_a_load():
    """Stretched to the side, 3 kg in its hand: the shoulder carries them at 0.9 m."""
    arm = module("arm_7dof").arm_7dof()
    assert sum(body.mass for body in arm.bodies) == pytest.approx(15.0)
    out = np.array([0, np.pi / 2, 0, 0, 0, 0, 0])
    tau = evaluated(inverse_dynamics(arm), out, np.zeros(7), np.zeros(7))
    held = np.abs(tau[1]) + 3.0 * 9.81 * 0.9
    centres = np.array([body.position for body in arm.bodies])
    masses = np.array([body.mass for body in arm.bodies])
    arms = centres[1:, 2] - 0.333  # from the shoulder, along the stretched arm
    assert np.abs(tau[1]) == pytest.approx(9.81 * masses[1:] @ arms, rel=1e-12)
    assert held < arm.actuators[1].effort


@pytest.mark.slow
@pytest.mark.parametrize("name", ROBOTS)
def test_robots_fall(name):
    """Energy falls by what brakes dissipate; the second order step errs little."""
    problem = module(name).problem
    result = simulate(
        problem.dynamics,
        problem.start,
        0.3,
        steps=StepBounds(1e-3, 1e-3),
        scheme=Variational(),
        solver=Compiled(),
        progress=False,
    )
    assert result.completed
    assert np.nanmax(result["motion_residual"]) < 1e-9
    energy, lost = (result[key].values for key in ("total_energy", "dissipated_energy"))
    swing = np.ptp(result["kinetic_energy"].values)
    braked = name != "planar_2r"
    if braked:
        assert np.all(np.diff(energy) < 1e-6)
    else:
        assert energy == pytest.approx(energy[0], abs=1e-4 * swing)
    assert lost[-1] == pytest.approx(energy[0] - energy[-1], abs=1e-4 * swing)


@pytest.mark.slow
def test_seven_joints_stay_within_their_limits():
    problem = module("arm_7dof").problem
    result = simulate(
        problem.dynamics,
        problem.start,
        problem.duration,
        steps=problem.steps,
        scheme=Variational(),
        solver=Compiled(),
        progress=False,
    )
    angles = result["q"].values
    for k, drive in enumerate(problem.dynamics.mechanism.actuators):
        assert angles[:, k].min() > drive.lower
        assert angles[:, k].max() < drive.upper
